"""Time buckets: one query over many partitions.

A deal's index partition is its UTC day, so that no partition takes every write:
`GSI1=("DEALS#{created_at:day}", "DEAL#{deal_id}")`. Reading "the latest 25" therefore walks the
days that have deals, newest first, until it has enough. `list_buckets(Deal, "GSI1")` keeps the
list of these days:

1. the list is read from today, or from the day of the last deal that the reader has seen;
2. that day is bounded by the last deal seen, no other day is;
3. each day is queried for the deals still missing and one more, which shows that more follow;
4. when a page is full at the end of a day, the next day that has a deal shows that more follow.

    page = yield from newest_first(buckets(Deal, "GSI2", brand="APPLE"), limit=25, after=position)

So a page costs at most two requests more than the number of buckets that its items lie in, and it
has a position exactly if more follow. A listed bucket that is empty costs an extra request.
With a `filter`, which may exclude whole buckets, a page also ends after `PATIENCE` of them.

Days, hours and months work alike, and so does the other direction, up to today. A position
is a bucket and an item in it, so inserts and deletes in the meantime shift nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypedDict, TypeVar, Unpack, overload

from bigtime.model.errors import ConditionFailed, DesignError, ItemMissing
from bigtime.model.operations.bucket_list import (
    ENTRY_PREFIX,
    MARKED_FOR,
    BucketEntry,
    BucketList,
    list_of,
)
from bigtime.model.operations.delete import delete
from bigtime.model.operations.op import now
from bigtime.model.operations.page import PATIENCE, Page, Position, check_number, place_in
from bigtime.model.operations.query import Query, all_of, apply_view, query
from bigtime.model.operations.update import update
from bigtime.model.schema import (
    MAIN,
    Comparison,
    Condition,
    Encoding,
    KeyRange,
    Reader,
    at_least,
    at_most,
    attr,
    bare_type,
    key_value,
)
from bigtime.wire import AttributeValue, Item, Steps

if TYPE_CHECKING:
    from bigtime.model.schema import Entity, View

E = TypeVar("E", bound="Entity")
V = TypeVar("V", bound="View")

PreparedQuery: TypeAlias = tuple[Query[Any], Mapping[str, Any]]
"""A query and its parameters, built once; some values are replaced for each request."""

FIRST_MOMENT = datetime(1, 1, 1, tzinfo=UTC)
EXAMPLE_MOMENT = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, eq=False)
class Buckets(Generic[E]):
    """The partitions of an index that differ only in their time bucket."""

    entity: type[E]
    index: str
    fields: Mapping[str, Any]
    listed: BucketList
    field: str
    encoding: Encoding

    def at(self, moment: Any) -> KeyRange[E]:
        """The partition of one bucket."""
        return self.entity.within(self.index, **{**self.fields, self.field: moment})

    @cached_property
    def template_partition(self) -> KeyRange[E]:
        """One of the partitions, as a template; the others differ from it only in their key."""
        return self.at(self.encoding.decode(self.bucket_of(EXAMPLE_MOMENT)))

    @cached_property
    def shared_fields(self) -> dict[str, Any]:
        """The key fields that all the partitions share, validated by their types."""
        layout = self.entity.layout
        names = layout.keys[self.index].hash_fields
        return {
            name: layout.check_value(name, value)
            for name, value in self.fields.items()
            if name in names
        }

    @cached_property
    def prepared_queries(self) -> dict[bool, PreparedQuery]:
        """The query of the template partition, by direction."""
        return {
            way: prepare(query(self.template_partition, newest_first=way)) for way in (False, True)
        }

    @cached_property
    def prepared_list(self) -> dict[bool, PreparedQuery]:
        """The query of the bucket list, by direction: from a bucket onwards, or backwards."""
        return {
            False: self.list_query(at_least("0")),
            True: self.list_query(at_most("9")),
        }

    def list_query(self, bound: Comparison) -> PreparedQuery:
        series = self.listed.series(self.shared_fields)
        entries = self.listed.entry.within(MAIN, series=series, bucket=bound)
        reader = Reader((self.listed.entry.__name__,), self.read_entry)
        return prepare(query(entries.read_as(reader), newest_first=bound.operator == "<="))

    @cached_property
    def read_entry(self) -> Callable[[Item], str]:
        """A function that reads the bucket from an entry."""
        name = self.listed.entry.layout.names["bucket"]
        return lambda item: item[name]["S"]

    @cached_property
    def kind(self) -> type[date]:
        kind: type[date] = bare_type(self.entity.model_fields[self.field].annotation)
        return kind

    def query_of(self, parameters: Mapping[str, Any], bucket: str) -> dict[str, Any]:
        """The template query, moved to a bucket's partition; its values begin with the key."""
        values = parameters["ExpressionAttributeValues"]
        moved = {**values, **dict(zip(values, keys_in(self, bucket), strict=False))}
        return {**parameters, "ExpressionAttributeValues": moved}

    def after(self, *, newest_first: bool = True, **fields: Any) -> Position:
        """The position after the item with these fields, whether or not it exists."""
        layout = self.entity.layout
        known = {
            name: layout.check_value(name, value)
            for name, value in {**self.fields, **fields}.items()
        }
        key = self.key_of(known)
        bucket = self.encoding.encode(known[self.field])
        return self.position(bucket, key, newest_first=newest_first)

    def key_of(self, fields: Mapping[str, Any]) -> Item:
        """The key in the index of an item with these fields."""
        key: Item = {}
        for name in (MAIN, self.index):
            declared = self.entity.layout.keys[name]
            attributes = declared.attributes(fields)
            if attributes is None:
                lacking = [field for field in declared.fields if fields.get(field) is None]
                raise DesignError(f"{self.entity.__name__}: after also needs {', '.join(lacking)}")
            key |= attributes
        return key

    def position(self, bucket: str, key: Item | None, *, newest_first: bool) -> Position:
        return Position(self.fingerprints[newest_first], {"bucket": bucket, "key": key})

    def bucket_of(self, moment: date) -> str:
        """The bucket of a moment or a day, as written in keys."""
        return self.encoding.encode(as_kind(self.kind, moment))

    @cached_property
    def fingerprints(self) -> dict[bool, str]:
        """What cursors are bound to, by direction: a fingerprint of the template query."""
        return {way: self.template_partition.fingerprint("buckets", way) for way in (False, True)}


