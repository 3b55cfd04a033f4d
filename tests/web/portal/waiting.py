"""Waiting for what happens soon, but not at once."""

from __future__ import annotations

import time
from collections.abc import Callable

MOST_SECONDS = 60.0  # on a machine that is busy with something else


def eventually(holds: Callable[[], bool]) -> None:
    """Looks again and again until it is so; fails if it never is."""
    end = time.monotonic() + MOST_SECONDS
    while not holds():
        assert time.monotonic() < end, "it did not become so"
        time.sleep(0.02)
