"""Metrics by table, for Prometheus, under the names of CloudWatch's metrics of DynamoDB.

They count what this process asked of its store, a store's hook sees each attempt. A request over
several tables counts its failure for each of them.
"""

from __future__ import annotations

from typing import Final

from prometheus_client import CollectorRegistry, Counter, Histogram

from bigtime.store import Exchange, ServerFailure, TransportError
from bigtime.wire import (
    ConditionalCheckFailedException,
    DynamoDBError,
    InternalServerError,
    ProvisionedThroughputExceededException,
    TransactionCanceledException,
)

READS: Final = frozenset({"GetItem", "Query", "Scan", "BatchGetItem", "TransactGetItems"})
SECONDS: Final = (0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3)
THROTTLED: Final = {
    *("ProvisionedThroughputExceededException", "ThrottlingException", "RequestLimitExceeded"),
}


class TableMeters:
    """Counters by table; `observe` is a store's hook."""

    def __init__(self, registry: CollectorRegistry) -> None:
        def counter(name: str, text: str) -> Counter:
            return Counter(f"bigtime_{name}_total", text, ["table"], registry=registry)

        self.read_units = counter("consumed_read_units", "Read capacity units.")
        self.write_units = counter("consumed_write_units", "Write capacity units.")
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

    def observe(self, exchange: Exchange) -> None:
        """Counts an attempt at a request."""
        if exchange.error is not None:
            self.count_failure(exchange.tables, exchange.error)
            return
        operation = exchange.request.operation
        units = self.read_units if operation in READS else self.write_units
        for reported in exchange.consumed_capacity:
            units.labels(reported["TableName"]).inc(reported.get("CapacityUnits", 0.0))
        for table in exchange.tables:
            self.seconds.labels(table, operation).observe(exchange.seconds)

    def count_failure(self, tables: list[str], error: Exception) -> None:
        counter = self.counter_of(error)
        for table in tables:
            counter.labels(table).inc()

    def counter_of(self, error: Exception) -> Counter:
        match error:
            case ConditionalCheckFailedException() | TransactionCanceledException():
                return self.conditions
            case ProvisionedThroughputExceededException():
                return self.throttled
            case DynamoDBError() if error.code in THROTTLED:
                return self.throttled
            case InternalServerError() | ServerFailure() | TransportError():
                return self.system_errors
        return self.user_errors
