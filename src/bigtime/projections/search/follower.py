"""Keeping an index up to date: built from a scan of its table, then fed from the stream.

1. A generation is built by a scan with consistent reads. Its `built_at` is a moment before the scan
   began, so that the scan has seen every change that is older.
2. Then the stream is read from its oldest record on. What is older than `built_at` is passed over,
   with room for clocks that differ; the rest is applied. A document is made of the item as it is
   after the change, so that to apply a change again does no harm.
3. Changes are collected, the last of each key, and committed together with the place in each shard:
   every second, or at 500 of them. A crash loses what was not committed, and the next start reads
   it again from the place in the index.
4. An index that is missing, of another version, damaged, or was left for longer than a stream keeps
   its records, is built anew, and that is logged. Meanwhile the one before it is searched, if it
   can be.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple, TypeAlias

from bigtime.model import Change, Entity, ItemMismatch, Reaction, SearchIndex, layout_in
from bigtime.projections.search import port
from bigtime.projections.search.documents import Document, document_of, key_text
from bigtime.store import (
    QUIET_ROUNDS,
    Consumer,
    DeadLetter,
    DeadLetters,
    MemoryCheckpoints,
    RetriedLetters,
    ShardTurn,
    Store,
    concerns_the_store,
    consume,
)
from bigtime.wire import Item, Request, Response, Steps

log = logging.getLogger("bigtime.search")

Note: TypeAlias = Callable[[port.BuildProgress], object]

COMMIT_SECONDS: Final = 1.0
COMMIT_DOCUMENTS: Final = 500
IDLE_COMMIT_SECONDS: Final = 60.0
"""How often the place in the stream is committed while no document changes."""
BUILD_DOCUMENTS: Final = 10_000
PAGE_SIZE: Final = 500
MOST_FAULTS: Final = 3
"""So many commits that fail in a row, and the index is built anew."""
CLOCKS_DIFFER: Final = timedelta(minutes=5)
LONGEST_AWAY: Final = timedelta(hours=23)
"""A stream keeps its records for 24 hours."""


class IndexUpdater:
    """Keeps one generation of an index up to date, by the stream from the place in the index."""

    def __init__(self, store: Store, index: SearchIndex, writer: port.Writer) -> None:
        assert writer.progress is not None
        self.store = store
        self.index = index
        self.writer = writer
        self.stream = writer.progress.stream
        self.built_at = writer.progress.built_at
        self.followed_at = writer.progress.followed_at
        self.checkpoints = MemoryCheckpoints(writer.progress.shards)
        self.pending: dict[str, Document | None] = {}
        self.committed_at = time.monotonic()
        table = index.entity.layout.table
        kinds = frozenset(index.entity.layout.type_names)
        self.reaction = Reaction(table, self.note, kinds if table.type_attribute else frozenset())
        self.consumer: Consumer = consume(
            store,
            table.name,
            self.handle,
            name=f"search.{index.name}",
            checkpoints=self.checkpoints,
            page_size=PAGE_SIZE,
        )

    def handle(self, record: Response) -> Steps[None]:
        seconds = record["dynamodb"]["ApproximateCreationDateTime"]
        if seconds >= (self.built_at - CLOCKS_DIFFER).timestamp():
            yield from self.reaction.handle(record)

    def note(self, change: Change[Any]) -> Steps[None]:
        if change.of(self.index.entity):
            self.pending[key_text(change.key)] = searchable(self.index, change.after)
        return
        yield

    def run_round(self) -> list[ShardTurn]:
        """Reads what is there, and commits when it is time to."""
        begun = self.store.clock()
        turns = self.consumer.run_round()
        if not any(turn.more for turn in turns):
            self.followed_at = begun
        if self.is_due():
            self.commit()
        return turns

    def catch_up(self) -> None:
        """Reads until it is seconds behind at the most; what cannot be handled is set aside."""
        quiet = 0
        while quiet < QUIET_ROUNDS:
            quiet = quiet + 1 if self.is_near() else 0
        self.commit()

    def is_near(self) -> bool:
        """Reads on, and returns whether that came near to the end of the stream."""
        try:
            return all(turn.is_near for turn in self.run_round())
        except Exception as error:
            if concerns_the_store(error):
                raise
            return False  # to be tried again; after a few attempts it is a dead letter

    def is_due(self) -> bool:
        waited = time.monotonic() - self.committed_at
        if self.pending:
            return waited >= COMMIT_SECONDS or len(self.pending) >= COMMIT_DOCUMENTS
        return waited >= IDLE_COMMIT_SECONDS

    def commit(self) -> None:
        progress = port.Progress(
            self.stream, self.built_at, self.followed_at, dict(self.checkpoints.places)
        )
        self.writer.write(self.pending, progress)
        self.pending = {}
        self.committed_at = time.monotonic()


class Follower:
    """Keeps one index, in the worker: builds it where that is needed, and follows the stream."""

    def __init__(self, store: Store, backend: port.Backend) -> None:
        self.store = store
        self.backend = backend
        self.name = f"search.{backend.index.name}"
        self.updater: IndexUpdater | None = None
        self.begun = store.clock()
        self.faults = 0
        self.checked_at = time.monotonic()

    def run_round(self) -> list[ShardTurn]:
        if self.updater is not None and self.is_outdated(self.updater):
            self.close()
        if self.updater is None:
            self.updater = IndexUpdater(self.store, self.backend.index, self.open_writer())
        try:
            turns = self.updater.run_round()
        except port.IndexFault:  # the next writer begins at the last commit
            self.faults += 1
            if self.faults % MOST_FAULTS == 0:
                self.updater.writer.mark_damaged()
            self.close()
            raise
        self.faults = 0
        return turns

    def is_outdated(self, updater: IndexUpdater) -> bool:
        """Whether another generation is in use, or the table is another: looked up at times."""
        if updater.writer.is_replaced():
            return True
        if time.monotonic() - self.checked_at < IDLE_COMMIT_SECONDS:
            return False
        self.checked_at = time.monotonic()
        return self.store.run(describe_table(self.backend.index)).stream != updater.stream

    def open_writer(self) -> port.Writer:
        try:
            writer = self.backend.open_writer()
            self.check(writer)
        except port.NoIndex as reason:
            name = self.backend.index.name
            level = logging.INFO if isinstance(reason, port.NotBuilt) else logging.WARNING
            log.log(level, "search index %s is built anew: %s", name, reason)
            count = rebuild(self.store, self.backend)
            log.info("search index %s is built: %d documents", name, count)
            writer = self.backend.open_writer()
        return writer

    def check(self, writer: port.Writer) -> None:
        """Raises NoIndex if the index may lack records, or is of a table that is gone."""
        assert writer.progress is not None
        away = self.store.clock() - writer.progress.followed_at
        table = self.store.run(describe_table(self.backend.index))
        if away <= LONGEST_AWAY and table.stream == writer.progress.stream:
            return
        writer.close()
        if table.stream != writer.progress.stream:
            raise port.NoIndex("its table has been made anew, or its stream")
        hours = away.total_seconds() / 3600
        raise port.NoIndex(f"it was left for {hours:.0f} hours, and a stream keeps records for 24")

    def behind(self, now: datetime) -> timedelta:
        """How old the oldest change is that cannot be found yet."""
        if self.updater is None:
            return now - self.begun
        consumption = self.updater.consumer.consumption
        if self.updater.pending:
            return max(timedelta(), now - self.updater.followed_at)
        return consumption.behind(now, begun=self.begun)

    def close(self) -> None:
        """Without a commit: what is not committed is read again."""
        if self.updater is not None:
            updater, self.updater = self.updater, None
            try:
                updater.writer.close()
            except port.IndexFault:
                log.warning("search index %s could not be closed", self.name, exc_info=True)


def searchable(index: SearchIndex, entity: Entity | None) -> Document | None:
    """The document of an item; None if it is gone, deleted softly, or not to be found."""
    if entity is None or index.entity.layout.is_deleted(entity):
        return None
    if index.only is not None and not getattr(entity, index.only):
        return None
    return document_of(index, entity)


# Building


def rebuild(store: Store, backend: port.Backend, *, note: Note | None = None) -> int:
    """Builds the index anew from its table, and returns how many documents it has.

    The one before it is searched meanwhile. Memory does not grow with the table.
    """
    index = backend.index
    with backend.build() as building:
        built_at = store.clock()
        count = done = uncommitted = 0
        table = store.run(describe_table(index))
        start = port.Progress(table.stream, built_at, built_at)
        for looked_at, documents in scanned_pages(store, index):
            building.writer.add(documents)
            done += looked_at
            count += len(documents)
            uncommitted += len(documents)
            if uncommitted >= BUILD_DOCUMENTS:
                building.writer.write({}, start)
                uncommitted = 0
            for tell in (building.note, note):
                if tell is not None:
                    tell(port.BuildProgress(done, max(table.items, done)))
        building.writer.write({}, start)
        IndexUpdater(store, index, building.writer).catch_up()
        building.publish()
    return count


class IndexedTable(NamedTuple):
    """The stream of an index's table, and about how many items it has."""

    stream: str
    items: int


