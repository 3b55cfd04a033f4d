"""Comparing tables item by item, while they are written to: of two stores, or of one.

Every item of the source is looked up in the target, and every key of the target in the source. An
item that differs may have changed between the two reads, so both are read again, a few hundred keys
at a time to save memory.

Where the target follows the source, the change may only be on its way: the streams are followed
further and the item is read again, a few times. An item that stays different while the source's did
not change is a difference; one that changed each time is "moving", and can be compared when the
writes have stopped.

Two regions are compared in the same way, and by their streams too. After a failover both may have
written an item: the old region before it was lost, without replicating it, and the new one since.
Once they are connected again the last writer wins, and the items are the same, so only the streams
(24 hours of them) show the conflict. A change is in the stream of each region, with its image,
unless that region already had a later one.
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, NamedTuple, TypeAlias

from bigtime.ops.table_copy import key_item, key_of, read_all
from bigtime.ops.table_settings import describe_table
from bigtime.ops.table_walk import TableWalk
from bigtime.store import Store
from bigtime.wire import (
    Identity,
    Item,
    Request,
    Response,
    TrimmedDataAccessException,
    equal,
    item_identity,
)

TRIES: Final = 6
PAUSE_SECONDS: Final = 0.5
MOST_SUSPECTS: Final = 500
BEFORE_SECONDS: Final = 3_600.0
"""How long before an epoch the old region may have made writes that were not replicated."""


class Kind(StrEnum):
    """Where an item is, or that both sides have it and it differs."""

    SOURCE = "only in the source"
    TARGET = "only in the target"
    CHANGED = "changed"


class Difference(NamedTuple):
    """An item that differs; if both sides have it, with the attributes that do."""

    table: str
    kind: str
    """A `Kind`; for regions, in their own words."""
    key: Item
    attributes: tuple[str, ...] = ()

    @property
    def item(self) -> str:
        """The item's key and what differs, for a person to read."""
        key = " ".join(str(value) for part in self.key.values() for value in part.values())
        return f"{key}  ({', '.join(self.attributes)})" if self.attributes else key


