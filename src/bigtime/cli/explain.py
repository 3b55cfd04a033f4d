"""`bigtime explain`: the requests of a pattern and what they cost, before it runs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from bigtime.cli.engine import refuse
from bigtime.cli.systems import PatternName, pattern_named, system_of

if TYPE_CHECKING:
    from bigtime.advisor import Explained, Explanation


def explain(
    context: typer.Context,
    pattern: PatternName,
    region: Annotated[
        str, typer.Option("--region", help="The AWS region whose prices count.")
    ] = "us-east-1",
    requests: Annotated[
        bool, typer.Option("--requests", help="Print each request in full, as JSON.")
    ] = False,
) -> None:
    """Show a pattern's requests, indexes, capacity and price, on samples in memory.

    Its parameters are typed as options; samples stand for those that are not.
    """
    from bigtime.advisor import UnknownPrice, sample_arguments
    from bigtime.advisor import explain as explained
    from bigtime.cli.failures import failures_as_sentences
    from bigtime.cli.parameters import parse_arguments
    from bigtime.model import DesignError

    system, meant = pattern_named(pattern)
    with failures_as_sentences(system_of(pattern)):
        typed = parse_arguments(meant, context.args)
        try:
            steps = meant(**{**sample_arguments(meant), **typed})
            explanation = explained(steps, tables=system.all_tables, region=region)
        except (DesignError, UnknownPrice) as error:
            refuse(str(error), code=2)
    show_explanation(explanation, with_requests=requests)


def show_explanation(explanation: Explanation[Any], *, with_requests: bool) -> None:
    from bigtime.advisor import price, units

    screen = Console(highlight=False)
    screen.print(requests_table(explanation.requests))
    if with_requests:
        for request in explanation.requests:
            screen.print_json(json.dumps({request.request.operation: request.request.params}))
    if explanation.ended is not None:
        ended = f"{type(explanation.ended).__name__}: {explanation.ended}"
        screen.print(f"On these samples it ends with {escape(ended)}", soft_wrap=True)
    screen.print(
        f"{units(explanation)}, {price(explanation.dollars, explanation.rate)}", soft_wrap=True
    )


def requests_table(requests: Sequence[Explained]) -> Table:
    """A row for each request, or for several that are alike."""
    table = Table("", "request", "index", "units", "assuming", box=None, pad_edge=False)
    number = 1
    for cells, alike in groupby(requests, key=cells_of):
        last = number + len(list(alike)) - 1
        table.add_row(str(number) if last == number else f"{number}-{last}", *map(escape, cells))
        number = last + 1
    return table


def cells_of(one: Explained) -> tuple[str, ...]:
    from bigtime.advisor import units

    written = [charge.index for charge in one.charges if charge.index and charge.write_units]
    also = f"; writes to {', '.join(written)}" if written else ""
    return one.request.operation, ", ".join(one.indexes) + also, units(one), one.assumption