def describe_table(index: SearchIndex) -> Steps[IndexedTable]:
    name = index.entity.layout.table.name
    described: Response = yield Request("DescribeTable", {"TableName": name})
    table = described["Table"]
    return IndexedTable(table.get("LatestStreamArn", ""), table.get("ItemCount", 0))


def scanned_pages(store: Store, index: SearchIndex) -> Iterator[tuple[int, list[Document]]]:
    """Each page of a scan: how many items were looked at, and the documents of those wanted."""
    table = index.entity.layout.table
    params: dict[str, Any] = {"TableName": table.name, "ConsistentRead": True}
    if table.type_attribute:
        kinds = {f":k{n}": {"S": name} for n, name in enumerate(index.entity.layout.type_names)}
        params["FilterExpression"] = f"#t IN ({', '.join(kinds)})"
        params["ExpressionAttributeNames"] = {"#t": table.type_attribute}
        params["ExpressionAttributeValues"] = kinds
    while True:
        page = store.run(scan_page(params))
        yield page["ScannedCount"], documents_in(index, page["Items"])
        if "LastEvaluatedKey" not in page:
            return
        params["ExclusiveStartKey"] = page["LastEvaluatedKey"]


def scan_page(params: dict[str, Any]) -> Steps[Response]:
    page: Response = yield Request("Scan", params)
    return page


