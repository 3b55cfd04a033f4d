"""How an entity's items are stored where they differ from the table's rule, now or in the past.

    class User(Entity, table=SHOP, type_name="user", was="Person", old_names={"about": "bio"}):
        ...

An item that other code or an older version wrote is upgraded to the current form before it is read:

1. If its `schema` is older, or `is_outdated` is true for it, it is passed to `upgrade`.
2. An attribute under an old name is used where there is none under the new one.
3. A field that is stored only in a key is read from the key.

Attributes that the entity does not declare are kept with it, and written again by a put.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, TypeAlias

from pydantic_core import PydanticUndefined

from bigtime.model.errors import DesignError, ItemMismatch
from bigtime.model.schema.keys import KeyPart
from bigtime.model.schema.table import MAIN, Table
from bigtime.wire import Item

if TYPE_CHECKING:
    from bigtime.model.schema.entity import Entity
    from bigtime.model.schema.layout import Layout

Preparation: TypeAlias = Callable[[Item], Item]

UNDECLARED = "_undeclared"
"""Where an entity keeps the undeclared attributes that were read with it."""
AS_STORED = "_as_stored"
"""Where an entity keeps its original item, if that had to be upgraded to be read."""


@dataclass(frozen=True, slots=True, eq=False)
class Storage:
    """The arguments of an entity's class that say how its items are stored.

    `type_name` is the value of the table's type attribute, `was` older values that still denote
    the entity. `stored` maps fields to attribute names, `old_names` to their previous names.
    `schema` is the version that its items are written with.
    """

    type_name: str | None = None
    was: tuple[str, ...] = ()
    stored: Mapping[str, str] = field(default_factory=dict)
    old_names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    schema: int | None = None


STORAGE = tuple(field.name for field in fields(Storage))


def type_names(entity: type[Entity], table: Table, storage: Storage) -> tuple[str, ...]:
    """The values of the type attribute that denote the entity; the first is the one written."""
    mapped = [value for value, name in table.type_values.items() if name == entity.__name__]
    first = [storage.type_name] if storage.type_name else mapped or [entity.__name__]
    return tuple(dict.fromkeys([*first, *mapped, *storage.was]))


def attribute_names(entity: type[Entity], table: Table, storage: Storage) -> dict[str, str]:
    """The stored name of every field: from `stored`, its pydantic alias, or the table's rule."""
    return {
        name: storage.stored.get(name) or found.serialization_alias or table.naming(name)
        for name, found in entity.model_fields.items()
    }


def fixed_attributes(layout: Layout) -> Item:
    """The attributes with one value in all items of an entity: its type and schema version."""
    table, item = layout.table, dict[str, Any]()
    if table.type_attribute:
        item[table.type_attribute] = {"S": layout.type_names[0]}
    if table.schema_attribute and layout.storage.schema is not None:
        item[table.schema_attribute] = {"N": str(layout.storage.schema)}
    return item


def check_storage(layout: Layout) -> None:
    entity, table, storage = layout.entity, layout.table, layout.storage
    for argument, given in (("stored", storage.stored), ("old_names", storage.old_names)):
        for name in given:
            if name not in layout.names:
                raise DesignError(
                    f"{entity.__name__}: {argument} names {name!r}, which is not one of its fields"
                )
    if table.type_attribute is None and (storage.type_name or storage.was):
        raise DesignError(
            f"{entity.__name__} has a type name, and table {table.name} no attribute for it;"
            " declare the table's type_attribute"
        )
    check_type_names(layout)
    check_old_names(layout)
    check_schema(layout)


def check_type_names(layout: Layout) -> None:
    for other in (entity.layout for entity in layout.table.entities):
        for name in other.type_names:
            if layout.table.type_attribute and name in layout.type_names:
                raise DesignError(
                    f"{layout.entity.__name__} and {other.entity.__name__} are both stored with the"
                    f" type {name!r}; give one another type_name"
                )


def check_old_names(layout: Layout) -> None:
    taken = {*layout.names.values(), *layout.table.indexed_names, *layout.type_item}
    for field_name, names in layout.storage.old_names.items():
        for name in names:
            if name in taken:
                raise DesignError(
                    f"{layout.entity.__name__}.{field_name}: its old name {name!r} is the name of"
                    " another attribute now; let upgrade() tell the two apart"
                )
            taken.add(name)


