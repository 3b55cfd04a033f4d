"""Metrics by table, for Prometheus, under the names of CloudWatch's metrics of DynamoDB.

They count what this process asked of its store, a store's hook sees each attempt. A request over
several tables counts its failure for each of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Histogram, Metric
from prometheus_client.core import CounterMetricFamily
from prometheus_client.registry import Collector

from bigtime import wire
from bigtime.ops import TableUnitCounter
from bigtime.store import Exchange, ServerFailure, TransportError

SECONDS: Final = (0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3)
THROTTLED: Final = {
    *("ProvisionedThroughputExceededException", "ThrottlingException", "RequestLimitExceeded"),
}


class TableMeters(Collector):
    """Counters by table; `observe` is a store's hook."""

    def __init__(self, registry: CollectorRegistry) -> None:
        def counter(name: str, text: str) -> Counter:
            return Counter(f"bigtime_{name}_total", text, ["table"], registry=registry)

        self.units = TableUnitCounter()
        self.throttled = counter("throttled_requests", "Requests that were throttled.")
        self.system_errors = counter("system_errors", "Requests that DynamoDB failed to answer.")
        self.user_errors = counter("user_errors", "Requests that DynamoDB refused.")
        self.conditions = counter(
            "conditional_check_failed_requests", "Writes whose condition did not hold."
        )
        self.seconds = Histogram(
            "bigtime_successful_request_seconds",
            "From a request to its response.",
            ["table", "operation"],
            buckets=SECONDS,
            registry=registry,
        )
        # To look a histogram up by its labels takes longer than to count in it.
        self._seconds: dict[tuple[str, str], Histogram] = {}
        registry.register(self)

    def collect(self) -> Iterator[Metric]:
        units = self.units
        for name, tables, indexes in (
            ("read", units.read.copy(), units.index_read.copy()),
            ("write", units.write.copy(), units.index_write.copy()),
        ):
            family = CounterMetricFamily(
                f"bigtime_consumed_{name}_units",
                f"{name.capitalize()} capacity units; without an index, those of the table itself.",
                labels=["table", "index"],
            )
            for (table, index), amount in indexes.items():
                tables[table] -= amount
                family.add_metric([table, index], amount)
            for table, amount in tables.items():
                family.add_metric([table, ""], amount)
            yield family

    def observe(self, exchange: Exchange) -> None:
        """Counts an attempt at a request."""
        if exchange.error is not None:
            self.count_failure(exchange.tables, exchange.error)
            return
        operation = exchange.request.operation
        for used in exchange.consumed_capacity:
            self.units.count(operation, used)
        table = exchange.request.params.get("TableName")
        for name in exchange.tables if table is None else (table,):
            seconds = self._seconds.get((name, operation))
            if seconds is None:
                seconds = self._seconds[name, operation] = self.seconds.labels(name, operation)
            seconds.observe(exchange.seconds)

    def count_failure(self, tables: list[str], error: Exception) -> None:
        counter = self.counter_of(error)
        for table in tables:
            counter.labels(table).inc()

    def counter_of(self, error: Exception) -> Counter:
        match error:
            case wire.ConditionalCheckFailedException() | wire.TransactionCanceledException():
                return self.conditions
            case wire.ProvisionedThroughputExceededException():
                return self.throttled
            case wire.DynamoDBError() if error.code in THROTTLED:
                return self.throttled
            case wire.InternalServerError() | ServerFailure() | TransportError():
                return self.system_errors
        return self.user_errors
