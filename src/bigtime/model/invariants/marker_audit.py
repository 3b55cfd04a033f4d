"""Finding and mending unique values without their marker, and markers without their value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bigtime.model.errors import Conflict, ItemMismatch
from bigtime.model.invariants.audit import (
    OBSCURE,
    Audit,
    CannotMend,
    Found,
    Violation,
    looked_up,
    of_kind,
)
from bigtime.model.invariants.unique import Unique
from bigtime.model.operations import Delete, Guard, Transact, check, create, get_together
from bigtime.model.schema import Entity, Key
from bigtime.wire import Item, Steps


@dataclass(frozen=True, repr=False)
class MarkerMissing(Violation):
    """An item has a value that no marker of its own keeps for it."""

    unique: Unique[Any]
    marker: Entity
    holder: Entity | None

    @property
    def sentence(self) -> str:
        called = (self.unique.called[name] for name in self.unique.names)
        fields = {own: getattr(self.marker, own) for own in called}
        value = ", ".join(self.marker.layout.shown_fields(fields).values())
        kept = "nobody" if self.holder is None else f"{self.unique.owner_key(self.holder)!r}"
        return f"has {self.unique} = {value}, whose {type(self.marker).__name__} belongs to {kept}"

    def mend(self) -> Steps[None]:
        if self.holder is not None:
            raise CannotMend(str(self))
        owner = self.unique.owner_key(self.marker)
        unchanged = check(owner, when=self.unique.claims(self.marker), otherwise=Conflict)
        yield from Transact((unchanged, create(self.marker, unless_exists=Conflict)), None)


@dataclass(frozen=True, repr=False)
class MarkerStray(Violation):
    """A marker keeps a value that its owner does not have."""

    unique: Unique[Any]
    marker: Entity

    @property
    def sentence(self) -> str:
        return f"keeps a value for {self.unique.owner_key(self.marker)!r}, which has it not"

    def mend(self) -> Steps[None]:
        owner = self.unique.owner_key(self.marker)
        unclaimed = check(owner, when=~self.unique.claims(self.marker), otherwise=Conflict)
        belongs = Guard(
            if_exists=Conflict, when=self.unique.belongs(self.marker), otherwise=Conflict
        )
        yield from Transact((unclaimed, Delete(self.marker.own_key(), belongs)), None)


class MarkerAudit(Audit):
    """Every value has its marker, and every marker its value."""

    def __init__(self, unique: Unique[Any]) -> None:
        self.unique = unique

    def see(self, found: list[Found]) -> Steps[list[Violation]]:
        owners = of_kind(found, self.unique.entity)
        markers = of_kind(found, self.unique.marker)
        unkept = yield from self.unkept(owners)
        stray = yield from self.stray(markers)
        return [*unkept, *stray]

    def unkept(self, owners: list[Any]) -> Steps[list[Violation]]:
        wanted = [self.unique.marker_of(owner.__dict__) for owner in owners]
        markers = [one for one in wanted if one is not None]
        kept = yield from looked_up([one.own_key() for one in markers])
        violations: list[Violation] = []
        for marker, there in zip(markers, kept, strict=True):
            if there is None or (there is not OBSCURE and not self.is_same(there, marker)):
                violations += yield from self.confirmed(marker)
        return violations

    def is_same(self, one: Entity, other: Entity) -> bool:
        called = self.unique.called.values()
        return all(getattr(one, own) == getattr(other, own) for own in called)

    def stray(self, markers: list[Any]) -> Steps[list[Violation]]:
        keys = [self.unique.owner_key(marker) for marker in markers]
        owners = yield from looked_up(keys)
        violations: list[Violation] = []
        for marker, owner in zip(markers, owners, strict=True):
            if owner is None or (owner is not OBSCURE and not self.unique.is_owned(marker, owner)):
                violations += yield from self.confirmed(marker)
        return violations

    def confirmed(self, marker: Entity) -> Steps[list[Violation]]:
        """Looks again, at one moment: somebody may have been writing."""
        unique = self.unique
        keys = unique.owner_key(marker), marker.own_key()
        try:
            owner, there = yield from get_together(*keys, deleted=True)
        except ItemMismatch:
            return []
        has_value = owner is not None and unique.is_owned(marker, owner)
        is_kept = there is not None and self.is_same(there, marker)
        if has_value and not is_kept:
            return [MarkerMissing(*where(keys[0]), unique, marker, there)]
        if is_kept and not has_value:
            return [MarkerStray(*where(keys[1]), unique, marker)]
        return []


def where(key: Key[Any]) -> tuple[str, Item, frozenset[str]]:
    """What a violation says of its place."""
    layout = key.entity.layout
    return layout.table.name, key.item, layout.hidden
