"""Fault injection, so that an application's tests meet the errors of production.

Each fault can be switched on for a number of requests, or at a rate drawn from a seeded source, so
that a failing test is repeatable. All are off by default, and none of them loses a write.

Below the switches are their implementations: reads of the past, and provisioned throughput as token
buckets.
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
        """Item writes and transactions fail with a transaction conflict, and change nothing."""
        self._switch("conflict", next, rate)

    def leave_unprocessed(self, *, next: int = 0, rate: float = 0.0) -> None:
        """Batch operations return some of their items as unprocessed."""
        self._switch("unprocessed", next, rate)

    def lag_indexes(self, *, seconds: float) -> None:
        """Global indexes are read as of up to `seconds` ago; `float('inf')` freezes them.

        Seconds are those of the engine's clock.
        """
        self.index_lag.begin(seconds)

    def stale_reads(self, *, seconds: float) -> None:
        """Eventually consistent reads are as of up to `seconds` ago, by the engine's clock.

        Transactions are always consistent.
        """
        self.read_lag.begin(seconds)
        self.active = True

    def enforce_throughput(self) -> None:
        """Provisioned tables and indexes reject requests that exceed their throughput.

        Each can use 300 seconds' worth at once, and starts with that much.
        """
        self.buckets = TokenBuckets(self._clock)
        self.active = True

    def seed(self, seed: int) -> None:
        self._random.seed(seed)

    def clear(self) -> None:
        """Switches all faults off."""
        with self._mutex:
            self._counts.clear()
            self._rates.clear()
            self.active = False
            self.buckets = None
        self.index_lag.end()
        self.read_lag.end()

    def strikes(self, fault: Fault) -> bool:
        """Whether the fault applies to this request; counts down and draws from the source."""
        with self._mutex:
            if self._counts.get(fault, 0) > 0:
                self._counts[fault] -= 1
                return True
            rate = self._rates.get(fault, 0.0)
            return rate > 0 and self._random.random() < rate

    def meet(self, operation: str, actions: int = 0) -> None:
        """Raises the fault due for this request, if any, before it has done anything."""
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
    """The cancellation reasons of a transaction that conflicts with another on one item.

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
# A connection that still sees the file as it was a moment ago. It holds a read transaction open,
# for one thread at a time, and begins another when its snapshot has become too old. Creating or
# dropping a table or an index cannot lag: that ends it too.


class Lag:
    """How far reads lag behind; `seconds` is None while they do not."""

    def __init__(self, file: File, clock: Clock) -> None:
        self._file = file
        self._clock = clock
        self._lock = threading.RLock()
        self._snapshot: Connection | None = None
        self._taken_at = 0.0
        self._schema = 0
        self.seconds: float | None = None

    def begin(self, seconds: float) -> None:
        """From now on reads see this moment, until it is `seconds` ago."""
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
            self._drop()  # switched off since the caller checked
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
        # A transaction's snapshot is taken at its first read, which is this one.
        self._schema = schema_version(snapshot)
        self._snapshot = snapshot
        self._taken_at = self._clock()

    def _drop(self) -> None:
        if self._snapshot is not None:
            self._snapshot.execute("COMMIT")
            self._file.give_reader(self._snapshot)
            self._snapshot = None


class LaggingFile:
    """The interface of a file that item reads use, as it was a moment ago."""

    def __init__(self, lag: Lag) -> None:
        self.take_reader = lag.take_reader
        self.give_reader = lag.give_reader
        self.reader = lag.reader
        self.snapshot = lag.reader  # which always sees one snapshot


def schema_version(reader: apsw.Connection) -> int:
    version: int = reader.execute("PRAGMA schema_version").get
    return version


# --- Provisioned throughput ---------------------------------------------------------------------
# Token buckets: a table or index can use 300 seconds' worth at once. A bucket gains the provisioned
# units each second. A request is admitted if no bucket that it draws from is empty, however much it
# takes, so that a large request is never stuck; later ones then wait until the bucket has refilled.
# A rejected request draws nothing. A new bucket is full, like that of a table that has been idle
# for five minutes.
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
    """The units a request uses from a table and, by name, from its global indexes."""

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
        """AWS's error for a request that would use this much; None if it is admitted."""
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
        """Subtracts what a request has used."""
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
