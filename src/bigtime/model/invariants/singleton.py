"""Singletons: entities with exactly one item.

    FRONT_PAGE = singleton(FrontPage)

    page = yield from FRONT_PAGE.get()
    yield from FRONT_PAGE.update(title="Hot today")

Its key has no fields. Until it is stored it consists of its defaults, so every field needs one;
reading it never returns None, and updating it creates it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from bigtime.model.errors import ConditionFailed, DesignError
from bigtime.model.operations import At, ErrorLike, Update, get, update
from bigtime.model.schema import MAIN, Condition, Entity, Key
from bigtime.wire import Steps

E = TypeVar("E", bound=Entity)


@dataclass(frozen=True, slots=True, eq=False)
class Singleton(Generic[E]):
    """The one item of an entity."""

    entity: type[E]

    @property
    def key(self) -> Key[E]:
        return self.entity.key()

    def get(self, *, consistent: bool = False) -> Steps[E]:
        """The item, or its defaults if nothing is stored yet."""
        stored = yield from get(self.key, consistent=consistent)
        return self.entity() if stored is None else stored

    def update(
        self,
        *paths: At,
        when: Condition | None = None,
        otherwise: ErrorLike = ConditionFailed,
        **fields: Any,
    ) -> Update[E]:
        """Changes fields of the item, and creates it if necessary."""
        return update(self.key, *paths, when=when, otherwise=otherwise, upsert=True, **fields)


def singleton(entity: type[E]) -> Singleton[E]:
    """Declares that an entity has one item."""
    layout = entity.layout
    if layout.keys[MAIN].fields:
        names = ", ".join(layout.keys[MAIN].fields)
        raise DesignError(f"{entity.__name__} has {names} in its key, so it may have many items")
    required = [name for name, field in entity.model_fields.items() if field.is_required()]
    if required:
        raise DesignError(
            f"{entity.__name__} has no default for {', '.join(required)}; a singleton is what its"
            " defaults say until something is stored"
        )
    return Singleton(entity)
