"""The page on operations: environment, recovery, backups, replicas, alarms, cost, drills."""

from __future__ import annotations

import asyncio
from calendar import monthrange
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_UP, Decimal
from pathlib import Path
from typing import Final, NamedTuple

from starlette.responses import Response

from bigtime import ops
from bigtime.advisor import REPLICATION, CostLine, Load, UnknownPrice, cost_report, rate
from bigtime.engine import Replication
from bigtime.model import Alarm, Environment
from bigtime.site import SITE, Worker, view_daily_units, view_worker_report
from bigtime.systems import portal
from bigtime.web.admin.records import Admin
from bigtime.web.http import SILENT_SECONDS, Meters, NoSuchPage, Settings, region_of
from bigtime.web.pages import AppContext, AppRequest, page_router
from bigtime.wire import Steps

OPERATIONS: Final = "/admin/operations"
MOST_BACKUPS: Final = 10
PENDING_SECONDS: Final = 5.0
"""A replica that lags further behind raises an alarm."""

operations = page_router()


class ReplicaLag(NamedTuple):
    """A replica of a table, and its lag if known."""

    table: str
    region: str
    status: str
    pending: int | None
    lag_seconds: float | None


class MonthCost(NamedTuple):
    """What this month has cost so far, and the budget.

    `others` are storage, recovery and backups for a whole month at the size of today; `share` is
    how much of the month is over.
    """

    requests: Decimal
    others: tuple[CostLine, ...]
    share: Decimal
    budget: int | None
    alert: Decimal | None

    @property
    def dollars(self) -> Decimal:
        return self.requests + self.share * sum((line.dollars for line in self.others), Decimal(0))

    @property
    def percent(self) -> float | None:
        return float(self.dollars / self.budget * 100) if self.budget else None


class AlarmState(NamedTuple):
    """An alarm condition that can be evaluated here, and its present state."""

    name: str
    is_raised: bool
    now: str
    action: str


@dataclass(frozen=True, slots=True)
class Backups:
    """The backups in a place, or why they are not known."""

    where: str
    count: int
    newest: list[ops.BackupState]
    fault: str | None = None


@dataclass(frozen=True, slots=True)
class OperationsView:
    """What the page shows."""

    at: datetime
    environment: Environment | None
    store: str
    worker: Worker
    backups: list[Backups]
    tables: list[ops.TableRecovery]
    replicas: list[ReplicaLag]
    cost: MonthCost | None
    drills: list[ops.DrillReport]
    declared: tuple[Alarm, ...]
    log_bytes: int | None

    @property
    def alarms(self) -> list[AlarmState]:
        return [*alarm_states(self)]


@operations.get(OPERATIONS)
async def show_operations(request: AppRequest, admin: Admin) -> Response:
    seen = await view_operations(request.context, request.app.state.meters)
    return await request.page("admin/operations.html", seen=seen)


@operations.get(f"{OPERATIONS}/drills/{{name}}")
async def show_drill(request: AppRequest, admin: Admin, name: str) -> Response:
    """The report of a drill, as it was written."""
    folder = Path(request.context.settings.drills)
    report = await asyncio.to_thread(ops.drill_report, folder, name)
    if report is None:
        raise NoSuchPage()
    return await request.page("admin/drill.html", report=report)


async def view_operations(context: AppContext, meters: Meters) -> OperationsView:
    """Reads the tables' states and the worker's report and, on a thread, the backups and drills."""
    settings, at = context.settings, datetime.now(UTC)
    environment = SITE.environment(settings.environment) if settings.environment else None
    tables = await context.store.run(ops.recovery_states(ops.saved_tables(SITE)))
    return OperationsView(
        at=at,
        environment=environment,
        store=settings.store,
        worker=await context.store.run(view_worker_report()),
        backups=await asyncio.to_thread(read_backups, settings),
        tables=tables,
        replicas=[*replica_lags(tables, meters.replication())],
        cost=await month_cost(context, at, environment, tables),
        drills=await asyncio.to_thread(ops.drill_reports, Path(settings.drills)),
        declared=portal.SYSTEM.alarms,
        log_bytes=meters.file_figures().wal_bytes if meters.file_figures else None,
    )


def read_backups(settings: Settings) -> list[Backups]:
    places = [text for text in (settings.backups, settings.backups_copy) if text]
    return [read_place(text, settings.environment or None) for text in places]


def read_place(text: str, environment: str | None) -> Backups:
    try:
        place = ops.place_at(text)
        count, newest = ops.backup_states(place, SITE.name, environment, limit=MOST_BACKUPS)
    except ops.BackupFault as error:
        return Backups(text, 0, [], str(error))
    return Backups(text, count, newest)


