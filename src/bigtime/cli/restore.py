"""`bigtime restore`: restores a system to a moment, compares, cuts over, and tidies up."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from bigtime.cli.backup import check_suffix, faults_as_sentences, plain_store
from bigtime.cli.packages import ops, stores
from bigtime.cli.results import failures_as_sentences
from bigtime.cli.screen import refuse, say, tell
from bigtime.cli.systems import EnvironmentName, SystemName, in_environment, system_named
from bigtime.cli.tables import StoreSetting, open_database, table_names

DEFAULT = "to"


class DefaultGroup(TyperGroup):
    """A group in which `bigtime restore portal` means `bigtime restore to portal`."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and args[0] not in self.commands:
            args = [DEFAULT, *args]
        return super().resolve_command(ctx, args)


restore = typer.Typer(
    name="restore",
    cls=DefaultGroup,
    help="Restore a system to a point in time: `bigtime restore SYSTEM --at TIME`.",
)

Suffix = Annotated[
    str, typer.Option("--suffix", help="A suffix for the names of the restored tables.")
]
DEFAULT_SUFFIX = "_restored"
NameMap = Annotated[
    Path | None,
    typer.Option(
        "--tables", metavar="FILE", help="The map of table names.  \\[default: BIGTIME_TABLES]"
    ),
]
Confirmed = Annotated[
    list[str] | None,
    typer.Option(
        "--confirm",
        metavar="TABLE",
        help="A table's name, instead of typing it when asked; may be repeated.",
    ),
]


@restore.command(DEFAULT)
def restore_to(
    system: SystemName,
    at: Annotated[
        str | None,
        typer.Option(
            "--at",
            metavar="TIME",
            help="The moment, as in 2025-12-25T14:30:00Z.  \\[default: the latest]",
        ),
    ] = None,
    table: Annotated[
        list[str] | None,
        typer.Option(
            "--table",
            metavar="NAME",
            help="Only this table, and the audit log; may be repeated.",
        ),
    ] = None,
    suffix: Suffix = DEFAULT_SUFFIX,
    store: StoreSetting = None,
    environment: EnvironmentName = None,
) -> None:
    """Restore all tables to one moment, under new names; nothing is replaced.

    Run it again to continue after an interruption.
    """
    moment = None if at is None else read_moment(at)
    with open_restore(system, store, suffix, environment) as restore:
        pairs = restore.restore(moment, table or [])
        when = restore.moment_of(pairs[0]).isoformat()
        tell(f"{pair.target} is {pair.source} as it was at {when}" for pair in pairs)
        say(f"Next: bigtime restore compare {system}{restore.suffix_option}")


@restore.command()
def status(
    system: SystemName,
    suffix: Suffix = DEFAULT_SUFFIX,
    store: StoreSetting = None,
    environment: EnvironmentName = None,
) -> None:
    """Show the earliest and latest restorable time, and the progress of a restore."""
    with open_restore(system, store, suffix, environment) as restore:
        window = restore.window()
        say(f"any moment from {window.earliest.isoformat()} to {window.latest.isoformat()}")
        tell(restore.states())


@restore.command()
def compare(
    system: SystemName,
    suffix: Suffix = DEFAULT_SUFFIX,
    store: StoreSetting = None,
    environment: EnvironmentName = None,
) -> None:
    """Show item by item how the restored tables differ from the current ones; exit code 1 if so.

    The restored tables are verified too: their items, their invariants and the audit log.
    """
    with open_restore(system, store, suffix, environment) as restore:
        pairs = restore.restored_pairs() or restore.pairs()
        restore.check_restored(pairs)
        found = 0
        for pair in pairs:
            done = restore.compare(pair, partial(tell_difference, pair))
            found += done.different
            counts = ", ".join(f"{count:,} {WORDS[kind]}" for kind, count in done.kinds.items())
            say(f"{pair.name}: {counts or 'no difference'}, among {done.seen:,} items")
        faults: list[str] = []
        if left := [pair.name for pair in restore.pairs() if pair not in pairs]:
            say(f"not verified: the restore lacks {', '.join(left)}")
        else:
            items, faults = ops.verify_all(restore.restored_store(), restore.system)
            tell(f"wrong  {fault}" for fault in faults)
            say(f"{len(faults):,} faults among {items:,} restored items")
    if found or faults:
        raise typer.Exit(1)


WORDS = {
    "only in the source": "only now",
    "only in the target": "only restored",
    "changed": "changed",
}


def tell_difference(pair: ops.Pair, difference: ops.Difference) -> None:
    say(f"{WORDS[difference.kind]:13}  {pair.name}  {difference.item}")


