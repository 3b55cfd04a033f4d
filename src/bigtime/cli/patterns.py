"""The verbs for a system's access patterns: `patterns`, `chart`, `check`, `explain` and `run`."""

from __future__ import annotations

import inspect
import json
from collections.abc import Sequence
from itertools import groupby
from typing import Annotated, Any, get_args

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from bigtime.cli import systems
from bigtime.cli.packages import advisor, bt, parameters
from bigtime.cli.results import failures_as_sentences, sentence_errors, show, show_json
from bigtime.cli.screen import refuse, screen_for_tables
from bigtime.cli.tables import StoreSetting, open_database


def patterns(system: systems.SystemName) -> None:
    """List a system's access patterns: name, title, index, parameters and notes."""
    listed = systems.system_named(system).patterns
    table = Table(box=None, pad_edge=False)
    table.add_column("name", min_width=max(map(len, listed), default=0))
    for heading in ("title", "index", "parameters", "notes"):
        table.add_column(heading)
    for row in listed.values():
        options = parameters.options_text(row)
        table.add_row(*map(Text, (row.name, row.title, row.index, options, row.notes)))
    screen_for_tables().print(table)


def chart(system: systems.SystemName) -> None:
    """Print a system's entity, index and access-pattern charts as Markdown."""
    typer.echo(advisor.chart(systems.system_named(system)), nl=False)


def check(
    system: Annotated[
        str | None,
        typer.Argument(
            metavar="[SYSTEM]",
            help="One of Bigtime's systems by name, or your own as package.module:ATTRIBUTE."
            "  \\[default: all of Bigtime's]",
        ),
    ] = None,
) -> None:
    """Run every pattern dry, and examine the design; the exit code is 1 if something is found."""
    is_wrong = False
    for checked in systems.all_systems() if system is None else [systems.system_named(system)]:
        findings = advisor.check_system(checked)
        show_findings(checked, findings)
        is_wrong = is_wrong or any(finding.accepted is None for finding in findings)
    if is_wrong:
        raise typer.Exit(1)


def show_findings(system: bt.System, findings: list[advisor.Finding]) -> None:
    screen = Console(highlight=False)
    accepted = sum(finding.accepted is not None for finding in findings)
    screen.print(
        f"[bold]{escape(system.name)}[/bold]: {len(system.patterns)} patterns,"
        f" {len(system.entities)} entities, {len(findings) - accepted} found, {accepted} accepted",
        soft_wrap=True,
    )
    for finding in sorted(findings, key=lambda finding: finding.accepted is not None):
        screen.print(finding_line(finding), soft_wrap=True)


def finding_line(finding: advisor.Finding) -> str:
    key = escape(finding.key)
    if finding.accepted is not None:
        return f"[green]accepted[/green]  {key}: {escape(finding.accepted)}"
    return f"[red]found[/red]     {key}: {escape(f'{finding.sentence}; {finding.remedy}')}"


# Explain and run

TYPED = {"allow_extra_args": True, "ignore_unknown_options": True}
"""A pattern's parameters are options that only the pattern knows."""


def explain(
    context: typer.Context,
    pattern: systems.PatternName,
    region: Annotated[
        str, typer.Option("--region", help="The AWS region whose prices apply.")
    ] = "us-east-1",
    requests: Annotated[
        bool, typer.Option("--requests", help="Print each request in full, as JSON.")
    ] = False,
) -> None:
    """Show a pattern's requests, indexes, capacity and price, on samples in memory.

    Its parameters are typed as options; samples stand for those that are not.
    """
    system, meant = systems.pattern_named(pattern)
    with failures_as_sentences(systems.system_of(pattern)):
        typed = parameters.parse_arguments(meant, context.args)
        try:
            steps = meant(**{**advisor.sample_arguments(meant), **typed})
            explanation = advisor.explain(steps, tables=system.all_tables, region=region)
        except (bt.DesignError, advisor.UnknownPrice) as error:
            refuse(str(error), code=2)
        except sentence_errors():
            raise
        except Exception as error:  # whatever a pattern's own code may raise
            refuse(f"{pattern} cannot be explained: it raises {type(error).__name__}: {error}")
    show_explanation(explanation, with_requests=requests)


def show_explanation(explanation: advisor.Explanation[Any], *, with_requests: bool) -> None:
    screen = Console(highlight=False)
    screen.print(requests_table(explanation.requests))
    if with_requests:
        for request in explanation.requests:
            screen.print_json(json.dumps({request.request.operation: request.request.params}))
    if explanation.ended is not None:
        ended = f"{type(explanation.ended).__name__}: {explanation.ended}"
        screen.print(f"On these samples it ends with {escape(ended)}", soft_wrap=True)
    screen.print(
        f"{advisor.units(explanation)}, {advisor.price(explanation.dollars, explanation.rate)}",
        soft_wrap=True,
    )


def requests_table(requests: Sequence[advisor.ExplainedRequest]) -> Table:
    """A row for each request, or for several similar ones."""
    table = Table("", "request", "index", "units", "assuming", box=None, pad_edge=False)
    number = 1
    for cells, alike in groupby(requests, key=cells_of):
        last = number + len(list(alike)) - 1
        table.add_row(str(number) if last == number else f"{number}-{last}", *map(escape, cells))
        number = last + 1
    return table


def cells_of(row: advisor.ExplainedRequest) -> tuple[str, ...]:
    written = [charge.index for charge in row.charges if charge.index and charge.write_units]
    also = f"; writes to {', '.join(written)}" if written else ""
    return row.request.operation, ", ".join(row.indexes) + also, advisor.units(row), row.assumption


def run(
    context: typer.Context,
    pattern: systems.PatternName,
    store: StoreSetting = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the result as JSON, for another program.")
    ] = False,
    tenant: Annotated[
        str | None,
        typer.Option("--for-tenant", metavar="TENANT", help="The tenant to bind the store to."),
    ] = None,
) -> None:
    """Run an access pattern and print its result; its parameters are typed as options."""
    if tenant == "":  # as from an unset shell variable
        refuse("--for-tenant is empty: name the tenant.", code=2)
    system, meant = systems.pattern_named(pattern)
    with failures_as_sentences(systems.system_of(pattern)):
        arguments = parameters.parse_arguments(meant, context.args)
        parameters.check_complete(meant, arguments)
    with (
        open_database(store, system, makes=False) as database,
        failures_as_sentences(systems.system_of(pattern), store),
    ):
        bound = database if tenant is None else database.for_tenant(tenant)
        result = bound.run(meant(**arguments))
    if as_json:
        show_json(result)
    elif result is None and returns_nothing(meant):
        typer.echo("done")
    else:
        show(result, after=parameters.cursor_option(meant))


def returns_nothing(pattern: bt.Pattern[..., Any]) -> bool:
    steps = inspect.signature(pattern.function, eval_str=True).return_annotation
    return get_args(steps)[-1:] == (type(None),)
