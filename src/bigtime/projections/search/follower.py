"""Keeping an index up to date: built from a scan of its table, then fed from the stream.

1. A generation is built by a scan with consistent reads. Its `built_at` is a moment before the scan
   began, so that the scan has seen every older change.
2. Then the stream is read from its oldest record. Changes older than `built_at` are skipped, with a
   margin for clock skew; the rest are applied. A document is built from the item after the change,
   so that applying a change twice does no harm.
3. Changes are collected, the last one of each key, and committed together with the checkpoint of
   each shard: every second, or when there are 500. A crash loses what was not committed, and the
   next start reads it again from the checkpoints in the index.
4. An index that is missing, damaged, of another version, or further behind than a stream keeps its
   records, is rebuilt, and that is logged. In the meantime the previous one is searched, if
   possible.
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
"""How often the checkpoints are committed while no document changes."""
BUILD_DOCUMENTS: Final = 10_000
PAGE_SIZE: Final = 500
MOST_FAULTS: Final = 3
"""After this many failed commits in a row, the index is rebuilt."""
CLOCKS_DIFFER: Final = timedelta(minutes=5)
LONGEST_AWAY: Final = timedelta(hours=23)
"""A stream keeps its records for 24 hours."""


class IndexUpdater:
    """Keeps one generation of an index up to date, reading the stream from its checkpoints."""

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
        """Reads a page of every shard, and commits when due."""
        begun = self.store.clock()
        turns = self.consumer.run_round()
        if not any(turn.more for turn in turns):
            self.followed_at = begun
        if self.is_due():
            self.commit()
        return turns

    def catch_up(self) -> None:
        """Reads until it is at most seconds behind; records that fail become dead letters."""
        quiet = 0
        while quiet < QUIET_ROUNDS:
            quiet = quiet + 1 if self.is_near() else 0
        self.commit()

    def is_near(self) -> bool:
        """Runs a round, and returns whether it came close to the end of the stream."""
        try:
            return all(turn.is_near for turn in self.run_round())
        except Exception as error:
            if concerns_the_store(error):
                raise
            return False  # the record is retried; after a few attempts it becomes a dead letter

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
    """Maintains one index, in the worker: builds it if necessary, and follows the stream."""

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
        except port.IndexFault:  # the next writer continues from the last commit
            self.faults += 1
            if self.faults % MOST_FAULTS == 0:
                self.updater.writer.mark_damaged()
            self.close()
            raise
        self.faults = 0
        return turns

    def is_outdated(self, updater: IndexUpdater) -> bool:
        """Whether the generation or the table's stream was replaced; checked now and then."""
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
        """Raises NoIndex if the index may lack records, or its stream was replaced."""
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
        """The age of the oldest change that is not searchable yet."""
        if self.updater is None:
            return now - self.begun
        consumption = self.updater.consumer.consumption
        if self.updater.pending:
            return max(timedelta(), now - self.updater.followed_at)
        return consumption.behind(now, begun=self.begun)

    def close(self) -> None:
        """Closes without a commit: uncommitted changes will be read again."""
        if self.updater is not None:
            updater, self.updater = self.updater, None
            try:
                updater.writer.close()
            except port.IndexFault:
                log.warning("search index %s could not be closed", self.name, exc_info=True)


def searchable(index: SearchIndex, entity: Entity | None) -> Document | None:
    """An item's document; None if it is deleted, soft-deleted, or not to be searchable."""
    if entity is None or index.entity.layout.is_deleted(entity):
        return None
    if index.only is not None and not getattr(entity, index.only):
        return None
    return document_of(index, entity)


# Building


def rebuild(store: Store, backend: port.Backend, *, note: Note | None = None) -> int:
    """Rebuilds the index from its table, and returns the number of documents.

    The previous one is searched in the meantime. Memory does not grow with the table.
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
    """The stream of an index's table, and its approximate number of items."""

    stream: str
    items: int


def describe_table(index: SearchIndex) -> Steps[IndexedTable]:
    name = index.entity.layout.table.name
    described: Response = yield Request("DescribeTable", {"TableName": name})
    table = described["Table"]
    return IndexedTable(table.get("LatestStreamArn", ""), table.get("ItemCount", 0))


def scanned_pages(store: Store, index: SearchIndex) -> Iterator[tuple[int, list[Document]]]:
    """Each page of a scan: the number of items scanned, and the documents to index."""
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
    """The documents of items; an item that its entity does not accept is logged and skipped."""
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


# Dead letters: retries of changes whose documents could not be built. An index has the current
# state of an item, so the retry reads the current item. If documents can now be built for some or
# all of them, a new index is built beside the one in use, to which the worker may be writing.


def retry_dead_letters(store: Store, backend: port.Backend) -> RetriedLetters:
    """Rebuilds the index, and removes the letters whose items can now be indexed."""
    handled, _ = try_letters(store, backend.index)
    if handled:
        rebuild(store, backend)
    # Building also reads the stream's last records, and may make dead letters of some again.
    handled, failures = try_letters(store, backend.index)
    for letter in handled:
        store.run(DeadLetters().remove(letter))
    return RetriedLetters(len(handled), tuple(failures))


def try_letters(store: Store, index: SearchIndex) -> tuple[list[DeadLetter], list[str]]:
    """The letters whose items can now be indexed, and why the others cannot."""
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
    """Raises the error that keeps the item from being indexed; a deleted item is fine."""
    table = index.entity.layout.table
    keys = letter.record["dynamodb"]["Keys"]
    asked = Request("GetItem", {"TableName": table.name, "Key": keys, "ConsistentRead": True})
    item = store.send(asked).get("Item")
    layout = layout_in(table)(item) if item else None
    if item and layout is not None and layout.entity is index.entity:
        searchable(index, layout.from_item(item))
