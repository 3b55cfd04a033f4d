"""The sizes of index keys, and which index is named."""

from __future__ import annotations

from typing import Any

import pytest

from bigtime.engine import Engine
from bigtime.wire import Item, Request, ValidationException

INVALID = "One or more parameter values were invalid: "


@pytest.fixture(autouse=True)
def table(engine: Engine) -> None:
    names = ("pk", "g", "h")
    params = {
        "TableName": "things",
        "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name in names],
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        "GlobalSecondaryIndexes": [index("zeta", "g", "h"), index("alpha", "g", "pk")],
        "BillingMode": "PAY_PER_REQUEST",
    }
    engine(Request("CreateTable", params))


def index(name: str, hash_key: str, range_key: str) -> dict[str, Any]:
    return {
        "IndexName": name,
        "KeySchema": [
            {"AttributeName": hash_key, "KeyType": "HASH"},
            {"AttributeName": range_key, "KeyType": "RANGE"},
        ],
        "Projection": {"ProjectionType": "ALL"},
    }


def refusal(engine: Engine, item: Item) -> str:
    with pytest.raises(ValidationException) as caught:
        engine(Request("PutItem", {"TableName": "things", "Item": item}))
    return caught.value.message


def put(engine: Engine, item: Item) -> None:
    engine(Request("PutItem", {"TableName": "things", "Item": item}))


def test_the_first_index_by_name_is_named(engine: Engine) -> None:
    assert refusal(engine, {"pk": {"S": "a"}, "g": {"N": "1"}}) == (
        INVALID + "Type mismatch for Index Key g Expected: S Actual: N IndexName: alpha"
    )


def test_each_index_key_has_its_limit_in_bytes(engine: Engine) -> None:
    put(engine, {"pk": {"S": "a"}, "g": {"S": "é" * 1024}, "h": {"S": "é" * 512}})
    assert refusal(engine, {"pk": {"S": "a"}, "g": {"S": "é" * 1025}}) == (
        INVALID + "Size limit exceeded for Index Key g Actual Size: 2050 bytes "
        "Max Size: 2048 bytes IndexName: alpha"
    )
    assert refusal(engine, {"pk": {"S": "a"}, "h": {"S": "x" * 1025}}) == (
        INVALID + "Size limit exceeded for Index Key h Actual Size: 1025 bytes "
        "Max Size: 1024 bytes IndexName: zeta"
    )


def test_a_partition_key_may_be_too_long_for_an_index(engine: Engine) -> None:
    put(engine, {"pk": {"S": "x" * 1024}})
    assert refusal(engine, {"pk": {"S": "x" * 1025}}) == (
        INVALID + "Size limit exceeded for Index Key pk Actual Size: 1025 bytes "
        "Max Size: 1024 bytes IndexName: alpha"
    )
