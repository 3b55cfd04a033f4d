"""Verifying that a system's items match its declarations, and repairing those that do not.

    violations = yield from verify(DEALS)
    for violation in violations:
        yield from repair(violation)

    yield from verify_pages(DEALS, handle)  # the same, a page of violations at a time

Every table is scanned once, completely. Each item must be readable as its entity; it must have its
entity's current version, and its attributes under their current names and no others; its type
and its index keys must be those that its fields produce; its buckets must be listed where lists
are declared; and every declared invariant must hold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypeVar

from bigtime.model.errors import Conflict, ItemMismatch, ValueRefused
from bigtime.model.invariants import (
    Audit,
    BucketAudit,
    CannotMend,
    Found,
    Mend,
    Violation,
    changed_attributes,
    invariants_of,
    look_through,
    main_key,
)
from bigtime.model.operations import Guard, bucket_lists_of, same
from bigtime.model.schema import (
    UNDECLARED,
    Entity,
    Layout,
    Placeholders,
    Table,
    hidden_in,
    layout_in,
)
from bigtime.model.system import System, check_kind
from bigtime.wire import AttributeValue, Item, Request, Steps, TransactionCanceledException

E = TypeVar("E", bound=Entity)

Part: TypeAlias = Literal["all", "form", "items", "sums"]
"""What to verify: everything; only the form of items; what one page of items shows; the rest."""


def verify(system: System) -> Steps[list[Violation]]:
    """Every violation in a system's tables, as a list: for tests, and small tables."""
    violations: list[Violation] = []

    def keep(page: list[Violation]) -> Steps[None]:
        violations.extend(page)
        return
        yield

    yield from verify_pages(system, keep)
    return violations


def verify_pages(
    system: System, handler: Callable[[list[Violation]], Steps[Any]]
) -> Steps[dict[str, int]]:
    """Passes violations to a handler's steps, page by page; returns their number by kind.

    No page is kept in memory. Violations of invariants between items come at the end.
    """
    check_kind(system, "verify")
    verification = Verification(system)
    counts: Counter[str] = Counter()

    def hand_over(violations: list[Violation]) -> Steps[None]:
        if violations:
            counts.update(type(violation).__name__ for violation in violations)
            yield from handler(violations)

    def look_in(table: Table) -> Callable[[list[Item]], Steps[None]]:
        def look(items: list[Item]) -> Steps[None]:
            yield from hand_over((yield from verification.see(table, items)))

        return look

    for table in system.tables:
        yield from look_through(table, look_in(table))
    yield from hand_over((yield from verification.end()))
    return dict(counts)


class Verification:
    """Checks a system's items, in pages of any order, and reports what is wrong with them.

    Not thread-safe. The `sums` are the checks that need every item: an interrupted verification can
    resume with the `items`, but must start the sums again.
    """

    def __init__(self, system: System, part: Part = "all") -> None:
        self.part = part
        self.audits: list[Audit] = audits_of(system, part)
        self._layouts = {table.name: layout_in(table) for table in system.tables}

    @property
    def has_sums(self) -> bool:
        return any(map(ends, self.audits))

    def see(self, table: Table, items: list[Item]) -> Steps[list[Violation]]:
        """The violations in these items."""
        layout_of = self._layouts[table.name]
        found: list[Found] = []
        violations: list[Violation] = []
        for item in items:
            layout = layout_of(item)
            if layout is None:
                violations.append(unknown_item(table, item))
                continue
            try:
                found.append(Found(layout, item, layout.from_item(item)))
            except ItemMismatch as error:
                place = table.name, main_key(table, item), hidden_in(table)
                violations.append(Unreadable(*place, str(error), (layout.entity.__name__,)))
        for audit in self.audits:
            violations += yield from audit.see(found)
        return [] if self.part == "sums" else violations

    def end(self) -> Steps[list[Violation]]:
        """The remaining violations, once every item has been seen."""
        violations: list[Violation] = []
        for audit in self.audits:
            violations += yield from audit.end()
        return violations


def unknown_item(table: Table, item: Item) -> Unreadable:
    """The violation for an item of no entity, with the entities that it may belong to."""
    fitting = fitting_entities(table, item)
    reason = why_unknown(table, item, fitting)
    return Unreadable(table.name, main_key(table, item), hidden_in(table), reason, fitting)


