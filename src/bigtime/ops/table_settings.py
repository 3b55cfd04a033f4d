"""The settings of a table besides its keys and indexes, copied from one table to another.

A restored table lacks them, a copy in another store gets them once its items are there, and an
environment declares them: stream, time to live, tags, encryption, table class, point-in-time
recovery, replicas, deletion protection.

AWS: "Restore a DynamoDB table from a backup", settings that must be set up by hand
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Restore.Tutorial.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bigtime import model as bt
from bigtime.ops.job_state import CannotGoOn
from bigtime.wire import Request, ResourceNotFoundException, Response, Steps

POLL_SECONDS = 0.5
POLLS = 7_200
UNSEEN_POLLS = 20
STANDARD = "STANDARD"
ON = ("ENABLED", "ENABLING", "UPDATING")
MARK = "bigtime:restored-"
"""How the tags begin that say what a table was restored from (`restore_marks`)."""


class NotActive(CannotGoOn):
    """A table that did not become active in time."""


@dataclass(frozen=True, slots=True)
class TableSettings:
    """The settings of a table that a restore does not bring back."""

    stream: str | None = None
    ttl: str | None = None
    recovery_days: int | None = None
    protected: bool = False
    tags: Mapping[str, str] = field(default_factory=dict)
    replicas: Sequence[str] = ()
    encryption: str | None = None
    """`MANAGED_KEY` or the id of a key; when read from a table always the former, because a
    customer's key belongs to one account and region."""
    table_class: str | None = None
    """None is STANDARD, which every restored table has."""


def describe_table(name: str) -> Steps[Response | None]:
    """What DescribeTable returns for a table; None if it does not exist."""
    try:
        described: Response = yield Request("DescribeTable", {"TableName": name})
    except ResourceNotFoundException:
        return None
    table: Response = described["Table"]
    return table


def wait_until_active(name: str) -> Steps[Response]:
    """The table once it is active. One just created may not be visible at once."""
    for poll in range(POLLS):
        table = yield from describe_active(name, poll)
        if table is not None:
            return table
        yield from bt.pause(POLL_SECONDS)
    raise not_ready(name)


def describe_active(name: str, poll: int) -> Steps[Response | None]:
    """The table if it is active, at the `poll`th look at it; an error if it is gone by then."""
    table = yield from describe_table(name)
    if table is None and poll >= UNSEEN_POLLS:
        raise NotActive(
            f"{name} is not there any more: its restore was given up, and the log says why."
            " Run the same again, or restore another backup."
        )
    return table if table is not None and table["TableStatus"] == "ACTIVE" else None


def not_ready(name: str) -> NotActive:
    return NotActive(
        f"{name} is not ready after {POLLS * POLL_SECONDS:.0f} s: run the same again to continue."
    )


def read_settings(name: str) -> Steps[TableSettings]:
    """The settings of an existing table."""
    described: Response = yield Request("DescribeTable", {"TableName": name})
    table = described["Table"]
    times: Response = yield Request("DescribeTimeToLive", {"TableName": name})
    ttl = times["TimeToLiveDescription"]
    backups: Response = yield Request("DescribeContinuousBackups", {"TableName": name})
    recovery = backups["ContinuousBackupsDescription"].get("PointInTimeRecoveryDescription", {})
    stream = table.get("StreamSpecification") or {}
    table_class = (table.get("TableClassSummary") or {}).get("TableClass", STANDARD)
    is_encrypted = (table.get("SSEDescription") or {}).get("Status") in ON
    return TableSettings(
        stream=stream["StreamViewType"] if stream.get("StreamEnabled") else None,
        ttl=ttl["AttributeName"] if ttl["TimeToLiveStatus"] in ON else None,
        recovery_days=(
            recovery.get("RecoveryPeriodInDays", 35)
            if recovery.get("PointInTimeRecoveryStatus") == "ENABLED"
            else None
        ),
        protected=table.get("DeletionProtectionEnabled", False),
        tags=(yield from read_tags(table["TableArn"])),
        replicas=[each["RegionName"] for each in table.get("Replicas") or []],
        encryption=bt.MANAGED_KEY if is_encrypted else None,
        table_class=None if table_class == STANDARD else table_class,
    )


def read_tags(arn: str) -> Steps[dict[str, str]]:
    """The table's tags, without those of AWS's own services, which cannot be set, and without the
    marks of a restore, which are no setting."""
    tags = yield from read_all_tags(arn)
    return {tag: value for tag, value in tags.items() if not tag.startswith(("aws:", MARK))}


