"""Reference counts: an item stores how many others refer to it.

    LIKES = reference_count(BrandLike, Brand, "like_count", missing=UnknownBrand)

Creating a BrandLike then adds one to its Brand, which must exist, and deleting it subtracts one,
each in one transaction. A soft-deleted item does not count until it is restored. An item whose
reference is None counts nowhere.

An item may be deleted even if its parent is gone, in which case there is nothing to count, or
soft-deleted, in which case the count is still maintained, since the parent may be restored.

A count cannot be part of a key: to change the key, the item would have to be read first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from bigtime.model.errors import Conflict, DesignError, ItemMissing
from bigtime.model.invariants.audit import (
    Audit,
    Found,
    Mend,
    Violation,
    look_through,
    looked_up,
    of_kind,
    place_of,
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
from bigtime.model.schema import MAIN, Entity, Key, Path, Table, layout_in
from bigtime.wire import AttributeValue, Identity, Item, Steps


class Uncounted(ItemMissing):
    """There is nothing left to count in, which is fine."""


class Count(Update[Any]):
    """Adds to a count. Two on one item are joined, under the conditions of both."""

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


class ReferenceCount(Invariant):
    """Maintains how many items of one entity refer to an item of another."""

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
        """The parent that an item is counted in; None when it counts nowhere."""
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


def reference_count(
    entity: type[Entity],
    parent: type[Entity],
    field: str,
    *,
    by: Mapping[str, str] | None = None,
    missing: ErrorLike = ItemMissing,
) -> ReferenceCount:
    """Declares that a field of a parent is the number of items that refer to it.

    `by` names the referring fields where their names differ from those in the parent's key.
    `missing` is raised if the parent does not exist.
    """
    layout = parent.layout
    layout.check_field(field)
    if layout.forms[field].tag != "N" or layout.default(field) != 0:
        raise DesignError(f"{parent.__name__}.{field} is a count; declare it as `{field}: int = 0`")
    check_unread(parent, field)
    made = ReferenceCount(entity, parent, field, parent_fields(entity, parent, by), missing)
    declare(made)
    declare(Reserved(parent, frozenset({field}), str(made)))
    return made


def check_unread(parent: type[Entity], field: str) -> None:
    """Refuses a count that is part of a key: a transaction cannot read the item first."""
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
    """A count that differs from the number of items that refer to its item."""

    counted: ReferenceCount
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
    """An item with a count, as it was read."""

    key: Key[Any]
    count: int
    stored: AttributeValue | None


Parents: TypeAlias = dict[Identity, Parent]
NONE: Final = (None, 0)
"""A parent that was not seen, and that has no children."""


class CountAudit(Audit):
    """Every count is right. One that changes during the audit is not reported: verify again.

    For each parent only its count and its number of children are kept: large tables have many.
    """

    def __init__(self, counted: ReferenceCount) -> None:
        self.counted = counted
        self.seen: dict[Identity, tuple[int | None, int]] = {}

    def see(self, found: list[Found]) -> Steps[list[Violation]]:
        parent = self.counted.parent.layout
        for each in found:
            if each.layout is parent:
                identity = each.entity.own_key().identity
                self.seen[identity] = self.count_of(each.entity), self.seen.get(identity, NONE)[1]
        for identity in self.counting(of_kind(found, self.counted.entity)):
            count, children = self.seen.get(identity, NONE)
            self.seen[identity] = count, children + 1
        return []
        yield

    def counting(self, children: Iterable[Entity]) -> Iterator[Identity]:
        """The identity of each child's parent."""
        for child in children:
            key = self.counted.counts_in(child.__dict__)
            if key is not None:
                yield key.identity

    def end(self) -> Steps[list[Violation]]:
        suspects = {
            each: (count, children)
            for each, (count, children) in self.seen.items()
            if count is not None and count != children
        }
        if not suspects:
            return []
        parents, tally = yield from self.look_again(suspects)
        still = [
            (parent, tally[each])
            for each, parent in parents.items()
            if (parent.count, tally[each]) == suspects[each]
        ]
        found = yield from looked_up([parent.key for parent, _ in still])
        return [
            CountWrong(*place_of(parent.key), self.counted, parent.stored, right)
            for (parent, right), entity in zip(still, found, strict=True)
            if isinstance(entity, Entity) and self.count_of(entity) == parent.count
        ]

    def look_again(self, suspects: Container[Identity]) -> Steps[tuple[Parents, Tally]]:
        """Reads the suspects and their children again, in case of a write in between."""
        parents: Parents = {}
        tally: Tally = Counter()
        layout, child = self.counted.parent.layout, self.counted.entity.layout

        def look_in(table: Table) -> Callable[[list[Item]], Steps[None]]:
            layout_of = layout_in(table)

            def look(items: list[Item]) -> Steps[None]:
                known = [(layout_of(item), item) for item in items]
                for item in (item for found, item in known if found is layout):
                    for entity in readable(layout, [item]):
                        if (identity := entity.own_key().identity) in suspects:
                            parents[identity] = self.parent(entity, item)
                children = readable(child, (item for found, item in known if found is child))
                tally.update(each for each in self.counting(children) if each in suspects)
                return
                yield

            return look

        for table in dict.fromkeys((layout.table, child.table)):
            yield from look_through(table, look_in(table))
        return parents, tally

    def parent(self, entity: Entity, item: Item) -> Parent:
        stored = item.get(self.counted.parent.layout.names[self.counted.field])
        return Parent(entity.own_key(), self.count_of(entity), stored)

    def count_of(self, entity: Entity) -> int:
        count: int = getattr(entity, self.counted.field)
        return count
