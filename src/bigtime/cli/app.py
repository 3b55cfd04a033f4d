"""The program `bigtime` with its verbs; and `bigtime serve`, the site and its worker."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer

import bigtime
from bigtime.cli.analytics import analytics
from bigtime.cli.archive import archive
from bigtime.cli.audit import audit
from bigtime.cli.backup import backup
from bigtime.cli.consume import consume
from bigtime.cli.cost import cost
from bigtime.cli.data import data
from bigtime.cli.dead_letters import dead_letters
from bigtime.cli.demo import demo
from bigtime.cli.doctor import doctor
from bigtime.cli.drill import drill
from bigtime.cli.engine import engine
from bigtime.cli.evolve import backfill, move, repair, verify
from bigtime.cli.import_export import export, import_
from bigtime.cli.infra import alarms, iam, infra, schema
from bigtime.cli.migrate import migrate
from bigtime.cli.packages import bt, ops, pydantic, site, stores, web, wire
from bigtime.cli.patterns import TYPED, chart, check, explain, patterns, run
from bigtime.cli.regions import failback, failover, replica
from bigtime.cli.remind import remind
from bigtime.cli.restore import restore
from bigtime.cli.screen import refuse
from bigtime.cli.search import search
from bigtime.cli.systems import environments
from bigtime.cli.tables import tables


def serve(
    host: Annotated[
        str | None, typer.Option("--host", help="The address to listen on.  \\[default: 127.0.0.1]")
    ] = None,
    port: Annotated[
        int | None, typer.Option("--port", min=0, max=65535, help="The port.  \\[default: 8080]")
    ] = None,
    store: Annotated[
        str | None,
        typer.Option(
            "--store",
            help="Where the data is, as in BIGTIME_STORE.  \\[default: file:data/bigtime.db]",
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers", min=1, max=64, help="How many processes serve the port.  \\[default: 1]"
        ),
    ] = None,
) -> None:
    """Start the site with its stream consumers; on first start, with tables and demo data."""
    given: dict[str, Any] = {"host": host, "port": port, "store": store, "workers": workers}
    try:
        settings = web.Settings(
            **{name: value for name, value in given.items() if value is not None}
        )
        if settings.environment:
            ops.check_store(site.SITE.environment(settings.environment), settings.store)
        code = web.serve(settings, tell=typer.echo)
    except pydantic.ValidationError as error:
        refuse("\n".join(web.setting_faults(error)), code=2)
    except (stores.SettingError, bt.DomainError, bt.DesignError) as error:
        refuse(str(error), code=2)
    except (stores.TransportError, wire.DynamoDBError) as error:
        refuse(f"The store does not answer: {error}")
    except OSError as error:
        refuse(f"{error.filename or 'The site'} cannot be used: {error.strerror}.")
    if code:
        raise typer.Exit(code)


app = typer.Typer(
    name="bigtime",
    help="Design a DynamoDB application by its access patterns, and run it.",
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,  # local variables may hold data of a table
)
PANELS: dict[str, list[typer.Typer | Callable[..., None]]] = {
    "Design": [chart, check, explain, patterns, iam, cost, import_, export],
    "Run": [run, tables, engine, consume, dead_letters, data, search, analytics, doctor],
    "Change": [verify, repair, backfill, move, migrate],
    "Operate": [
        *(environments, infra, alarms, schema, backup, restore),
        *(failover, failback, replica, drill, archive, audit),
    ],
    "The demo's site": [serve, demo, remind],
}
"""The verbs, by the groups of the help."""

for panel, verbs in PANELS.items():
    for verb in verbs:
        if isinstance(verb, typer.Typer):
            app.add_typer(verb, rich_help_panel=panel, no_args_is_help=True)
        else:
            settings = TYPED if verb in (explain, run) else None
            app.command(context_settings=settings, rich_help_panel=panel)(verb)


def print_version(wanted: bool) -> None:
    if wanted:
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
