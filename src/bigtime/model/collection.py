"""Item collections: several kinds of entity in one query.

    page = yield from collection(
        Customer, Order, within=partition(Customer, "main", username="alex"),
        newest_first=True, limit=11,
    )
    customer, *orders = page

Entities that share a partition come in the order of their sort keys, each as its own type. Items
of entities that are not named are passed over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, overload

from bigtime.model.errors import DesignError
from bigtime.model.page import PATIENCE, Position
from bigtime.model.query import Query
from bigtime.model.reader import entity_reader
from bigtime.model.within import Within, key_in
from bigtime.model.within import partition as whole_partition

if TYPE_CHECKING:
    from bigtime.model.entity import Entity

A = TypeVar("A", bound="Entity")
B = TypeVar("B", bound="Entity")
C = TypeVar("C", bound="Entity")
E = TypeVar("E", bound="Entity")


def partition(entity: type[E], index: str, /, **fields: Any) -> Within[E]:
    """The whole partition of an index in which the entity lies, with all its neighbours."""
    layout = entity.layout
    return whole_partition(
        layout, entity_reader((layout,), key_in(layout, index).index), index, fields
    )


@overload
def collection(
    one: type[A],
    two: type[B],
    /,
    *,
    within: Within[Any],
    newest_first: bool = ...,
    limit: int | None = ...,
    after: Position | None = ...,
    consistent: bool = ...,
    deleted: bool = ...,
    patience: int = ...,
) -> Query[A | B]: ...
@overload
def collection(
    one: type[A],
    two: type[B],
    three: type[C],
    /,
    *,
    within: Within[Any],
    newest_first: bool = ...,
    limit: int | None = ...,
    after: Position | None = ...,
    consistent: bool = ...,
    deleted: bool = ...,
    patience: int = ...,
) -> Query[A | B | C]: ...
@overload
def collection(
    *entities: type[E],
    within: Within[Any],
    newest_first: bool = ...,
    limit: int | None = ...,
    after: Position | None = ...,
    consistent: bool = ...,
    deleted: bool = ...,
    patience: int = ...,
) -> Query[E]: ...
def collection(
    *entities: type[Any],
    within: Within[Any],
    newest_first: bool = False,
    limit: int | None = None,
    after: Position | None = None,
    consistent: bool = False,
    deleted: bool = False,
    patience: int = PATIENCE,
) -> Query[Any]:
    """A page of the items of these entities within a stretch, each as its own type."""
    layouts = tuple(entity.layout for entity in entities)
    for layout in layouts:
        if layout.table is not within.layout.table:
            raise DesignError(
                f"{layout.entity.__name__} is in table {layout.table.name}, and a collection lies"
                f" in one: {within.layout.table.name}"
            )
        key_in(layout, within.index.name)
    return Query(
        within.read_as(entity_reader(layouts, within.index, deleted=deleted)),
        newest_first=newest_first,
        limit=limit,
        after=after,
        consistent=consistent,
        patience=patience,
    )
