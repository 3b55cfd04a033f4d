"""Writing a whole entity: put, create, replace."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Self, TypeVar

from bigtime.model.errors import ConditionFailed, DesignError, ItemExists, ItemMissing
from bigtime.model.operations.write import (
    ErrorLike,
    Fields,
    Guard,
    Transition,
    Write,
    if_exists_error,
    unless_exists_error,
)
from bigtime.model.schema import Condition, Entity, Key, Placeholders
from bigtime.model.tracking import track
from bigtime.wire import AttributeValue, Item

E = TypeVar("E", bound=Entity)


class Put(Write[E]):
    """Puts an entity, and returns it as stored."""

    __slots__ = ("entity",)

    verb = "put"
    operation = "PutItem"
    action_name = "Put"

    def __init__(self, entity: E, guard: Guard) -> None:
        super().__init__(entity.layout, guard)
        self.entity = entity
        roles = self.layout.roles
        self.needs_clock = bool(roles.created or roles.updated)

    def with_times(self, moment: datetime) -> Self:
        roles = self.layout.roles
        is_new = roles.created and getattr(self.entity, roles.created) is None
        filled = self.layout.role_values(moment, roles.created if is_new else None, roles.updated)
        return self.replace(entity=self.entity.model_copy(update=filled), needs_clock=False)

    def parameters(self, marks: Placeholders) -> dict[str, Any]:
        return {"Item": self.layout.to_item(self.stored_entity())}

    def stored_entity(self) -> E:
        """The entity as it will be stored: its version is one more than was read."""
        version = self.layout.roles.version
        if version is None:
            return self.entity
        return self.entity.model_copy(update={version: (getattr(self.entity, version) or 0) + 1})

    def transition(self) -> Transition:
        if not self.guard.unless_exists:
            raise DesignError(
                f"{type(self.entity).__name__} has invariants, and this may write over one of which"
                " nothing is known; use create(), or update() what has changed"
            )
        return Transition(None, self.entity.__dict__)

    def listed_fields(self) -> Fields:
        return self.entity.__dict__

    def outcome(self, attributes: Item | None) -> E:
        return self.stored_entity()

    def in_transaction(self) -> E:
        return self.stored_entity()

    def key_of_item(self) -> Key[E]:
        return self.entity.own_key()

    def whole_item(self) -> Item:
        return self.layout.to_item(self.stored_entity())


@track
def put(
    entity: E,
    *,
    unless_exists: ErrorLike | bool | None = None,
    if_exists: ErrorLike | bool | None = None,
    when: Condition | None = None,
    otherwise: ErrorLike = ConditionFailed,
) -> Put[E]:
    """Writes the entity, overwriting any item there, unless conditions are given."""
    if not isinstance(entity, Entity):
        raise not_an_entity(entity, "put")
    guard = Guard(
        if_exists_error(if_exists),
        unless_exists_error(unless_exists),
        when,
        otherwise,
        seen_version(entity),
        hidden=entity.layout.deleted_name,
    )
    return Put(entity, guard)


@track
def create(entity: E, *, unless_exists: ErrorLike = ItemExists) -> Put[E]:
    """Writes an entity whose key must not exist yet."""
    if not isinstance(entity, Entity):
        raise not_an_entity(entity, "create")
    return Put(entity, Guard(unless_exists=unless_exists))


@track
def replace(
    entity: E,
    *,
    if_exists: ErrorLike = ItemMissing,
    when: Condition | None = None,
    otherwise: ErrorLike = ConditionFailed,
) -> Put[E]:
    """Overwrites an entity that must exist."""
    return put(entity, if_exists=if_exists, when=when, otherwise=otherwise)


def not_an_entity(given: object, function: str) -> DesignError:
    return DesignError(
        f"{function}() takes an entity, not {given!r}; make one, as in Brand(brand='APPLE')"
    )


def seen_version(entity: Entity) -> dict[str, AttributeValue | None]:
    """The version that was read, which the write requires; empty without a version field."""
    layout = entity.layout
    name = layout.roles.version
    if name is None:
        return {}
    seen = getattr(entity, name)
    return {layout.names[name]: layout.forms[name].write(seen) if seen else None}