def documents_in(index: SearchIndex, items: list[Item]) -> list[Document]:
    """The documents of items; one that is not as its entity declares is logged and left out."""
    recognise = layout_in(index.entity.layout.table)
    found: list[Document] = []
    for item in items:
        layout = recognise(item)
        if layout is None or layout.entity is not index.entity:
            continue
        try:
            document = searchable(index, layout.from_item(item))
        except ItemMismatch as error:
            log.warning("search index %s leaves an item out: %s", index.name, error)
            continue
        if document is not None:
            found.append(document)
    return found


# Dead letters: changes whose documents could not be made, tried again. An index tells what an item
# is now, so what is tried is the item as it is. If documents can be made of all that failed, or of
# some, the index is built anew beside the one in use: the worker may be writing to that.


def retry_dead_letters(store: Store, backend: port.Backend) -> RetriedLetters:
    """Builds the index anew, and removes the letters whose items can be indexed by now."""
    handled, _ = try_letters(store, backend.index)
    if handled:
        rebuild(store, backend)
    # To build reads the stream's last records too, and may set some of them aside again.
    handled, failures = try_letters(store, backend.index)
    for letter in handled:
        store.run(DeadLetters().remove(letter))
    return RetriedLetters(len(handled), tuple(failures))


def try_letters(store: Store, index: SearchIndex) -> tuple[list[DeadLetter], list[str]]:
    """The letters whose items can be indexed, and why others cannot."""
    handled: list[DeadLetter] = []
    failures: list[str] = []
    for letter in store.run(DeadLetters().of(f"search.{index.name}")):
        try:
            check_item(store, index, letter)
        except (ItemMismatch, ValueError, ArithmeticError) as error:
            failures.append(f"record {letter.sequence}: {error}")
        else:
            handled.append(letter)
    return handled, failures


def check_item(store: Store, index: SearchIndex, letter: DeadLetter) -> None:
    """Raises what keeps the item from being indexed; one that is gone is fine."""
    table = index.entity.layout.table
    keys = letter.record["dynamodb"]["Keys"]
    asked = Request("GetItem", {"TableName": table.name, "Key": keys, "ConsistentRead": True})
    item = store.send(asked).get("Item")
    layout = layout_in(table)(item) if item else None
    if item and layout is not None and layout.entity is index.entity:
        searchable(index, layout.from_item(item))
