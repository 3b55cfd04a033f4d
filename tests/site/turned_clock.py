"""A clock that a test turns, and what is stored."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TypeVar

from bigtime.model import Entity, Key, get
from bigtime.store import Store

E = TypeVar("E", bound=Entity)


class TurnedClock:
    """Stands still until it is turned."""

    def __init__(self, now: datetime | None = None) -> None:
        self.now = now or datetime.now(UTC).replace(microsecond=0)

    def __call__(self) -> datetime:
        return self.now

    def turn(self, **by: float) -> None:
        self.now += timedelta(**by)


def fetch_stored(store: Store, key: Key[E]) -> E:
    """An item that is there."""
    item: E | None = store.run(get(key, consistent=True))
    assert item is not None
    return item
