"""`bigtime tables`: a system's tables in a store, made and compared."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from bigtime.cli.engine import refuse
from bigtime.cli.systems import SystemName, system_named

if TYPE_CHECKING:
    from bigtime.store import Store

SECONDS_TO_WAIT = 600.0
SECONDS_BETWEEN_LOOKS = 2.0

tables = typer.Typer(
    name="tables", help="The tables of a system: make them, compare them.", no_args_is_help=True
)

StoreSetting = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="SETTING",
        help="Where: file:shop.db, memory:, dynamodb:af-south-1 or http://127.0.0.1:8000."
        "  \\[default: BIGTIME_STORE]",
    ),
]


@tables.callback()
def about() -> None:
    """The tables of a system: make them, compare them."""


@tables.command()
def create(system: SystemName, store: StoreSetting = None) -> None:
    """Make the tables, global indexes, streams and times to live that are missing."""
    from bigtime.model.create_table import setup

    wanted = system_named(system)
    screen = Console(highlight=False, markup=False)
    is_new = False
    with opened(store) as database:
        until = time.monotonic() + SECONDS_TO_WAIT
        while True:
            progress = database.run(setup(wanted))
            for one in progress.made:
                screen.print(f"made {one}", soft_wrap=True)
                is_new = True
            if not progress.pending:
                break
            if time.monotonic() > until:
                refuse(f"Not ready yet: {'; '.join(progress.pending)}. Run it again later.")
            time.sleep(SECONDS_BETWEEN_LOOKS)
    if not is_new:
        screen.print("nothing is missing")


@tables.command()
def diff(system: SystemName, store: StoreSetting = None) -> None:
    """Tell how the live tables differ from the declared ones; the exit code is 1 if they do."""
    from bigtime.model.difference import diff as differences

    wanted = system_named(system)
    with opened(store) as database:
        found = database.run(differences(wanted))
    screen = Console(highlight=False, markup=False)
    for one in found:
        screen.print(f"{one.kind:8} {one}", soft_wrap=True)
    if found:
        raise typer.Exit(1)
    screen.print("the tables are as declared")


@contextmanager
def opened(setting: str | None) -> Iterator[Store]:
    """The store, with what may go wrong told in a sentence."""
    from botocore.exceptions import BotoCoreError

    from bigtime.store import SettingError, TransportError, open_store
    from bigtime.wire import DynamoDBError

    try:
        with open_store(setting) as store:
            yield store
    except SettingError as error:
        refuse(str(error), code=2)
    except DynamoDBError as error:
        refuse(f"{error.code}: {error.message}")
    except (TransportError, BotoCoreError) as error:
        refuse(str(error))
