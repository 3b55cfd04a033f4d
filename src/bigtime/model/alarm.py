"""Alarms: the DynamoDB metrics that should notify somebody, and what to do then.

They are declared once, for every table of a system: `bigtime infra` writes CloudWatch alarms of
them, `bigtime alarms` rules for Prometheus.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal


@dataclass(frozen=True, slots=True)
class Alarm:
    """A metric of DynamoDB that is over a threshold, over some seconds.

    `metric` is CloudWatch's name. It is reported by table, by table and operation, or by table and
    receiving region; those of operations are summed.
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
"""Those of every system that declares none of its own. ReplicationLatency is in milliseconds.

PendingReplicationCount and ReplicationErrorRate are not among them: the one is of global tables of
2017, the other is no metric of DynamoDB.
"""
