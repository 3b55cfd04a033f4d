"""What is counted, for Prometheus: requests, latencies, capacity, cache hits, stream lag.

The second process writes down every few seconds how it is doing, and this one reads that when
somebody asks. How far behind a consumer is has to be right when the second process is stuck, or
dead, or the store cannot be asked, for that is what somebody wants to be woken for. So a sign of
life that is late counts as what it may be: since then, nothing has been handled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Histogram, Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from bigtime.site import Worker, pattern_label

SECONDS = (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3)
SILENT_SECONDS: Final = 15.0
"""A sign of life comes every five; whoever has not given one for so long is stuck, or dead."""


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
        self.worker = WorkerCounts(clock)
        self.registry.register(self.worker)
        self._answers: dict[tuple[str, int], tuple[Counter, Histogram]] = {}
        self._patterns: dict[str | None, Counter] = {}

    def count(self, route: str, status: int, seconds: float) -> None:
        """One answer. The counters of a route are looked up once: that is what costs."""
        found = self._answers.get((route, status))
        if found is None:
            counter = self.requests.labels(route, str(status))
            found = self._answers[route, status] = counter, self.seconds.labels(route)
        found[0].inc()
        found[1].observe(seconds)

    def spent(self, pattern: str | None, units: float) -> None:
        """What a request of a pattern consumed, as a store tells its meter."""
        counter = self._patterns.get(pattern)
        if counter is None:
            counter = self._patterns[pattern] = self.capacity.labels(pattern_label(pattern))
        counter.inc(units)

    def watch_cache(self, name: str, counts: Callable[[], tuple[int, int]]) -> None:
        """Reports a cache's hits and misses."""
        self.registry.register(CacheCounts(name, counts))

    def note_worker(self, worker: Worker) -> None:
        """What the second process has written down last."""
        self.worker.told = worker


class WorkerCounts(Collector):
    """What the second process told last, as it stands when somebody asks."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self.clock = clock
        self.since = clock()
        self.told = Worker()

    def collect(self) -> Iterator[Metric]:
        silent = self.silent_seconds()
        yield GaugeMetricFamily(
            "bigtime_worker_seen_seconds",
            "How long ago the worker gave a sign of life; it does every five seconds.",
            value=silent,
        )
        yield self.lag(silent)
        handled = GaugeMetricFamily(
            "bigtime_stream_records",
            "Records that a consumer has handled since the worker started.",
            labels=["consumer"],
        )
        for consumer, records in self.told.handled.items():
            handled.add_metric([consumer], records)
        yield handled
        capacity = CounterMetricFamily(
            "bigtime_worker_capacity_units",
            "Capacity that the worker consumed since it started, by access pattern.",
            labels=["pattern"],
        )
        for pattern, units in self.told.spent.items():
            capacity.add_metric([pattern], float(units))
        yield capacity

    def lag(self, silent: float) -> GaugeMetricFamily:
        gauge = GaugeMetricFamily(
            "bigtime_stream_lag_seconds",
            "How old the oldest record is that a consumer has not handled; while the worker gives"
            " no sign of life, how old it may be.",
            labels=["consumer"],
        )
        unknown = silent if silent > SILENT_SECONDS else 0.0
        for consumer, seconds in self.told.lag_seconds.items():
            gauge.add_metric([consumer], float(seconds) + unknown)
        return gauge

    def silent_seconds(self) -> float:
        """Since the last sign of life; if there was none, since this process began."""
        return max(0.0, (self.clock() - (self.told.seen_at or self.since)).total_seconds())


class CacheCounts(Collector):
    """Reads a cache's own counts when somebody asks."""

    def __init__(self, name: str, counts: Callable[[], tuple[int, int]]) -> None:
        self.name = name
        self.counts = counts

    def collect(self) -> Iterator[CounterMetricFamily]:
        hits, misses = self.counts()
        for outcome, number in (("hits", hits), ("misses", misses)):
            yield CounterMetricFamily(
                f"bigtime_{self.name}_cache_{outcome}", f"{outcome.title()}.", value=number
            )
