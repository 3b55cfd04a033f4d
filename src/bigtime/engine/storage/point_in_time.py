"""The items of a table as of one of its changes, and those that changed between two changes.

Writers go on changing the items meanwhile. There is one pass over the change log and one over the
items, with a snapshot per chunk, so that SQLite's log does not have to grow:

1. First the changes after the moment, in order. For each row number the first one says what was
   there: that item, or nothing. The others do not matter.
2. Then the current items, by row number, without those whose row number has a later change.
3. A writer may change an item between two chunks. So each snapshot first reads the changes that are
   new in it. A change to a row that the second pass has already passed is ignored; one to a row
   still to come is treated as in 1.

So each item that was there is returned exactly once. The changed row numbers are kept as bits.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final, NamedTuple, TypeAlias

import apsw

from bigtime.engine.storage.backfill import chunk_of_rows
from bigtime.engine.storage.change_log import EMPTY, Change, last_sequence_of, read_changes
from bigtime.engine.storage.file import File, all_rows

ItemRow: TypeAlias = tuple[bytes, bytes, int, bytes]
"""Partition blob, sort blob, size, item."""

PAGE_BITS = 16


class Moment(NamedTuple):
    """A table as of one of its changes: its number, its log's number, the change's sequence."""

    table: int
    log: int
    sequence: int


class RowNumbers:
    """A set of row numbers, one bit each, since they are mostly close to each other."""

    def __init__(self) -> None:
        self._pages: dict[int, bytearray] = defaultdict(lambda: bytearray(1 << PAGE_BITS - 3))

    def add(self, number: int) -> bool:
        """Adds a row number; True if it was new."""
        page, place = self._pages[number >> PAGE_BITS], number & ((1 << PAGE_BITS) - 1)
        bit = 1 << (place & 7)
        is_new = not page[place >> 3] & bit
        page[place >> 3] |= bit
        return is_new

    def __contains__(self, number: int) -> bool:
        page, place = self._pages.get(number >> PAGE_BITS), number & ((1 << PAGE_BITS) - 1)
        return page is not None and bool(page[place >> 3] & (1 << (place & 7)))


def rows_at(file: File, moment: Moment) -> Iterator[list[ItemRow]]:
    """The items at a moment, in chunks. Its changes must stay pinned until the last chunk."""
    state = State(moment)
    while not state.is_over:
        with file.snapshot() as reader:
            rows = state.chunk(reader)
        yield rows


class State:
    """How far the two passes have come."""

    def __init__(self, moment: Moment) -> None:
        self._rows, self._log = f"t{moment.table}", f"l{moment.log}"
        self._sequence = moment.sequence
        self._position = 0
        self._changed = RowNumbers()
        self.is_over = False

    def chunk(self, reader: apsw.Connection) -> list[ItemRow]:
        rows = self._undo(read_changes(reader, self._log, self._sequence))
        if self._sequence == last_sequence_of(reader, self._log):
            rows += self._present(reader)
        return rows

    def _undo(self, changes: list[Change]) -> list[ItemRow]:
        rows: list[ItemRow] = []
        for change in changes:
            is_first = self._changed.add(change.id)
            if is_first and change.item is not None and change.id > self._position:
                rows.append((change.partition, change.sort, change.size, change.item))
        if changes:
            self._sequence = changes[-1].sequence
        return rows

    def _present(self, reader: apsw.Connection) -> list[ItemRow]:
        base = chunk_of_rows(reader, self._rows, self._position)
        self.is_over = not base
        if base:
            self._position = base[-1][0]
        return [row[1:] for row in base if row[0] not in self._changed]


# --- Between two changes ------------------------------------------------------------------------
# The items that changed between two points in the change log, as they were before and after. A
# table's change log may hold many changes to few items, or few to many. To bound memory, the keys
# are processed in parts by their hash; each part reads the log once and holds only its own keys:
# 1. For each key, the first change in the window has the item before, the last one has the time.
# 2. The item after is the old item of the first change after the window, or else the current one.
# 3. Writers go on meanwhile. So each snapshot first reads the changes that are new in it.

Key: TypeAlias = tuple[bytes, bytes]

KEYS_AT_ONCE: Final = 50_000
CHANGES_AT_ONCE: Final = 5_000
ITEMS_AT_ONCE: Final = 500


class ChangedItem(NamedTuple):
    """An item's key as blobs, the time of its last change, and the item before and after."""

    partition: bytes
    sort: bytes
    at: float
    old: bytes | None
    new: bytes | None


@dataclass(slots=True)
class Span:
    """The log's data on a key: the first change, the last time, and the first change after."""

    first: int
    at: float
    after: int | None = None


def changed_items(file: File, start: Moment, end: int) -> Iterator[list[ChangedItem]]:
    """The items that changed after `start` and up to `end`, in chunks.

    The changes after `start` must stay pinned until the last chunk.
    """
    parts = -(-(end - start.sequence) // KEYS_AT_ONCE)
    for part in range(parts):
        yield from Part(start, end, part, parts).chunks(file)


class Part:
    """The keys of one part, and how far the log has been read for them."""

    def __init__(self, start: Moment, end: int, part: int, parts: int) -> None:
        self._rows, self._log = f"t{start.table}", f"l{start.log}"
        self._seen, self._end = start.sequence, end
        self._part, self._parts = part, parts
        self._spans: dict[Key, Span] = {}

    def chunks(self, file: File) -> Iterator[list[ChangedItem]]:
        while self._seen < self._end:
            with file.snapshot() as reader:
                self._read(reader)
            yield []
        keys = iter(list(self._spans))
        while chunk := list(islice(keys, ITEMS_AT_ONCE)):
            with file.snapshot() as reader:
                while self._read(reader):
                    pass
                items = [self._item(reader, key) for key in chunk]
            yield items

    def _read(self, reader: apsw.Connection) -> bool:
        """Reads the next chunk of the log; True if there may be more."""
        rows = all_rows(
            reader,
            f"SELECT sequence, at, pk, sk FROM {self._log} WHERE sequence > ? ORDER BY sequence"
            " LIMIT ?",
            (self._seen, CHANGES_AT_ONCE),
        )
        for sequence, at, partition, sort in rows:
            if partition != EMPTY and self._is_ours(partition):
                self._note(sequence, at, (partition, sort))
            self._seen = sequence
        return len(rows) == CHANGES_AT_ONCE

    def _is_ours(self, partition: bytes) -> bool:
        # A partition's blob begins with its hash.
        return int.from_bytes(partition[:4]) % self._parts == self._part

    def _note(self, sequence: int, at: float, key: Key) -> None:
        span = self._spans.get(key)
        if sequence <= self._end:
            if span is None:
                self._spans[key] = Span(sequence, at)
            else:
                span.at = at
        elif span is not None and span.after is None:
            span.after = sequence

    def _item(self, reader: apsw.Connection, key: Key) -> ChangedItem:
        span = self._spans[key]
        before = f"SELECT item FROM {self._log} WHERE sequence = ?"
        old: bytes | None = reader.execute(before, (span.first,)).get
        new: bytes | None
        if span.after is not None:
            new = reader.execute(before, (span.after,)).get
        else:
            query = f"SELECT item FROM {self._rows} WHERE pk = ? AND sk = ?"
            new = reader.execute(query, key).get
        return ChangedItem(*key, span.at, old, new)
