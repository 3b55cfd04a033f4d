"""Durable writes: how many acknowledgements one sync serves, and that each follows its sync.

The second bar is about waiting, so it is in wall time: every sync is made to take 5 ms, as on a
slow disk, and 16 threads are compared with one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Literal, TypeAlias

from bench import workload
from bench.figure import Bar, Figure
from bench.scale import Scale
from bench.sync_witness import Witness, watch_syncs
from bigtime.engine import Engine
from bigtime.wire import Request

Durability: TypeAlias = Literal["full", "relaxed"]

THREADS = 16
SLOW_SECONDS = 0.005


def measure(scale: Scale, folder: Path) -> Iterator[Figure]:
    shared = write(Witness(), folder / "durable.db", THREADS, scale.durable_writes)
    slow = [
        write(Witness(SLOW_SECONDS), folder / f"slow-{number}-{threads}.db", threads, writes)
        for number in range(scale.slow_rounds)
        for threads, writes in ((1, scale.slow_writes // 8), (THREADS, scale.slow_writes))
    ]
    yield Figure(
        f"durable writes by {THREADS} threads: acknowledgements for each sync",
        shared.writes / shared.syncs,
        "",
        bar=Bar("at least", 6, "", on_wall=True),
    )
    runs = [shared, *slow]
    yield Figure(
        f"acknowledgements before their sync, of {sum(run.writes for run in runs):,}",
        sum(run.early for run in runs),
        "",
        bar=Bar("at most", 0, ""),
    )
    one, many = (max(run.rate for run in slow if run.threads == few) for few in (1, THREADS))
    what = f"durable writes when a sync takes 5 ms, by {THREADS} threads"
    bar = Bar("at least", 6, "x", on_wall=True)
    yield Figure(what, many, "a second", one, "by one", many / one, bar)


@dataclass(frozen=True, slots=True)
class Run:
    """A run's outcome: `early` acknowledgements came before their sync."""

    threads: int
    writes: int
    syncs: int
    early: int
    seconds: float

    @property
    def rate(self) -> float:
        return self.writes / self.seconds


def write(
    witness: Witness, path: Path, threads: int, writes: int, durability: Durability = "full"
) -> Run:
    early: list[str] = []
    with (
        watch_syncs(witness) as vfs,
        Engine.open(path, vfs=vfs, durability=durability) as engine,
    ):
        engine(workload.create_table("by_day"))
        witness.syncs = 0

        def client(first: int) -> None:
            for number in range(first, writes, threads):
                mark = f"mark-{number:08}"
                engine(marked_put(number, mark))
                if not witness.has_synced(mark):
                    early.append(mark)

        start = time.monotonic()
        run_threads(client, threads)
        seconds = time.monotonic() - start
        syncs = witness.syncs
    return Run(threads, writes, syncs, len(early), seconds)


def marked_put(number: int, mark: str) -> Request:
    item = {
        **workload.key(number),
        "day": {"S": f"day#{number // workload.GROUP:06}"},
        "minute": {"N": str(number % workload.GROUP)},
        "mark": {"S": mark},
    }
    return Request("PutItem", {"TableName": workload.TABLE, "Item": item})


def run_threads(client: Callable[[int], None], threads: int) -> None:
    running = [Thread(target=client, args=(first,)) for first in range(threads)]
    for each in running:
        each.start()
    for each in running:
        each.join()
