"""The entries that a scrub compares: of indexes, vector indexes, and the list of expiring items.

The items determine which entries there should be. Each is recomputed from its item inside the write
that adds or removes it, since the item may have changed since it was checked.
"""

from __future__ import annotations

from typing import Final, TypeAlias

import apsw
import orjson

from bigtime.engine.storage.backfill import BaseRow
from bigtime.engine.storage.definition import expiry_second
from bigtime.engine.storage.file import Transaction, all_rows
from bigtime.engine.storage.keys import base_blobs, base_key
from bigtime.engine.storage.table import Index, Table
from bigtime.engine.storage.vector_index import VectorIndex
from bigtime.wire import DynamoDBError, Item

CHUNK: Final = 500
UNREADABLE: Final = (ValueError, KeyError, TypeError, AttributeError, DynamoDBError)
"""Errors of decoding bytes that are not an item: not JSON, or other JSON."""

Entry: TypeAlias = tuple[bytes, bytes, bytes, int, int]
"""A row of an index: pk, sk, base key, the item's row, the projected size."""


def entry_of(index: Index, row: BaseRow, item: Item) -> Entry | None:
    """The entry that an item should have; None if it should have none."""
    key = index.codec.blobs(item)
    if key is None:
        return None
    id, partition, sort, size, _ = row
    return (*key, base_key(partition, sort), id, index.view_size(item, size))


def stored_entry(connection: apsw.Connection, index: Index, entry: Entry) -> tuple[int, int] | None:
    query = f"SELECT base, size FROM {index.rows} WHERE pk = ? AND sk = ? AND base_key = ?"
    row: tuple[int, int] | None = connection.execute(query, entry[:3]).get
    return row


def called_for(
    connection: apsw.Connection, table: Table, index: Index, entry: Entry
) -> Entry | None:
    """The entry that an entry's item should have now; the same entry if it cannot be read."""
    query = f"SELECT id, pk, sk, size, item FROM {table.rows} WHERE pk = ? AND sk = ?"
    row = connection.execute(query, base_blobs(entry[2])).get
    if row is None:
        return None
    try:
        return entry_of(index, row, orjson.loads(row[4]))
    except UNREADABLE:
        return entry


def is_called_for(connection: apsw.Connection, table: Table, index: Index, entry: Entry) -> bool:
    wanted = called_for(connection, table, index, entry)
    return wanted is not None and wanted[:4] == tuple(entry)[:4]


def put_entry(table: Table, index: Index, entry: Entry, transaction: Transaction) -> None:
    wanted = called_for(transaction.connection, table, index, entry)
    if wanted is not None:
        transaction.execute(f"INSERT OR REPLACE INTO {index.rows} VALUES (?, ?, ?, ?, ?)", wanted)


def drop_entry(table: Table, index: Index, entry: Entry, transaction: Transaction) -> None:
    if not is_called_for(transaction.connection, table, index, entry):
        transaction.execute(index.delete, entry[:3])


def find_unlisted(
    reader: apsw.Connection, table: Table, place: tuple[int, int]
) -> tuple[list[tuple[int, int]], tuple[int, int] | None]:
    """The expiring items of a chunk that are not listed, and where the next chunk begins."""
    listed = f"SELECT 1 FROM {table.expiring} WHERE second = ? AND base = ?"
    query = f"SELECT id FROM {table.rows} WHERE id > ? ORDER BY id LIMIT {CHUNK}"
    ids = [id for (id,) in all_rows(reader, query, (place[1],))]
    called = [(second, id) for id in ids if (second := called_expiry(reader, table, id, 0))]
    wrong = [each for each in called if reader.execute(listed, each).get is None]
    return wrong, (0, ids[-1]) if ids else None


def find_stray(
    reader: apsw.Connection, table: Table, place: tuple[int, int]
) -> tuple[list[tuple[int, int]], tuple[int, int] | None]:
    """The listed entries of a chunk that no item requires, and where the next chunk begins."""
    query = (
        f"SELECT second, base FROM {table.expiring} WHERE (second, base) > (?, ?)"
        f" ORDER BY second, base LIMIT {CHUNK}"
    )
    rows: list[tuple[int, int]] = all_rows(reader, query, place)
    wrong = [each for each in rows if called_expiry(reader, table, each[1], each[0]) != each[0]]
    return wrong, rows[-1] if rows else None


def called_expiry(connection: apsw.Connection, table: Table, id: int, otherwise: int) -> int | None:
    """The second at which the item in a row expires; `otherwise` if the item cannot be read."""
    assert table.ttl_attribute
    blob = connection.execute(f"SELECT item FROM {table.rows} WHERE id = ?", (id,)).get
    try:
        return None if blob is None else expiry_second(orjson.loads(blob), table.ttl_attribute)
    except UNREADABLE:
        return otherwise


def list_expiry(table: Table, second: int, id: int, transaction: Transaction) -> None:
    """Updates the list entry of an item to match its current state."""
    wanted = called_expiry(transaction.connection, table, id, second)
    if wanted != second:
        transaction.execute(
            f"DELETE FROM {table.expiring} WHERE second = ? AND base = ?", (second, id)
        )
    if wanted:
        transaction.execute(f"INSERT OR IGNORE INTO {table.expiring} VALUES (?, ?)", (wanted, id))


def vector_is_right(connection: apsw.Connection, index: VectorIndex, row: BaseRow) -> bool:
    """Whether the index has the right entry for an item."""
    query = f"SELECT size, keys, vector FROM {index.rows} WHERE base = ?"
    stored = connection.execute(query, (row[0],)).get
    try:
        wanted = index.entry(orjson.loads(row[4]))
    except UNREADABLE:
        return True  # already reported as an unreadable item
    return wanted == (None if stored is None else tuple(stored))


def put_vector(table: Table, index: VectorIndex, id: int, transaction: Transaction) -> None:
    """Rewrites the row of an item, or removes a row that no item requires."""
    blob = transaction.execute(f"SELECT item FROM {table.rows} WHERE id = ?", (id,)).get
    transaction.execute(index.delete, (id,))
    entry = None if blob is None else index.entry(orjson.loads(blob))
    if entry is not None:
        transaction.execute(index.insert, (id, *entry))
