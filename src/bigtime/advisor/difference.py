"""How a live table differs from its declaration, in sentences.

It compares what is declared: keys and their types, indexes and their projections, stream,
time to live, deletion protection and tags; and, where they are declared, throughput, encryption,
point-in-time recovery, table class and replicas. AWS's own tags (`aws:...`) are ignored.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from bigtime.model import (
    Index,
    System,
    Table,
    Throughput,
    check_kind,
    describe,
    key_attributes,
    key_schema,
    recovery_days,
)
from bigtime.wire import Request, Response, Steps

REBUILD = "DynamoDB cannot change that: make a new table and copy the items"
REINDEX = "delete the index and create it again"
UNDECLARED = ("aws:", "bigtime:restored-")
"""How tags begin that are AWS's own, or say what a table was restored from (ops/restore_marks)."""

Kind: TypeAlias = Literal["missing", "changed", "extra"]
Differing: TypeAlias = Iterator[tuple[Kind, str]]
"""The differences of one table, each as a kind and a sentence."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference between a declaration and a live table."""

    kind: Kind
    """`missing`: declared but not live; `changed`: not as declared; `extra`: not declared."""
    table: str
    """The declared name of the table."""
    sentence: str
    """What differs, and what to do."""

    def __str__(self) -> str:
        return f"{self.table}: {self.sentence}"


@dataclass(frozen=True, slots=True)
class Live:
    """A live table, from DescribeTable, DescribeTimeToLive and ListTagsOfResource."""

    table: Response
    expiry: str | None
    tags: dict[str, str]
    recovery_days: int | None = None


def diff(system: System) -> Steps[list[Difference]]:
    """All differences between a system's tables and the live ones."""
    check_kind(system, "diff")
    found: list[Difference] = []
    for table in system.tables:
        found += differences(table, (yield from describe_live(table)))
    return found


def describe_live(table: Table) -> Steps[Live | None]:
    """The live table with its time to live and tags; None if there is no such table."""
    described = yield from describe(table)
    if described is None:
        return None
    expiry = yield from read_expiry(table.name)
    tags = yield from read_tags(described["TableArn"])
    days = (yield from recovery_days(table)) if table.point_in_time_recovery else None
    return Live(described, expiry, tags, days)


def read_expiry(table: str) -> Steps[str | None]:
    """The TTL attribute of a table, if TTL is on."""
    response = yield Request("DescribeTimeToLive", {"TableName": table})
    described = response["TimeToLiveDescription"]
    is_on = described.get("TimeToLiveStatus") in ("ENABLED", "ENABLING")
    return described.get("AttributeName") if is_on else None


def read_tags(arn: str) -> Steps[dict[str, str]]:
    """The tags of a table that a declaration can have."""
    tags: dict[str, str] = {}
    params = {"ResourceArn": arn}
    while True:
        page = yield Request("ListTagsOfResource", params)
        tags |= {tag["Key"]: tag["Value"] for tag in page.get("Tags") or []}
        if not page.get("NextToken"):
            return {key: value for key, value in tags.items() if not key.startswith(UNDECLARED)}
        params = {**params, "NextToken": page["NextToken"]}


def differences(table: Table, live: Live | None) -> list[Difference]:
    if live is None:
        return [Difference("missing", table.name, "the table is not there; create it")]
    stream = (live.table.get("StreamSpecification") or {}).get("StreamViewType")
    found = (
        *key_differences(table, live.table),
        *index_differences(table, live.table),
        *setting_differences("stream", table.stream, stream),
        *setting_differences("time to live", table.ttl, live.expiry),
        *protection_differences(table, live.table),
        *tag_differences(table, live.tags),
        *operation_differences(table, live),
    )
    return [Difference(kind, table.name, sentence) for kind, sentence in found]


# Keys and indexes


def key_differences(table: Table, live: Response) -> Differing:
    declared, there = schema_text(key_schema(table.main)), schema_text(live["KeySchema"])
    if declared != there:
        yield "changed", f"its key is {there}, and declared as {declared}; {REBUILD}"
    types = {
        attribute_definition["AttributeName"]: attribute_definition["AttributeType"]
        for attribute_definition in live["AttributeDefinitions"]
    }
    for attribute in key_attributes(table):
        if types.get(attribute.name, attribute.type) != attribute.type:
            yield (
                "changed",
                f"key attribute {attribute.name} is of type {types[attribute.name]}, and declared"
                f" as {attribute.type}; {REBUILD}",
            )


def schema_text(schema: list[dict[str, str]]) -> str:
    """Partition key attributes before sort key attributes, as `PK / SK`."""
    halves = (
        " + ".join(element["AttributeName"] for element in schema if element["KeyType"] == kind)
        for kind in ("HASH", "RANGE")
    )
    return " / ".join(half for half in halves if half)


