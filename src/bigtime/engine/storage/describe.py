"""A table as DescribeTable shows it, and the names of resources (ARNs)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from bigtime.engine.storage.clock import DAY_SECONDS
from bigtime.engine.storage.definition import (
    IndexDefinition,
    KeyAttribute,
    TableDefinition,
    Throughput,
    VectorIndexDefinition,
)
from bigtime.wire import Response

Counts = Mapping[int, tuple[int, int]]

# A new on-demand table can serve this much at once: "Understanding DynamoDB warm throughput".
WARM_ON_DEMAND: Final = {"ReadUnitsPerSecond": 12_000, "WriteUnitsPerSecond": 4_000}


# --- Names --------------------------------------------------------------------------------


def table_arn(name: str, region: str, account: str) -> str:
    return f"arn:aws:dynamodb:{region}:{account}:table/{name}"


def index_arn(name: str, index: str, region: str, account: str) -> str:
    return f"{table_arn(name, region, account)}/index/{index}"


def stream_arn(name: str, label: str, region: str, account: str) -> str:
    return f"{table_arn(name, region, account)}/stream/{label}"


def table_name(name_or_arn: str) -> str:
    """The name of a table that a request may also give as the ARN of it or of what it owns."""
    if name_or_arn.startswith("arn:"):
        return name_or_arn.partition("/")[2].partition("/")[0]
    return name_or_arn


# --- Tables -------------------------------------------------------------------------------


def table_description(
    table: TableDefinition, *, status: str, counts: Counts, region: str, account: str, now: float
) -> Response:
    """`counts` has the items and bytes of the table and of each index, by their numbers."""
    items, size = counts.get(table.number, (0, 0))
    return {
        "AttributeDefinitions": [
            {"AttributeName": attribute.name, "AttributeType": attribute.type}
            for attribute in table.attributes
        ],
        "TableName": table.name,
        "KeySchema": key_schema([table.hash_key], table.key_attributes[1:]),
        "TableStatus": status,
        "CreationDateTime": table.created_at,
        "ProvisionedThroughput": throughput(table.throughput, table.notes, now),
        "TableSizeBytes": size,
        "ItemCount": items,
        "TableArn": table_arn(table.name, region, account),
        "TableId": table.id,
        **billing_mode_summary(table, status),
        **local_indexes(table, counts, region, account),
        **global_indexes(table, status, counts, region, account, now),
        **vector_indexes(table, status, counts, region, account),
        **stream(table, region, account),
        **encryption(table, region, account),
        **table_class(table),
        **restore_summary(table.notes),
        "DeletionProtectionEnabled": table.deletion_protected,
        **global_table(table, region, account),
        **on_demand(table.notes),
        "WarmThroughput": {
            **warm(table, table.throughput, table.notes),
            "Status": "UPDATING" if status == "CREATING" else "ACTIVE",
        },
    }


def key_schema(
    hash_key: Iterable[KeyAttribute], range_key: Iterable[KeyAttribute]
) -> list[dict[str, str]]:
    partition = [{"AttributeName": attribute.name, "KeyType": "HASH"} for attribute in hash_key]
    return partition + [
        {"AttributeName": attribute.name, "KeyType": "RANGE"} for attribute in range_key
    ]


def throughput(units: Throughput, notes: Mapping[str, Any], now: float) -> Response:
    dates = ("LastIncreaseDateTime", "LastDecreaseDateTime")
    return {
        **{date: notes[date] for date in dates if date in notes},
        "NumberOfDecreasesToday": decreases_today(notes, now),
        "ReadCapacityUnits": units.read,
        "WriteCapacityUnits": units.write,
    }


def decreases_today(notes: Mapping[str, Any], now: float) -> int:
    """How often throughput was decreased "during this UTC calendar day".

    https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_ProvisionedThroughputDescription.html
    """
    decreases: int = notes.get("NumberOfDecreasesToday", 0)
    is_today = notes.get("LastDecreaseDateTime", 0.0) // DAY_SECONDS == now // DAY_SECONDS
    return decreases if is_today else 0


def billing_mode_summary(table: TableDefinition, status: str) -> Response:
    """Shown for a table that pays per request, or that once did."""
    since = table.notes.get("LastUpdateToPayPerRequestDateTime")
    if table.billing_mode == "PROVISIONED" and since is None:
        return {}
    summary: Response = {"BillingMode": table.billing_mode}
    if status != "CREATING":
        summary["LastUpdateToPayPerRequestDateTime"] = since or table.created_at
    return {"BillingModeSummary": summary}


def stream(table: TableDefinition, region: str, account: str) -> Response:
    if table.stream is None:
        return {}
    on = {"StreamEnabled": True, "StreamViewType": table.stream.view_type}
    return {
        **({"StreamSpecification": on} if table.stream.enabled else {}),
        "LatestStreamLabel": table.stream.label,
        "LatestStreamArn": stream_arn(table.name, table.stream.label, region, account),
    }


def encryption(table: TableDefinition, region: str, account: str) -> Response:
    if table.sse is None:
        return {}
    key = table.sse["KMSMasterKeyId"]
    if not key.startswith("arn:"):
        key = key if key.startswith("alias/") else f"key/{key}"
        key = f"arn:aws:kms:{region}:{account}:{key}"
    return {
        "SSEDescription": {
            "Status": "ENABLED",
            "SSEType": table.sse["SSEType"],
            "KMSMasterKeyArn": key,
        }
    }


def table_class(table: TableDefinition) -> Response:
    if table.table_class is None:
        return {}
    summary: Response = {"TableClass": table.table_class}
    if "TableClassUpdateDateTime" in table.notes:
        summary["LastUpdateDateTime"] = table.notes["TableClassUpdateDateTime"]
    return {"TableClassSummary": summary}


def restore_summary(notes: Mapping[str, Any]) -> Response:
    """Where a restored table comes from; it is shown for good."""
    return {"RestoreSummary": notes["RestoreSummary"]} if "RestoreSummary" in notes else {}


def on_demand(notes: Mapping[str, Any]) -> Response:
    ceilings = notes.get("OnDemandThroughput")
    return {"OnDemandThroughput": ceilings} if ceilings else {}


def warm(table: TableDefinition, units: Throughput, notes: Mapping[str, Any]) -> Response:
    provisioned = {"ReadUnitsPerSecond": units.read, "WriteUnitsPerSecond": units.write}
    usual = WARM_ON_DEMAND if table.billing_mode == "PAY_PER_REQUEST" else provisioned
    return {**usual, **notes.get("WarmThroughput", {})}


# --- Replicas -----------------------------------------------------------------------------

SETTINGS_MODE: Final = {"GlobalTableSettingsReplicationMode": "ENABLED_WITH_OVERRIDES"}
OVERRIDES: Final = ("KMSMasterKeyId", "OnDemandThroughputOverride", "GlobalSecondaryIndexes")


def global_table(table: TableDefinition, region: str, account: str) -> Response:
    """The other replicas of a replica; this one is the table itself."""
    group = table.global_table
    if group is None:
        return {}
    replicas = [
        replica_description(table, name, member, account)
        for name, member in sorted(group["Members"].items())
        if name != region and member["ReplicaStatus"] != "GONE"
    ]
    return {
        "GlobalTableVersion": "2019.11.21",
        "Replicas": replicas,
        "MultiRegionConsistency": "EVENTUAL",
        **SETTINGS_MODE,
    }


def replica_description(
    table: TableDefinition, region: str, member: Mapping[str, Any], account: str
) -> Response:
    table_class = member.get("TableClassOverride", table.table_class)
    return {
        "RegionName": region,
        "ReplicaStatus": member["ReplicaStatus"],
        "ReplicaArn": table_arn(table.name, region, account),
        **{name: member[name] for name in OVERRIDES if name in member},
        **({"ReplicaTableClassSummary": {"TableClass": table_class}} if table_class else {}),
        **SETTINGS_MODE,
    }


# --- Indexes ------------------------------------------------------------------------------


def local_indexes(table: TableDefinition, counts: Counts, region: str, account: str) -> Response:
    described = [
        index_description(table, index, counts, region, account)
        for index in table.indexes
        if not index.is_global
    ]
    return {"LocalSecondaryIndexes": described} if described else {}


def global_indexes(
    table: TableDefinition, status: str, counts: Counts, region: str, account: str, now: float
) -> Response:
    described = [
        {
            **index_description(table, index, counts, region, account),
            **global_only(table, index, status, now),
        }
        for index in table.indexes
        if index.is_global
    ]
    # A table that is going has lost its global indexes first.
    return {"GlobalSecondaryIndexes": described} if described and status != "DELETING" else {}


def vector_indexes(
    table: TableDefinition, status: str, counts: Counts, region: str, account: str
) -> Response:
    described = [
        {
            **vector_index_info(index),
            "IndexStatus": "CREATING" if index.building or status == "CREATING" else "ACTIVE",
            **({"Backfilling": True} if index.building else {}),
            **index_counts(table, index, counts, region, account),
        }
        for index in table.vectors
    ]
    return {"VectorIndexes": described} if described and status != "DELETING" else {}


def vector_index_info(index: VectorIndexDefinition) -> Response:
    """What was declared of a vector index."""
    schema = [(index.hash_key, "HASH")] if index.hash_key else []
    schema += [(attribute, "INLINE_FILTER") for attribute in index.filters]
    elements = [
        {"AttributeName": attribute.name, "SearchSchemaElementType": role}
        for attribute, role in schema
    ]
    return {
        "IndexName": index.name,
        "VectorAttribute": {"AttributeName": index.attribute},
        **({"SearchSchema": elements} if elements else {}),
        "Projection": projection(index),
        "Dimensions": index.dimensions,
        "DistanceFunction": index.distance,
    }


def projection(index: IndexDefinition | VectorIndexDefinition) -> Response:
    shown: Response = {"ProjectionType": index.projection}
    if index.projection == "INCLUDE":
        shown["NonKeyAttributes"] = list(index.included)
    return shown


def index_counts(
    table: TableDefinition,
    index: IndexDefinition | VectorIndexDefinition,
    counts: Counts,
    region: str,
    account: str,
) -> Response:
    items, size = counts.get(index.number, (0, 0))
    return {
        "IndexSizeBytes": size,
        "ItemCount": items,
        "IndexArn": index_arn(table.name, index.name, region, account),
    }


def index_description(
    table: TableDefinition, index: IndexDefinition, counts: Counts, region: str, account: str
) -> Response:
    return {
        "IndexName": index.name,
        "KeySchema": key_schema(index.hash_key, index.range_key),
        "Projection": projection(index),
        **index_counts(table, index, counts, region, account),
    }


def global_only(
    table: TableDefinition, index: IndexDefinition, status: str, now: float
) -> Response:
    notes = table.notes.get("indexes", {}).get(index.name, {})
    is_new = index.building or status == "CREATING"
    return {
        "IndexStatus": "CREATING" if is_new else "ACTIVE",
        **({"Backfilling": True} if index.building else {}),
        "ProvisionedThroughput": throughput(index.throughput, notes, now),
        **on_demand(notes),
        "WarmThroughput": {
            **warm(table, index.throughput, notes),
            "Status": "UPDATING" if is_new else "ACTIVE",
        },
    }
