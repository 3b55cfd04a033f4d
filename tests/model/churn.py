"""Items that come and go while somebody reads them page by page."""

from __future__ import annotations

from collections.abc import Iterable


class Churn:
    """Which items are there, which were there all the time, and which ever were."""

    def __init__(self, there: Iterable[int]) -> None:
        self.present = set(there)
        self.always = set(self.present)
        self.ever = set(self.present)

    def happens(self, number: int, *, comes: bool) -> None:
        if comes:
            self.present.add(number)
            self.ever.add(number)
        else:
            self.present.discard(number)
            self.always.discard(number)

    def check(self, seen: list[int], wanted: Iterable[int] | None = None) -> None:
        """What is there all the time is seen once; what comes or goes, at most once."""
        among = self.ever if wanted is None else set(wanted)
        assert len(seen) == len(set(seen))
        assert self.always & among <= set(seen) <= self.ever & among