@restore.command("cut-over")
def cut_over(
    system: SystemName,
    tables: NameMap = None,
    suffix: Suffix = DEFAULT_SUFFIX,
    store: StoreSetting = None,
    environment: EnvironmentName = None,
) -> None:
    """Switch every process to the restored tables, which get the settings of the current ones."""
    path = tables or map_path()
    with open_restore(system, store, suffix, environment, path) as restore:
        tell(restore.cut_over(path) or ["nothing is left to do"])
        named = "" if tables is None else f" --tables {tables}"
        command = f"bigtime restore finish {system}{restore.suffix_option}{named}"
        say(f"Next, when all is well: {command}")


@restore.command()
def finish(
    system: SystemName,
    tables: NameMap = None,
    suffix: Suffix = DEFAULT_SUFFIX,
    confirm: Confirmed = None,
    store: StoreSetting = None,
    environment: EnvironmentName = None,
) -> None:
    """Delete the replaced tables, each after you type its name."""
    path = tables or map_path()
    with open_restore(system, store, suffix, environment, path) as restore:
        gone = restore.finish(asker(confirm))
        tell_unknown(confirm, [pair.source for pair in restore.pairs()])
        tell([f"deleted {name}" for name in gone] or ["nothing was deleted"])


@restore.command()
def abandon(
    system: SystemName,
    tables: NameMap = None,
    suffix: Suffix = DEFAULT_SUFFIX,
    confirm: Confirmed = None,
    store: StoreSetting = None,
    environment: EnvironmentName = None,
) -> None:
    """Delete the restored tables instead, each after you type its name."""
    with open_restore(system, store, suffix, environment, tables) as restore:
        if tables is None and not os.environ.get("BIGTIME_TABLES", "").strip():
            restore.check_no_cut_over()
        gone = restore.abandon(asker(confirm))
        tell_unknown(confirm, [pair.target for pair in restore.pairs()])
        tell([f"deleted {name}" for name in gone] or ["nothing was deleted"])


@restore.command()
def record(
    system: SystemName,
    table: Annotated[
        str, typer.Argument(metavar="TABLE", help="tenants, products, campaigns or orders.")
    ],
    key: Annotated[
        list[str],
        typer.Argument(metavar="KEY...", help="The partition key, and the sort key if it has one."),
    ],
    by: Annotated[
        str, typer.Option("--by", metavar="ACTOR", help="Who does it: an e-mail address.")
    ],
    reason: Annotated[str | None, typer.Option("--reason", help="Why, for the audit log.")] = None,
    suffix: Suffix = DEFAULT_SUFFIX,
    store: StoreSetting = None,
    environment: EnvironmentName = None,
) -> None:
    """Bring one record of the portal back into its table, with an entry in its audit log."""
    with (
        open_restore(system, store, suffix, environment) as restore,
        failures_as_sentences(system, store),
    ):
        say(ops.bring_record_back(restore, table, key, by=by, reason=reason))


# What the verbs share


@contextmanager
def open_restore(
    system: str,
    store: str | None,
    suffix: str,
    environment: str | None,
    path: Path | None = None,
) -> Iterator[ops.Restore]:
    """The restore of a system; the store must be where the environment is."""
    declared = system_named(system)
    in_environment(declared, environment, store)
    if not suffix:
        refuse("Restored tables need names of their own: say --suffix _restored.", code=2)
    check_suffix(suffix)
    with faults_as_sentences(), open_database(store, makes=False) as database:
        names = table_names()
        if path is not None and path.is_file():
            names = stores.TableNames.read(str(path))
        yield ops.Restore(plain_store(database), declared, names, suffix)


def map_path() -> Path:
    """The file with the map of table names, which running processes read."""
    setting = os.environ.get("BIGTIME_TABLES", "").strip()
    if not setting or setting.startswith("{"):
        refuse(
            "Running processes can follow only a file of table names: set BIGTIME_TABLES to its"
            " path for them and here, with {} in it at first, or name it with --tables FILE.",
            code=2,
        )
    return Path(setting)


def read_moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        refuse(
            f"{text!r} is no moment: say the day, the time and the zone, as in"
            " 2025-12-25T14:30:00Z.",
            code=2,
        )
    return moment


def tell_unknown(confirmed: list[str] | None, tables: list[str]) -> None:
    """Reports typed names that are not among the tables that may be deleted."""
    unknown = [name for name in confirmed or [] if name not in tables]
    tell(f"{name} is left alone: it is not among {', '.join(tables)}" for name in unknown)


def asker(confirmed: list[str] | None) -> Callable[[str], bool]:
    """A function that asks for each name, unless names were given beforehand."""

    def ask(name: str) -> bool:
        if confirmed is not None:
            return name in confirmed
        typed: str = typer.prompt(
            f"{name} will be deleted for good. Type its name", default="", show_default=False
        )
        return typed == name

    return ask
