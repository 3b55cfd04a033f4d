"""The time that a proof may take: one at release length is cut after an hour, and says so.

A proof asks `is_over()` before each of its trials; what it has tried by then is what it counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from math import inf

LONGEST_SECONDS = 3_600.0


class Pace:
    """The deadline of the proof that runs now, and whether it was met."""

    deadline = inf
    is_cut = False


def begin(seconds: float) -> None:
    """From now on a proof has so many seconds."""
    Pace.deadline, Pace.is_cut = time.monotonic() + seconds, False


def is_over() -> bool:
    if time.monotonic() < Pace.deadline:
        return False
    Pace.is_cut = True
    return True


def begin_part(parts: int) -> Callable[[], bool]:
    """Whether the time is over for the first of so many parts that share what is left of it."""
    now = time.monotonic()
    deadline = now + (Pace.deadline - now) / parts

    def is_part_over() -> bool:
        if time.monotonic() < deadline:
            return False
        Pace.is_cut = True
        return True

    return is_part_over


def was_cut() -> bool:
    """Whether the proof has found that its time was over."""
    return Pace.is_cut
