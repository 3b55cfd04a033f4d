"""Consuming a stream: every record handled at least once, in order per key.

A record's handler returns steps, and consuming is steps too; a store runs both.

1. A round gives every readable shard one turn: concurrently over a network, one after another in
   process. A shard is readable once its parents are done.
2. A turn is one page of a shard: its records are handled in order, and then the checkpoint after
   the last is saved. After a crash in between, the page is handled again, so handlers must be
   idempotent: "at least once".
3. A handler that raises ends its shard's turn. The checkpoint before the failed record is saved,
   the other shards have their turns, and then the round raises the error. The shard's next turn
   begins with the same record. After `max_attempts` attempts the record is set aside as a dead
   letter, and the shard continues with the next: one record that cannot be handled must not
   block all that follow. An error unrelated to the record, such as a lost connection or a missing
   table, does not count as an attempt: the shard waits until it is over.
4. A new consumer starts at the oldest available record, unless it is told to start from now. So
   does a consumer that was away for longer than the 24 hours for which DynamoDB keeps records, or
   whose stream was deleted or replaced. That is logged, because records are lost.
5. Only one process at a time may run the consumer of a given name: two would handle everything
   twice.
6. `behind` says how far behind a consumer is, at any time and from any thread, even while a page
   is being handled or keeps failing.

AWS: "Change data capture for DynamoDB Streams"; "GetRecords", on pages without records
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Streams.html
https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_streams_GetRecords.html
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple, TypeAlias

from bigtime import wire
from bigtime.store.checkpoints import Checkpoint, Checkpoints, TableCheckpoints
from bigtime.store.dead_letters import DeadLetter, DeadLetters
from bigtime.store.driver import Runnable
from bigtime.store.owned_table import pages
from bigtime.store.retries import is_transient
from bigtime.wire import Request, Response, Steps

log = logging.getLogger("bigtime.store")

LIST_EVERY = timedelta(minutes=1)
QUIET_ROUNDS = 3
NEAR_SECONDS = 5.0
MAX_ATTEMPTS = 5

Handler: TypeAlias = Callable[[Response], Runnable[None]]


@dataclass(frozen=True, slots=True)
class ShardTurn:
    """The result of one turn of one shard."""

    consumer: str
    """The name of the consumer."""
    stream: str
    """The ARN of the stream."""
    shard: str
    """The id of the shard."""
    records: int
    """How many records were handled."""
    lag_seconds: float
    """How old the last record was when it was handled."""
    more: bool
    """Whether there is, or may be, more to read now."""
    set_aside: int = 0
    """How many of the records became dead letters."""
    error: Exception | None = None
    """The error that ended the turn before the end of its page."""

    @property
    def is_near(self) -> bool:
        """Whether the shard is read to within a few seconds; steady writes may never let it end."""
        return self.lag_seconds < NEAR_SECONDS if self.records else not self.more


ReadingHook: TypeAlias = Callable[[ShardTurn], None]
LossHook: TypeAlias = Callable[[str], None]
"""Called with the id of a shard some of whose unread records DynamoDB has deleted."""


class Reader:
    """A shard that is being read."""

    def __init__(self, consumption: Consumption, shard: Shard, saved: Checkpoint | None) -> None:
        self.consumption = consumption
        self.shard = shard
        self.checkpoint = saved or Checkpoint(shard.stream)
        self.iterator: str | None = None
        self.start = "TRIM_HORIZON"
        self.waiting_since: float | None = None
        self.failed = "", 0
        self.set_aside = 0

    def turn(self) -> Steps[ShardTurn]:
        page = yield from self.page()
        records = page["Records"]
        if not records:  # only an empty page shows that nothing as old as the last record is left
            self.waiting_since = None
        before = self.set_aside
        handled, error = yield from self.handle_all(records)
        if error is None:
            yield from self.advance(page)
        elif handled:
            yield from self.stop_after(records[handled - 1])
        reading = yield from self.shard_turn(records[:handled])
        return replace(reading, set_aside=self.set_aside - before, error=error)

    def handle_all(self, records: Sequence[Response]) -> Steps[tuple[int, Exception | None]]:
        """Handles records in order; returns how many it handled or set aside, and any error."""
        for handled, record in enumerate(records):
            self.waiting_since = record_time(record)
            try:
                yield from self.consumption.handle(record)
            except Exception as error:
                if concerns_the_store(error) or not (yield from self.give_up(record, error)):
                    return handled, error
        return len(records), None

    def give_up(self, record: Response, error: Exception) -> Steps[bool]:
        """Sets the record aside after its last attempt; returns False if it is to be retried."""
        sequence = record["dynamodb"]["SequenceNumber"]
        failed_before = self.failed[1] if self.failed[0] == sequence else 0
        self.failed = sequence, failed_before + 1
        if self.failed[1] < self.consumption.max_attempts:
            return False
        yield from self.consumption.set_aside(self.shard, record, error)
        self.set_aside += 1
        return True

    def stop_after(self, record: Response) -> Steps[None]:
        """Saves a checkpoint in the middle of a page, so that the next turn begins after it."""
        yield from self.save(Checkpoint(self.shard.stream, record["dynamodb"]["SequenceNumber"]))
        self.iterator = None

    def save(self, checkpoint: Checkpoint) -> Steps[None]:
        yield from self.consumption.save(self.shard, checkpoint)
        self.checkpoint = checkpoint

    def page(self) -> Steps[Response]:
        while True:
            try:
                if self.iterator is None:
                    self.iterator = yield from self.place()
                page: Response = yield Request(
                    "GetRecords",
                    {"ShardIterator": self.iterator, "Limit": self.consumption.page_size},
                )
                return page
            except wire.ExpiredIteratorException:
                self.iterator = None
                self.start = "TRIM_HORIZON"  # the position of LATEST is no longer known
            except wire.TrimmedDataAccessException:
                self.warn("was left for too long, and records are lost: goes on from the oldest")
                self.consumption.note_loss(self.shard.id)
                self.iterator = None
                self.checkpoint = Checkpoint(self.shard.stream)
            except wire.ResourceNotFoundException:
                self.warn("is gone, with whatever was not read")
                self.consumption.note_loss(self.shard.id)
                return {"Records": []}

    def place(self) -> Steps[str]:
        """A shard iterator that starts after the last handled record."""
        params = {"StreamArn": self.shard.stream, "ShardId": self.shard.id}
        if self.checkpoint.sequence is None:
            params["ShardIteratorType"] = self.start
        else:
            params["ShardIteratorType"] = "AFTER_SEQUENCE_NUMBER"
            params["SequenceNumber"] = self.checkpoint.sequence
        given: Response = yield Request("GetShardIterator", params)
        iterator: str = given["ShardIterator"]
        return iterator

    def advance(self, page: Response) -> Steps[None]:
        """Saves the checkpoint after a page, and continues from it."""
        records, following = page["Records"], page.get("NextShardIterator")
        if records or following is None:
            last = records[-1]["dynamodb"]["SequenceNumber"] if records else None
            yield from self.save(
                Checkpoint(
                    self.shard.stream, last or self.checkpoint.sequence, done=following is None
                )
            )
        self.iterator = following

    def shard_turn(self, records: list[Response]) -> Steps[ShardTurn]:
        lag = 0.0
        if records:
            now: datetime = yield wire.Now()
            lag = now.timestamp() - record_time(records[-1])
        return ShardTurn(
            self.consumption.name,
            self.shard.stream,
            self.shard.id,
            len(records),
            max(lag, 0.0),
            # After an empty page, a closed shard may have more: only its end is certain.
            more=bool(records) or self.checkpoint.done or self.shard.closed,
        )

    def warn(self, what: str) -> None:
        log.warning("consumer %s: shard %s %s", self.consumption.name, self.shard.id, what)


def record_time(record: Response) -> float:
    """When a record's change was made, in seconds since 1970."""
    seconds: float = record["dynamodb"]["ApproximateCreationDateTime"]
    return seconds


