"""What differs between two regions, and what both have written since the writer changed.

1. Every item of a region is looked up in the other, and the other way round (comparison.py). What
   differs may be on its way: it is looked at again for some seconds.
2. After a failover both regions may have written an item: the old one what had not been replicated
   when it was lost, the new one since. Once they are connected again the last writer wins, and the
   items are the same, so it is the streams that tell (24 hours of them).

A change is in the stream of each region, with its image, unless a later one was there already.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple, TypeAlias

from bigtime.ops.comparison import Comparison, Difference, Kind, changed_attributes
from bigtime.ops.table_copy import key_of
from bigtime.ops.table_settings import describe_table
from bigtime.store import Store
from bigtime.wire import Request, Response, TrimmedDataAccessException

BEFORE_SECONDS: Final = 3_600.0
"""How long before an epoch the old region may have written what had not been replicated."""


class Pair(NamedTuple):
    """Two regions, with their stores."""

    names: tuple[str, str]
    stores: tuple[Store, Store]


# --- Items ------------------------------------------------------------------------------------


def compare_items(pair: Pair, tables: Sequence[str]) -> Iterator[Difference]:
    """The items that differ, and stay so for some seconds."""
    first, second = pair.stores
    for table in tables:
        described = first.run(describe_table(table))
        assert described is not None
        found: list[Difference] = []
        keys = {table: key_of(described)}
        # What is looked at again is replicated meanwhile: there is nothing to follow.
        Comparison(first, second, keys, report=found.append, follow=lambda: None).run()
        for difference in found:
            yield difference._replace(kind=kind_of(pair, difference))


def kind_of(pair: Pair, difference: Difference) -> str:
    if difference.kind == Kind.CHANGED:
        return "differs"
    return f"only in {pair.names[difference.kind == Kind.TARGET]}"


# --- What both have written -------------------------------------------------------------------


class Written(NamedTuple):
    """A change in a stream: when, and the item after it."""

    at: float
    image: str


Changes: TypeAlias = Mapping[str, Sequence[Written]]


def written_by_both(pair: Pair, table: str, since: datetime) -> list[Difference]:
    """The items that the second region has written since then, and the first one unseen by it."""
    second = since.replace(microsecond=0).timestamp()  # as streams have it
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
    """A write of either region, of which one was not taken over by the other.

    Without a conflict every change is in both streams. Times may be whole seconds, so that of two
    equal ones it is not known which was first: each rule takes what it cannot exclude.
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
    """The changes since an hour before, by the item's key."""
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
