"""The parts of a key template: literals, and fields in their places.

Where a field stands determines how it is written, and what follows it determines whether its end
is unambiguous; an ambiguous template is refused here, with the place and the remedy.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import reduce
from itertools import zip_longest
from typing import Any, Final, NamedTuple, NoReturn, TypeAlias

from bigtime.model.errors import ValueRefused
from bigtime.model.schema.annotation import native_type
from bigtime.model.schema.bounds import successor
from bigtime.model.schema.encoding import Encoding, KeyPlace, Role, TemplateError, encoding_for
from bigtime.model.schema.language import ANY_CHARACTER, Language, literal, repetition_of
from bigtime.model.schema.secret import is_secret
from bigtime.model.schema.table import KeyType

DELIMITER: Final = "#"
PIECES: Final = re.compile(r"\{(?P<field>[^{}]*)\}|(?P<literal>[^{}]+)|(?P<brace>[{}])")


class Field(NamedTuple):
    """A field in its place in a template."""

    name: str
    encoding: Encoding
    width: int | None
    closing: str | None
    """`#` if the delimiter follows, empty if anything else does, None if nothing does."""
    is_secret: bool = False

    def text(self, value: Any, template: str) -> str:
        try:
            return self.encoding.encode(value)
        except ValueError as error:
            said = "does not fit in it; it is secret, and not shown" if self.is_secret else error
            raise ValueRefused(f"field {self.name!r} of the key {template!r} {said}") from None

    def last_of(self, key: str) -> str:
        """From the start of a value's keys, their end: the gap after them, or the key itself."""
        return key if self.closing is None else successor(key + self.closing) or key


Part: TypeAlias = str | Field


def bare_field(text: str) -> str | None:
    found = PIECES.fullmatch(text)
    return found["field"] if found and found["field"] and ":" not in found["field"] else None


def natural_type(text: str, fields: Mapping[str, Any]) -> KeyType:
    name = bare_field(text)
    native = native_type(fields[name]) if name and name in fields else None
    return native or "S"


def native_part(text: str, fields: Mapping[str, Any], type: KeyType) -> Field:
    """The field of a key that is not text; the entity checks that the field's type fits."""
    name = bare_field(text)
    if name is None:
        raise TemplateError(
            f"a key attribute of type {type} holds no text",
            "let the template be one field without a format, or the type be S",
        ).at(repr(text), text)
    if name not in fields:
        raise unknown_field(name, fields).at(repr(text), text)
    return Field(name, Encoding(no_text, no_text, repetition_of((ANY_CHARACTER,))), None, None)


def no_text(value: Any) -> NoReturn:
    raise ValueError("is stored as it is, not as text")


def compile_parts(
    text: str, fields: Mapping[str, Any], role: Role, *, continued: bool
) -> tuple[Part, ...]:
    pieces = list(PIECES.finditer(text))
    parts: list[Part] = []
    for piece, after in zip_longest(pieces, pieces[1:]):
        closing = closing_of(after, continued=continued)
        try:
            parts.append(part_of(piece, fields, role, closing))
            check_join(parts[-2:])
        except TemplateError as error:
            raise error.at(f"{piece[0]!r} at character {piece.start() + 1}", text) from None
    check_whole(text, parts)
    return tuple(parts)


def closing_of(after: re.Match[str] | None, *, continued: bool) -> str | None:
    if after is None:
        return DELIMITER if continued else None
    return DELIMITER if after[0].startswith(DELIMITER) else ""


def part_of(
    piece: re.Match[str], fields: Mapping[str, Any], role: Role, closing: str | None
) -> Part:
    if piece["literal"]:
        return piece["literal"]
    if piece["brace"]:
        raise TemplateError("this brace has no partner", "write a field as {name} or {name:format}")
    name, colon, format = piece["field"].partition(":")
    if name not in fields:
        raise unknown_field(name, fields)
    place = KeyPlace(role, followed=closing is not None)
    encoding = encoding_for(fields[name], format if colon else None, place=place)
    return Field(name, encoding, encoding.language.width, closing, is_secret(fields[name]))


def unknown_field(name: str, fields: Mapping[str, Any]) -> TemplateError:
    return TemplateError(f"there is no field {name!r}", f"use one of {', '.join(fields)}")


def check_join(parts: Sequence[Part]) -> None:
    """Refuses parts in which the end of a field is ambiguous."""
    before, here = parts if len(parts) == 2 else ("", parts[0])
    widths = [part.width for part in (before, here) if isinstance(part, Field)]
    if len(widths) == 2 and None in widths:
        raise TemplateError(
            "it follows another field at once, and one of them has no fixed width",
            "write # between them",
        )
    if isinstance(before, Field) and before.width is None and before.closing != DELIMITER:
        raise TemplateError(
            f"where {before.name!r} ends before it could not be told from what {before.name!r} "
            "may contain",
            "begin it with #",
        )


def check_whole(text: str, parts: Sequence[Part]) -> None:
    if not parts:
        raise TemplateError("there is nothing in it", "write at least one literal or field").at(
            "key", text
        )
    names = [field.name for field in fields_of(parts)]
    for name in names:
        if names.count(name) > 1:
            raise TemplateError(
                "it is there twice",
                "keep one, such as the bucket in the partition key and the rest in the sort key",
            ).at(f"field {name!r}", text)


def fields_of(parts: Sequence[Part]) -> list[Field]:
    return [part for part in parts if isinstance(part, Field)]


def language_of(parts: Sequence[Part]) -> Language:
    languages = (
        part.encoding.language if isinstance(part, Field) else literal(part) for part in parts
    )
    return reduce(Language.__add__, languages)
