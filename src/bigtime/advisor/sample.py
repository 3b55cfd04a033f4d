"""Sample values for declarations: arguments of patterns, and items of the tables they run on.

A field of a sample is the first available of: the given value (a key gives the fields that it is
made of), a declared example, the default, or a value generated from the type or from an example.
Values pass the type's own validation; for text, several shapes are tried. Text is as long as the
field's name, or half its maximum length.

`number` distinguishes samples: two numbers give two values, if the type has that many.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from functools import lru_cache
from inspect import Parameter
from itertools import chain
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin
from uuid import UUID

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.errors import PydanticSchemaGenerationError
from pydantic.fields import FieldInfo

from bigtime import model as bt
from bigtime.wire import TENANT, AnyTenant, Item, check_item

M = TypeVar("M", bound=BaseModel)

MOMENT = datetime(2026, 1, 1, 12, tzinfo=UTC)
"""The current time in a dry run."""

EMPTY: tuple[Any, ...] = (None, [], {}, set())
"""Defaults that mean that a field is missing."""

DIGIT_COUNTS = range(2, 14)
"""The lengths to try for text that must consist of digits."""


class CannotSample(bt.DesignError):
    """No plausible value can be made; the message says why, and what to declare."""

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(f"{problem}; {remedy}")
        self.problem = problem
        self.remedy = remedy

    def at(self, place: str) -> CannotSample:
        return CannotSample(f"{place}: {self.problem}", self.remedy)


# Values


def sample_value(
    annotation: Any, *, name: str = "sample", number: int = 0, examples: Sequence[Any] = ()
) -> Any:
    """A value of a type that meets its constraints; `examples` are those of its field."""
    check = validator_of(annotation)
    for candidate in chain(candidates(annotation, name, number), variants(examples, number)):
        try:
            return check(candidate)
        except (ValidationError, ValueError, bt.DomainError):
            continue
    raise CannotSample(
        f"no sample of {name!r} can be made from its type {annotation!r}",
        "declare it with Field(examples=[...]), or give the pattern sample={...}",
    )


def validator_of(annotation: object) -> Callable[[Any], Any]:
    """A type's own validation, cached because pydantic takes long to compile it."""
    try:
        return compiled_validator(annotation)
    except TypeError:  # an annotation of the type is unhashable
        return compiled_validator.__wrapped__(annotation)


@lru_cache(maxsize=1024)
def compiled_validator(annotation: Any) -> Callable[[Any], Any]:
    try:
        validate = TypeAdapter(annotation).validate_python
    except PydanticSchemaGenerationError:
        validate = None

    def check(value: object) -> object:
        if isinstance(value, (BaseModel, bt.Key)):
            return value
        if validate is None:
            raise ValueError(f"pydantic does not know {annotation!r}")
        return validate(value)

    return check


def candidates(annotation: object, name: str, number: int) -> Iterator[object]:
    kind, marks = bt.unwrap(annotation)
    if get_origin(kind) in (Union, UnionType):
        for option in get_args(kind):
            if option is not type(None):
                yield from candidates(option, name, number)
        return
    given = [
        example for mark in marks if isinstance(mark, FieldInfo) for example in mark.examples or ()
    ]
    yield from given[number : number + 1]
    yield from typed_candidates(kind, tuple(constraints(marks)), name, number)
    yield from variants(given, number)


def variants(examples: Sequence[object], number: int) -> Iterator[object]:
    """Text examples with their last characters replaced by the number, then all as given."""
    digits = str(number)
    for example in examples:
        if isinstance(example, str) and len(example) > len(digits):
            yield example[: -len(digits)] + digits
    yield from examples


def constraints(marks: Iterable[object]) -> Iterator[object]:
    for mark in marks:
        if isinstance(mark, FieldInfo):
            yield from mark.metadata
        else:
            yield mark


def limit(marks: Iterable[object], *names: str) -> int | None:
    """The first of these constraints that a type has, such as `max_length`."""
    limits = (getattr(mark, name, None) for mark in marks for name in names)
    return next((value for value in limits if value is not None), None)


