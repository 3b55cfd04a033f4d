"""Streams: each change once and in order, through shards that close and have children."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigtime.engine import Engine
from bigtime.wire import (
    DynamoDBError,
    ExpiredIteratorException,
    Item,
    ResourceNotFoundException,
    Response,
    TrimmedDataAccessException,
    ValidationException,
)
from tests.engine.calls import Clock, call, make_table, n, refused, s

HOUR = 3600.0
SHARD_HOURS = 4


class Streaming:
    """An engine with a clock of its own, whose table `notes` has a stream."""

    def __init__(
        self,
        view_type: str = "NEW_AND_OLD_IMAGES",
        shards: int = 4,
        shard_seconds: float = SHARD_HOURS * HOUR,
    ) -> None:
        self.clock = Clock()
        self.engine = Engine.memory(
            clock=self.clock,
            stream_shards=shards,
            shard_seconds=shard_seconds,
            housekeeping=False,
        )
        self.switch_on(view_type, create=True)

    def switch_on(self, view_type: str, *, create: bool = False) -> None:
        specification = {"StreamEnabled": True, "StreamViewType": view_type}
        if create:
            make_table(
                self.engine,
                {"p": "S"},
                name="notes",
                keys=("p",),
                StreamSpecification=specification,
            )
        else:
            call(self.engine, "UpdateTable", TableName="notes", StreamSpecification=specification)

    def switch_off(self) -> None:
        call(
            self.engine,
            "UpdateTable",
            TableName="notes",
            StreamSpecification={"StreamEnabled": False},
        )

    def pass_hours(self, hours: float) -> None:
        self.clock.now += hours * HOUR
        self.engine.tidy()

    @property
    def arn(self) -> str:
        described = call(self.engine, "DescribeTable", TableName="notes")["Table"]
        return str(described["LatestStreamArn"])

    def put(self, p: str, **attributes: Any) -> None:
        call(self.engine, "PutItem", TableName="notes", Item={"p": s(p), **attributes})

    def delete(self, p: str) -> None:
        call(self.engine, "DeleteItem", TableName="notes", Key={"p": s(p)})

    def shards(self, arn: str | None = None) -> list[Response]:
        described = call(self.engine, "DescribeStream", StreamArn=arn or self.arn)
        return list(described["StreamDescription"]["Shards"])

    def iterator(self, shard: str, kind: str = "TRIM_HORIZON", **params: Any) -> str:
        params["StreamArn"] = params.get("StreamArn") or self.arn
        given = call(
            self.engine, "GetShardIterator", ShardId=shard, ShardIteratorType=kind, **params
        )
        return str(given["ShardIterator"])

    def records(self, arn: str | None = None) -> list[Response]:
        """Every record there is, shard after shard."""
        arn = arn or self.arn
        return [
            record
            for shard in self.shards(arn)
            for record in self.drain(self.iterator(shard["ShardId"], StreamArn=arn))
        ]

    def drain(self, iterator: str | None, **params: Any) -> list[Response]:
        found: list[Response] = []
        while iterator:
            page = call(self.engine, "GetRecords", ShardIterator=iterator, **params)
            found.extend(page["Records"])
            iterator = page.get("NextShardIterator") if page["Records"] else None
        return found


@pytest.fixture
def notes() -> Iterator[Streaming]:
    streaming = Streaming()
    yield streaming
    streaming.engine.close()


def seen(record: Response) -> tuple[str, Item | None, Item | None]:
    change = record["dynamodb"]
    return record["eventName"], change.get("OldImage"), change.get("NewImage")


# --- Records ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("view_type", "old", "new"),
    [
        ("KEYS_ONLY", False, False),
        ("NEW_IMAGE", False, True),
        ("OLD_IMAGE", True, False),
        ("NEW_AND_OLD_IMAGES", True, True),
    ],
)
def test_a_view_type_says_which_images_are_there(view_type: str, old: bool, new: bool) -> None:
    notes = Streaming(view_type)
    with notes.engine:
        notes.put("a", x=n(1))
        notes.put("a", x=n(2))
        notes.delete("a")
        one, two = {"p": s("a"), "x": n(1)}, {"p": s("a"), "x": n(2)}
        assert [seen(record) for record in notes.records()] == [
            ("INSERT", None, one if new else None),
            ("MODIFY", one if old else None, two if new else None),
            ("REMOVE", two if old else None, None),
        ]
        assert all(record["dynamodb"]["Keys"] == {"p": s("a")} for record in notes.records())


def test_a_record_looks_as_aws_shows_it(notes: Streaming) -> None:
    notes.put("a", x=n(1))
    (record,) = notes.records()
    assert record == {
        "eventID": record["eventID"],
        "eventName": "INSERT",
        "eventVersion": "1.1",
        "eventSource": "aws:dynamodb",
        "awsRegion": "us-east-1",
        "dynamodb": {
            "ApproximateCreationDateTime": notes.clock.now,
            "Keys": {"p": s("a")},
            "NewImage": {"p": s("a"), "x": n(1)},
            "SequenceNumber": record["dynamodb"]["SequenceNumber"],
            "SizeBytes": 2 + 2 + 3,
            "StreamViewType": "NEW_AND_OLD_IMAGES",
        },
    }
    assert 21 <= len(record["dynamodb"]["SequenceNumber"]) <= 40


def test_what_changes_nothing_leaves_no_record(notes: Streaming) -> None:
    notes.put("a", x=n(1), tags={"SS": ["one", "two"]})
    notes.put("a", x=n("1.0"), tags={"SS": ["one", "two"]})
    notes.delete("nobody")
    call(notes.engine, "UpdateItem", TableName="notes", Key={"p": s("a")})
    with pytest.raises(DynamoDBError):
        call(
            notes.engine,
            "PutItem",
            TableName="notes",
            Item={"p": s("a")},
            ConditionExpression="attribute_not_exists(p)",
        )
    assert [record["eventName"] for record in notes.records()] == ["INSERT"]


def test_a_transaction_leaves_a_record_for_each_change(notes: Streaming) -> None:
    notes.put("a")
    actions = [
        {"Put": {"TableName": "notes", "Item": {"p": s("b")}}},
        {"Delete": {"TableName": "notes", "Key": {"p": s("a")}}},
        {
            "ConditionCheck": {
                "TableName": "notes",
                "Key": {"p": s("c")},
                "ConditionExpression": "attribute_not_exists(p)",
            }
        },
    ]
    call(notes.engine, "TransactWriteItems", TransactItems=actions)
    changes = {(r["eventName"], r["dynamodb"]["Keys"]["p"]["S"]) for r in notes.records()}
    assert changes == {("INSERT", "a"), ("INSERT", "b"), ("REMOVE", "a")}
    with pytest.raises(DynamoDBError):
        call(notes.engine, "TransactWriteItems", TransactItems=[*actions, *actions])
    assert len(notes.records()) == 3


def test_expiry_is_recorded_as_the_services_own_deletion(notes: Streaming) -> None:
    call(
        notes.engine,
        "UpdateTimeToLive",
        TableName="notes",
        TimeToLiveSpecification={"Enabled": True, "AttributeName": "until"},
    )
    notes.put("a", until=n(int(notes.clock.now) + 60))
    notes.put("b")
    notes.delete("b")
    notes.pass_hours(0.1)
    identities = {
        (r["eventName"], r["dynamodb"]["Keys"]["p"]["S"]): r.get("userIdentity")
        for r in notes.records()
    }
    assert identities == {
        ("INSERT", "a"): None,
        ("INSERT", "b"): None,
        ("REMOVE", "b"): None,
        ("REMOVE", "a"): {"PrincipalId": "dynamodb.amazonaws.com", "Type": "Service"},
    }


def test_an_sdk_reads_who_deleted(notes: Streaming) -> None:
    call(
        notes.engine,
        "UpdateTimeToLive",
        TableName="notes",
        TimeToLiveSpecification={"Enabled": True, "AttributeName": "until"},
    )
    notes.put("a", until=n(int(notes.clock.now) - 1))
    notes.engine.tidy()
    client: Any = notes.engine.boto3_client("dynamodbstreams")
    found = []
    for shard in client.describe_stream(StreamArn=notes.arn)["StreamDescription"]["Shards"]:
        iterator = client.get_shard_iterator(
            StreamArn=notes.arn, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON"
        )["ShardIterator"]
        found += client.get_records(ShardIterator=iterator)["Records"]
    assert [record.get("userIdentity") for record in found] == [
        None,
        {"PrincipalId": "dynamodb.amazonaws.com", "Type": "Service"},
    ]


# --- Iterators ----------------------------------------------------------------------------------


@pytest.fixture
def single() -> Iterator[Streaming]:
    """One shard, so that a test knows where its records are."""
    streaming = Streaming(shards=1)
    yield streaming
    streaming.engine.close()


def names(records: list[Response]) -> list[str]:
    return [record["dynamodb"]["Keys"]["p"]["S"] for record in records]


def test_iterators_start_where_they_were_asked_to(single: Streaming) -> None:
    for p in "abc":
        single.put(p)
    (shard,) = [one["ShardId"] for one in single.shards()]
    second = single.records()[1]["dynamodb"]["SequenceNumber"]
    latest = single.iterator(shard, "LATEST")
    at = single.iterator(shard, "AT_SEQUENCE_NUMBER", SequenceNumber=second)
    after = single.iterator(shard, "AFTER_SEQUENCE_NUMBER", SequenceNumber=second)
    single.put("d")
    assert names(single.drain(single.iterator(shard))) == ["a", "b", "c", "d"]
    assert names(single.drain(at)) == ["b", "c", "d"]
    assert names(single.drain(after)) == ["c", "d"]
    assert names(single.drain(latest)) == ["d"]


def test_an_iterator_starts_at_a_moment(single: Streaming) -> None:
    moments = []
    for p in "abc":
        moments.append(single.clock.now)
        single.put(p)
        single.clock.now += 10
    (shard,) = [one["ShardId"] for one in single.shards()]

    def since(moment: float) -> list[str]:
        return names(single.drain(single.iterator(shard, "AT_TIMESTAMP", Timestamp=moment)))

    assert since(moments[1]) == ["b", "c"]
    assert since(moments[1] + 0.5) == ["c"]
    assert since(moments[0] - 30 * HOUR) == ["a", "b", "c"]
    assert since(single.clock.now) == []
    with pytest.raises(ValidationException):
        since(single.clock.now + 1)
    with pytest.raises(ValidationException):
        single.iterator(shard, "AT_TIMESTAMP")


def test_an_iterator_dies_after_a_quarter_of_an_hour(single: Streaming) -> None:
    single.put("a")
    iterator = single.iterator(single.shards()[0]["ShardId"])
    single.clock.now += 900
    assert names(single.drain(iterator)) == ["a"]
    single.clock.now += 1
    with pytest.raises(ExpiredIteratorException) as caught:
        call(single.engine, "GetRecords", ShardIterator=iterator)
    assert caught.value.message == "The provided iterator exceeds the maximum age allowed."


def test_reading_gives_a_fresh_iterator(single: Streaming) -> None:
    iterator = single.iterator(single.shards()[0]["ShardId"])
    for _ in range(5):
        single.clock.now += 800
        iterator = call(single.engine, "GetRecords", ShardIterator=iterator)["NextShardIterator"]
    single.put("a")
    assert names(single.drain(iterator)) == ["a"]


def test_a_day_old_record_is_trimmed(single: Streaming) -> None:
    single.put("old")
    old = single.records()[0]["dynamodb"]["SequenceNumber"]
    (shard,) = [one["ShardId"] for one in single.shards()]
    single.clock.now += 23 * HOUR + 55 * 60
    single.put("new")
    waiting = single.iterator(shard, "AT_SEQUENCE_NUMBER", SequenceNumber=old)
    from_horizon = single.iterator(shard, "TRIM_HORIZON")
    single.clock.now += 10 * 60
    # No matter whether the housekeeper has been there yet.
    for _ in range(2):
        assert names(single.drain(from_horizon)) == ["new"]
        for kind in ("AT_SEQUENCE_NUMBER", "AFTER_SEQUENCE_NUMBER"):
            with pytest.raises(TrimmedDataAccessException) as caught:
                single.iterator(shard, kind, SequenceNumber=old)
            assert caught.value.message == "The data you are trying to access has been trimmed."
        with pytest.raises(TrimmedDataAccessException):
            call(single.engine, "GetRecords", ShardIterator=waiting)
        single.engine.tidy()
    assert names(single.records()) == ["new"]


def test_a_reader_that_has_caught_up_never_meets_the_horizon(notes: Streaming) -> None:
    iterators = {shard["ShardId"]: notes.iterator(shard["ShardId"]) for shard in notes.shards()}
    notes.put("a")
    for _ in range(26 * 6):
        notes.clock.now += 600
        notes.engine.tidy()
        for shard, iterator in list(iterators.items()):
            page = call(notes.engine, "GetRecords", ShardIterator=iterator)
            if "NextShardIterator" in page:
                iterators[shard] = page["NextShardIterator"]
            else:
                del iterators[shard]
                for child in notes.shards():
                    if child.get("ParentShardId") == shard:
                        iterators[child["ShardId"]] = notes.iterator(child["ShardId"])
    assert len(iterators) == 4


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"ShardIteratorType": "AT_SEQUENCE_NUMBER"}, "SequenceNumber must be specified"),
        (
            {"ShardIteratorType": "AT_SEQUENCE_NUMBER", "SequenceNumber": "x" * 21},
            "Invalid SequenceNumber",
        ),
        (
            {"ShardIteratorType": "AFTER_SEQUENCE_NUMBER", "SequenceNumber": "1" + "9" * 20},
            "Invalid SequenceNumber",
        ),
        (
            {"ShardIteratorType": "AT_SEQUENCE_NUMBER", "SequenceNumber": "2" + "0" * 19 + "1"},
            "Invalid SequenceNumber",
        ),
        (
            {"ShardIteratorType": "SOMEWHERE"},
            "Value 'SOMEWHERE' at 'shardIteratorType' failed to satisfy constraint",
        ),
    ],
)
def test_an_iterator_that_makes_no_sense_is_refused(
    single: Streaming, params: Any, message: str
) -> None:
    single.put("a")
    shard = single.shards()[0]["ShardId"]
    asked = {"StreamArn": single.arn, "ShardId": shard, **params}
    assert message in refused(single.engine, "GetShardIterator", **asked)


@pytest.mark.parametrize(
    "note", ["", "|1|", "|1|e30=", "|1|WzEsMiwzXQ==", "|1|WzEsInMiLDFlMzAsMV0=", "é|1|?"]
)
def test_a_forged_iterator_is_refused(single: Streaming, note: str) -> None:
    with pytest.raises(ValidationException):
        call(single.engine, "GetRecords", ShardIterator=single.arn + note)


def test_what_is_not_there_is_not_found(single: Streaming) -> None:
    shard = single.shards()[0]["ShardId"]
    nowhere = single.arn[:-1] + "x"
    asked: list[tuple[str, dict[str, Any]]] = [
        ("DescribeStream", {"StreamArn": nowhere}),
        (
            "GetShardIterator",
            {"StreamArn": nowhere, "ShardId": shard, "ShardIteratorType": "LATEST"},
        ),
        (
            "GetShardIterator",
            {"StreamArn": single.arn, "ShardId": shard[:-1] + "x", "ShardIteratorType": "LATEST"},
        ),
        (
            "GetShardIterator",
            {"StreamArn": single.arn, "ShardId": shard + "\ud800", "ShardIteratorType": "LATEST"},
        ),
    ]
    for operation, params in asked:
        with pytest.raises(ResourceNotFoundException):
            call(single.engine, operation, **params)


def test_limits_have_a_greatest_value(single: Streaming) -> None:
    iterator = single.iterator(single.shards()[0]["ShardId"])
    for operation, params, most in (
        ("GetRecords", {"ShardIterator": iterator}, 1000),
        ("DescribeStream", {"StreamArn": single.arn}, 100),
        ("ListStreams", {}, 100),
    ):
        assert refused(single.engine, operation, **params, Limit=most + 1) == (
            f"1 validation error detected: Value '{most + 1}' at 'limit' failed to satisfy "
            f"constraint: Member must have value less than or equal to {most}"
        )


def test_a_read_gives_a_thousand_records_or_a_megabyte(single: Streaming) -> None:
    for start in range(0, 1100, 25):
        puts = [{"PutRequest": {"Item": {"p": s(f"{start + i}")}}} for i in range(25)]
        call(single.engine, "BatchWriteItem", RequestItems={"notes": puts})
    iterator = single.iterator(single.shards()[0]["ShardId"])
    first = call(single.engine, "GetRecords", ShardIterator=iterator)
    assert len(first["Records"]) == 1000
    assert len(single.drain(first["NextShardIterator"], Limit=7)) == 100
    latest = single.iterator(single.shards()[0]["ShardId"], "LATEST")
    for number in range(4):
        single.put(f"long {number}", text=s("x" * 300_000))
    page = call(single.engine, "GetRecords", ShardIterator=latest)
    assert names(page["Records"]) == ["long 0", "long 1", "long 2"]
    assert names(single.drain(page["NextShardIterator"])) == ["long 3"]


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
    assert {one["StreamArn"] for one in listed} == {first, notes.arn}


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
            self.changes[record["dynamodb"]["Keys"]["p"]["S"]].append(seen(record))
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
