"""What a system costs per month: requests by pattern, storage, backups, streams, replication.

    report = cost_report(SYSTEM, read_load(Path("load.toml")), environment=PROD)
    report.total, report.lines, report.warnings

The units of a run come from `explain`; the prices come from the price lists. What is counted:

1. Requests: the units of the patterns, in the first region.
2. Storage: gigabytes beyond the first 25, which are free in each region.
3. Point-in-time recovery: all gigabytes again, in each region.
4. Backups: AWS Backup keeps full copies of DynamoDB's tables, so gigabytes x copies kept, in each
   region; and the transfer of those made in a month of 30 days.
5. Streams: GetRecords of 1 MB each, beyond the 2.5 million that are free. Lambda's are free.
6. Replication: one replicated write unit for each unit written, not doubled for transactions, and
   a kilobyte of transfer for each.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from typing import Any, Final

from bigtime.advisor.explanation import Explanation, explain_on
from bigtime.advisor.load_file import Load, LoadError, RequestLoad
from bigtime.advisor.prices import DEFAULT_REGION, MILLION, Rate
from bigtime.advisor.prices import rate as rate_of
from bigtime.advisor.sample import sample_arguments
from bigtime.engine import Engine
from bigtime.model import DesignError, Environment, System

FREE_GIGABYTES: Final = 25
FREE_STREAM_READS: Final = 2_500_000
MONTH: Final = timedelta(days=30)
MEGABYTES: Final = 1024
KILOBYTES: Final = 1024 * 1024
DYNAMODB: Final = "DynamoDB"
BACKUPS: Final = "backups"
STREAMS: Final = "streams"
REPLICATION: Final = "replication"
REPORTED: Final = (
    "system", "environment", "rates", "requests", "others", "groups", "estimates", "budget",
    "request_dollars", "total", "remarks", "warnings",
)  # fmt: skip
"""The parts of a report that its JSON includes, in this order."""


@dataclass(frozen=True, slots=True)
class RequestLine:
    """The runs of a pattern, and a document's figures for them."""

    name: str
    """Its name in the load."""
    runs: int
    """Runs per month."""
    pattern: str | None
    """The pattern that runs, if it is one of the system's."""
    read_units: Decimal
    """Of all runs."""
    write_units: Decimal
    """Of all runs, including indexes."""
    replicated_units: Decimal
    """The write units that each replica consumes."""
    dollars: Decimal
    """Of all runs."""
    stated_dollars: Decimal | None = None
    """The dollars that a document states."""
    stated: Decimal | None = None
    """The dollars for the document's units at the document's prices."""
    stated_now: Decimal | None = None
    """The same units at the prices of this report."""
    ended: str | None = None
    """The domain error that ended the dry run: a real run may cost more."""


@dataclass(frozen=True, slots=True)
class CostLine:
    """Anything else that is paid for."""

    name: str
    """What is paid for."""
    group: str
    """Its group in the environment's estimates."""
    amount: str
    """How much of it, as text."""
    dollars: Decimal
    """For the month."""
    estimated: bool
    """Whether its price is an estimate."""
    stated_dollars: Decimal | None = None
    """The dollars that a document states."""


@dataclass(frozen=True, slots=True)
class Budget:
    """A limit in dollars a month, and the share of it at which an alert is due."""

    limit: int
    """Dollars a month."""
    percent: int
    """The share of it at which an alert is due."""

    @property
    def alert(self) -> Decimal:
        """The dollars at which an alert is due."""
        return Decimal(self.limit) * self.percent / 100


def budget_of(environment: Environment) -> Budget | None:
    if environment.budget_dollars is None:
        return None
    return Budget(environment.budget_dollars, environment.budget_alert_percent)


@dataclass(frozen=True, slots=True)
class CostReport:
    """The cost of a system in a month."""

    system: str
    """The system's name."""
    environment: str | None
    """The environment's name, if one was given."""
    rates: tuple[Rate, ...]
    """The prices of the region, then those of the replica's region."""
    requests: tuple[RequestLine, ...]
    """A line for each kind of request in the load."""
    others: tuple[CostLine, ...]
    """Storage, recovery, backups, streams, replication, transfer."""
    budget: Budget | None = None
    """The environment's budget."""
    estimates: dict[str, Decimal] = field(default_factory=dict)
    """Dollars a month by group, as the environment declares them."""
    remarks: tuple[str, ...] = ()
    """Sentences about what was computed."""

    @property
    def request_dollars(self) -> Decimal:
        """The cost of all requests, in dollars a month."""
        return sum((line.dollars for line in self.requests), Decimal(0))

    @property
    def total(self) -> Decimal:
        """The total cost, in dollars a month."""
        return self.request_dollars + sum((line.dollars for line in self.others), Decimal(0))

    @property
    def groups(self) -> dict[str, Decimal]:
        """The computed dollars, by the groups of the estimates."""
        found = {DYNAMODB: self.request_dollars}
        for line in self.others:
            found[line.group] = found.get(line.group, Decimal(0)) + line.dollars
        return found

    @property
    def warnings(self) -> tuple[str, ...]:
        """A sentence if the total exceeds the budget's alert threshold."""
        if self.budget is None or self.total <= self.budget.alert:
            return ()
        share = self.total / self.budget.limit * 100
        return (
            f"This is {share:.0f} % of the budget of ${self.budget.limit:,} a month; the alert is"
            f" at {self.budget.percent} %, ${self.budget.alert:,.0f}.",
        )