def typed_candidates(
    kind: object, marks: tuple[object, ...], name: str, number: int
) -> Iterator[object]:
    origin = get_origin(kind)
    if origin is Literal:
        yield turn(get_args(kind), number)
    elif origin is bt.Key:
        yield sample_model(get_args(kind)[0], number=number).own_key()
    elif origin is not None:
        yield from containers(kind, origin, marks, name, number)
    elif not isinstance(kind, type):
        yield from texts(marks, name, number)
    elif issubclass(kind, Enum):
        yield turn(list(kind), number)
    elif issubclass(kind, BaseModel):
        yield sample_model(kind, number=number)
    elif kind in (list, tuple, set, frozenset, dict):
        yield from containers(kind, kind, marks, name, number)
    else:
        yield from scalars(kind, marks, name, number)


def turn(choices: Sequence[object], number: int) -> object:
    return choices[number % len(choices)]


def scalars(kind: type, marks: tuple[object, ...], name: str, number: int) -> Iterator[object]:
    if issubclass(kind, bt.Ksuid):
        at = MOMENT - timedelta(seconds=number)
        yield kind.make(at, number.to_bytes(bt.PAYLOAD_BYTES))
    elif issubclass(kind, bool):
        yield from (False, True)
    elif issubclass(kind, (int, Decimal)):
        yield from numbers(marks, number)
    elif issubclass(kind, datetime):
        yield MOMENT - timedelta(minutes=number)
        yield MOMENT.replace(year=9999) - timedelta(minutes=number)
    elif issubclass(kind, date):
        yield MOMENT.date() - timedelta(days=number)
    elif issubclass(kind, UUID):
        yield UUID(int=(number + 1) << 64, version=4)
    elif issubclass(kind, bytes):
        yield from (text.encode() for text in texts(marks, name, number))
    else:
        yield from texts(marks, name, number)


def numbers(marks: tuple[object, ...], number: int) -> Iterator[int]:
    low, high = limit(marks, "ge", "gt"), limit(marks, "le", "lt")
    step = limit(marks, "multiple_of") or 1
    yield number + 1
    if low is not None:
        yield int(low) + number
        yield int(low) + step
        yield int(low) + 1
    if high is not None:
        yield int(high) - 1
        yield int(high)
    yield from (step, 0, 1, -1)