def concerns_the_store(error: Exception) -> bool:
    """Whether the error comes from the store, so that any record would have failed."""
    return is_transient(error) or isinstance(error, wire.ResourceNotFoundException)


@dataclass(eq=False, repr=False)
class Consumption:
    """What a consumer does, as steps. It remembers its position in each shard."""

    name: str
    stream: str
    handle: Handler
    _: KW_ONLY
    checkpoints: Checkpoints
    dead_letters: DeadLetters | None
    max_attempts: int
    hooks: Sequence[ReadingHook]
    page_size: int
    poll_seconds: float = 1.0
    from_now: bool = False
    on_loss: LossHook | None = None
    is_ready: bool = field(init=False, default=False)
    readers: dict[str, Reader] = field(init=False, default_factory=dict)
    saved: dict[str, Checkpoint] | None = field(init=False, default=None)
    listed_at: datetime | None = field(init=False, default=None)
    read_at: datetime | None = field(init=False, default=None)

    @property
    def keeps_place(self) -> bool:
        """Whether its checkpoints are saved in the store that it reads."""
        return isinstance(self.checkpoints, TableCheckpoints)

    def behind(self, now: datetime, *, begun: datetime) -> timedelta:
        """The age of the oldest unhandled record; if none was read, the greatest that it can be.

        `begun` is when the consumer was started.
        """
        found = [reader.waiting_since for reader in list(self.readers.values())]
        waiting = [
            datetime.fromtimestamp(since, now.tzinfo) for since in found if since is not None
        ]
        return max(timedelta(), now - min(waiting, default=self.read_at or begun))

    def prepare(self) -> Steps[None]:
        """Creates the missing tables, and waits until they are active."""
        while not self.is_ready:
            are_ready = yield from self.checkpoints.ready()
            if self.dead_letters is not None:
                are_ready = (yield from self.dead_letters.ready()) and are_ready
            if not are_ready:
                yield wire.Pause(self.poll_seconds)
            self.is_ready = are_ready

    def drain(self) -> Steps[int]:
        """Runs rounds until nothing is left to read; returns the number of records handled.

        In DynamoDB an empty page may be followed by one with records, so an open shard counts as
        read only after several empty pages.
        """
        handled = quiet = 0
        while quiet < QUIET_ROUNDS:
            readings = yield from self.round()
            handled += sum(reading.records for reading in readings)
            quiet = 0 if any(reading.more for reading in readings) else quiet + 1
        return handled

    def round(self) -> Steps[list[ShardTurn]]:
        """Gives every readable shard one turn; raises the error that ended one of them early."""
        yield from self.prepare()
        now: datetime = yield wire.Now()
        if self.must_list(now):
            yield from self.find_shards()
            self.listed_at = now
        turns = tuple(reader.turn() for reader in self.readers.values())
        readings: list[ShardTurn] = yield wire.Together(turns)
        self.read_at = now
        for reading in readings:
            for hook in self.hooks:
                hook(reading)
        for reading in readings:
            if reading.error is not None:
                raise reading.error
        return readings

    def must_list(self, now: datetime) -> bool:
        """Whether to list the shards: now and then, and when one ends, because it has children."""
        return (
            self.listed_at is None
            or now - self.listed_at >= LIST_EVERY
            or not self.readers
            or any(reader.checkpoint.done for reader in self.readers.values())
        )

    def find_shards(self) -> Steps[None]:
        """Finds the shards to read now, and drops the checkpoints of deleted ones."""
        is_first = self.saved is None
        if self.saved is None:
            self.saved = yield from self.checkpoints.load(self.name)
        shards = yield from list_shards(self.stream)
        if is_first and self.from_now:
            self.pass_over(shards)
        done = {id for id, checkpoint in self.saved.items() if checkpoint.done}
        self.readers = {shard.id: self.reader_of(shard) for shard in readable(shards, done)}
        if is_first and self.from_now:
            for reader in self.readers.values():
                reader.start = "LATEST"
        yield from self.forget_all_but(shards)

    def pass_over(self, shards: Sequence[Shard]) -> None:
        """Marks closed shards as read."""
        assert self.saved is not None
        self.saved |= {
            shard.id: Checkpoint(shard.stream, done=True) for shard in shards if shard.closed
        }

    def reader_of(self, shard: Shard) -> Reader:
        assert self.saved is not None
        reader = self.readers.get(shard.id) or Reader(self, shard, self.saved.get(shard.id))
        reader.shard = shard
        return reader

    def save(self, shard: Shard, checkpoint: Checkpoint) -> Steps[None]:
        assert self.saved is not None
        yield from self.checkpoints.save(self.name, shard.id, checkpoint)
        self.saved[shard.id] = checkpoint

    def set_aside(self, shard: Shard, record: Response, error: Exception) -> Steps[None]:
        """Stores the record as a dead letter, or skips it if the consumer has no table for them."""
        now: datetime = yield wire.Now()
        sequence = record["dynamodb"]["SequenceNumber"]
        log.error(
            "consumer %s: record %s of shard %s failed %d times and is set aside: %r",
            self.name,
            sequence,
            shard.id,
            self.max_attempts,
            error,
        )
        if self.dead_letters is not None:
            letter = DeadLetter(
                consumer=self.name,
                shard=shard.id,
                sequence=sequence,
                error=f"{type(error).__name__}: {error}",
                attempts=self.max_attempts,
                failed_at=now.isoformat(timespec="seconds"),
                record=record,
            )
            yield from self.dead_letters.put(letter)

    def note_loss(self, shard: str) -> None:
        if self.on_loss is not None:
            self.on_loss(shard)

    def forget_all_but(self, shards: Sequence[Shard]) -> Steps[None]:
        """Deletes the checkpoints of shards that no longer exist, in the consumed streams only.

        A shard may be gone with its stream: the stream was disabled long ago, or the table was
        deleted and created again, or restored. What was not read of it is lost.
        """
        assert self.saved is not None
        source_of = str if is_stream_arn(self.stream) else table_of_stream
        sources = {source_of(shard.stream) for shard in shards}
        listed = {shard.id for shard in shards}
        for id, checkpoint in list(self.saved.items()):
            if source_of(checkpoint.stream) in sources and id not in listed:
                if not checkpoint.done:
                    log.warning("consumer %s: shard %s is gone, and not read whole", self.name, id)
                    self.note_loss(id)
                yield from self.checkpoints.forget(self.name, id)
                del self.saved[id]


