"""Item collections: several kinds of entity in one query.

    page = yield from collection(
        Customer, Order, within=partition(Customer, "main", username="alex"),
        newest_first=True, limit=11,
    )
    customer, *orders = page

Entities that share a partition come in the order of their sort keys, each as its own type. Given a
whole partition, only the range that they can occupy is read, from the first key that any of them
can have to the last; items of other entities in between are skipped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar, Unpack, overload

from bigtime.model.errors import DesignError
from bigtime.model.operations.page import PATIENCE, Position
from bigtime.model.operations.query import PageOptions, Query
from bigtime.model.schema import (
    EntityKey,
    KeyRange,
    Layout,
    SortBounds,
    check_within,
    entity_reader,
    fields_in_key,
    key_in,
    text_condition,
    whole_partition,
)
from bigtime.model.tracking import track

if TYPE_CHECKING:
    from bigtime.model.schema import Entity

A = TypeVar("A", bound="Entity")
B = TypeVar("B", bound="Entity")
C = TypeVar("C", bound="Entity")
E = TypeVar("E", bound="Entity")
T = TypeVar("T")


def partition(entity: type[E], index: str, /, **fields: Any) -> KeyRange[E]:
    """The whole partition of an index, found by one entity's fields, with all entities in it."""
    layout = entity.layout
    return whole_partition(
        layout, entity_reader((layout,), key_in(layout, index).index), index, fields
    )


@overload
def collection(
    one: type[A], two: type[B], /, *, within: KeyRange[Any], **options: Unpack[PageOptions]
) -> Query[A | B]: ...
@overload
def collection(
    one: type[A],
    two: type[B],
    three: type[C],
    /,
    *,
    within: KeyRange[Any],
    **options: Unpack[PageOptions],
) -> Query[A | B | C]: ...
@overload
def collection(
    *entities: type[E], within: KeyRange[Any], **options: Unpack[PageOptions]
) -> Query[E]: ...
@track
def collection(
    *entities: type[Any],
    within: KeyRange[Any],
    newest_first: bool = False,
    limit: int | None = None,
    after: Position | None = None,
    consistent: bool = False,
    deleted: bool = False,
    patience: int = PATIENCE,
) -> Query[Any]:
    """A page of the items of these entities within a range, each as its own type."""
    if not entities:
        raise DesignError(
            "a collection is of entities; name them, as in collection(Customer, Order, within=...)"
        )
    check_within(within, "collection")
    layouts = tuple(entity.layout for entity in entities)
    for layout in layouts:
        if layout.table is not within.layout.table:
            raise DesignError(
                f"{layout.entity.__name__} is in table {layout.table.name}, and a collection lies"
                f" in one: {within.layout.table.name}"
            )
        key_in(layout, within.index.name)
    reader = entity_reader(layouts, within.index, deleted=deleted)
    return Query(
        narrow(within, layouts).read_as(reader),
        newest_first=newest_first,
        limit=limit,
        after=after,
        consistent=consistent,
        patience=patience,
    )


def narrow(within: KeyRange[T], layouts: tuple[Layout, ...]) -> KeyRange[T]:
    """Narrows a whole partition to the range that these entities' keys can occupy."""
    index = within.index
    if len(within.conditions) > len(index.hash) or not index.range:
        return within
    keys = [layout.keys[index.name] for layout in layouts]
    spans = [span for key in keys if (span := span_in(within, key)) is not None]
    if not spans:
        return within
    condition, dropped = text_condition(keys[0].range[0], span_all(spans).condition())
    if condition is None:
        return within
    return replace(within, conditions=(*within.conditions, condition), dropped=dropped)


def span_in(within: KeyRange[Any], key: EntityKey) -> SortBounds | None:
    """The range of an entity's keys in a partition; None if it is never there."""
    fields = fields_in_key(
        key.hash, {condition.attribute: condition.operands[0] for condition in within.conditions}
    )
    if fields is None:
        return None
    vague = {name for part in key.hash for name in part.template.lossy}
    exact = {name: value for name, value in fields.items() if name not in vague}
    return key.range[0].span(exact)


def span_all(spans: Sequence[SortBounds]) -> SortBounds:
    """The smallest range that covers all of these."""
    lows = [span.low for span in spans if span.low is not None]
    highs = [(span.high, span.high_inclusive) for span in spans if span.high is not None]
    low = min(lows) if len(lows) == len(spans) else None
    high, inclusive = max(highs) if len(highs) == len(spans) else (None, True)
    return SortBounds(low, high, high_inclusive=inclusive)
