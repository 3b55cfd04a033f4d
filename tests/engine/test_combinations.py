"""Features of the engine together: recovery, replicas, expiry, streams, users, regions, faults."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bigtime.engine import Engine, Principal
from bigtime.wire import (
    AccessDeniedException,
    DynamoDBError,
    Request,
    ResourceInUseException,
    ResourceNotFoundException,
    Response,
    Transport,
)
from tests.engine.calls import index, key_schema, make_table, n, s

AWAY = "eu-west-1"
ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/notes"
ENABLED = {"PointInTimeRecoveryEnabled": True}


class HandClock:
    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def engine(clock: HandClock, tmp_path: Path) -> Iterator[Engine]:
    (tmp_path / "bucket").mkdir()
    with Engine.memory(
        clock=clock, housekeeping=False, regions=[AWAY], s3_folder=tmp_path
    ) as engine:
        by_tag = index("by_tag", key_schema("tag"), "ALL")
        make_table(engine, {"p": "S", "tag": "S"}, name="notes", keys=("p",), globally=(by_tag,))
        yield engine


def call(region: Transport, operation: str, table: str = "notes", **params: Any) -> Response:
    return region(Request(operation, {"TableName": table, **params}))


def protect(region: Transport) -> None:
    call(region, "UpdateContinuousBackups", PointInTimeRecoverySpecification=ENABLED)


def put(region: Transport, p: str, **more: Any) -> None:
    call(region, "PutItem", Item={"p": s(p), "tag": s("x"), **more})


def keys(region: Transport, table: str = "notes", **more: Any) -> set[str]:
    return {item["p"]["S"] for item in call(region, "Scan", table, **more)["Items"]}


def replicate(engine: Engine) -> Transport:
    call(engine, "UpdateTable", ReplicaUpdates=[{"Create": {"RegionName": AWAY}}])
    engine.tidy()
    return engine.in_region(AWAY)


def restore(region: Transport, target: str, moment: float) -> None:
    region(
        Request(
            "RestoreTableToPointInTime",
            {"SourceTableName": "notes", "TargetTableName": target, "RestoreDateTime": moment},
        )
    )


def test_what_a_replica_wrote_can_be_undone_at_home(engine: Engine, clock: HandClock) -> None:
    protect(engine)
    away = replicate(engine)
    put(away, "kept")
    engine.tidy()
    clock.now += 10
    good = clock.now
    clock.now += 10
    call(away, "DeleteItem", Key={"p": s("kept")})
    put(away, "late")
    engine.tidy()
    restore(engine, "old", good)
    engine.tidy()
    assert keys(engine, "old") == keys(engine, "old", IndexName="by_tag") == {"kept"}
    assert keys(away) == {"late"}


def test_a_table_restored_from_a_replica_is_an_ordinary_table(
    engine: Engine, clock: HandClock
) -> None:
    away = replicate(engine)
    protect(away)
    put(engine, "a")
    engine.tidy()
    clock.now += 1
    restore(away, "old", clock.now)
    engine.tidy()
    table = call(away, "DescribeTable", "old")["Table"]
    assert "Replicas" not in table and "LatestStreamArn" not in table
    assert keys(away, "old") == {"a"}
    with pytest.raises(ResourceNotFoundException):
        call(engine, "DescribeTable", "old")
    call(away, "DeleteTable", "old")


def test_recovery_is_switched_on_for_each_replica(engine: Engine) -> None:
    protect(engine)
    away = replicate(engine)
    about = call(away, "DescribeContinuousBackups")["ContinuousBackupsDescription"]
    assert about["PointInTimeRecoveryDescription"] == {"PointInTimeRecoveryStatus": "DISABLED"}


def test_an_item_that_expired_is_restored_and_stays(engine: Engine, clock: HandClock) -> None:
    protect(engine)
    expiry = {"Enabled": True, "AttributeName": "until"}
    call(engine, "UpdateTimeToLive", TimeToLiveSpecification=expiry)
    put(engine, "short", until=n(int(clock.now) + 5))
    clock.now += 3
    good = clock.now
    clock.now += 60
    engine.tidy()
    assert keys(engine) == set()
    restore(engine, "old", good)
    engine.tidy()
    engine.tidy()
    assert keys(engine, "old") == {"short"}
    about = call(engine, "DescribeTimeToLive", "old")["TimeToLiveDescription"]
    assert about == {"TimeToLiveStatus": "DISABLED"}


def test_a_stream_of_a_restored_table_has_only_new_changes(
    engine: Engine, clock: HandClock
) -> None:
    protect(engine)
    put(engine, "before")
    clock.now += 1
    restore(engine, "old", clock.now)
    engine.tidy()
    stream = {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}
    call(engine, "UpdateTable", "old", StreamSpecification=stream)
    call(engine, "PutItem", "old", Item={"p": s("after")})
    assert stream_keys(engine, "old") == ["after"]


def stream_keys(engine: Engine, table: str) -> list[str]:
    arn = call(engine, "DescribeTable", table)["Table"]["LatestStreamArn"]
    shards = engine(Request("DescribeStream", {"StreamArn": arn}))["StreamDescription"]["Shards"]
    found: list[str] = []
    for shard in shards:
        place = {"StreamArn": arn, "ShardId": shard["ShardId"]}
        asked = {**place, "ShardIteratorType": "TRIM_HORIZON"}
        iterator = engine(Request("GetShardIterator", asked))["ShardIterator"]
        records = engine(Request("GetRecords", {"ShardIterator": iterator}))["Records"]
        found += [record["dynamodb"]["Keys"]["p"]["S"] for record in records]
    return found


def test_a_restored_table_is_exported_and_imported_with_its_index(
    engine: Engine, clock: HandClock
) -> None:
    protect(engine)
    put(engine, "a")
    clock.now += 1
    restore(engine, "old", clock.now)
    engine.tidy()
    call(engine, "UpdateContinuousBackups", "old", PointInTimeRecoverySpecification=ENABLED)
    arn = call(engine, "DescribeTable", "old")["Table"]["TableArn"]
    asked = {"TableArn": arn, "S3Bucket": "bucket"}
    export = engine(Request("ExportTableToPointInTime", asked))["ExportDescription"]
    engine.tidy()
    prefix = f"AWSDynamoDB/{export['ExportArn'].rpartition('/')[2]}/data/"
    import_table(engine, prefix)
    for operation, params in (
        ("UpdateTable", {"DeletionProtectionEnabled": True}),
        ("DeleteTable", {}),
    ):
        with pytest.raises(ResourceInUseException):
            call(engine, operation, "imported", **params)
    engine.tidy()
    assert keys(engine, "imported", IndexName="by_tag") == {"a"}


def import_table(engine: Engine, prefix: str) -> None:
    creation = {
        "TableName": "imported",
        "KeySchema": key_schema("p"),
        "AttributeDefinitions": [
            {"AttributeName": name, "AttributeType": "S"} for name in ("p", "tag")
        ],
        "BillingMode": "PAY_PER_REQUEST",
        "GlobalSecondaryIndexes": [index("by_tag", key_schema("tag"), "ALL")],
    }
    asked = {
        "S3BucketSource": {"S3Bucket": "bucket", "S3KeyPrefix": prefix},
        "InputFormat": "DYNAMODB_JSON",
        "InputCompressionType": "GZIP",
        "TableCreationParameters": creation,
    }
    engine(Request("ImportTable", asked))


NOT_FOUND = (ResourceNotFoundException, "Table: old not found")


@pytest.mark.parametrize(
    ("operation", "params", "error"),
    [
        ("UpdateTable", {"DeletionProtectionEnabled": True}, NOT_FOUND),
        ("UpdateTable", {"ReplicaUpdates": [{"Create": {"RegionName": AWAY}}]}, NOT_FOUND),
        ("DeleteTable", {}, (ResourceInUseException, "Table is being created: old")),
    ],
)
def test_a_table_that_is_being_restored_is_not_changed(
    engine: Engine,
    clock: HandClock,
    operation: str,
    params: dict[str, Any],
    error: tuple[type[DynamoDBError], str],
) -> None:
    protect(engine)
    clock.now += 1
    restore(engine, "old", clock.now)
    kind, message = error
    with pytest.raises(kind, match=message):
        call(engine, operation, "old", **params)


def test_a_policy_for_one_region_allows_statements_there_alone(engine: Engine) -> None:
    away = replicate(engine)
    put(away, "a")
    allowed = {
        "Effect": "Allow",
        "Action": "dynamodb:PartiQLSelect",
        "Resource": f"arn:aws:dynamodb:{AWAY}:*:table/notes",
    }
    user = Principal.user("alex", [{"Version": "2012-10-17", "Statement": allowed}])
    select = Request("ExecuteStatement", {"Statement": "SELECT p FROM notes WHERE p = 'a'"})
    assert engine.as_user(user, region=AWAY)(select)["Items"] == [{"p": s("a")}]
    with pytest.raises(AccessDeniedException, match=ARN):
        engine.as_user(user)(select)


def test_every_way_to_get_an_item_can_be_stale(engine: Engine) -> None:
    put(engine, "a", text=s("old"))
    get: dict[str, Any] = {"Key": {"p": s("a")}}
    assert call(engine, "GetItem", **get)["Item"]["text"] == s("old")
    engine.faults.stale_reads(seconds=60)
    put(engine, "a", text=s("new"))
    select = {"Statement": "SELECT text FROM notes WHERE p = 'a'"}
    batch = {"Statements": [select]}
    stale = [
        call(engine, "GetItem", **get)["Item"]["text"],
        engine(Request("ExecuteStatement", select))["Items"][0]["text"],
        engine(Request("BatchExecuteStatement", batch))["Responses"][0]["Item"]["text"],
    ]
    fresh = [
        call(engine, "GetItem", **get, ConsistentRead=True)["Item"]["text"],
        engine(Request("ExecuteStatement", {**select, "ConsistentRead": True}))["Items"][0]["text"],
        engine(Request("ExecuteTransaction", {"TransactStatements": [select]}))["Responses"][0][
            "Item"
        ]["text"],
    ]
    assert (stale, fresh) == ([s("old")] * 3, [s("new")] * 3)
    engine.faults.clear()
    assert call(engine, "GetItem", **get)["Item"]["text"] == s("new")
