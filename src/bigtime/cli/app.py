"""The program `bigtime`: its verbs, and what it says when it cannot do as asked."""

from __future__ import annotations

from typing import Annotated

import typer

import bigtime
from bigtime.cli.audit import audit
from bigtime.cli.chart import chart
from bigtime.cli.check import check
from bigtime.cli.consume import consume
from bigtime.cli.demo import demo
from bigtime.cli.doctor import doctor
from bigtime.cli.engine import engine
from bigtime.cli.explain import explain
from bigtime.cli.patterns import patterns
from bigtime.cli.run import TYPED, run
from bigtime.cli.serve import serve
from bigtime.cli.tables import tables

app = typer.Typer(
    name="bigtime",
    help="Design a DynamoDB application by its access patterns, and run it.",
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,  # they may hold what is in a table
)
app.command()(serve)
app.add_typer(engine)
app.command()(doctor)
app.add_typer(tables)
app.command()(chart)
app.command()(check)
app.command()(patterns)
app.command(context_settings=TYPED)(explain)
app.command(context_settings=TYPED)(run)
app.add_typer(demo)
app.command()(consume)
app.add_typer(audit)


def print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"bigtime {bigtime.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=print_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Design a DynamoDB application by its access patterns, and run it."""


def main() -> None:
    app(prog_name="bigtime")
