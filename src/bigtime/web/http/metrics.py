"""Metrics for Prometheus: requests, latencies, capacity, cache hits, stream lag.

The worker writes a report every few seconds, which `/metrics` reads. A consumer's lag must also
grow while the worker hangs or is dead, or the store does not respond, because that should raise an
alarm. So the age of a late report is added to the lag in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Final, TypeVar

from prometheus_client import CollectorRegistry, Counter, Histogram, Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, SummaryMetricFamily
from prometheus_client.registry import Collector

from bigtime import wire
from bigtime.engine import FileFigures, Replication
from bigtime.ops import TableUnitCounter
from bigtime.site import Worker, pattern_label
from bigtime.store import Exchange, ServerFailure, TransportError
from bigtime.web.http.shared_metrics import SharedMetrics

F = TypeVar("F", CounterMetricFamily, GaugeMetricFamily)

SECONDS = (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3)
SILENT_SECONDS: Final = 15.0
"""A report comes every five seconds; a worker without one for so long is stuck or dead."""


class Meters:
    """The site's counters, in a registry of their own."""

    def __init__(self, *, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "bigtime_requests_total", "Answers.", ["route", "status"], registry=self.registry
        )
        self.seconds = Histogram(
            "bigtime_request_seconds",
            "From the request to its answer.",
            ["route"],
            buckets=SECONDS,
            registry=self.registry,
        )
        self.capacity = Counter(
            "bigtime_capacity_units_total",
            "Capacity that this process consumed, by access pattern.",
            ["pattern"],
            registry=self.registry,
        )
        self.tables = TableMeters(self.registry)
        self.shared: SharedMetrics | None = None
        """Set where several processes serve one port."""
        self.worker = WorkerCounts(clock)
        self.registry.register(self.worker)
        self.file_figures: Callable[[], FileFigures] | None = None
        self.replication: Callable[[], Sequence[Replication]] = tuple
        self._answers: dict[tuple[str, int], tuple[Counter, Histogram]] = {}
        self._patterns: dict[str | None, Counter] = {}

    @property
    def registry_to_expose(self) -> CollectorRegistry:
        """What `/metrics` exposes: the counters of this process, or of all that serve the port."""
        return self.registry if self.shared is None else self.shared.registry

    def count(self, route: str, status: int, seconds: float) -> None:
        """Counts a response; a route's counters are looked up once, which is the slow part."""
        found = self._answers.get((route, status))
        if found is None:
            counter = self.requests.labels(route, str(status))
            found = self._answers[route, status] = counter, self.seconds.labels(route)
        found[0].inc()
        found[1].observe(seconds)

    def count_units(self, pattern: str | None, units: float) -> None:
        """Counts the capacity of a request: the store's meter."""
        counter = self._patterns.get(pattern)
        if counter is None:
            counter = self._patterns[pattern] = self.capacity.labels(pattern_label(pattern))
        counter.inc(units)

    def watch_cache(self, name: str, counts: Callable[[], Mapping[str, int]]) -> None:
        """Reports a cache's own counts by name: hits, misses and perhaps more."""
        self.registry.register(CacheCounts(name, counts))

    def watch_file(self, figures: Callable[[], FileFigures]) -> None:
        """Reports an engine file's log and its commit times."""
        self.file_figures = figures
        self.registry.register(FileCounts(figures))

    def watch_replication(self, states: Callable[[], Sequence[Replication]]) -> None:
        """Reports the lag of replicas."""
        self.replication = states
        self.registry.register(ReplicationCounts(states))

    def note_worker(self, worker: Worker) -> None:
        """Stores the worker's last report."""
        self.worker.report = worker


