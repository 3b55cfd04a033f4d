"""The API of global tables version 2017.11.29, and of replica auto scaling.

This engine implements version 2019.11.21 alone. As in AWS, the older calls do not see its tables as
global tables. Replicas are on-demand, so none has auto scaling settings, and only switching it off
is accepted.

AWS: "Global tables legacy", and what AWS's controller has seen of these calls.
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/globaltables.V1.html
https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/table-global-tables.md
"""

from __future__ import annotations

from typing import Final

from bigtime import wire
from bigtime.engine.operations import replicas, table_schema
from bigtime.engine.storage import Database, TableDefinition
from bigtime.wire import Params, Response

NOT_SUPPORTED: Final = (
    "DynamoDB global tables version 2017.11.29 is not supported. We recommend using DynamoDB "
    "global tables version 2019.11.21, instead of version 2017.11.29 (Legacy)."
)
OFF: Final = {"AutoScalingDisabled": True}
NO_SCALING: Final = {**OFF, "ScalingPolicies": []}
READ, WRITE = "ProvisionedReadCapacityAutoScaling", "ProvisionedWriteCapacityAutoScaling"


def create_global_table(database: Database, params: Params) -> Response:
    name = params["GlobalTableName"]
    database.catalogue.refresh()
    if name not in database.catalogue.tables:
        raise wire.TableNotFoundException(f"Table not found: {name}")
    table_schema.invalid(NOT_SUPPORTED)


def update_global_table(database: Database, params: Params) -> Response:
    """(DDB-GLOBALTABLE-004: a Create is refused before the table is looked for)"""
    updates = params["ReplicaUpdates"]
    if not updates or not all(updates):
        raise wire.ValidationException(wire.values.INVALID.removesuffix(": "))
    if any("Create" in update for update in updates):
        table_schema.invalid(NOT_SUPPORTED)
    raise no_global_table(params, "Global table not found: ")


def describe_global_table(database: Database, params: Params) -> Response:
    raise no_global_table(params, "Global table not found: ")


def list_global_tables(database: Database, params: Params) -> Response:
    return {"GlobalTables": []}


def refuse_settings(database: Database, params: Params) -> Response:
    raise no_global_table(params)


def no_global_table(params: Params, before: str = "") -> wire.GlobalTableNotFoundException:
    name = params["GlobalTableName"]
    return wire.GlobalTableNotFoundException(
        f"{before}Global table with name: '{name}' does not exist."
    )


def describe_replica_auto_scaling(database: Database, params: Params) -> Response:
    return description(find_global_table(database, params))


def description(table: TableDefinition) -> Response:
    """Every replica, the own one too, without settings (DDB-TABLE-232, -289, -323)."""
    group = table.global_table or {"Members": {}}
    indexes = [
        {
            "IndexName": index.name,
            "IndexStatus": "ACTIVE",
            f"{READ}Settings": NO_SCALING,
            f"{WRITE}Settings": NO_SCALING,
        }
        for index in table.indexes
        if index.is_global and not index.building
    ]
    described = [
        {
            "RegionName": region,
            "GlobalSecondaryIndexes": indexes,
            f"Replica{READ}Settings": NO_SCALING,
            f"Replica{WRITE}Settings": NO_SCALING,
            "ReplicaStatus": member["ReplicaStatus"],
        }
        for region, member in sorted(group["Members"].items())
        if member["ReplicaStatus"] != replicas.GONE
    ]
    status = "UPDATING" if replicas.is_changing(table) else "ACTIVE"
    about = {"TableName": table.name, "TableStatus": status, "Replicas": described}
    return {"TableAutoScalingDescription": about}


def update_replica_auto_scaling(database: Database, params: Params) -> Response:
    """Accepts that auto scaling is off, and nothing else (DDB-TABLE-190, -255)."""
    table = find_global_table(database, params)
    failed = f"Failed to update settings for global table with name: \u2018{table.name}\u2019"
    if not params.keys() > {"TableName"}:
        raise wire.ValidationException(
            f"{failed} because at least one update parameter must be specified."
        )
    for update in params.get("ReplicaUpdates", ()):
        if not update.keys() > {"RegionName"}:
            raise wire.ValidationException(
                f"{failed} because at least one update parameter must be specified for region: "
                f"\u2018{update['RegionName']}\u2019."
            )
    wanted = wanted_settings(params)
    if wanted:
        named = ", ".join(f"'{region.upper()}'" for region in sorted(regions_of(table)))
        raise wire.ValidationException(
            f"Failed to update global table with name \u2018{table.name}\u2018. Replicas {named} "
            "BillingMode is PayPerRequest. You must convert table's BillingMode to PROVISIONED to "
            f"set parameters: {', '.join(wanted)}."
        )
    return description(table)


def regions_of(table: TableDefinition) -> list[str]:
    members = (table.global_table or {"Members": {}})["Members"]
    return [name for name, each in members.items() if each["ReplicaStatus"] != replicas.GONE]


def wanted_settings(params: Params) -> list[str]:
    """The settings that are more than switching auto scaling off, as AWS's message names them."""
    replica_reads = [
        update[f"Replica{READ}Update"]
        for update in params.get("ReplicaUpdates", ())
        if f"Replica{READ}Update" in update
    ]
    indexes = [
        *params.get("GlobalSecondaryIndexUpdates", ()),
        *(
            index
            for update in params.get("ReplicaUpdates", ())
            for index in update.get("ReplicaGlobalSecondaryIndexUpdates", ())
        ),
    ]
    of_indexes = [each for index in indexes for each in index.values() if isinstance(each, dict)]
    asked = {
        f"'GlobalTable{WRITE}SettingsUpdate'": [params.get(f"{WRITE}Update", OFF)],
        f"'Replica{READ}SettingsUpdate'": replica_reads,
        "'GlobalSecondaryIndexUpdates'": of_indexes,
    }
    return [name for name, updates in asked.items() if any(each != OFF for each in updates)]


def find_global_table(database: Database, params: Params) -> TableDefinition:
    """The table, if it has replicas: only global tables have these settings."""
    name = database.table_name(params["TableName"])
    database.catalogue.refresh()
    table = database.catalogue.tables.get(name)
    if table is None or not table.definition.global_table:
        raise wire.ResourceNotFoundException(f"Global table with name: '{name}' does not exist.")
    return table.definition
