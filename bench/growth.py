"""From ten thousand items to a million: how a table a hundred times larger affects reads.

Both files are open at once and take turns. Every round reads other items, anywhere in the table,
so that reads of the large one miss the engine's own cache, as in real use.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.progress import track

from bench import workload
from bench.figure import Bar, Figure, NotHere
from bench.fresh import in_fresh_process
from bench.in_process import ask_all
from bench.race import Contender, race
from bench.scale import Scale
from bigtime.engine import Engine
from bigtime.wire import Request

BYTES_PER_ITEM = 2_500  # with its index entries, the log and room to spare


def measure(scale: Scale, folder: Path, screen: Console) -> Iterator[Figure]:
    need, free = scale.large_items * BYTES_PER_ITEM, shutil.disk_usage(folder).free
    if free < 2 * need:
        raise NotHere(f"the files want {2 * need >> 20:,} MB of disk and there are {free >> 20:,}")
    counts = {"small": scale.small_items, "large": scale.large_items}
    paths = {name: folder / f"{name}.db" for name in counts}
    for name, path in paths.items():
        build(path, counts[name], screen)
    yield from reads(scale, paths, counts)
    yield from fresh_starts(scale, paths["large"])


def build(path: Path, items: int, screen: Console) -> None:
    """Writes the table, sequential in `by_day` and random in `by_chance`."""
    with Engine.open(path, durability="relaxed") as engine:
        engine(workload.create_table("by_day", "by_chance"))
        for request in progress(workload.fill_requests(workload.orders(items)), items, screen):
            engine(request)


def progress(requests: Iterable[Request], items: int, screen: Console) -> Iterable[Request]:
    label = f"writing {items:,} items"
    batches = items / workload.GROUP
    return track(
        requests,
        label,
        total=batches,
        console=screen,
        transient=True,
        disable=not screen.is_terminal,
    )


def reads(scale: Scale, paths: dict[str, Path], counts: dict[str, int]) -> Iterator[Figure]:
    small, large = (
        Engine.open(path, durability="relaxed", housekeeping=False) for path in paths.values()
    )
    with small, large:
        engines = {"small": small, "large": large}
        yield compare(scale, "GetItem", workload.get, engines, counts, 1.5)
        groups = {name: count // workload.GROUP for name, count in counts.items()}
        for index, order, limit in (
            ("by_day", "written in index order", 1.5),
            ("by_chance", "written at random", 3.0),
        ):
            what = f"Query of 25 by GSI, {order}"
            yield compare(scale, what, query_maker(index), engines, groups, limit)


def query_maker(index: str) -> Callable[[int], Request]:
    return lambda group: workload.query(group, index)


def compare(
    scale: Scale,
    what: str,
    make: Callable[[int], Request],
    engines: dict[str, Engine],
    counts: dict[str, int],
    limit: float,
) -> Figure:
    source = random.Random(0)

    def contender(name: str) -> Contender:
        requests: list[Request] = []

        def choose() -> None:
            numbers = source.choices(range(counts[name]), k=scale.operations)
            requests[:] = [make(number) for number in numbers]

        return Contender(lambda: ask_all(engines[name], requests), scale.operations, choose)

    seen = race({name: contender(name) for name in engines}, scale.rounds)
    ratio = seen["large"] / seen["small"]
    label = f"{what}, of {scale.large_items:,} items"
    beside = f"of {scale.small_items:,}"
    bar = Bar("at most", limit, "x")
    return Figure(label, seen["large"], "us", seen["small"], beside, ratio, bar)


def fresh_starts(scale: Scale, path: Path) -> Iterator[Figure]:
    size = f"{path.stat().st_size / 1e9:.2f} GB"
    opened = [in_fresh_process("open", path) for _ in range(scale.fresh_starts)]
    quick = Bar("under", 100, "ms")
    cpu, wall = (min(each[name] for each in opened) for name in ("cpu_ms", "wall_ms"))
    yield Figure(f"opening a file of {size} and reading an item, CPU time", cpu, "ms", bar=quick)
    yield Figure(
        f"opening a file of {size} and reading an item, on the wall",
        wall,
        "ms",
        bar=replace(quick, on_wall=True),
    )
    scanned = in_fresh_process("scan", path)
    if scanned["items"] != scale.large_items:
        raise AssertionError(f"the scan saw {scanned['items']} of {scale.large_items} items")
    what = f"peak memory of a process that scans all of {size}"
    yield Figure(what, scanned["peak_mb"], "MB", bar=Bar("under", 150, "MB"))
    each = scanned["cpu_seconds"] / scanned["items"] * 1e6
    yield Figure("Scan of the whole file by pages, for each item", each, "us")