def cost_report(
    system: System,
    load: Load | None = None,
    *,
    environment: Environment | None = None,
    region: str | None = None,
    on: date | None = None,
) -> CostReport:
    """The cost of a month's load, or of a million runs of each pattern if there is none.

    The region is the environment's, unless another is given.
    """
    load = load or every_pattern(system)
    first = region or (environment.region if environment else DEFAULT_REGION)
    second = environment.dr_region if environment and environment.dr_region != first else None
    rates = tuple(rate_of(name, on=on) for name in (first, second) if name is not None)
    requests = tuple(request_lines(system, load, rates[0]))
    others = tuple(other_lines(load, rates, requests, environment))
    return CostReport(
        system.name,
        environment.name if environment else None,
        rates,
        requests,
        others,
        budget_of(environment) if environment else None,
        {name: Decimal(value) for name, value in environment.estimates.items()}
        if environment
        else {},
        tuple(remarks(load, rates, requests, environment)),
    )


def every_pattern(system: System) -> Load:
    return Load(
        title="A million runs of each pattern",
        requests=tuple(
            RequestLoad(name=name, pattern=name, runs=MILLION) for name in system.patterns
        ),
    )


# Requests


def request_lines(system: System, load: Load, rate: Rate) -> Iterator[RequestLine]:
    with Engine.memory(housekeeping=False) as engine:
        for line in load.requests:
            yield request_line(engine, system, load, line, rate)


def request_line(
    engine: Engine, system: System, load: Load, line: RequestLoad, rate: Rate
) -> RequestLine:
    explained = None if line.pattern is None else explain_line(engine, system, line, rate)
    reads, writes = Decimal(0), Decimal(0)
    if explained is not None:
        reads = Decimal(str(explained.read_units)) * line.runs
        writes = Decimal(str(explained.write_units)) * line.runs
    stated = None if line.stated is None else stated_dollars(load, line, prices_stated(load, rate))
    return RequestLine(
        line.name,
        line.runs,
        line.pattern,
        reads,
        writes,
        replicated_units(explained) * line.runs if explained else Decimal(0),
        rate.dollars(float(reads), float(writes)),
        line.stated.dollars if line.stated else None,
        stated,
        None if line.stated is None else stated_dollars(load, line, rate),
        type(explained.ended).__name__ if explained and explained.ended else None,
    )


def explain_line(engine: Engine, system: System, line: RequestLoad, rate: Rate) -> Explanation[Any]:
    try:
        pattern = system.pattern(str(line.pattern))
    except DesignError as error:
        raise LoadError(f"{line.name}: {error}") from error
    steps = pattern(**sample_arguments(pattern))
    return explain_on(engine, steps, tables=system.all_tables, rate=rate, found=line.found)


def replicated_units(explained: Explanation[Any]) -> Decimal:
    """The units a replica consumes: a transaction costs double only in its own region."""
    found = 0.0
    for request in explained.requests:
        is_transaction = request.request.operation == "TransactWriteItems"
        for charge in request.charged:
            doubled = is_transaction and charge.index is None
            found += charge.write_units / 2 if doubled else charge.write_units
    return Decimal(str(found))


def prices_stated(load: Load, rate: Rate) -> Rate:
    prices = load.stated_prices
    return rate if prices is None else rate_of(prices.region, on=prices.on)


def stated_dollars(load: Load, line: RequestLoad, rate: Rate) -> Decimal:
    return rate.dollars(float(load.stated_reads(line)), float(load.stated_writes(line)))


# Everything else


def other_lines(
    load: Load,
    rates: tuple[Rate, ...],
    requests: tuple[RequestLine, ...],
    environment: Environment | None,
) -> Iterator[CostLine]:
    first = rates[0]
    if load.gigabytes:
        for rate in rates:
            yield from storage_lines(load, rate, first, environment)
        if environment is not None:
            yield from backup_lines(load, rates, environment)
    if load.stream_gigabytes:
        yield stream_line(load, first)
    if len(rates) > 1:
        yield from replication_lines(load, first, rates[1], requests)


