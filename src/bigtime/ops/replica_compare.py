"""What differs between two regions, and what both have written since the writer changed.

1. Every item of a region is looked up in the other, and the other way round. What differs may be
   on its way: it is looked at again for a while.
2. After a failover both regions may have written an item: the old one what had not been replicated
   when it was lost, the new one since. Once they are connected again the last writer wins, and the
   items are the same, so it is the streams that tell (24 hours of them).

A change is in the stream of each region, with its image; it was made in the region that had it
first, or that alone has it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple, TypeAlias

from bigtime.ops.comparison import same
from bigtime.ops.restore_compare import changed_in
from bigtime.ops.stream_copy import read_all
from bigtime.ops.table_copy import key_of, live_table
from bigtime.ops.table_walk import scan_pages
from bigtime.store import Store
from bigtime.wire import Item, Request, Response, TrimmedDataAccessException, item_identity

PAGE: Final = 100
LOOK_SECONDS: Final = 0.5
BEFORE_SECONDS: Final = 3_600.0
"""How long before an epoch the old region may have written what had not been replicated."""


class RegionDifference(NamedTuple):
    """An item that is in one region only, that differs, or that both regions have written."""

    table: str
    kind: str
    key: Item
    attributes: tuple[str, ...] = ()


class Pair(NamedTuple):
    """Two regions, with their stores."""

    names: tuple[str, str]
    stores: tuple[Store, Store]


# --- Items ------------------------------------------------------------------------------------


def compare_items(
    pair: Pair,
    table: str,
    *,
    patience_seconds: float,
    sleep: Callable[[float], None] = time.sleep,
    count: Callable[[int], None] = lambda _: None,
) -> list[RegionDifference]:
    """The items of a table that stay different for as long as one is patient."""
    described = live_table(pair.stores[0], table)
    assert described is not None
    keys = key_of(described)
    suspects = list(suspect_keys(pair, table, keys, count))
    end = time.monotonic() + patience_seconds
    while True:
        found = list(differing(pair, table, keys, suspects))
        if not found or time.monotonic() >= end:
            return found
        suspects = [difference.key for difference in found]
        sleep(LOOK_SECONDS)


def suspect_keys(
    pair: Pair, table: str, keys: dict[str, str], count: Callable[[int], None]
) -> Iterator[Item]:
    """The keys of items that are not the same at first sight."""
    params = {"TableName": table, "ConsistentRead": True, "Limit": PAGE}
    first, second = pair.stores
    for items, _ in scan_pages(first, params, None):
        count(len(items))
        there = read_all(second, table, keys, items)
        for item in items:
            if not same(item, there.get(item_identity(table, item, keys))):
                yield {name: item[name] for name in keys}
    for items, _ in scan_pages(second, params, None):
        here = read_all(first, table, keys, items)
        for item in items:
            if item_identity(table, item, keys) not in here:
                yield {name: item[name] for name in keys}


def differing(
    pair: Pair, table: str, keys: dict[str, str], suspects: Sequence[Item]
) -> Iterator[RegionDifference]:
    first, second = (read_all(store, table, keys, list(suspects)) for store in pair.stores)
    for key in suspects:
        identity = item_identity(table, key, keys)
        here, there = first.get(identity), second.get(identity)
        if here is None and there is None:
            continue
        if here is None or there is None:
            where = pair.names[0] if there is None else pair.names[1]
            yield RegionDifference(table, f"only in {where}", key)
        elif not same(here, there):
            yield RegionDifference(table, "differs", key, changed_in(here, there))


# --- What both have written -------------------------------------------------------------------


class Written(NamedTuple):
    """A change in a stream: when, and the item after it."""

    at: float
    image: str


Changes: TypeAlias = Mapping[str, Sequence[Written]]


def written_by_both(pair: Pair, table: str, since: datetime) -> list[RegionDifference]:
    """The items that the second region has written since then, and the first one unseen by it."""
    old, new = (changes_in(store, table, since.timestamp()) for store in pair.stores)
    found = []
    for key in old.keys() & new.keys():
        late = late_writes(old[key], new[key], since.timestamp())
        own = own_writes(new[key], old[key], since.timestamp())
        if late and own:
            mine, theirs = json.loads(late[-1].image), json.loads(own[-1].image)
            attributes = changed_in(mine or {}, theirs or {})
            found.append(RegionDifference(table, "both wrote", json.loads(key), attributes))
    return found


def late_writes(old: Sequence[Written], new: Sequence[Written], since: float) -> list[Written]:
    """What the old region wrote itself, and the new one did not have when it began to write."""
    arrived = {each.image for each in new if each.at < since}
    return [each for each in old if each.image not in arrived and is_first(each, new)]


def own_writes(new: Sequence[Written], old: Sequence[Written], since: float) -> list[Written]:
    return [each for each in new if each.at >= since and is_first(each, old)]


def is_first(write: Written, others: Sequence[Written]) -> bool:
    """Whether the other region has the same later, or not at all."""
    return all(other.at > write.at for other in others if other.image == write.image)


def changes_in(store: Store, table: str, since: float) -> Changes:
    """The changes since an hour before, by the item's key."""
    found: dict[str, list[Written]] = {}
    arn: str = (live_table(store, table) or {}).get("LatestStreamArn", "")
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
    """The records of a shard up to now: of an open one, until nothing comes."""
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
