"""The time limit of a proof: at release length it is cut off after an hour, and says so.

A proof calls `is_over()` before each of its trials; it counts what it has tried by then.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from math import inf

LONGEST_SECONDS = 3_600.0


class Pace:
    """The deadline of the current proof, and whether it was reached."""

    deadline = inf
    is_cut = False


def begin(seconds: float) -> None:
    """Gives the current proof so many seconds."""
    Pace.deadline, Pace.is_cut = time.monotonic() + seconds, False


def is_over() -> bool:
    return is_past(Pace.deadline)


def begin_part(parts: int) -> Callable[[], bool]:
    """A function that says whether the first of so many equal shares of the time left is over."""
    now = time.monotonic()
    return partial(is_past, now + (Pace.deadline - now) / parts)


def is_past(deadline: float) -> bool:
    if time.monotonic() < deadline:
        return False
    Pace.is_cut = True
    return True


def was_cut() -> bool:
    """Whether the proof ran out of time."""
    return Pace.is_cut
