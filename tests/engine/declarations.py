"""Requests that declare or change tables, and what comes of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from bigtime.engine.operations.alter_table import check_update_request, updated_table
from bigtime.engine.operations.create_table import new_table
from bigtime.engine.storage.definition import TableDefinition
from bigtime.engine.validation.shapes import check
from bigtime.wire import DynamoDBError, ValidationException

INVALID = "One or more parameter values were invalid: "
ALL = {"ProjectionType": "ALL"}
ONE_AT_A_TIME = (
    "Subscriber limit exceeded: "
    "Only 1 online index can be created or deleted simultaneously per table"
)


def keys(hash_key: str, *range_key: str) -> list[dict[str, str]]:
    ranges = [{"AttributeName": name, "KeyType": "RANGE"} for name in range_key]
    return [{"AttributeName": hash_key, "KeyType": "HASH"}, *ranges]


def attributes(names: str) -> list[dict[str, str]]:
    return [{"AttributeName": name, "AttributeType": "S"} for name in names]


def units(read: int = 5, write: int = 5) -> dict[str, int]:
    return {"ReadCapacityUnits": read, "WriteCapacityUnits": write}


def index(name: str = "index", schema: Any = None, **more: Any) -> dict[str, Any]:
    return {"IndexName": name, "KeySchema": schema or keys("a", "b"), "Projection": ALL, **more}


def request(names: str = "ab", **more: Any) -> dict[str, Any]:
    return {
        "TableName": "table",
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": attributes(names),
        "KeySchema": keys("a", "b"),
        **more,
    }


def provisioned_request(names: str = "ab", **more: Any) -> dict[str, Any]:
    return request(names, **{"BillingMode": "PROVISIONED", **more})


def create_definition(params: dict[str, Any]) -> TableDefinition:
    return new_table(check("CreateTable", params))


def update_definition(table: TableDefinition, **params: Any) -> TableDefinition:
    checked = check("UpdateTable", {"TableName": table.name, **params})
    check_update_request(checked)
    return updated_table(table, checked, now=1_700_000_000.0)


def words(call: Callable[[], object], kind: type[DynamoDBError] = ValidationException) -> str:
    with pytest.raises(DynamoDBError) as caught:
        call()
    assert type(caught.value) is kind
    return caught.value.message


def plain() -> TableDefinition:
    return create_definition(provisioned_request(ProvisionedThroughput=units(5, 5)))


def on_demand(**more: Any) -> TableDefinition:
    return create_definition(
        request("abc", GlobalSecondaryIndexes=[index(schema=keys("c"))], **more)
    )
