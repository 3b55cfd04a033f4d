"""P1: kill -9 at any moment loses nothing that was acknowledged and leaves nothing half done.

A child writes to the ledger from four threads and is killed after 50 to 250 ms. Then the file
must hold exactly what the book says: base, index, stream, change log and counts in one state,
which has every acknowledged write and, of each writer, at most one more, whole.

Every other time this process has the file open while the child dies. Then nobody recovers the
log: the living process must cope with what the dead one left in shared memory.
"""

from __future__ import annotations

import random
import shutil
import tempfile
from pathlib import Path

from bigtime.engine import Engine
from bigtime.wire import Item, Request
from proofs import audit, pace
from proofs.child import acknowledgements, work_until_killed
from proofs.ledger import SHARED, TABLE, WRITERS, Book, Write, belongs
from proofs.processes import killed_after
from proofs.result import Result, result
from proofs.scratch import scratch

SHORTEST, LONGEST = 0.050, 0.250
KILLS_PER_FILE = 25


class Trial:
    """One file that is crashed again and again, and its expected contents."""

    def __init__(self, folder: Path, seed: int, mutant: str | None) -> None:
        self.path = Path(tempfile.mkdtemp(dir=folder)) / "ledger.db"
        self.book = Book(seed, done=dict.fromkeys(range(WRITERS), 0))
        self.stream = audit.StreamReader()
        self.log = audit.LogReader()
        self.mutant = mutant
        self.acknowledged = 0
        self.replayed = 0

    def crash(self, seconds: float, *, is_open: bool) -> list[str]:
        """Kills a child at work; returns what is wrong with the file afterwards."""
        engine = Engine.open(self.path, housekeeping=False) if is_open else None
        said = killed_after(
            seconds, work_until_killed, self.path, self.book.seed, self.book.done, self.mutant
        )
        try:
            with engine or Engine.open(self.path, housekeeping=False) as living:
                faults = self.check(living, acknowledgements(said))
            return faults + audit.integrity_faults(self.path)
        except Exception as error:  # a damaged file may raise anything
            return [f"the file cannot be read: {error!r}"]

    def check(self, engine: Engine, acks: dict[int, list[int]]) -> list[str]:
        if TABLE not in engine(Request("ListTables", {}))["TableNames"]:
            return ["acknowledged writes, and no table"] if acks else []
        found = audit.items(engine)
        under_way: list[Write] = []
        faults: list[str] = []
        for writer in range(WRITERS):
            faults += self.catch_up(writer, acks.get(writer, []))
            mine = {name: item for name, item in found.items() if belongs(name, writer)}
            if mine != self.book.of(writer):
                if mine == self.book.next_of(writer):
                    under_way.append(self.book.carry_out(writer))
                else:
                    faults.append(self.explain(writer, mine))
        if faults:
            return faults
        if found.get(SHARED) != self.book.items.get(SHARED):
            faults.append("the transactions counted are not the transactions done")
        return faults + self.check_views(engine) + self.check_replays(engine, under_way)

    def catch_up(self, writer: int, numbers: list[int]) -> list[str]:
        expected = self.book.done[writer] + 1
        self.acknowledged += len(numbers)
        for _ in numbers:
            self.book.carry_out(writer)
        if numbers != list(range(expected, expected + len(numbers))):
            return [f"writer {writer} was acknowledged {numbers} after {expected - 1}"]
        return []

    def check_views(self, engine: Engine) -> list[str]:
        """Compares index, counts, stream and change log with the base table."""
        changes = self.stream.new_changes(engine)
        faults = audit.index_faults(engine, self.book.items)
        faults += audit.count_faults(engine, self.book.items)
        faults += audit.stream_faults(changes, self.book)
        faults += audit.log_faults(self.log.new_befores(engine), self.book)
        self.book.changes.clear()
        return faults

    def check_replays(self, engine: Engine, under_way: list[Write]) -> list[str]:
        """Repeats unanswered requests with their tokens, as a client does: nothing may change."""
        for write in under_way:
            if write.token:
                engine(write.request())
                self.replayed += 1
        if audit.items(engine) != self.book.items or self.stream.new_changes(engine):
            return ["a transaction was applied again under its token"]
        return []

    def explain(self, writer: int, mine: dict[str, Item]) -> str:
        last = self.book.done[writer]
        past = Book(self.book.seed)
        for number in range(last):
            if past.of(writer) == mine:
                return f"writer {writer}: acknowledged up to write {last}, found up to {number}"
            past.carry_out(writer)
        return f"writer {writer}: a state that no writes lead to, after write {last}"


def run(kills: int, *, mutant: str | None = None, seed: int = 1) -> Result:
    """Kills that often; with a mutant, until it is caught."""
    chance = random.Random(seed)
    counts = {"kills": 0, "acknowledged writes": 0, "transactions sent again": 0, "files": 0}
    violations: list[str] = []
    with scratch() as folder:
        while counts["kills"] < kills and not (mutant and violations) and not pace.is_over():
            trial = Trial(folder, chance.getrandbits(32), mutant)
            rounds = min(KILLS_PER_FILE, kills - counts["kills"])
            counts["kills"] += crash_again_and_again(trial, rounds, chance, violations)
            counts["acknowledged writes"] += trial.acknowledged
            counts["transactions sent again"] += trial.replayed
            counts["files"] += 1
            shutil.rmtree(trial.path.parent)
    return result(counts, violations)


def crash_again_and_again(
    trial: Trial, rounds: int, chance: random.Random, violations: list[str]
) -> int:
    """Returns the number of crashes; stops at the first fault, which makes the book useless."""
    for number in range(rounds):
        faults = trial.crash(chance.uniform(SHORTEST, LONGEST), is_open=number % 2 == 1)
        if faults:
            violations += faults
            return number + 1
    return rounds
