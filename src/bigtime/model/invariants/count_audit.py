"""Finding and mending counts that are not the number of items that refer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from bigtime.model.invariants.audit import (
    Audit,
    Found,
    Mend,
    Violation,
    look_through,
    looked_up,
    of_kind,
    readable,
)
from bigtime.model.invariants.counted import Counted
from bigtime.model.schema import Entity, Key, layout_in
from bigtime.wire import AttributeValue, Identity, Item, Steps

Tally: TypeAlias = Counter[Identity]


@dataclass(frozen=True, repr=False)
class CountWrong(Violation):
    """An item has another count than there are items that refer to it."""

    counted: Counted
    found: AttributeValue | None
    right: int

    @property
    def sentence(self) -> str:
        found = "missing" if self.found is None else next(iter(self.found.values()))
        return f"{self.counted.field} is {found}, and {self.counted} is {self.right}"

    def mend(self) -> Steps[None]:
        layout, field = self.counted.parent.layout, self.counted.field
        name = layout.names[field]
        right = {name: layout.written(field, self.right)}
        yield from Mend(layout, self.key, right, {name: self.found})


@dataclass(frozen=True, slots=True, eq=False)
class Parent:
    """An item that has a count, as it was seen."""

    key: Key[Any]
    count: int
    stored: AttributeValue | None


class CountAudit(Audit):
    """Every count is right. One that moves while it is looked at is not told: verify again."""

    def __init__(self, counted: Counted) -> None:
        self.counted = counted
        self.tally: Tally = Counter()
        self.parents: dict[Identity, Parent] = {}

    def see(self, found: list[Found]) -> Steps[list[Violation]]:
        self.count(of_kind(found, self.counted.entity), self.tally)
        layout = self.counted.parent.layout
        for one in found:
            if one.layout is layout:
                self.parents[one.entity.own_key().identity] = self.parent(one.entity, one.item)
        return []
        yield

    def parent(self, entity: Entity, item: Item) -> Parent:
        field = self.counted.field
        stored = item.get(self.counted.parent.layout.names[field])
        return Parent(entity.own_key(), getattr(entity, field), stored)

    def count(self, children: Iterable[Entity], tally: Tally) -> None:
        for child in children:
            key = self.counted.counts_in(child.__dict__)
            if key is not None:
                tally[key.identity] += 1

    def end(self) -> Steps[list[Violation]]:
        suspects = self.suspects(self.parents, self.tally)
        if not suspects:
            return []
        tally = yield from self.recounted()
        still = [one for one in self.suspects(suspects, tally) if tally[one] == self.tally[one]]
        keys = [suspects[one].key for one in still]
        found = yield from looked_up(keys)
        return [
            self.violation(suspects[one], tally[one])
            for one, entity in zip(still, found, strict=True)
            if isinstance(entity, Entity) and self.count_of(entity) == suspects[one].count
        ]

    def suspects(self, parents: Mapping[Identity, Parent], tally: Tally) -> dict[Identity, Parent]:
        return {one: parent for one, parent in parents.items() if parent.count != tally[one]}

    def recounted(self) -> Steps[Tally]:
        """Counts once more: somebody may have been writing."""
        layout, tally = self.counted.entity.layout, Counter[Identity]()
        layout_of = layout_in(layout.table)

        def look(items: list[Item]) -> Steps[None]:
            ours = [item for item in items if layout_of(item) is layout]
            self.count(readable(layout, ours), tally)
            return
            yield

        yield from look_through(layout.table, look)
        return tally

    def count_of(self, entity: Entity) -> int:
        count: int = getattr(entity, self.counted.field)
        return count

    def violation(self, parent: Parent, right: int) -> Violation:
        layout = self.counted.parent.layout
        where = layout.table.name, parent.key.item, layout.hidden
        return CountWrong(*where, self.counted, parent.stored, right)
