"""A table as DescribeTable shows it, and the names of resources (ARNs)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from operator import attrgetter
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

# What a new on-demand table can serve immediately. AWS: "Understanding DynamoDB warm throughput"
# https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/warm-throughput.html
WARM_ON_DEMAND: Final = {"ReadUnitsPerSecond": 12_000, "WriteUnitsPerSecond": 4_000}


SETTINGS_MODE: Final = {"GlobalTableSettingsReplicationMode": "ENABLED_WITH_OVERRIDES"}
OVERRIDES: Final = ("OnDemandThroughputOverride",)


# --- Names --------------------------------------------------------------------------------


def table_arn(name: str, region: str, account: str) -> str:
    return f"arn:aws:dynamodb:{region}:{account}:table/{name}"


def index_arn(name: str, index: str, region: str, account: str) -> str:
    return f"{table_arn(name, region, account)}/index/{index}"


def stream_arn(name: str, label: str, region: str, account: str) -> str:
    return f"{table_arn(name, region, account)}/stream/{label}"


def key_arn(key: str, region: str, account: str) -> str:
    """The ARN of a KMS key given by its ARN, its id or its alias."""
    if key.startswith("arn:"):
        return key
    name = key if key.startswith("alias/") else f"key/{key}"
    return f"arn:aws:kms:{region}:{account}:{name}"


def table_name(name_or_arn: str) -> str:
    """The table's name, given that name, its ARN, or the ARN of anything that belongs to it."""
    if name_or_arn.startswith("arn:"):
        return name_or_arn.partition("/")[2].partition("/")[0]
    return name_or_arn


# --- Tables -------------------------------------------------------------------------------


def table_description(
    table: TableDefinition, *, status: str, counts: Counts, region: str, account: str, now: float
) -> Response:
    """`counts` has the items and bytes of the table and of each index, by their numbers."""
    return Description(table, status, counts, region, account, now).whole()


