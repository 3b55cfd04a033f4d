"""Contenders side by side: the same work in turns, in CPU time, the best round of each.

On a shared machine, wall time measures the other users. CPU time does not, but a busy neighbour
still empties the caches. So the contenders take turns, round after round, and each is judged by
its least disturbed round.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias

Clock: TypeAlias = Callable[[], float]


def do_nothing() -> None:
    pass


@dataclass(frozen=True, slots=True)
class Contender:
    """One round of work; `prepare` is not timed."""

    run: Callable[[], object]
    operations: int
    prepare: Callable[[], object] = do_nothing
    clock: Clock = time.process_time

    def round(self) -> float:
        """CPU microseconds per operation."""
        self.prepare()
        with collector_resting():
            start = self.clock()
            self.run()
            return (self.clock() - start) / self.operations * 1e6


@contextmanager
def collector_resting() -> Iterator[None]:
    """Keeps one contender's garbage from being collected during another's time."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def race(contenders: Mapping[str, Contender], rounds: int) -> dict[str, float]:
    """CPU microseconds per operation of each contender, in its best round."""
    for contender in contenders.values():
        contender.round()  # fill caches, compile expressions
    best = dict.fromkeys(contenders, float("inf"))
    for _ in range(rounds):
        for name, contender in contenders.items():
            best[name] = min(best[name], contender.round())
    return best
