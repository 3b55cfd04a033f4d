"""Streams: each change once and in order, through shards that close and have children."""

from __future__ import annotations

from typing import Any

import pytest

from bigtime.wire import (
    DynamoDBError,
    ExpiredIteratorException,
    ResourceNotFoundException,
    TrimmedDataAccessException,
    ValidationException,
)
from tests.engine.calls import call, n, refusal_of, s
from tests.engine.streams import HOUR, Streaming, images_of, names

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
        assert [images_of(record) for record in notes.records()] == [
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


def test_iterators_start_where_they_were_asked_to(single: Streaming) -> None:
    for p in "abc":
        single.put(p)
    (shard,) = [shard["ShardId"] for shard in single.shards()]
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
    (shard,) = [shard["ShardId"] for shard in single.shards()]

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
    (shard,) = [shard["ShardId"] for shard in single.shards()]
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
    assert message in refusal_of(single.engine, "GetShardIterator", **asked)


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
        assert refusal_of(single.engine, operation, **params, Limit=most + 1) == (
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