def fitting_entities(table: Table, item: Item) -> tuple[str, ...]:
    """The entities an item fits in all but its type; their classes may have been renamed."""
    if "S" not in item.get(table.type_attribute or "", {}):
        return ()
    layouts = (entity.layout for entity in table.entities)
    return tuple(layout.entity.__name__ for layout in layouts if would_read(layout, item))


def why_unknown(table: Table, item: Item, fitting: tuple[str, ...]) -> str:
    """Why an item belongs to no entity: most often, its class was renamed."""
    named = item.get(table.type_attribute or "", {}).get("S")
    if named is None:
        return "it is of no entity of the table"
    text = f"it is of no entity of the table: its {table.type_attribute} is {named!r}; "
    if not fitting:
        return f'{text}if a class had that name, declare was="{named}"'
    entity = " or ".join(fitting)
    return f'{text}if it is {entity}, which was renamed, declare was="{named}" on that class'


def would_read(layout: Layout, item: Item) -> bool:
    """Whether the item would read as the entity, under its own key, if it had the entity's type."""
    typed = {**item, **layout.type_item}
    try:
        again = layout.to_item(layout.from_item(typed))
    except (ItemMismatch, ValueRefused):
        return False
    table = layout.table
    return same_items(main_key(table, again), main_key(table, item))


def audits_of(system: System, part: Part) -> list[Audit]:
    layouts = [entity.layout for entity in system.entities]
    lists = [listed for layout in layouts for listed in bucket_lists_of(layout)]
    form: list[Audit] = [KeyAudit(), DeclarationAudit(), *map(BucketAudit, lists)]
    if part == "form":
        return form
    invariants = [invariant for layout in layouts for invariant in invariants_of(layout)]
    between = [audit for invariant in invariants for audit in invariant.audits()]
    between += [audit for each in system.copies for audit in each.audits()]
    if part == "all":
        return [*form, *between]
    sums = [audit for audit in between if ends(audit)]
    return sums if part == "sums" else [*form, *(audit for audit in between if audit not in sums)]


def ends(audit: Audit) -> bool:
    """Whether an audit reports anything only when every item has been seen."""
    return type(audit).end is not Audit.end


def repair(violation: Violation) -> Steps[None]:
    """Repairs a violation; raises Conflict if the item has changed since."""
    yield from violation.mend()


@dataclass(frozen=True, repr=False)
class Unreadable(Violation):
    """An item that cannot be read; `entities` are those it belongs, or may belong, to."""

    reason: str
    entities: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        return f"cannot be read: {self.reason}"


@dataclass(frozen=True, repr=False)
class Misplaced(Violation):
    """An item whose main key is not the one that its fields produce."""

    right: Item
    layout: Layout
    found: Item
    item: Item

    @property
    def sentence(self) -> str:
        return f"should be at {self.visible(self.right)}"

    def move(self) -> Steps[None]:
        """In one transaction, puts the item under its right key, upgraded, and deletes the old one.

        Raises Conflict if the item has changed since it was found, `PlaceTaken` if another item
        already has that key.
        """
        try:
            yield from self.move_together([self])
        except TransactionCanceledException:
            old = yield from self.fetch_item(self.key)
            if old is None:
                return  # it has been deleted, or moved already
            new = yield from self.fetch_item(self.right)
            if new is None or not same_items(old, self.found):
                raise Conflict(str(self)) from None
            if not same_items(new, self.item):
                raise PlaceTaken(
                    f"{self}, where there is another item already; delete the one that is wrong"
                ) from None
            yield Request("DeleteItem", self.old_delete())

    @staticmethod
    def move_together(misplaced: Iterable[Misplaced]) -> Steps[None]:
        """Moves all the items in one transaction, or none; DynamoDB's error says which failed."""
        actions = [
            action
            for each in misplaced
            for action in ({"Put": each.new_put()}, {"Delete": each.old_delete()})
        ]
        yield Request("TransactWriteItems", {"TransactItems": actions})

    def new_put(self) -> dict[str, Any]:
        marks = Placeholders(self.layout)
        condition = Guard(unless_exists=Conflict).render(marks)
        return {
            "TableName": self.table,
            "Item": self.item,
            "ConditionExpression": condition,
            **marks.parameters(),
        }

    def old_delete(self) -> dict[str, Any]:
        """Deletes the old item only as found, with no other declared attribute added since."""
        marks = Placeholders(self.layout)
        names = sorted({*self.found, *self.layout.known} - self.key.keys())
        seen = {name: self.found.get(name) for name in names}
        return {
            "TableName": self.table,
            "Key": self.key,
            "ConditionExpression": Guard(if_exists=Conflict, seen=seen).render(marks),
            **marks.parameters(),
        }

    def fetch_item(self, key: Item) -> Steps[Item | None]:
        params = {"TableName": self.table, "Key": key, "ConsistentRead": True}
        response = yield Request("GetItem", params)
        item: Item | None = response.get("Item")
        return item


