"""P20: when a region is killed under load another takes over, and nothing else is lost.

A child writes both tables of the warehouse in the home region, whose tables have replicas, and
replicates them, until it is killed; then its file is taken away, as in the loss of a region. The
other region takes over from its own file alone. Measured from the last acknowledgement before the
kill:

- RPO: the age of the oldest acknowledged write that the other region lacks. It is under a second;
  with sync replication no acknowledged write is missing.
- RTO: the time until the other region has acknowledged a write, with all of its items verified. It
  is under a minute.

Then the lost region comes back. Its processes must not write once the new epoch has reached it, and
both regions must end with the same items, including those written since the takeover.

Rounds in which this machine itself stalled are not judged by time, and are counted.

Mutants replicate late, acknowledge before they have replicated, or ignore the fence.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from bigtime import model as bt
from bigtime import ops
from bigtime.engine import Engine
from bigtime.engine.replication import Replicator, replicator
from bigtime.store import Fence, FencedTransport, NotTheWriter, Store
from bigtime.wire import Request
from proofs import pace
from proofs.processes import killed_after
from proofs.result import Result, result
from proofs.scratch import scratch
from proofs.warehouse import WAREHOUSE, pieces_in, set_pieces

HOME, AWAY = "af-south-1", "eu-west-1"
PROD: Final = bt.Environment("prod", HOME, dr_region=AWAY)
NAMES: Final = 40
LATE_NAME: Final = "thing 0"
SHORTEST, LONGEST = 1.0, 3.0
RPO_SECONDS, RTO_SECONDS = 1.0, 60.0
STALL_SECONDS: Final = 0.25
MUTANT_ROUNDS: Final = 4
TABLES: Final = ("Stock", "Moves")
PARTS: Final = ("", "-wal", "-shm")

Mode = Literal["async", "sync"]


class Acknowledged(NamedTuple):
    name: str
    number: int
    at: float


# --- The region that is killed ----------------------------------------------------------------


def write_until_killed(folder: Path, mode: Mode, mutant: str, pipe: Connection) -> None:
    """Writes ever larger numbers in the home region, and reports when each was acknowledged."""
    if mutant:
        MUTANTS[mutant]()
    engine = Engine.open(folder / "data.db", durability="relaxed", replication=mode)
    store = fenced_store(engine, HOME)
    chance = random.Random(os.getpid())
    number = 0
    wait_for_replication(engine, store)
    while True:
        number += 1
        name = f"thing {chance.randrange(1, NAMES)}"
        store.send(set_pieces(name, number))
        os.write(pipe.fileno(), b"%s|%d|%.6f\n" % (name.encode(), number, time.time()))


def wait_for_replication(engine: Engine, store: Store) -> None:
    """Waits until the threads that replicate have started; a late mutant is not waited for."""
    store.send(set_pieces(LATE_NAME, 1))
    away, end = engine.in_region(AWAY), time.monotonic() + 5.0
    while not away(Request("Scan", {"TableName": "Stock"}))["Items"] and time.monotonic() < end:
        time.sleep(0.01)


def fenced_store(transport: Any, region: str) -> Store:
    return Store(FencedTransport(transport, Fence(WAREHOUSE.name, region)))


def begin(folder: Path) -> None:
    """Creates the tables with their replicas, and the fence, in two files."""
    folder.mkdir()
    with Engine.open(folder / "data.db", region=HOME, durability="relaxed") as engine:
        store = Store(engine)
        store.run(bt.setup(WAREHOUSE))
        for table in TABLES:
            create = [{"Create": {"RegionName": AWAY}}]
            params = {"TableName": table, "ReplicaUpdates": create}
            store.send(Request("UpdateTable", params))
        engine.tidy()
        stores = {HOME: store, AWAY: Store(engine.in_region(AWAY))}
        ops.RegionSwitch(WAREHOUSE, PROD, stores, sleep=lambda _: engine.tidy()).prepare()


# --- The region that takes over ---------------------------------------------------------------


class Takeover:
    """What follows a kill: the other region writes, and the lost one comes back."""

    def __init__(self, folder: Path, acknowledged: list[Acknowledged], mode: Mode) -> None:
        self.folder = folder
        self.acknowledged = acknowledged
        self.mode = mode
        self.violations: list[str] = []
        self.lost_seconds = 0.0
        self.lost = 0
        self.recovery_seconds = 0.0

    def run(self) -> None:
        killed_at = self.acknowledged[-1].at
        for part in PARTS:
            move(self.folder / f"data.db{part}", self.folder / f"lost.db{part}")
        with ops.open_regions(f"file:{self.folder / 'data.db'}", PROD, without=HOME) as stores:
            away = stores[AWAY]
            switch = ops.RegionSwitch(WAREHOUSE, PROD, stores)
            for _ in switch.switch(AWAY, fence=False, stopped=HOME):
                pass
            self.count_lost(away, killed_at)
            _, faults = ops.verify_all(away, WAREHOUSE)
            fenced_store(away.transport, AWAY).send(set_pieces(LATE_NAME, 1_000_000))
            self.recovery_seconds = time.time() - killed_at
        self.violations += faults
        for part in PARTS:
            move(self.folder / f"lost.db{part}", self.folder / f"data.db{part}")
        self.come_back()

    def count_lost(self, store: Store, killed_at: float) -> None:
        """Counts acknowledged writes missing in either table: items are replicated one by one."""
        for table in TABLES:
            there = pieces_in(store.send(Request("Scan", {"TableName": table}))["Items"])
            lost = [each for each in self.acknowledged if each.number > there.get(each.name, 0)]
            self.lost = max(self.lost, len(lost))
            if lost:
                self.lost_seconds = max(self.lost_seconds, killed_at - min(e.at for e in lost))
        if self.mode == "sync" and self.lost:
            self.violations.append(f"{self.lost} acknowledged writes were lost in sync mode")

    def come_back(self) -> None:
        """Brings the lost region back, with a process that does not know of the takeover."""
        with Engine.open(self.folder / "data.db", housekeeping=False) as engine:
            engine.tidy()
            try:
                fenced_store(engine, HOME).send(set_pieces("thing 1", 2_000_000))
            except NotTheWriter:
                pass
            else:
                self.violations.append("the lost region wrote, though another one is the writer")
            engine.tidy()
            stores = {HOME: Store(engine), AWAY: Store(engine.in_region(AWAY))}
            switch = ops.RegionSwitch(WAREHOUSE, PROD, stores)
            differing = list(switch.compare(HOME, AWAY))
            self.violations += [f"after it came back: {difference}" for difference in differing]
            there = pieces_in(engine(Request("Scan", {"TableName": "Stock"}))["Items"])
            if there.get(LATE_NAME) != 1_000_000:
                self.violations.append("a write of the region that took over was lost")


def move(source: Path, target: Path) -> None:
    if source.exists():
        source.rename(target)


# --- Mutants ----------------------------------------------------------------------------------


def replicate_late() -> None:
    replicator.PAUSE_SECONDS = 30.0


def acknowledge_early() -> None:
    def push(self: Replicator, source: Any, seconds: float = 0.0) -> None:
        return

    Replicator.push = push  # type: ignore[method-assign]


def ignore_fence() -> Callable[[], None]:
    whole = Fence.check

    def check(self: Fence) -> None:
        return

    def mend() -> None:
        Fence.check = whole  # type: ignore[method-assign]

    Fence.check = check  # type: ignore[method-assign]
    return mend


MUTANTS: Final[dict[str, Callable[[], object]]] = {
    "replicates late": replicate_late,
    "acknowledges early": acknowledge_early,
    "ignores the fence": ignore_fence,
}


@contextmanager
def mutant_here(name: str) -> Iterator[None]:
    """Patches the fence in this process; the other mutants are in the child."""
    mend = ignore_fence() if name == "ignores the fence" else None
    try:
        yield
    finally:
        if mend:
            mend()


# --- Rounds -----------------------------------------------------------------------------------


class Stall:
    """The longest that this machine kept a thread waiting, and so the child beside it."""

    def __init__(self) -> None:
        self.longest = 0.0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        while not self._stop.is_set():
            begun = time.monotonic()
            time.sleep(0.01)
            self.longest = max(self.longest, time.monotonic() - begun - 0.01)

    def __enter__(self) -> Stall:
        self._thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._stop.set()
        self._thread.join()


class Round(NamedTuple):
    takeover: Takeover
    violations: list[str]
    was_stalled: bool


def kill_region(mode: Mode, chance: random.Random, mutant: str = "") -> Round | None:
    """One round; None if the child was killed before it had written."""
    with scratch() as parent:
        return kill_region_in(parent / "region", mode, chance, mutant)


def kill_region_in(folder: Path, mode: Mode, chance: random.Random, mutant: str) -> Round | None:
    begin(folder)
    seconds = chance.uniform(SHORTEST, LONGEST)
    with Stall() as stall:
        said = killed_after(seconds, write_until_killed, folder, mode, mutant)
    lines = [line.decode().split("|") for line in said.rpartition(b"\n")[0].splitlines()]
    if not lines:
        return None
    acknowledged = [Acknowledged(name, int(number), float(at)) for name, number, at in lines]
    takeover = Takeover(folder, acknowledged, mode)
    with mutant_here(mutant):
        takeover.run()
    was_stalled = stall.longest > STALL_SECONDS
    violations = list(takeover.violations)
    if not was_stalled:
        if takeover.lost_seconds >= RPO_SECONDS:
            violations.append(f"RPO was {takeover.lost_seconds:.3f} s")
        if takeover.recovery_seconds >= RTO_SECONDS:
            violations.append(f"RTO was {takeover.recovery_seconds:.1f} s")
    return Round(takeover, violations, was_stalled)


def is_caught(mutant: str, chance: random.Random) -> bool:
    mode: Mode = "sync" if mutant == "acknowledges early" else "async"
    for _ in range(MUTANT_ROUNDS):
        found = kill_region(mode, chance, mutant)
        if found is not None and found.violations:
            return True
    return False


def run(kills: int, *, seed: int = 1) -> Result:
    chance = random.Random(seed)
    counts: Counter[str] = Counter()
    worst: Counter[str] = Counter()
    violations: list[str] = []
    for number in range(kills):
        if pace.is_over():
            break
        mode: Mode = "sync" if number % 2 else "async"
        found = kill_region(mode, chance)
        if found is None:
            continue
        counts[f"kills, {mode}"] += 1
        counts["acknowledged writes"] += len(found.takeover.acknowledged)
        counts[f"writes lost, {mode}"] += found.takeover.lost
        counts["rounds not judged by time"] += found.was_stalled
        milliseconds = {
            f"worst RPO in ms, {mode}": found.takeover.lost_seconds,
            "worst RTO in ms": found.takeover.recovery_seconds,
        }
        for name, value in milliseconds.items():
            worst[name] = max(worst[name], round(1000 * value))
        violations += found.violations
    caught = [name for name in MUTANTS if is_caught(name, chance)]
    violations += [
        f"the mutant that {name} was not caught" for name in MUTANTS if name not in caught
    ]
    if not counts["kills, sync"] and kills > 1:
        violations.append("no region was killed amid writes: nothing was proved")
    return result({**counts, **worst, "mutants caught": len(caught)}, violations)
