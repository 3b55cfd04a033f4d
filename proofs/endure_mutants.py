"""Engines that do not endure, broken on purpose in a child's memory: P11 to P17 must notice."""

from __future__ import annotations

import fcntl
from collections.abc import Callable

import apsw

from bigtime.engine import storage
from bigtime.engine.housekeeping.complaints import EXPECTED, Complaints
from bigtime.engine.storage import stream_log
from bigtime.engine.storage.clock import SteadyClock
from bigtime.engine.storage.writer_lock import LogGuard, WriterLock


def wait_for_ever() -> None:
    """Waits for the writer lock without a deadline."""

    def acquire(lock: WriterLock, since: float | None = None) -> None:
        fcntl.flock(lock._file, fcntl.LOCK_EX)
        lock._holds += 1

    WriterLock.acquire = acquire  # type: ignore[assignment, method-assign]


def believe_every_clock() -> None:
    """Expires everything by the wall clock, whatever it says."""
    SteadyClock._has_stood = lambda clock, offset, ticks: True  # type: ignore[assignment, method-assign]


def trust_the_log() -> None:
    """Does not check whether the log still exists."""
    LogGuard.check = lambda guard: None  # type: ignore[assignment, method-assign]


def walk_to_the_horizon() -> None:
    """Finds the trim horizon by reading every old record."""

    def first_after(
        connection: apsw.Connection, number: int, moment: float, at_least: int = 0
    ) -> int:
        first: int | None = connection.execute(
            f"SELECT sequence FROM s{number} WHERE at > ? ORDER BY sequence LIMIT 1", (moment,)
        ).get
        return stream_log.last_sequence(connection, number) + 1 if first is None else first

    stream_log.first_after = storage.first_after = first_after


def end_with_a_chore() -> None:
    """Lets an unforeseen exception end the housekeeper's thread."""
    attempt = Complaints.attempt

    def attempt_or_end(
        complaints: Complaints, chore: Callable[[], bool], name: str | None = None
    ) -> bool:
        def run() -> bool:
            try:
                return chore()
            except EXPECTED:
                raise
            except Exception as error:
                raise SystemExit from error

        return attempt(complaints, run, name or chore.__name__)

    Complaints.attempt = attempt_or_end  # type: ignore[assignment, method-assign]


ENDURE_MUTANTS: dict[str, Callable[[], None]] = {
    "no deadline": wait_for_ever,
    "any clock": believe_every_clock,
    "log not guarded": trust_the_log,
    "walked horizon": walk_to_the_horizon,
    "mortal keeper": end_with_a_chore,
}


def mutate(name: str | None) -> None:
    if name is not None:
        ENDURE_MUTANTS[name]()