def check_schema(layout: Layout) -> None:
    entity, schema = layout.entity, layout.storage.schema
    if schema is not None and layout.table.schema_attribute is None:
        raise DesignError(
            f"{entity.__name__} has schema={schema}, and table {layout.table.name} no attribute for"
            " it; declare the table's schema_attribute"
        )
    asks = has_own(entity, "is_outdated")
    if has_own(entity, "upgrade") and not asks and schema is None:
        raise DesignError(
            f"{entity.__name__}.upgrade is given items of an older version; say which those are:"
            " by schema=2 and the table's schema_attribute, or by a classmethod is_outdated(item)"
        )
    if asks and not has_own(entity, "upgrade"):
        raise DesignError(f"{entity.__name__}.is_outdated needs a classmethod upgrade(item)")


def has_own(entity: type[Entity], name: str) -> bool:
    """Whether the entity, or an application class it inherits from, overrides a method."""
    from bigtime.model.schema.entity import Entity

    return getattr(entity, name).__func__ is not getattr(Entity, name).__func__


def is_older(layout: Layout, item: Item) -> bool:
    """Whether an item's schema is older than its entity's, or missing."""
    attribute, schema = layout.table.schema_attribute, layout.storage.schema
    if attribute is None or schema is None:
        return False
    return int(item.get(attribute, {}).get("N", "0")) < schema


# Upgrading an item to the current form


def preparations(layout: Layout) -> Iterator[Preparation]:
    """The steps that prepare an item of the entity for reading; most entities need none."""
    if has_own(layout.entity, "upgrade"):
        yield upgrade_of(layout)
    if layout.storage.old_names:
        yield renames_of(layout)
    if any(not is_required(layout, name) for name in layout.keys[MAIN].fields):
        # Otherwise the field's default would hide the value in its key.
        yield layout.with_key_fields


def is_required(layout: Layout, name: str) -> bool:
    return layout.entity.model_fields[name].is_required()


def upgrade_of(layout: Layout) -> Preparation:
    entity = layout.entity

    def prepare(item: Item) -> Item:
        if not entity.is_outdated(item):
            return item
        try:
            return entity.upgrade(dict(item))
        except Exception as error:
            raise ItemMismatch(
                f"{layout.location_of(item)}: its upgrade raised {type(error).__name__}: {error}",
                item,
                entity,
            ) from error

    return prepare


def renames_of(layout: Layout) -> Preparation:
    pairs = [
        (old, layout.names[name])
        for name, names in layout.storage.old_names.items()
        for old in names
    ]

    def prepare(item: Item) -> Item:
        for old, new in pairs:
            if old in item:
                item = {name: value for name, value in item.items() if name != old} | (
                    {} if new in item else {new: item[old]}
                )
        return item

    return prepare


def key_sources(layout: Layout) -> dict[str, list[KeyPart]]:
    """The fields that can be read from keys, each with the parts that have it, main key first.

    An optional field is read from the main key only: a stale index key would bring back a value
    that has been removed.
    """
    sources: dict[str, list[KeyPart]] = {}
    for key in layout.keys.values():
        for part in key.parts:
            for name in part.template.fields:
                if name in part.template.lossy or layout.names[name] == part.attribute.name:
                    continue
                if key.index.name == MAIN or is_required(layout, name):
                    sources.setdefault(name, []).append(part)
    return sources


def field_in_keys(name: str, parts: Sequence[KeyPart], item: Item) -> Any:
    """A field decoded from the first key that has it; None if none does."""
    for part in parts:
        value = item.get(part.attribute.name)
        if value is not None:
            try:
                return part.parse(value)[name]
            except (KeyError, ValueError):
                continue
    return None


def defaulted_names(layout: Layout) -> frozenset[str]:
    """The attributes of fields with a default, which items older than the field lack.

    Sets are left out, because an empty one is never stored.
    """
    fields = layout.entity.model_fields
    names = (name for name in layout.names if not layout.forms[name].is_set)
    plain = (name for name in names if fields[name].default not in (None, PydanticUndefined))
    return frozenset(layout.names[name] for name in plain)


def known_names(layout: Layout) -> frozenset[str]:
    """The attributes that an entity declares, through its fields or its table."""
    old = (name for names in layout.storage.old_names.values() for name in names)
    fixed = filter(None, (layout.table.type_attribute, layout.table.schema_attribute))
    return frozenset({*layout.names.values(), *layout.table.indexed_names, *fixed, *old})
