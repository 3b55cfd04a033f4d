"""Backups of a system: what it costs to make and to restore one, and what writers notice."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench import workload
from bench.figure import Bar, Figure
from bench.scale import GIGABYTE, Scale
from bigtime import model as bt
from bigtime import ops
from bigtime.engine import Engine
from bigtime.store import Store
from bigtime.wire import Request

WRITES = 2_000
START = datetime(2026, 1, 1, tzinfo=UTC)

ORDERS = bt.Table(workload.TABLE, "PK", "SK")


class Order(bt.Entity, table=ORDERS):
    """Stands for the workload's own items, which are written without the kit."""

    keys = bt.Keys(main=("{customer}", "{id}"))
    customer: str
    id: str


SYSTEM = bt.System("bench", (ORDERS,))


def measure(scale: Scale, folder: Path) -> Iterator[Figure]:
    place = ops.FolderPlace(folder / "backups")
    with Engine.open(folder / "backed-up.db", durability="relaxed") as engine:
        engine(workload.create_table("by_day"))
        for request in workload.fill_requests(workload.orders(scale.restored_items)):
            engine(request)
        source = ops.BackupSource(engine, SYSTEM)
        wall, cpu = time.monotonic(), time.process_time()
        made = ops.create_backup(source, place, moment=START)
        wall, cpu = time.monotonic() - wall, time.process_time() - cpu
        yield from backup_figures("backup", made, wall, cpu, most_cpu=20)
        yield notice(engine, place)
    with Engine.open(folder / "brought-back.db", durability="relaxed") as engine:
        store = Store(engine, sleep=lambda _: engine.tidy())
        wall, cpu = time.monotonic(), time.process_time()
        ops.restore_backup(place, made.name, store, engine=engine)
        wall, cpu = time.monotonic() - wall, time.process_time() - cpu
    yield from backup_figures("restore of a backup", made, wall, cpu, most_cpu=50)


def backup_figures(
    what: str, made: ops.Manifest, wall: float, cpu: float, *, most_cpu: float
) -> Iterator[Figure]:
    """Figures per item and, because it is verified from end to end, per GB."""
    items, size = made.items, sum(table.bytes for table in made.tables)
    each = cpu / items * 1e6
    yield Figure(f"{what}, CPU an item of 1 KB", each, "us", bar=Bar("at most", most_cpu, "us"))
    seconds = wall * GIGABYTE / size
    bar = Bar("under", 60, "s", on_wall=True)
    yield Figure(f"{what}, verified, a GB of {items:,} such items", seconds, "s", bar=bar)


def notice(engine: Engine, place: ops.FolderPlace) -> Figure:
    """The slowest 1 % of writes while another process makes backups, and while none does."""
    alone = slow_write(engine, 0)
    with in_another_process(engine.path, place.folder):
        beside = slow_write(engine, WRITES)
    what = "PutItem amid a backup, p99"
    bar = Bar("at most", 2, "x", on_wall=True)
    return Figure(what, beside * 1e3, "ms", alone * 1e3, "without", beside / alone, bar)


@contextmanager
def in_another_process(data: Path, folder: Path) -> Iterator[None]:
    """Makes backups one after another, as `bigtime backup run` does beside a server."""
    program = "import sys; from bench.backups import back_up; back_up(*sys.argv[1:])"
    command = [sys.executable, "-c", program, str(data), str(folder)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert child.stdout is not None
    try:
        child.stdout.readline()
        yield
    finally:
        child.kill()
        child.wait()


def back_up(data: str, folder: str) -> None:
    ops.lower_priority()
    place = ops.FolderPlace(Path(folder))
    moment = START
    with Engine.open(data, durability="relaxed") as engine:
        print("begun", flush=True)
        while True:
            moment += timedelta(seconds=1)
            ops.create_backup(ops.BackupSource(engine, SYSTEM), place, moment=moment)


def slow_write(engine: Engine, first: int) -> float:
    seconds: list[float] = []
    for number in range(first, first + WRITES):
        item = {**workload.order(number), "seen": {"N": str(number)}}
        start = time.monotonic()
        engine(Request("PutItem", {"TableName": workload.TABLE, "Item": item}))
        seconds.append(time.monotonic() - start)
    return sorted(seconds)[WRITES * 99 // 100]
