"""Which items a query reads: a partition of an index, or a range of its sort key.

    Deal.within("GSI2", brand="APPLE", created_at=day)
    Order.within("main", username="alex", order_id=less_than(last))
    Store.within("ByPlace", country="US", state="NE", city=begins_with("O"))

The fields are those of the index's templates. Every partition field takes a value. Sort key
fields take any number of values from the left, and then one comparison, because DynamoDB takes
one condition on a sort key, and can only evaluate it on a leading part of the key. Conditions
that the key cannot express go into a filter.

A field may be in the partition as a bucket and in the sort key in full, as in
`("DEALS#{created_at:day}", "{created_at}")`. A plain value then selects the bucket; a comparison
selects the bucket and a range within it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache
from hashlib import sha256
from typing import Any, Generic, NamedTuple, TypeVar

from pydantic_core import to_json

from bigtime.model.errors import DesignError, ValueRefused
from bigtime.model.schema.bounds import Operator, SortCondition
from bigtime.model.schema.condition import Placeholders
from bigtime.model.schema.keys import SURELY_SHORT, EntityKey, KeyPart
from bigtime.model.schema.layout import Layout
from bigtime.model.schema.neighbours import is_alone
from bigtime.model.schema.parts import fields_of
from bigtime.model.schema.reader import Reader
from bigtime.model.schema.stored import is_number, write_decimal
from bigtime.model.schema.table import Index
from bigtime.wire import AttributeValue, Item, comparable

T = TypeVar("T")
U = TypeVar("U")

CEILINGS = ("<", ">=", "between")
"""Operators whose first operand rounds up to the next storable time: no stored time is between."""
SENT: Mapping[Operator, str] = {
    "between": "{0} BETWEEN {1} AND {2}",
    "begins_with": "begins_with({0}, {1})",
}


class Comparison(NamedTuple):
    """A comparison on the last field of a key range; a plain value means equality."""

    operator: Operator
    operands: tuple[Any, ...]


def less_than(value: Any) -> Comparison:
    return Comparison("<", (value,))


def at_most(value: Any) -> Comparison:
    return Comparison("<=", (value,))


def more_than(value: Any) -> Comparison:
    return Comparison(">", (value,))


def at_least(value: Any) -> Comparison:
    return Comparison(">=", (value,))


def between(low: Any, high: Any) -> Comparison:
    """From one value to another, inclusive."""
    return Comparison("between", (low, high))


def begins_with(start: str | bytes) -> Comparison:
    """Values that begin with this prefix, compared with the field as stored."""
    return Comparison("begins_with", (start,))


class KeyCondition(NamedTuple):
    """A condition on one key attribute, in the form that DynamoDB takes."""

    attribute: str
    operator: Operator
    operands: tuple[AttributeValue, ...]

    def render(self, marks: Placeholders) -> str:
        sent = SENT.get(self.operator, f"{{0}} {self.operator} {{1}}")
        return sent.format(marks.name(self.attribute), *map(marks.value, self.operands))


@dataclass(frozen=True, slots=True, eq=False)
class KeyRange(Generic[T]):
    """A range of one partition, and how its items are read.

    `dropped` are values of the last key attribute that DynamoDB's condition matches but the range
    excludes.
    """

    layout: Layout
    index: Index
    reader: Reader[T]
    conditions: tuple[KeyCondition, ...]
    dropped: tuple[AttributeValue, ...] = ()

    def read_as(self, reader: Reader[U]) -> KeyRange[U]:
        return replace(self, reader=reader)  # type: ignore[arg-type, return-value]

    def read(self, item: Item) -> T | None:
        """The item's value; None when the range excludes the item."""
        if self.dropped and item[self.conditions[-1].attribute] in self.dropped:
            return None
        return self.reader.read(item)

    def condition_texts(self) -> list[str]:
        """Its conditions for display, with secrets hidden."""
        return [
            f"{condition.attribute} {condition.operator} "
            + " and ".join(
                "***" if condition.attribute in self.layout.hidden else repr(*operand.values())
                for operand in condition.operands
            )
            for condition in self.conditions
        ]

    def fingerprint(self, *more: Any) -> str:
        """What a cursor is bound to: everything that determines the items and their order."""
        return fingerprint(
            self.layout.table.name,
            self.index.name,
            self.reader.kinds,
            [
                (condition.attribute, condition.operator, condition.operands)
                for condition in self.conditions
            ],
            *more,
        )


def check_within(given: object, function: str) -> None:
    if not isinstance(given, KeyRange):
        raise DesignError(
            f"{function}() takes a stretch of a partition, not {given!r}; make one, as in"
            " Brand.within('main', brand='APPLE')"
        )


