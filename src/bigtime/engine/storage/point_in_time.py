"""The items of a table as they were after one of its changes, while others go on changing them.

It is one pass over the change log and one over the items, a chunk to a snapshot, so that no log of
SQLite's has to grow meanwhile:

1. First the changes after the moment, in order. Of each row number the first one tells what was
   there: that item, or nothing. The others do not matter.
2. Then the present items, by row number, without those whose row number has changed.
3. A writer may change an item between two chunks. So each snapshot first reads the changes that
   are new in it. One of a row that the second pass has gone by tells nothing new; one of a row
   still to come is treated as in 1.

So each item that was there comes exactly once. The row numbers that have changed are kept as bits.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

import apsw

from bigtime.engine.storage.backfill import chunk_of_rows
from bigtime.engine.storage.change_log import Change, last_sequence_of, read_changes
from bigtime.engine.storage.file import File

ItemRow: TypeAlias = tuple[bytes, bytes, int, bytes]
"""Partition blob, sort blob, size, item."""

PAGE_BITS = 16


class Moment(NamedTuple):
    """A table after one of its changes: its number, that of its log, and the change's sequence."""

    table: int
    log: int
    sequence: int


class RowNumbers:
    """A set of row numbers, which are mostly close to each other: a bit for each."""

    def __init__(self) -> None:
        self._pages: dict[int, bytearray] = defaultdict(lambda: bytearray(1 << PAGE_BITS - 3))

    def add(self, number: int) -> bool:
        """True if it was not there yet."""
        page, place = self._pages[number >> PAGE_BITS], number & ((1 << PAGE_BITS) - 1)
        bit = 1 << (place & 7)
        is_new = not page[place >> 3] & bit
        page[place >> 3] |= bit
        return is_new

    def __contains__(self, number: int) -> bool:
        page, place = self._pages.get(number >> PAGE_BITS), number & ((1 << PAGE_BITS) - 1)
        return page is not None and bool(page[place >> 3] & (1 << (place & 7)))


def rows_at(file: File, moment: Moment) -> Iterator[list[ItemRow]]:
    """The items of that moment, in chunks. Its changes must be pinned until the last has come."""
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
