"""Calls whose answer no setting changes, and requests that lack what the API reference requires."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from tests.reference.outcomes import Refusal
from tests.reference.settings_run import TABLES, SettingsRun

# developerguide/ServiceQuotas.html: the initial quotas of an account and of a table
LIMITS = {
    "AccountMaxReadCapacityUnits": 80_000,
    "AccountMaxWriteCapacityUnits": 80_000,
    "TableMaxReadCapacityUnits": 40_000,
    "TableMaxWriteCapacityUnits": 40_000,
}
NO_GLOBAL_TABLE = Refusal("GlobalTableNotFoundException")
NO_REPLICAS = Refusal("ResourceNotFoundException")
REGIONS = [{"RegionName": "us-east-1"}]

REQUIRED = {
    "UpdateContributorInsights": ("tableName", "contributorInsightsAction"),
    "DescribeContributorInsights": ("tableName",),
    "EnableKinesisStreamingDestination": ("tableName", "streamArn"),
    "DisableKinesisStreamingDestination": ("tableName", "streamArn"),
    "UpdateKinesisStreamingDestination": ("tableName", "streamArn"),
    "DescribeKinesisStreamingDestination": ("tableName",),
    "PutResourcePolicy": ("resourceArn", "policy"),
    "GetResourcePolicy": ("resourceArn",),
    "DeleteResourcePolicy": ("resourceArn",),
    "CreateBackup": ("tableName", "backupName"),
    "DescribeBackup": ("backupArn",),
    "DeleteBackup": ("backupArn",),
    "DescribeContinuousBackups": ("tableName",),
    "UpdateContinuousBackups": ("tableName", "pointInTimeRecoverySpecification"),
    "DescribeStream": ("streamArn",),
    "GetShardIterator": ("streamArn", "shardId", "shardIteratorType"),
    "GetRecords": ("shardIterator",),
    "CancelBulkOperation": ("bulkOperationArn",),
    "DescribeTableReplicaAutoScaling": ("tableName",),
    "UpdateTableReplicaAutoScaling": ("tableName",),
    "CreateGlobalTable": ("globalTableName", "replicationGroup"),
    "DescribeGlobalTable": ("globalTableName",),
    "UpdateGlobalTable": ("globalTableName", "replicaUpdates"),
    "DescribeGlobalTableSettings": ("globalTableName",),
    "UpdateGlobalTableSettings": ("globalTableName",),
}
OTHERWISE_REQUIRED = (
    "TagResource",
    "UntagResource",
    "ListTagsOfResource",
    "UpdateTimeToLive",
    "DescribeTimeToLive",
)
"""Refused as well, in words of their own."""

WRONG_SIZES = {
    "ListTables": {"Limit": 101},
    "ListBackups": {"Limit": 101},
    "ListContributorInsights": {"MaxResults": 101},
    "ListExports": {"MaxResults": 26},
    "ListImports": {"PageSize": 26},
    "ListStreams": {"Limit": 0},
    "ListGlobalTables": {"Limit": 0},
}


def ask_constants(run: SettingsRun, dice: Random) -> None:
    run.expect(LIMITS, "DescribeLimits")
    address = {"Address": "dynamodb.us-east-1.amazonaws.com", "CachePeriodInMinutes": 1440}
    run.expect({"Endpoints": [address]}, "DescribeEndpoints")
    run.expect({"ImportSummaryList": []}, "ListImports")


def ask_of_global_tables(run: SettingsRun, dice: Random) -> None:
    """Of the version of 2017, of which there is none; and of replicas, which no table has."""
    name = dice.choice(TABLES)
    run.expect({"GlobalTables": []}, "ListGlobalTables")
    for operation in ("Describe", "Update"):
        settings = f"{operation}GlobalTableSettings"
        run.expect(NO_GLOBAL_TABLE, settings, GlobalTableName=name)
        scaling = f"{operation}TableReplicaAutoScaling"
        run.expect(NO_REPLICAS, scaling, TableName=name)
    run.expect(NO_GLOBAL_TABLE, "DescribeGlobalTable", GlobalTableName=name)
    # Seen on AWS: DDB-GLOBALTABLE-004 of aws-controllers-k8s/dynamodb-controller.
    asked = {"GlobalTableName": name, "ReplicaUpdates": [{"Delete": REGIONS[0]}]}
    run.expect(NO_GLOBAL_TABLE, "UpdateGlobalTable", **asked)
    for updates in ([], [{"Create": REGIONS[0]}]):
        asked = {"GlobalTableName": name, "ReplicaUpdates": updates}
        run.expect(Refusal("ValidationException"), "UpdateGlobalTable", **asked)
    if name not in run.tables:
        absent = Refusal("TableNotFoundException")
        run.expect(absent, "CreateGlobalTable", GlobalTableName=name, ReplicationGroup=REGIONS)


def leave_out(run: SettingsRun, dice: Random) -> None:
    operation = dice.choice([*REQUIRED, *OTHERWISE_REQUIRED])
    told = missing(REQUIRED[operation]) if operation in REQUIRED else None
    run.expect(Refusal("ValidationException", told), operation)


def missing(members: tuple[str, ...]) -> str:
    count = len(members)
    noun = "error" if count == 1 else "errors"
    each = (
        f"Value null at '{name}' failed to satisfy constraint: Member must not be null"
        for name in members
    )
    return f"{count} validation {noun} detected: {'; '.join(each)}"


def ask_for_too_many(run: SettingsRun, dice: Random) -> None:
    operation = dice.choice([*WRONG_SIZES])
    run.expect(Refusal("ValidationException"), operation, **WRONG_SIZES[operation])


STEPS: dict[str, Callable[[SettingsRun, Random], None]] = {
    "ask constants": ask_constants,
    "ask of global tables": ask_of_global_tables,
    "leave out": leave_out,
    "ask for too many": ask_for_too_many,
}
