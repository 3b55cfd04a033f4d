"""Backfills a new index, or the list of expiring items, from the existing items.

Items are taken by row number, one chunk per transaction, so that no writer waits long and a crash
loses at most a chunk. Writes maintain the new entries from the moment the index exists, so a chunk
only adds what is missing. Counts may be off until then; the last chunk recounts them. An item that
cannot be read is logged and left out, so that it does not keep the others from being found.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TypeAlias

import apsw
import orjson

from bigtime.engine.storage.catalogue import Catalogue
from bigtime.engine.storage.definition import expiry_second
from bigtime.engine.storage.discard import discard_damaged
from bigtime.engine.storage.file import Transaction, all_rows, rows_within
from bigtime.engine.storage.keys import base_key
from bigtime.engine.storage.table import Index, Table
from bigtime.engine.storage.vector_index import VectorIndex, fill_vectors
from bigtime.wire import Item

log = logging.getLogger("bigtime.engine")

CHUNK = 1_000
CHUNK_BYTES = 4 * 1024 * 1024

BaseRow: TypeAlias = tuple[int, bytes, bytes, int, bytes]
"""Row number, partition blob, sort blob, size, item."""


def begin_backfill(transaction: Transaction, table: Table, number: int) -> None:
    """Records that the index of that number (or, for expiry, the table's list) must be filled."""
    transaction.execute("INSERT OR REPLACE INTO backfills VALUES (?, ?, 0)", (number, table.name))


def advance_backfill(catalogue: Catalogue, number: int, transaction: Transaction) -> bool:
    """Backfills one chunk; True while there is more to do."""
    name, position = transaction.execute(
        "SELECT table_name, position FROM backfills WHERE number = ?", (number,)
    ).get or ("", 0)
    table = catalogue.tables_for_writing().get(name)
    indexes = table.all_indexes if table else ()
    index = next((each for each in indexes if each.number == number), None)
    if table is None or (index is None and number != table.number):
        transaction.execute("DELETE FROM backfills WHERE number = ?", (number,))
        return False
    rows = chunk_of_rows(transaction.connection, table.rows, position)
    if index:
        fill_index(transaction, table, index, rows)
    else:
        fill_expiring(transaction, table, rows)
    if rows:
        transaction.execute(
            "UPDATE backfills SET position = ? WHERE number = ?", (rows[-1][0], number)
        )
    if has_more(transaction, table, rows[-1][0] if rows else position):
        return True
    finish_backfill(transaction, catalogue, table, index)
    return False


def chunk_of_rows(connection: apsw.Connection, items: str, position: int) -> list[BaseRow]:
    """The next rows, limited in number and bytes so that the writer is not held up."""
    query = f"SELECT id, pk, sk, size, item FROM {items} WHERE id > ? ORDER BY id LIMIT ?"
    return rows_within(connection, query, (position, CHUNK), size_at=3, most=CHUNK_BYTES)


def has_more(transaction: Transaction, table: Table, position: int) -> bool:
    query = f"SELECT 1 FROM {table.rows} WHERE id > ? LIMIT 1"
    return transaction.execute(query, (position,)).get is not None


def pending_backfills(reader: apsw.Connection) -> list[int]:
    return [number for (number,) in all_rows(reader, "SELECT number FROM backfills")]


def readable(table: Table, rows: Iterable[BaseRow]) -> Iterator[tuple[BaseRow, Item]]:
    """The rows with their decoded items; unreadable ones are logged, in one line."""
    unreadable = []
    for row in rows:
        try:
            yield row, orjson.loads(row[4])
        except orjson.JSONDecodeError:
            unreadable.append(row[0])
    if unreadable:
        log.warning("backfill: %s has rows that cannot be read: %s", table.name, unreadable[:10])


def fill_index(
    transaction: Transaction, table: Table, index: Index | VectorIndex, rows: Iterable[BaseRow]
) -> None:
    if isinstance(index, VectorIndex):
        fill_vectors(transaction.execute, index, readable(table, rows))
        return
    insert = f"INSERT OR IGNORE INTO {index.rows} VALUES (?, ?, ?, ?, ?)"
    for (id, partition, sort, size, _), item in readable(table, rows):
        key = index.codec.blobs(item)
        if key:
            entry = (*key, base_key(partition, sort), id, index.view_size(item, size))
            transaction.execute(insert, entry)


def rebuild_index(table: Table, index: Index, transaction: Transaction) -> None:
    """Rebuilds an index that has a damaged page, in one transaction: other writers wait."""
    discard_damaged(index.rows, transaction)
    transaction.execute(index.create())
    position = 0
    while rows := chunk_of_rows(transaction.connection, table.rows, position):
        fill_index(transaction, table, index, rows)
        position = rows[-1][0]
    recount(index.number, index.rows, transaction)


def fill_expiring(transaction: Transaction, table: Table, rows: Iterable[BaseRow]) -> None:
    assert table.ttl_attribute
    for (id, *_), item in readable(table, rows):
        second = expiry_second(item, table.ttl_attribute)
        if second is not None:
            transaction.execute(
                f"INSERT OR IGNORE INTO {table.expiring} VALUES (?, ?)", (second, id)
            )


def finish_backfill(
    transaction: Transaction, catalogue: Catalogue, table: Table, index: Index | VectorIndex | None
) -> None:
    number = index.number if index else table.number
    transaction.execute("DELETE FROM backfills WHERE number = ?", (number,))
    if index is None:
        return
    recount(number, index.rows, transaction)
    definition = table.definition
    indexes = tuple(
        replace(index, building=False) if index.number == number else index
        for index in definition.indexes
    )
    vectors = tuple(
        replace(each, building=False) if each.number == number else each
        for each in definition.vectors
    )
    catalogue.change(transaction, replace(definition, indexes=indexes, vectors=vectors))


def recount(number: int, rows: str, transaction: Transaction) -> None:
    """Recounts the rows and bytes of a table or an index."""
    transaction.counts.pop(number, None)
    transaction.execute(
        "UPDATE counts SET (items, bytes) ="
        f" (SELECT count(*), coalesce(sum(size), 0) FROM {rows}) WHERE number = ?",
        (number,),
    )
