"""An engine with two regions, a table with a replica, and short words to use them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from bigtime.engine import Engine
from bigtime.wire import Request, Response, Transport

HOME, AWAY, THIRD = "us-east-1", "eu-west-1", "ap-south-1"
TABLE = "orders"
LOCAL_REGION = "Cannot add or delete the local region through ReplicaUpdates."


class HandClock:
    """A clock that a test sets by hand."""

    def __init__(self, now: float = 1_700_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def call(region: Transport, operation: str, **params: Any) -> Response:
    return region(Request(operation, {"TableName": TABLE, **params}))


def create(region: Transport, **more: Any) -> None:
    call(
        region,
        "CreateTable",
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
        **more,
    )


def add_replica(region: Transport, name: str = AWAY, **settings: Any) -> Response:
    action = {"Create": {"RegionName": name, **settings}}
    answer: Response = call(region, "UpdateTable", ReplicaUpdates=[action])["TableDescription"]
    return answer


def delete_replica(region: Transport, name: str = AWAY) -> Response:
    return call(region, "UpdateTable", ReplicaUpdates=[{"Delete": {"RegionName": name}}])


def put(region: Transport, id: str, **values: str) -> None:
    item = {"id": {"S": id}, **{name: {"S": value} for name, value in values.items()}}
    call(region, "PutItem", Item=item)


def delete(region: Transport, id: str) -> None:
    call(region, "DeleteItem", Key={"id": {"S": id}})


def get(region: Transport, id: str) -> Any:
    return call(region, "GetItem", Key={"id": {"S": id}}).get("Item")


def everything(region: Transport) -> dict[str, Any]:
    """The items of a table by their keys."""
    items: dict[str, Any] = {}
    start: dict[str, Any] = {}
    while True:
        page = call(region, "Scan", **start)
        items.update((item["id"]["S"], item) for item in page["Items"])
        if "LastEvaluatedKey" not in page:
            return items
        start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}


def describe(region: Transport) -> Response:
    table: Response = call(region, "DescribeTable")["Table"]
    return table


def statuses(region: Transport) -> dict[str, str]:
    replicas = describe(region).get("Replicas", [])
    return {replica["RegionName"]: replica["ReplicaStatus"] for replica in replicas}


def records(region: Transport) -> list[Any]:
    """Every record of the table's stream, by shards in order."""
    arn = describe(region)["LatestStreamArn"]

    def ask(operation: str, **params: Any) -> Response:
        return region(Request(operation, params))

    found: list[Any] = []
    for shard in ask("DescribeStream", StreamArn=arn)["StreamDescription"]["Shards"]:
        iterator = ask(
            "GetShardIterator",
            StreamArn=arn,
            ShardId=shard["ShardId"],
            ShardIteratorType="TRIM_HORIZON",
        )["ShardIterator"]
        found += ask("GetRecords", ShardIterator=iterator)["Records"]
    return found


def events(region: Transport) -> list[tuple[str, str]]:
    return sorted(
        (record["dynamodb"]["Keys"]["id"]["S"], record["eventName"]) for record in records(region)
    )


def refusal_in(region: Transport, operation: str, **params: Any) -> str:
    return refusal(partial(call, region, operation, **params))


def refusal(attempt: Callable[[], object]) -> str:
    try:
        attempt()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    raise AssertionError("nothing was refused")


def make_replica(engine: Engine, *more: str) -> Any:
    """A table with a replica, which has everything."""
    create(engine)
    add_replica(engine)
    engine.tidy()
    for region in more:
        add_replica(engine, region)
        engine.tidy()
    return engine.in_region(AWAY)
