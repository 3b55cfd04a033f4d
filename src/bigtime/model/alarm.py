"""Alarms: the DynamoDB metrics that should notify somebody, and what to do then.

They are declared once, for every table of a system: `bigtime infra` turns them into CloudWatch
alarms, `bigtime alarms` into Prometheus rules.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal


@dataclass(frozen=True, slots=True)
class Alarm:
    """Fires when a DynamoDB metric exceeds a threshold over a period.

    `metric` is CloudWatch's name. It is reported by table, by table and operation, or by table and
    receiving region; a metric reported by operation is summed over the operations.
    """

    name: str
    metric: str
    threshold: int
    period_seconds: int
    action: str
    statistic: Literal["Sum", "Average"] = "Sum"
    by: Literal["table", "operation", "region"] = "table"


ALARMS: Final = (
    Alarm(
        "read-capacity",
        "ConsumedReadCapacityUnits",
        10_000,
        60,
        "Investigate read patterns, consider caching.",
    ),
    Alarm(
        "write-capacity",
        "ConsumedWriteCapacityUnits",
        5_000,
        60,
        "Investigate write patterns, batch operations.",
    ),
    Alarm(
        "throttled",
        "ThrottledRequests",
        10,
        300,
        "Look for a hot key, and retry with jitter: tables on demand are throttled by partition.",
        by="operation",
    ),
    Alarm(
        "system-errors",
        "SystemErrors",
        5,
        300,
        "Investigate DynamoDB issues, check AWS status.",
        by="operation",
    ),
    Alarm(
        "replication-latency",
        "ReplicationLatency",
        5_000,
        60,
        "Investigate network issues, check AWS status.",
        statistic="Average",
        by="region",
    ),
)
"""The alarms of a system that declares none of its own. ReplicationLatency is in milliseconds.

PendingReplicationCount and ReplicationErrorRate are left out: the former belongs to version 2017
of global tables, the latter is not a DynamoDB metric.
"""
