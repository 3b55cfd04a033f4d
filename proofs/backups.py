"""P19: backups made under load by processes that are killed are whole, and of one commit.

A child writes both tables of the warehouse in transactions and backs them up again and again, to
two places, until it is killed. Then every backup in a place must verify; restore in an engine of
its own; have the same numbers in both tables; and have every write that was acknowledged before it
was begun. Nothing under any other name may be taken for a backup, and the next child continues in
the same file and the same places.

The mutant backs the tables up one after the other.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final

from bigtime import model as bt
from bigtime import ops
from bigtime.engine import Engine
from bigtime.ops import backups
from bigtime.store import Store
from bigtime.wire import Request
from proofs import pace
from proofs.processes import killed_after
from proofs.result import Result, result
from proofs.scratch import scratch
from proofs.warehouse import WAREHOUSE, pieces_in, set_pieces

NAMES: Final = 40
SHORTEST, LONGEST = 0.5, 3.0
KILLS_PER_FILE: Final = 5
MUTANT_ROUNDS: Final = 4
START: Final = datetime(2026, 1, 1, tzinfo=UTC)


def work_until_killed(folder: Path, first: int, mutant: bool, pipe: Connection) -> None:
    """Writes ever larger numbers, and backs them up; reports acknowledgements and backups."""
    if mutant:
        backups.copy_tables = copy_one_by_one
    engine = Engine.open(folder / "data.db", housekeeping=False)
    Store(engine).run(bt.setup(WAREHOUSE))
    acknowledged = [0]  # nothing yet: the first number is greater than any written before

    def write() -> None:
        chance = random.Random(first)
        number = first
        while True:
            number += 1
            engine(set_pieces(f"thing {chance.randrange(NAMES)}", number))
            acknowledged[0] = number
            os.write(pipe.fileno(), b"wrote %d\n" % number)

    threading.Thread(target=write, daemon=True).start()
    place, second = places(folder)
    source = ops.BackupSource(engine, WAREHOUSE)
    while True:
        before = acknowledged[0]
        made = ops.create_backup(source, place, moment=next_moment(place))
        os.write(pipe.fileno(), b"made %s %d\n" % (made.name.encode(), before))
        ops.copy_backup(place, made.name, second)


def copy_one_by_one(source: ops.BackupSource) -> dict[bt.Table, str]:
    """The mutant: backs up each table at a moment of its own."""
    arns: dict[bt.Table, str] = {}
    for table in source.system.saved_tables:
        (details,) = source.engine.copy_backups({table.name: backups.OWN_NAME + ".w"})
        arns[table] = details["BackupArn"]
        time.sleep(0.01)
    return arns


def places(folder: Path) -> tuple[ops.FolderPlace, ops.FolderPlace]:
    return ops.FolderPlace(folder / "first"), ops.FolderPlace(folder / "second")


def next_moment(place: ops.Place) -> datetime:
    names = place.names()
    return ops.moment_in(names[-1]) + timedelta(seconds=1) if names else START


class Inspection:
    """Checks what is in the places after a kill."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.seen: set[tuple[str, str]] = set()
        self.counts: Counter[str] = Counter()
        self.violations: list[str] = []

    def look(self, said: bytes) -> int:
        """Checks what is new; returns the last acknowledged number."""
        lines = [line.decode().split() for line in said.rpartition(b"\n")[0].splitlines()]
        written = [int(words[1]) for words in lines if words[0] == "wrote"]
        begun_after = {words[1]: int(words[2]) for words in lines if words[0] == "made"}
        self.counts["acknowledged writes"] += len(written)
        for place in places(self.folder):
            for name in place.names():
                if (place.where, name) not in self.seen:
                    self.seen.add((place.where, name))
                    self.inspect(place, name, begun_after.get(name, 0))
        first = places(self.folder)[0]
        for name in begun_after:
            if name not in first.names():
                self.violations.append(f"{name} was made, and is not there")
        return max(written, default=0)

    def inspect(self, place: ops.Place, name: str, at_least: int) -> None:
        self.counts["backups"] += 1
        self.violations += [f"{name}: {fault}" for fault in ops.verify_backup(place, name)]
        with Engine.memory(housekeeping=False) as engine:
            store = Store(engine, sleep=lambda _: engine.tidy())
            ops.restore_backup(place, name, store, engine=engine)
            stock, moves = (
                pieces_in(engine(Request("Scan", {"TableName": table}))["Items"])
                for table in ("Stock", "Moves")
            )
        if stock != moves:
            self.violations.append(f"{name} has the tables at two commits")
        if max(stock.values(), default=0) < at_least:
            self.violations.append(f"{name} lacks what was acknowledged before it was begun")


def kills_of(folder: Path, kills: int, chance: random.Random, *, mutant: bool) -> Inspection:
    inspection = Inspection(folder)
    last = 0
    for _ in range(kills):
        seconds = chance.uniform(SHORTEST, LONGEST)
        said = killed_after(seconds, work_until_killed, folder, last, mutant)
        # A write may be made and not reported: the next child begins well above it.
        last = max(last, inspection.look(said)) + 10
        inspection.counts["kills"] += 1
        if mutant and inspection.violations:
            break
    return inspection


def run(kills: int, *, seed: int = 1) -> Result:
    chance = random.Random(seed)
    counts: Counter[str] = Counter()
    violations: list[str] = []
    for done in range(0, kills, KILLS_PER_FILE):
        if pace.is_over():
            break
        size = min(KILLS_PER_FILE, kills - done)
        with scratch() as folder:
            found = kills_of(folder, size, chance, mutant=False)
        counts.update(found.counts)
        violations += found.violations
    with scratch() as folder:
        caught = bool(kills_of(folder, MUTANT_ROUNDS, chance, mutant=True).violations)
    if not caught:
        violations.append("a build that backs tables up one by one was not caught")
    if not counts["backups"]:
        violations.append("no backup was made: nothing was proved")
    return result({**counts, "mutants caught": int(caught)}, violations)
