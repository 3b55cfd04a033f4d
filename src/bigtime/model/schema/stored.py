"""Stored forms: how values are converted to attributes and back.

A writer's error message continues from the field's name.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable, Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any, ClassVar, TypeAlias
from uuid import UUID

from pydantic import GetCoreSchemaHandler, TypeAdapter
from pydantic_core import CoreSchema, core_schema

from bigtime.model.errors import ValueRefused
from bigtime.model.schema.encoding import as_int, as_text, day, utc, uuid_text
from bigtime.wire import MAX_DIGITS, MAX_MAGNITUDE, MIN_MAGNITUDE, AttributeValue

WriteValue: TypeAlias = Callable[[Any], AttributeValue]
ReadValue: TypeAlias = Callable[[AttributeValue], Any]

SETS = ("SS", "NS", "BS")
PLAIN = ("S", "N", "B", "BOOL")
PLAIN_LIMIT = 10**MAX_DIGITS
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(slots=True, eq=False)
class Stored:
    """A type's stored form. `tag` alone determines how to read it, unless `read` is given.

    `members` are the stored names and forms of a model's fields; `element` is the form of the
    elements of a list, a set or a map.
    """

    tag: str
    write: WriteValue
    read: ReadValue | None = None
    members: Mapping[str, tuple[str, Stored]] | None = None
    element: Stored | None = None
    annotation: Any = Any
    adapter: TypeAdapter[Any] | None = None

    @property
    def is_set(self) -> bool:
        return self.tag in SETS

    @property
    def is_plain(self) -> bool:
        """Whether it is a single value, which only ever changes as a whole."""
        return self.tag in PLAIN

    def reading(self, value: AttributeValue) -> Any:
        return self.read(value) if self.read else value[self.tag]

    def check(self, value: Any) -> Any:
        """The value validated by its type, or pydantic's ValidationError."""
        if self.adapter is None:
            self.adapter = TypeAdapter(self.annotation)
        return self.adapter.validator.validate_python(value, by_alias=False, by_name=True)


# Forms of several values


def map_form(inner: Stored) -> Stored:
    return Stored(
        "M",
        lambda value: {
            "M": {as_text(name): element(inner, member) for name, member in value.items()}
        },
        lambda value: {name: read_element(inner, member) for name, member in value["M"].items()},
        element=inner,
    )


def list_form(inner: Stored) -> Stored:
    return Stored(
        "L",
        lambda value: {"L": [element(inner, member) for member in value]},
        lambda value: read_elements(inner, value["L"]),
        element=inner,
    )


def tuple_form(inner: Sequence[Stored]) -> Stored:
    def write(value: Any) -> AttributeValue:
        return {"L": [element(form, member) for form, member in zip(inner, value, strict=True)]}

    def read(value: AttributeValue) -> Any:
        # A tuple that is too long or too short is passed on: pydantic reports it.
        forms = [*inner, *(ANY for _ in value["L"][len(inner) :])]
        return [read_element(form, member) for form, member in zip(forms, value["L"], strict=False)]

    return Stored("L", write, read, element=ANY)


def element(inner: Stored, value: Any) -> AttributeValue:
    if value is None or (inner.is_set and not value):
        return {"NULL": True}
    return inner.write(value)


def read_element(inner: Stored, value: AttributeValue) -> Any:
    if "NULL" in value:
        return () if inner.is_set else None
    return inner.reading(value)


def read_elements(inner: Stored, values: Sequence[AttributeValue]) -> list[Any]:
    if inner.read is not None:
        return [read_element(inner, value) for value in values]
    tag = inner.tag  # stored and read alike: a list of texts is read without a call for each
    return [value[tag] if tag in value else read_element(inner, value) for value in values]


def set_form(inner: Stored) -> Stored:
    tag = inner.tag + "S"

    def write(value: Any) -> AttributeValue:
        if not value:
            raise ValueRefused("is an empty set, and DynamoDB has none")
        return {tag: sorted(inner.write(member)[inner.tag] for member in value)}

    def read(value: AttributeValue) -> Any:
        return [inner.reading({inner.tag: member}) for member in value[tag]]

    return Stored(tag, write, read if inner.read else None, element=inner)


