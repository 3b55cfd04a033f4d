"""Unique attributes: no two items of an entity have the same value.

A key is unique by itself. Any other attribute is made unique by a marker: an item of another
entity, whose key is that value, and which identifies the owner.

    class CustomerEmail(Entity, table=SHOP):
        keys = Keys(main=("CUSTOMEREMAIL#{email}", "CUSTOMEREMAIL#{email}"))
        email: Email
        username: Username

    EMAILS = unique(Customer, "email", marker=CustomerEmail, taken=EmailTaken)

Creating, changing and deleting a customer then updates the marker in the same transaction. None has
no marker. A soft-deleted owner keeps its marker, because it may be restored.

`by={"email": "address"}` gives the field another name in the marker. This is required where an
index of the table is keyed by that attribute: otherwise the index would hold the marker too.

`only={"status": Status.ACTIVE}` limits uniqueness to the items whose field has that value; other
items may share a value, and have no marker.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import ValidationError

from bigtime.model.errors import (
    Conflict,
    DesignError,
    ItemExists,
    ItemMismatch,
    RuleBroken,
    ValueRefused,
)
from bigtime.model.invariants.audit import (
    OBSCURE,
    Audit,
    CannotMend,
    Found,
    Violation,
    looked_up,
    of_kind,
    place_of,
)
from bigtime.model.invariants.invariant import Invariant, Reserved, declare
from bigtime.model.operations import (
    Delete,
    ErrorLike,
    Fields,
    Guard,
    Transact,
    Write,
    check,
    create,
    get,
    get_together,
)
from bigtime.model.schema import (
    MAIN,
    Condition,
    Entity,
    Key,
    Layout,
    attr,
    describe_error,
    every,
    field_annotation,
    item_missing,
    unwrap,
)
from bigtime.wire import Steps

E = TypeVar("E", bound=Entity)


class BrokenInvariant(RuleBroken):
    """The marker of a unique value belongs to another item: verify finds it."""


class Unique(Invariant, Generic[E]):
    """A value that at most one item has, enforced by markers."""

    entity: type[E]

    def __init__(
        self,
        entity: type[E],
        names: tuple[str, ...],
        marker: type[Entity],
        taken: ErrorLike,
        called: Mapping[str, str],
        only: Mapping[str, Any],
    ) -> None:
        self.entity = entity
        self.names = names
        self.only = only
        self.fields = frozenset({*names, *only})
        self.marker = marker
        self.taken = taken
        self.owner_names = entity.layout.keys[MAIN].fields
        self.called = called
        """The marker's names for the owner's fields that it has."""

    def __str__(self) -> str:
        return f"{self.entity.__name__}.{', '.join(self.names)}"

    def find(self, *values: Any) -> Steps[E | None]:
        """The item that has the value, found through the marker; two reads."""
        fields = {self.called[name]: value for name, value in zip(self.names, values, strict=True)}
        marker = yield from get(self.marker.key(**fields))
        if marker is None:
            return None
        owner = yield from get(self.owner_key(marker))
        return owner if owner is not None and self.is_owned(marker, owner) else None

    def marker_of(self, fields: Fields | None) -> Entity | None:
        """The marker that an item with these fields should have, if any."""
        if fields is None or any(fields[name] is None for name in self.names):
            return None
        if not self.is_meant(fields):
            return None
        try:
            return self.marker(**{own: fields[name] for name, own in self.called.items()})
        except ValidationError as error:
            raise ValueRefused(f"{self.marker.__name__}: {describe_error(error)}") from None

    def is_meant(self, fields: Fields) -> bool:
        return all(fields[name] == value for name, value in self.only.items())

    def owner_key(self, marker: Entity) -> Key[E]:
        known = {name: getattr(marker, own) for name, own in self.owner_called.items()}
        fixed = {name: value for name, value in self.only.items() if name in self.owner_names}
        return self.entity.key(**{**fixed, **known})

    @property
    def owner_called(self) -> dict[str, str]:
        """The marker's names for the fields of its owner's key, but for those that `only` fixes."""
        return {name: self.called[name] for name in self.owner_names if name not in self.only}

    def is_owned(self, marker: Entity, owner: Entity) -> bool:
        called = self.called.items()
        return self.is_meant(owner.__dict__) and all(
            getattr(owner, name) == getattr(marker, own) for name, own in called
        )

    def attendants(self, before: Fields | None, after: Fields | None) -> list[Write[Any]]:
        old, new = self.marker_of(before), self.marker_of(after)
        if old == new:
            return []
        released = [] if old is None else [self.release(old)]
        return released if new is None else [*released, create(new, unless_exists=self.taken)]

    def release(self, marker: Entity) -> Write[Any]:
        """Deletes a marker, if it belongs to its owner; a missing one does no harm."""
        ours = item_missing() | self.belongs(marker)
        return Delete(marker.own_key(), Guard(when=ours, otherwise=BrokenInvariant))

    def belongs(self, marker: Entity) -> Condition:
        """The condition that a marker belongs to its owner."""
        owned = self.owner_called.values()
        return every(attr(own) == getattr(marker, own) for own in owned)

    def claims(self, marker: Entity) -> Condition:
        """The condition that an owner has the marker's value."""
        has = {name: getattr(marker, self.called[name]) for name in self.names}
        return every(attr(name) == value for name, value in {**has, **self.only}.items())

    def audits(self) -> Iterable[Audit]:
        return (MarkerAudit(self),)


