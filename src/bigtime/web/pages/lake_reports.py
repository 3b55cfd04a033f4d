"""Reports for pages: run over the lake in a separate process, and cached for half a minute.

They do not read the tables or block the event loop.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Final, TypeAlias

from bigtime.extras import MissingExtra
from bigtime.projections import lake
from bigtime.site import LAKES, Report
from bigtime.web.pages.app_context import AppContext
from bigtime.web.pages.charts import BarChart, LineChart, bar_chart, funnel_chart, line_chart

log = logging.getLogger("bigtime.web")

SECONDS: Final = 30.0
LIMITS: Final = lake.Limits(seconds=20.0, memory_megabytes=512, most_rows=10_000)
NO_LAKE: Final = "No data yet. The worker writes it; look again in a minute."

Chart: TypeAlias = LineChart | BarChart


@dataclass(frozen=True, slots=True)
class ShownReport:
    """A report with its rows and charts."""

    report: Report
    result: lake.Result
    charts: list[Chart]


@dataclass(frozen=True, slots=True)
class ShownReports:
    """Reports over some days, how recent they are, and what is missing; or why there are none."""

    since: date
    until: date
    reports: list[ShownReport]
    statuses: list[lake.TableStatus]
    reason: str = ""

    @property
    def last_change_at(self) -> datetime | None:
        found = [each.last_change_at for each in self.statuses if each.last_change_at]
        return max(found, default=None)

    @property
    def begun_at(self) -> datetime | None:
        return min((each.since for each in self.statuses), default=None)

    @property
    def gaps(self) -> list[tuple[str, lake.Gap]]:
        return lake.open_gaps(self.statuses)


async def show_reports(
    context: AppContext, reports: Sequence[Report], since: date, until: date, **more: str
) -> ShownReports:
    """Runs reports, all on one snapshot of the lake; returns failures instead of raising them."""
    names = tuple(report.name for report in reports)
    key = ("reports", names, since, until, tuple(sorted(more.items())))

    async def make() -> tuple[ShownReports, tuple[()]]:
        return await asyncio.to_thread(run, context, reports, since, until, more), ()

    shown: ShownReports = await context.cache.remember(key, make, seconds=SECONDS)
    return shown


def run(
    context: AppContext, reports: Sequence[Report], since: date, until: date, more: dict[str, str]
) -> ShownReports:
    """The reports, or a message that says why there are none."""
    try:
        shown, statuses = run_all(context.settings.lake_place, reports, since, until, more)
    except MissingExtra as error:
        return ShownReports(since, until, [], [], f"{error}.")
    except lake.LakeFault as error:
        return ShownReports(since, until, [], [], str(error))
    except (lake.QueryFailed, OSError) as error:
        log.warning("reports cannot be shown: %s", error)
        return ShownReports(since, until, [], [], "Reports cannot be shown now. Try again.")
    return ShownReports(since, until, shown, statuses)


def run_all(
    setting: str | None, reports: Sequence[Report], since: date, until: date, more: dict[str, str]
) -> tuple[list[ShownReport], list[lake.TableStatus]]:
    if setting is None:
        raise lake.LakeFault("Analytics are off (BIGTIME_LAKE).")
    place = lake.place_at(setting)
    if not isinstance(place, lake.FolderPlace):
        raise lake.LakeFault(f"The data is in {setting}: ask it with Athena.")
    statuses = lake.lake_status(place, LAKES)
    if not statuses:
        raise lake.LakeFault(NO_LAKE)
    queries = [
        lake.Query(report.sql, report.params(since, until, **more), is_own=True)
        for report in reports
    ]
    results = run_queries(place, queries)
    shown = [
        ShownReport(report, result, charts_of(report, result, since, until))
        for report, result in zip(reports, results, strict=True)
    ]
    return shown, statuses


def run_queries(place: lake.FolderPlace, queries: Sequence[lake.Query]) -> list[lake.Result]:
    """The results; if files may be damaged, asks the worker to repair them."""
    try:
        return lake.run_queries(place, LAKES, queries, LIMITS)
    except lake.QueryFailed as error:
        if not error.is_of_limits:
            lake.mark_damaged(place)
        raise


def charts_of(report: Report, result: lake.Result, since: date, until: date) -> list[Chart]:
    records = result.records()
    if not records:
        return []
    if report.chart == "lines":
        return [
            line_chart(title_of(report, names), records, names, since, until)
            for names in report.drawn
        ]
    if report.chart == "bars":
        return [bar_chart(title_of(report, names), records, names[0]) for names in report.drawn]
    if report.chart == "funnel":
        return [funnel_chart(report.title, records, report.drawn[0][0])]
    return []


def title_of(report: Report, names: Sequence[str]) -> str:
    return f"{report.title}: {', '.join(name.replace('_', ' ') for name in names)}"


def today() -> date:
    return datetime.now(UTC).date()
