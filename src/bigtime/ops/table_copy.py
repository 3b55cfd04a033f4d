"""A table as another store is asked to make it: the keys, indexes, capacity, class and tags.

What would act on the items by itself, or forbid to delete the copy, waits until the copy is
complete: the time to live, the stream (whose consumers would take every copied item for a new
one), point-in-time recovery and the protection against deletion.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

from bigtime.ops.job_state import CannotGoOn
from bigtime.store import Store
from bigtime.wire import Item, Request, ResourceInUseException, ResourceNotFoundException, Response

FOLLOWED: Final = "NEW_AND_OLD_IMAGES"
WAIT_SECONDS: Final = 1.0
MOST_WAITS: Final = 1_200


def live_table(store: Store, name: str) -> Response | None:
    try:
        table: Response = store.send(Request("DescribeTable", {"TableName": name}))["Table"]
    except ResourceNotFoundException:
        return None
    return table


def list_tables(store: Store) -> list[str]:
    names: list[str] = []
    params: dict[str, Any] = {}
    while True:
        page = store.send(Request("ListTables", params))
        names += page["TableNames"]
        if not page.get("LastEvaluatedTableName"):
            return names
        params = {"ExclusiveStartTableName": page["LastEvaluatedTableName"]}


def wait_until_ready(store: Store, name: str) -> Response:
    for _ in range(MOST_WAITS):
        table = live_table(store, name)
        if table is not None and table["TableStatus"] == "ACTIVE":
            return table
        store.sleep(WAIT_SECONDS)
    raise CannotGoOn(f"{name} is not ready yet: run the same again later.")


def key_of(table: Response) -> dict[str, str]:
    """The attributes of the main key, with their types."""
    types = {each["AttributeName"]: each["AttributeType"] for each in table["AttributeDefinitions"]}
    return {each["AttributeName"]: types[each["AttributeName"]] for each in table["KeySchema"]}


def copy_table(source: Store, target: Store, name: str) -> bool:
    """Makes the table in the target if it is missing; whether it was."""
    table = live_table(source, name)
    there = live_table(target, name)
    assert table is not None
    if there is not None:
        check_same_key(name, table, there)
        wait_until_ready(target, name)
        return False
    with suppress(ResourceInUseException):  # another process may be faster
        target.send(Request("CreateTable", create_params(table, tags_of(source, table))))
    wait_until_ready(target, name)
    return True


def check_same_key(name: str, table: Response, there: Response) -> None:
    if key_of(table) != key_of(there):
        raise CannotGoOn(
            f"{name} has another main key in the target ({', '.join(key_of(there))}) than in the"
            f" source ({', '.join(key_of(table))}): delete it there, or choose another target."
        )


def check_empty(target: Store, name: str) -> None:
    if live_table(target, name) is None:
        return
    if target.send(Request("Scan", {"TableName": name, "Limit": 1}))["Items"]:
        raise CannotGoOn(
            f"{name} has items in the target already, which a copy would mix with the source's:"
            " delete the table there, or choose another target. (To go on with a migration, run it"
            " with its state file.)"
        )


def create_params(table: Response, tags: list[dict[str, str]]) -> dict[str, Any]:
    """The CreateTable that makes another table like this one."""
    params: dict[str, Any] = {
        "TableName": table["TableName"],
        "AttributeDefinitions": table["AttributeDefinitions"],
        "KeySchema": table["KeySchema"],
    }
    provisioned = capacity_of(table)
    params |= provisioned or {"BillingMode": "PAY_PER_REQUEST"}
    if ceilings := table.get("OnDemandThroughput"):
        params["OnDemandThroughput"] = ceilings
    for kind in ("GlobalSecondaryIndexes", "LocalSecondaryIndexes"):
        if indexes := table.get(kind):
            params[kind] = [index_params(index) for index in indexes]
    if (table.get("SSEDescription") or {}).get("SSEType") == "KMS":
        # The key itself is one of the source's account and region.
        params["SSESpecification"] = {"Enabled": True, "SSEType": "KMS"}
    if table_class := (table.get("TableClassSummary") or {}).get("TableClass"):
        params["TableClass"] = table_class
    if tags:
        params["Tags"] = tags
    return params


def index_params(index: Response) -> dict[str, Any]:
    kept = ("IndexName", "KeySchema", "Projection", "OnDemandThroughput")
    return {
        **{name: index[name] for name in kept if index.get(name)},
        **{name: value for name, value in capacity_of(index).items() if name != "BillingMode"},
    }


def capacity_of(described: Response) -> dict[str, Any]:
    """The provisioned throughput of a table or an index; empty if it is paid by request."""
    units = described.get("ProvisionedThroughput") or {}
    if not units.get("ReadCapacityUnits") or not units.get("WriteCapacityUnits"):
        return {}
    names = ("ReadCapacityUnits", "WriteCapacityUnits")
    return {
        "BillingMode": "PROVISIONED",
        "ProvisionedThroughput": {name: units[name] for name in names},
    }


def tags_of(store: Store, table: Response) -> list[dict[str, str]]:
    tags: list[dict[str, str]] = []
    params = {"ResourceArn": table["TableArn"]}
    while True:
        page = store.send(Request("ListTagsOfResource", params))
        tags += page.get("Tags", [])
        if not page.get("NextToken"):
            # Those of AWS's own services cannot be given.
            return [tag for tag in tags if not tag["Key"].startswith("aws:")]
        params["NextToken"] = page["NextToken"]


# --- What waits until the end ---


def late_settings(store: Store, name: str) -> dict[str, Any]:
    """The settings of a table that its copy gets at the end."""
    table = live_table(store, name)
    assert table is not None
    stream = table.get("StreamSpecification") or {}
    expiry = store.send(Request("DescribeTimeToLive", {"TableName": name}))
    ttl = expiry["TimeToLiveDescription"]
    backups = store.send(Request("DescribeContinuousBackups", {"TableName": name}))
    recovery = backups["ContinuousBackupsDescription"].get("PointInTimeRecoveryDescription", {})
    is_recoverable = recovery.get("PointInTimeRecoveryStatus") == "ENABLED"
    return {
        "stream": stream.get("StreamViewType") if stream.get("StreamEnabled") else None,
        "ttl": ttl.get("AttributeName") if ttl.get("TimeToLiveStatus") == "ENABLED" else None,
        "recoveryDays": recovery.get("RecoveryPeriodInDays", 35) if is_recoverable else None,
        "isProtected": bool(table.get("DeletionProtectionEnabled")),
    }


def late_requests(name: str, settings: dict[str, Any], has: dict[str, Any]) -> Iterator[Request]:
    """What gives a table those of the settings that it has not."""
    table = {"TableName": name}
    if settings["ttl"] and not has["ttl"]:
        ttl = {"Enabled": True, "AttributeName": settings["ttl"]}
        yield Request("UpdateTimeToLive", {**table, "TimeToLiveSpecification": ttl})
    if settings["recoveryDays"] and not has["recoveryDays"]:
        recovery = {
            "PointInTimeRecoveryEnabled": True,
            "RecoveryPeriodInDays": settings["recoveryDays"],
        }
        yield Request(
            "UpdateContinuousBackups", {**table, "PointInTimeRecoverySpecification": recovery}
        )
    if settings["stream"] and not has["stream"]:
        yield stream_request(name, settings["stream"])
    if settings["isProtected"] and not has["isProtected"]:
        yield Request("UpdateTable", {**table, "DeletionProtectionEnabled": True})


def stream_request(name: str, view: str) -> Request:
    specification = {"StreamEnabled": True, "StreamViewType": view}
    return Request("UpdateTable", {"TableName": name, "StreamSpecification": specification})


def key_item(key: dict[str, str], item: Item) -> Item:
    return {name: item[name] for name in key}