def model_form(members: Mapping[str, tuple[str, Stored]], absent: Mapping[str, Any]) -> Stored:
    """The form of a model. Both mappings may still be filled later: models can be recursive."""

    def write(value: Any) -> AttributeValue:
        stored_values = {}
        for name, (stored, form) in members.items():
            member = getattr(value, name)
            if member is not None and (member or not form.is_set):
                stored_values[stored] = form.write(member)
        return {"M": stored_values}

    def read(value: AttributeValue) -> Any:
        stored_values = value["M"]
        fields = {**absent}
        for name, (stored, form) in members.items():
            member = stored_values.get(stored)
            if member is None:
                continue
            if form.read is None and form.tag in member:
                fields[name] = member[form.tag]
            else:
                fields[name] = read_element(form, member)
        return fields

    return Stored("M", write, read, members=members)


def root_form(inner: Stored) -> Stored:
    return replace(inner, write=lambda value: inner.write(value.root))


def union_form(forms: Mapping[type, Stored]) -> Stored:
    by_tag = {form.tag: form for form in forms.values()}

    def write(value: Any) -> AttributeValue:
        form = forms.get(type(value)) or next(
            (form for kind, form in forms.items() if isinstance(value, kind)), None
        )
        if form is None:
            raise ValueRefused(f"takes one of {', '.join(member.__name__ for member in forms)}")
        return form.write(value)

    def read(value: AttributeValue) -> Any:
        # Pydantic would read a number's text as text, so it is given the parsed value.
        form = by_tag[next(iter(value))]
        return form.check(form.reading(value))

    return Stored("", write, read)


def chosen_form(inner: Stored, values: Collection[Any]) -> Stored:
    """The form of an enum or a Literal, which pydantic looks up by value."""

    def write(value: Any) -> AttributeValue:
        return inner.write(value.value if isinstance(value, Enum) else value)

    if inner.tag in ("S", "BOOL") and inner.read is None:
        return replace(inner, write=write)
    known = {content(inner.write(value)): value for value in values}
    return replace(
        inner, write=write, read=lambda value: known.get(content(value), value[inner.tag])
    )


def content(value: AttributeValue) -> Any:
    """The value in comparable form: a number has many spellings."""
    ((tag, text),) = value.items()
    return Decimal(text) if tag == "N" else text


def is_number(value: Any) -> bool:
    return isinstance(value, (int, Decimal)) and not isinstance(value, bool)


# Forms of one value


def write_bool(value: Any) -> AttributeValue:
    if not isinstance(value, bool):
        raise ValueRefused(f"takes True or False, not {value!r}")
    return {"BOOL": value}


def write_text(value: Any) -> AttributeValue:
    return {"S": value if type(value) is str and value.isascii() else as_text(value)}


def write_int(value: Any) -> AttributeValue:
    number = value if type(value) is int else as_int(value)
    if -PLAIN_LIMIT < number < PLAIN_LIMIT:
        return {"N": int.__repr__(number)}
    return write_decimal(Decimal(number))


def write_decimal(value: Any) -> AttributeValue:
    if not is_number(value):
        raise ValueRefused(f"takes an int or a Decimal, not {value!r}")
    value = Decimal(value)
    if not value.is_finite():
        raise ValueRefused(f"is {value}, which DynamoDB cannot store")
    if not value:
        return {"N": "0"}
    digits = "".join(map(str, value.as_tuple().digits))
    if len(digits.rstrip("0")) > MAX_DIGITS:
        raise ValueRefused(f"is {value}, which has more than {MAX_DIGITS} digits: round it first")
    if not MIN_MAGNITUDE <= value.adjusted() <= MAX_MAGNITUDE:
        raise ValueRefused(f"is {value}, which is beyond what DynamoDB can store")
    return {"N": format(value, "f")}


class Unit:
    """Marks the precision a datetime is kept to: `Annotated[datetime, Seconds]`."""

    microseconds: ClassVar[int]

    @classmethod
    def cut(cls, value: Any) -> Any:
        if not isinstance(value, datetime):
            return value
        finer = value.microsecond % cls.microseconds
        return value.replace(microsecond=value.microsecond - finer) if finer else value

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(cls.cut, handler(source))


class Seconds(Unit):
    """Stored as `2026-03-10T12:00:00Z`."""

    microseconds = 1_000_000


class Millis(Unit):
    """Stored as `2026-03-10T12:00:00.000Z`."""

    microseconds = 1_000


class EpochSeconds(Unit):
    """Stored as a number of seconds, as a TTL attribute must be."""

    microseconds = 1_000_000


