"""`bigtime demo`: data to look at, by the thousand or by the million."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from datetime import UTC, datetime
from itertools import islice
from random import Random
from typing import Annotated, Literal, TypeAlias

import typer

from bigtime.cli.packages import bt, stores, wire
from bigtime.cli.results import failures_as_sentences
from bigtime.cli.screen import progress, refuse
from bigtime.cli.systems import all_systems, system_named
from bigtime.cli.tables import StoreSetting, make_missing, open_database

CHUNK = 100
WRITERS = 4
"""Concurrent writers share a sync of the disk."""

Size: TypeAlias = Literal["small", "medium", "large"]

demo = typer.Typer(name="demo", help="Demo data, the same each time.")


@demo.command()
def load(
    scale: Annotated[
        Size, typer.Option("--scale", help="How much: large is a million deals.")
    ] = "small",
    system: Annotated[
        list[str] | None,
        typer.Option(
            "--system",
            metavar="SYSTEM",
            help="Only this system; may be repeated.  \\[default: all of Bigtime's]",
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="The seed of the generated data.")] = 1,
    until: Annotated[
        datetime | None,
        typer.Option(
            "--until",
            formats=["%Y-%m-%d"],
            help="The day before which everything happened.  \\[default: now]",
        ),
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Write to tables that already have items.")
    ] = False,
    store: StoreSetting = None,
) -> None:
    """Create the missing tables and fill them with demo data."""
    moment = until.replace(tzinfo=UTC) if until else datetime.now(UTC).replace(microsecond=0)
    wanted = systems_with_demo(system)
    names = ", ".join(demo_system.name for demo_system in wanted)
    with open_database(store, *wanted) as database, failures_as_sentences(names, store):
        for demo_system in wanted:
            make_missing(database, demo_system)
        if not again:
            check_empty(database, wanted)
        for demo_system in wanted:
            fill(database, demo_system, scale, seed, moment)


def systems_with_demo(names: list[str] | None) -> list[bt.System]:
    """The requested systems, each of which must have demo data."""
    if not names:
        return [system for system in all_systems() if system.demo is not None]
    chosen = [system_named(name) for name in names]
    for system in chosen:
        if system.demo is None:
            refuse(
                f"{system.name} has no demo data: declare it with System(..., demo=Demo(...)).",
                code=2,
            )
    return chosen


def check_empty(database: stores.Store, wanted: Iterable[bt.System]) -> None:
    filled = [
        table.name for system in wanted for table in system.tables if database.run(has_items(table))
    ]
    if filled:
        refuse(
            f"There are items already in {', '.join(filled)}: nothing was loaded. Choose another"
            " store, or say --again to write the demo data over what is there."
        )


def has_items(table: bt.Table) -> wire.Steps[bool]:
    params = {"TableName": table.name, "Limit": 1, "ConsistentRead": True}
    response = yield wire.Request("Scan", params)
    return bool(response["Items"])


def fill(database: stores.Store, system: bt.System, scale: str, seed: int, until: datetime) -> None:
    assert system.demo is not None
    size = bt.Scale(scale)
    began = time.monotonic()
    loaded, total = 0, system.demo.count(size)
    try:
        with progress() as bar:
            task = bar.add_task(system.name, total=total)
            for count in load_chunks(database, system.demo.entities(size, Random(seed), until)):
                loaded += count
                bar.update(task, completed=loaded)
    except KeyboardInterrupt:
        refuse(
            f"Stopped: {loaded:,} of {total:,} items of {system.name} are loaded. Say --again to"
            " load all of them."
        )
    seconds = time.monotonic() - began
    typer.echo(f"loaded {loaded:,} items of {system.name} in {seconds:,.0f} s")
    for note in system.demo.notes(Random(seed)):
        typer.echo(note)


def load_chunks(database: stores.Store, entities: Iterator[bt.Entity]) -> Iterator[int]:
    """Writes entities as they are generated, a few chunks ahead; yields how many were written."""
    with ThreadPoolExecutor(WRITERS, "demo") as threads:
        under_way: dict[Future[None], int] = {}
        try:
            while chunk := list(islice(entities, CHUNK)):
                under_way[threads.submit(database.run, bt.load_many(chunk))] = len(chunk)
                if len(under_way) > WRITERS:
                    yield wait_for_chunks(under_way)
            while under_way:
                yield wait_for_chunks(under_way)
        finally:
            threads.shutdown(cancel_futures=True)


def wait_for_chunks(under_way: dict[Future[None], int]) -> int:
    """Waits until at least one chunk is written; returns how many items were."""
    done, _ = wait(under_way, return_when=FIRST_COMPLETED)
    for load in done:
        load.result()
    return sum(under_way.pop(load) for load in done)