def replica_lags(
    tables: list[ops.TableRecovery], measured: Sequence[Replication]
) -> Iterator[ReplicaLag]:
    behind = {(each.table, each.target): each for each in measured}
    for table in tables:
        for region, status in table.replicas.items():
            state = behind.get((table.table, region))
            yield ReplicaLag(
                table.table,
                region,
                status,
                state.pending if state else None,
                state.lag_seconds if state else None,
            )


async def month_cost(
    context: AppContext,
    at: datetime,
    environment: Environment | None,
    tables: list[ops.TableRecovery],
) -> MonthCost | None:
    """What the month has cost so far; None where no price is known."""
    region = region_of(context.settings)
    units = await context.store.run(read_month(at.date()))
    try:
        requests = ops.dollars_of(units, rate(region))
        load = Load(gigabytes=gigabytes_of(tables))
        report = await asyncio.to_thread(
            cost_report, SITE, load, environment=environment, region=region
        )
    except UnknownPrice:
        return None
    budget = report.budget
    return MonthCost(
        requests,
        tuple(line for line in report.others if line.group != REPLICATION),
        Decimal(at.day) / monthrange(at.year, at.month)[1],
        budget.limit if budget else None,
        budget.alert if budget else None,
    )


def gigabytes_of(tables: list[ops.TableRecovery]) -> Decimal:
    size = sum(table.size_bytes for table in tables)
    return (Decimal(size) / 2**30).quantize(Decimal("0.001"), ROUND_UP)


def read_month(today: date) -> Steps[list[ops.TableUnits]]:
    """The capacity units of all requests since the first of the month."""
    days = [today.replace(day=number) for number in range(1, today.day + 1)]
    counted = yield from view_daily_units(days)
    return [
        ops.TableUnits(each.read_units, each.write_units)
        for tables in counted.values()
        for each in tables
    ]


def alarm_states(seen: OperationsView) -> Iterator[AlarmState]:
    """The alarms that this page can evaluate; Prometheus and CloudWatch watch the others too."""
    yield worker_alarm(seen)
    if seen.backups:
        yield backup_alarm(seen)
    if seen.environment is not None:
        if seen.environment.dr_region and len(seen.backups) == 1:
            yield AlarmState(
                "Copies of backups",
                True,
                f"no second place, and {seen.environment.name} has one",
                "Set BIGTIME_BACKUPS_COPY, on another disk or in another region.",
            )
        missing = [table.table for table in seen.tables if table.window is None]
        yield AlarmState(
            "Point-in-time recovery",
            bool(missing),
            f"off for {', '.join(missing)}" if missing else "on for every table",
            "Run bigtime tables create SYSTEM --environment NAME.",
        )
    if seen.log_bytes is not None:
        yield AlarmState(
            "Write-ahead log",
            seen.log_bytes > ops.LONG_LOG_BYTES,
            f"{seen.log_bytes / 1e6:,.1f} MB",
            "Look for a process that holds a read transaction open.",
        )
    for replica in seen.replicas:
        if replica.lag_seconds is not None:
            yield AlarmState(
                f"Replication of {replica.table} to {replica.region}",
                replica.lag_seconds > PENDING_SECONDS,
                f"{replica.lag_seconds:,.1f} s behind",
                "Investigate network issues, check AWS status.",
            )
    yield from cost_alarms(seen)


def worker_alarm(seen: OperationsView) -> AlarmState:
    last = seen.worker.seen_at
    silent = None if last is None else (seen.at - last).total_seconds()
    return AlarmState(
        "Worker",
        silent is None or silent > SILENT_SECONDS,
        "no report yet" if silent is None else f"last report {max(silent, 0):,.0f} s ago",
        "Look at the log of the site: the worker is started again by itself.",
    )


def backup_alarm(seen: OperationsView) -> AlarmState:
    period = seen.environment.backup_period if seen.environment else timedelta(days=1)
    newest = [place.newest[0].moment for place in seen.backups if place.newest]
    age = seen.at - min(newest) if len(newest) == len(seen.backups) else None
    return AlarmState(
        "Backups",
        age is None or age > 2 * period,
        "none" if age is None else f"the newest is {age.total_seconds() / 3600:,.1f} h old",
        "Run bigtime backup run --once, and read why it fails.",
    )


def cost_alarms(seen: OperationsView) -> Iterator[AlarmState]:
    today, mean = seen.worker.daily_cost, seen.worker.daily_cost_mean
    if today is not None and mean:
        yield AlarmState(
            "Cost of today",
            today > ops.TOO_MUCH * mean,
            f"${today:,.4f}, the mean is ${mean:,.4f}",
            "Look for the table whose units have grown.",
        )
    if seen.cost is not None and seen.cost.alert is not None:
        yield AlarmState(
            "Cost of this month",
            seen.cost.dollars > seen.cost.alert,
            f"${seen.cost.dollars:,.2f} of ${seen.cost.budget:,}",
            "See what it is spent on: bigtime cost.",
        )
