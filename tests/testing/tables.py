"""A client that was made before anything was intercepted, and tables for it."""

from __future__ import annotations

from typing import Any

import boto3

EARLY: Any = boto3.Session(region_name="eu-west-1").client("dynamodb")
"""Made before anything was intercepted, as many applications do at import."""


def table(name: str = "Things", **more: Any) -> dict[str, Any]:
    return {
        "TableName": name,
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        "BillingMode": "PAY_PER_REQUEST",
        **more,
    }


def names(client: Any = EARLY) -> list[str]:
    found: list[str] = client.list_tables()["TableNames"]
    return found
