"""Scans: everything that a table or an index holds, in no meaningful order.

    page = yield from scan(User, index="UserIndex", limit=100)

A scan of everything runs in segments, which are read in parallel over a network, and passes each
page to the caller's own steps, so that memory use does not grow with the table:

    def tell(page: Page[User]) -> Steps[None]:
        yield from put_many([message_for(user) for user in page])

    yield from each_page(User, tell, index="UserIndex", segments=4)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from bigtime.model.errors import DesignError
from bigtime.model.operations.op import together
from bigtime.model.operations.page import PATIENCE, Page, PagedRead, Position
from bigtime.model.operations.query import (
    both,
    check_consistent,
    check_filtered,
    exclude_deleted,
    is_told,
    of_kinds,
)
from bigtime.model.schema import (
    MAIN,
    Condition,
    Index,
    Layout,
    Placeholders,
    Reader,
    check_bound,
    check_condition,
    entity_reader,
    fingerprint,
    key_in,
    key_of,
)
from bigtime.model.tracking import track
from bigtime.wire import Item, Steps

if TYPE_CHECKING:
    from bigtime.model.schema import Entity

T = TypeVar("T")
E = TypeVar("E", bound="Entity")

MAX_SEGMENTS = 1_000_000


class Scan(PagedRead[T], Generic[T]):
    """One scan, or one segment of it, page by page."""

    __slots__ = ("consistent", "filter", "index", "layout", "reader", "segment", "segments")

    verb = "scan"
    operation = "Scan"

    def __init__(
        self,
        layout: Layout,
        index: Index,
        reader: Reader[T],
        *,
        limit: int | None = None,
        after: Position | None = None,
        filter: Condition | None = None,
        consistent: bool = False,
        segment: int = 0,
        segments: int = 1,
        patience: int = PATIENCE,
    ) -> None:
        super().__init__(limit=limit, after=after, patience=patience)
        check_consistent(index, consistent=consistent)
        check_segments(segment, segments)
        check_condition(filter)
        self.layout = layout
        self.index = index
        self.reader = reader
        self.filter = filter
        self.consistent = consistent
        self.segment = segment
        self.segments = segments

    def subject(self) -> str:
        return f"{self.layout.entity.__name__}, {self.index.name}"

    def parameters(self) -> dict[str, Any]:
        check_bound(self.layout, None)
        marks = Placeholders(self.layout)
        params: dict[str, Any] = {"TableName": self.layout.table.name}
        if self.index.name != MAIN:
            params["IndexName"] = self.index.name
        if self.filter is not None:
            params["FilterExpression"] = self.filter.render(marks)
            check_filtered(self.layout, self.index, marks.attributes)
        if self.consistent:
            params["ConsistentRead"] = True
        if self.segments > 1:
            params |= {"Segment": self.segment, "TotalSegments": self.segments}
        return {**params, **marks.parameters()}

    def fingerprint(self) -> str:
        segment = [self.segment, self.segments]
        return fingerprint(self.layout.table.name, self.index.name, self.reader.kinds, segment)

    @property
    def read(self) -> Callable[[Item], T | None]:
        return self.reader.read

    def key_of(self, item: Item) -> Item:
        return key_of(self.layout.table, self.index, item)


def check_segments(segment: int, segments: int) -> None:
    if not 1 <= segments <= MAX_SEGMENTS or not 0 <= segment < segments:
        raise DesignError(
            f"a scan has 1 to {MAX_SEGMENTS:,} segments, counted from 0, not {segment} of"
            f" {segments}"
        )


@track
def scan(
    entity: type[E],
    *,
    index: str | None = None,
    limit: int | None = None,
    after: Position | None = None,
    filter: Condition | None = None,
    consistent: bool = False,
    deleted: bool = False,
    segment: int = 0,
    segments: int = 1,
    patience: int = PATIENCE,
) -> Scan[E]:
    """A page of an entity's items in its table, or in an index that holds some of them."""
    layout = entity.layout
    where = key_in(layout, index or MAIN).index
    sought = filter if deleted else exclude_deleted(layout, where, filter)
    if is_told(layout, where) and len(layout.table.entities) > 1:
        sought = both(of_kinds(layout, (entity.__name__,)), sought)
    return Scan(
        layout,
        where,
        entity_reader((layout,), where),
        limit=limit,
        after=after,
        filter=sought,
        consistent=consistent,
        segment=segment,
        segments=segments,
        patience=patience,
    )


@track
def each_page(
    entity: type[E],
    handler: Callable[[Page[E]], Steps[Any]],
    *,
    segments: int = 1,
    **options: Any,
) -> Steps[int]:
    """Passes every page of a scan to a handler's steps; returns the number of items.

    It takes the options of `scan`. Pages of one segment come one after the other, those of
    different segments in parallel.
    """
    check_segments(0, segments)
    counts = yield from together(
        *(
            every_page(entity, handler, segment=segment, segments=segments, **options)
            for segment in range(segments)
        )
    )
    return sum(counts)


def every_page(
    entity: type[E], handler: Callable[[Page[E]], Steps[Any]], **options: Any
) -> Steps[int]:
    """Passes the pages of one segment to a handler's steps, one after the other."""
    total, position = 0, None
    while True:
        page: Page[E] = yield from scan(entity, after=position, **options)
        if page.items:
            yield from handler(page)
        total += len(page)
        position = page.position
        if position is None:
            return total


@track
def scan_all(entity: type[E], *, segments: int = 1, **options: Any) -> Steps[list[E]]:
    """All items of an entity, if they fit in memory; it takes the options of `scan`."""
    found: list[E] = []

    def keep(page: Page[E]) -> Steps[None]:
        found.extend(page.items)
        return
        yield

    yield from each_page(entity, keep, segments=segments, **options)
    return found