def relocate(entity: type[E], item: Item) -> Steps[E]:
    """Moves an item read under an old main key to its current one, and returns its entity.

    Raises Conflict if the item has changed since, `PlaceTaken` if another item has that key.
    """
    layout = entity.layout
    found = Found(layout, item, layout.from_item(item))
    violation = violation_of(found)
    if isinstance(violation, Misplaced):
        yield from violation.move()
    return found.entity  # type: ignore[return-value]


class PlaceTaken(CannotMend):
    """An item cannot be moved to where another one is."""


def same_items(one: Item, other: Item) -> bool:
    return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)


@dataclass(frozen=True, repr=False)
class StaleKeys(Violation):
    """Index keys, or a type, other than those that the item's fields produce."""

    layout: Layout
    found: Mapping[str, AttributeValue | None]
    right: Mapping[str, AttributeValue | None]
    fields: Mapping[str, AttributeValue | None]

    @property
    def sentence(self) -> str:
        found, right = self.visible(self.found), self.visible(self.right)
        return "; ".join(f"{name} is {found[name]}, not {right[name]}" for name in right)

    def mend(self) -> Steps[None]:
        """Rewrites the keys, if they and the fields they are made of are still as found."""
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
        """Upgrades the item to the current form, if it is still as found."""
        changed = changed_attributes(self.found, self.right, self.key)
        if not changed:
            raise CannotMend(f"{self}; and upgrade() changes nothing")
        yield from Mend(self.layout, self.key, changed, self.found)


@dataclass(frozen=True, repr=False)
class Undeclared(Violation):
    """An item with attributes that its entity does not declare; a put keeps them."""

    entity: str
    names: tuple[str, ...]

    @property
    def sentence(self) -> str:
        return (
            f"has {', '.join(self.names)}, which {self.entity} does not declare; declare a field,"
            " or say under old_names= what it is called now"
        )


class DeclarationAudit(Audit):
    """Every item is in the current form, and has only attributes that its entity declares."""

    def see(self, found: list[Found]) -> Steps[list[Violation]]:
        return [violation for each in found for violation in form_violations(each)]
        yield


def form_violations(found: Found) -> Iterator[Violation]:
    layout, item = found.layout, found.item
    place = layout.table.name, main_key(layout.table, item), layout.hidden
    reason = layout.outdated_because(item)
    if reason:
        with suppress(ValueRefused):  # KeyAudit reports it
            yield Outdated(*place, layout, item, layout.to_item(found.entity), reason)
    if names := tuple(sorted(found.entity.__dict__.get(UNDECLARED, ()))):
        yield Undeclared(*place, layout.entity.__name__, names)


class KeyAudit(Audit):
    """Every item has the keys that its fields produce: in the table, and in each index."""

    def see(self, found: list[Found]) -> Steps[list[Violation]]:
        checked = (violation_of(each) for each in found)
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
        return Misplaced(*where, place, layout, item, right)
    names = {attribute.name for index in table.indexes for attribute in index.attributes} | {
        *layout.type_item
    }
    wrong = sorted(name for name in names if not same(item.get(name), right.get(name)))
    if not wrong or layout.outdated_because(item):  # an outdated item is rewritten as a whole
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
    stored = {layout.names[name] for name in names}.difference(layout.table.key_names)
    return {name: item.get(name) for name in sorted(stored)}