class NoStream(LookupError):
    """The table has no stream to consume."""


class Shard(NamedTuple):
    id: str
    stream: str
    parents: frozenset[str]
    closed: bool


def is_stream_arn(name: str) -> bool:
    return name.startswith("arn:") and "/stream/" in name


def table_of_stream(arn: str) -> str:
    """The ARN of a stream's table."""
    return arn.partition("/stream/")[0]


def list_shards(stream: str) -> Steps[list[Shard]]:
    """All shards of the stream with that ARN, or of all streams of the table with that name."""
    if is_stream_arn(stream):
        arns = [stream]
    else:
        arns = yield from streams_of(stream)
    shards: list[Shard] = []
    for arn in arns:
        earlier = frozenset(shard.id for shard in shards)
        described = yield from described_shards(arn)
        shards += [shard_from(each, arn, earlier) for each in described]
    return shards


def streams_of(table: str) -> Steps[list[str]]:
    """The ARNs of the table's streams, oldest first: a label is the time of the stream's creation.

    Streams older than the table belong to a deleted table of the same name, and are left out.
    """
    described = yield from described_table(table)
    found = yield from pages(
        Request("ListStreams", {"TableName": table}),
        ("Streams",),
        after=("ExclusiveStartStreamArn", "LastEvaluatedStreamArn"),
    )
    if not found:
        raise NoStream(f"Table {table!r} has no stream: give it a StreamSpecification.")
    own = [each for each in found if is_stream_of(described, each["StreamLabel"])]
    return [each["StreamArn"] for each in sorted(own, key=lambda each: str(each["StreamLabel"]))]


