"""A clock that tests control, for an engine and the stores on it."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta


class Clock:
    """Follows the machine's clock until a test moves or stops it.

    `Engine.memory(clock=clock.seconds)` and `Store(engine, clock=clock)`.
    """

    def __init__(self) -> None:
        self._ahead = 0.0
        self._stopped_at: float | None = None

    def __call__(self) -> datetime:
        """The time in UTC, as stores read it."""
        return datetime.fromtimestamp(self.seconds(), UTC)

    def seconds(self) -> float:
        """The time in seconds since 1970, as engines read it."""
        return time.time() + self._ahead if self._stopped_at is None else self._stopped_at

    def advance(self, duration: timedelta | None = None, /, **units: float) -> None:
        """Moves the clock ahead: `clock.advance(days=91)`. The units are `timedelta`'s."""
        seconds = (duration or timedelta(**units)).total_seconds()
        if seconds < 0:
            raise ValueError(f"A clock is moved ahead, not back: {seconds:g} seconds.")
        self._ahead += seconds
        if self._stopped_at is not None:
            self._stopped_at += seconds

    def stop(self, at: datetime | None = None) -> None:
        """Stops the clock, now or at that time; from then on only `advance` moves it."""
        if at is not None and at.tzinfo is None:
            raise ValueError(f"Give the time with its zone, as in {at!r}.replace(tzinfo=UTC).")
        self._stopped_at = self.seconds() if at is None else at.timestamp()
