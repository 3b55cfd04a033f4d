"""P18: two tables restored to a random commit match a model of their state at that commit.

Transactions change both tables at moments of a clock that is moved, some of them a millisecond
apart. After each the state is recorded. Then the system is restored to random commits, all tables
at once and under new names, while writes continue; the items of both tables, and those of an index,
must match the recorded state. A moment between two commits gives the earlier one.

Mutants restore one commit too late, or use an item's last change as its earlier state.
"""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from bigtime import model as bt
from bigtime import ops
from bigtime.engine import Engine, storage
from bigtime.engine.storage import point_in_time
from bigtime.store import Store, TableNames
from bigtime.testing import Clock
from bigtime.wire import Item, Request
from proofs import pace
from proofs.result import Result, result
from proofs.scratch import scratch
from proofs.warehouse import WAREHOUSE, pieces_in, remove, set_pieces

NAMES: Final = [f"thing {number}" for number in range(30)]
FIRST_COMMITS: Final = 200
RESTORES_PER_FILE: Final = 250
MUTANT_RESTORES: Final = 30
START: Final = datetime(2026, 1, 1, tzinfo=UTC)

State = dict[str, int]


class History:
    """A file, its clock, and the state after each change."""

    def __init__(self, path: Path, chance: random.Random) -> None:
        self.chance = chance
        self.clock = Clock()
        self.clock.stop(START)
        self.engine = Engine.open(
            path, durability="relaxed", housekeeping=False, clock=self.clock.seconds
        )
        self.store = Store(self.engine, clock=self.clock, sleep=lambda _: self.engine.tidy())
        self.store.run(bt.setup(WAREHOUSE))
        for table in ("Stock", "Moves"):
            on = {"PointInTimeRecoveryEnabled": True}
            params = {"TableName": table, "PointInTimeRecoverySpecification": on}
            self.engine(Request("UpdateContinuousBackups", params))
        self.state: State = {}
        self.now = START
        self.advance(1_000)
        self.moments: list[datetime] = [self.now]
        self.states: list[State] = [{}]

    def advance(self, milliseconds: int) -> None:
        self.now += timedelta(milliseconds=milliseconds)
        self.clock.stop(self.now)

    def commit(self) -> None:
        """Commits one transaction, a little later than the last."""
        self.advance(self.chance.choice((1, 2, 250, 7_000)))
        name = self.chance.choice(NAMES)
        if name in self.state and self.chance.random() < 0.3:
            self.engine(remove(name))
            del self.state[name]
        else:
            pieces = self.chance.randrange(1_000_000)
            self.engine(set_pieces(name, pieces))
            self.state[name] = pieces
        self.moments.append(self.now)
        self.states.append(dict(self.state))

    def at(self, moment: datetime) -> State:
        return self.states[bisect_right(self.moments, moment) - 1]

    def random_moment(self) -> datetime:
        """The moment of a commit, or one between two."""
        moment = self.chance.choice(self.moments)
        if self.chance.random() < 0.8:
            return moment
        return min(moment + timedelta(microseconds=self.chance.randrange(500_000)), self.now)


class Attempt:
    """A restore to one moment, compared with the model."""

    def __init__(self, history: History, number: int) -> None:
        self.history = history
        self.suffix = f"_{number}"

    def faults(self) -> list[str]:
        moment = self.history.random_moment()
        expected = self.history.at(moment)
        restore = ops.Restore(self.history.store, WAREHOUSE, TableNames({}), self.suffix)
        restore.restore(moment)
        self.history.commit()
        faults = [
            f"{what} restored to {moment} differs: {found} is not {expected}"
            for what, found in self.find_states()
            if found != expected
        ]
        restore.abandon(lambda name: True)
        return faults

    def find_states(self) -> Iterator[tuple[str, State]]:
        for table in ("Stock", "Moves"):
            yield table, pieces_in(self.scan({"TableName": table + self.suffix}))
        index = {"TableName": f"Stock{self.suffix}", "IndexName": "ByShelf"}
        yield "ByShelf", pieces_in(self.scan(index))

    def scan(self, params: dict[str, Any]) -> list[Item]:
        items: list[Item] = self.history.engine(Request("Scan", params))["Items"]
        return items


def restores_of(count: int, chance: random.Random) -> tuple[int, int, list[str]]:
    """The number of restores and commits, and what was wrong."""
    faults: list[str] = []
    done = 0
    with ExitStack() as stack:
        history = History(stack.enter_context(scratch(on_disk=False)) / "stock.db", chance)
        stack.enter_context(history.engine)
        for _ in range(FIRST_COMMITS):
            history.commit()
        while done < count and not pace.is_over():
            faults += Attempt(history, done).faults()
            done += 1
            for _ in range(chance.randrange(4)):
                history.commit()
    return done, len(history.moments) - 1, faults


# --- Mutants --------------------------------------------------------------------------------


def one_commit_late() -> Callable[[], None]:
    whole = storage.sequence_at

    def late(connection: Any, rows: str, at: float) -> int:
        return whole(connection, rows, at) + 1

    storage.sequence_at = late  # type: ignore[assignment]

    def mend() -> None:
        storage.sequence_at = whole

    return mend


def last_change_wins() -> Callable[[], None]:
    """Takes every change of a row for its state at the moment."""
    whole = point_in_time.RowNumbers.add

    def add(numbers: point_in_time.RowNumbers, number: int) -> bool:
        whole(numbers, number)
        return True

    point_in_time.RowNumbers.add = add  # type: ignore[assignment, method-assign]

    def mend() -> None:
        point_in_time.RowNumbers.add = whole  # type: ignore[method-assign]

    return mend


MUTANTS: Final = {"one commit late": one_commit_late, "last change wins": last_change_wins}


@contextmanager
def mutant(name: str) -> Iterator[None]:
    mend = MUTANTS[name]()
    try:
        yield
    finally:
        mend()


def run(restores: int, *, seed: int = 1) -> Result:
    chance = random.Random(seed)
    done = commits = caught = 0
    violations: list[str] = []
    for name in MUTANTS:
        with mutant(name):
            _, _, faults = restores_of(MUTANT_RESTORES, chance)
        caught += bool(faults)
        if not faults:
            violations.append(f"the mutant '{name}' was not caught")
    while done < restores and not pace.is_over():
        size = min(RESTORES_PER_FILE, restores - done)
        count, made, faults = restores_of(size, chance)
        done += count
        commits += made
        violations += faults
    return result({"restores": done, "commits": commits, "mutants caught": caught}, violations)
