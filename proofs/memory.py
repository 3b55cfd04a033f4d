"""Whether a working process keeps growing.

Its memory is sampled twice a second, after a warm-up in which caches fill and every code path runs
once. A leak grows with the work, so the median of the first quarter is compared with that of the
last: a single moment, such as two passwords being hashed, affects neither much.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

MEGABYTE = 1 << 20
MOST_GROWTH = 8 * MEGABYTE
MORE_EACH_MINUTE = MEGABYTE
"""New pages, pictures, sessions and tags are cached, up to a maximum number: that is growth, but
no leak. In the first minute of this load it comes to a few megabytes, later to less."""


def growth(samples: Sequence[int]) -> int:
    """How many bytes more it holds at the end than at the beginning."""
    quarter = max(1, len(samples) // 4)
    return int(median(samples[-quarter:]) - median(samples[:quarter]))


def memory_faults(what: str, samples: Sequence[int], *, seconds: float) -> list[str]:
    """Faults if it keeps growing; `seconds` is how long the samples were taken for."""
    more = growth(samples)
    if more < MOST_GROWTH + MORE_EACH_MINUTE * max(0.0, seconds / 60 - 1):
        return []
    return [f"the {what}'s memory grew by {more / MEGABYTE:.1f} MB, to {samples[-1] >> 20} MB"]