def unique(
    entity: type[E],
    *names: str,
    marker: type[Entity],
    taken: ErrorLike = ItemExists,
    by: Mapping[str, str] | None = None,
    only: Mapping[str, Any] | None = None,
) -> Unique[E]:
    """Declares that no two items have the same combination of values of these fields.

    `by` gives fields another name in the marker. `only` limits this to the items that have these
    values.
    """
    layout, marks = entity.layout, marker.layout
    called = {name: (by or {}).get(name, name) for name in layout.names}
    called = {name: own for name, own in called.items() if own in marks.names}
    where = f"unique({entity.__name__}, {', '.join(map(repr, names))})"
    for name in names:
        layout.check_field(name)
    meant = {
        name: check_only_value(layout, where, name, value) for name, value in (only or {}).items()
    }
    made = Unique(entity, names, marker, taken, called, meant)
    check_marker_key(made, where)
    check_marker_fields(made, where)
    declare(made)
    declare(Reserved(marker, frozenset(), f"the unique {made}"))
    return made


def check_only_value(layout: Layout, where: str, name: str, value: Any) -> Any:
    """A value of `only`, validated by its field's type."""
    layout.check_field(name)
    if not layout.forms[name].is_plain:
        raise DesignError(
            f"{where}: only {name} must be a text, a number, bytes or a bool; what holds other"
            " values may change inside, and the marker would not follow"
        )
    return layout.check_value(name, value)


def check_marker_key(made: Unique[Any], where: str) -> None:
    """Refuses a marker whose key is not exactly the unique values."""
    if not made.owner_names:
        raise DesignError(
            f"{where}: {made.entity.__name__} has one item at most, so all of it is unique"
        )
    keyed = made.marker.layout.keys[MAIN].fields
    if not made.names or {*keyed} != {made.called.get(name) for name in made.names}:
        raise DesignError(
            f"{where}: the main key of {made.marker.__name__} must be made of these fields, and is"
            f" made of {', '.join(keyed) or 'nothing'}"
        )


def check_same_type(made: Unique[Any], where: str, name: str, own: str) -> None:
    """Refuses a marker field whose type differs: both must normalise values alike."""
    theirs = unwrap(field_annotation(made.entity, name))
    if unwrap(field_annotation(made.marker, own)) != theirs:
        raise DesignError(
            f"{where}: {made.marker.__name__}.{own} and {made.entity.__name__}.{name} are of"
            " different types; declare them the same"
        )


def check_marker_fields(made: Unique[Any], where: str) -> None:
    """Refuses a marker that does not identify its owner, or requires other fields."""
    for name, own in made.called.items():
        check_same_type(made, where, name, own)
    missing = {*made.owner_names, *made.names} - {*made.called, *made.only}
    unknown = made.marker.layout.needed_fields() - {*made.called.values()}
    if missing or unknown:
        raise DesignError(
            f"{where}: {made.marker.__name__} must have the fields of {made.entity.__name__}'s key,"
            f" and no others that have no default; it lacks {', '.join(sorted(missing)) or 'none'},"
            f" and has {', '.join(sorted(unknown)) or 'none'}"
        )


# --- Verify and repair --------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class MarkerMissing(Violation):
    """An item has a value without a marker of its own."""

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
    """A marker reserves a value that its owner does not have."""

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
        markers = [each for each in wanted if each is not None]
        kept = yield from looked_up([each.own_key() for each in markers])
        violations: list[Violation] = []
        for marker, there in zip(markers, kept, strict=True):
            if there is None or (there is not OBSCURE and not self.is_same(there, marker)):
                violations += yield from self.confirm(marker)
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
                violations += yield from self.confirm(marker)
        return violations

    def confirm(self, marker: Entity) -> Steps[list[Violation]]:
        """Reads marker and owner again, at a single moment, in case of a write in between."""
        unique = self.unique
        keys = unique.owner_key(marker), marker.own_key()
        try:
            owner, there = yield from get_together(*keys, deleted=True)
        except ItemMismatch:
            return []
        has_value = owner is not None and unique.is_owned(marker, owner)
        is_kept = there is not None and self.is_same(there, marker)
        if has_value and not is_kept:
            return [MarkerMissing(*place_of(keys[0]), unique, marker, there)]
        if is_kept and not has_value:
            return [MarkerStray(*place_of(keys[1]), unique, marker)]
        return []
