"""A table as another store is asked to make it: the keys, indexes, capacity, class and tags.

What would act on the items by itself, or forbid to delete the copy, waits until the copy is
complete: the time to live, the stream (whose consumers would take every copied item for a new
one), point-in-time recovery and the protection against deletion.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from bigtime.ops.job_state import CannotGoOn
from bigtime.ops.table_settings import describe_table, read_tags, wait_until_active
from bigtime.store import Store
from bigtime.wire import Item, Request, ResourceInUseException, Response

FOLLOWED: Final = "NEW_AND_OLD_IMAGES"


def list_tables(store: Store) -> list[str]:
    names: list[str] = []
    params: dict[str, Any] = {}
    while True:
        page = store.send(Request("ListTables", params))
        names += page["TableNames"]
        if not page.get("LastEvaluatedTableName"):
            return names
        params = {"ExclusiveStartTableName": page["LastEvaluatedTableName"]}


def key_of(table: Response) -> dict[str, str]:
    """The attributes of the main key, with their types."""
    types = {each["AttributeName"]: each["AttributeType"] for each in table["AttributeDefinitions"]}
    return {each["AttributeName"]: types[each["AttributeName"]] for each in table["KeySchema"]}


def copy_table(source: Store, target: Store, name: str) -> bool:
    """Makes the table in the target if it is missing; whether it was."""
    table = source.run(describe_table(name))
    there = target.run(describe_table(name))
    assert table is not None
    if there is not None:
        check_same_key(name, table, there)
    else:
        tags = source.run(read_tags(table["TableArn"]))
        with suppress(ResourceInUseException):  # another process may be faster
            target.send(Request("CreateTable", create_params(table, name, tags)))
    target.run(wait_until_active(name))
    return there is None


def check_same_key(name: str, table: Response, there: Response) -> None:
    if key_of(table) != key_of(there):
        raise CannotGoOn(
            f"{name} has another main key in the target ({', '.join(key_of(there))}) than in the"
            f" source ({', '.join(key_of(table))}): delete it there, or choose another target."
        )


def check_empty(target: Store, name: str) -> None:
    if target.run(describe_table(name)) is None:
        return
    if target.send(Request("Scan", {"TableName": name, "Limit": 1}))["Items"]:
        raise CannotGoOn(
            f"{name} has items in the target already, which a copy would mix with the source's:"
            " delete the table there, or choose another target. (To go on with a migration, run it"
            " with its state file.)"
        )


def create_params(table: Mapping[str, Any], name: str, tags: Mapping[str, str]) -> dict[str, Any]:
    """The CreateTable that makes a table like this one under a name."""
    params: dict[str, Any] = {
        "TableName": name,
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
        params["Tags"] = [{"Key": tag, "Value": value} for tag, value in tags.items()]
    return params


def index_params(index: Response) -> dict[str, Any]:
    kept = ("IndexName", "KeySchema", "Projection", "OnDemandThroughput")
    return {
        **{name: index[name] for name in kept if index.get(name)},
        **{name: value for name, value in capacity_of(index).items() if name != "BillingMode"},
    }


def capacity_of(described: Mapping[str, Any]) -> dict[str, Any]:
    """The provisioned throughput of a table or an index; empty if it is paid by request."""
    units = described.get("ProvisionedThroughput") or {}
    if not units.get("ReadCapacityUnits") or not units.get("WriteCapacityUnits"):
        return {}
    names = ("ReadCapacityUnits", "WriteCapacityUnits")
    return {
        "BillingMode": "PROVISIONED",
        "ProvisionedThroughput": {name: units[name] for name in names},
    }


def key_item(key: Mapping[str, str], item: Item) -> Item:
    return {name: item[name] for name in key}
