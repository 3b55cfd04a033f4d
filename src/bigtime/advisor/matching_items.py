"""Sample items that a query finds.

The key conditions determine some fields of each entity that can be in the partition: those in
the partition key, and those at the start of the sort key. The others get sample values. Where a
sort key must lie beyond a bound, its last field is stepped away from that bound, and samples that
still do not match are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import count
from typing import Any

from bigtime import model as bt
from bigtime.advisor.sample import CannotSample, fields_in_prefix, sample_item
from bigtime.engine import KeyTerm
from bigtime.wire import Item, comparable

SECONDS_OF_AN_HOUR = 3600
DAYS_OF_ANY_MONTH = 28


@dataclass(frozen=True, slots=True)
class FieldHint:
    """What the conditions say about a field: its value, its bucket, or a bound."""

    value: Any
    is_bucket: bool = False
    step: int = 0
    """1 if values lie above the bound, -1 if below, 0 if the value is not a bound."""

    @property
    def is_exact(self) -> bool:
        return not self.is_bucket and not self.step

    def value_for(self, number: int) -> object:
        """The value; or a moment or day in the bucket; or a value `number` steps from the bound."""
        if self.step:
            return step_value(self.value, self.step * number)
        if not self.is_bucket:
            return self.value
        if isinstance(self.value, datetime):
            return self.value + timedelta(seconds=number % SECONDS_OF_AN_HOUR)
        return self.value + timedelta(days=number % DAYS_OF_ANY_MONTH)


def step_value(value: object, distance: int) -> object:
    """A value at this distance above or below another."""
    match value:
        case int() | Decimal():
            return value + distance
        case bt.Ksuid():
            return bt.Ksuid.make(value.at + timedelta(seconds=distance), value.payload)
        case datetime():
            return value + timedelta(seconds=distance)
        case date():
            return value + timedelta(days=distance)
        case str():
            return f"{value}{distance:04}" if distance > 0 else value[:-1] or value
    return value


def matching_items(
    table: bt.Table,
    index: bt.Index,
    terms: tuple[KeyTerm, ...],
    accepts: Callable[[Item], bool],
    *,
    most_misses: int,
) -> Iterator[Item]:
    """Yields matching items of each possible entity in turn, until no more can be made.

    `accepts` says whether an item meets the terms and is new. `most_misses` is how many samples in
    a row may be refused before giving up.
    """
    by_attribute = {term.attribute: term for term in terms}
    keys = [
        (entity, entity.layout.keys[index.name])
        for entity in table.entities
        if index.name in entity.layout.keys
    ]
    holders = [
        (entity, key, hints)
        for entity, key in keys
        if (hints := field_hints(key, by_attribute)) is not None
    ]
    for entity, key, hints in holders:
        if issubclass(entity, bt.BucketEntry):  # a series has one bucket, the last one requested
            hints["bucket"] = FieldHint(last_bucket(key, terms))
    misses = 0
    for number in count():
        for entity, key, hints in holders:
            item = matching_item(entity, key, hints, number, accepts)
            misses = misses + 1 if item is None else 0
            if item is not None:
                yield item
        if misses >= most_misses * len(holders):
            return


def last_bucket(key: bt.EntityKey, terms: tuple[KeyTerm, ...]) -> str:
    bounds = {term.attribute: term.operands[-1] for term in terms}
    fields = bt.fields_in_key(key.range, bounds) or {}
    return str(fields.get("bucket", "2026-01-01"))


def matching_item(
    entity: type[bt.Entity],
    key: bt.EntityKey,
    hints: Mapping[str, FieldHint],
    number: int,
    accepts: Callable[[Item], bool],
) -> Item | None:
    """A sample with natural values, or with values next to the bounds; None if none is accepted."""
    if number and is_one_item(key, hints):
        return None
    fields = {name: values[0] for name, values in key.only.items()}
    fields |= {name: hint.value_for(number) for name, hint in hints.items() if not hint.step}
    item = sample_item(entity, fields, number=number, present=key.fields)
    if accepts(item):
        return item
    bounded = {name: hint.value_for(number) for name, hint in hints.items() if hint.step}
    try:
        item = sample_item(entity, fields | bounded, number=number, present=key.fields)
    except CannotSample:
        return None  # the value next to the bound is not valid for the field
    return item if bounded and accepts(item) else None


def field_hints(
    key: bt.EntityKey, by_attribute: Mapping[str, KeyTerm]
) -> dict[str, FieldHint] | None:
    """What the terms say about an entity's fields; None if the entity cannot match."""
    if not by_attribute:
        return {}
    values = {
        term.attribute: term.operands[0] for term in by_attribute.values() if term.operator == "="
    }
    partition = bt.fields_in_key(key.hash, values)
    if partition is None:
        return None
    lossy = {name for part in key.hash for name in part.template.lossy}
    hints = {name: FieldHint(value, name in lossy) for name, value in partition.items()}
    for part in key.range:
        term = by_attribute.get(part.attribute.name)
        if term is None:
            break
        exact = {name: hint.value for name, hint in hints.items() if hint.is_exact}
        more = hints_of_term(part, term)
        if more is None or not may_meet(part.span(exact), term):
            return None
        hints |= more
    return hints


def is_one_item(key: bt.EntityKey, hints: Mapping[str, FieldHint]) -> bool:
    """Whether every field of the index's key has one value, and so only one item can match."""
    exact = (name in hints and hints[name].is_exact for name in key.fields)
    return bool(key.range) and all(exact)


def hints_of_term(part: bt.KeyPart, term: KeyTerm) -> dict[str, FieldHint] | None:
    """What a sort key term says about its fields; None if no sort key meets it."""
    if term.operator == "=":
        fields = bt.fields_in_key([part], {part.attribute.name: term.operands[0]})
    elif part.form is None:
        fields = fields_in_prefix(part.template, common_beginning(term))
    else:
        fields = {}
    if fields is None:
        return None
    exact = {name: FieldHint(value) for name, value in fields.items()}
    return exact if term.operator == "=" else bound_hints(part, term) | exact


def bound_hints(part: bt.KeyPart, term: KeyTerm) -> dict[str, FieldHint]:
    """The fields that a term's bound contains completely; the last one's values lie beyond it."""
    bound = comparable(term.operands[0])
    if part.form is not None:
        fields = {part.template.fields[0]: bound}
    else:
        bound = bound.rstrip("\0")
        whole = bt.fields_in_key([part], {part.attribute.name: {"S": bound}})
        fields = whole or fields_in_prefix(part.template, bound) or {}
    if not fields or term.operator == "begins_with":
        return {}
    last = [name for name in part.template.fields if name in fields][-1]
    step = -1 if term.operator in ("<", "<=") else 1
    return {name: FieldHint(value, step=step * (name == last)) for name, value in fields.items()}


def common_beginning(term: KeyTerm) -> str:
    """The prefix common to every text that meets a term, as far as the term determines it."""
    if term.operator not in ("begins_with", "BETWEEN"):
        return ""
    low, *high = [str(operand.get("S", "")) for operand in term.operands]
    while high and not high[0].startswith(low):
        low = low[:-1]
    return low


def may_meet(span: bt.SortBounds, term: KeyTerm) -> bool:
    """Whether some text in a span may meet a term."""
    texts = [str(operand.get("S", "")) for operand in term.operands]
    below = term.operator in ("<", "<=", "BETWEEN") and (span.low or "") > texts[-1]
    above = (
        term.operator in (">", ">=", "BETWEEN")
        and span.high is not None
        and (span.high < texts[0] or (span.high == texts[0] and not span.high_inclusive))
    )
    return not below and not above
