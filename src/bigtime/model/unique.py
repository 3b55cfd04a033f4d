"""Unique attributes: no two items of an entity have the same value.

A key is unique by itself. Another attribute is made so by a marker: an item of another entity,
whose key is that value, and which tells whose it is.

    class CustomerEmail(Entity, table=SHOP):
        keys = Keys(main=("CUSTOMEREMAIL#{email}", "CUSTOMEREMAIL#{email}"))
        email: Email
        username: Username

    EMAILS = unique(Customer, "email", marker=CustomerEmail, taken=EmailTaken)

Creating, changing and deleting a customer then keeps the marker, in one transaction. A value that
is None has none. An owner that is deleted softly keeps its marker, for it may come back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import ValidationError

from bigtime.model.audit import Audit, CannotMend, Found, Violation, of_kind
from bigtime.model.batch import get_many
from bigtime.model.condition import Condition, attr, every, item_missing
from bigtime.model.delete import Delete, check
from bigtime.model.entity import Entity, Key
from bigtime.model.errors import Conflict, DesignError, DomainError, ItemExists, ValueRefused
from bigtime.model.get import get
from bigtime.model.invariant import Invariant, Reserved, declare
from bigtime.model.layout import spoken
from bigtime.model.op import Steps
from bigtime.model.put import create
from bigtime.model.table import MAIN
from bigtime.model.transact import Transact, get_together
from bigtime.model.write import ErrorLike, Fields, Guard, Write

E = TypeVar("E", bound=Entity)


class BrokenInvariant(DomainError):
    """The marker of a unique value belongs to somebody else: verify finds it."""


class Unique(Invariant, Generic[E]):
    """A value that one item at most has, and the markers that make it so."""

    entity: type[E]

    def __init__(
        self, entity: type[E], names: tuple[str, ...], marker: type[Entity], taken: ErrorLike
    ) -> None:
        self.entity = entity
        self.names = names
        self.fields = frozenset(names)
        self.marker = marker
        self.taken = taken
        self.owner_names = entity.layout.keys[MAIN].fields
        self.marker_names = [name for name in marker.model_fields if name in entity.model_fields]

    def __str__(self) -> str:
        return f"{self.entity.__name__}.{', '.join(self.names)}"

    def find(self, *values: Any) -> Steps[E | None]:
        """Whose value it is, by way of the marker; two reads."""
        marker = yield from get(self.marker.key(**dict(zip(self.names, values, strict=True))))
        if marker is None:
            return None
        owner = yield from get(self.owner_key(marker))
        return owner if owner is not None and self.is_owned(marker, owner) else None

    def marker_of(self, fields: Fields | None) -> Entity | None:
        """The marker that an item should have, if any."""
        if fields is None or any(fields[name] is None for name in self.names):
            return None
        try:
            return self.marker(**{name: fields[name] for name in self.marker_names})
        except ValidationError as error:
            raise ValueRefused(f"{self.marker.__name__}: {spoken(error)}") from None

    def owner_key(self, marker: Entity) -> Key[E]:
        return self.entity.key(**{name: getattr(marker, name) for name in self.owner_names})

    def is_owned(self, marker: Entity, owner: Entity) -> bool:
        return all(getattr(owner, name) == getattr(marker, name) for name in self.marker_names)

    def attendants(self, before: Fields | None, after: Fields | None) -> Iterator[Write[Any]]:
        old, new = self.marker_of(before), self.marker_of(after)
        if old == new:
            return
        if old is not None:
            yield self.released(old)
        if new is not None:
            yield create(new, unless_exists=self.taken)

    def released(self, marker: Entity) -> Write[Any]:
        """Deletes a marker, if it belongs to its owner; one that is missing does no harm."""
        ours = item_missing() | self.belongs(marker)
        return Delete(marker.own_key(), Guard(when=ours, otherwise=BrokenInvariant))

    def belongs(self, marker: Entity) -> Condition:
        """That a marker is its owner's."""
        return every(attr(name) == getattr(marker, name) for name in self.owner_names)

    def claims(self, marker: Entity) -> Condition:
        """That an owner has the value of a marker."""
        return every(attr(name) == getattr(marker, name) for name in self.names)

    def audits(self) -> Iterable[Audit]:
        return (MarkerAudit(self),)


