"""Provisioned throughput as token buckets: a table or index may use 300 seconds' worth at once.

A bucket fills by the provisioned units each second. A request is admitted while there is something
in each bucket that it draws from, whatever it takes, so that one large request is never stuck; the
next ones then wait until the bucket has filled again. What is not admitted draws nothing. A new
bucket is full, as that of a table which nobody has used for five minutes.

AWS: "Burst and adaptive capacity"
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/burst-adaptive-capacity.html
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Literal, NamedTuple, TypeAlias

from bigtime.engine.storage.clock import Clock
from bigtime.engine.storage.definition import TableDefinition, Throughput
from bigtime.wire import ProvisionedThroughputExceededException

BURST_SECONDS = 300.0

Kind: TypeAlias = Literal["read", "write"]

OF_TABLE = (
    "The level of configured provisioned throughput for the table was exceeded. "
    "Consider increasing your provisioning level with the UpdateTable API."
)
OF_INDEXES = (
    "The level of configured provisioned throughput for one or more global secondary indexes of "
    "the table was exceeded. Consider provisioning more throughput for the under-provisioned "
    "global secondary indexes with the UpdateTable API"
)


class Draft(NamedTuple):
    """What a request uses of a table and, by name, of its global indexes."""

    table: TableDefinition
    arn: str
    kind: Kind
    units: float
    index_units: Mapping[str, float]


class TokenBuckets:
    """The buckets of all tables and global indexes, by their numbers in the file."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._mutex = threading.Lock()
        self._levels: dict[tuple[int, Kind], tuple[float, float]] = {}

    def lack(self, draft: Draft) -> ProvisionedThroughputExceededException | None:
        """What AWS says to a request that would use so much; None if it is admitted."""
        table, arn, kind, units, index_units = draft
        if table.billing_mode != "PROVISIONED":
            return None
        with self._mutex:
            if units and self._level(table.number, kind, table.throughput) <= 0:
                return throughput_exceeded(OF_TABLE, f"Table{kind.title()}", arn)
            for index in table.indexes:
                if index_units.get(index.name):
                    if self._level(index.number, kind, index.throughput) <= 0:
                        index_arn = f"{arn}/index/{index.name}"
                        return throughput_exceeded(OF_INDEXES, f"Index{kind.title()}", index_arn)
        return None

    def draw(self, draft: Draft) -> None:
        """Takes what a request has used."""
        table, _, kind, units, index_units = draft
        if table.billing_mode != "PROVISIONED":
            return
        with self._mutex:
            self._draw(table.number, kind, table.throughput, units)
            for index in table.indexes:
                used = index_units.get(index.name, 0.0)
                self._draw(index.number, kind, index.throughput, used)

    def _draw(self, number: int, kind: Kind, throughput: Throughput, units: float) -> None:
        if units:
            level = self._level(number, kind, throughput)
            self._levels[number, kind] = (level - units, self._clock())

    def _level(self, number: int, kind: Kind, throughput: Throughput) -> float:
        rate = throughput.read if kind == "read" else throughput.write
        most = rate * BURST_SECONDS
        level, since = self._levels.get((number, kind), (most, 0.0))
        return min(most, level + rate * max(0.0, self._clock() - since))


def throughput_exceeded(
    message: str, what: str, arn: str
) -> ProvisionedThroughputExceededException:
    reason = {"reason": f"{what}ProvisionedThroughputExceeded", "resource": arn}
    return ProvisionedThroughputExceededException(message, reasons=[reason])
