"""The engine's clock, which tolerates a machine clock that is briefly wrong.

A clock that jumps a year ahead and is set back a minute later must not expire items with an hour to
live. So the wall clock is compared with a monotonic one:

1. While the two agree, the time is the wall clock's.
2. When the wall clock jumps by more than five seconds, forward or back, it is not trusted until it
   has kept its new time for ten minutes, or is set back. Meanwhile the engine's own time goes on.
3. Writes are stamped with the later of the two times, so that stamps never go back. Items expire by
   the earlier one, so that nothing is deleted too soon.
4. A file has a time of its own: that of its last write or, if earlier, the last trusted time, which
   the housekeeper records every hour. If that differs from the wall clock by a day at opening, the
   wall clock has jumped as in 2. The record outlives a process, so one that writes with a wrong
   clock and ends does not make the next one trust it.

A clock that a caller passes in is always trusted.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias

import apsw

from bigtime.engine.storage.file import Transaction

log = logging.getLogger("bigtime.engine")

Clock: TypeAlias = Callable[[], float]

JUMP_SECONDS = 5.0
HOLD_SECONDS = 600.0
DAY_SECONDS = 24 * 3600.0
NOTE_SECONDS = 3600.0
BELIEVED: Final = "believed time"  # a row of `settings`


seconds_since_boot: Clock = (
    partial(time.clock_gettime, time.CLOCK_BOOTTIME) if sys.platform == "linux" else time.monotonic
)
"""A monotonic clock that, where the platform has one, counts time asleep."""


class SteadyClock:
    """Calling it returns the time to stamp writes with; `expiry_time`, the time to expire by."""

    def __init__(
        self,
        wall: Clock = time.time,
        steady: Clock = seconds_since_boot,
        *,
        last_write: float | None = None,
    ) -> None:
        self._wall = wall
        self._steady = steady
        now, ticks = wall(), steady()
        self.last_write = now if last_write is None else last_write
        is_far = abs(now - self.last_write) > DAY_SECONDS
        self._offset = (self.last_write if is_far else now) - ticks
        self._doubted: float | None = None
        self._doubted_since = ticks
        self._last = 0.0

    def __call__(self) -> float:
        return self.times()[0]

    def expiry_time(self) -> float:
        return self.times()[1]

    def times(self) -> tuple[float, float]:
        """The time to stamp writes with, and the time to expire by."""
        wall, own = self._read()
        stamp, settled = (wall, own) if wall > own else (own, wall)
        if 0.0 < self._last - stamp <= JUMP_SECONDS:
            return self._last, settled
        self._last = stamp
        return stamp, settled

    def is_settled(self) -> bool:
        """Whether the wall clock is trusted."""
        self._read()
        return self._doubted is None

    def _read(self) -> tuple[float, float]:
        """The wall clock's time and our own, which differ only while the wall clock is in doubt."""
        wall, ticks = self._wall(), self._steady()
        offset = wall - ticks
        if -JUMP_SECONDS <= offset - self._offset <= JUMP_SECONDS or self._has_stood(offset, ticks):
            self._offset, self._doubted = offset, None
            return wall, wall
        return wall, ticks + self._offset

    def _has_stood(self, offset: float, ticks: float) -> bool:
        if self._doubted is None or abs(offset - self._doubted) > JUMP_SECONDS:
            self._doubted, self._doubted_since = offset, ticks
            log.warning(
                "the clock is %+.0f s off what the engine expects: nothing expires by it for %d s",
                offset - self._offset,
                HOLD_SECONDS,
            )
            return False
        return ticks - self._doubted_since >= HOLD_SECONDS


def last_write(path: Path) -> float | None:
    """When the file or its log was last written, by the file system; None for a new file.

    An empty log does not count: it was only opened.
    """
    times = []
    for each in (path, path.with_name(path.name + "-wal")):
        try:
            found = each.stat()
        except OSError:
            continue
        if found.st_size:
            times.append(found.st_mtime)
    return max(times, default=None)


def noted_time(connection: apsw.Connection) -> float | None:
    """The last trusted time recorded in the file."""
    query = "SELECT value FROM settings WHERE name = ?"
    noted: float | None = connection.execute(query, (BELIEVED,)).get
    return noted


def is_note_due(clock: Clock, noted: float | None) -> bool:
    """Whether to record the time: hourly, or when in doubt only if none is recorded yet."""
    if not isinstance(clock, SteadyClock):
        return False
    if not clock.is_settled():
        return noted is None
    return abs(clock() - (clock.last_write if noted is None else noted)) >= NOTE_SECONDS


def note_time(transaction: Transaction) -> bool:
    transaction.execute(
        "INSERT OR REPLACE INTO settings VALUES (?, ?)", (BELIEVED, transaction.settled)
    )
    return False


def settled_clock(clock: Clock) -> Clock:
    """The clock to expire by: a `SteadyClock`'s expiry time, or any other clock itself."""
    return clock.expiry_time if isinstance(clock, SteadyClock) else clock


def times_of(clock: Clock) -> Callable[[], tuple[float, float]]:
    """A function that returns the time to stamp writes with and the time to expire by."""
    return clock.times if isinstance(clock, SteadyClock) else lambda: (now := clock(), now)
