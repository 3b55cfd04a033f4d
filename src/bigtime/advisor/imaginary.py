"""Tables that are not there: what a dry run reads from, and writes to.

Without being told what they hold, imaginary tables hold whatever they are asked for:

1. An item that is read by its key is there, as a sample of the entity that the key belongs to.
2. A query finds as many items as its limit, or else `FOUND` of them.
3. Conditions hold. A put is of a new item, unless its condition says that there is one.
4. What was made up once stays so, and then is as the steps leave it: steps that delete until
   nothing is found come to an end.

Told what they hold, they hold that and nothing else, and a condition, or a filter, that an item or
an attribute is there, or is not, is judged. Others are always taken to hold.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from bigtime.advisor.capacity import Sized, canonical_item, item_size
from bigtime.advisor.key_condition import beginning, meets_all
from bigtime.advisor.sample import entity_of, sample_item, told_by_beginning
from bigtime.model import (
    MAIN,
    BucketEntry,
    Entity,
    EntityKey,
    Identity,
    Index,
    KeyCondition,
    KeyPart,
    SortBounds,
    Table,
    identity_of,
    sort_key,
    told_by,
)
from bigtime.wire import ConditionalCheckFailedException, Item, Params

FOUND = 10
SECONDS_OF_AN_HOUR = 3600
DAYS_OF_ANY_MONTH = 28
PRESENCE = re.compile(r"(attribute_exists|attribute_not_exists)\s*\(\s*([#\w-]+)\s*\)")
"""Of a whole attribute: what is inside one is not looked at."""
COMPARISON = re.compile(r"(?<!<)[=>]|<(?!>)")
UNCERTAIN = re.compile(r"\b(OR|NOT)\b", re.IGNORECASE)


class ImaginaryTables:
    """`sizes` are the bytes of each entity's items, where they are not those of its samples."""

    def __init__(
        self,
        table: Callable[[str], Table],
        *,
        sizes: Mapping[type[Entity], int] | None = None,
        holding: Iterable[Entity] | None = None,
        found: int | None = None,
    ) -> None:
        self.table = table
        self.sizes = sizes or {}
        self.found = found
        self.is_told = holding is not None
        self.items: dict[Identity, Sized | None] = {}
        self.results: dict[str, list[Identity]] = {}
        for entity in holding or ():
            self.keep(entity.layout.table, entity.layout.to_item(entity))

    def keep(self, table: Table, item: Item) -> None:
        self.items[identity_of(table, item)] = self.sized(table, item)

    def sized(self, table: Table, item: Item) -> Sized:
        item = canonical_item(item)
        found = entity_of(table, item)
        told = self.sizes.get(found[0]) if found else None
        return Sized(item, 0 if told is None else told - item_size(item))

    def look(self, table: Table, key: Item) -> Sized | None:
        """The item of a key, made up if nobody has asked for it before."""
        identity = identity_of(table, key)
        if identity not in self.items:
            self.items[identity] = None if self.is_told else self.made_up(table, key)
        return self.items[identity]

    def made_up(self, table: Table, key: Item) -> Sized:
        found = entity_of(table, key)
        if found is None:
            return self.sized(table, key)
        entity, told = found
        return self.sized(table, sample_item(entity, told))

    def met(self, table: Table, key: Item, params: Params, *, is_put: bool = False) -> Sized | None:
        """The item that a write meets, by rule 3."""
        identity = identity_of(table, key)
        if self.is_told:
            return self.met_there(identity, params)
        there = presence(table, params)
        compared = COMPARISON.search(params.get("ConditionExpression") or "")
        if there is False or (is_put and not (there or compared or identity in self.items)):
            return None
        return self.look(table, key) or (self.made_up(table, key) if there else None)

    def met_there(self, identity: Identity, params: Params) -> Sized | None:
        found = self.items.get(identity)
        item = found.item if found else {}
        if not is_as_told(item, presences(params, "ConditionExpression")):
            raise ConditionalCheckFailedException(item=item or None)
        return found

    def passing(self, page: list[Sized], params: Params) -> list[Sized]:
        """Those that a filter lets through, as far as that can be told."""
        told = presences(params, "FilterExpression") if self.is_told else {}
        return [one for one in page if is_as_told(one.item, told)]

    def question(
        self, table: Table, index: Index, conditions: tuple[KeyCondition, ...], params: Params
    ) -> list[Sized]:
        """What is found where these conditions hold, in the order of the index."""
        if self.is_told:
            places = self.matching(table, index, conditions, params)
        else:
            places = self.remembered(table, index, conditions, params)
        found = (self.items.get(place) for place in places)
        return [one for one in found if one is not None and one.in_index(table, index) is not None]

    def matching(
        self, table: Table, index: Index, conditions: tuple[KeyCondition, ...], params: Params
    ) -> list[Identity]:
        if params.get("Segment"):
            return []  # the first segment has them all
        found = [
            (sort_key(index, one.item), place)
            for place, one in self.items.items()
            if place[0] == table.name
            and one is not None
            and one.in_index(table, index) is not None
            and meets_all(one.item, conditions)
        ]
        return [place for _, place in sorted(found, key=lambda pair: pair[0])]

    def remembered(
        self, table: Table, index: Index, conditions: tuple[KeyCondition, ...], params: Params
    ) -> list[Identity]:
        """Rules 2 and 4: the same question finds the same items, those that are left."""
        terms = [(one.attribute, one.operator, one.operands) for one in conditions]
        question = json.dumps([table.name, index.name, terms, params.get("Segment")])
        if question not in self.results:
            wanted = self.found if self.found is not None else params.get("Limit", FOUND)
            self.results[question] = self.imagined(table, index, conditions, wanted)
        return self.results[question]

    def imagined(
        self, table: Table, index: Index, conditions: tuple[KeyCondition, ...], wanted: int
    ) -> list[Identity]:
        """Makes up items that a question finds: of each entity that can be there, in turn."""
        asked = {one.attribute: one for one in conditions}
        holders = [
            (entity, told)
            for entity in table.entities
            if index.name in entity.layout.keys
            and (told := told_by_question(entity.layout.keys[index.name], asked)) is not None
        ]
        for entity, told in holders:
            if issubclass(entity, BucketEntry):  # a series has one bucket, the last asked for
                told["bucket"] = Told(last_bucket(entity, conditions))
        places: dict[Identity, Any] = {}
        for number in range(wanted):
            for entity, told in holders:
                key = entity.layout.keys[index.name]
                if number and is_one_item(key, told):
                    continue
                fields = {name: values[0] for name, values in key.only.items()}
                fields |= {name: one.at(number) for name, one in told.items()}
                item = sample_item(entity, fields, number=number, present=key.fields)
                place = identity_of(table, item)
                if place in places or len(places) == wanted:
                    continue
                if place not in self.items:
                    self.keep(table, item)
                places[place] = sort_key(index, item)
        return sorted(places, key=lambda place: places[place])


