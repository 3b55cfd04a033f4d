"""The views of the last hour: which of them count again, in one process or in several.

Several processes that serve one port share a table in memory, which is made before they are forked.
A view has one place in it, by its hash, and a later view may take that place; then the first one
counts again. Two that write at once may do so too: a view is not worth a lock.
"""

from __future__ import annotations

import mmap
import struct
from math import inf
from typing import Final, Protocol

MOST_REMEMBERED: Final = 100_000
"""Views of the last hour; of more, the oldest are forgotten, and may count again."""
PLACES: Final = 1 << 18
PLACE: Final = struct.Struct("=qd")


class RecentViews(Protocol):
    def last(self, view: int) -> float:
        """When this view was counted last."""

    def note(self, view: int, now: float) -> None: ...


class OwnViews:
    """Of one process."""

    def __init__(self) -> None:
        self._moments: dict[int, float] = {}

    def last(self, view: int) -> float:
        return self._moments.get(view, -inf)

    def note(self, view: int, now: float) -> None:
        self._moments.pop(view, None)  # the latest stand last
        if len(self._moments) >= MOST_REMEMBERED:
            del self._moments[next(iter(self._moments))]
        self._moments[view] = now

    def __len__(self) -> int:
        return len(self._moments)


class SharedViews:
    """Of all processes that are forked from this one: 4 MiB of memory that they share."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, PLACES * PLACE.size)

    def last(self, view: int) -> float:
        known, moment = PLACE.unpack_from(self._memory, view % PLACES * PLACE.size)
        return moment if known == view and moment else -inf

    def note(self, view: int, now: float) -> None:
        PLACE.pack_into(self._memory, view % PLACES * PLACE.size, view, now)