@dataclass(frozen=True, slots=True)
class Description:
    """A table with its status and counts, and where and when it is described.

    Attributes are sorted by name: DDB-TABLE-125 of aws-controllers-k8s/dynamodb-controller.
    """

    table: TableDefinition
    status: str
    counts: Counts
    region: str
    account: str
    now: float

    def whole(self) -> Response:
        table = self.table
        items, size = self.counts.get(table.number, (0, 0))
        return {
            "AttributeDefinitions": [
                {"AttributeName": attribute.name, "AttributeType": attribute.type}
                for attribute in sorted(table.attributes, key=attrgetter("name"))
            ],
            "TableName": table.name,
            "KeySchema": key_schema([table.hash_key], table.key_attributes[1:]),
            "TableStatus": self.status,
            "CreationDateTime": table.created_at,
            "ProvisionedThroughput": throughput(table.throughput, table.notes, self.now),
            "TableSizeBytes": size,
            "ItemCount": items,
            "TableArn": table_arn(table.name, self.region, self.account),
            "TableId": table.id,
            **self.billing_mode_summary(),
            **self.local_indexes(),
            **self.global_indexes(),
            **self.vector_indexes(),
            **self.stream(),
            **self.encryption(),
            **table_class(table),
            **restore_summary(table.notes),
            "DeletionProtectionEnabled": table.deletion_protected,
            **self.global_table(),
            **on_demand(table.notes),
            "WarmThroughput": {
                **warm(table, table.throughput, table.notes),
                "Status": "UPDATING" if self.status == "CREATING" else "ACTIVE",
            },
        }

    def billing_mode_summary(self) -> Response:
        """Shown for a table that is, or once was, billed per request.

        https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BillingModeSummary.html
        """
        table = self.table
        since = table.notes.get("LastUpdateToPayPerRequestDateTime")
        if table.billing_mode == "PROVISIONED" and since is None:
            return {}
        summary: Response = {"BillingMode": table.billing_mode}
        if self.status != "CREATING":
            summary["LastUpdateToPayPerRequestDateTime"] = since or table.created_at
        return {"BillingModeSummary": summary}

    def stream(self) -> Response:
        name, stream = self.table.name, self.table.stream
        if stream is None:
            return {}
        on = {"StreamEnabled": True, "StreamViewType": stream.view_type}
        return {
            **({"StreamSpecification": on} if stream.enabled else {}),
            "LatestStreamLabel": stream.label,
            "LatestStreamArn": stream_arn(name, stream.label, self.region, self.account),
        }

    def encryption(self) -> Response:
        sse = self.table.sse
        if sse is None:
            return {}
        key = key_arn(sse["KMSMasterKeyId"], self.region, self.account)
        shown = {"Status": "ENABLED", "SSEType": sse["SSEType"], "KMSMasterKeyArn": key}
        return {"SSEDescription": shown}

    # --- Indexes ---

    def local_indexes(self) -> Response:
        described = [
            self.index_description(index) for index in self.table.indexes if not index.is_global
        ]
        return {"LocalSecondaryIndexes": described} if described else {}

    def global_indexes(self) -> Response:
        described = [
            {**self.index_description(index), **self.global_only(index)}
            for index in self.table.indexes
            if index.is_global
        ]
        # A table being deleted no longer shows its global indexes. Source: dynalite,
        # https://github.com/architect/dynalite/blob/master/actions/deleteTable.js
        is_shown = described and self.status != "DELETING"
        return {"GlobalSecondaryIndexes": described} if is_shown else {}

    def vector_indexes(self) -> Response:
        described = [
            {
                **vector_index_info(index),
                "IndexStatus": "CREATING" if self.is_new(index) else "ACTIVE",
                **({"Backfilling": True} if index.building else {}),
                **self.index_counts(index),
            }
            for index in self.table.vectors
        ]
        is_shown = described and self.status != "DELETING"
        return {"VectorIndexes": described} if is_shown else {}

    def is_new(self, index: IndexDefinition | VectorIndexDefinition) -> bool:
        return index.building or self.status == "CREATING"

    def index_description(self, index: IndexDefinition) -> Response:
        return {
            "IndexName": index.name,
            "KeySchema": key_schema(index.hash_key, index.range_key),
            "Projection": projection(index),
            **self.index_counts(index),
        }

    def index_counts(self, index: IndexDefinition | VectorIndexDefinition) -> Response:
        items, size = self.counts.get(index.number, (0, 0))
        arn = index_arn(self.table.name, index.name, self.region, self.account)
        return {"IndexSizeBytes": size, "ItemCount": items, "IndexArn": arn}

    def global_only(self, index: IndexDefinition) -> Response:
        notes = self.table.notes.get("indexes", {}).get(index.name, {})
        is_new = self.is_new(index)
        return {
            **self.index_status(index),
            **({"Backfilling": True} if index.building else {}),
            "ProvisionedThroughput": throughput(index.throughput, notes, self.now),
            **on_demand(notes),
            "WarmThroughput": {
                **warm(self.table, index.throughput, notes),
                "Status": "UPDATING" if is_new else "ACTIVE",
            },
        }

    def index_status(self, index: IndexDefinition) -> Response:
        """Absent during a restore: DDB-TABLE-282 of aws-controllers-k8s/dynamodb-controller."""
        if self.status == "CREATING" and "RestoreSummary" in self.table.notes:
            return {}
        return {"IndexStatus": "CREATING" if self.is_new(index) else "ACTIVE"}

    # --- Replicas ---

    def global_table(self) -> Response:
        """The other replicas of the global table; this one is the table itself."""
        group = self.table.global_table
        if group is None:
            return {}
        replicas = [
            self.replica_description(name, member)
            for name, member in sorted(group["Members"].items())
            if name != self.region and member["ReplicaStatus"] != "GONE"
        ]
        return {
            "GlobalTableVersion": "2019.11.21",
            "Replicas": replicas,
            **SETTINGS_MODE,
        }

    def replica_description(self, region: str, member: Mapping[str, Any]) -> Response:
        """What was seen on AWS: no ARN, nothing inherited (DDB-TABLE-201, -229, -252, -309)."""
        table_class = member.get("TableClassOverride", self.table.table_class)
        return {
            "RegionName": region,
            "ReplicaStatus": member["ReplicaStatus"],
            **{name: member[name] for name in OVERRIDES if name in member},
            **self.replica_key(region, member),
            **self.replica_indexes(member),
            "WarmThroughput": {
                **warm(self.table, self.table.throughput, self.table.notes),
                "Status": "ACTIVE",
            },
            **({"ReplicaTableClassSummary": {"TableClass": table_class}} if table_class else {}),
            **SETTINGS_MODE,
        }

    def replica_key(self, region: str, member: Mapping[str, Any]) -> Response:
        key = member.get("KMSMasterKeyId")
        return {"KMSMasterKeyId": key_arn(key, region, self.account)} if key else {}

    def replica_indexes(self, member: Mapping[str, Any]) -> Response:
        own = {each["IndexName"]: each for each in member.get("GlobalSecondaryIndexes", ())}
        noted = self.table.notes.get("indexes", {})
        shown = [
            {
                "IndexName": index.name,
                **own.get(index.name, {}),
                "WarmThroughput": {
                    **warm(self.table, index.throughput, noted.get(index.name, {})),
                    "Status": "ACTIVE",
                },
            }
            for index in self.table.indexes
            if index.is_global
        ]
        return {"GlobalSecondaryIndexes": shown} if shown else {}


# --- Parts --------------------------------------------------------------------------------


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


def table_class(table: TableDefinition) -> Response:
    if table.table_class is None:
        return {}
    summary: Response = {"TableClass": table.table_class}
    if "TableClassUpdateDateTime" in table.notes:
        summary["LastUpdateDateTime"] = table.notes["TableClassUpdateDateTime"]
    return {"TableClassSummary": summary}


def restore_summary(notes: Mapping[str, Any]) -> Response:
    """The source of a table that is being restored (DDB-TABLE-216): its end drops the note."""
    return {"RestoreSummary": notes["RestoreSummary"]} if "RestoreSummary" in notes else {}


def on_demand(notes: Mapping[str, Any]) -> Response:
    ceilings = notes.get("OnDemandThroughput")
    return {"OnDemandThroughput": ceilings} if ceilings else {}


def warm(table: TableDefinition, units: Throughput, notes: Mapping[str, Any]) -> Response:
    provisioned = {"ReadUnitsPerSecond": units.read, "WriteUnitsPerSecond": units.write}
    usual = WARM_ON_DEMAND if table.billing_mode == "PAY_PER_REQUEST" else provisioned
    noted = notes.get("WarmThroughput", {})
    return {unit: max(value, noted.get(unit, 0)) for unit, value in usual.items()}


def vector_index_info(index: VectorIndexDefinition) -> Response:
    """A vector index as declared."""
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
        shown["NonKeyAttributes"] = sorted(index.included)
    return shown
