"""`bigtime migrate`: moves tables to another store, while the application keeps running."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress

from bigtime.cli import evolve
from bigtime.cli.data import Tables
from bigtime.cli.packages import ops, stores
from bigtime.cli.screen import progress, refuse
from bigtime.cli.systems import check_environment, system_named
from bigtime.cli.tables import store_sentences, table_names

SETTLE_SECONDS = 1.0
"""How long a write may take to appear in the stream."""

PLACE = "file:shop.db, dynamodb:af-south-1 or http://127.0.0.1:8000"


def migrate(
    source: Annotated[
        str, typer.Option("--from", metavar="SETTING", help=f"Where the tables are: {PLACE}.")
    ],
    target: Annotated[
        str,
        typer.Option("--to", metavar="SETTING", help="The store to copy to, as for --from."),
    ],
    system: Annotated[
        str | None,
        typer.Option("--system", metavar="SYSTEM", help="Only the tables of this system."),
    ] = None,
    table: Tables = None,
    segments: evolve.Segments = 4,
    follow: Annotated[
        bool,
        typer.Option("--follow", help="Keep following the source until Ctrl+C."),
    ] = False,
    finish: Annotated[
        bool,
        typer.Option("--finish", help="The last run, when nothing writes to the source any more."),
    ] = False,
    compare: Annotated[
        bool, typer.Option("--compare/--no-compare", help="Compare both stores item by item.")
    ] = True,
    state: evolve.StateFile = None,
) -> None:
    """Copy tables to another store and follow the source's streams until both are the same.

    The application keeps running on the source. Run it with --finish after the writes have stopped.
    """
    if system and table:
        refuse("Say --system or --table, not both.", code=2)
    if follow and finish:
        refuse("--finish ends the migration: leave --follow out.", code=2)
    with sentences(), ExitStack() as opened, progress() as bar:
        check_places(source, target)
        if system is not None:
            check_environment(system_named(system), place_on_aws(source, target))
        source_store, target_store = (opened.enter_context(store_at(at)) for at in (source, target))
        tables = chosen_tables(source_store, source, system, table)
        identity = {
            "verb": "migrate",
            "to": evolve.resolved_setting(target),
            "tables": ops.table_ids(source_store, tables),
        }
        path = state or evolve.default_state(source, "migrate", target)
        if finish and not path.is_file():
            refuse(
                f"There is no migration to finish: {path} is not there. Run it without --finish"
                " first, in the same folder or with the same --state."
            )
        with ops.JobState(path, identity) as job_state:
            job = open_job(source_store, target_store, tables, job_state, segments, bar)
            try:
                if job.replicas is None:
                    run(job, bar, compares=compare, is_last=finish)
                if finish or job.replicas is not None:
                    finish_job(job, target, is_last=finish)
                elif follow:
                    follow_on(job)
            except KeyboardInterrupt:
                refuse("Stopped. Run the same command again to continue.")
    if not finish:
        tell_next(source, target)


def open_job(
    source: stores.Store,
    target: stores.Store,
    tables: list[str],
    state: ops.JobState,
    segments: int,
    bar: Progress,
) -> ops.Migration:
    return ops.Migration(
        source, target, tables, state, segments=segments, say=evolve.line_printer(bar)
    )


def run(job: ops.Migration, bar: Progress, *, compares: bool, is_last: bool) -> None:
    began = time.monotonic()
    job.prepare()
    total = ops.item_count(job.source, job.tables) or None
    if job.state.is_resumed:
        job.say(f"resuming: {job.walk.seen:,} items are copied")
    if not job.is_copied:
        copying = bar.add_task("copying", total=total)
        job.copy(lambda count: bar.update(copying, completed=count))
        bar.remove_task(copying)
        seconds = time.monotonic() - began
        job.say(f"copied {job.walk.seen:,} items in {seconds:,.0f} s")
    following = bar.add_task("following the streams", total=None)
    job.catch_up()
    if is_last:
        job.source.sleep(SETTLE_SECONDS)
        job.drain()
    bar.remove_task(following)
    job.say(f"caught up with the source: {job.changes_applied:,} changes followed")
    if compares:
        run_comparison(job, bar, total)


def run_comparison(job: ops.Migration, bar: Progress, total: int | None) -> None:
    task = bar.add_task("comparing", total=total)
    found = job.compare(lambda count: bar.update(task, completed=count))
    bar.remove_task(task)
    if found.different:
        refuse(
            f"{found.different:,} of {found.seen:,} items differ. Does something else write to the"
            " target? Stop that, delete the tables there and the state file"
            f" {job.state.path}, and begin anew."
        )
    moving = f", but {found.moving:,} that change all the time" if found.moving else ""
    job.say(f"compared {found.seen:,} items: all are the same{moving}")


def finish_job(job: ops.Migration, target: str, *, is_last: bool) -> None:
    """Ends the migration, or only its last step, which need not hold up the application."""
    if not is_last:
        refuse(
            "The copy is done, and the application may be writing to the target; only replicas are"
            " left to make: run the same with --finish."
        )
    if job.replicas is None:
        check_quiet(job)
        job.finish()
    start = f"start the application with BIGTIME_STORE={target}"
    if any((job.replicas or {}).values()):
        job.say(f"{start} now: it need not wait for the replicas that are made meanwhile")
    job.make_replicas()
    typer.echo(f"done: {start}")


def check_quiet(job: ops.Migration) -> None:
    """Refuses to compare if new records have come since the last one was applied."""
    job.source.sleep(SETTLE_SECONDS)
    if job.drain():
        refuse(
            "Something still writes to the source: stop it, and run the same again. Until then the"
            " application stays on the source."
        )


def follow_on(job: ops.Migration) -> None:
    job.say("following the source until Ctrl+C")
    with suppress(KeyboardInterrupt):
        while True:
            job.catch_up()
            job.source.sleep(1.0)


def tell_next(source: str, target: str) -> None:
    command = f"bigtime migrate --from {source} --to {target}"
    typer.echo(
        "To switch: stop what writes to the source, run this again with --finish, and start the"
        f" application with BIGTIME_STORE={target}. Until then run `{command}` again at least once"
        " in 24 hours: for so long the streams keep their records."
    )


# --- Which stores, which tables ---


def check_places(source: str, target: str) -> None:
    for setting in (source, target):
        if stores.read_setting(setting).kind == "memory":
            refuse("A store in memory is gone when the command ends: name another.", code=2)
    if evolve.resolved_setting(source) == evolve.resolved_setting(target):
        refuse("--from and --to are the same store: name another target.", code=2)
    kind, place = stores.read_setting(source)
    if kind == "file" and not Path(place).exists():
        refuse(f"There is no file {place} to migrate from: check --from.", code=2)


def place_on_aws(source: str, target: str) -> str:
    """The target if it is on AWS, else the source: both are reached with the same credentials."""
    return target if stores.read_setting(target).kind == "dynamodb" else source


def store_at(setting: str) -> stores.Store:
    """A store addressed by real table names, which are the same in both stores."""
    return stores.open_store(setting, tables={})


def chosen_tables(
    store: stores.Store, setting: str, system: str | None, tables: list[str] | None
) -> list[str]:
    real = table_names().real
    if system is not None:
        tables = [real(table.name) for table in system_named(system).tables]
    if tables is None:
        # Positions in the source's streams mean nothing in the target's.
        tables = [name for name in ops.list_tables(store) if name != real("Checkpoints")]
    if not tables:
        refuse(f"{setting} has no tables to migrate: check --from.")
    missing = [name for name in tables if store.run(ops.describe_table(name)) is None]
    if missing:
        refuse(f"{setting} has no table {missing[0]}: check --from, --system and --table.")
    return sorted(tables)


@contextmanager
def sentences() -> Iterator[None]:
    """Ends the program with a sentence if something goes wrong with either store."""
    with store_sentences(" Run the same command again to continue."), evolve.job_sentences():
        yield