@dataclass(slots=True, eq=False, repr=False)
class Comparison:
    """Compares the tables whose keys are given, which may have other `names` in the target.

    `follow` applies new stream records to the target, if it follows the source at all.
    """

    source: Store
    target: Store
    keys: Mapping[str, Mapping[str, str]]
    _: KW_ONLY
    report: Callable[[Difference], None]
    names: Mapping[str, str] = field(default_factory=dict)
    follow: Callable[[], None] | None = None
    segments: int = 1
    seen: int = field(init=False, default=0)
    """Items of the source."""
    kinds: Counter[str] = field(init=False, default_factory=Counter)
    moving: int = field(init=False, default=0)
    # By identity: both walks find an item that was changed and then deleted.
    _suspects: dict[Identity, tuple[str, Item]] = field(init=False, default_factory=dict)
    _judging: threading.Lock = field(init=False, default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.names = {**{table: table for table in self.keys}, **self.names}

    @property
    def different(self) -> int:
        return self.kinds.total()

    def run(self, tell: Callable[[int], None] = lambda count: None) -> None:
        """Compares everything; `tell` is called with the number of source items so far."""
        there = TableWalk([*self.keys], self.segments)
        there.run(self.source, self.look_up_in_target, lambda: tell(there.seen))
        back = TableWalk([*self.names.values()], self.segments)
        back.run(self.target, self.look_up_in_source, lambda: tell(there.seen))
        self.seen = there.seen
        with self._judging:
            self.judge()

    def look_up_in_target(self, table: str, items: list[Item]) -> None:
        key = self.keys[table]
        found = read_all(self.target, self.names[table], key, items, table)
        self.suspect(
            table,
            [
                item
                for item in items
                if changed_attributes(item, found.get(item_identity(table, item, key)))
            ],
        )

    def look_up_in_source(self, name: str, items: list[Item]) -> None:
        table = next(table for table, other in self.names.items() if other == name)
        key = self.keys[table]
        found = read_all(self.source, table, key, items)
        self.suspect(
            table, [item for item in items if item_identity(table, item, key) not in found]
        )

    def suspect(self, table: str, items: list[Item]) -> None:
        if not items:
            return
        key = self.keys[table]
        with self._judging:
            for item in items:
                self._suspects[item_identity(table, item, key)] = table, key_item(key, item)
            if len(self._suspects) >= MOST_SUSPECTS:
                self.judge()

    def judge(self) -> None:
        """Reads suspects again until they are equal on both sides, or were read often enough."""
        suspects = [*self._suspects.values()]
        self._suspects.clear()
        found: dict[int, tuple[Item | None, Item | None]] = {}
        moved: set[int] = set()
        left = list(range(len(suspects)))
        for attempt in range(1 if self.follow is None else TRIES):
            if not left:
                return
            if attempt:
                self.source.sleep(PAUSE_SECONDS)
            if self.follow is not None:
                self.follow()
            still: list[int] = []
            for number, here, there in self.pairs(suspects, left):
                if not changed_attributes(here, there):
                    continue
                if number in found and changed_attributes(found[number][0], here):
                    moved.add(number)
                found[number] = here, there
                still.append(number)
            left = still
        self.moving += len(moved.intersection(left))
        for number in left:
            if number not in moved:
                self.count(difference_of(*suspects[number], *found[number]))

    def count(self, difference: Difference) -> None:
        self.kinds[difference.kind] += 1
        self.report(difference)

    def pairs(
        self, suspects: list[tuple[str, Item]], numbers: list[int]
    ) -> Iterator[tuple[int, Item | None, Item | None]]:
        """The suspects' items as they are now, in the source and in the target."""
        for table, key in self.keys.items():
            mine = [number for number in numbers if suspects[number][0] == table]
            wanted = [suspects[number][1] for number in mine]
            if not mine:
                continue
            # The source first: by then the target can only be newer.
            here = read_all(self.source, table, key, wanted)
            there = read_all(self.target, self.names[table], key, wanted, table)
            for number, item in zip(mine, wanted, strict=True):
                identity = item_identity(table, item, key)
                yield number, here.get(identity), there.get(identity)


def difference_of(table: str, key: Item, here: Item | None, there: Item | None) -> Difference:
    if here is None or there is None:
        return Difference(table, Kind.TARGET if here is None else Kind.SOURCE, key)
    return Difference(table, Kind.CHANGED, key, changed_attributes(here, there))


def changed_attributes(item: Item | None, other: Item | None) -> tuple[str, ...]:
    """The names of the attributes that differ; numbers are compared by value."""
    if item == other:
        return ()
    mine, others = item or {}, other or {}
    return tuple(
        name
        for name in sorted({*mine, *others})
        if name not in mine or name not in others or not equal(mine[name], others[name])
    )


# --- Regions ----------------------------------------------------------------------------------


class RegionPair(NamedTuple):
    """Two regions, with their stores."""

    names: tuple[str, str]
    stores: tuple[Store, Store]


def compare_items(pair: RegionPair, tables: Sequence[str]) -> Iterator[Difference]:
    """The items that still differ after some seconds."""
    first, second = pair.stores
    for table in tables:
        described = first.run(describe_table(table))
        assert described is not None
        found: list[Difference] = []
        keys = {table: key_of(described)}
        # Replication goes on between the reads: there is nothing to follow.
        Comparison(first, second, keys, report=found.append, follow=lambda: None).run()
        for difference in found:
            yield difference._replace(kind=kind_of(pair, difference))


def kind_of(pair: RegionPair, difference: Difference) -> str:
    if difference.kind == Kind.CHANGED:
        return "differs"
    return f"only in {pair.names[difference.kind == Kind.TARGET]}"


# --- What both have written -------------------------------------------------------------------


class Written(NamedTuple):
    """A change in a stream: when, and the item after it."""

    at: float
    image: str


Changes: TypeAlias = Mapping[str, Sequence[Written]]


def written_by_both(pair: RegionPair, table: str, since: datetime) -> list[Difference]:
    """The items that the second region wrote since then, without knowledge of the first's write."""
    second = since.replace(microsecond=0).timestamp()  # the precision of stream records
    old, new = (changes_in(store, table, second) for store in pair.stores)
    found = []
    for key in old.keys() & new.keys():
        if conflict := conflict_of(old[key], new[key], second):
            mine, theirs = (json.loads(write.image) for write in conflict)
            attributes = changed_attributes(mine, theirs)
            found.append(Difference(table, "both wrote", json.loads(key), attributes))
    return found


def conflict_of(
    old: Sequence[Written], new: Sequence[Written], since: float
) -> tuple[Written, Written] | None:
    """A write of each region, if one of the two was not replicated to the other region.

    Without a conflict every change is in both streams. Times may be whole seconds, so that the
    order of two equal ones is unknown: each rule takes what it cannot rule out.
    """
    times = {write.image: write.at for write in new}
    lost = [write for write in old if write.image not in times]
    arrived = [write for write in old if times.get(write.image, 0.0) >= max(since, write.at)]
    foreign = {write.image for write in arrived if times[write.image] > write.at}
    own = [write for write in new if write.at >= since and write.image not in foreign]
    known = {write.image for write in old}
    replaced = [write for write in own if write.image not in known]
    if lost and own:
        return lost[-1], own[-1]
    return (arrived[-1], replaced[-1]) if arrived and replaced else None


def changes_in(store: Store, table: str, since: float) -> Changes:
    """The changes from an hour before that time on, by the item's key."""
    found: dict[str, list[Written]] = {}
    arn: str = (store.run(describe_table(table)) or {}).get("LatestStreamArn", "")
    for shard in shards_of(store, arn) if arn else ():
        for record in records_of(store, arn, shard):
            change = record["dynamodb"]
            at = float(change["ApproximateCreationDateTime"])
            if at >= since - BEFORE_SECONDS:
                key = json.dumps(change["Keys"], sort_keys=True)
                image = json.dumps(change.get("NewImage"), sort_keys=True)
                found.setdefault(key, []).append(Written(at, image))
    return found


def shards_of(store: Store, arn: str) -> Iterator[str]:
    params: dict[str, Any] = {"StreamArn": arn}
    while True:
        page = store.send(Request("DescribeStream", params))["StreamDescription"]
        yield from (shard["ShardId"] for shard in page["Shards"])
        if "LastEvaluatedShardId" not in page:
            return
        params["ExclusiveStartShardId"] = page["LastEvaluatedShardId"]


def records_of(store: Store, arn: str, shard: str) -> Iterator[Response]:
    """The records of a shard so far; an open shard is read until nothing more comes."""
    start = {"StreamArn": arn, "ShardId": shard, "ShardIteratorType": "TRIM_HORIZON"}
    iterator = store.send(Request("GetShardIterator", start))["ShardIterator"]
    empty = 0
    while iterator and empty < 3:
        try:
            page = store.send(Request("GetRecords", {"ShardIterator": iterator}))
        except TrimmedDataAccessException:
            return
        yield from page["Records"]
        empty = 0 if page["Records"] else empty + 1
        iterator = page.get("NextShardIterator")
