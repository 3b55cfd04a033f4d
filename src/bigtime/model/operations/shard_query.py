"""Write shards: one query over a partition that is split because it would be too hot.

A partition takes about a thousand writes a second. A key that gets more has a shard number
appended, which spreads its items over that many partitions:

    class Vote(Entity, table=POLLS):
        keys = Keys(main=..., ByPoll=("POLL#{poll}#{shard}", "{cast_at}"))
        poll: str
        voter: str
        cast_at: datetime
        shard: int = shard_field(10, by="voter")

    page = yield from gather(shards(Vote, "ByPoll", poll="best-deal"), limit=25)

The shard is computed from other fields when an entity is made, and stored with it. Reading queries
all shards and merges them by their sort key:

1. each shard is queried for an even share of the page, and a little more;
2. while every shard has an item waiting, or has ended, the first of the waiting items is next;
3. a shard whose items are used up is queried for as many again;
4. when the page is full and no shard has an item waiting, those that have not ended are queried
   for more, to find out whether there is a next page.

The position has the place in every shard, so that pages join up as they do in one partition. The
number of shards may grow: old items stay where they are, and are found there.

`merge` does the same with partitions that differ in something other than a shard, such as active
and inactive: `merge(Product.within("ActiveIndex", active=True), ..., limit=50)`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from bigtime.model.errors import DesignError
from bigtime.model.operations.op import random_bytes, together
from bigtime.model.operations.page import Page, Position, place_in
from bigtime.model.operations.query import Query, apply_view, query
from bigtime.model.schema import (
    Condition,
    Index,
    KeyRange,
    Sharding,
    check_within,
    fingerprint,
    key_in,
)
from bigtime.wire import Item, Steps, comparable

if TYPE_CHECKING:
    from bigtime.model.schema import Entity, View

T = TypeVar("T")
E = TypeVar("E", bound="Entity")
V = TypeVar("V", bound="View")


def any_shard(count: int) -> Steps[int]:
    """A random shard number, to read one of several copies."""
    drawn = yield from random_bytes(8)
    return int.from_bytes(drawn) % count


@dataclass(frozen=True, slots=True, eq=False)
class Shards(Generic[E]):
    """The partitions of an index that differ only in their shard."""

    entity: type[E]
    index: str
    fields: Mapping[str, Any]
    field: str
    count: int

    def at(self, shard: int) -> KeyRange[E]:
        return self.entity.within(self.index, **{**self.fields, self.field: shard})


def shards(entity: type[E], index: str, /, **fields: Any) -> Shards[E]:
    """The shards of an index: takes its partition's fields but the shard, and any sort fields."""
    key = key_in(entity.layout, index)
    found = [
        (name, sharding)
        for part in key.hash
        for name in part.template.fields
        if isinstance(sharding := entity.model_fields[name].default_factory, Sharding)
    ]
    if len(found) != 1:
        texts = ", ".join(repr(part.template.text) for part in key.hash)
        raise DesignError(
            f"{entity.__name__}: the partition key {texts} of index {index} has {len(found)} shard"
            " fields, and needs one: declare it with shard_field()"
        )
    name, sharding = found[0]
    if name in fields:
        raise DesignError(
            f"{entity.__name__}: {name} is what gather fills in; to ask one shard, use"
            f" {entity.__name__}.within"
        )
    return Shards(entity, index, fields, name, sharding.count)


@dataclass(slots=True, eq=False)
class Lane(Generic[T]):
    """One shard in the merge: items wait here until they are the first of all shards."""

    reading: Query[T]
    delivered: Item | None
    read: Item | None = None
    waiting: deque[tuple[Item, T]] = field(default_factory=deque)
    ended: bool = False

    def __post_init__(self) -> None:
        self.read = self.delivered

    @property
    def is_dry(self) -> bool:
        return not self.waiting and not self.ended

    @property
    def place(self) -> Item | None:
        """Where the next page continues."""
        return self.delivered if self.waiting else self.read

    def fill(self, share: int) -> Steps[None]:
        taken = yield from self.reading.read_from(self.read, share)
        self.waiting.extend(taken.found)
        self.read = taken.last
        self.ended = taken.ended

    def deliver(self) -> T:
        item, value = self.waiting.popleft()
        self.delivered = self.reading.key_of(item)
        return value


