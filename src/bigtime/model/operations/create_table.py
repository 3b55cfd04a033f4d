"""The CreateTable requests of tables, and the steps that create what is missing.

Creating a table takes DynamoDB a while, and so does an index. `setup` does what it can now, and the
rest when a table or an index becomes ready; in between it polls, less and less often, until its
patience runs out. Run again, it resumes where it stopped. It only ever adds: `diff` reports any
other difference, for a person to decide. That includes replicas, which copy all the data to
another region.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from bigtime.model.errors import DesignError, Unavailable
from bigtime.model.operations.op import pause
from bigtime.model.schema import MANAGED_KEY, MAX_RECOVERY_DAYS, Attribute, Index, Table, Throughput
from bigtime.model.system import System, check_mapped
from bigtime.wire import (
    LimitExceededException,
    Request,
    ResourceInUseException,
    ResourceNotFoundException,
    Response,
    Steps,
    UnknownOperationException,
)

FIRST_SECONDS = 0.25
MOST_SECONDS = 5.0


def create_table_request(table: Table, *, throughput: Throughput | None = None) -> Request:
    """The CreateTable request; billed per request unless a throughput is given or declared."""
    throughput = throughput or table.throughput
    params: dict[str, Any] = {
        "TableName": table.name,
        "AttributeDefinitions": attribute_definitions(key_attributes(table)),
        "KeySchema": key_schema(table.main),
        "BillingMode": "PROVISIONED" if throughput else "PAY_PER_REQUEST",
    }
    if throughput:
        params["ProvisionedThroughput"] = throughput.parameters()
    for name, is_global in (("GlobalSecondaryIndexes", True), ("LocalSecondaryIndexes", False)):
        indexes = [index for index in table.indexes if index.is_global == is_global]
        if indexes:
            params[name] = [index_request(index, throughput) for index in indexes]
    if table.stream:
        params["StreamSpecification"] = stream_specification(table)
    if table.encryption:
        params["SSESpecification"] = encryption_specification(table.encryption)
    if table.table_class:
        params["TableClass"] = table.table_class
    if table.deletion_protection:
        params["DeletionProtectionEnabled"] = True
    if table.tags:
        params["Tags"] = [{"Key": key, "Value": value} for key, value in table.tags.items()]
    return Request("CreateTable", params)


def key_attributes(table: Table) -> list[Attribute]:
    """The distinct key attributes of the table and its indexes."""
    indexes = (table.main, *table.indexes)
    return list(dict.fromkeys(attribute for index in indexes for attribute in index.attributes))


def attribute_definitions(attributes: list[Attribute]) -> list[dict[str, str]]:
    return [
        {"AttributeName": attribute.name, "AttributeType": attribute.type}
        for attribute in attributes
    ]


def key_schema(index: Index) -> list[dict[str, str]]:
    halves = (("HASH", index.hash), ("RANGE", index.range))
    return [{"AttributeName": each.name, "KeyType": kind} for kind, half in halves for each in half]


def index_request(index: Index, throughput: Throughput | None = None) -> dict[str, Any]:
    projection: dict[str, Any] = {"ProjectionType": index.projection}
    if index.include:
        projection["NonKeyAttributes"] = list(index.include)
    request = {
        "IndexName": index.name,
        "KeySchema": key_schema(index),
        "Projection": projection,
    }
    if throughput and index.is_global:
        request["ProvisionedThroughput"] = throughput.parameters()
    return request


def stream_specification(table: Table) -> dict[str, Any]:
    return {"StreamEnabled": True, "StreamViewType": table.stream}


def encryption_specification(key: str) -> dict[str, Any]:
    managed = {"Enabled": True, "SSEType": "KMS"}
    return managed if key == MANAGED_KEY else {**managed, "KMSMasterKeyId": key}


def recovery_request(table: Table) -> Request:
    """The UpdateContinuousBackups request that turns point-in-time recovery on."""
    days = table.point_in_time_recovery
    specification: dict[str, Any] = {"PointInTimeRecoveryEnabled": True}
    if not isinstance(days, bool):
        specification["RecoveryPeriodInDays"] = days
    return Request(
        "UpdateContinuousBackups",
        {"TableName": table.name, "PointInTimeRecoverySpecification": specification},
    )


def time_to_live_request(table: Table) -> Request | None:
    """The UpdateTimeToLive request of a table; None if its items do not expire."""
    if table.ttl is None:
        return None
    specification = {"Enabled": True, "AttributeName": table.ttl}
    return Request(
        "UpdateTimeToLive", {"TableName": table.name, "TimeToLiveSpecification": specification}
    )


def create_index_request(table: Table, index: Index) -> Request:
    """The UpdateTable request that adds a global index."""
    return Request(
        "UpdateTable",
        {
            "TableName": table.name,
            "AttributeDefinitions": attribute_definitions(list(index.attributes)),
            "GlobalSecondaryIndexUpdates": [{"Create": index_request(index, table.throughput)}],
        },
    )


def create_stream_request(table: Table) -> Request:
    """The UpdateTable request that turns the stream on."""
    specification = stream_specification(table)
    return Request("UpdateTable", {"TableName": table.name, "StreamSpecification": specification})


# Creating what is missing


@dataclass(frozen=True, slots=True)
class Progress:
    """What a run of `setup` created, and what is still pending."""

    made: list[str] = field(default_factory=list)
    """Descriptions of what this run has created."""
    pending: list[str] = field(default_factory=list)
    """Descriptions of what is not ready yet."""


class NotReady(Unavailable):
    """The tables are still being made: set them up again in a while."""

    def __init__(self, progress: Progress | None = None) -> None:
        self.progress = progress or Progress()
        waiting = "; ".join(self.progress.pending)
        super().__init__(f"Not ready yet: {waiting}. Run it again later." if waiting else None)


def setup(*wanted: System | Table, patience_seconds: float = 600.0) -> Steps[Progress]:
    """Creates the tables, global indexes, streams and TTL settings that are missing.

    It waits until they are ready, and raises `NotReady` when its patience runs out. With a patience
    of zero it does not wait, and returns what is `pending`.
    """
    return wait_for_tables(tables_of(wanted), patience_seconds)


def tables_of(wanted: tuple[System | Table, ...]) -> list[Table]:
    tables: list[Table] = []
    for each in wanted:
        if isinstance(each, System):
            tables += each.tables
        elif isinstance(each, Table):
            check_mapped(each)
            tables.append(each)
        else:
            raise DesignError(f"setup() takes a system, or tables; {each!r} is neither")
    if not tables:
        raise DesignError("there is nothing to set up; say what, as in setup(SYSTEM)")
    return list(dict.fromkeys(tables))


def wait_for_tables(tables: list[Table], patience_seconds: float) -> Steps[Progress]:
    made: list[str] = []
    seconds, left = FIRST_SECONDS, patience_seconds
    while True:
        progress = yield from set_up_step(tables)
        made += progress.made
        progress = Progress(made, progress.pending)
        if not progress.pending or not patience_seconds:
            return progress
        if left <= 0:
            raise NotReady(progress)
        yield from pause(min(seconds, left))
        seconds, left = min(2 * seconds, MOST_SECONDS), left - seconds


def set_up_step(tables: list[Table]) -> Steps[Progress]:
    """Does what can be done now."""
    progress = Progress()
    for table in tables:
        if (yield from describe(table)) is None:
            yield from make_table(table, progress)
    for table in tables:
        yield from complete(table, progress)
    return progress


def describe(table: Table) -> Steps[Response | None]:
    """The live table's description; None if there is no such table."""
    try:
        response = yield Request("DescribeTable", {"TableName": table.name})
    except ResourceNotFoundException:
        return None
    described: Response = response["Table"]
    return described