def fingerprint(*facts: Any) -> str:
    return sha256(to_json(facts)).hexdigest()[:32]


def within(layout: Layout, reader: Reader[T], index: str, given: Mapping[str, Any]) -> KeyRange[T]:
    """The range that these fields describe, or an error that says which fields are needed."""
    if layout.tenant is not None:
        given = layout.with_tenant(given)
    if all(type(value) is str for value in given.values()):
        return build_cached(layout, reader, index, tuple(given.items()))
    return build(layout, reader, index, given)


@lru_cache(maxsize=1024)
def build_cached(
    layout: Layout, reader: Reader[T], index: str, given: tuple[tuple[str, str], ...]
) -> KeyRange[T]:
    """Caches ranges of text fields only: equal values of other types may encode differently."""
    return build(layout, reader, index, dict(given))


def build(layout: Layout, reader: Reader[T], index: str, given: Mapping[str, Any]) -> KeyRange[T]:
    question = KeyRangeBuilder(layout, index, given)
    question.check_names()
    try:
        question.fit()
        partition = question.partition()
        sort, dropped = question.stretch()
    except ValueRefused as error:
        raise ValueRefused(f"{question}: {error}", layout.entity) from None
    return KeyRange(layout, question.key.index, reader, (*partition, *sort), dropped)


def whole_partition(
    layout: Layout, reader: Reader[T], index: str, given: Mapping[str, Any]
) -> KeyRange[T]:
    """The whole partition, with the items of all its entities."""
    question = KeyRangeBuilder(layout, index, layout.with_tenant(given))
    question.check_names(question.key.hash_fields)
    try:
        question.fit()
        return KeyRange(layout, question.key.index, reader, question.partition())
    except ValueRefused as error:
        raise ValueRefused(f"{question}: {error}", layout.entity) from None


class KeyRangeBuilder:
    """Turns the fields given for an index into key conditions."""

    __slots__ = ("comparisons", "given", "index", "key", "layout")

    def __init__(self, layout: Layout, index: str, given: Mapping[str, Any]) -> None:
        layout.is_used = True
        self.layout = layout
        self.index = index
        self.key = key_in(layout, index)
        self.comparisons = given
        self.given = given

    def __str__(self) -> str:
        return f"{self.layout.entity.__name__}.within({self.index!r})"

    def check_names(self, allowed: tuple[str, ...] | None = None) -> None:
        allowed = self.key.fields if allowed is None else allowed
        for name, value in self.given.items():
            if name not in allowed:
                raise DesignError(
                    f"{self} takes {', '.join(allowed) or 'no field'}, not {name!r}; filter on it,"
                    " or ask an index that has it in its key"
                )
            if value is None:
                said = f"{self}: {name} is None, and no key is made of that"
                raise ValueRefused(said, self.layout.entity)
        missing = [name for name in self.key.hash_fields if name not in self.given]
        if missing:
            raise DesignError(self.missing_message(missing))

    def missing_message(self, missing: list[str]) -> str:
        texts = ", ".join(repr(part.template.text) for part in self.key.hash)
        said = f"{self} also needs {', '.join(missing)}: its partition key is {texts}"
        if self.key.bucketed.issuperset(missing):
            return f"{said}; to walk its buckets, ask newest_first(buckets(...))"
        return said

    def fit(self) -> None:
        """Validates every value by its field's type, so that it matches what was stored."""
        self.given = {name: self.fit_value(name, value) for name, value in self.given.items()}

    def fit_value(self, name: str, value: Any) -> Any:
        if isinstance(value, Comparison):
            # A prefix need not be a valid value of the field, and is taken unchanged.
            if value.operator == "begins_with":
                return value
            return self.fit_bounds(name, value)
        # A moment selects a bucket, even if it is not a value that the field could hold.
        if name in self.key.bucketed and isinstance(value, date):
            return value
        return self.layout.check_value(name, value)

    def fit_bounds(self, name: str, comparison: Comparison) -> Comparison:
        first, *rest = comparison.operands
        low = self.layout.bound(name, first, up=comparison.operator in CEILINGS)
        high = [self.layout.bound(name, each, up=False) for each in rest]
        if isinstance(low, date) and high and low > high[0]:
            raise ValueRefused(
                f"{name} is never stored between {first} and {rest[0]}; give the lower one first,"
                " or ask for more"
            )
        return Comparison(comparison.operator, (low, *high))

    def partition(self) -> tuple[KeyCondition, ...]:
        values = {name: self.partition_value(name) for name in self.key.hash_fields}
        return tuple(
            KeyCondition(part.attribute.name, "=", (key_value(part, values),))
            for part in self.key.hash
        )

    def partition_value(self, name: str) -> Any:
        value = self.given[name]
        if not isinstance(value, Comparison):
            return value
        if name not in self.key.bucketed:
            raise DesignError(
                f"{self}: {name} is in the partition key, which takes a value, no comparison"
            )
        # Not rounded up to the next time that can be stored, which may be in the next bucket.
        operands = self.comparisons[name].operands
        return self.one_bucket(
            name, [self.layout.bound(name, operand, up=False) for operand in operands]
        )

    def one_bucket(self, name: str, operands: Sequence[Any]) -> Any:
        fields = (field for part in self.key.hash for field in fields_of(part.template.parts))
        field = next(each for each in fields if each.name == name)
        starts = {field.text(operand, name) for operand in operands}
        if len(starts) > 1:
            raise ValueRefused(
                f"{name} reaches from {' to '.join(sorted(starts))}, over several partitions;"
                " ask each of them, or walk them with newest_first(buckets(...))"
            )
        return operands[0]

    def stretch(self) -> tuple[list[KeyCondition], tuple[AttributeValue, ...]]:
        """The conditions on the sort key, and the values to drop."""
        conditions: list[KeyCondition] = []
        used = {*self.key.hash_fields}
        for part in self.key.range:
            leading, compared = self.leading_values(part)
            used |= {*leading, *([compared] if compared else [])}
            condition, dropped = self.condition(part, leading, compared)
            if condition is not None:
                conditions.append(condition)
            if condition is None or condition.operator != "=":
                self.check_used(used)
                return conditions, dropped
        self.check_used(used)
        return conditions, ()

    def leading_values(self, part: KeyPart) -> tuple[dict[str, Any], str | None]:
        """The values given for the first fields of a key, and the field that is compared."""
        values: dict[str, Any] = {}
        for name in part.template.fields:
            value = self.given.get(name)
            if isinstance(value, Comparison):
                return values, name
            if value is None or name in self.key.bucketed:
                break
            values[name] = value
        return values, None

    def condition(
        self, part: KeyPart, leading: Mapping[str, Any], compared: str | None
    ) -> tuple[KeyCondition | None, tuple[AttributeValue, ...]]:
        comparison = self.given[compared] if compared else None
        if part.form is not None:
            return native_condition(part, leading, comparison), ()
        operator, operands = (
            (comparison.operator, comparison.operands) if comparison else (None, ())
        )
        found = part.template.condition(
            leading, operator, operands, alone=is_alone(self.layout, self.index)
        )
        return text_condition(part, found)

    def check_used(self, used: set[str]) -> None:
        late = [name for name in self.given if name not in used]
        if late:
            texts = ", ".join(repr(part.template.text) for part in self.key.range)
            raise DesignError(
                f"{self}: {', '.join(late)} cannot be asked without a plain value for every field"
                f" before it in the sort key {texts}; give those, or filter"
            )


