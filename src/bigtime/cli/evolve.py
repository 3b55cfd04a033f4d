"""`bigtime verify`, `repair`, `backfill` and `move`: bring items up to a system's declarations.

Each reads the tables by several scans at once, in constant memory however many items there are,
and records its progress in a state file; the same command continues after an interruption.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress

from bigtime.cli.packages import bt, ops, stores
from bigtime.cli.results import failures_as_sentences
from bigtime.cli.screen import progress, refuse, refuse_file_errors, refuse_on
from bigtime.cli.systems import SystemName, system_named
from bigtime.cli.tables import StoreSetting, make_missing, open_database

PATIENCE_SECONDS = 6 * 3600.0
"""AWS takes hours to create an index of a large table."""

Segments = Annotated[
    int, typer.Option("--segments", min=1, max=64, help="How many scans run at once.")
]
StateFile = Annotated[
    Path | None,
    typer.Option(
        "--state",
        metavar="FILE",
        help="Where to save the progress.  \\[default: a file in this folder]",
    ),
]


def verify(
    system: SystemName,
    segments: Segments = 4,
    state: StateFile = None,
    store: StoreSetting = None,
) -> None:
    """Report every item that is not as declared; the exit code is 1 if there is one."""
    run_job("verify", system, store, state, segments)


def repair(
    system: SystemName,
    segments: Segments = 4,
    state: StateFile = None,
    store: StoreSetting = None,
) -> None:
    """Mend what `verify` reports, where it can be; the exit code is 1 if something is left."""
    run_job("repair", system, store, state, segments)


def backfill(
    system: SystemName,
    index: Annotated[
        str | None,
        typer.Option("--index", metavar="NAME", help="Only the keys of this index."),
    ] = None,
    segments: Segments = 4,
    state: StateFile = None,
    store: StoreSetting = None,
) -> None:
    """Make the indexes that are missing, and write their keys and today's form into old items."""
    run_job("backfill", system, store, state, segments, index=index)


def move(
    system: SystemName,
    entity: Annotated[
        str, typer.Option("--entity", metavar="NAME", help="The entity whose main key has changed.")
    ],
    segments: Segments = 4,
    state: StateFile = None,
    store: StoreSetting = None,
) -> None:
    """Put the items of an entity under their new main key, each in a transaction."""
    run_job("move", system, store, state, segments, entity=entity)


def run_job(
    verb: ops.Verb,
    name: str,
    setting: str | None,
    state: Path | None,
    segments: int,
    *,
    index: str | None = None,
    entity: str | None = None,
) -> None:
    system = system_named(name)
    with (
        open_database(setting, system, makes=verb == "backfill") as database,
        failures_as_sentences(name, setting),
        job_sentences(),
        progress() as bar,
    ):
        moved = None if entity is None else ops.entity_named(system, entity)
        if verb == "backfill":
            make_missing(database, system, patience_seconds=PATIENCE_SECONDS)
        option = index or entity or ""
        identity = {
            "verb": verb,
            "system": system.name,
            "option": option,
            "tables": ops.table_ids(database, [table.name for table in system.tables]),
        }
        path = state or default_state(setting, verb, system.name, option)
        with ops.JobState(path, identity) as job_state:
            job = ops.Evolution(
                verb,
                system,
                job_state,
                segments=segments,
                report=line_printer(bar),
                index=index,
                entity=moved,
            )
            follow(database, job, bar)
    if job.remaining:
        raise typer.Exit(1)


def line_printer(bar: Progress) -> Callable[[str], None]:
    """Prints lines above the bar; without a bar, prints plainly, which is thirty times as fast."""
    if not bar.console.is_terminal:
        return typer.echo

    def print_above(line: str) -> None:
        bar.console.print(line, soft_wrap=True, markup=False)

    return print_above


def follow(database: stores.Store, job: ops.Evolution, bar: Progress) -> None:
    began = time.monotonic()
    if job.state.is_resumed:
        typer.echo(f"resuming: {job.walk.seen:,} items are done")
    tables = list(job.tables)
    task = bar.add_task(job.verb, total=ops.item_count(database, tables) or None)
    try:
        job.run(database, lambda count: bar.update(task, completed=count))
    except KeyboardInterrupt:
        refuse(f"Stopped after {job.walk.seen:,} items. Run the same command again to continue.")
    seconds = time.monotonic() - began
    typer.echo(f"{summary(job)}, in {seconds:,.0f} s")


def summary(job: ops.Evolution) -> str:
    text = f"{job.walk.seen:,} items of {', '.join(job.tables)} read"
    found = ", ".join(f"{count:,} {kind}" for kind, count in sorted(job.found.items()))
    if not found:
        return f"{text}: nothing to {job.verb}" if job.verb != "verify" else f"{text}: all is well"
    if job.verb == "verify":
        return f"{text}: {found}"
    done = "moved" if job.verb == "move" else "repaired"
    left = f", {job.remaining:,} left" if job.remaining else ""
    late = f" ({job.overtaken:,} changed meanwhile: run it again)" if job.overtaken else ""
    return f"{text}: {found}; {job.mended:,} {done}{left}{late}"


def default_state(setting: str | None, *names: str) -> Path:
    """A file in the current folder, a different one for each store and job."""
    digest = hashlib.sha256("\0".join((resolved_setting(setting), *names)).encode()).hexdigest()[:8]
    plain = (re.sub(r"\W+", "-", name) for name in names[:2] if name)
    return Path(f"bigtime-{'-'.join(plain)}-{digest}.state.json")


def resolved_setting(setting: str | None) -> str:
    """A setting in a form that is the same for the same store, whatever the current folder."""
    kind, place = stores.read_setting(stores.describe_choice(setting))
    return f"{kind}:{Path(place).resolve() if kind == 'file' else place}"


@contextmanager
def job_sentences() -> Iterator[None]:
    then = " Progress was saved: the same command continues."
    with (
        refuse_on(ops.CannotGoOn),
        refuse_on(bt.Unfinished, then=then),
        refuse_file_errors("A file"),
    ):
        yield
