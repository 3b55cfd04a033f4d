"""Shards of a stream, their lineage, and streams that are switched off and on."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigtime.wire import Item, ResourceNotFoundException, Response
from tests.engine.calls import call, make_table, n, s
from tests.engine.streams import HOUR, SHARD_HOURS, Streaming, images_of, names

# --- Iterators ----------------------------------------------------------------------------------


# --- Shards -------------------------------------------------------------------------------------


def test_a_closed_shard_ends_and_its_child_goes_on(single: Streaming) -> None:
    single.put("a")
    single.pass_hours(SHARD_HOURS)
    single.put("b")
    parent, child = single.shards()
    assert "ParentShardId" not in parent and child["ParentShardId"] == parent["ShardId"]
    assert "EndingSequenceNumber" in parent["SequenceNumberRange"]
    assert "EndingSequenceNumber" not in child["SequenceNumberRange"]
    last = call(single.engine, "GetRecords", ShardIterator=single.iterator(parent["ShardId"]))
    assert names(last["Records"]) == ["a"] and "NextShardIterator" not in last
    ongoing = call(single.engine, "GetRecords", ShardIterator=single.iterator(child["ShardId"]))
    assert names(ongoing["Records"]) == ["b"] and "NextShardIterator" in ongoing


def test_a_shard_without_records_closes_too(single: Streaming) -> None:
    waiting = single.iterator(single.shards()[0]["ShardId"], "LATEST")
    single.clock.now += 600
    single.clock.now += SHARD_HOURS * HOUR - 1200
    waiting = single.iterator(single.shards()[0]["ShardId"], "LATEST")
    single.pass_hours(600 / HOUR)
    assert call(single.engine, "GetRecords", ShardIterator=waiting) == {"Records": []}


def test_children_can_be_asked_for(notes: Streaming) -> None:
    notes.pass_hours(SHARD_HOURS)
    parents = [shard for shard in notes.shards() if "ParentShardId" not in shard]
    assert len(parents) == 4
    for parent in parents:
        described = call(
            notes.engine,
            "DescribeStream",
            StreamArn=notes.arn,
            ShardFilter={"Type": "CHILD_SHARDS", "ShardId": parent["ShardId"]},
        )["StreamDescription"]
        (child,) = described["Shards"]
        assert child["ParentShardId"] == parent["ShardId"]


def test_a_closed_shard_is_shown_for_a_day(single: Streaming) -> None:
    first = single.shards()[0]["ShardId"]
    # Nobody had the file open for two days: the shard closes only now.
    single.pass_hours(48)
    assert first in [shard["ShardId"] for shard in single.shards()]
    single.pass_hours(23)
    assert first in [shard["ShardId"] for shard in single.shards()]
    single.pass_hours(1)
    assert first not in [shard["ShardId"] for shard in single.shards()]


def test_shards_and_streams_are_listed_page_by_page(notes: Streaming) -> None:
    for _ in range(3):
        notes.pass_hours(SHARD_HOURS)
    whole = notes.shards()
    assert len(whole) == 16
    listed: list[Response] = []
    params: dict[str, Any] = {"StreamArn": notes.arn, "Limit": 3}
    while True:
        page = call(notes.engine, "DescribeStream", **params)["StreamDescription"]
        listed.extend(page["Shards"])
        if "LastEvaluatedShardId" not in page:
            break
        params["ExclusiveStartShardId"] = page["LastEvaluatedShardId"]
    assert listed == whole
    for number in range(3):
        make_table(
            notes.engine,
            {"p": "S"},
            name=f"more-{number}",
            keys=("p",),
            StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"},
        )
    first = call(notes.engine, "ListStreams", Limit=3)
    rest = call(
        notes.engine, "ListStreams", ExclusiveStartStreamArn=first["LastEvaluatedStreamArn"]
    )
    everything = call(notes.engine, "ListStreams")
    assert first["Streams"] + rest["Streams"] == everything["Streams"]
    assert "LastEvaluatedStreamArn" not in rest
    (only,) = call(notes.engine, "ListStreams", TableName="more-1")["Streams"]
    assert only["TableName"] == "more-1"


# --- Switching off and on -----------------------------------------------------------------------


def test_a_stream_switched_off_is_readable_for_a_day(notes: Streaming) -> None:
    notes.put("a")
    arn = notes.arn
    notes.switch_off()
    notes.put("b")
    described = call(notes.engine, "DescribeStream", StreamArn=arn)["StreamDescription"]
    assert described["StreamStatus"] == "DISABLED"
    assert all(
        "EndingSequenceNumber" in shard["SequenceNumberRange"] for shard in described["Shards"]
    )
    assert names(notes.records(arn)) == ["a"]
    notes.pass_hours(23)
    assert names(notes.records(arn)) == ["a"]
    notes.pass_hours(1)
    with pytest.raises(ResourceNotFoundException):
        call(notes.engine, "DescribeStream", StreamArn=arn)


def test_a_stream_switched_on_again_is_another(notes: Streaming) -> None:
    notes.put("a")
    first = notes.arn
    notes.switch_off()
    notes.put("b")
    notes.switch_on("KEYS_ONLY")
    notes.put("c")
    assert notes.arn != first
    assert names(notes.records(first)) == ["a"]
    assert names(notes.records()) == ["c"]
    listed = call(notes.engine, "ListStreams", TableName="notes")["Streams"]
    assert {each["StreamArn"] for each in listed} == {first, notes.arn}


def test_the_stream_of_a_deleted_table_outlives_it(notes: Streaming) -> None:
    notes.put("a")
    arn = notes.arn
    call(notes.engine, "DeleteTable", TableName="notes")
    assert names(notes.records(arn)) == ["a"]
    # A deleted table leaves no record for each of its items.
    notes.switch_on("NEW_IMAGE", create=True)
    notes.put("b")
    assert names(notes.records(arn)) == ["a"]
    assert names(notes.records()) == ["b"]
    notes.pass_hours(24)
    with pytest.raises(ResourceNotFoundException):
        call(notes.engine, "DescribeStream", StreamArn=arn)


# --- A consumer that walks lineage --------------------------------------------------------------


class Consumer:
    """Reads parents to their end before their children, as a real one has to."""

    def __init__(self, notes: Streaming) -> None:
        self.notes = notes
        self.iterators: dict[str, str] = {}
        self.finished: set[str] = set()
        self.changes: dict[str, list[tuple[str, Item | None, Item | None]]] = defaultdict(list)
        self.ids: list[str] = []

    def poll(self, limit: int) -> None:
        for shard in self.notes.shards():
            name = shard["ShardId"]
            parent = shard.get("ParentShardId")
            if name not in self.iterators and (parent is None or parent in self.finished):
                self.iterators.setdefault(name, self.notes.iterator(name))
        for name, iterator in list(self.iterators.items()):
            if name not in self.finished:
                self.read(name, iterator, limit)

    def read(self, name: str, iterator: str, limit: int) -> None:
        page = call(self.notes.engine, "GetRecords", ShardIterator=iterator, Limit=limit)
        for record in page["Records"]:
            self.ids.append(record["eventID"])
            self.changes[record["dynamodb"]["Keys"]["p"]["S"]].append(images_of(record))
        if "NextShardIterator" in page:
            self.iterators[name] = page["NextShardIterator"]
        else:
            self.finished.add(name)


steps = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.sampled_from("abcdef"), st.integers(0, 3)),
        st.tuples(st.just("delete"), st.sampled_from("abcdef"), st.just(0)),
        st.tuples(st.just("poll"), st.just(""), st.integers(1, 5)),
        st.tuples(st.just("rotate"), st.just(""), st.just(0)),
    ),
    max_size=40,
)


@given(steps, st.integers(1, 5))
def test_a_consumer_that_walks_lineage_sees_each_change_once(
    script: list[tuple[str, str, int]], shards: int
) -> None:
    # Every shard is old enough to close each time the house is tidied.
    notes = Streaming(shards=shards, shard_seconds=0.0)
    with notes.engine:
        consumer = Consumer(notes)
        items: dict[str, Item] = {}
        expected: dict[str, list[tuple[str, Item | None, Item | None]]] = defaultdict(list)
        for step, p, number in script:
            old = items.get(p)
            if step == "put":
                new = {"p": s(p), "x": n(number)}
                notes.put(p, x=n(number))
                if new != old:
                    expected[p].append(("MODIFY" if old else "INSERT", old, new))
                items[p] = new
            elif step == "delete":
                notes.delete(p)
                if items.pop(p, None):
                    expected[p].append(("REMOVE", old, None))
            elif step == "poll":
                consumer.poll(number)
            else:
                notes.engine.tidy()
        for _ in range(len(script) + 2):
            consumer.poll(1000)
        assert consumer.changes == expected
        assert len(consumer.ids) == len(set(consumer.ids))
