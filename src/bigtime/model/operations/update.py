"""Changing some fields of an item, and every index key that they are part of.

An index key is made of fields. When an update changes one of them, the key has to change in the
same request, or the index would be stale:

1. If all fields of the key are known (they are in the main key, or the update sets them), the new
   key is set with them, or removed when one of them is. If the update by itself takes the item out
   of an index declared with `when`, nothing else has to be known.
2. If not, the item has to be read first. `update(entity, ...)` has an item that was read: its
   fields are used, on condition that those the key needs have not changed since.
   `update(key, ...)` reads the item itself, and tries again when another write came first.
3. Inside a transaction nothing can be read, so there such an update needs the entity.

An update with `upsert` may create an item, which then has what every item of its entity has: the
fields of its key, its type, and the keys of all its indexes.

The main key never changes: that would be another item.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Generic, Self, TypeVar

from bigtime.model.errors import ConditionFailed, DesignError, ItemMissing, NotUpgraded
from bigtime.model.operations.change import (
    Add,
    At,
    Clause,
    FieldChange,
    FirstStamp,
    IfMissing,
    Set,
    Stamp,
    read_changes,
)
from bigtime.model.operations.get import layout_of
from bigtime.model.operations.write import (
    ErrorLike,
    Fields,
    Guard,
    KeyedWrite,
    Transition,
    if_exists_error,
    name_subject,
)
from bigtime.model.schema import (
    MAIN,
    Condition,
    Entity,
    FedKeys,
    Key,
    Layout,
    Path,
    Placeholders,
    split,
)
from bigtime.model.tracking import track
from bigtime.wire import AttributeValue, Item, Steps

T = TypeVar("T")
E = TypeVar("E", bound=Entity)


class Update(KeyedWrite[T], Generic[T]):
    """Changes fields of one item; returns the entity after the update."""

    __slots__ = ("changes", "upsert")

    verb = "update"
    operation = "UpdateItem"
    action_name = "Update"
    returning = {"ReturnValues": "ALL_NEW"}

    def __init__(
        self,
        key: Key[Any],
        changes: Mapping[Path, FieldChange],
        guard: Guard,
        *,
        seen: Entity | None = None,
        needed: frozenset[str] = frozenset(),
        upsert: bool = False,
    ) -> None:
        super().__init__(key, guard, seen=seen, needed=needed)
        self.changes = changes
        self.upsert = upsert
        for change in changes.values():
            if isinstance(change, Stamp):
                self.needs_clock = True

    def subject(self) -> str:
        return ", ".join([self.key.subject(), *(f"{path}=..." for path in self.changes)])

    def with_times(self, moment: datetime) -> Self:
        changes = {
            path: change.at(self.layout.check_value(path, moment))
            if isinstance(change, Stamp)
            else change
            for path, change in self.changes.items()
        }
        return self.replace(changes=changes, needs_clock=False)

    def outcome(self, attributes: Item | None) -> T:
        return self.layout.from_item(attributes) if attributes else None  # type: ignore[return-value]

    def after_transaction(self, result: T) -> Steps[T]:
        response = yield self.reading()
        if "Item" not in response:
            raise name_subject(ItemMissing(), self.key)
        return self.outcome(response["Item"])

    def transition(self) -> Transition:
        changed = frozenset(self.changes)
        return Transition(self.known_fields, self.fields_after(), changed, unsure=self.upsert)

    def listed_fields(self) -> Fields | None:
        fed = self.layout.fed_keys(frozenset(self.changes), upsert=self.upsert)
        moves = self.upsert or any(key.bucketed for key, _ in fed)
        return self.fields_after() if moves else None

    def fields_after(self) -> dict[str, Any]:
        """The fields after the update, as far as they are known."""
        fields = self.known_after()
        is_new = self.item is not None and not self.item
        return {**self.layout.defaults(fields), **fields} if is_new else fields

    def known_after(self) -> dict[str, Any]:
        known = self.known_fields
        changed = {
            path: change.after(known.get(path) if self.may_be_stored(path) else None)
            for path, change in self.changes.items()
            if isinstance(path, str)
        }
        return {**known, **changed}

    def may_be_stored(self, name: str) -> bool:
        """Whether a field's value may be stored in the item, rather than come from its default."""
        return self.item is None or self.layout.names[name] in self.item

    def parameters(self, marks: Placeholders) -> dict[str, Any]:
        sections: dict[str, list[str]] = {"SET": [], "REMOVE": [], "ADD": [], "DELETE": []}
        clauses = [change.clause(marks, path) for path, change in self.changes.items()]
        if self.upsert:
            clauses += self.own_clauses(marks)
        fed = self.layout.fed_keys(frozenset(self.changes), upsert=self.upsert)
        if fed:
            clauses += self.index_clauses(marks, fed)
        if self.layout.storage.old_names:
            clauses += [("REMOVE", marks.name(old)) for old in self.old_names()]
        for section, text in filter(None, clauses):
            sections[section].append(text)
        parts = [f"{name} {', '.join(texts)}" for name, texts in sections.items() if texts]
        expression = {"UpdateExpression": " ".join(parts)} if parts else {}
        return {"Key": self.key.item, **expression}

    def old_names(self) -> Iterable[str]:
        """The old names of attributes that it sets or removes; nothing may remain under them."""
        touched = {split(path)[0] for path in self.changes}
        for name, names in self.layout.storage.old_names.items():
            if name in touched:
                yield from names

    def own_clauses(self, marks: Placeholders) -> Iterable[Clause]:
        """The clauses for what every item has: its type, its key's fields, and defaults."""
        layout = self.layout
        for name, value in layout.type_item.items():
            yield set_clause(marks, name, value)
        for name, value in self.key.fields.items():
            if layout.names[name] not in self.key.item:
                yield Set(value).clause(marks, name)
        touched = {split(path)[0] for path in self.changes}
        for name, value in layout.defaults(self.known_after()).items():
            if name not in touched and (value or not layout.forms[name].is_set):
                yield IfMissing(value).clause(marks, name)

    def index_clauses(self, marks: Placeholders, fed: FedKeys) -> Iterable[Clause]:
        """The clauses for the key attributes of every index that the changes affect."""
        fields = self.fields_after()
        attributes: dict[str, AttributeValue | None] = {}
        for key, names in fed:
            made = key.attributes(fields) or {}
            for name in names:
                attributes[name] = made.get(name) or attributes.get(name)
        for name, value in attributes.items():
            yield set_clause(marks, name, value) if value else ("REMOVE", marks.name(name))


