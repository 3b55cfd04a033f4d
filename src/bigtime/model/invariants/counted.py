"""Reference counts: an item knows how many others refer to it.

    LIKES = counted(BrandLike, Brand, "like_count", missing=UnknownBrand)

Creating a BrandLike then adds one to its Brand, which must be there, and deleting it takes one
away, each in one transaction. One that is deleted softly does not count until it is restored. A
field that refers to nothing, being None, counts nowhere.

An item may be deleted though what it refers to is gone, where there is nothing left to count in, or
is deleted softly, where the count goes on, for it may be restored.

A count cannot be part of a key: to change the key, the item would have to be read first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from bigtime.model.errors import Conflict, DesignError, ItemMissing
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
from bigtime.model.invariants.invariant import (
    Invariant,
    Reserved,
    declare,
    parent_fields,
    referred_key,
)
from bigtime.model.operations import (
    Add,
    Check,
    ErrorLike,
    FieldChange,
    Fields,
    Guard,
    Update,
    Write,
    build_update,
    role_changes,
    unknown_fields,
)
from bigtime.model.schema import MAIN, Entity, Key, Path, layout_in
from bigtime.wire import AttributeValue, Identity, Item, Steps


class Uncounted(ItemMissing):
    """There is nothing left to count in, which is fine."""


class Count(Update[Any]):
    """Adds to a count. Two of them on one item are one, which both must allow."""

    __slots__ = ()

    def join(self, other: Write[Any]) -> Write[Any] | None:
        if not isinstance(other, Count) or self.key != other.key:
            return None
        changes = dict(self.changes)
        for path, change in other.changes.items():
            before = changes.get(path)
            if isinstance(before, Add) and isinstance(change, Add):
                changes[path] = Add(before.value + change.value, before.start)
            else:
                changes[path] = change
        guard = self.guard if other.when_missing() else other.guard
        return self.replace(changes=changes, guard=guard)

    def when_missing(self) -> Check | None:
        if self.guard.if_exists is not Uncounted:
            return None
        return Check(self.key, Guard(unless_exists=Conflict))


class Counted(Invariant):
    """How many items of an entity refer to one of another."""

    def __init__(
        self,
        entity: type[Entity],
        parent: type[Entity],
        field: str,
        names: Mapping[str, str],
        missing: ErrorLike,
    ) -> None:
        self.entity = entity
        self.parent = parent
        self.field = field
        self.names = names
        self.missing = missing
        deleted = entity.layout.roles.deleted
        self.fields = frozenset({*names.values(), *([deleted] if deleted else [])})
        self.guards = {
            1: Guard(if_exists=missing, hidden=parent.layout.deleted_name),
            -1: Guard(if_exists=Uncounted),
        }

    def __str__(self) -> str:
        return f"the number of {self.entity.__name__}"

    def counts_in(self, fields: Fields) -> Key[Any] | None:
        """The item that an item counts in; None when it counts nowhere."""
        deleted = self.entity.layout.roles.deleted
        if deleted and fields[deleted] is not None:
            return None
        return referred_key(self.parent, self.names, fields)

    def attendants(self, before: Fields | None, after: Fields | None) -> list[Write[Any]]:
        old = None if before is None else self.counts_in(before)
        new = None if after is None else self.counts_in(after)
        if old is not None and old == new:
            return []
        moves = ((old, -1), (new, 1))
        return [self.addition(key, amount) for key, amount in moves if key is not None]

    def addition(self, key: Key[Any], amount: int) -> Count:
        changes: dict[Path, FieldChange] = {self.field: Add(amount)}
        count: Count = build_update(key, changes, self.guards[amount], kind=Count)
        return count

    def audits(self) -> Iterable[Audit]:
        return (CountAudit(self),)


def counted(
    entity: type[Entity],
    parent: type[Entity],
    field: str,
    *,
    by: Mapping[str, str] | None = None,
    missing: ErrorLike = ItemMissing,
) -> Counted:
    """Declares that a field of a parent is the number of items that refer to it.

    `by` names the fields that refer, where they are not called as in the parent's key. `missing`
    is raised where there is no parent.
    """
    layout = parent.layout
    layout.check_field(field)
    if layout.forms[field].tag != "N" or layout.default(field) != 0:
        raise DesignError(f"{parent.__name__}.{field} is a count; declare it as `{field}: int = 0`")
    check_unread(parent, field)
    made = Counted(entity, parent, field, parent_fields(entity, parent, by), missing)
    declare(made)
    declare(Reserved(parent, frozenset({field}), str(made)))
    return made


def check_unread(parent: type[Entity], field: str) -> None:
    """A transaction cannot read first what a key is made of."""
    layout = parent.layout
    changes: dict[Path, FieldChange] = {field: Add(1), **role_changes(layout)}
    needed = unknown_fields(layout, layout.keys[MAIN].fields, changes)
    if needed:
        raise DesignError(
            f"{parent.__name__}.{field} cannot be counted: each change of it would change an index"
            f" key, for which {', '.join(sorted(needed))} would have to be read first"
        )


# --- Verify and repair --------------------------------------------------------------------

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
        right = {name: layout.stored_value(field, self.right)}
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
        tally = yield from self.recount()
        still = [
            suspect
            for suspect in self.suspects(suspects, tally)
            if tally[suspect] == self.tally[suspect]
        ]
        keys = [suspects[one].key for one in still]
        found = yield from looked_up(keys)
        return [
            self.violation(suspects[one], tally[one])
            for one, entity in zip(still, found, strict=True)
            if isinstance(entity, Entity) and self.count_of(entity) == suspects[one].count
        ]

    def suspects(self, parents: Mapping[Identity, Parent], tally: Tally) -> dict[Identity, Parent]:
        return {one: parent for one, parent in parents.items() if parent.count != tally[one]}

    def recount(self) -> Steps[Tally]:
        """Counts once more: a write may have come between."""
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