class WorkerCounts(Collector):
    """The worker's last report, with its age."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self.clock = clock
        self.since = clock()
        self.report = Worker()

    def collect(self) -> Iterator[Metric]:
        silent = self.silent_seconds()
        yield GaugeMetricFamily(
            "bigtime_worker_seen_seconds",
            "How long ago the worker gave a sign of life; it does every five seconds.",
            value=silent,
        )
        lag = gauge(
            "bigtime_stream_lag_seconds",
            "How old the oldest record is that a consumer has not handled; while the worker gives"
            " no sign of life, how old it may be.",
            "consumer",
        )
        late = silent if silent > SILENT_SECONDS else 0.0
        yield with_values(lag, self.report.lag_seconds, more=late)
        text = "Records that a consumer has handled since the worker started."
        yield with_values(gauge("bigtime_stream_records", text, "consumer"), self.report.handled)
        capacity = CounterMetricFamily(
            "bigtime_worker_capacity_units",
            "Capacity that the worker consumed since it started, by access pattern.",
            labels=["pattern"],
        )
        yield with_values(capacity, self.report.spent)
        yield from self.costs()
        yield from self.recovery()

    def recovery(self) -> Iterator[Metric]:
        """The possible data loss, and how far back one could restore; empty until known."""
        if self.report.backup_at is not None:
            age = max(0.0, (self.clock() - self.report.backup_at).total_seconds())
            yield GaugeMetricFamily(
                "bigtime_backup_age_seconds", "How old the newest backup is.", value=age
            )
        text = "How far back a table can be restored to any moment; 0 if it cannot."
        window = gauge("bigtime_pitr_window_seconds", text, "table")
        yield with_values(window, self.report.recovery_seconds)

    def costs(self) -> Iterator[Metric]:
        """Today's cost over all processes; empty until the worker has counted it."""
        for name, meaning, dollars in (
            ("", "What today has cost so far: the units of requests.", self.report.daily_cost),
            (
                "_mean",
                "The mean of the seven days before; more than 1.5 times of it is too much.",
                self.report.daily_cost_mean,
            ),
        ):
            if dollars is not None:
                yield GaugeMetricFamily(
                    f"bigtime_daily_cost{name}_dollars", meaning, value=float(dollars)
                )

    def silent_seconds(self) -> float:
        """Seconds since the last report; if there was none, since this process began."""
        return max(0.0, (self.clock() - (self.report.seen_at or self.since)).total_seconds())


def gauge(name: str, text: str, *labels: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, text, labels=labels)


def with_values(family: F, values: Mapping[str, int | Decimal], *, more: float = 0.0) -> F:
    for label, value in values.items():
        family.add_metric([label], float(value) + more)
    return family


class FileCounts(Collector):
    """Reads an engine's figures when metrics are collected."""

    def __init__(self, figures: Callable[[], FileFigures]) -> None:
        self.figures = figures

    def collect(self) -> Iterator[Metric]:
        found = self.figures()
        yield GaugeMetricFamily(
            "bigtime_wal_bytes", "The length of SQLite's write-ahead log.", value=found.wal_bytes
        )
        yield SummaryMetricFamily(
            "bigtime_fsync_seconds",
            "From a commit of this process until the disk has it.",
            count_value=found.commits,
            sum_value=found.commit_seconds,
        )


class ReplicationCounts(Collector):
    """Reads the lag of the engine's replicas when metrics are collected."""

    def __init__(self, states: Callable[[], Sequence[Replication]]) -> None:
        self.states = states

    def collect(self) -> Iterator[Metric]:
        labels = ("table", "receiving_region")
        latency = gauge(
            "bigtime_replication_latency_milliseconds",
            "From a commit to the same in another region: of the last ones that this process has"
            " replicated, or the age of the oldest that is pending, if that is more.",
            *labels,
        )
        text = "Writes that a replica has not taken over."
        pending = gauge("bigtime_replication_pending_writes", text, *labels)
        for state in self.states():
            age = 1000.0 * state.lag_seconds
            latency.add_metric([state.table, state.target], max(state.latency_milliseconds, age))
            pending.add_metric([state.table, state.target], state.pending)
        yield latency
        yield pending


class CacheCounts(Collector):
    """Reads a cache's own counts when metrics are collected."""

    def __init__(self, name: str, counts: Callable[[], Mapping[str, int]]) -> None:
        self.name = name
        self.counts = counts

    def collect(self) -> Iterator[CounterMetricFamily]:
        for outcome, number in self.counts().items():
            yield CounterMetricFamily(
                f"bigtime_{self.name}_cache_{outcome}", f"{outcome.title()}.", value=number
            )


# --- By table, under the names of CloudWatch's metrics of DynamoDB -------------------------
# They count this process's requests to its store, whose hook sees each attempt. A failed request
# over several tables counts for each of them.


TABLE_SECONDS: Final = (0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3)
THROTTLED: Final = {
    *("ProvisionedThroughputExceededException", "ThrottlingException", "RequestLimitExceeded"),
}


class TableMeters(Collector):
    """Counters by table; `observe` is the store's hook."""

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
            buckets=TABLE_SECONDS,
            registry=registry,
        )
        # Looking up a histogram by its labels takes longer than counting in it.
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
