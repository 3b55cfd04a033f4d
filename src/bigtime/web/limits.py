"""Rate limits: how often somebody may try something.

A limit is a bucket of tries that fills again with time. There is one for each action and each
one who acts, an address or a login; a full bucket is as good as none, so those are forgotten.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from bigtime.model import DomainError

MOST_BUCKETS = 50_000


class TooManyTries(DomainError):
    """That was too often; wait a little and try again."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"That was too often; try again in {math.ceil(seconds)} seconds.")
        self.seconds = math.ceil(seconds)


@dataclass(frozen=True, slots=True)
class Limit:
    """So many tries at once, and as many again in that many seconds."""

    tries: int
    seconds: float

    @property
    def rate(self) -> float:
        return self.tries / self.seconds


class Limits:
    """Counts tries by action and by whoever makes them. For one event loop."""

    def __init__(
        self, limits: dict[str, Limit], *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.limits = limits
        self.clock = clock
        self._buckets: dict[tuple[str, str], tuple[float, float]] = {}

    def take(self, action: str, who: str) -> None:
        """Counts one try; raises TooManyTries where there are none left."""
        limit, now = self.limits[action], self.clock()
        left, since = self._buckets.get((action, who), (float(limit.tries), now))
        left = min(limit.tries, left + (now - since) * limit.rate)
        if left < 1:
            raise TooManyTries((1 - left) / limit.rate)
        if len(self._buckets) >= MOST_BUCKETS:
            self._forget_full(now)
        self._buckets[action, who] = left - 1, now

    def _forget_full(self, now: float) -> None:
        for bucket, (left, since) in list(self._buckets.items()):
            limit = self.limits[bucket[0]]
            if left + (now - since) * limit.rate >= limit.tries:
                del self._buckets[bucket]
