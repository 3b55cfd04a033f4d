"""A table of things, and calls to it."""

from __future__ import annotations

from typing import Any

import pytest

from bigtime.engine import Engine
from bigtime.wire import DynamoDBError, Item, Request, Response

FAILED = "The conditional request failed"
PUT_TOO_LARGE = "Item size has exceeded the maximum allowed size"

KEY: Item = {"pk": {"S": "a"}, "sk": {"N": "1"}}
ITEM: Item = {
    **KEY,
    "note": {"S": "x"},
    "points": {"N": "5"},
    "doc": {"M": {"part": {"S": "1"}, "rest": {"N": "2"}}},
    "steps": {"L": [{"S": "zero"}, {"S": "one"}]},
}


def declare(engine: Engine, name: str = "things", **more: Any) -> None:
    attributes = {"pk": "S", "sk": "N", "g": "S", "h": "B"}
    engine(
        Request(
            "CreateTable",
            {
                "TableName": name,
                "AttributeDefinitions": [
                    {"AttributeName": each, "AttributeType": kind}
                    for each, kind in attributes.items()
                ],
                "KeySchema": [
                    {"AttributeName": "pk", "KeyType": "HASH"},
                    {"AttributeName": "sk", "KeyType": "RANGE"},
                ],
                "BillingMode": "PAY_PER_REQUEST",
                "GlobalSecondaryIndexes": [
                    {
                        "IndexName": "by-g",
                        "KeySchema": [
                            {"AttributeName": "g", "KeyType": "HASH"},
                            {"AttributeName": "h", "KeyType": "RANGE"},
                        ],
                        "Projection": {"ProjectionType": "ALL"},
                    }
                ],
                **more,
            },
        )
    )


def call(engine: Engine, operation: str, **params: Any) -> Response:
    return engine(Request(operation, {"TableName": "things", **params}))


def refusal(engine: Engine, operation: str, **params: Any) -> str:
    """The words of the refusal; and nothing has changed."""
    before = scan_items(engine)
    with pytest.raises(DynamoDBError) as caught:
        call(engine, operation, **params)
    assert scan_items(engine) == before
    return caught.value.message


def scan_items(engine: Engine) -> list[Item]:
    found: list[Item] = call(engine, "Scan")["Items"]
    return found


def get(engine: Engine, key: Item = KEY) -> Item | None:
    return call(engine, "GetItem", Key=key, ConsistentRead=True).get("Item")


def put(engine: Engine, item: Item = ITEM, **params: Any) -> Response:
    return call(engine, "PutItem", Item=item, **params)