def moment_form(timespec: str) -> Stored:
    def write(value: Any) -> AttributeValue:
        moment = utc(value)
        # Faster than isoformat of the whole datetime, which also writes the time zone.
        return {"S": f"{date.isoformat(moment)}T{moment.time().isoformat(timespec)}Z"}

    return Stored("S", write)


def write_epoch(value: Any) -> AttributeValue:
    return {"N": str((utc(value) - EPOCH) // timedelta(seconds=1))}


def read_epoch(value: AttributeValue) -> datetime:
    # Pydantic would read a large number as milliseconds.
    try:
        return EPOCH + timedelta(seconds=int(Decimal(value["N"])))
    except OverflowError:
        raise ValueRefused("is beyond the years that a datetime can hold") from None


UNITS: Mapping[type[Unit], Stored] = {
    Seconds: moment_form("seconds"),
    Millis: moment_form("milliseconds"),
    EpochSeconds: Stored("N", write_epoch, read_epoch),
}


def unit_in(marks: Collection[Any]) -> type[Unit] | None:
    """The unit mark of a datetime, if it has one."""
    kinds = (mark if isinstance(mark, type) else type(mark) for mark in marks)
    return next((kind for kind in kinds if kind in UNITS), None)


def marked_form(marks: Collection[Any]) -> Stored | None:
    unit = unit_in(marks)
    return None if unit is None else UNITS[unit]


def write_bytes(value: Any) -> AttributeValue:
    if not isinstance(value, bytes | bytearray):
        raise ValueRefused(f"takes bytes, not {value!r}")
    return {"B": b64encode(value).decode()}


# Tried in this order: bool before int, datetime before date, as each is a subclass of the other.
SCALARS: tuple[tuple[type, Stored], ...] = (
    (bool, Stored("BOOL", write_bool)),
    (str, Stored("S", write_text)),
    (int, Stored("N", write_int)),
    (Decimal, Stored("N", write_decimal)),
    (datetime, moment_form("microseconds")),
    (date, Stored("S", lambda value: {"S": day(value).isoformat()})),
    (UUID, Stored("S", lambda value: {"S": uuid_text(value)})),
    (bytes, Stored("B", write_bytes, lambda value: b64decode(value["B"]))),
)


# Any value


def write_any(value: Any) -> AttributeValue:
    """Writes a value of one of DynamoDB's own types, for fields declared as Any."""
    for kind, write in KNOWN:
        if isinstance(value, kind):
            return write(value)
    name = type(value).__name__
    remedy = "pass a Decimal" if isinstance(value, float) else "declare its type"
    raise ValueRefused(f"is a {name}, which would not come back as one: {remedy}")


def write_any_set(values: AbstractSet[Any]) -> AttributeValue:
    written = [write_any(value) for value in values]
    tags = {tag for member in written for tag in member}
    if len(tags) != 1 or not tags <= {"S", "N", "B"}:
        raise ValueRefused("is a set that is empty or mixes types, which DynamoDB cannot store")
    tag = tags.pop()
    return {tag + "S": sorted(member[tag] for member in written)}


KNOWN: tuple[tuple[type | tuple[type, ...], WriteValue], ...] = (
    (bool, write_bool),
    (str, write_text),
    ((int, Decimal), write_decimal),
    (bytes, write_bytes),
    (
        Mapping,
        lambda value: {"M": {as_text(name): write_any(member) for name, member in value.items()}},
    ),
    ((list, tuple), lambda value: {"L": [write_any(member) for member in value]}),
    ((set, frozenset), write_any_set),
    (type(None), lambda value: {"NULL": True}),
)


def read_any(value: AttributeValue) -> Any:
    ((tag, content),) = value.items()
    return MEANINGS[tag](content)


def plain_number(text: str) -> int | Decimal:
    number = Decimal(text)
    return int(number) if number == number.to_integral_value() else number


MEANINGS: Mapping[str, Callable[[Any], Any]] = {
    "S": lambda text: text,
    "N": plain_number,
    "B": b64decode,
    "BOOL": lambda truth: truth,
    "NULL": lambda truth: None,
    "L": lambda elements: [read_any(element) for element in elements],
    "M": lambda members: {name: read_any(member) for name, member in members.items()},
    "SS": set,
    "NS": lambda members: {plain_number(member) for member in members},
    "BS": lambda members: {b64decode(member) for member in members},
}

ANY = Stored("", write_any, read_any)
