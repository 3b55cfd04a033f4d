"""`bigtime consume`: runs a system's reactions on the streams of its tables."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress, TextColumn, TimeElapsedColumn

from bigtime.cli.packages import bt, ops, stores, wire
from bigtime.cli.results import failures_as_sentences, remedy
from bigtime.cli.screen import refuse, say
from bigtime.cli.systems import SystemName, system_named
from bigtime.cli.tables import StoreSetting, open_database

POLL_SECONDS = 1.0


def consume(
    system: SystemName,
    store: StoreSetting = None,
    once: Annotated[
        bool, typer.Option("--once", help="Exit when all present records have been handled.")
    ] = False,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="REACTION", help="Only this reaction; may be repeated."),
    ] = None,
) -> None:
    """Run a system's reactions to the changes of its tables, until Ctrl+C or SIGTERM."""
    wanted = system_named(system)
    reactions = chosen_reactions(wanted, only or [])
    with (
        open_database(store, wanted) as database,
        failures_as_sentences(system, store),
        missing_stream_as_sentence(system, store),
        progress() as bar,
        stop_signals() as stop,
    ):
        running = [RunningReaction(database, wanted, reaction, bar) for reaction in reactions]
        run_by_turns(running, stop, once=once)
    if count := sum(each.set_aside for each in running):
        refuse(f"Records set aside: {count}. `bigtime dead-letters list {system}` shows them.")


def chosen_reactions(system: bt.System, only: Sequence[str]) -> list[bt.Reaction]:
    known = system.reactions
    if not known:
        refuse(f"{system.name} has no reactions: there is nothing to run.", code=2)
    for name in only:
        if name not in known:
            refuse(f"{system.name} has no reaction {name!r}; it has {', '.join(known)}.", code=2)
    return [reaction for name, reaction in known.items() if not only or name in only]


class RunningReaction:
    """A reaction and its consumer, with its own line on the screen."""

    def __init__(
        self, store: stores.Store, system: bt.System, reaction: bt.Reaction, bar: Progress
    ) -> None:
        self.reaction = reaction
        self.bar = bar
        self.task = bar.add_task(reaction.name, records=0, lag=0.0)
        self.records = 0
        self.set_aside = 0
        self.has_failed = False
        self.consumer = stores.consume(
            store,
            reaction.table.name,
            self.handle,
            name=f"{system.name}.{reaction.name}",
            hooks=[self.read],
        )

    def run_round(self) -> bool:
        """Runs one round; returns whether there is more to do."""
        self.has_failed = False
        try:
            return any(reading.more for reading in self.consumer.run_round())
        except Exception as error:
            if not self.has_failed:  # the store or the stream failed, not the handling of a record
                raise
            say(
                f"{self.reaction.name} cannot handle a record, and tries again: {error}", error=True
            )
            return True

    def handle(self, record: wire.Response) -> wire.Steps[None]:
        yield from ops.handle_and_log(self.reaction, record)
        self.records += 1
        self.bar.update(self.task, records=self.records)

    def read(self, reading: stores.ShardTurn) -> None:
        self.bar.update(self.task, lag=reading.lag_seconds)
        self.set_aside += reading.set_aside
        if reading.error is not None and not stores.concerns_the_store(reading.error):
            self.has_failed = True


def run_by_turns(running: Sequence[RunningReaction], stop: threading.Event, *, once: bool) -> None:
    """Runs until stopped, or until nothing is left if `once`: one reaction may feed another."""
    quiet = 0
    while not stop.is_set() and not (once and quiet == stores.QUIET_ROUNDS):
        turns = [consumer.run_round() for consumer in running]
        quiet = 0 if any(turns) else quiet + 1
        if not once and (quiet or any(each.has_failed for each in running)):
            stop.wait(POLL_SECONDS)


@contextmanager
def stop_signals() -> Iterator[threading.Event]:
    """An event that Ctrl+C or SIGTERM sets; the current round is finished first."""
    stop = threading.Event()
    signals = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, lambda *_: stop.set()) for number in signals]
    try:
        yield stop
    finally:
        for number, handler in zip(signals, before, strict=True):
            signal.signal(number, handler)


@contextmanager
def missing_stream_as_sentence(system: str, store: str | None) -> Iterator[None]:
    try:
        yield
    except stores.NoStream as error:
        refuse(f"{error.args[0].partition(':')[0]}: {remedy(system, store)}")


def progress() -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        TextColumn("{task.fields[records]:,} records"),
        TextColumn("{task.fields[lag]:,.0f} s behind"),
        TimeElapsedColumn(),
        console=Console(highlight=False),
    )