# A walk that begins today usually meets the same buckets as the walk before it.


@lru_cache(maxsize=8192)
def keys_in(walked: Buckets[Any], bucket: str) -> tuple[AttributeValue, ...]:
    """The partition key of a bucket."""
    fields = {**walked.shared_fields, walked.field: walked.encoding.decode(bucket)}
    return tuple(key_value(each, fields) for each in walked.entity.layout.keys[walked.index].hash)


def prepare(query: Query[Any]) -> PreparedQuery:
    return query, query.parameters()


def as_kind(kind: type[date], moment: date) -> date:
    """Converts a day to the moment it begins, or a moment to its day, in UTC."""
    if isinstance(moment, datetime) == issubclass(kind, datetime):
        return moment
    if isinstance(moment, datetime):
        return moment.astimezone(UTC).date()
    return datetime(moment.year, moment.month, moment.day, tzinfo=UTC)


def buckets(entity: type[E], index: str, /, **fields: Any) -> Buckets[E]:
    """The buckets of an index: takes its partition's fields but the time, and any sort fields."""
    listed = list_of(entity, index)
    bucketed = listed.field
    if bucketed.name in fields:
        raise DesignError(
            f"{entity.__name__}: {bucketed.name} is what the walk over {index} fills in; to ask one"
            f" bucket, use {entity.__name__}.within"
        )
    return Buckets(entity, index, fields, listed, bucketed.name, bucketed.encoding)


class WalkOptions(TypedDict, total=False):
    """The options of a walk besides the buckets, the limit and the view."""

    after: Position | None
    filter: Condition | None
    since: date | None
    until: date | None


class Direction:
    """Reads a page of items across buckets, in one direction."""

    __slots__ = ("newest_first",)

    def __init__(self, *, newest_first: bool) -> None:
        self.newest_first = newest_first

    @overload
    def __call__(
        self, walked: Buckets[E], *, limit: int, **options: Unpack[WalkOptions]
    ) -> Steps[Page[E]]: ...
    @overload
    def __call__(
        self, walked: Buckets[Any], *, limit: int, only: type[V], **options: Unpack[WalkOptions]
    ) -> Steps[Page[V]]: ...
    def __call__(
        self,
        walked: Buckets[Any],
        *,
        limit: int,
        after: Position | None = None,
        filter: Condition | None = None,
        only: type[View] | None = None,
        since: date | None = None,
        until: date | None = None,
    ) -> Steps[Page[Any]]:
        walk = Walk(walked, self.newest_first, limit, filter, only)
        return (yield from walk.steps(after, since, until))


newest_first = Direction(newest_first=True)
"""From today, or the bucket of `until`, back to that of `since` if given."""
oldest_first = Direction(newest_first=False)
"""From the oldest bucket, or that of `since`, to today or that of `until`."""


