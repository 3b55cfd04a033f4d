"""Whether a process that works keeps growing.

What it holds is looked at twice a second, after a warm-up in which caches fill and every path is
gone once. A leak grows with the work, so the middle of the first quarter is compared with that of
the last: a single moment, such as two passwords being hashed, moves neither much.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

MEGABYTE = 1 << 20
MOST_GROWTH = 8 * MEGABYTE
MORE_EACH_MINUTE = MEGABYTE
"""Pages, pictures, sessions and tags of what is new are kept, up to some number: that is growth,
and no leak. In the first minute of this load it comes to a few megabytes, later to less."""


def growth(samples: Sequence[int]) -> int:
    """Bytes more at the end than at the beginning."""
    quarter = max(1, len(samples) // 4)
    return int(median(samples[-quarter:]) - median(samples[:quarter]))


def memory_faults(what: str, samples: Sequence[int], *, seconds: float) -> list[str]:
    """`seconds` is how long the samples were taken for."""
    more = growth(samples)
    if more < MOST_GROWTH + MORE_EACH_MINUTE * max(0.0, seconds / 60 - 1):
        return []
    return [f"the {what}'s memory grew by {more / MEGABYTE:.1f} MB, to {samples[-1] >> 20} MB"]
