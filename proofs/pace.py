"""The time that a proof may take: one at release length is cut after an hour, and says so.

A proof asks `is_over()` before each of its trials; what it has tried by then is what it counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
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
    return is_past(Pace.deadline)


def begin_part(parts: int) -> Callable[[], bool]:
    """Whether the time is over for the first of so many parts that share what is left of it."""
    now = time.monotonic()
    return partial(is_past, now + (Pace.deadline - now) / parts)


def is_past(deadline: float) -> bool:
    if time.monotonic() < deadline:
        return False
    Pace.is_cut = True
    return True


def was_cut() -> bool:
    """Whether the proof has found that its time was over."""
    return Pace.is_cut
