"""Faults on demand, so that an application's tests can meet what production will bring.

Each may be switched on for the next so many requests, or at a rate from a seeded source, so that
a failing test fails again. All are off until they are asked for, and none of them loses a write.
"""

from __future__ import annotations

import random
import threading
from typing import Literal, TypeAlias

from bigtime.engine.storage.clock import Clock
from bigtime.engine.storage.file import File
from bigtime.engine.storage.lag import Lag
from bigtime.engine.storage.token_buckets import TokenBuckets
from bigtime.wire import (
    ProvisionedThroughputExceededException,
    TransactionCanceledException,
    TransactionConflictException,
)

Fault: TypeAlias = Literal["throttling", "conflict", "unprocessed"]

WRITES = frozenset({"PutItem", "UpdateItem", "DeleteItem"})
THROTTLED = WRITES | {
    "GetItem",
    "Query",
    "Scan",
    "BatchGetItem",
    "BatchWriteItem",
    "TransactGetItems",
    "TransactWriteItems",
}


class Faults:
    """The switches: `engine.faults.throttle(next=1)`, `engine.faults.lag_indexes(seconds=0.5)`."""

    def __init__(self, file: File, clock: Clock) -> None:
        self._clock = clock
        self._mutex = threading.Lock()
        self._random = random.Random(0)
        self._counts: dict[Fault, int] = {}
        self._rates: dict[Fault, float] = {}
        self.index_lag = Lag(file, clock)
        self.read_lag = Lag(file, clock)
        self.buckets: TokenBuckets | None = None
        self.active = False

    def throttle(self, *, next: int = 0, rate: float = 0.0) -> None:
        """Data requests fail with ProvisionedThroughputExceededException."""
        self._switch("throttling", next, rate)

    def conflict(self, *, next: int = 0, rate: float = 0.0) -> None:
        """Item writes and transactions meet another transaction, and change nothing."""
        self._switch("conflict", next, rate)

    def leave_unprocessed(self, *, next: int = 0, rate: float = 0.0) -> None:
        """Batches come back with some of their items unprocessed."""
        self._switch("unprocessed", next, rate)

    def lag_indexes(self, *, seconds: float) -> None:
        """Global indexes answer from a state up to that old; `float('inf')` freezes them.

        Seconds are those of the engine's clock.
        """
        self.index_lag.begin(seconds)

    def stale_reads(self, *, seconds: float) -> None:
        """Reads that are not consistent answer from a state up to that old, by the engine's clock.

        Transactions are always consistent.
        """
        self.read_lag.begin(seconds)
        self.active = True

    def enforce_throughput(self) -> None:
        """Provisioned tables and indexes refuse what exceeds their throughput.

        Each may use 300 seconds' worth at once, and is full to begin with.
        """
        self.buckets = TokenBuckets(self._clock)
        self.active = True

    def seed(self, seed: int) -> None:
        self._random.seed(seed)

    def clear(self) -> None:
        """Everything off again."""
        with self._mutex:
            self._counts.clear()
            self._rates.clear()
            self.active = False
            self.buckets = None
        self.index_lag.end()
        self.read_lag.end()

    def strikes(self, fault: Fault) -> bool:
        """Whether this request is hit; counts down and draws from the seeded source."""
        with self._mutex:
            if self._counts.get(fault, 0) > 0:
                self._counts[fault] -= 1
                return True
            rate = self._rates.get(fault, 0.0)
            return rate > 0 and self._random.random() < rate

    def meet(self, operation: str, actions: int = 0) -> None:
        """Raises what this request is to meet, before it has done anything."""
        if operation in THROTTLED and self.strikes("throttling"):
            raise ProvisionedThroughputExceededException()
        if operation in WRITES and self.strikes("conflict"):
            raise TransactionConflictException()
        if operation in ("TransactGetItems", "TransactWriteItems") and self.strikes("conflict"):
            raise TransactionCanceledException(conflict_reasons(actions, self._random))

    @property
    def index_lag_is_on(self) -> bool:
        return self.index_lag.seconds is not None

    def _switch(self, fault: Fault, count: int, rate: float) -> None:
        with self._mutex:
            self._counts[fault] = count
            self._rates[fault] = rate
            self.active = True


def conflict_reasons(actions: int, source: random.Random) -> list[dict[str, str]]:
    hit = source.randrange(actions) if actions else 0
    return [
        {"Code": "TransactionConflict", "Message": "Transaction is ongoing for the item"}
        if position == hit
        else {"Code": "None"}
        for position in range(max(actions, 1))
    ]
