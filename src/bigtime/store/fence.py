"""The fence: one region writes at a time, although every replica of a table accepts writes.

Conditions and transactions hold within a region; between regions the last writer wins. So the
invariants of an application (a unique e-mail address, the chain of an audit log) hold only while
a single region writes:

1. The table `Writers`, a global table like those that it guards, has an item for each epoch of a
   system, with the region that writes from then on. The greatest epoch counts. An epoch is written
   once and never changed, so that two regions that disagree end up with the same one.
2. A fenced store reads the table in its own region, at most once a second and before its first
   write. While another region is the writer, writes are refused with `NotTheWriter`; reads
   continue. Stream consumers that store their checkpoints wait until their region is the writer:
   their side effects, such as sending a mail, must not happen in two regions.
3. Before a new epoch begins, the old one is ended: an epoch without a writer is written in the old
   writer's region, and `FENCE_SECONDS` pass. If that region cannot be reached, a person must have
   stopped it.

A process that is suspended for longer than that between its check and its write may still write
once. `bigtime replica compare` finds such writes.

AWS: "How DynamoDB global tables work"
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/V2globaltables_HowItWorks.html
"""

from __future__ import annotations

import os
from collections.abc import Generator, Sequence
from datetime import UTC, datetime
from time import monotonic
from typing import Any, Final, NamedTuple, TypeVar

from bigtime import wire
from bigtime.store.async_store import AsyncStore
from bigtime.store.errors import NotTheWriter
from bigtime.store.middleware import (
    AnswerSteps,
    AsyncMiddlewareTransport,
    MiddlewareTransport,
    drive,
    drive_async,
    pass_on,
)
from bigtime.store.owned_table import OwnedTable
from bigtime.store.store import Store
from bigtime.store.table_names import TableNames

T = TypeVar("T")

VARIABLE: Final = "BIGTIME_FENCE"
WRITERS: Final = OwnedTable("Writers", "PK", "SK")
NOBODY: Final = "nobody"
"""The writer of an epoch during a switch between two regions."""
LOOK_EVERY_SECONDS: Final = 1.0
FENCE_SECONDS: Final = 3.0
"""By then every process has seen the new epoch and finished the writes that it had begun."""
WRITES: Final = frozenset(
    "PutItem UpdateItem DeleteItem BatchWriteItem TransactWriteItems ExecuteStatement"
    " BatchExecuteStatement ExecuteTransaction StartBulkPutItems".split()
)


class Writer(NamedTuple):
    """The region that writes a system's tables, since when, and in which epoch."""

    epoch: int
    """The greatest counts."""
    region: str
    """The region's name; `nobody` during a switch."""
    since: datetime
    """When the epoch began."""

    def __str__(self) -> str:
        return f"{self.region} (epoch {self.epoch}, since {self.since:%Y-%m-%d %H:%M:%S} UTC)"


# --- The table --------------------------------------------------------------------------------


def last_epoch_request(system: str, table: str = WRITERS.name) -> wire.Request:
    params = {
        "TableName": table,
        "KeyConditionExpression": "PK = :system",
        "ExpressionAttributeValues": {":system": {"S": f"WRITER#{system}"}},
        "ScanIndexForward": False,
        "Limit": 1,
        "ConsistentRead": True,
    }
    return wire.Request("Query", params)


def writer_in(items: Sequence[wire.Item]) -> Writer | None:
    if not items:
        return None
    item = items[0]
    since = datetime.fromisoformat(item["since"]["S"]).astimezone(UTC)
    return Writer(int(item["SK"]["S"].removeprefix("EPOCH#")), item["region"]["S"], since)


def read_writer(system: str) -> wire.Steps[Writer | None]:
    """The writer of a system, as this region knows it; None if no epoch has begun."""
    try:
        page: wire.Response = yield last_epoch_request(system)
    except wire.ResourceNotFoundException:
        return None
    return writer_in(page["Items"])