def key_in(layout: Layout, index: str) -> EntityKey:
    layout.table.index(index)
    if index not in layout.keys:
        raise DesignError(
            f"{layout.entity.__name__} is not in index {index}; it is in {', '.join(layout.keys)}"
        )
    return layout.keys[index]


def text_condition(
    part: KeyPart, found: SortCondition | None
) -> tuple[KeyCondition | None, tuple[AttributeValue, ...]]:
    if found is None:
        return None, ()
    for operand in found.operands:
        if len(operand) > SURELY_SHORT:
            part.check_size(len(operand.encode()))
    condition = KeyCondition(
        part.attribute.name, found.operator, tuple({"S": each} for each in found.operands)
    )
    return condition, tuple({"S": each} for each in found.drop_equal)


def key_value(part: KeyPart, values: Mapping[str, Any]) -> AttributeValue:
    value = part.value(values)
    if value is None:
        raise ValueRefused(f"no field of the key {part.template.text!r} may be None")
    return value


def native_condition(
    part: KeyPart, leading: Mapping[str, Any], comparison: Comparison | None
) -> KeyCondition | None:
    """The condition on a key attribute that is a number or bytes."""
    name = part.attribute.name
    if leading:
        return KeyCondition(name, "=", (key_value(part, leading),))
    if comparison is None:
        return None
    if comparison.operator == "begins_with" and part.attribute.type == "N":
        raise ValueRefused(f"{part.template.text} is a number, which has no beginning; use between")
    operands = tuple(
        write_decimal(operand) if is_number(operand) else part.native(operand)
        for operand in comparison.operands
    )
    if comparable(operands[0]) > comparable(operands[-1]):
        field = part.template.fields[0]
        raise ValueRefused(f"field {field!r}: between takes the lower value first")
    return KeyCondition(name, comparison.operator, operands)
