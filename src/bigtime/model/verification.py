"""Verifying that a system's items are what its declarations say, and mending what is not.

    violations = yield from verify(DEALS)
    for violation in violations:
        yield from repair(violation)

Every table is read once, whole. Each item must be readable as its entity; be of its entity's
version and have its attributes under their names of today, and no others; its type and its index
keys must be what its fields make of them; its buckets must be listed where lists are declared; and
every declared invariant must hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass

from bigtime.model.errors import ItemMismatch, ValueRefused
from bigtime.model.invariants import (
    Audit,
    BucketAudit,
    CannotMend,
    Found,
    Mend,
    Violation,
    invariants_of,
    look_through,
    main_key,
)
from bigtime.model.operations import bucket_lists_of, same
from bigtime.model.schema import UNDECLARED, Layout, Table, hidden_in, layout_in
from bigtime.model.system import System, check_kind
from bigtime.wire import AttributeValue, Item, Steps

__all__ = [
    "CannotMend",
    "Misplaced",
    "Outdated",
    "StaleKeys",
    "Undeclared",
    "Unreadable",
    "Violation",
    "repair",
    "verify",
]


def verify(system: System) -> Steps[list[Violation]]:
    """All that is wrong in a system's tables."""
    check_kind(system, "verify")
    invariants = [one for entity in system.entities for one in invariants_of(entity.layout)]
    lists = [one for entity in system.entities for one in bucket_lists_of(entity.layout)]
    audits: list[Audit] = [
        KeyAudit(),
        DeclarationAudit(),
        *map(BucketAudit, lists),
        *(audit for invariant in invariants for audit in invariant.audits()),
    ]
    violations: list[Violation] = []
    for table in system.tables:
        yield from look_through(table, item_checker(table, audits, violations))
    for audit in audits:
        violations += yield from audit.end()
    return violations


def repair(violation: Violation) -> Steps[None]:
    """Mends what is wrong; raises Conflict when it has changed meanwhile."""
    yield from violation.mend()


def item_checker(
    table: Table, audits: list[Audit], violations: list[Violation]
) -> Callable[[list[Item]], Steps[None]]:
    layout_of = layout_in(table)

    def look(items: list[Item]) -> Steps[None]:
        found: list[Found] = []
        for item in items:
            layout = layout_of(item)
            try:
                if layout is None:
                    raise ItemMismatch("it is of no entity of the table", item)
                found.append(Found(layout, item, layout.from_item(item)))
            except ItemMismatch as error:
                place = table.name, main_key(table, item), hidden_in(table)
                violations.append(Unreadable(*place, str(error)))
        for audit in audits:
            violations.extend((yield from audit.see(found)))

    return look


@dataclass(frozen=True, repr=False)
class Unreadable(Violation):
    """An item that no entity of its table can be."""

    reason: str

    @property
    def sentence(self) -> str:
        return f"cannot be read: {self.reason}"


@dataclass(frozen=True, repr=False)
class Misplaced(Violation):
    """An item whose main key is not the one that its fields make."""

    right: Item

    @property
    def sentence(self) -> str:
        return f"should be at {self.visible(self.right)}"


@dataclass(frozen=True, repr=False)
class StaleKeys(Violation):
    """Index keys, or the type, that are not what an item's fields make of them."""

    layout: Layout
    found: Mapping[str, AttributeValue | None]
    right: Mapping[str, AttributeValue | None]
    fields: Mapping[str, AttributeValue | None]

    @property
    def sentence(self) -> str:
        found, right = self.visible(self.found), self.visible(self.right)
        return "; ".join(f"{name} is {found[name]}, not {right[name]}" for name in right)

    def mend(self) -> Steps[None]:
        """Only over the keys that were found, and the fields that they should be made of."""
        seen = {**self.fields, **self.found}
        yield from Mend(self.layout, self.key, self.right, seen)


@dataclass(frozen=True, repr=False)
class Outdated(Violation):
    """An item of an older version, or with attributes under old names."""

    layout: Layout
    found: Item
    right: Item
    reason: str

    @property
    def sentence(self) -> str:
        return f"is of an older form: {self.reason}"

    def mend(self) -> Steps[None]:
        """Brings the item into today's form, if it is still what was found."""
        names = ({**self.found, **self.right}).keys() - self.key.keys()
        changed = {
            name: self.right.get(name)
            for name in sorted(names)
            if not same(self.found.get(name), self.right.get(name))
        }
        if not changed:
            raise CannotMend(f"{self}; and upgrade() changes nothing")
        yield from Mend(self.layout, self.key, changed, self.found)


@dataclass(frozen=True, repr=False)
class Undeclared(Violation):
    """An item with attributes that its entity does not declare; they are kept when it is put."""

    entity: str
    names: tuple[str, ...]

    @property
    def sentence(self) -> str:
        return (
            f"has {', '.join(self.names)}, which {self.entity} does not declare; declare a field,"
            " or say under old_names= what it is called now"
        )


class DeclarationAudit(Audit):
    """Every item is in today's form, and has no attribute that its entity does not know."""

    def see(self, found: list[Found]) -> Steps[list[Violation]]:
        return [violation for one in found for violation in form_violations(one)]
        yield


def form_violations(found: Found) -> Iterator[Violation]:
    layout, item = found.layout, found.item
    place = layout.table.name, main_key(layout.table, item), layout.hidden
    reason = layout.outdated_because(item)
    if reason:
        with suppress(ValueRefused):  # else KeyAudit reports it
            yield Outdated(*place, layout, item, layout.to_item(found.entity), reason)
    if names := tuple(sorted(found.entity.__dict__.get(UNDECLARED, ()))):
        yield Undeclared(*place, layout.entity.__name__, names)


class KeyAudit(Audit):
    """Every item lies where its fields say: in the table, and in each index."""

    def see(self, found: list[Found]) -> Steps[list[Violation]]:
        checked = (violation_of(one) for one in found)
        return [violation for violation in checked if violation is not None]
        yield


def violation_of(found: Found) -> Violation | None:
    layout, item = found.layout, found.item
    table, key = layout.table, main_key(layout.table, found.item)
    where = table.name, key, layout.hidden
    try:
        right = layout.to_item(found.entity)
    except ValueRefused as error:
        return Unreadable(*where, str(error))
    place = main_key(table, right)
    if not all(same(place[name], key[name]) for name in key):
        return Misplaced(*where, place)
    names = {attribute.name for index in table.indexes for attribute in index.attributes} | {
        *layout.type_item
    }
    wrong = sorted(name for name in names if not same(item.get(name), right.get(name)))
    if not wrong or layout.outdated_because(item):  # which is mended as a whole
        return None
    return StaleKeys(
        *where,
        layout,
        {name: item.get(name) for name in wrong},
        {name: right.get(name) for name in wrong},
        fields_of_keys(layout, item),
    )


def fields_of_keys(layout: Layout, item: Item) -> dict[str, AttributeValue | None]:
    """The attributes that index keys are made of."""
    names = {name for key in layout.keys.values() for name in key.fed_by}
    own = {attribute.name for attribute in layout.table.main.attributes}
    stored = sorted(layout.names[name] for name in names if layout.names[name] not in own)
    return {name: item.get(name) for name in stored}