def make_table(table: Table, progress: Progress) -> Steps[None]:
    try:
        yield create_table_request(table)
    except ResourceInUseException:
        return  # another process created it first
    progress.made.append(f"table {table.name}")


def complete(table: Table, progress: Progress) -> Steps[None]:
    """Adds what a table lacks, one change at a time, for as long as the table is ready."""
    for _ in range(len(table.indexes) + 2):  # the indexes, the stream, and a final check
        live = yield from describe(table)
        if live is None or not is_ready(live):
            progress.pending.append(f"table {table.name} is being made or changed")
            return
        lacking = list(lacked_requests(table, live))
        if not lacking:
            break
        what, request = lacking[0]
        try:
            yield request
        except (ResourceInUseException, LimitExceededException) as error:
            progress.pending.append(f"{what} has to wait: {error}")
            return
        progress.made.append(what)
    yield from expire(table, progress)
    if table.point_in_time_recovery:
        yield from protect(table, progress)


def is_ready(live: Response) -> bool:
    indexes = live.get("GlobalSecondaryIndexes") or []
    states = [live.get("TableStatus"), *(index.get("IndexStatus") for index in indexes)]
    return all(state == "ACTIVE" for state in states)


def lacked_requests(table: Table, live: Response) -> Iterator[tuple[str, Request]]:
    """What a live table lacks, each with its request; DynamoDB takes one of them at a time."""
    there = {each["IndexName"] for each in live.get("GlobalSecondaryIndexes") or []}
    for index in table.indexes:
        if index.is_global and index.name not in there:
            yield f"index {index.name} of {table.name}", create_index_request(table, index)
    streaming = (live.get("StreamSpecification") or {}).get("StreamEnabled")
    if table.stream and not streaming:
        yield f"stream of {table.name}", create_stream_request(table)


def recovery_days(table: Table) -> Steps[int | None]:
    """The recovery period of a live table in days; 0 if it is off, None where unsupported."""
    try:
        response = yield Request("DescribeContinuousBackups", {"TableName": table.name})
    except UnknownOperationException:
        return None
    described = response["ContinuousBackupsDescription"].get("PointInTimeRecoveryDescription", {})
    is_on = described.get("PointInTimeRecoveryStatus") == "ENABLED"
    days: int = described.get("RecoveryPeriodInDays", MAX_RECOVERY_DAYS) if is_on else 0
    return days


def protect(table: Table, progress: Progress) -> Steps[None]:
    """Turns point-in-time recovery on if it is off; does nothing on an endpoint without it."""
    if (yield from recovery_days(table)) == 0:
        yield recovery_request(table)
        progress.made.append(f"point-in-time recovery of {table.name}")


def expire(table: Table, progress: Progress) -> Steps[None]:
    """Turns time to live on if it is off."""
    wanted = time_to_live_request(table)
    if wanted is None:
        return
    response = yield Request("DescribeTimeToLive", {"TableName": table.name})
    status = response["TimeToLiveDescription"].get("TimeToLiveStatus", "DISABLED")
    if status == "DISABLED":
        yield wanted
        progress.made.append(f"time to live of {table.name}")
    elif status == "DISABLING":
        progress.pending.append(f"time to live of {table.name} is being turned off")