def write_epoch(system: str, writer: Writer) -> wire.Steps[Writer]:
    """Begins an epoch, unless it has begun; returns the writer of that epoch."""
    key = WRITERS.key(f"WRITER#{system}", f"EPOCH#{writer.epoch:08}")
    item = {**key, "region": {"S": writer.region}, "since": {"S": writer.since.isoformat()}}
    params: dict[str, Any] = {
        "TableName": WRITERS.name,
        "Item": item,
        "ConditionExpression": "attribute_not_exists(PK)",
    }
    try:
        yield wire.Request("PutItem", params)
    except wire.ConditionalCheckFailedException:
        get = {"TableName": WRITERS.name, "Key": key, "ConsistentRead": True}
        found: wire.Response = yield wire.Request("GetItem", get)
        there = writer_in([found["Item"]])
        assert there is not None
        return there
    return writer


# --- Transports -------------------------------------------------------------------------------


class Fence:
    """What a store in a region knows about the current writer."""

    def __init__(self, system: str, region: str, names: TableNames | None = None) -> None:
        self.system = system
        self.region = region
        self.writer: Writer | None = None
        self._names = names
        self._look_at = 0.0

    def answer(self, request: wire.Request) -> AnswerSteps:
        """Passes a request on, unless it is a write and another region is the writer."""
        if is_write(request):
            yield from self.may_write()
            self.check()
        return (yield from pass_on(request))

    def may_write(self) -> Generator[wire.Request, wire.Response, bool]:
        """Whether this region is the writer, which is looked up at most once a second."""
        if monotonic() >= self._look_at:
            self.writer = yield from self._look()
            self._look_at = monotonic() + LOOK_EVERY_SECONDS
        return self.is_writer()

    def _look(self) -> Generator[wire.Request, wire.Response, Writer | None]:
        name = WRITERS.name
        table = self._names.real(name) if self._names else name
        try:
            page = yield last_epoch_request(self.system, table)
        except wire.ResourceNotFoundException:
            return None
        return writer_in(page.get("Items", ()))

    def is_writer(self) -> bool:
        return self.writer is None or self.writer.region == self.region

    def check(self) -> None:
        """Refuses a write where another region is the writer."""
        writer = self.writer
        if writer is not None and not self.is_writer():
            where = "try again soon" if writer.region == NOBODY else f"go to {writer.region}"
            raise NotTheWriter(
                f"{self.region} does not write {self.system}: the writer is {writer}. Nothing was"
                f" written; {where}.",
                region=writer.region,
            )


def is_write(request: wire.Request) -> bool:
    return request.operation in WRITES and not is_select(request)


def is_select(request: wire.Request) -> bool:
    """Whether all statements of PartiQL only read."""
    params = request.params
    entries = params.get("Statements") or params.get("TransactStatements") or (params,)
    return all(
        str(entry.get("Statement", "")).lstrip().upper().startswith("SELECT") for entry in entries
    )


class FencedTransport(MiddlewareTransport[Fence]):
    """For a `Store`."""


class AsyncFencedTransport(AsyncMiddlewareTransport[Fence]):
    """For an `AsyncStore`."""


def may_write(store: Store) -> bool:
    """Whether a store's region may write; always True for a store without a fence."""
    fenced = find_fenced(store.transport, FencedTransport)
    return fenced is None or drive(fenced.middleware.may_write(), fenced.carry_out)


async def may_write_async(store: AsyncStore) -> bool:
    fenced = find_fenced(store.transport, AsyncFencedTransport)
    return fenced is None or await drive_async(fenced.middleware.may_write(), fenced.carry_out)


def find_fenced(transport: object, kind: type[T]) -> T | None:
    """The fenced transport in a store's chain of transports."""
    while transport is not None and not isinstance(transport, kind):
        transport = getattr(transport, "transport", None)
    return transport


def read_fence(given: str | None) -> str:
    """The system whose writer counts: as given, or else `BIGTIME_FENCE`; if empty, no fence."""
    return (os.environ.get(VARIABLE, "") if given is None else given).strip()
