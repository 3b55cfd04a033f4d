"""Entities: what a table holds, declared as pydantic models with the keys they are found by.

    class Brand(Entity, table=BIG_TIME_DEALS):
        keys = Keys(main=("BRAND#{brand}", "BRAND#{brand}"))
        brand: BrandName
        like_count: int = 0

The class is checked when it is defined, by itself and against the other entities of its table.
What the operations need from it is compiled once, as its `layout`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict

from bigtime.model.errors import DesignError
from bigtime.model.schema.declaration import lay_out
from bigtime.model.schema.key_range import KeyRange, key_in, within
from bigtime.model.schema.keys import Key, Keys
from bigtime.model.schema.layout import ROLES, Layout, Roles
from bigtime.model.schema.reader import entity_reader
from bigtime.model.schema.secret import hide_secrets
from bigtime.model.schema.storage import STORAGE, Storage, is_older
from bigtime.model.schema.table import Names, Table, names_in
from bigtime.wire import Item


class Entity(BaseModel):
    """The base of all entities. Instances do not change: an update makes a new one."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        ignored_types=(Keys,),
        hide_input_in_errors=True,
        validate_by_name=True,
        validate_by_alias=True,
    )

    keys: ClassVar[Keys]
    layout: ClassVar[Layout]

    def __init_subclass__(cls, **declared: Any) -> None:
        """Accepts the class arguments; pydantic passes them on once the fields are known."""
        super().__init_subclass__()

    @classmethod
    def __pydantic_init_subclass__(
        cls,
        *,
        table: Table | None = None,
        created: str | None = None,
        updated: str | None = None,
        version: str | None = None,
        deleted: str | None = None,
        type_name: str | None = None,
        was: Names = (),
        stored: Mapping[str, str] | None = None,
        old_names: Mapping[str, Names] | None = None,
        schema: int | None = None,
        **more: Any,
    ) -> None:
        """`created`, `updated`, `version` and `deleted` name the fields that have those roles.

        The others say how its items are stored, or used to be: see `Storage`.
        """
        check_known(cls.__name__, "an entity", more, ("table", *ROLES, *STORAGE))
        super().__pydantic_init_subclass__()
        hide_secrets(cls)
        roles = Roles(created=created, updated=updated, version=version, deleted=deleted)
        old = {name: names_in(names) for name, names in (old_names or {}).items()}
        storage = Storage(type_name, names_in(was), dict(stored or {}), old, schema)
        if table is None:
            check_abstract(cls, roles, storage)
            return
        check_declared(cls, table)
        lay_out(cls, table, cls.keys, roles, storage)

    @classmethod
    def key(cls, *values: Any, **named: Any) -> Key[Self]:
        """The main key, from the fields of its templates, in order or by name."""
        return Key(cls, cls.layout.key_fields(values, named))

    @classmethod
    def within(cls, index: str, /, **fields: Any) -> KeyRange[Self]:
        """The entity's items in one partition of an index, or a range of it; `main` is the table.

        Every partition field takes a value. Sort key fields take values from the left, and the
        last may be a comparison: `less_than(x)`, `between(a, b)`, `begins_with(text)`.
        """
        layout = cls.layout
        return within(layout, entity_reader((layout,), key_in(layout, index).index), index, fields)

    @classmethod
    def key_of(cls, item: Item) -> Key[Self]:
        """The main key of an item."""
        return Key(cls, cls.layout.key_told_by(item))

    def own_key(self) -> Key[Self]:
        names = self.layout.keys["main"].fields
        return Key(type(self), {name: getattr(self, name) for name in names})

    @classmethod
    def from_item(cls, item: Item) -> Self:
        """The entity that an item holds, in DynamoDB's JSON; ItemMismatch if it holds none."""
        entity: Self = cls.layout.read(item)
        return entity

    def to_item(self) -> Item:
        """The item as `put` would write it: with its type, and the keys of all its indexes."""
        return self.layout.to_item(self)

    @classmethod
    def is_outdated(cls, item: Item) -> bool:
        """Whether to upgrade an item: decided by its schema, unless the entity overrides this."""
        return is_older(cls.layout, item)

    @classmethod
    def upgrade(cls, item: Item) -> Item:
        """The current form of an older item; entities that have older versions override this."""
        return item


def check_known(name: str, kind: str, given: Mapping[str, Any], known: Iterable[str]) -> None:
    """Refuses an unknown class argument, which pydantic would ignore."""
    for each in given:
        raise DesignError(f"{name} has no {each!r}; {kind} takes {', '.join(known)}")


def check_declared(entity: type[Entity], table: object) -> None:
    if not isinstance(table, Table):
        raise DesignError(
            f"{entity.__name__}: table is {table!r}; declare one, as in Table('Shop', 'PK', 'SK')"
        )
    if "keys" not in entity.__dict__:
        raise DesignError(f"{entity.__name__} declares no keys; add `keys = Keys(main=...)`")
    if not isinstance(entity.keys, Keys):
        raise DesignError(
            f"{entity.__name__}.keys is {entity.keys!r}; write `keys = Keys(main=...)`"
        )


def check_abstract(entity: type[Entity], roles: Roles, storage: Storage) -> None:
    """Refuses arguments that need a table: without one, a class is only a base for others."""
    said = (name for name in STORAGE if getattr(storage, name) not in (None, (), {}))
    for role in (*roles.field_names(), *said):
        raise DesignError(
            f"{entity.__name__} has no table, so nothing would heed its {role}; say it where the"
            " table is"
        )
    if "keys" in entity.__dict__:
        raise DesignError(f"{entity.__name__} has keys but no table; add `table=` to its class")
    if any("layout" in vars(each) for each in entity.__mro__):
        raise DesignError(
            f"{entity.__name__} inherits from an entity, and is none itself; give it a table and"
            " keys of its own, or let both inherit from a class without them"
        )
