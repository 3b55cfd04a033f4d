"""The worker's report on itself: written every few seconds, read by health checks and metrics."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal

from bigtime.model import pattern
from bigtime.site.design import WORKER, Worker
from bigtime.wire import Steps


@pattern("Write Worker Report", index="Main table")
def write_worker_report(
    seen_at: datetime,
    *,
    lag_seconds: Mapping[str, Decimal] = {},
    handled: Mapping[str, int] = {},
    spent: Mapping[str, Decimal] = {},
) -> Steps[None]:
    """Replaces the report: seconds behind and records handled by consumer, units by pattern."""
    yield from WORKER.update(
        seen_at=seen_at, lag_seconds=dict(lag_seconds), handled=dict(handled), spent=dict(spent)
    )


@pattern("View Worker Report", index="Main table")
def view_worker_report() -> Steps[Worker]:
    """The last report; `seen_at` is None before the first."""
    return (yield from WORKER.get())