def set_clause(marks: Placeholders, name: str, value: AttributeValue) -> Clause:
    return "SET", f"{marks.name(name)} = {marks.value(value)}"


@track
def update(
    target: Key[E] | E,
    *paths: At,
    if_exists: ErrorLike = ItemMissing,
    when: Condition | None = None,
    otherwise: ErrorLike = ConditionFailed,
    upsert: bool = False,
    **fields: Any,
) -> Update[E]:
    """Changes fields of an item that must exist; `upsert=True` creates it if it does not.

    A plain value sets a field and None removes it; `Add`, `Append`, `Discard`, `IfMissing` and
    `Remove` do what they say.
    """
    layout = layout_of(target, "update")
    changes = read_changes(layout, paths, fields)
    guard = Guard(
        None if upsert else if_exists_error(if_exists),
        None,
        when,
        otherwise,
        hidden=layout.deleted_name,
    )
    if upsert:
        check_readable(layout, changes)
    made: Update[E] = build_update(target, changes, guard, upsert=upsert)
    return made


@track
def add(
    key: Key[E],
    *,
    if_exists: ErrorLike = ItemMissing,
    when: Condition | None = None,
    otherwise: ErrorLike = ConditionFailed,
    upsert: bool = False,
    **amounts: Any,
) -> Update[E]:
    """Adds to numbers of an item: `add(Brand.key(brand), like_count=1)`."""
    changes = (At(name, Add(amount)) for name, amount in amounts.items())
    return update(key, *changes, if_exists=if_exists, when=when, otherwise=otherwise, upsert=upsert)


def build_update(
    target: Key[Any] | Entity,
    changes: Mapping[Path, FieldChange],
    guard: Guard,
    *,
    upsert: bool = False,
    kind: type[Update[Any]] = Update,
) -> Any:
    """An update with its entity's role changes added, and the fields that it must read first."""
    key = target.own_key() if isinstance(target, Entity) else target
    layout = key.entity.layout
    changes = {**changes, **role_changes(layout, upsert=upsert)}
    needed = unknown_fields(layout, key.fields, changes, upsert=upsert)
    guard = guard_form(layout, changes, guard, upsert=upsert)
    if not isinstance(target, Entity):
        if layout.keeper is not None:
            needed |= layout.keeper.fields(frozenset(changes)).difference(key.fields)
        return kind(key, changes, guard, needed=needed, upsert=upsert)
    made = kind(key, changes, guard, seen=target, upsert=upsert)
    return made.guarded_by([layout.roles.version] if layout.roles.version else needed)


def guard_form(
    layout: Layout, changes: Mapping[Path, FieldChange], guard: Guard, *, upsert: bool
) -> Guard:
    """The guard, extended to refuse an outdated item: updating one would mix old and new forms."""
    attribute, storage = layout.table.schema_attribute, layout.storage
    seen: dict[str, AttributeValue | None] = {}
    if storage.schema is not None and attribute is not None:
        if upsert:
            raise DesignError(
                f"an upsert of {layout.entity.__name__} may meet an item of an older schema; put"
                " it, or update what is there"
            )
        seen[attribute] = {"N": str(storage.schema)}
    for path, change in changes.items() if storage.old_names else ():
        if isinstance(path, str) and change.tells:
            continue
        for old in storage.old_names.get(str(split(path)[0]), ()):
            seen[old] = None
    return guard.with_seen(seen, NotUpgraded) if seen else guard


def role_changes(layout: Layout, *, upsert: bool = False) -> dict[Path, FieldChange]:
    """The changes to role fields that every update of an entity makes."""
    roles = layout.roles
    changes: dict[Path, FieldChange] = {}
    if roles.version:
        changes[roles.version] = Add(1)
    if roles.updated:
        changes[roles.updated] = Stamp()
    if roles.created and upsert:
        changes[roles.created] = FirstStamp()
    return changes


def check_readable(layout: Layout, changes: Mapping[Path, FieldChange]) -> None:
    """Refuses an upsert that could create an unreadable item."""
    missing = layout.needed_fields().difference(
        layout.keys[MAIN].fields, changes, layout.roles.field_names().values()
    )
    if missing:
        name = layout.entity.__name__
        raise DesignError(
            f"this upsert could make {'an' if name[0] in 'AEIOU' else 'a'} {name} without"
            f" {', '.join(sorted(missing))}; set it too, or give it a default"
        )


def unknown_fields(
    layout: Layout,
    known: Iterable[str],
    changes: Mapping[Path, FieldChange],
    *,
    upsert: bool = False,
) -> frozenset[str]:
    """Fields needed for an affected index key that are neither known nor set."""
    fed = layout.fed_keys(frozenset(changes), upsert=upsert)
    if not fed:
        return frozenset()
    decided = {
        path: change.after(None)
        for path, change in changes.items()
        if isinstance(path, str) and change.tells
    }
    holding = [key.fed_by for key, _ in fed if key.holds(decided)]
    return frozenset().union(*holding).difference(known, decided)
