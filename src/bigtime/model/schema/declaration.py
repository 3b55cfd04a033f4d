"""Declaring an entity: it is checked, compiled, and registered with its table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from pydantic import Field

from bigtime.model.errors import DesignError
from bigtime.model.schema.attribute import check_names, field_annotation, may_be_none, unwrap
from bigtime.model.schema.keys import Keys
from bigtime.model.schema.layout import Layout, Roles
from bigtime.model.schema.neighbours import check_neighbours, continued_by
from bigtime.model.schema.storage import Storage, check_storage
from bigtime.model.schema.table import MAIN, Table
from bigtime.model.schema.tenant import check_tenant_keys

if TYPE_CHECKING:
    from bigtime.model.schema.entity import Entity


def lay_out(entity: type[Entity], table: Table, keys: Keys, roles: Roles, storage: Storage) -> None:
    """Compiles an entity, checks it against its neighbours, and registers it with its table."""
    check_name(entity, table)
    check_rules(entity)
    check_shards(entity)
    layout = Layout(entity, table, keys, roles, storage)
    check_names(entity.__name__, layout.names)
    check_roles(layout)
    check_reserved(layout)
    check_storage(layout)
    entity.layout = layout
    others = [other.layout for other in table.entities]
    layout.compile(frozenset())
    check_unchanging(layout)
    check_whole_key(layout)
    check_tenant_keys(layout)
    check_unmapped(layout)
    check_kept_out(layout)
    try:
        for each in (*others, layout):
            compile_beside(each, [*others, layout], entity)
        check_neighbours(layout, others)
    except DesignError:
        for each in others:
            each.compile(continued_by(each, others))
        raise
    table.entities.append(entity)


def compile_beside(layout: Layout, layouts: list[Layout], newcomer: type[Entity]) -> None:
    before = layout.continued
    layout.compile(continued_by(layout, layouts))
    if layout.is_used and before != layout.continued:
        raise DesignError(
            f"{newcomer.__name__} continues a key of {layout.entity.__name__}, which is in use"
            " already; declare all entities of a table before using any"
        )


def check_name(entity: type[Entity], table: Table) -> None:
    """Refuses a second entity of that name: items and positions identify their entity by it."""
    if any(other.__name__ == entity.__name__ for other in table.entities):
        raise DesignError(
            f"table {table.name} has an entity {entity.__name__} already; rename one of them"
        )


def check_shards(entity: type[Entity]) -> None:
    """Refuses a shard that depends on a field declared after it."""
    known: set[str] = set()
    for name, field in entity.model_fields.items():
        sharding = field.default_factory
        later = [each for each in getattr(sharding, "by", ()) if each not in known]
        if isinstance(sharding, Sharding) and later:
            raise DesignError(
                f"{entity.__name__}.{name} goes by {', '.join(later)}, which has to be declared"
                " before it"
            )
        known.add(name)


def check_rules(entity: type[Entity]) -> None:
    """Refuses validation outside a field's type: keys and updates are checked by the type alone."""
    for name in entity.model_fields:
        if name in OWN_NAMES:
            raise DesignError(f"{entity.__name__}.{name}: every entity has a {name}; rename it")
    decorators = entity.__pydantic_decorators__
    decorated = [
        *(field_validator.info.fields for field_validator in decorators.field_validators.values()),
        *(validator.info.fields for validator in decorators.validators.values()),
    ]
    if decorated:
        names = ", ".join(name for fields in decorated for name in fields)
        raise DesignError(
            f"{entity.__name__}: a decorator checks {names}, but not in keys and updates; write it"
            " into the type, as in Annotated[str, AfterValidator(check)]"
        )
    if entity.model_config.get("extra") != "forbid":
        raise DesignError(
            f"{entity.__name__}: extra={entity.model_config.get('extra')!r} would take fields that"
            " nothing stores; declare the field, or one of type dict[str, Any] for all of them"
        )
    for option in ("str_strip_whitespace", "str_to_lower", "str_to_upper"):
        if entity.model_config.get(option):
            raise DesignError(
                f"{entity.__name__}: {option} would not apply to keys and updates; write it into"
                " the type, as in Annotated[str, StringConstraints(to_lower=True)]"
            )


OWN_NAMES = (
    "keys",
    "layout",
    "key",
    "key_of",
    "own_key",
    "within",
    "from_item",
    "to_item",
    "is_outdated",
    "upgrade",
)


def check_roles(layout: Layout) -> None:
    entity = layout.entity
    for role, name in layout.roles.field_names().items():
        if name not in layout.names:
            raise DesignError(f"{entity.__name__}: {role}={name!r} is not one of its fields")
        wanted = int if role == "version" else datetime
        annotation = field_annotation(entity, name)
        if unwrap(annotation)[0] is not wanted:
            raise DesignError(
                f"{entity.__name__}.{name}: {role} must be of type {wanted.__name__}; declare it"
                f" as `{name}: {wanted.__name__} | None = None`"
            )
        if role == "deleted" and not may_be_none(annotation):
            raise DesignError(
                f"{entity.__name__}.{name}: {role} must be None while it is not; declare it as"
                f" `{name}: datetime | None = None`"
            )