@overload
def gather(
    scattered: Shards[E],
    *,
    limit: int,
    newest_first: bool = ...,
    after: Position | None = ...,
    filter: Condition | None = ...,
) -> Steps[Page[E]]: ...
@overload
def gather(
    scattered: Shards[Any],
    *,
    limit: int,
    only: type[V],
    newest_first: bool = ...,
    after: Position | None = ...,
    filter: Condition | None = ...,
) -> Steps[Page[V]]: ...
def gather(
    scattered: Shards[Any],
    *,
    limit: int,
    newest_first: bool = False,
    after: Position | None = None,
    filter: Condition | None = None,
    only: type[View] | None = None,
) -> Steps[Page[Any]]:
    """A page of all shards together, in the order of their sort key."""
    withins = [apply_view(scattered.at(shard), only) for shard in range(scattered.count)]
    bound = withins[0].fingerprint("shards", scattered.count, newest_first)
    return (yield from in_order(withins, bound, limit, newest_first, after, filter))


def merge(
    *withins: KeyRange[T],
    limit: int,
    newest_first: bool = False,
    after: Position | None = None,
    filter: Condition | None = None,
) -> Steps[Page[T]]:
    """A page of several partitions of one index, in the order of its sort key."""
    for each in withins:
        check_within(each, "merge")
    places = {(within.layout.table.name, within.index.name) for within in withins}
    if len(places) != 1:
        raise DesignError("merge() takes stretches of one index, which is what orders them")
    bound = fingerprint("merged", [within.fingerprint(newest_first) for within in withins])
    return in_order(withins, bound, limit, newest_first, after, filter)


def in_order(
    withins: Sequence[KeyRange[T]],
    bound: str,
    limit: int,
    newest_first: bool,
    after: Position | None,
    filter: Condition | None,
) -> Steps[Page[T]]:
    """A page of all the ranges merged; `bound` is the fingerprint for its position."""
    readings: list[Query[T]] = [
        query(within, newest_first=newest_first, limit=limit, filter=filter) for within in withins
    ]
    place = place_in(after, bound)
    starts = place["shards"] if place else [None] * len(readings)
    lanes = [Lane(reading, start) for reading, start in zip(readings, starts, strict=True)]
    found = yield from merge_lanes(lanes, limit, newest_first=newest_first)
    if all(lane.ended and not lane.waiting for lane in lanes):
        return Page(found)
    return Page(found, Position(bound, {"shards": [lane.place for lane in lanes]}))


def merge_lanes(lanes: Sequence[Lane[T]], limit: int, *, newest_first: bool) -> Steps[list[T]]:
    """The first items of all lanes. Stops early when a lane's patience runs out."""
    index = lanes[0].reading.within.index
    first = max if newest_first else min
    share = limit // len(lanes) + 1
    found: list[T] = []
    while len(found) < limit:
        dry = [lane for lane in lanes if lane.is_dry]
        if dry:
            yield from together(*(lane.fill(share) for lane in dry))
        ready = [lane for lane in lanes if lane.waiting]
        if not ready or any(lane.is_dry for lane in dry):
            break
        foremost = first(ready, key=lambda lane: sort_key(index, lane.waiting[0][0]))
        found.append(foremost.deliver())
    if len(found) == limit and not any(lane.waiting for lane in lanes):
        yield from together(*(lane.fill(1) for lane in lanes if lane.is_dry))
    return found


def sort_key(index: Index, item: Item) -> tuple[Any, ...]:
    """The value by which items of different partitions are ordered."""
    return tuple(comparable(item[each.name]) for each in index.range)
