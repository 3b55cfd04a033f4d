"""The API of global tables version 2017.11.29, and of replica auto scaling.

This engine implements version 2019.11.21 alone. As in AWS, the older calls do not see its tables as
global tables. Replicas are on-demand, so none has auto scaling settings.

AWS: "Global tables legacy", and what AWS's controller has seen of these calls.
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/globaltables.V1.html
https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/table-global-tables.md
"""

from __future__ import annotations

from bigtime import wire
from bigtime.engine.operations import replicas, table_schema
from bigtime.engine.storage import Database, TableDefinition
from bigtime.wire import Params, Response


def create_global_table(database: Database, params: Params) -> Response:
    name = params["GlobalTableName"]
    database.catalogue.refresh()
    if name not in database.catalogue.tables:
        raise wire.TableNotFoundException(f"Table not found: {name}")
    table_schema.invalid(
        "DynamoDB global tables version 2017.11.29 is not supported. We recommend using DynamoDB "
        "global tables version 2019.11.21, instead of version 2017.11.29 (Legacy)."
    )


def list_global_tables(database: Database, params: Params) -> Response:
    return {"GlobalTables": []}


def refuse_legacy(database: Database, params: Params) -> Response:
    name = params["GlobalTableName"]
    raise wire.GlobalTableNotFoundException(f"Global table not found: {name}")


def describe_replica_auto_scaling(database: Database, params: Params) -> Response:
    table = find_global_table(database, params)
    group = table.global_table or {"Members": {}}
    indexes = [
        {"IndexName": index.name, "IndexStatus": "CREATING" if index.building else "ACTIVE"}
        for index in table.indexes
        if index.is_global
    ]
    described = [
        {
            "RegionName": region,
            **({"GlobalSecondaryIndexes": indexes} if indexes else {}),
            "ReplicaStatus": member["ReplicaStatus"],
        }
        for region, member in sorted(group["Members"].items())
        if member["ReplicaStatus"] != replicas.GONE
    ]
    status = "UPDATING" if replicas.is_changing(table) else "ACTIVE"
    description = {"TableName": table.name, "TableStatus": status, "Replicas": described}
    return {"TableAutoScalingDescription": description}


def update_replica_auto_scaling(database: Database, params: Params) -> Response:
    find_global_table(database, params)
    table_schema.invalid(
        "Auto scaling cannot be set for a table whose BillingMode is PAY_PER_REQUEST"
    )


def find_global_table(database: Database, params: Params) -> TableDefinition:
    """The table, if it has replicas: only global tables have these settings."""
    name = database.table_name(params["TableName"])
    database.catalogue.refresh()
    table = database.catalogue.tables.get(name)
    if table is None or not table.definition.global_table:
        raise wire.ResourceNotFoundException(f"Global table with name: '{name}' does not exist.")
    return table.definition
