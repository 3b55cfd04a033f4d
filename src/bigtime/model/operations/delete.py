"""Deleting an item, and checking one without changing it.

Where an entity has a field with the role `deleted`, deleting an item is a soft delete: it sets that
field to the current time and keeps the item. Reads no longer see it, `restore` brings it back, and
`erase` deletes it for good.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

from bigtime.model.errors import ConditionFailed, DesignError, ItemMissing
from bigtime.model.operations.change import FieldChange, Remove, Stamp
from bigtime.model.operations.get import check_key, layout_of
from bigtime.model.operations.update import Update, build_update
from bigtime.model.operations.write import (
    ErrorLike,
    Guard,
    KeyedWrite,
    Transition,
    Write,
    if_exists_error,
    unless_exists_error,
)
from bigtime.model.schema import Condition, Entity, Key, Path, Placeholders
from bigtime.model.tracking import track
from bigtime.wire import Item, Request, Steps

T = TypeVar("T")
E = TypeVar("E", bound=Entity)


class Gone(ItemMissing):
    """There was nothing to delete, which is fine."""


def ignore_missing(steps: Steps[T]) -> Steps[T | None]:
    try:
        return (yield from steps)
    except Gone:
        return None


class Delete(KeyedWrite[E | None]):
    """Deletes an item, and returns what it was."""

    __slots__ = ()

    verb = "delete"
    operation = "DeleteItem"
    action_name = "Delete"
    returning = {"ReturnValues": "ALL_OLD"}

    def parameters(self, marks: Placeholders) -> dict[str, Any]:
        return {"Key": self.key.item}

    def transition(self) -> Transition:
        return Transition(self.known_fields, None)

    def outcome(self, attributes: Item | None) -> Any:
        return self.layout.from_item(attributes) if attributes else None

    def after_transaction(self, result: Any) -> Steps[Any]:
        return self.seen
        yield

    def __iter__(self) -> Steps[E | None]:
        return ignore_missing(KeyedWrite.__iter__(self))


class SoftDelete(Update[E | None]):
    """Marks an item as deleted, and returns what it was."""

    __slots__ = ()

    verb = "delete"
    returning = {"ReturnValues": "ALL_OLD"}

    def after_transaction(self, result: Any) -> Steps[Any]:
        return self.seen
        yield

    def __iter__(self) -> Steps[E | None]:
        return ignore_missing(KeyedWrite.__iter__(self))


class Check(Write[None]):
    """A condition on an item that a transaction does not change."""

    __slots__ = ("key",)

    verb = "check"
    operation = ""
    action_name = "ConditionCheck"

    def __init__(self, key: Key[Any], guard: Guard) -> None:
        super().__init__(key.entity.layout, guard)
        self.key = key

    def key_of_item(self) -> Key[Any]:
        return self.key

    def in_transaction(self) -> None:
        """A check has no result."""

    def parameters(self, marks: Placeholders) -> dict[str, Any]:
        return {"Key": self.key.item}

    def transition(self) -> Transition:
        return Transition({}, {}, frozenset())

    def request(self) -> Request:
        raise DesignError("check() stands only inside transact(); to read an item, use get()")

    def outcome(self, attributes: Item | None) -> None:
        return None


@track
def delete(
    target: Key[E] | E,
    *,
    if_exists: ErrorLike | bool | None = None,
    when: Condition | None = None,
    otherwise: ErrorLike = ConditionFailed,
) -> KeyedWrite[E | None]:
    """Deletes the item; without a condition, a missing item is ignored.

    It returns what the item was. Where an invariant turns it into a transaction, DynamoDB does not
    return that: then the result is the item as given or read beforehand, or None. Given the entity,
    it deletes only the version that was read. In a transaction the item must exist if the delete
    is soft or an invariant depends on the item.
    """
    layout = layout_of(target, "delete")
    guard = Guard(if_exists_error(if_exists), None, when, otherwise, hidden=layout.deleted_name)
    if layout.roles.deleted is None:
        return deletion(target, guard)
    mark: dict[Path, FieldChange] = {layout.roles.deleted: Stamp()}
    soft: KeyedWrite[E | None] = build_update(target, mark, require_item(guard), kind=SoftDelete)
    return soft


@track
def erase(
    target: Key[E] | E,
    *,
    if_exists: ErrorLike | bool | None = None,
    when: Condition | None = None,
    otherwise: ErrorLike = ConditionFailed,
) -> Delete[E]:
    """Deletes the item for good, even where `delete` would only mark it."""
    layout_of(target, "erase")
    return deletion(target, Guard(if_exists_error(if_exists), None, when, otherwise))


@track
def restore(target: Key[E] | E, *, if_exists: ErrorLike = ItemMissing) -> Update[E]:
    """Restores a soft-deleted item; any other item stays as it is."""
    layout = layout_of(target, "restore")
    if layout.roles.deleted is None:
        raise DesignError(
            f"{layout.entity.__name__} has no field with the role `deleted`; what is deleted there"
            " is gone"
        )
    unmark: dict[Path, FieldChange] = {layout.roles.deleted: Remove()}
    restored: Update[E] = build_update(target, unmark, Guard(if_exists=if_exists))
    return restored


def deletion(target: Key[E] | E, guard: Guard) -> Delete[E]:
    key, seen = (target.own_key(), target) if isinstance(target, Entity) else (target, None)
    layout = key.entity.layout
    needed: frozenset[str] = frozenset()
    if layout.keeper is not None:
        guard = require_item(guard)
        needed = layout.keeper.fields(None) - {*key.fields}
    made = Delete[E](key, guard, seen=seen, needed=needed)
    return made.guarded_by([layout.roles.version]) if layout.roles.version else made


def require_item(guard: Guard) -> Guard:
    """The guard of a write that needs an existing item, whether or not its absence is an error."""
    return guard if guard.if_exists else replace(guard, if_exists=Gone)


@track
def check(
    key: Key[Any],
    *,
    if_exists: ErrorLike | bool | None = None,
    unless_exists: ErrorLike | bool | None = None,
    when: Condition | None = None,
    otherwise: ErrorLike = ConditionFailed,
) -> Check:
    """Lets a transaction proceed only if the item meets the conditions."""
    hidden = check_key(key, "check").entity.layout.deleted_name
    guard = Guard(
        if_exists_error(if_exists),
        unless_exists_error(unless_exists),
        when,
        otherwise,
        hidden=hidden,
    )
    if not (guard.if_exists or guard.unless_exists or when is not None):
        raise DesignError("check() needs a condition: if_exists, unless_exists or when")
    return Check(key, guard)
