"""The items of a table that changed between two of its changes, as they were before and after.

A table's change log may hold many changes to few items, or few to many. So that memory stays flat,
the keys are taken in parts by their hash; each part reads the log once and holds only its own keys:

1. Of each key, the first change in the window has the item before it, and the last one its time.
2. The item after it is what the first change after the window found, or else the present one.
3. Writers go on meanwhile. So each snapshot first reads the changes that are new in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final, NamedTuple, TypeAlias

import apsw

from bigtime.engine.storage.change_log import EMPTY
from bigtime.engine.storage.file import File, all_rows
from bigtime.engine.storage.point_in_time import Moment

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
    """What the log says of a key: its first change, its last time, and the first change after."""

    first: int
    at: float
    after: int | None = None


def changed_items(file: File, start: Moment, end: int) -> Iterator[list[ChangedItem]]:
    """The items that changed after `start` and until `end`, in chunks.

    The changes after `start` must be pinned until the last chunk has come.
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
        """Reads on in the log; True if there may be more."""
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
