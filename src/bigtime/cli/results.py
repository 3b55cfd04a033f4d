"""The result of a pattern, printed for a person or a program; or a sentence why it failed.

A record is a table of two columns, several are a table with a row each; what does not fit a cell,
such as the deals on a page, follows under its name. A page that is not the last one ends with the
option that fetches the next. Secret fields are never shown.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

import typer
from rich.table import Table
from rich.text import Text

from bigtime.cli.packages import bt, pydantic, pydantic_core, wire
from bigtime.cli.screen import refuse, screen_for_tables


def cursors() -> bt.Cursors:
    """Cursors signed with a known secret: whoever runs the program can read the tables anyway."""
    return bt.Cursors(["typed at the command line"])


# Values


def fields_of(value: object) -> dict[str, Any] | None:
    """The fields of a record that may be shown; None if it is not a record."""
    if isinstance(value, pydantic.BaseModel):
        fields_shown = (type(value).model_fields, type(value).model_computed_fields)
        names = [
            name for declared in fields_shown for name, field in declared.items() if field.repr
        ]
        return {name: getattr(value, name) for name in names}
    if isinstance(value, (bt.Page, type)):
        return None
    if is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in fields(value) if field.repr}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return dict(value._asdict())
    return None


def plain(value: object) -> object:
    """A value as JSON represents it."""
    if isinstance(value, Enum):
        return plain(value.value)
    record = fields_of(value)
    match value if record is None else record:
        case bt.Page() as page:
            return {"items": plain(page.items), "after": cursors().write(page.position)}
        case Mapping() as mapping:
            return {str(plain(name)): plain(member) for name, member in mapping.items()}
        case AbstractSet() | list() | tuple() as members:
            values = [*map(plain, members)]
            return sorted(values, key=str) if isinstance(members, AbstractSet) else values
        case bytes() as data:
            return b64encode(data).decode()
    return pydantic_core.to_jsonable_python(value, fallback=str)


def cell(value: object) -> str:
    """A value as text for a table's cell."""
    simple = plain(value)
    if simple is None:
        return ""
    return simple if isinstance(simple, str) else json.dumps(simple, ensure_ascii=False)


def is_record(value: object) -> bool:
    return fields_of(value) is not None


def fits_a_cell(value: object) -> bool:
    if is_record(value) or isinstance(value, bt.Page):
        return False
    return not (isinstance(value, (list, tuple)) and any(map(is_record, value)))


# On the screen


def show_json(value: object) -> None:
    typer.echo(json.dumps(plain(value), indent=2, ensure_ascii=False))


def show(value: object, *, after: str) -> None:
    """Prints a result; `after` is the option that takes the next page's cursor."""
    screen = screen_for_tables()
    before: Table | str = ""
    for part in result_parts(value, after):
        if part or before:  # an empty line only between parts
            screen.print(part, soft_wrap=isinstance(part, str))
        before = part


def result_parts(value: object, after: str) -> Iterator[Table | str]:
    record = fields_of(value)
    if record is not None:
        yield from record_parts(record, after)
    elif isinstance(value, bt.Page):
        yield from list_parts(value.items)
        if value.position is not None:
            yield f"There is more: {after} {cursors().write(value.position)}"
    elif isinstance(value, tuple) and not all(map(is_record, value)):
        for element in value:
            yield ""
            yield from result_parts(element, after)
    elif isinstance(value, (list, tuple, AbstractSet)):
        yield from list_parts(value)
    else:
        yield cell(value) or "nothing"


def record_parts(record: Mapping[str, object], after: str) -> Iterator[Table | str]:
    cells = {name: cell(value) for name, value in record.items() if fits_a_cell(value)}
    if cells:
        table = Table(box=None, show_header=False, pad_edge=False)
        for name, text in cells.items():
            table.add_row(Text(name, "bold"), Text(text, overflow="fold"))
        yield table
    for name in [name for name in record if name not in cells]:
        yield ""
        yield f"{name}:"
        yield from result_parts(record[name], after)


def list_parts(values: Iterable[object]) -> Iterator[Table | str]:
    """A table for each kind of record, and a line for each other value."""
    kinds: dict[type, list[Any]] = {}
    for value in values:
        kinds.setdefault(type(value), []).append(value)
    if not kinds:
        yield "none"
    for kind, alike in kinds.items():
        if len(kinds) > 1:
            yield f"{kind.__name__}:"
        if is_record(alike[0]):
            yield rows_of(alike)
        else:
            yield from map(cell, alike)


def rows_of(records: Sequence[object]) -> Table:
    """A row for each record; columns that are empty in all of them are left out."""
    rows = [
        {name: cell(value) for name, value in (fields_of(record) or {}).items()}
        for record in records
    ]
    names = [name for name in rows[0] if any(row[name] for row in rows)]
    table = Table(*names, box=None, pad_edge=False)
    for row in rows:
        table.add_row(*(Text(row[name], overflow="fold") for name in names))
    return table


# Failures


OTHER_NAMES = (
    "If they are there under other names, as after `bigtime restore`, set BIGTIME_TABLES to the map"
    " of table names."
)


def sentence_errors() -> tuple[type[Exception], ...]:
    """The errors that are reported as a sentence, wherever they are raised."""
    kit = (bt.DomainError, bt.ValueRefused, bt.ItemMismatch, bt.DesignError)
    return *kit, pydantic.ValidationError


@contextmanager
def failures_as_sentences(system: str, store: str | None = None) -> Iterator[None]:
    """Ends the program with a sentence; `system` and `store` are as they were typed."""
    try:
        yield
    except bt.DomainError as error:
        refuse(f"{sentence(str(error))} ({error.code})")
    except pydantic.ValidationError as error:
        refuse(f"{error.title} cannot be so: {fault_text(error)}. (value-refused)")
    except bt.ValueRefused as error:
        refuse(f"{sentence(str(error))} (value-refused)")
    except bt.ItemMismatch as error:
        refuse(f"{sentence(str(error))} (item-mismatch)")
    except bt.DesignError as error:
        refuse(f"{sentence(str(error))} (design-error)")
    except wire.ResourceNotFoundException:
        refuse(f"The store lacks tables of {system}: {remedy(system, store)} {OTHER_NAMES}")


def remedy(system: str, store: str | None) -> str:
    place = "" if store is None else f" --store {store}"
    return f"make what is missing with `bigtime tables create {system}{place}`."


def sentence(text: str) -> str:
    """The text with a full stop: errors of the kit have none, those of a domain may."""
    return text if text.endswith((".", "!", "?")) else f"{text}."


def fault_text(error: pydantic.ValidationError) -> str:
    """What is wrong with a value, and where in the value."""
    found = error.errors()
    places = (".".join(map(str, fault["loc"])) for fault in found)
    messages = (fault["msg"].removeprefix("Value error, ") for fault in found)
    return "; ".join(
        f"{where}: {what}" if where else what for where, what in zip(places, messages, strict=True)
    )