def unique(
    entity: type[E], *names: str, marker: type[Entity], taken: ErrorLike = ItemExists
) -> Unique[E]:
    """Declares that no two items have the same value of these fields, together."""
    layout, marks = entity.layout, marker.layout
    where = f"unique({entity.__name__}, {', '.join(map(repr, names))})"
    for name in names:
        layout.check_field(name)
    if not layout.keys[MAIN].fields:
        raise DesignError(
            f"{where}: {entity.__name__} has one item at most, so all of it is unique"
        )
    if not names or {*marks.keys[MAIN].fields} != {*names}:
        keyed = ", ".join(marks.keys[MAIN].fields) or "nothing"
        raise DesignError(
            f"{where}: the main key of {marker.__name__} must be made of these fields, and is made"
            f" of {keyed}"
        )
    missing = {*layout.keys[MAIN].fields, *names} - {*marks.names}
    unknown = marks.needed_fields() - {*layout.names}
    if missing or unknown:
        raise DesignError(
            f"{where}: {marker.__name__} must have the fields of {entity.__name__}'s key, and no"
            f" others that have no default; it lacks {', '.join(sorted(missing)) or 'none'}, and"
            f" has {', '.join(sorted(unknown)) or 'none'}"
        )
    made = Unique(entity, names, marker, taken)
    declare(made)
    declare(Reserved(marker, frozenset(), f"the unique {made}"))
    return made


# Finding and mending


@dataclass(frozen=True)
class MarkerMissing(Violation):
    """An item has a value that no marker of its own keeps for it."""

    unique: Unique[Any]
    marker: Entity
    holder: Entity | None

    @property
    def sentence(self) -> str:
        value = ", ".join(repr(getattr(self.marker, name)) for name in self.unique.names)
        kept = "nobody" if self.holder is None else f"{self.unique.owner_key(self.holder)!r}"
        return f"has {self.unique} = {value}, whose {type(self.marker).__name__} belongs to {kept}"

    def mend(self) -> Steps[None]:
        if self.holder is not None:
            raise CannotMend(str(self))
        owner = self.unique.owner_key(self.marker)
        unchanged = check(owner, when=self.unique.claims(self.marker), otherwise=Conflict)
        yield from Transact((unchanged, create(self.marker, unless_exists=Conflict)), None)


@dataclass(frozen=True)
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
        kept = yield from get_many([one.own_key() for one in markers], consistent=True)
        violations: list[Violation] = []
        for marker, there in zip(markers, kept, strict=True):
            if there is None or not self.is_same(there, marker):
                violations += yield from self.confirmed(marker)
        return violations

    def is_same(self, one: Entity, other: Entity) -> bool:
        return all(getattr(one, name) == getattr(other, name) for name in self.unique.marker_names)

    def stray(self, markers: list[Any]) -> Steps[list[Violation]]:
        keys = [self.unique.owner_key(marker) for marker in markers]
        owners = yield from get_many(keys, consistent=True, deleted=True)
        violations: list[Violation] = []
        for marker, owner in zip(markers, owners, strict=True):
            if owner is None or not self.unique.is_owned(marker, owner):
                violations += yield from self.confirmed(marker)
        return violations

    def confirmed(self, marker: Entity) -> Steps[list[Violation]]:
        """Looks again, at one moment: somebody may have been writing."""
        unique = self.unique
        keys = unique.owner_key(marker), marker.own_key()
        owner, there = yield from get_together(*keys, deleted=True)
        has_value = owner is not None and unique.is_owned(marker, owner)
        is_kept = there is not None and self.is_same(there, marker)
        if has_value and not is_kept:
            table = unique.entity.layout.table.name
            return [MarkerMissing(table, keys[0].item, unique, marker, there)]
        if is_kept and not has_value:
            return [MarkerStray(unique.marker.layout.table.name, keys[1].item, unique, marker)]
        return []
