"""Faults on demand, so that an application's tests can meet what production will bring.

Each may be switched on for the next so many requests, or at a rate from a seeded source, so that
a failing test fails again. All are off until they are asked for, and none of them loses a write.

Behind the switches are reads of the past, and provisioned throughput as token buckets.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Literal, NamedTuple, TypeAlias

import apsw

from bigtime import wire
from bigtime.engine.storage.clock import Clock
from bigtime.engine.storage.definition import TableDefinition, Throughput
from bigtime.engine.storage.file import Connection, File

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
            raise wire.ProvisionedThroughputExceededException()
        if operation in WRITES and self.strikes("conflict"):
            raise wire.TransactionConflictException()
        if operation in ("TransactGetItems", "TransactWriteItems") and self.strikes("conflict"):
            raise wire.TransactionCanceledException(conflict_reasons(actions, self._random))

    @property
    def index_lag_is_on(self) -> bool:
        return self.index_lag.seconds is not None

    def _switch(self, fault: Fault, count: int, rate: float) -> None:
        with self._mutex:
            self._counts[fault] = count
            self._rates[fault] = rate
            self.active = True


def conflict_reasons(actions: int, source: random.Random) -> list[dict[str, str]]:
    """The reasons of a transaction one of whose items another transaction has.

    https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
    """
    hit = source.randrange(actions) if actions else 0
    return [
        {"Code": "TransactionConflict", "Message": "Transaction is ongoing for the item"}
        if position == hit
        else {"Code": "None"}
        for position in range(max(actions, 1))
    ]


# --- Reads of the past --------------------------------------------------------------------------
# A connection that still sees the file as it was a moment ago.
#
# It holds a read transaction open, for one thread at a time, and begins another when the state that
# it sees has become too old. A table or index that is made or dropped cannot lag: that ends it too.


class Lag:
    """How far reads are behind; `seconds` is None while they are not."""

    def __init__(self, file: File, clock: Clock) -> None:
        self._file = file
        self._clock = clock
        self._lock = threading.RLock()
        self._snapshot: Connection | None = None
        self._taken_at = 0.0
        self._schema = 0
        self.seconds: float | None = None

    def begin(self, seconds: float) -> None:
        """From now on reads see this moment, until it is that long ago."""
        with self._lock:
            self._drop()
            self.seconds = seconds
            self._take()

    def end(self) -> None:
        with self._lock:
            self.seconds = None
            self._drop()

    def take_reader(self) -> Connection:
        self._lock.acquire()
        try:
            if self._snapshot is None or self._is_outdated():
                self._drop()
                self._take()
        except BaseException:
            self._lock.release()
            raise
        assert self._snapshot is not None
        return self._snapshot

    def give_reader(self, reader: Connection) -> None:
        if self.seconds is None:
            self._drop()  # switched off between the caller's look and now
        self._lock.release()

    @contextmanager
    def reader(self) -> Iterator[apsw.Connection]:
        reader = self.take_reader()
        try:
            yield reader
        finally:
            self.give_reader(reader)

    def _is_outdated(self) -> bool:
        if self.seconds is None or self._clock() - self._taken_at > self.seconds:
            return True
        with self._file.reader() as reader:
            return schema_version(reader) != self._schema

    def _take(self) -> None:
        snapshot = self._file.take_reader()
        snapshot.execute("BEGIN")
        # A transaction begins to see a state at its first read, which this is.
        self._schema = schema_version(snapshot)
        self._snapshot = snapshot
        self._taken_at = self._clock()

    def _drop(self) -> None:
        if self._snapshot is not None:
            self._snapshot.execute("COMMIT")
            self._file.give_reader(self._snapshot)
            self._snapshot = None


class LaggingFile:
    """The part of a file that reads of items use, as it was a moment ago."""

    def __init__(self, lag: Lag) -> None:
        self.take_reader = lag.take_reader
        self.give_reader = lag.give_reader
        self.reader = lag.reader
        self.snapshot = lag.reader  # which sees one state anyhow


def schema_version(reader: apsw.Connection) -> int:
    version: int = reader.execute("PRAGMA schema_version").get
    return version


# --- Provisioned throughput ---------------------------------------------------------------------
# Token buckets: a table or index may use 300 seconds' worth at once.
#
# A bucket fills by the provisioned units each second. A request is admitted while there is
# something in each bucket that it draws from, whatever it takes, so that one large request is never
# stuck; the next ones then wait until the bucket has filled again. What is not admitted draws
# nothing. A new bucket is full, as that of a table which nobody has used for five minutes.
#
# AWS: "Burst and adaptive capacity"
# https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/burst-adaptive-capacity.html

BURST_SECONDS = 300.0

Kind: TypeAlias = Literal["read", "write"]

OF_INDEXES = (
    "The level of configured provisioned throughput for one or more global secondary indexes of "
    "the table was exceeded. Consider provisioning more throughput for the under-provisioned "
    "global secondary indexes with the UpdateTable API"
)


class Draft(NamedTuple):
    """What a request uses of a table and, by name, of its global indexes."""

    table: TableDefinition
    arn: str
    kind: Kind
    units: float
    index_units: Mapping[str, float]


class TokenBuckets:
    """The buckets of all tables and global indexes, by their numbers in the file."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._mutex = threading.Lock()
        self._levels: dict[tuple[int, Kind], tuple[float, float]] = {}

    def lack(self, draft: Draft) -> wire.ProvisionedThroughputExceededException | None:
        """What AWS says to a request that would use so much; None if it is admitted."""
        table, arn, kind, units, index_units = draft
        if table.billing_mode != "PROVISIONED":
            return None
        with self._mutex:
            if units and self._level(table.number, kind, table.throughput) <= 0:
                return throughput_exceeded(None, f"Table{kind.title()}", arn)
            for index in table.indexes:
                if index_units.get(index.name):
                    if self._level(index.number, kind, index.throughput) <= 0:
                        index_arn = f"{arn}/index/{index.name}"
                        return throughput_exceeded(OF_INDEXES, f"Index{kind.title()}", index_arn)
        return None

    def draw(self, draft: Draft) -> None:
        """Takes what a request has used."""
        table, _, kind, units, index_units = draft
        if table.billing_mode != "PROVISIONED":
            return
        with self._mutex:
            self._draw(table.number, kind, table.throughput, units)
            for index in table.indexes:
                used = index_units.get(index.name, 0.0)
                self._draw(index.number, kind, index.throughput, used)

    def _draw(self, number: int, kind: Kind, throughput: Throughput, units: float) -> None:
        if units:
            level = self._level(number, kind, throughput)
            self._levels[number, kind] = (level - units, self._clock())

    def _level(self, number: int, kind: Kind, throughput: Throughput) -> float:
        rate = throughput.read if kind == "read" else throughput.write
        most = rate * BURST_SECONDS
        level, since = self._levels.get((number, kind), (most, 0.0))
        return min(most, level + rate * max(0.0, self._clock() - since))


def throughput_exceeded(
    message: str | None, what: str, arn: str
) -> wire.ProvisionedThroughputExceededException:
    reason = {"reason": f"{what}ProvisionedThroughputExceeded", "resource": arn}
    return wire.ProvisionedThroughputExceededException(message, reasons=[reason])