def index_differences(table: Table, live: Response) -> Differing:
    there = {
        live_index["IndexName"]: (live_index, is_global)
        for arm, is_global in (("GlobalSecondaryIndexes", True), ("LocalSecondaryIndexes", False))
        for live_index in live.get(arm) or []
    }
    for index in table.indexes:
        if index.name in there:
            yield from index_changes(index, *there[index.name])
        else:
            remedy = "create it" if index.is_global else f"it is local; {REBUILD}"
            yield "missing", f"index {index.name} is not there; {remedy}"
    for name in sorted(there.keys() - {index.name for index in table.indexes}):
        yield "extra", f"index {name} is there, and not declared; declare it, or delete it"


def index_changes(index: Index, live: Response, is_global: bool) -> Differing:
    where = f"index {index.name}"
    if is_global != index.is_global:
        kinds = {True: "global", False: "local"}
        yield "changed", f"{where} is {kinds[is_global]}, and declared as {kinds[index.is_global]}"
    declared, there = schema_text(key_schema(index)), schema_text(live["KeySchema"])
    if declared != there:
        yield "changed", f"{where} has the key {there}, and is declared with {declared}; {REINDEX}"
    wanted, there = projection_text(index), live_projection_text(live["Projection"])
    if wanted != there:
        yield "changed", f"{where} projects {there}, and is declared to project {wanted}; {REINDEX}"


def projection_text(index: Index) -> str:
    return " ".join([index.projection, *sorted(index.include)])


def live_projection_text(projection: Response) -> str:
    included = projection.get("NonKeyAttributes") or []
    return " ".join([projection["ProjectionType"], *sorted(included)])


# Other settings


def setting_differences(what: str, declared: str | None, there: str | None) -> Differing:
    if declared == there:
        return
    if there is None:
        yield "missing", f"it has no {what}, and is declared with {declared}; turn it on"
    elif declared is None:
        yield "extra", f"it has a {what} ({there}) that is not declared; declare it, or turn it off"
    else:
        yield (
            "changed",
            f"its {what} is {there}, and declared as {declared}; turn it off, and on as declared",
        )


def protection_differences(table: Table, live: Response) -> Differing:
    there = bool(live.get("DeletionProtectionEnabled"))
    if there and not table.deletion_protection:
        yield "extra", "it is protected against deletion, and not declared so; declare it"
    elif table.deletion_protection and not there:
        yield "missing", "it is not protected against deletion, as declared; turn that on"


def tag_differences(table: Table, there: dict[str, str]) -> Differing:
    for key, value in table.tags.items():
        if key not in there:
            yield "missing", f"it has no tag {key}={value}; tag it"
        elif there[key] != value:
            yield "changed", f"its tag {key} is {there[key]!r}, and declared as {value!r}; tag it"
    for key in sorted(there.keys() - table.tags.keys()):
        yield "extra", f"it has a tag {key} that is not declared; declare it, or untag it"


def operation_differences(table: Table, live: Live) -> Differing:
    """Differences in operational settings, as far as these are declared."""
    yield from throughput_differences(table, live.table)
    yield from encryption_differences(table, live.table)
    found = (live.table.get("TableClassSummary") or {}).get("TableClass", "STANDARD")
    if table.table_class not in (None, found):
        yield "changed", f"its class is {found}, and declared as {table.table_class}; change it"
    days = table.point_in_time_recovery
    if days and live.recovery_days is not None:
        if not live.recovery_days:
            yield "missing", "it has no point-in-time recovery, as declared; turn it on"
        elif not isinstance(days, bool) and days != live.recovery_days:
            yield (
                "changed",
                f"it can be restored to {live.recovery_days} days, and is declared with {days};"
                " change that",
            )
    regions = {replica["RegionName"] for replica in live.table.get("Replicas") or []}
    for region in table.replicas:
        if region not in regions:
            yield "missing", f"it has no replica in {region}; add it"
    own = str(live.table.get("TableArn", "")).split(":")[3:4]
    for region in sorted(regions - {*table.replicas, *own}):
        yield (
            "extra",
            f"it has a replica in {region} that is not declared; declare it, or remove it",
        )


def throughput_differences(table: Table, live: Response) -> Differing:
    wanted = table.throughput
    if wanted is None:
        return
    there = live.get("ProvisionedThroughput") or {}
    found = Throughput(there.get("ReadCapacityUnits", 0), there.get("WriteCapacityUnits", 0))
    if found != wanted:
        paid = f"{found.read} and {found.write} units" if found.read else "by request"
        yield (
            "changed",
            f"it is paid {paid}, and declared with {wanted.read} to read and {wanted.write} to"
            " write; change it",
        )


def encryption_differences(table: Table, live: Response) -> Differing:
    there = live.get("SSEDescription") or {}
    if table.encryption is None:
        return
    if there.get("Status") not in ("ENABLED", "ENABLING", "UPDATING"):
        yield "missing", f"it is not encrypted with {table.encryption}, as declared; turn that on"
    elif table.encryption.startswith("arn:") and there.get("KMSMasterKeyArn") != table.encryption:
        yield (
            "changed",
            f"it is encrypted with {there.get('KMSMasterKeyArn')}, and declared with"
            f" {table.encryption}; change it",
        )
