"""Recognises which entity an item is, and decodes it to a typed value.

Entities share partitions, so a query may meet items of other entities. The type attribute tells
them apart, where the table has one and the index projects it; otherwise the main key does, which
is always projected and which no two entities can share.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

from bigtime.model.errors import DesignError
from bigtime.model.schema.keys import KeyPart
from bigtime.model.schema.layout import Layout
from bigtime.model.schema.neighbours import may_be_in
from bigtime.model.schema.table import MAIN, Index, Table
from bigtime.wire import Item

T = TypeVar("T")
Decode: TypeAlias = Callable[[Item], T]


class Reader(NamedTuple, Generic[T]):
    """Decodes items to values: `read` returns None for an item of another entity.

    `kinds` are the names of the entities it reads. `attributes` are those it needs, if not all;
    `fetches` says that it needs more than the index projects, which a local index allows.
    """

    kinds: tuple[str, ...]
    read: Decode[T | None]
    attributes: tuple[str, ...] = ()
    fetches: bool = False


def entity_reader(
    layouts: tuple[Layout, ...], index: Index, *, deleted: bool = True
) -> Reader[Any]:
    """Reads whole items of these entities; with `deleted=False`, skips the soft-deleted."""
    return reader_of(layouts, index.name, len(layouts[0].table.entities), deleted=deleted)


@lru_cache(maxsize=1024)
def reader_of(
    layouts: tuple[Layout, ...], name: str, entities: int, *, deleted: bool
) -> Reader[Any]:
    """The reader, cached until the table has more entities."""
    index = layouts[0].table.index(name)
    lacking = [layout for layout in layouts if not is_whole(layout, index)]
    if lacking and index.is_global:
        raise DesignError(
            f"index {index.name} of table {lacking[0].table.name} does not project all of"
            f" {lacking[0].entity.__name__}; declare a View with the fields it has, or let it"
            " project ALL"
        )
    decoders = {layout: decoder(layout, deleted=deleted) for layout in layouts}
    return Reader(
        tuple(layout.entity.__name__ for layout in layouts),
        make_recogniser(layouts[0].table, decoders, name),
        fetches=bool(lacking),
    )


def decoder(layout: Layout, *, deleted: bool) -> Decode[Any]:
    if deleted or layout.roles.deleted is None:
        return layout.from_item

    def read_living(item: Item) -> Any:
        entity = layout.from_item(item)
        return None if layout.is_deleted(entity) else entity

    return read_living


def make_recogniser(
    table: Table, decoders: Mapping[Layout, Decode[T]], index: str = MAIN
) -> Decode[T | None]:
    """A function that decodes an item as its own entity; None if it is none of these."""
    held = [entity for entity in table.entities if may_be_in(table.index(index), entity.layout)]
    if len(held) == 1 and table.type_attribute is None:
        return next(iter(decoders.values()))
    by_type = {name: decode for layout, decode in decoders.items() for name in layout.type_names}
    type_attribute = table.type_attribute or ""

    def read(item: Item) -> T | None:
        named = item.get(type_attribute)
        if named is not None:
            decode = by_type.get(named.get("S", ""))
        else:
            decode = next((each for layout, each in decoders.items() if owns(layout, item)), None)
        return None if decode is None else decode(item)

    return read


def layout_in(table: Table) -> Callable[[Item], Layout | None]:
    """A function that returns the layout of the entity that an item is, or None."""
    layouts = (entity.layout for entity in table.entities)
    return make_recogniser(table, {layout: always(layout) for layout in layouts})


def always(layout: Layout) -> Callable[[Item], Layout]:
    return lambda item: layout


def owns(layout: Layout, item: Item) -> bool:
    """Whether the item's main key matches the entity's templates."""
    if len(layout.table.entities) == 1:
        return True
    try:
        for part in layout.keys[MAIN].hash:
            # The items of a page share their partition, so checking it once is enough for all.
            check_partition(part, *item[part.attribute.name].items())
        for part in layout.keys[MAIN].range:
            part.parse(item[part.attribute.name])
    except (KeyError, ValueError):
        return False
    return True


@lru_cache(maxsize=1024)
def check_partition(part: KeyPart, *value: tuple[str, str]) -> None:
    part.parse(dict(value))


def hidden_in(table: Table) -> frozenset[str]:
    """The stored names of the secret fields of any entity in the table."""
    return frozenset(name for entity in table.entities for name in entity.layout.hidden)


def projected_names(table: Table, index: Index) -> frozenset[str] | None:
    """The stored names that an index projects; None when it projects all."""
    if index.projection == "ALL":
        return None
    keys = {attribute.name for attribute in (*table.main.attributes, *index.attributes)}
    return frozenset({*keys, *index.include})


def is_whole(layout: Layout, index: Index) -> bool:
    held = projected_names(layout.table, index)
    return held is None or held.issuperset(layout.names.values())


def key_of(table: Table, index: Index, item: Item) -> Item:
    """The item's key in an index and the table: what a query can start after."""
    return {
        attribute.name: item[attribute.name]
        for attribute in (*table.main.attributes, *index.attributes)
    }