def last_bucket(entry: type[BucketEntry], conditions: tuple[KeyCondition, ...]) -> str:
    stated = {one.attribute: one.operands[-1] for one in conditions}
    fields = told_by(entry.layout.keys[MAIN].range, stated) or {}
    return str(fields.get("bucket", "2026-01-01"))


@dataclass(frozen=True, slots=True)
class Told:
    """What a question tells of a field; of one in a bucket, only where the bucket starts."""

    value: Any
    is_bucket: bool = False

    def at(self, number: int) -> Any:
        """The value, or one of the moments or days in the bucket."""
        if not self.is_bucket:
            return self.value
        if isinstance(self.value, datetime):
            return self.value + timedelta(seconds=number % SECONDS_OF_AN_HOUR)
        return self.value + timedelta(days=number % DAYS_OF_ANY_MONTH)


def told_by_question(key: EntityKey, asked: Mapping[str, KeyCondition]) -> dict[str, Told] | None:
    """The fields that a question tells of an entity; None when the entity cannot be there."""
    if not asked:
        return {}
    values = {one.attribute: one.operands[0] for one in asked.values() if one.operator == "="}
    partition = told_by(key.hash, values)
    if partition is None:
        return None
    lossy = {name for part in key.hash for name in part.template.lossy}
    told = {name: Told(value, name in lossy) for name, value in partition.items()}
    for part in key.range:
        condition = asked.get(part.attribute.name)
        if condition is None:
            break
        exact = {name: one.value for name, one in told.items() if not one.is_bucket}
        more = told_by_condition(part, condition)
        if more is None or not may_meet(part.span(exact), condition):
            return None
        told |= {name: Told(value) for name, value in more.items()}
    return told


def is_one_item(key: EntityKey, told: Mapping[str, Told]) -> bool:
    """Whether the place in the index is told to the last field, so that one item is meant."""
    exact = (name in told and not told[name].is_bucket for name in key.fields)
    return bool(key.range) and all(exact)


def told_by_condition(part: KeyPart, condition: KeyCondition) -> dict[str, Any] | None:
    if condition.operator == "=":
        return told_by([part], {part.attribute.name: condition.operands[0]})
    return {} if part.form is not None else told_by_beginning(part.template, beginning(condition))


def may_meet(span: SortBounds, condition: KeyCondition) -> bool:
    """Whether a condition may take in some of the texts in a span."""
    texts = [str(operand.get("S", "")) for operand in condition.operands]
    below = condition.operator in ("<", "<=", "between") and (span.low or "") > texts[-1]
    above = (
        condition.operator in (">", ">=", "between")
        and span.high is not None
        and (span.high < texts[0] or (span.high == texts[0] and not span.high_inclusive))
    )
    return not below and not above


def presence(table: Table, params: Params) -> bool | None:
    """Whether a write's condition says that its item is there; None when it says neither."""
    told = presences(params, "ConditionExpression")
    own = (one.name for one in table.main.attributes)
    return next((told[name] for name in own if name in told), None)


def presences(params: Params, expression: str) -> dict[str, bool]:
    """The attributes of which an expression says whether they are there; none, if it has an or."""
    text = params.get(expression) or ""
    names = params.get("ExpressionAttributeNames") or {}
    if UNCERTAIN.search(text):
        return {}
    return {
        names.get(mark, mark): function == "attribute_exists"
        for function, mark in PRESENCE.findall(text)
    }


def is_as_told(item: Item, told: Mapping[str, bool]) -> bool:
    return all((name in item) == there for name, there in told.items())
