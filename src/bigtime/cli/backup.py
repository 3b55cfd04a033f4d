"""`bigtime backup`: backups of a system, made, listed, verified, restored and pruned."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, NoReturn, TypeVar

import typer
from rich.table import Table

from bigtime.cli.consume import stop_signals
from bigtime.cli.packages import bt, ops, stores, wire
from bigtime.cli.results import remedy
from bigtime.cli.screen import refuse, refuse_on, say, screen_for_tables, tell
from bigtime.cli.systems import (
    EnvironmentName,
    SystemName,
    environment_named,
    in_environment,
    system_named,
)
from bigtime.cli.tables import StoreSetting, open_database, table_names

DEFAULT_PLACE = "backups"
T = TypeVar("T")

backup = typer.Typer(name="backup", help="Backups of a system: all its tables at one commit.")

PlaceSetting = Annotated[
    str | None,
    typer.Option(
        "--place",
        metavar="FOLDER",
        envvar="BIGTIME_BACKUPS",
        help=f"The folder with the backups.  \\[default: {DEFAULT_PLACE}, and in it one for the"
        " environment]",
    ),
]
SecondPlace = Annotated[
    str | None,
    typer.Option(
        "--copy-to",
        metavar="FOLDER",
        envvar="BIGTIME_BACKUPS_COPY",
        help="A second folder, on another disk or machine: every backup is copied there.",
    ),
]
KeepDays = Annotated[
    int | None,
    typer.Option(
        "--keep-days",
        min=1,
        help="How long a backup is kept.  \\[default: the environment's, or forever]",
    ),
]
BackupName = Annotated[
    str | None, typer.Argument(metavar="BACKUP", help="Its name.  \\[default: the newest]")
]


@backup.command("run")
def run_backups(
    system: SystemName,
    store: StoreSetting = None,
    environment: EnvironmentName = None,
    place: PlaceSetting = None,
    copy_to: SecondPlace = None,
    schedule: Annotated[
        str | None,
        typer.Option(
            "--schedule",
            metavar="CRON",
            help="When, as in 'cron(0 1 * * ? *)': daily at 01:00 UTC.",
        ),
    ] = None,
    keep_days: KeepDays = None,
    once: Annotated[
        bool, typer.Option("--once", help="Do what is due now, and exit: for cron or systemd.")
    ] = False,
) -> None:
    """Make backups when they are due, copy them, prune them; until Ctrl+C or SIGTERM.

    After a downtime it makes one. A backup that fails is retried.
    """
    logging.basicConfig(level=logging.ERROR)
    wanted = in_environment(system_named(system), environment, store)
    with faults_as_sentences():
        plan = read_plan(wanted, environment, place, copy_to, schedule, keep_days)
        with open_source(wanted, environment, store) as source, stop_signals() as stop:
            runs = ops.BackupRuns(source, plan)
            if once:
                done = in_background(runs.round)
                tell_round(done)
                if done.faults:
                    raise typer.Exit(1)
                return
            say(f"backups of {wanted.name} by {plan.schedule.text}, to {plan.place.where}")
            in_background(lambda: runs.run(stop, tell_round))


@backup.command()
def create(
    system: SystemName,
    store: StoreSetting = None,
    environment: EnvironmentName = None,
    place: PlaceSetting = None,
    copy_to: SecondPlace = None,
    keep_days: KeepDays = None,
) -> None:
    """Make a backup now, while the tables are in use, and verify it.

    The exit code is 1 if the portal's audit log is broken in it; the backup is kept.
    """
    wanted = in_environment(system_named(system), environment, store)
    with faults_as_sentences(), open_source(wanted, environment, store) as source:
        there = place_of(place, environment)
        second = second_place(copy_to, there)
        if keep_days is None and environment is not None:
            keep_days = wanted.environment(environment).retention_days
        keep = None if keep_days is None else timedelta(days=keep_days)
        made = in_background(
            lambda: ops.create_backup(source, there, moment=datetime.now(UTC), keep=keep)
        )
        say(backup_line(made, there))
        if second is not None:
            in_background(lambda: ops.copy_backup(there, made.name, second))
            say(f"copied to {second.where}")
        broken = in_background(lambda: ops.audit_backup(there, made.name, wanted))
        tell(broken_lines(made.name, broken))
    if broken:
        refuse_broken_log()


def in_background(do: Callable[[], T]) -> T:
    """Runs `do` on a low-priority thread: whatever else the machine serves comes first."""
    done: Future[T] = Future()

    def work() -> None:
        ops.lower_priority()
        try:
            done.set_result(do())
        except BaseException as error:
            done.set_exception(error)

    threading.Thread(target=work, daemon=True).start()
    return done.result()


@backup.command("list")
def list_all(
    system: SystemName, environment: EnvironmentName = None, place: PlaceSetting = None
) -> None:
    """List the backups, with their sizes and expiry."""
    with faults_as_sentences():
        wanted, there, names = find_backups(system, environment, place)
    if not names:
        say(no_backup(there, wanted, environment))
        return
    sheet = Table("backup", "commit", "items", "KB", "kept until", box=None, pad_edge=False)
    for name in names:
        try:
            manifest = ops.read_manifest(there, name)
        except ops.BackupFault as error:
            sheet.add_row(name, str(error))
            continue
        sheet.add_row(
            name,
            f"{manifest.commit:%Y-%m-%d %H:%M:%S}",
            f"{manifest.items:,}",
            f"{manifest.file_bytes / 1024:,.0f}",
            f"{manifest.expires_at:%Y-%m-%d %H:%M}" if manifest.expires_at else "forever",
        )
    screen_for_tables().print(sheet)


@backup.command()
def verify(
    system: SystemName,
    backup: BackupName = None,
    environment: EnvironmentName = None,
    place: PlaceSetting = None,
    every: Annotated[bool, typer.Option("--all", help="All of them.")] = False,
) -> None:
    """Read a backup in full; the exit code is 1 if it is damaged.

    The portal's audit log is checked too, in a copy that is opened for it.
    """
    damaged = broken = 0
    with faults_as_sentences():
        wanted, there, names = find_backups(system, environment, place)
        if not (every and names):
            names = [backup_name(there, wanted, environment, backup)]
        for name in names:
            if faults := ops.verify_backup(there, name):
                damaged += 1
                tell(f"damaged  {name}: {fault}" for fault in faults)
                continue
            check_system(there, name, wanted)
            faults = ops.audit_backup(there, name, wanted)
            broken += bool(faults)
            tell(broken_lines(name, faults) or [f"good     {name}"])
    if damaged:
        refuse("Make another one with `bigtime backup create`; prune leaves the last good one.")
    if broken:
        refuse_broken_log()


def broken_lines(name: str, faults: list[str]) -> list[str]:
    return [f"broken   {name}: {fault}" for fault in faults]


def refuse_broken_log() -> NoReturn:
    refuse(
        "The audit log was broken when the backup was made: `bigtime audit verify` says"
        " whether it still is, and `bigtime backup verify --all` since when."
    )


@backup.command()
def restore(
    system: SystemName,
    backup: BackupName = None,
    store: StoreSetting = None,
    environment: EnvironmentName = None,
    place: PlaceSetting = None,
    suffix: Annotated[
        str, typer.Option("--suffix", help="A suffix for the names of the restored tables.")
    ] = "",
    table: Annotated[
        list[str] | None,
        typer.Option("--table", metavar="NAME", help="Only this table; may be repeated."),
    ] = None,
) -> None:
    """Restore a backup, to any store: an empty file, or Amazon DynamoDB. No table is overwritten.

    Run it again to continue after an interruption.
    """
    wanted = in_environment(system_named(system), environment, store)
    with faults_as_sentences():
        there = place_of(place, environment)
        name = backup_name(there, wanted, environment, backup)
        check_system(there, name, wanted)
        check_suffix(suffix)
        check_tables(there, name, table or [])
    with faults_as_sentences(), open_database(store) as database:
        names = table_names()
        done = ops.restore_backup(
            there,
            name,
            plain_store(database),
            engine=ops.engine_of(database),
            real=names.real,
            suffix=suffix,
            tables=table or [],
        )
        tell(f"restored {each.target} with {each.items:,} items" for each in done)
        if not suffix and not table:
            for part in (wanted, *wanted.uses):
                made = database.run(bt.setup(part)).made
                tell(f"created {resource}, which is not in backups" for resource in made)


@backup.command()
def prune(
    system: SystemName, environment: EnvironmentName = None, place: PlaceSetting = None
) -> None:
    """Remove expired backups, except the last good one."""
    with faults_as_sentences():
        wanted, there, names = find_backups(system, environment, place)
        gone = ops.prune(there, names, now=datetime.now(UTC))
    if not names:
        say(no_backup(there, wanted, environment))
        return
    tell([f"removed {name}" for name in gone] or ["the time of none is over"])


# What the verbs share


@contextmanager
def faults_as_sentences() -> Iterator[None]:
    with (
        refuse_on(ops.BackupFault, ops.NotActive, ops.RestoreFault),
        refuse_on(ops.WrongSchedule, stores.SettingError, code=2),
    ):
        yield


def place_of(setting: str | None, environment: str | None) -> ops.Place:
    """The given place, or `backups/` with a folder for each environment."""
    default = Path(DEFAULT_PLACE) / environment if environment else Path(DEFAULT_PLACE)
    return ops.place_at(setting or str(default))


def second_place(setting: str | None, first: ops.Place) -> ops.Place | None:
    """The place for copies, if one is given; it must differ from the first."""
    if setting is None:
        return None
    second = place_of(setting, None)
    if is_same_place(first.where, second.where):
        refuse(
            f"The backups themselves are in {first.where}: name another folder with --copy-to.",
            code=2,
        )
    return second


def is_same_place(first: str, second: str) -> bool:
    if first.startswith("s3://") or second.startswith("s3://"):
        return first == second
    return Path(first).resolve() == Path(second).resolve()


def find_backups(
    system: str, environment: str | None, place: str | None
) -> tuple[bt.System, ops.Place, list[str]]:
    """The named system, the place of its backups, and their names, oldest first."""
    found = system_named(system)
    if environment is not None:
        environment_named(found, environment)
    there = place_of(place, environment)
    return found, there, ops.names_of(there, found.name, environment)


def backup_name(
    place: ops.Place, system: bt.System, environment: str | None, name: str | None
) -> str:
    if name is not None:
        if name not in place.names():
            refuse(f"There is no backup {name} in {place.where}: `bigtime backup list` has those.")
        return name
    names = ops.names_of(place, system.name, environment)
    if not names:
        refuse(no_backup(place, system, environment))
    return names[-1]


def no_backup(place: ops.Place, system: bt.System, environment: str | None) -> str:
    kind = system.name if environment is None else f"{system.name} in {environment}"
    return (
        f"There is no backup of {kind} in {place.where}: `bigtime backup create` makes one;"
        " say --place FOLDER or --environment NAME if they are elsewhere."
    )


def check_system(place: ops.Place, name: str, system: bt.System) -> None:
    found = ops.read_manifest(place, name).system
    if found != system.name:
        refuse(f"{name} is a backup of {found}, not of {system.name}: name that system.")


def check_tables(place: ops.Place, name: str, tables: list[str]) -> None:
    """Refuses tables that are not in the backup, before a file is created for them."""
    manifest = ops.read_manifest(place, name)
    for table in tables:
        manifest.table(table)


def check_suffix(suffix: str) -> None:
    if not re.fullmatch(r"[a-zA-Z0-9_.-]*", suffix):
        refuse(
            f"{suffix!r} cannot end the name of a table: say --suffix with letters, digits,"
            " '_', '-' and '.', as in _restored.",
            code=2,
        )


def read_plan(
    system: bt.System,
    environment: str | None,
    place: str | None,
    copy_to: str | None,
    schedule: str | None,
    keep_days: int | None,
) -> ops.BackupPlan:
    declared = None if environment is None else system.environment(environment)
    text = schedule or (declared and declared.backup_schedule)
    days = keep_days or (declared and declared.retention_days)
    if not text or not days:
        refuse(
            "Say when and for how long: --environment NAME, or --schedule 'cron(0 1 * * ? *)' and"
            " --keep-days 7.",
            code=2,
        )
    if declared is not None and declared.dr_region and copy_to is None:
        refuse(
            f"The backups of {declared.name} have a copy in {declared.dr_region}: say where it is,"
            " with --copy-to FOLDER or BIGTIME_BACKUPS_COPY.",
            code=2,
        )
    first = place_of(place, environment)
    second = second_place(copy_to, first)
    return ops.BackupPlan(ops.Schedule.parse(text), timedelta(days=days), first, second)


@contextmanager
def open_source(
    system: bt.System, environment: str | None, store: str | None
) -> Iterator[ops.BackupSource]:
    """The engine's tables; for any other store, ends the program with a sentence."""
    kind, where = stores.read_setting(stores.describe_choice(store))
    if kind != "file":
        refuse_store(kind)
    if not Path(where).exists():
        refuse(f"There is no file {where}: name the store that is to be backed up.")
    with open_database(store) as database:
        engine = ops.engine_of(database)
        assert engine is not None
        try:
            yield ops.BackupSource(engine, system, environment, table_names())
        except wire.TableNotFoundException as error:
            refuse(f"{error.message}: {remedy(system.name, store)}")


def refuse_store(kind: str) -> NoReturn:
    if kind == "dynamodb":
        refuse(
            "Tables on AWS are backed up by AWS: point-in-time recovery and AWS Backup, which"
            " `bigtime infra` sets up. `bigtime backup` is for the engine's files."
        )
    refuse(
        "A backup is made from the file itself, by a process beside the server: say"
        " --store file:PATH on the machine that has it."
    )


def backup_line(made: ops.Manifest, place: ops.Place) -> str:
    size = made.file_bytes / 1024
    return f"created {made.name} in {place.where}: {made.items:,} items, {size:,.0f} KB, verified"


def tell_round(done: ops.BackupRound) -> None:
    if done.made is not None:
        say(f"created {done.made.name}: {done.made.items:,} items, verified")
    tell(f"copied {name}" for name in done.copied)
    tell(f"removed {name}" for name in done.pruned)
    tell(f"failed: {fault}" for fault in done.faults)


def plain_store(database: stores.Store) -> stores.Store:
    """The same store, but addressed by real table names, which a restore needs."""
    transport = database.transport
    return stores.Store(
        transport.transport if isinstance(transport, stores.RenamingTransport) else transport
    )
