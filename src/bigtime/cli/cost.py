"""`bigtime cost`: what a month of a system costs."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from bigtime.cli.packages import advisor, bt
from bigtime.cli.results import show_json
from bigtime.cli.screen import refuse, screen_for_tables
from bigtime.cli.systems import SystemName, system_named


def cost(
    system: SystemName,
    environment: Annotated[
        str | None,
        typer.Option(
            "--environment",
            envvar="BIGTIME_ENVIRONMENT",
            help="Its regions, backups, budget and estimates.",
        ),
    ] = None,
    region: Annotated[
        str | None,
        typer.Option(
            "--region",
            help="The region whose prices apply.  \\[default: the environment's, or us-east-1]",
        ),
    ] = None,
    on: Annotated[
        datetime | None,
        typer.Option(
            "--on", formats=["%Y-%m-%d"], help="The date of the prices, such as 2026-09-11."
        ),
    ] = None,
    load: Annotated[
        Path | None,
        typer.Option(
            "--load",
            metavar="FILE",
            help="The load of a month, as TOML or JSON.  \\[default: a million runs of each"
            " pattern]",
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print it as JSON, for another program.")
    ] = False,
) -> None:
    """Show what a month costs: requests by pattern, storage, backups, streams, replication.

    The units are those that `explain` finds, the prices those of AWS on a day. Over the alert of
    the environment's budget there is a warning.
    """
    found = system_named(system)
    try:
        report = advisor.cost_report(
            found,
            None if load is None else advisor.read_load(load),
            environment=None if environment is None else found.environment(environment),
            region=region,
            on=None if on is None else on.date(),
        )
    except (bt.DesignError, advisor.LoadError, advisor.UnknownPrice, advisor.CannotSample) as error:
        refuse(f"{str(error).rstrip('.')}.", code=2)
    if as_json:
        show_json(advisor.report_fields(report))
    else:
        show_report(report)


def dollars(amount: Decimal | None) -> str:
    """An amount such as 5,378.00; amounts below a dollar have more digits."""
    if amount is None:
        return ""
    return f"{amount:,.2f}" if amount >= 1 or not amount else f"{amount:.6f}"


def show_report(report: advisor.CostReport) -> None:
    screen = screen_for_tables()
    screen.print(Text(heading(report), "bold"))
    for rate in report.rates:
        screen.print(f"{rate}: {rate.source}", soft_wrap=True)
    screen.print()
    screen.print(requests_table(report))
    if report.others:
        screen.print()
        screen.print(others_table(report))
    screen.print()
    screen.print(groups_table(report))
    for remark in report.remarks:
        screen.print(remark, soft_wrap=True)
    for warning in report.warnings:
        screen.print(Text(f"Warning: {warning}", "bold red"), soft_wrap=True)


def heading(report: advisor.CostReport) -> str:
    regions = " and ".join(rate.region for rate in report.rates)
    where = f" in {report.environment}" if report.environment else ""
    return f"{report.system}{where}, {regions}: ${dollars(report.total)} a month"


def numbers(table: Table, *headings: str) -> None:
    for heading in headings:
        table.add_column(heading, justify="right")


def requests_table(report: advisor.CostReport) -> Table:
    """The cost of requests; with columns for stated prices, if there are any."""
    stated = any(line.stated is not None for line in report.requests)
    table = Table("requests", "pattern", box=None, pad_edge=False)
    numbers(table, "runs", "read units", "write units", "$ a month")
    if stated:
        numbers(table, "stated $", "its units at its prices", "at these prices")
    for line in report.requests:
        cells = [line.name, line.pattern or "", f"{line.runs:,}"]
        cells += [f"{line.read_units.normalize():,f}", f"{line.write_units.normalize():,f}"]
        cells.append(dollars(line.dollars))
        if stated:
            cells += map(dollars, (line.stated_dollars, line.stated, line.stated_now))
        table.add_row(*cells)
    sums = ["all requests", "", "", "", "", dollars(report.request_dollars)]
    if stated:
        columns = (
            [line.stated_dollars for line in report.requests],
            [line.stated for line in report.requests],
            [line.stated_now for line in report.requests],
        )
        sums += [dollars(sum(filter(None, column), Decimal(0))) for column in columns]
    table.add_row(*sums, style="bold")
    return table


def others_table(report: advisor.CostReport) -> Table:
    table = Table("beside requests", "amount", box=None, pad_edge=False)
    numbers(table, "$ a month", "stated $")
    table.add_column("")
    for line in report.others:
        note = "estimated price" if line.estimated else ""
        stated = dollars(line.stated_dollars)
        table.add_row(line.name, line.amount, dollars(line.dollars), stated, note)
    return table


def groups_table(report: advisor.CostReport) -> Table:
    """The computed cost, beside the environment's estimates and budget."""
    table = Table("in all", box=None, pad_edge=False)
    numbers(table, "$ a month", "estimated")
    computed = report.groups
    for name in dict.fromkeys((*computed, *report.estimates)):
        table.add_row(
            name, dollars(computed.get(name, Decimal(0))), dollars(report.estimates.get(name))
        )
    estimated = sum(report.estimates.values(), Decimal(0)) if report.estimates else None
    table.add_row("total", dollars(report.total), dollars(estimated), style="bold")
    if report.budget is not None:
        limit = f"{report.budget.limit:,}"
        table.add_row(f"budget, alert at ${report.budget.alert:,.0f}", limit, "")
    return table