def read_all_tags(arn: str) -> Steps[dict[str, str]]:
    tags: dict[str, str] = {}
    params = {"ResourceArn": arn}
    while True:
        page: Response = yield Request("ListTagsOfResource", params)
        tags |= {tag["Key"]: tag["Value"] for tag in page.get("Tags", [])}
        if not page.get("NextToken"):
            return tags
        params = {**params, "NextToken": page["NextToken"]}


def declared_settings(table: bt.Table) -> TableSettings:
    """What an environment adds to a table; `setup` has already set its stream and time to live."""
    days = table.point_in_time_recovery
    return TableSettings(
        recovery_days=None if isinstance(days, bool) else days,
        protected=table.deletion_protection,
        tags=table.tags,
        replicas=table.replicas,
        encryption=table.encryption,
    )


def settle(system: bt.System) -> Steps[list[str]]:
    """Gives the existing tables what is declared; returns what was set, in words.

    `setup` only creates what is missing: whether a table may be changed is for the person who
    names the environment to know.
    """
    done: list[str] = []
    for table in system.tables:
        if (yield from describe_table(table.name)) is not None:
            given = yield from give_settings(table.name, declared_settings(table))
            done += [f"{what} of {table.name}" for what in given]
    return done


def give_settings(name: str, wanted: TableSettings) -> Steps[list[str]]:
    """Gives a table those of these settings that it lacks; returns what was done, in words."""
    has = yield from read_settings(name)
    done: list[str] = []
    for what, request in missing_settings(name, has, wanted):
        yield from wait_until_active(name)  # DynamoDB accepts one change of a table at a time
        yield request
        done.append(what)
    table = yield from wait_until_active(name)
    if missing := {tag: value for tag, value in wanted.tags.items() if has.tags.get(tag) != value}:
        tags = [{"Key": tag, "Value": value} for tag, value in missing.items()]
        yield Request("TagResource", {"ResourceArn": table["TableArn"], "Tags": tags})
        done.append(f"{len(missing)} tags")
    return done


def missing_settings(
    name: str, has: TableSettings, wanted: TableSettings
) -> Iterator[tuple[str, Request]]:
    """The changes that a table needs, each with its request. A stream's view and the attribute
    that items expire by are not changed once they are on."""
    table = {"TableName": name}
    if wanted.stream and not has.stream:
        yield f"a stream of {wanted.stream}", stream_request(name, wanted.stream)
    if wanted.ttl and not has.ttl:
        ttl = {"AttributeName": wanted.ttl, "Enabled": True}
        request = Request("UpdateTimeToLive", {**table, "TimeToLiveSpecification": ttl})
        yield f"time to live by {wanted.ttl}", request
    if wanted.recovery_days and has.recovery_days != wanted.recovery_days:
        days = wanted.recovery_days
        recovery = {"PointInTimeRecoveryEnabled": True, "RecoveryPeriodInDays": days}
        params = {**table, "PointInTimeRecoverySpecification": recovery}
        yield f"point-in-time recovery of {days} days", Request("UpdateContinuousBackups", params)
    if wanted.encryption and not has.encryption:
        key = {} if wanted.encryption == bt.MANAGED_KEY else {"KMSMasterKeyId": wanted.encryption}
        sse = {"Enabled": True, "SSEType": "KMS", **key}
        yield "encryption", Request("UpdateTable", {**table, "SSESpecification": sse})
    if wanted.table_class and has.table_class != wanted.table_class:
        request = Request("UpdateTable", {**table, "TableClass": wanted.table_class})
        yield f"table class {wanted.table_class}", request
    for region in sorted({*wanted.replicas} - {*has.replicas}):
        yield f"a replica in {region}", replica_request(name, {"RegionName": region})
    if wanted.protected and not has.protected:
        yield (
            "deletion protection",
            Request("UpdateTable", {**table, "DeletionProtectionEnabled": True}),
        )


def stream_request(name: str, view: str) -> Request:
    specification = {"StreamEnabled": True, "StreamViewType": view}
    return Request("UpdateTable", {"TableName": name, "StreamSpecification": specification})


def replica_request(name: str, replica: Mapping[str, Any]) -> Request:
    return Request("UpdateTable", {"TableName": name, "ReplicaUpdates": [{"Create": replica}]})
