"""Drops rows that are no longer visible, without holding the writer lock for long.

A deleted table or index may hold a gigabyte, and dropping it visits every page. So a large one is
renamed, which is instant and makes it unreachable, and the housekeeper drops it in chunks later.

One with a damaged page is marked as such and dropped without verifying checksums. Nothing else is:
a damaged page that is read unverified and written again would get a valid checksum.

Deleted rows are overwritten with zeros (`secure_delete`), so that the next checkpoint removes them
from the file. Their pages are kept for later writes; when there are many, the last pages of the
file are moved into them and the file is truncated, a chunk at a time.
"""

from __future__ import annotations

from contextlib import nullcontext
from secrets import token_hex
from typing import Final

import apsw

from bigtime.engine.storage.checksums import not_compared
from bigtime.engine.storage.file import Transaction, tables_named

SMALL = 100
DAMAGED = "_damaged"

# By the first letter of an SQL table's name: the columns that identify its rows, and how many rows
# to drop at a time. Items, stream records and changes may be 400 KB or more.
ROW_KEYS = {
    "t": ("id", 100),
    "s": ("sequence", 100),
    "l": ("sequence", 100),
    "i": ("pk, sk, base_key", 1_000),
    "x": ("second, base", 1_000),
    "c": ("pk", 1_000),
    "v": ("pk, sk", 1_000),
    "e": ("change", 250),
}


def discard(transaction: Transaction, rows: str) -> None:
    """Drops a small SQL table, or renames a large one to be dropped in chunks."""
    is_large = transaction.execute(f"SELECT 1 FROM {rows} LIMIT 1 OFFSET {SMALL}").get
    if is_large:
        transaction.execute(f"ALTER TABLE {rows} RENAME TO discarded_{rows}_{token_hex(4)}")
    else:
        transaction.execute(f"DROP TABLE {rows}")


def discard_damaged(rows: str, transaction: Transaction) -> None:
    """Renames an SQL table with unreadable rows, to be dropped in chunks."""
    name = rows if rows.startswith("discarded_") else f"discarded_{rows}_{token_hex(4)}"
    transaction.execute(f"ALTER TABLE {rows} RENAME TO {name}{DAMAGED}")


def tables_to_discard(reader: apsw.Connection) -> list[str]:
    """The SQL tables that are still to be dropped."""
    return tables_named(reader, "discarded_*")


def discard_some(name: str, transaction: Transaction) -> bool:
    """Drops a chunk of the rows, or all the remaining ones; True if there were any."""
    key, count = ROW_KEYS[name.removeprefix("discarded_")[0]]
    is_damaged = name.endswith(DAMAGED)
    with not_compared(transaction.connection) if is_damaged else nullcontext():
        transaction.execute(
            f"DELETE FROM {name} WHERE ({key}) IN (SELECT {key} FROM {name} LIMIT {count})"
        )
        if transaction.connection.changes() < count:
            transaction.execute(f"DROP TABLE {name}")
    return True


# Free pages go back to the disk

CHUNK_PAGES: Final = 256
FEW_PAGES: Final = 1_024
"""Up to this many free pages, or a tenth of the file if that is more, are kept for later writes."""


def has_pages_to_return(connection: apsw.Connection) -> bool:
    """Whether there are enough free pages to shrink the file.

    A file of format 1 has no pointer map, so its pages cannot be moved: `compact` adds one.
    """
    free, pages = (connection.pragma(name) for name in ("freelist_count", "page_count"))
    is_due: bool = free > max(FEW_PAGES, pages // 10)
    return is_due and bool(connection.pragma("auto_vacuum"))


def return_pages(transaction: Transaction) -> bool:
    """Returns one chunk of free pages to the disk; True while there are more."""
    transaction.execute(f"PRAGMA incremental_vacuum({CHUNK_PAGES})").fetchall()
    return has_pages_to_return(transaction.connection)
