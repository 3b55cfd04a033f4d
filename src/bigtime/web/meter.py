"""What is counted, for Prometheus: requests, latencies, capacity, cache hits, stream lag."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.core import CounterMetricFamily
from prometheus_client.registry import Collector

from bigtime.web.design import Worker

SECONDS = (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3)


class Meters:
    """The site's counters, in a registry of their own."""

    def __init__(self) -> None:
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
            "Capacity consumed, by access pattern.",
            ["pattern"],
            registry=self.registry,
        )
        self.lag = Gauge(
            "bigtime_stream_lag_seconds",
            "How old the last record was that a consumer handled.",
            ["consumer"],
            registry=self.registry,
        )
        self.handled = Gauge(
            "bigtime_stream_records",
            "Records that a consumer has handled since the worker started.",
            ["consumer"],
            registry=self.registry,
        )
        self._answers: dict[tuple[str, int], tuple[Counter, Histogram]] = {}
        self._patterns: dict[str, Counter] = {}

    def count(self, route: str, status: int, seconds: float) -> None:
        """One answer. The counters of a route are looked up once: that is what costs."""
        found = self._answers.get((route, status))
        if found is None:
            counter = self.requests.labels(route, str(status))
            found = self._answers[route, status] = counter, self.seconds.labels(route)
        found[0].inc()
        found[1].observe(seconds)

    def spent(self, pattern: str, units: float) -> None:
        """What a request of a pattern consumed."""
        counter = self._patterns.get(pattern)
        if counter is None:
            counter = self._patterns[pattern] = self.capacity.labels(pattern)
        counter.inc(units)

    def watch_cache(self, name: str, counts: Callable[[], tuple[int, int]]) -> None:
        """Reports a cache's hits and misses."""
        self.registry.register(CacheCounts(name, counts))

    def note_worker(self, worker: Worker) -> None:
        for consumer, seconds in worker.lag_seconds.items():
            self.lag.labels(consumer).set(float(seconds))
        for consumer, records in worker.handled.items():
            self.handled.labels(consumer).set(records)


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
