"""Faults on demand, so that an application's tests can meet what production will bring.

Each may be switched on for the next so many requests, or at a rate from a seeded source, so that
a failing test fails again. All are off until somebody asks, and none of them loses a write.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal, TypeAlias

import apsw

from bigtime.engine.storage.file import File
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

    def __init__(self, file: File) -> None:
        self._file = file
        self._mutex = threading.Lock()
        self._snapshot_lock = threading.Lock()
        self._random = random.Random(0)
        self._counts: dict[Fault, int] = {}
        self._rates: dict[Fault, float] = {}
        self._lag_seconds: float | None = None
        self._snapshot: apsw.Connection | None = None
        self._snapshot_at = 0.0
        self._snapshot_schema = 0
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
        """Global indexes answer from a state up to that old; `float('inf')` freezes them."""
        with self._snapshot_lock:
            self._drop_snapshot()
            self._lag_seconds = seconds
            self._take_snapshot()

    def seed(self, seed: int) -> None:
        self._random.seed(seed)

    def clear(self) -> None:
        """Everything off again."""
        with self._mutex:
            self._counts.clear()
            self._rates.clear()
            self.active = False
        with self._snapshot_lock:
            self._lag_seconds = None
            self._drop_snapshot()

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

    @contextmanager
    def lagging_reader(self) -> Iterator[apsw.Connection]:
        """A connection that still sees the file as it was, for one thread at a time."""
        with self._snapshot_lock:
            if self._lag_seconds is None:
                # Switched off between the caller's look and now.
                with self._file.reader() as reader:
                    yield reader
                return
            if self._is_outdated():
                self._drop_snapshot()
                self._take_snapshot()
            assert self._snapshot is not None
            yield self._snapshot

    @property
    def index_lag_is_on(self) -> bool:
        return self._lag_seconds is not None

    def _is_outdated(self) -> bool:
        """Too old, or from before a table or index was made or dropped, which cannot lag."""
        assert self._lag_seconds is not None
        if time.monotonic() - self._snapshot_at > self._lag_seconds:
            return True
        with self._file.reader() as reader:
            return schema_version(reader) != self._snapshot_schema

    def _take_snapshot(self) -> None:
        snapshot = self._file.take_reader()
        snapshot.execute("BEGIN")
        # A transaction begins to see a state at its first read, which this is.
        self._snapshot_schema = schema_version(snapshot)
        self._snapshot = snapshot
        self._snapshot_at = time.monotonic()

    def _drop_snapshot(self) -> None:
        if self._snapshot is not None:
            self._snapshot.execute("COMMIT")
            self._file.give_reader(self._snapshot)
            self._snapshot = None

    def _switch(self, fault: Fault, count: int, rate: float) -> None:
        with self._mutex:
            self._counts[fault] = count
            self._rates[fault] = rate
            self.active = True


def schema_version(reader: apsw.Connection) -> int:
    version: int = reader.execute("PRAGMA schema_version").get
    return version


def conflict_reasons(actions: int, source: random.Random) -> list[dict[str, str]]:
    hit = source.randrange(actions) if actions else 0
    return [
        {"Code": "TransactionConflict", "Message": "Transaction is ongoing for the item"}
        if position == hit
        else {"Code": "None"}
        for position in range(max(actions, 1))
    ]
