"""Invariants: what must hold between items, and the writes that maintain it.

    unique(Customer, "email", marker=CustomerEmail, taken=EmailTaken)
    reference_count(BrandLike, Brand, "like_count", missing=UnknownBrand)

An invariant is declared once, beside its entities. From then on every write of its entity, alone
or in a transaction, includes the writes that maintain it: `create(customer)` is a transaction that
also creates the marker of the e-mail address, and raises EmailTaken if it is taken.

1. A write states its transition: the item's fields before and after, or None for no item.
2. From these two an invariant derives what to write elsewhere. If an update changes none of the
   fields that the invariant depends on, that is nothing.
3. The write proceeds only if those fields still have their previous values.
4. A write by key does not know those values, and reads the item first; in a transaction it cannot,
   and needs the entity.
5. A write that does not know whether the item exists, a plain put or an upsert, is refused.
6. The markers and counts of an invariant are written only by the invariant.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from bigtime.model.errors import DesignError
from bigtime.model.operations import Fields, Transact, Write
from bigtime.model.schema import MAIN, Entity, Key, Layout, Path

if TYPE_CHECKING:
    from bigtime.model.invariants.audit import Audit


class Invariant(ABC):
    """What must hold for an entity's items. `fields` are those that it depends on."""

    entity: type[Entity]
    fields: frozenset[str]

    def is_touched(self, changed: frozenset[Path] | None) -> bool:
        """Whether changes to these fields affect it; None means an item is created or deleted."""
        return changed is None or not changed.isdisjoint(self.fields)

    @abstractmethod
    def attendants(self, before: Fields | None, after: Fields | None) -> Iterable[Write[Any]]:
        """The writes that must accompany an item's change of state; None means no item."""

    def audits(self) -> Iterable[Audit]:
        """The audits that check whether it holds."""
        return ()


class Reserved(Invariant):
    """Fields that only an invariant may write; without names, all fields of an entity."""

    def __init__(self, entity: type[Entity], names: frozenset[str], keeper: str) -> None:
        self.entity = entity
        self.names = names
        self.fields = frozenset()
        self.keeper = keeper

    def is_touched(self, changed: frozenset[Path] | None) -> bool:
        return changed is None or self.holds(changed)

    def holds(self, names: frozenset[Path]) -> bool:
        """Whether any of these fields is reserved."""
        return not names.isdisjoint(self.names) if self.names else bool(names)

    def attendants(self, before: Fields | None, after: Fields | None) -> Iterable[Write[Any]]:
        if not self.names:
            raise DesignError(f"{self.entity.__name__} is kept by {self.keeper}; write that")
        begun = {name: self.entity.layout.default(name) for name in self.names}
        expected = begun if before is None else before
        for name in self.names if after is not None else ():
            if (after or {}).get(name) != expected.get(name):
                raise DesignError(
                    f"{self.entity.__name__}.{name} is kept by {self.keeper}, and by nobody else"
                )
        return ()


class Invariants:
    """The invariants of one entity, which its layout consults on every write.

    Which of them a write affects depends only on the names of the fields that it changes, and is
    computed once for each set of names.
    """

    def __init__(self) -> None:
        self.invariants: list[Invariant] = []
        self._touched: dict[frozenset[Path] | None, tuple[list[Invariant], frozenset[str]]] = {}

    def add(self, invariant: Invariant) -> None:
        self.invariants.append(invariant)
        self._touched.clear()

    def find_touched(
        self, changed: frozenset[Path] | None
    ) -> tuple[list[Invariant], frozenset[str]]:
        """The invariants that these changes affect, and the fields that those depend on."""
        found = self._touched.get(changed)
        if found is None:
            touched = [each for each in self.invariants if each.is_touched(changed)]
            fields = frozenset().union(*(invariant.fields for invariant in touched))
            found = self._touched[changed] = touched, fields
        return found

    def fields(self, changed: frozenset[Path] | None) -> frozenset[str]:
        return self.find_touched(changed)[1]

    def expand(self, write: Write[Any]) -> tuple[Write[Any], ...]:
        transition = write.transition()
        if transition.unsure and any(invariant.fields for invariant in self.invariants):
            raise DesignError(
                f"{write.layout.entity.__name__} has invariants, and an upsert does not know"
                " whether it makes an item; use create(), or update() one that is there"
            )
        touched, fields = self.find_touched(transition.changed)
        if not touched:
            return (write,)
        writes = [write.guarded_by(fields)]
        for invariant in touched:
            writes += invariant.attendants(transition.before, transition.after)
        return tuple(writes)

    def transaction(self, writes: tuple[Write[Any], ...]) -> Transact[Any]:
        return Transact(writes, None, results=1)


def declare(invariant: Invariant) -> None:
    """Makes all writes of an entity maintain an invariant from now on."""
    layout = invariant.entity.layout
    if layout.keeper is None:
        layout.keeper = Invariants()
    assert isinstance(layout.keeper, Invariants)
    for other in layout.keeper.invariants:
        if isinstance(other, Reserved) and isinstance(invariant, Reserved):
            check_kept_once(other, invariant)
    layout.keeper.add(invariant)


def check_kept_once(one: Reserved, other: Reserved) -> None:
    if not one.names or not other.names or one.holds(other.names):
        names = ", ".join(one.names & other.names) or one.entity.__name__
        raise DesignError(
            f"{names} of {one.entity.__name__} is kept by {one.keeper} already, and cannot be kept"
            f" by {other.keeper} too"
        )


def invariants_of(layout: Layout) -> list[Invariant]:
    return layout.keeper.invariants if isinstance(layout.keeper, Invariants) else []


def parent_fields(
    child: type[Entity], parent: type[Entity], by: Mapping[str, str] | None
) -> dict[str, str]:
    """The child's field for each field of its parent's key, in order; same name, unless in `by`."""
    names = {name: (by or {}).get(name, name) for name in parent.layout.keys[MAIN].fields}
    for name, field in names.items():
        if field not in child.layout.names:
            raise DesignError(
                f"{child.__name__} has no field {field!r} to tell {parent.__name__}.{name}; say"
                f" which does: by={{{name!r}: ...}}"
            )
    return names


def referred_key(parent: type[Entity], names: Mapping[str, str], fields: Fields) -> Key[Any] | None:
    """The key of the parent that a child's fields refer to; None when one of them is None."""
    values = [*map(fields.__getitem__, names.values())]
    if None in values:
        return None
    return Key(parent, parent.layout.key_fields(tuple(values), {}))
