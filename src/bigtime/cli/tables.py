"""`bigtime tables`: creates a system's tables in a store, and compares them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from bigtime.cli.packages import advisor, bt, ops, stores, wire
from bigtime.cli.screen import refuse, say, tell
from bigtime.cli.systems import (
    EnvironmentName,
    SystemName,
    check_environment,
    in_environment,
    system_named,
)

tables = typer.Typer(name="tables", help="Create and compare the tables of a system.")

StoreSetting = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="SETTING",
        help="Where: file:shop.db, memory:, dynamodb:af-south-1 or http://127.0.0.1:8000."
        "  \\[default: BIGTIME_STORE]",
    ),
]


@tables.command()
def create(
    system: SystemName, store: StoreSetting = None, environment: EnvironmentName = None
) -> None:
    """Create the missing tables, global indexes, streams and times to live.

    In an environment, existing tables also get its tags, encryption, recovery, protection and
    replicas; with replicas, the fence that lets one region write at a time.
    """
    declared = system_named(system)
    wanted = in_environment(declared, environment, store)
    region = declared.environment(environment).region if environment else None
    with open_database(store, region=region) as database:
        try:
            made = make_missing(database, wanted)
            settled = database.run(ops.settle(wanted)) if environment else []
        except bt.NotReady as error:
            tell(f"created {resource}" for resource in error.progress.made)
            refuse(str(error))
    tell(f"set {setting}" for setting in settled)
    fenced = make_fence(wanted, environment, store) if environment else []
    tell(fenced)
    if not (made or settled or fenced):
        say("nothing is missing")


def make_missing(
    database: stores.Store, system: bt.System, *, patience_seconds: float = 600.0
) -> list[str]:
    """Creates the missing tables and indexes, waits until they are ready, and reports them.

    What cannot be created at once, such as a table's second index, is created afterwards.
    """
    first = database.run(bt.setup(system, patience_seconds=0))
    tell(f"created {resource}" for resource in first.made)
    if not first.pending:
        return first.made
    tell(f"waiting: {resource}" for resource in first.pending)
    rest = database.run(bt.setup(system, patience_seconds=patience_seconds))
    tell(f"created {resource}" for resource in rest.made)
    return first.made + rest.made


def make_fence(system: bt.System, environment: str, store: str | None) -> list[str]:
    """Creates the fence, if the environment has two regions; returns what was created, in words."""
    there = system.environment(environment)
    if (
        there.dr_region is None
        or stores.read_setting(stores.describe_choice(store)).kind == "memory"
    ):
        return []
    with ops.open_regions(store, there) as opened:
        return ops.RegionSwitch(system, there, opened).prepare()


@tables.command()
def diff(
    system: SystemName, store: StoreSetting = None, environment: EnvironmentName = None
) -> None:
    """Show how the live tables differ from the declared ones; the exit code is 1 if they do."""
    wanted = in_environment(system_named(system), environment, store)
    with open_database(store, makes=False) as database:
        found = database.run(advisor.diff(wanted))
    tell(f"{difference.kind:8} {difference}" for difference in found)
    if found:
        raise typer.Exit(1)
    say("the tables are as declared")


@contextmanager
def open_database(
    setting: str | None, *systems: bt.System, makes: bool = True, region: str | None = None
) -> Iterator[stores.Store]:
    """The store; ends the program with a sentence if something is wrong with it.

    It must be in the `BIGTIME_ENVIRONMENT` of the `systems`; a verb with `--environment` has
    checked that already, by `in_environment`, and passes none.
    With `makes` false, an empty store in memory stands in for a file that does not exist.
    `region` is that of a file whose tables have no replicas yet.
    """
    for system in systems:
        check_environment(system, setting)
    with store_sentences():
        chosen = setting if makes or is_there(setting) else "memory:"
        with stores.open_store(chosen, region=region) as store:
            yield store


def table_names() -> stores.TableNames:
    """The real names of tables, from `BIGTIME_TABLES`; as declared without it."""
    return stores.read_table_names(None) or stores.TableNames({})


@contextmanager
def store_sentences(then: str = "") -> Iterator[None]:
    """Ends the program with a sentence if a store fails; `then` is added where a retry may help."""
    try:
        yield
    except stores.SettingError as error:
        refuse(str(error), code=2)
    except wire.DynamoDBError as error:
        refuse(f"{error.code}: {error.message}{then}")
    except network_errors() as error:
        refuse(f"{error}{then}")


def is_there(setting: str | None) -> bool:
    """Whether the store exists: false for a file that was never created."""
    kind, place = stores.read_setting(stores.describe_choice(setting))
    return kind != "file" or Path(place).exists()


def network_errors() -> tuple[type[Exception], ...]:
    """The transports' errors, and botocore's if it is installed: a local store does not need it."""
    try:
        from botocore.exceptions import BotoCoreError
    except ModuleNotFoundError:
        return (stores.TransportError,)
    return stores.TransportError, BotoCoreError