def described_table(table: str) -> Steps[Response]:
    """DescribeTable's answer; empty for a deleted table, because its streams outlive it."""
    try:
        response: Response = yield Request("DescribeTable", {"TableName": table})
    except wire.ResourceNotFoundException:
        return {}
    described: Response = response["Table"]
    return described


def is_stream_of(table: Response, label: str) -> bool:
    """Whether a stream was created with the table or later."""
    made = table.get("CreationDateTime")
    if made is None or label == table.get("LatestStreamLabel"):
        return True
    created = made if isinstance(made, datetime) else datetime.fromtimestamp(made, UTC)
    return datetime.fromisoformat(label).replace(tzinfo=UTC) >= created


def described_shards(arn: str) -> Steps[list[dict[str, Any]]]:
    return pages(
        Request("DescribeStream", {"StreamArn": arn}),
        ("StreamDescription", "Shards"),
        after=("ExclusiveStartShardId", "LastEvaluatedShardId"),
    )


def shard_from(described: dict[str, Any], stream: str, earlier: frozenset[str]) -> Shard:
    parent = described.get("ParentShardId")
    return Shard(
        described["ShardId"],
        stream,
        frozenset({parent}) if parent else earlier,
        "EndingSequenceNumber" in described["SequenceNumberRange"],
    )


def readable(shards: Sequence[Shard], done: Collection[str]) -> list[Shard]:
    """The unfinished shards whose parents are done, or were deleted for their age."""
    waiting = {shard.id for shard in shards} - set(done)
    return [each for each in shards if each.id in waiting and waiting.isdisjoint(each.parents)]
