"""What a restored table lacks: stream, time to live, tags, point-in-time recovery, protection.

AWS: "Restore a DynamoDB table from a backup", settings that must be set up by hand
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Restore.Tutorial.html
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from bigtime import model as bt
from bigtime.wire import Request, ResourceNotFoundException, Response, Steps

POLL_SECONDS = 0.5
POLLS = 7_200
UNSEEN_POLLS = 20


class NotActive(Exception):
    """A table that was waited for in vain."""


@dataclass(frozen=True, slots=True)
class TableSettings:
    """Those of one table."""

    stream: str | None = None
    ttl: str | None = None
    recovery_days: int | None = None
    protected: bool = False
    tags: Mapping[str, str] = field(default_factory=dict)
    replicas: Sequence[str] = ()

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def describe_table(name: str) -> Steps[Response | None]:
    """What DescribeTable says of a table; None if there is none."""
    try:
        described: Response = yield Request("DescribeTable", {"TableName": name})
    except ResourceNotFoundException:
        return None
    table: Response = described["Table"]
    return table


def wait_until_active(name: str) -> Steps[Response]:
    """The table once it can be used. One that was just made may not be seen at once."""
    for poll in range(POLLS):
        table = yield from describe_table(name)
        if table is not None and table["TableStatus"] == "ACTIVE":
            return table
        if table is None and poll >= UNSEEN_POLLS:
            raise NotActive(
                f"{name} is not there any more: its restore was given up, and the log says why."
                " Run the same again, or restore another backup."
            )
        yield from bt.pause(POLL_SECONDS)
    raise NotActive(
        f"{name} is not ready after {POLLS * POLL_SECONDS:.0f} s: run the same again to go on."
    )


def read_settings(name: str) -> Steps[TableSettings]:
    """The settings of a table that is there."""
    described: Response = yield Request("DescribeTable", {"TableName": name})
    table = described["Table"]
    times: Response = yield Request("DescribeTimeToLive", {"TableName": name})
    ttl = times["TimeToLiveDescription"]
    backups: Response = yield Request("DescribeContinuousBackups", {"TableName": name})
    recovery = backups["ContinuousBackupsDescription"].get("PointInTimeRecoveryDescription", {})
    stream = table.get("StreamSpecification", {})
    return TableSettings(
        stream=stream["StreamViewType"] if stream.get("StreamEnabled") else None,
        ttl=ttl["AttributeName"] if ttl["TimeToLiveStatus"] in ("ENABLED", "ENABLING") else None,
        recovery_days=(
            recovery.get("RecoveryPeriodInDays", 35)
            if recovery.get("PointInTimeRecoveryStatus") == "ENABLED"
            else None
        ),
        protected=table.get("DeletionProtectionEnabled", False),
        tags=(yield from read_tags(table["TableArn"])),
        replicas=[each["RegionName"] for each in table.get("Replicas") or []],
    )


def read_tags(arn: str) -> Steps[dict[str, str]]:
    tags: dict[str, str] = {}
    params = {"ResourceArn": arn}
    while True:
        page: Response = yield Request("ListTagsOfResource", params)
        tags |= {tag["Key"]: tag["Value"] for tag in page.get("Tags", [])}
        if not page.get("NextToken"):
            return tags
        params = {**params, "NextToken": page["NextToken"]}


def give_settings(name: str, wanted: TableSettings) -> Steps[list[str]]:
    """Gives a table what it lacks of these settings; what was done, in words."""
    has = yield from read_settings(name)
    done: list[str] = []
    if wanted.stream and has.stream != wanted.stream:
        stream = {"StreamEnabled": True, "StreamViewType": wanted.stream}
        yield Request("UpdateTable", {"TableName": name, "StreamSpecification": stream})
        yield from wait_until_active(name)
        done.append(f"a stream of {wanted.stream}")
    if wanted.ttl and has.ttl != wanted.ttl:
        ttl = {"AttributeName": wanted.ttl, "Enabled": True}
        yield Request("UpdateTimeToLive", {"TableName": name, "TimeToLiveSpecification": ttl})
        done.append(f"time to live by {wanted.ttl}")
    if wanted.recovery_days and has.recovery_days != wanted.recovery_days:
        yield Request("UpdateContinuousBackups", recovery_params(name, wanted.recovery_days))
        done.append(f"point-in-time recovery of {wanted.recovery_days} days")
    if missing := {tag: value for tag, value in wanted.tags.items() if has.tags.get(tag) != value}:
        table = yield from wait_until_active(name)
        tags = [{"Key": tag, "Value": value} for tag, value in missing.items()]
        yield Request("TagResource", {"ResourceArn": table["TableArn"], "Tags": tags})
        done.append(f"{len(missing)} tags")
    for region in set(wanted.replicas) - set(has.replicas):
        create = [{"Create": {"RegionName": region}}]
        yield Request("UpdateTable", {"TableName": name, "ReplicaUpdates": create})
        yield from wait_until_active(name)
        done.append(f"a replica in {region}")
    if wanted.protected and not has.protected:
        yield Request("UpdateTable", {"TableName": name, "DeletionProtectionEnabled": True})
        yield from wait_until_active(name)
        done.append("deletion protection")
    return done


def recovery_params(name: str, days: int) -> dict[str, Any]:
    recovery = {"PointInTimeRecoveryEnabled": True, "RecoveryPeriodInDays": days}
    return {"TableName": name, "PointInTimeRecoverySpecification": recovery}
