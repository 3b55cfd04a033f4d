"""The program `bigtime`: its verbs; and `bigtime serve`, the site and its worker."""

from __future__ import annotations

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
from bigtime.cli.engine import engine, refuse
from bigtime.cli.environments import environments
from bigtime.cli.evolve import backfill, move, repair, verify
from bigtime.cli.import_export import export, import_
from bigtime.cli.infra import alarms, iam, infra, schema
from bigtime.cli.migrate import migrate
from bigtime.cli.patterns import TYPED, chart, check, explain, patterns, run
from bigtime.cli.regions import failback, failover, replica
from bigtime.cli.remind import remind
from bigtime.cli.restore import restore
from bigtime.cli.search import search
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
    from pydantic import ValidationError

    from bigtime import web
    from bigtime.model import DesignError, DomainError
    from bigtime.ops import check_store
    from bigtime.site import SITE
    from bigtime.store import SettingError, TransportError
    from bigtime.wire import DynamoDBError

    given: dict[str, Any] = {"host": host, "port": port, "store": store, "workers": workers}
    try:
        settings = web.Settings(
            **{name: value for name, value in given.items() if value is not None}
        )
        if settings.environment:
            check_store(SITE.environment(settings.environment), settings.store)
        code = web.serve(settings, tell=typer.echo)
    except ValidationError as error:
        refuse("\n".join(web.setting_faults(error)), code=2)
    except (SettingError, DomainError, DesignError) as error:
        refuse(str(error), code=2)
    except (TransportError, DynamoDBError) as error:
        refuse(f"The store does not answer: {error}")
    except OSError as error:
        refuse(f"{error.filename or 'The site'} cannot be used: {error.strerror}.")
    if code:
        raise typer.Exit(code)


app = typer.Typer(
    name="bigtime",
    help="Design a DynamoDB application by its access patterns, and run it.",
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,  # they may hold what is in a table
)
app.command(rich_help_panel="Design")(chart)
app.command(rich_help_panel="Design")(check)
app.command(context_settings=TYPED, rich_help_panel="Design")(explain)
app.command(rich_help_panel="Design")(patterns)
app.command(rich_help_panel="Design")(iam)
app.command(rich_help_panel="Design")(cost)
app.add_typer(import_, rich_help_panel="Design")
app.add_typer(export, rich_help_panel="Design")
app.command(context_settings=TYPED, rich_help_panel="Run")(run)
app.add_typer(tables, rich_help_panel="Run")
app.add_typer(engine, rich_help_panel="Run")
app.command(rich_help_panel="Run")(consume)
app.add_typer(dead_letters, rich_help_panel="Run")
app.add_typer(data, rich_help_panel="Run")
app.add_typer(search, rich_help_panel="Run")
app.add_typer(analytics, rich_help_panel="Run")
app.command(rich_help_panel="Run")(doctor)
app.command(rich_help_panel="Change")(verify)
app.command(rich_help_panel="Change")(repair)
app.command(rich_help_panel="Change")(backfill)
app.command(rich_help_panel="Change")(move)
app.command(rich_help_panel="Change")(migrate)
app.command(rich_help_panel="Operate")(environments)
app.command(rich_help_panel="Operate")(infra)
app.command(rich_help_panel="Operate")(alarms)
app.add_typer(schema, rich_help_panel="Operate")
app.add_typer(backup, rich_help_panel="Operate")
app.add_typer(restore, rich_help_panel="Operate")
app.command(rich_help_panel="Operate")(failover)
app.command(rich_help_panel="Operate")(failback)
app.add_typer(replica, rich_help_panel="Operate")
app.add_typer(drill, rich_help_panel="Operate")
app.command(rich_help_panel="Operate")(archive)
app.add_typer(audit, rich_help_panel="Operate")
app.command(rich_help_panel="The demo's site")(serve)
app.add_typer(demo, rich_help_panel="The demo's site")
app.command(rich_help_panel="The demo's site")(remind)


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
