"""Audits: searching the tables for items that violate the declarations.

An audit sees every item once, page by page, and reports what it finds; anything that requires
all items to have been seen is reported at the end. Other writers may be active, so an audit reads
suspect items again before it reports them.

A violation knows how to repair itself. Repairs are guarded: one that finds the item changed since
the violation was found changes nothing, and raises Conflict.

An item that cannot be read is a violation by itself, and the other audits ignore it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from bigtime.model.errors import Conflict, ItemMismatch, RuleBroken
from bigtime.model.operations import (
    BucketEntry,
    BucketList,
    Guard,
    Transition,
    Write,
    items_of,
    put_entries,
    same,
)
from bigtime.model.schema import Entity, Key, Layout, Placeholders, Table, hide
from bigtime.wire import AttributeValue, Item, Request, Steps

OBSCURE: Final = object()
"""Stands for an item that cannot be read."""


class CannotMend(RuleBroken):
    """Only a person can decide what is right here."""


@dataclass(frozen=True, repr=False)
class Violation(ABC):
    """Something wrong, and where: a table, and the key of an item in it."""

    table: str
    """The declared name of the table."""
    key: Item
    """The key attributes of the item, in DynamoDB's JSON."""
    hidden: frozenset[str]
    """The attributes that must not be displayed."""

    @property
    @abstractmethod
    def sentence(self) -> str:
        """What is wrong."""

    def __str__(self) -> str:
        return f"{self.table} {self.visible(self.key)}: {self.sentence}"

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self}>"

    def visible(self, item: Mapping[str, Any]) -> dict[str, Any]:
        return hide(item, self.hidden)

    def mend(self) -> Steps[None]:
        raise CannotMend(str(self))
        yield


class Audit:
    """One kind of check."""

    def see(self, found: list[Found]) -> Steps[list[Violation]]:
        """Checks some items, and returns their violations."""
        return []
        yield

    def end(self) -> Steps[list[Violation]]:
        """Returns the remaining violations, once all items have been seen."""
        return []
        yield


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """An item of a table, and the entity read from it."""

    layout: Layout
    item: Item
    entity: Entity


def of_kind(found: Iterable[Found], kind: type[Entity]) -> list[Any]:
    return [each.entity for each in found if type(each.entity) is kind]


def main_key(table: Table, item: Item) -> Item:
    return {name: item[name] for name in table.key_names}


def place_of(key: Key[Any]) -> tuple[str, Item, frozenset[str]]:
    """A violation's location: table, key attributes, hidden attributes."""
    layout = key.entity.layout
    return layout.table.name, key.item, layout.hidden


def changed_attributes(found: Item, right: Item, key: Item) -> dict[str, AttributeValue | None]:
    """The changes that turn the found item into the right one; None removes an attribute."""
    names = sorted((found.keys() | right.keys()) - key.keys())
    return {name: right.get(name) for name in names if not same(found.get(name), right.get(name))}


def look_through(table: Table, look: Callable[[list[Item]], Steps[None]]) -> Steps[None]:
    """Passes every item of a table to `look`, page by page."""
    params: dict[str, Any] = {"TableName": table.name, "ConsistentRead": True}
    while True:
        response = yield Request("Scan", params)
        yield from look(response["Items"])
        if "LastEvaluatedKey" not in response:
            return
        params = {**params, "ExclusiveStartKey": response["LastEvaluatedKey"]}


def looked_up(keys: Sequence[Key[Any]]) -> Steps[list[Any]]:
    """The items of many keys: None for a missing one, `OBSCURE` for one that cannot be read."""
    items = yield from items_of(keys, consistent=True)
    return [entity_seen(key, items.get(key.identity)) for key in keys]


def entity_seen(key: Key[Any], item: Item | None) -> Any:
    try:
        return None if item is None else key.entity.layout.from_item(item)
    except ItemMismatch:
        return OBSCURE


def readable(layout: Layout, items: Iterable[Item]) -> Iterator[Any]:
    """The entities of items; skips those that cannot be read, which another audit reports."""
    for item in items:
        try:
            yield layout.from_item(item)
        except ItemMismatch:
            continue


class Mend(Write[None]):
    """Sets some attributes of an item and removes others, bypassing invariants."""

    __slots__ = ("attributes", "key_item")

    operation = "UpdateItem"
    action_name = "Update"

    def __init__(
        self,
        layout: Layout,
        key: Item,
        attributes: Mapping[str, AttributeValue | None],
        seen: Mapping[str, AttributeValue | None],
    ) -> None:
        super().__init__(layout, Guard(if_exists=Conflict, seen=seen))
        self.key_item = key
        self.attributes = attributes

    def parameters(self, marks: Placeholders) -> dict[str, Any]:
        sets = [
            f"{marks.name(name)} = {marks.value(value)}"
            for name, value in self.attributes.items()
            if value is not None
        ]
        removals = [marks.name(name) for name, value in self.attributes.items() if value is None]
        sections = (("SET", sets), ("REMOVE", removals))
        text = " ".join(f"{name} {', '.join(parts)}" for name, parts in sections if parts)
        return {"Key": self.key_item, "UpdateExpression": text}

    def transition(self) -> Transition:
        return Transition({}, {}, frozenset())

    def key_of_item(self) -> None:
        """None: a repair has only the stored key."""

    def with_invariants(self) -> tuple[Write[Any], ...]:
        return (self,)

    def outcome(self, attributes: Item | None) -> None:
        return None


@dataclass(frozen=True, repr=False)
class BucketUnlisted(Violation):
    """A bucket that holds items but has no entry in its list, so that walks skip it."""

    entry: BucketEntry

    @property
    def sentence(self) -> str:
        return f"is missing, and the bucket {self.entry.bucket} of {self.entry.series} holds items"

    def mend(self) -> Steps[None]:
        yield from put_entries([self.entry])


class BucketAudit(Audit):
    """Every bucket that holds an item is listed."""

    def __init__(self, listed: BucketList) -> None:
        self.listed = listed
        self.checked: set[Key[BucketEntry]] = set()

    def see(self, found: list[Found]) -> Steps[list[Violation]]:
        entries = {
            entry.own_key(): entry
            for each in found
            if each.layout is self.listed.layout and self.listed.place(each.entity.__dict__)
            for entry in (self.listed.entry_of(each.entity.__dict__),)
        }
        unseen = [key for key in entries if key not in self.checked]
        self.checked.update(unseen)
        items = yield from looked_up(unseen)
        return [
            self.violation(entries[key])
            for key, item in zip(unseen, items, strict=True)
            if item is None
        ]

    def violation(self, entry: BucketEntry) -> Violation:
        layout = entry.layout
        return BucketUnlisted(layout.table.name, entry.own_key().item, layout.hidden, entry)
