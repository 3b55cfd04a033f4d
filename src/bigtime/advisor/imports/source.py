"""Reads a source: JSON of bounded size and its members, reporting every fault with its location."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from bigtime.advisor.imports.draft import CannotImport, Draft

Members: TypeAlias = Mapping[str, Any]

MOST_BYTES = 64 * 1024 * 1024
"""The size limit of a file, which is read whole; designs have a few hundred kilobytes."""


def read_json(path: Path) -> Members:
    """The JSON object in a file."""
    place = str(path)
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise CannotImport(place, f"{error.strerror}", "name a file that can be read") from None
    if len(content) > MOST_BYTES:
        raise CannotImport(
            place,
            f"it has more than {MOST_BYTES // 1024**2} MB",
            "take sample rows out, and load them with `bigtime data load`",
        )
    return parse_json(content, place)


def parse_json(content: bytes | str, place: str) -> Members:
    try:
        found = json.loads(content)
    except json.JSONDecodeError as error:
        where = f"{place}, line {error.lineno}, column {error.colno}"
        raise CannotImport(where, f"it is not JSON ({error.msg})", "correct it there") from None
    except UnicodeDecodeError as error:
        raise CannotImport(place, f"it is not UTF-8 ({error.reason})", "save it as UTF-8") from None
    except RecursionError:
        raise CannotImport(place, "it is nested too deeply", "give a design") from None
    except ValueError as error:  # an integer with more digits than Python parses
        raise CannotImport(place, f"it cannot be read ({error})", "correct it") from None
    if not isinstance(found, Mapping):
        raise CannotImport(place, "it is no JSON object", "give the file that has the whole design")
    return found


def member(members: Members, name: str, kind: type, place: str) -> Any:
    """A required member."""
    found = optional_member(members, name, kind, place)
    if found is None:
        remedy = f"give it {a_kind(kind)} {name!r}"
        raise CannotImport(place, f"{name} is missing", remedy)
    return found


def optional_member(members: Members, name: str, kind: type, place: str) -> Any:
    """A member, or None; any other type is a fault."""
    found = members.get(name)
    if found is None or isinstance(found, kind):
        return found
    raise CannotImport(
        place_in(place, name),
        f"it is {a_kind(type(found))}, and should be {a_kind(kind)}",
        "correct it",
    )


def place_in(place: str, name: str) -> str:
    """A member's location: `cart.json: DataModel`, then `cart.json: DataModel[0].TableName`."""
    return f"{place}.{name}" if ": " in place else f"{place}: {name}"


def a_kind(kind: type) -> str:
    names = {"dict": "an object", "list": "a list", "str": "a text", "NoneType": "null"}
    return names.get(kind.__name__, f"a {kind.__name__}")


def objects(members: Members, name: str, place: str) -> Iterator[tuple[str, Members]]:
    """The objects in a list, each with its location; none if there is no such list."""
    for number, found in enumerate(optional_member(members, name, list, place) or ()):
        where = f"{place_in(place, name)}[{number}]"
        if not isinstance(found, Mapping):
            raise CannotImport(where, f"it is {a_kind(type(found))}", "give an object")
        yield where, found


def texts(members: Members, name: str, place: str) -> tuple[str, ...]:
    """The texts in a list; none if there is no such list."""
    found = optional_member(members, name, list, place) or []
    for number, text in enumerate(found):
        if not isinstance(text, str):
            where = f"{place_in(place, name)}[{number}]"
            raise CannotImport(where, f"it is {a_kind(type(text))}", "give a text")
    return tuple(found)


def keep_unknown(draft: Draft, members: Members, known: Iterable[str], place: str) -> None:
    """Keeps unknown members unchanged, and adds a note about them."""
    for name in (name for name in members if name not in set(known)):
        text = json.dumps(members[name], ensure_ascii=False)
        draft.kept.append((place_in(place, name), text))
        draft.tell(
            place_in(place, name),
            "this member is not understood",
            "it is kept as a comment; declare what it says by hand",
        )


def check_unique(names: Iterable[tuple[str, str]], what: str) -> None:
    """Refuses duplicate names; each is given with its location."""
    seen: dict[str, str] = {}
    for name, place in names:
        before = seen.setdefault(name, place)
        if before != place:
            raise CannotImport(
                place, f"{what} {name!r} is there already, in {before}", "rename one of them"
            )