@dataclass(frozen=True, slots=True, eq=False)
class Walk:
    """The walk through the buckets for one page."""

    buckets: Buckets[Any]
    newest_first: bool
    limit: int
    filter: Condition | None
    only: type[View] | None

    def __post_init__(self) -> None:
        check_number("limit", "items wanted", self.limit)

    def steps(
        self, after: Position | None, since: date | None, until: date | None
    ) -> Steps[Page[Any]]:
        place = place_in(after, self.buckets.fingerprints[self.newest_first]) or {}
        query, parameters = self.prepare()
        begin, end = yield from self.ends(since, until)
        listed = ListedBuckets(self, place.get("bucket") or begin, end)
        found: list[Any] = []
        patience = None if self.filter is None else PATIENCE
        while (bucket := (yield from listed.next())) is not None:
            key = place["key"] if bucket == place.get("bucket") else None
            if listed.walked == patience:
                return Page(found, self.position(bucket, key))
            missing = self.limit - len(found)
            moved = self.buckets.query_of(parameters, bucket)
            taken = yield from query.read_from(key, missing + 1, moved)
            found += taken.values[:missing]
            if len(taken.found) > missing:
                last = query.key_of(taken.found[missing - 1][0]) if missing else key
                return Page(found, self.position(bucket, last))
            if not taken.ended:
                return Page(found, self.position(bucket, taken.last))
        return Page(found)

    def ends(self, since: date | None, until: date | None) -> Steps[tuple[str, str]]:
        """The first and last bucket of the walk: that of `since`, and that of `until` or today."""
        oldest = self.buckets.bucket_of(FIRST_MOMENT if since is None else since)
        newest = self.buckets.bucket_of((yield from now()))
        if until is not None:
            newest = min(newest, self.buckets.bucket_of(until))
        return (newest, oldest) if self.newest_first else (oldest, newest)

    def prepare(self) -> PreparedQuery:
        """The template query, with the filter and the view of this page."""
        if self.filter is None and self.only is None:
            return self.buckets.prepared_queries[self.newest_first]
        within = apply_view(self.buckets.template_partition, self.only)
        return prepare(query(within, newest_first=self.newest_first, filter=self.filter))

    def position(self, bucket: str, key: Item | None) -> Position:
        return self.buckets.position(bucket, key, newest_first=self.newest_first)


class ListedBuckets:
    """The listed buckets of a walk, one after the other; `walked` are those already returned."""

    def __init__(self, walk: Walk, first: str, last: str) -> None:
        self.query, parameters = walk.buckets.prepared_list[walk.newest_first]
        self.parameters = begun_at(parameters, first, newest_first=walk.newest_first)
        self.limit = walk.limit + 1  # a page spans at most `limit` buckets, and looks one ahead
        self.last = last
        self.is_beyond = str.__lt__ if walk.newest_first else str.__gt__
        self.names: list[str] = []
        self.walked = -1
        self.start: Item | None = None
        self.ended = self.is_beyond(first, last)

    def next(self) -> Steps[str | None]:
        self.walked += 1
        if not self.names and not self.ended:
            taken = yield from self.query.read_from(self.start, self.limit, self.parameters)
            self.names, self.start, self.ended = taken.values[::-1], taken.last, taken.ended
        if not self.names or self.is_beyond(self.names[-1], self.last):
            return None
        return self.names.pop()


def begun_at(parameters: Mapping[str, Any], bucket: str, *, newest_first: bool) -> dict[str, Any]:
    """The query of a bucket list, starting at a bucket.

    Where other items may share its partition, the list has two bounds: the bucket is the upper one
    of a walk backwards, and the lower one of a walk forwards.
    """
    values = parameters["ExpressionAttributeValues"]
    bound = {list(values)[-1 if newest_first else 1]: {"S": ENTRY_PREFIX + bucket}}
    return {**parameters, "ExpressionAttributeValues": {**values, **bound}}


# Empty buckets: removing them from the list of a series


def unlist_empty_buckets(walked: Buckets[Any]) -> Steps[int]:
    """Marks the entries of empty buckets, and deletes those marked two hours ago or earlier.

    For indexes that items leave, as orders leave a status; run it every hour or so. It queries each
    listed bucket, and returns how many were removed. See bucket_list for why this is safe.
    """
    whole = replace(walked, fields=walked.shared_fields)  # sort key bounds would hide items
    series = whole.listed.series(whole.shared_fields)
    entries = yield from all_of(whole.listed.entry.within(MAIN, series=series))
    unlisted = 0
    for entry in entries:
        if (yield from is_empty(whole, entry.bucket)):
            unlisted += yield from mark_or_delete(entry)
    return unlisted


def is_empty(walked: Buckets[Any], bucket: str) -> Steps[bool]:
    """Whether a bucket holds no item, not even a soft-deleted one."""
    partition = walked.at(walked.encoding.decode(bucket))
    items = Reader((walked.entity.__name__,), lambda item: item)
    page = yield from query(partition.read_as(items), limit=1, deleted=True)
    return not page.items and page.position is None


def mark_or_delete(entry: BucketEntry) -> Steps[bool]:
    """Marks or deletes an entry, unless its bucket was listed again; returns whether it is gone."""
    moment = yield from now()
    marked = attr("emptied_at")
    with suppress(ConditionFailed, ItemMissing):
        if entry.emptied_at is None:
            yield from update(entry.own_key(), emptied_at=moment, when=marked.missing())
        elif entry.emptied_at + MARKED_FOR <= moment:
            yield from delete(entry.own_key(), when=marked == entry.emptied_at)
            return True
    return False
