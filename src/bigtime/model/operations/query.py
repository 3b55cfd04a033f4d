"""Queries: the items of a key range within a partition, in sort key order.

    page = yield from query(Message.within("main", username="alex"), newest_first=True, limit=25)
    more = yield from query(..., after=page.position)

`limit` is the number of items wanted after filtering. A page has a position if more items follow.
A page that is not full is either the last one, and has no position, or ended because `patience`
requests found no more, and has one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypedDict, TypeVar, Unpack, overload

from bigtime.model.errors import DesignError
from bigtime.model.operations.op import Op
from bigtime.model.operations.page import PATIENCE, Page, PagedRead, Position, Taken, check_number
from bigtime.model.schema import (
    MAIN,
    Condition,
    Index,
    KeyRange,
    Layout,
    Placeholders,
    Reader,
    attr,
    check_bound,
    check_condition,
    check_within,
    is_alone,
    key_of,
    projected_names,
)
from bigtime.model.tracking import track
from bigtime.wire import Item, Request, Response, Steps

if TYPE_CHECKING:
    from bigtime.model.schema import View

T = TypeVar("T")
V = TypeVar("V", bound="View")


class ReadOptions(TypedDict, total=False):
    """How the items of a range are read."""

    newest_first: bool
    consistent: bool
    deleted: bool


class FilterOptions(ReadOptions, total=False):
    """The options of `all_of` besides the range and the view."""

    filter: Condition | None


class PageOptions(ReadOptions, total=False):
    """The options of `collection` besides the range and the entities."""

    limit: int | None
    after: Position | None
    patience: int


class QueryOptions(FilterOptions, PageOptions, total=False):
    """The options of `query` besides the range and the view."""


class Query(PagedRead[T], Generic[T]):
    """One query, page by page."""

    __slots__ = ("consistent", "filter", "newest_first", "within")

    verb = "query"
    operation = "Query"

    def __init__(
        self,
        within: KeyRange[T],
        *,
        newest_first: bool = False,
        limit: int | None = None,
        after: Position | None = None,
        filter: Condition | None = None,
        consistent: bool = False,
        patience: int = PATIENCE,
    ) -> None:
        super().__init__(limit=limit, after=after, patience=patience)
        check_consistent(within.index, consistent=consistent)
        check_condition(filter)
        self.within = within
        self.newest_first = newest_first
        self.filter = filter
        self.consistent = consistent

    def subject(self) -> str:
        within = self.within
        kinds = " | ".join(within.reader.kinds)
        return ", ".join([kinds, within.index.name, *within.condition_texts()])

    def parameters(self) -> dict[str, Any]:
        within = self.within
        if within.layout.tenant is not None:
            sought = {each.attribute: each.operands[0] for each in within.conditions}
            check_bound(within.layout, sought, within.index.name)
        marks = Placeholders(within.layout)
        params: dict[str, Any] = {"TableName": within.layout.table.name}
        if within.index.name != MAIN:
            params["IndexName"] = within.index.name
        conditions = [condition.render(marks) for condition in within.conditions]
        params["KeyConditionExpression"] = " AND ".join(conditions)
        if self.filter is not None:
            marks.attributes.clear()
            params["FilterExpression"] = self.filter.render(marks)
            check_filtered(within.layout, within.index, marks.attributes)
            check_no_key(within.index, marks.attributes)
        if within.reader.attributes:
            params["ProjectionExpression"] = ", ".join(map(marks.name, within.reader.attributes))
        elif within.reader.fetches:
            params["Select"] = "ALL_ATTRIBUTES"
        if self.newest_first:
            params["ScanIndexForward"] = False
        if self.consistent:
            params["ConsistentRead"] = True
        return {**params, **marks.parameters()}

    def fingerprint(self) -> str:
        return self.within.fingerprint(self.newest_first)

    @property
    def read(self) -> Callable[[Item], T | None]:
        return self.within.read if self.within.dropped else self.within.reader.read

    def key_of(self, item: Item) -> Item:
        return key_of(self.within.layout.table, self.within.index, item)


def check_consistent(index: Index, *, consistent: bool) -> None:
    if consistent and index.is_global and index.name != MAIN:
        raise DesignError(
            f"index {index.name} is global, and DynamoDB reads it eventually consistently only;"
            " leave consistent out, or ask the table"
        )


def check_filtered(layout: Layout, index: Index, attributes: set[str]) -> None:
    """Refuses a filter on attributes that the index does not project, unless it is a local one."""
    held = projected_names(layout.table, index)
    if held is None or not index.is_global or attributes <= held:
        return
    lacking = ", ".join(sorted(attributes - held))
    raise DesignError(
        f"index {index.name} does not hold {lacking}, so a filter on it would find nothing; let the"
        " index include it, or filter what is found"
    )


def check_no_key(index: Index, attributes: set[str]) -> None:
    for attribute in index.attributes:
        if attribute.name in attributes:
            where = "the table" if index.name == MAIN else f"index {index.name}"
            raise DesignError(
                f"{attribute.name} is a key of {where}, which DynamoDB does not filter; ask for it"
                " in within()"
            )


@overload
def query(within: KeyRange[T], **options: Unpack[QueryOptions]) -> Query[T]: ...
@overload
def query(within: KeyRange[Any], *, only: type[V], **options: Unpack[QueryOptions]) -> Query[V]: ...
@track
def query(
    within: KeyRange[Any],
    *,
    newest_first: bool = False,
    limit: int | None = None,
    after: Position | None = None,
    filter: Condition | None = None,
    only: type[View] | None = None,
    consistent: bool = False,
    deleted: bool = False,
    patience: int = PATIENCE,
) -> Query[Any]:
    """A page of the items within a range; without a limit, as many as one request returns.

    `only` reads a view instead of the entity. `deleted=True` also returns soft-deleted items.
    """
    check_within(within, "query")
    return Query(
        apply_view(within, only),
        newest_first=newest_first,
        limit=limit,
        after=after,
        filter=filter if deleted else exclude_deleted(within.layout, within.index, filter),
        consistent=consistent,
        patience=patience,
    )


def apply_view(within: KeyRange[Any], view: type[View] | None) -> KeyRange[Any]:
    return within if view is None else within.read_as(view.reader_in(within.index))


@overload
def all_of(within: KeyRange[T], **options: Unpack[FilterOptions]) -> Steps[list[T]]: ...
@overload
def all_of(
    within: KeyRange[Any], *, only: type[V], **options: Unpack[FilterOptions]
) -> Steps[list[V]]: ...
@track
def all_of(within: KeyRange[Any], **options: Any) -> Steps[list[Any]]:
    """All items within a range, however many requests that takes."""
    found: list[Any] = []
    position: Position | None = None
    while True:
        page: Page[Any] = yield from query(within, after=position, **options)
        found += page.items
        position = page.position
        if position is None:
            return found


class Count(Op[int]):
    """How many items a query finds; a value that builds its expressions once for all its runs."""

    __slots__ = ("made", "most", "query")

    verb = "count"

    def __init__(self, query: Query[Any], most: int | None) -> None:
        self.query = query
        self.most = most
        self.made: dict[str, Any] | None = None

    def subject(self) -> str:
        return self.query.subject()

    @property
    def parameters(self) -> dict[str, Any]:
        if self.made is None:
            self.made = {**self.query.parameters(), "Select": "COUNT"}
        return self.made

    def request(self) -> Request:
        return self.query.page_request(self.parameters, self.most, None)

    def decode(self, response: Response) -> int:
        total: int = response["Count"]
        return total

    def __iter__(self) -> Steps[int]:
        response = yield self.request()
        total = self.decode(response)
        while (start := response.get("LastEvaluatedKey")) is not None and total != self.most:
            missing = None if self.most is None else self.most - total
            response = yield self.query.page_request(self.parameters, missing, start)
            total += self.decode(response)
        return total


class ReadCount(Op[int]):
    """The same, where items must be read to know which of them count."""

    __slots__ = ("query",)

    verb = "count"

    def __init__(self, query: Query[Any]) -> None:
        self.query = query

    def subject(self) -> str:
        return self.query.subject()

    def request(self) -> Request:
        return self.query.request()

    def decode(self, response: Response) -> int:
        return len(self.query.decode(response))

    def __iter__(self) -> Steps[int]:
        if self.query.limit is not None:
            taken = yield from self.query.read_from(None, self.query.limit)
            return len(taken.found)
        total, taken = 0, Taken[Any](None)
        while not taken.ended:
            taken = yield from self.query.read_from(taken.last, None)
            total += len(taken.found)
        return total


@track
def count(
    within: KeyRange[Any],
    *,
    filter: Condition | None = None,
    consistent: bool = False,
    deleted: bool = False,
    most: int | None = None,
) -> Op[int]:
    """How many items are within a range; where possible, only counts cross the network.

    `most` is where to stop counting, if a larger number makes no difference.
    """
    check_within(within, "count")
    if most is not None:
        check_number("most", "items to count", most)
    layout, index, kinds = within.layout, within.index, within.reader.kinds
    alone = is_alone(layout, index.name)
    options: Any = {"consistent": consistent, "deleted": deleted}
    if within.dropped or not (alone or is_told(layout, index)):
        return ReadCount(query(within, limit=most, filter=filter, **options))
    condition = filter if alone else both(of_kinds(layout, kinds), filter)
    return Count(
        query(within.read_as(Reader(kinds, within.reader.read)), filter=condition, **options),
        most,
    )


def exclude_deleted(layout: Layout, index: Index, filter: Condition | None) -> Condition | None:
    """The filter, and the condition that the item is not soft-deleted."""
    name = layout.roles.deleted
    if name is None:
        return filter
    held = projected_names(layout.table, index)
    if held is not None and layout.names[name] not in held and index.is_global:
        raise DesignError(
            f"index {index.name} does not say which {layout.entity.__name__} was deleted; let it"
            f" include {layout.names[name]!r}, or ask with deleted=True"
        )
    return both(attr(name).missing(), filter)


def is_told(layout: Layout, index: Index) -> bool:
    """Whether the index projects an attribute that says which entity an item is."""
    attribute, held = layout.table.type_attribute, projected_names(layout.table, index)
    return attribute is not None and (held is None or attribute in held)


def of_kinds(layout: Layout, kinds: tuple[str, ...]) -> Condition:
    """The condition that an item's type attribute names one of these entities."""

    def render(marks: Placeholders) -> str:
        layouts = (entity.layout for entity in layout.table.entities if entity.__name__ in kinds)
        names = (name for each in layouts for name in each.type_names)
        listed = ", ".join(marks.value({"S": name}) for name in names)
        return f"{marks.name(layout.table.type_attribute or '')} IN ({listed})"

    return Condition(render)


def both(one: Condition, other: Condition | None) -> Condition:
    return one if other is None else one & other
