"""Makes `format-<n>.db.gz` of the present format: run once, when a format is released.

`python tests/engine/formats/make.py`. The file has what a format can differ in: keys of each type,
local and global indexes, a stream, a time to live, collections, tags, a token, counts, a change
log, and a deleted table that is kept.
"""

from __future__ import annotations

import gzip
import tempfile
from pathlib import Path
from typing import Any

from bigtime.engine import FORMAT, Engine
from bigtime.wire import Request

HERE = Path(__file__).parent
CREATED = 1_700_000_000.0
ORDERS: dict[str, Any] = {
    "TableName": "Orders",
    "AttributeDefinitions": [
        {"AttributeName": name, "AttributeType": kind}
        for name, kind in (("customer", "S"), ("number", "N"), ("status", "S"), ("mark", "B"))
    ],
    "KeySchema": [
        {"AttributeName": "customer", "KeyType": "HASH"},
        {"AttributeName": "number", "KeyType": "RANGE"},
    ],
    "LocalSecondaryIndexes": [
        {
            "IndexName": "by_mark",
            "KeySchema": [
                {"AttributeName": "customer", "KeyType": "HASH"},
                {"AttributeName": "mark", "KeyType": "RANGE"},
            ],
            "Projection": {"ProjectionType": "KEYS_ONLY"},
        }
    ],
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "by_status",
            "KeySchema": [
                {"AttributeName": "status", "KeyType": "HASH"},
                {"AttributeName": "number", "KeyType": "RANGE"},
            ],
            "Projection": {"ProjectionType": "ALL"},
        }
    ],
    "BillingMode": "PAY_PER_REQUEST",
    "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
    "Tags": [{"Key": "team", "Value": "shop"}],
}


def order(number: int) -> dict[str, Any]:
    return {
        "customer": {"S": f"customer {number % 5}"},
        "number": {"N": str(number)},
        "status": {"S": "open" if number % 3 else "paid"},
        "mark": {"B": "AAE="},
        "until": {"N": "4102444800"},
        "note": {"S": "å" * number},
    }


def fill(engine: Engine) -> None:
    engine(Request("CreateTable", ORDERS))
    ttl = {"AttributeName": "until", "Enabled": True}
    engine(Request("UpdateTimeToLive", {"TableName": "Orders", "TimeToLiveSpecification": ttl}))
    switch_recovery_on(engine, "Orders")
    engine(Request("CreateTable", {**ORDERS, "TableName": "Gone"}))
    engine(Request("PutItem", {"TableName": "Gone", "Item": order(1)}))
    switch_recovery_on(engine, "Gone")
    engine(Request("DeleteTable", {"TableName": "Gone"}))
    for number in range(40):
        engine(Request("PutItem", {"TableName": "Orders", "Item": order(number)}))
    key = {name: order(39)[name] for name in ("customer", "number")}
    engine(Request("DeleteItem", {"TableName": "Orders", "Key": key}))
    put = {"Put": {"TableName": "Orders", "Item": order(40)}}
    write = {"TransactItems": [put], "ClientRequestToken": "a-token"}
    engine(Request("TransactWriteItems", write))


def switch_recovery_on(engine: Engine, table: str) -> None:
    wanted = {"PointInTimeRecoveryEnabled": True}
    params = {"TableName": table, "PointInTimeRecoverySpecification": wanted}
    engine(Request("UpdateContinuousBackups", params))


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "orders.db"
        with Engine.open(
            path, clock=lambda: CREATED, stream_shards=1, housekeeping=False
        ) as engine:
            fill(engine)
        packed = gzip.compress(path.read_bytes(), mtime=0)
        (HERE / f"format-{FORMAT}.db.gz").write_bytes(packed)


if __name__ == "__main__":
    main()