def check_reserved(layout: Layout) -> None:
    """Refuses fields that misuse an attribute with a meaning for the whole table."""
    entity, table = layout.entity, layout.table
    for name, stored in layout.names.items():
        where = f"{entity.__name__}.{name} is stored as {stored!r}"
        if stored == table.type_attribute:
            raise DesignError(f"{where}, which says what an item is; rename one of the two")
        if stored == table.schema_attribute:
            raise DesignError(f"{where}, which has the version of an item; rename one of the two")
        if stored == table.ttl and layout.declared_forms[name].tag != "N":
            raise DesignError(
                f"{where}, by which items expire, and must be a number of seconds; declare it as"
                " Annotated[datetime, EpochSeconds]"
            )


def check_unchanging(layout: Layout) -> None:
    """Refuses a main key with fields that operations fill in: a main key never changes."""
    for role, name in update_roles(layout.roles):
        if name in layout.keys[MAIN].fields:
            raise DesignError(
                f"{layout.entity.__name__}: {role}={name!r} changes with every write, and the main"
                " key, of which it is a part, never does"
            )


def check_whole_key(layout: Layout) -> None:
    """Refuses a main key with a field that may be None: an item always has its whole main key."""
    for name in layout.keys[MAIN].fields:
        if may_be_none(field_annotation(layout.entity, name)):
            raise DesignError(
                f"{layout.entity.__name__}.{name} may be None, and the main key is made of it;"
                f" declare it without None"
            )


def check_unmapped(layout: Layout) -> None:
    """Refuses items that would be in an index by accident: it holds whatever has its attributes.

    An inverted index, on the table's own key attributes, holds every item on purpose.
    """
    stored = {name: layout.forms[field].tag for field, name in layout.names.items()}
    main = {attribute.name: attribute.type for attribute in layout.table.main.attributes}
    held = {**stored, **main}
    for index in layout.table.indexes:
        if index.name in layout.keys or all(
            attribute.name in main for attribute in index.attributes
        ):
            continue
        if all(attribute.name in held for attribute in index.attributes):
            raise DesignError(
                f"{layout.entity.__name__} has all key attributes of index {index.name}, which"
                " would hold it; give it a key there, or rename a field"
            )
        for each in index.attributes:
            if held.get(each.name, each.type) != each.type:
                raise DesignError(
                    f"{layout.entity.__name__}: {each.name} is a key of index {index.name} and of"
                    f" type {each.type}, not {held[each.name]}; rename the field"
                )


def check_kept_out(layout: Layout) -> None:
    """Refuses an index with a `when` if it has no attribute that can be left out."""
    others = {*layout.table.key_names, *layout.names.values()}
    for key in layout.keys.values():
        names = {part.attribute.name for part in key.parts} - others
        for other in layout.keys.values():
            if other.only != key.only:
                names -= {part.attribute.name for part in other.parts}
        if key.only and not names:
            raise DesignError(
                f"{layout.entity.__name__}: index {key.index.name} holds it whatever when() says,"
                " for all its key attributes are written anyway; give the index one that is"
                " neither a field nor a key of another index"
            )


def update_roles(roles: Roles) -> Iterator[tuple[str, str]]:
    return ((role, name) for role, name in roles.field_names().items() if role != "created")


@dataclass(frozen=True, slots=True, eq=False)
class Sharding:
    """How an item's shard is computed from its other fields."""

    count: int
    by: tuple[str, ...]
    round_robin: bool

    def __call__(self, fields: dict[str, Any]) -> int:
        if self.round_robin:
            return int(fields[self.by[0]]) % self.count
        text = "\0".join(plain_text(fields[name]) for name in self.by)
        return int.from_bytes(sha256(text.encode()).digest()[:8]) % self.count


def plain_text(value: Any) -> str:
    return str(value.value if isinstance(value, Enum) else value)


def shard_field(count: int, *, by: str | Sequence[str], round_robin: bool = False) -> Any:
    """A field that holds an item's shard: `shard: int = shard_field(10, by="voter")`.

    The shard is a hash of other fields, which must be declared before it; with `round_robin`, it
    follows a number that counts up.
    """
    names = (by,) if isinstance(by, str) else tuple(by)
    if count < 1 or not names or (round_robin and len(names) > 1):
        raise DesignError("shard_field takes a number of shards, and fields to go by")
    return Field(default_factory=Sharding(count, names, round_robin), ge=0, lt=count)
