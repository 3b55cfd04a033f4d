"""A client that was made before anything was intercepted, and tables for it."""

from __future__ import annotations

import os
from typing import Any

import boto3
import pytest

EARLY: Any
"""Made before anything was intercepted, as many applications do at import; without credentials."""
EARLY_RESOURCE: Any

with pytest.MonkeyPatch.context() as patch:
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        patch.delenv(name)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        patch.setenv(name, os.devnull)
    patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    session = boto3.Session(region_name="eu-west-1")
    EARLY = session.client("dynamodb")
    EARLY_RESOURCE = session.resource("dynamodb")


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
