"""A system's tables brought to what an environment says: tags, encryption, recovery, replicas.

`setup` only makes what is missing. What it leaves to a person, who alone knows whether a table may
be changed, is told here by the environment that they name.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bigtime.advisor import Live, describe_live
from bigtime.model import MANAGED_KEY, System, Table, recovery_request, setup
from bigtime.wire import Request, Steps

ON = ("ENABLED", "ENABLING", "UPDATING")


def settle(system: System) -> Steps[list[str]]:
    """Gives every table the settings that it is declared with; returns what was set, in words."""
    done: list[str] = []
    for table in system.tables:
        live = yield from describe_live(table)
        for what, request in [] if live is None else list(lacked_settings(table, live)):
            yield request
            yield from setup(table)  # waits: DynamoDB takes one change of a table at a time
            done.append(f"{what} of {table.name}")
    return done


def lacked_settings(table: Table, live: Live) -> Iterator[tuple[str, Request]]:
    """What a live table is to be set to, each with its request."""
    if tags := {key: value for key, value in table.tags.items() if live.tags.get(key) != value}:
        arn = live.table["TableArn"]
        new = [{"Key": key, "Value": value} for key, value in tags.items()]
        yield (
            f"tags ({', '.join(tags)})",
            Request("TagResource", {"ResourceArn": arn, "Tags": new}),
        )
    if table.deletion_protection and not live.table.get("DeletionProtectionEnabled"):
        yield "deletion protection", update_request(table, DeletionProtectionEnabled=True)
    if table.encryption and (live.table.get("SSEDescription") or {}).get("Status") not in ON:
        key = {} if table.encryption == MANAGED_KEY else {"KMSMasterKeyId": table.encryption}
        specification = {"Enabled": True, "SSEType": "KMS", **key}
        yield "encryption", update_request(table, SSESpecification=specification)
    days = table.point_in_time_recovery
    if not isinstance(days, bool) and live.recovery_days not in (None, days):
        yield f"point-in-time recovery ({days} days)", recovery_request(table)
    there = {replica["RegionName"] for replica in live.table.get("Replicas") or []}
    for region in table.replicas:
        if region not in there:
            create = [{"Create": {"RegionName": region}}]
            yield f"replica in {region}", update_request(table, ReplicaUpdates=create)


def update_request(table: Table, **changes: Any) -> Request:
    return Request("UpdateTable", {"TableName": table.name, **changes})