def texts(marks: tuple[object, ...], name: str, number: int) -> Iterator[str]:
    """Text of an allowed length, in several shapes."""
    least, most = limit(marks, "min_length") or 0, limit(marks, "max_length")
    plain = f"{name}-{number + 1}".replace("_", "-")
    length = max(least, len(plain) if most is None else min(most, max(len(plain), most // 2)))
    short = f"{number + 1}".rjust(length, "x")
    fitted = short if len(plain) > length else plain.ljust(length, "x")
    yield fitted
    yield fitted.upper()
    yield fitted.replace("-", "").lower()
    yield fitted.replace("-", "").upper()
    yield fitted.replace("-", "").capitalize()
    yield from (f"{number + 1:0{digits}}" for digits in (max(least, 1), *DIGIT_COUNTS))
    yield f"{name}{number + 1}@example.com"
    yield f"https://example.com/{name}/{number + 1}"
    yield f"{number + 1}.0"


def containers(
    kind: object, origin: type, marks: tuple[object, ...], name: str, number: int
) -> Iterator[object]:
    inner = [arg for arg in get_args(kind) if arg is not Ellipsis]
    count = max(limit(marks, "min_length") or 0, 1)
    places = range(number * count, number * count + count)
    if issubclass(origin, Mapping):
        of = inner[1] if inner else str
        yield {f"{name}-{place + 1}": sample_value(of, name=name, number=place) for place in places}
    elif issubclass(origin, tuple) and inner and Ellipsis not in get_args(kind):
        yield tuple(sample_value(annotation, name=name, number=number) for annotation in inner)
    elif issubclass(origin, Iterable):
        of = inner[0] if inner else str
        yield [sample_value(of, name=name, number=place) for place in places]


# Entities


def sample_model(
    kind: type[M],
    given: Mapping[str, object] | None = None,
    *,
    number: int = 0,
    present: Iterable[str] = (),
) -> M:
    """A model with the given fields, and plausible values for those without a default.

    `present` names fields that must have a value although their default is empty; if the model is
    refused without values, all fields get one.
    """
    fields = dict(given or {})
    for name, field in kind.model_fields.items():
        wanted = field.is_required() or needs_tenant(kind, name)
        wanted = wanted or (name in present and field.default in EMPTY)
        if name not in fields and (wanted or field.examples):
            fields[name] = sample_field(kind, name, number)
    try:
        return kind.model_validate(fields)
    except (ValidationError, bt.DomainError) as error:
        if lacking := kind.model_fields.keys() - fields.keys() - {*present}:
            return sample_model(kind, given, number=number, present={*present, *lacking})
        raise CannotSample(
            f"no sample of {kind.__name__} can be made ({faults_in(error)})",
            "declare its fields with Field(examples=[...]) that go together",
        ) from None


def faults_in(error: ValidationError | bt.DomainError) -> str:
    if isinstance(error, bt.DomainError):
        return str(error)
    return "; ".join(
        f"{'.'.join(map(str, fault['loc'])) or 'it'}: {fault['msg']}" for fault in error.errors()
    )


@lru_cache(maxsize=16_384)
def sample_field(kind: type[BaseModel], name: str, number: int) -> object:
    """A sample of one field; cached, because pages of items are sampled many times."""
    examples = kind.model_fields[name].examples or []
    if number < len(examples):
        return examples[number]
    annotation = bt.field_annotation(kind, name)
    try:
        return sample_value(annotation, name=name, number=number, examples=examples)
    except CannotSample as error:
        if examples:
            return turn(examples, number)
        raise error.at(f"{kind.__name__}.{name}") from None


def sample_item(
    entity: type[bt.Entity],
    given: Mapping[str, object] | None = None,
    *,
    number: int = 0,
    present: Iterable[str] = (),
) -> Item:
    """An item of an entity as DynamoDB stores it, with the times that every put fills in."""
    roles = entity.layout.roles
    filled = {name for name in (roles.created, roles.updated) if name is not None}
    sample = sample_model(entity, given, number=number, present={*present, *filled})
    return check_item(entity.layout.to_item(sample))[0]


def needs_tenant(kind: type[BaseModel], name: str) -> bool:
    """Whether the field's default is the store's tenant, which a sample, having no store, lacks."""
    return issubclass(kind, bt.Entity) and kind.layout.tenant == name


@contextmanager
def any_tenant() -> Iterator[None]:
    """Gives steps a tenant, if none is bound, and lets them access any other tenant's items."""
    token = TENANT.set(TENANT.get() or AnyTenant("tenant-1"))
    try:
        yield
    finally:
        TENANT.reset(token)


# Fields of keys


def entity_of(table: bt.Table, key: Item) -> tuple[type[bt.Entity], dict[str, Any]] | None:
    """The entity that a main key belongs to, and the fields in the key."""
    for entity in table.entities:
        fields = bt.fields_in_key(entity.layout.keys[bt.MAIN].parts, key)
        if fields is not None:
            return entity, fields
    return None


def fields_in_prefix(template: bt.Template, beginning: str) -> dict[str, Any] | None:
    """The fields that a key prefix contains completely; None if no key has that prefix."""
    fields: dict[str, Any] = {}
    start = 0
    for part in template.parts:
        rest = beginning[start:]
        if isinstance(part, str):
            if not rest.startswith(part) and not part.startswith(rest):
                return None
            start += len(part)
            continue
        end = start + part.width if part.width is not None else beginning.find(bt.DELIMITER, start)
        if part.closing is None or not start <= end <= len(beginning):
            return fields
        try:
            fields[part.name] = part.encoding.decode(beginning[start:end])
        except ValueError:
            return None
        start = end
    return fields if start >= len(beginning) else None


# Patterns


def sample_arguments(pattern: bt.Pattern[..., Any]) -> dict[str, Any]:
    """Arguments for a pattern: its samples, its defaults, or values generated from its types."""
    arguments = dict(pattern.sample)
    for parameter in pattern.parameters:
        if parameter.name in arguments or not is_needed(parameter):
            continue
        try:
            arguments[parameter.name] = sample_value(parameter.annotation, name=parameter.name)
        except CannotSample as error:
            raise error.at(f"parameter {parameter.name}") from None
    return arguments


def is_needed(parameter: Parameter) -> bool:
    variadic = parameter.kind in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
    return parameter.default is Parameter.empty and not variadic