def storage_lines(
    load: Load, rate: Rate, first: Rate, environment: Environment | None
) -> Iterator[CostLine]:
    group = DYNAMODB if rate is first else f"{DYNAMODB} in {rate.region}"
    beyond = max(load.gigabytes - FREE_GIGABYTES, Decimal(0))
    amount = f"{load.gigabytes:f} GB, the first {FREE_GIGABYTES} GB free"
    yield line_of(rate, "storage", f"storage in {rate.region}", group, amount, beyond)
    if environment is not None:
        days = f"{load.gigabytes:f} GB, {environment.recovery_days} days"
        yield line_of(
            rate, "pitr", f"point-in-time recovery in {rate.region}", group, days, load.gigabytes
        )


def line_of(
    rate: Rate,
    price: str,
    name: str,
    group: str,
    amount: str,
    quantity: Decimal,
    stated: Decimal | None = None,
) -> CostLine:
    dollars = quantity * rate.price(price)
    return CostLine(name, group, amount, dollars, price in rate.estimates, stated)


def backup_lines(
    load: Load, rates: tuple[Rate, ...], environment: Environment
) -> Iterator[CostLine]:
    period = environment.backup_period
    kept = timedelta(days=environment.retention_days) // period
    amount = f"{kept:,} copies of {load.gigabytes:f} GB"
    for rate in rates:
        stated = load.stated.get(BACKUPS) if rate is rates[0] else None
        name = f"backups in {rate.region}"
        yield line_of(rate, "backup", name, BACKUPS, amount, kept * load.gigabytes, stated)
    if len(rates) > 1:
        sent = (MONTH // period) * load.gigabytes
        name = f"transfer of backups to {rates[1].region}"
        yield line_of(rates[0], "transfer", name, BACKUPS, f"{sent:,f} GB", sent)


def stream_line(load: Load, rate: Rate) -> CostLine:
    reads = load.stream_gigabytes * MEGABYTES
    beyond = max(reads - FREE_STREAM_READS, Decimal(0))
    amount = f"{reads:,.0f} GetRecords, the first {FREE_STREAM_READS:,} free"
    stated = load.stated.get(STREAMS)
    return line_of(rate, "stream_read", "streams", STREAMS, amount, beyond / MILLION, stated)


def replication_lines(
    load: Load, first: Rate, second: Rate, requests: tuple[RequestLine, ...]
) -> Iterator[CostLine]:
    units = sum((line.replicated_units for line in requests), Decimal(0))
    amount = f"{units:,.0f} replicated write units"
    stated = load.stated.get(REPLICATION)
    name = f"replicated writes in {second.region}"
    yield line_of(second, "replicated_write", name, REPLICATION, amount, units / MILLION, stated)
    sent = units / KILOBYTES
    name = f"transfer of writes to {second.region}"
    yield line_of(first, "transfer", name, REPLICATION, f"{sent:,.2f} GB", sent)


# Remarks


def remarks(
    load: Load,
    rates: tuple[Rate, ...],
    requests: tuple[RequestLine, ...],
    environment: Environment | None,
) -> Iterator[str]:
    yield from stated_remarks(load, rates[0], requests)
    ended = [line.name for line in requests if line.ended]
    if ended:
        yield f"These end with an error on samples, and may cost more: {', '.join(ended)}."
    if environment is not None and environment.backup_frequency == "hourly" and load.gigabytes:
        yield daily_remark(load, rates, environment)


def stated_remarks(load: Load, rate: Rate, requests: tuple[RequestLine, ...]) -> Iterator[str]:
    """Says how stated dollars differ from what their own units and prices give, if they do."""
    compared = [
        (line.stated_dollars, line.stated)
        for line in requests
        if line.stated_dollars is not None and line.stated
    ]
    if not compared:
        return
    stated = sum((said for said, _ in compared), Decimal(0))
    right = sum((computed for _, computed in compared), Decimal(0))
    prices = prices_stated(load, rate)
    if all(abs(said / computed - 1000) < 10 for said, computed in compared):
        yield (
            f"The stated requests come to ${right.normalize():f}, not ${stated:,.2f}, which is"
            f" 1,000 times as much: ${prices.read:f} and ${prices.write:f} are the prices of a"
            " million units."
        )
    elif stated != right:
        yield f"The stated requests come to ${right.normalize():f}, not ${stated:,.2f}."


def daily_remark(load: Load, rates: tuple[Rate, ...], environment: Environment) -> str:
    kept = environment.retention_days * load.gigabytes
    dollars = sum((kept * rate.price("backup") for rate in rates), Decimal(0))
    if len(rates) > 1:
        dollars += MONTH.days * load.gigabytes * rates[0].price("transfer")
    return (
        f"Backups once a day would cost ${dollars:,.2f}; point-in-time recovery restores any second"
        f" of the last {environment.recovery_days} days already."
    )


def report_fields(report: CostReport) -> dict[str, Any]:
    """The report with its totals, for JSON."""
    budget = report.budget
    shown = {name: getattr(report, name) for name in REPORTED}
    return {**shown, "budget": budget and {"limit": budget.limit, "alert": budget.alert}}
