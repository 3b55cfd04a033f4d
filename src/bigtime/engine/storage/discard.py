"""Deleting rows that are no longer visible, without holding the writer lock for long.

A deleted table or index may hold a gigabyte, and dropping it visits every page. So what is large
is renamed, which is instant and makes it unreachable, and the housekeeper takes it apart later.

What has a damaged page is marked so: it is taken apart without looking at checksums. Nothing else
is, for a page that is read so and written again would get a right checksum with what is wrong.

What is deleted is overwritten with zeros (`secure_delete`), so that the next checkpoint takes it
out of the file. Its pages stay for the next writes; when they are many, the last pages of the file
are moved into their places and the file is cut off, a chunk at a time.
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

# By the first letter of a name in the file: the columns that tell its rows apart, and how many
# of them go at a time. Items, stream records and changes may have 400 KB and more.
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
    """Drops rows that are few, and renames many to be dropped bit by bit."""
    is_large = transaction.execute(f"SELECT 1 FROM {rows} LIMIT 1 OFFSET {SMALL}").get
    if is_large:
        transaction.execute(f"ALTER TABLE {rows} RENAME TO discarded_{rows}_{token_hex(4)}")
    else:
        transaction.execute(f"DROP TABLE {rows}")


def discard_damaged(rows: str, transaction: Transaction) -> None:
    """Renames rows that cannot all be read, to be dropped bit by bit."""
    name = rows if rows.startswith("discarded_") else f"discarded_{rows}_{token_hex(4)}"
    transaction.execute(f"ALTER TABLE {rows} RENAME TO {name}{DAMAGED}")


def tables_to_discard(reader: apsw.Connection) -> list[str]:
    """What is still to be taken apart."""
    return tables_named(reader, "discarded_*")


def discard_some(name: str, transaction: Transaction) -> bool:
    """Drops a chunk of the rows, or all that is left; True if there was anything."""
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
"""Free pages up to this number, or a tenth of the file, are left for the next writes."""


def has_pages_to_return(connection: apsw.Connection) -> bool:
    """Whether so many pages are free that the file should be shorter.

    A file of format 1 has no map of its pages, so that none can be moved: `compact` makes one.
    """
    free, pages = (connection.pragma(name) for name in ("freelist_count", "page_count"))
    is_due: bool = free > max(FEW_PAGES, pages // 10)
    return is_due and bool(connection.pragma("auto_vacuum"))


def return_pages(transaction: Transaction) -> bool:
    """Gives one chunk of free pages back to the disk; True while there are more to give."""
    transaction.execute(f"PRAGMA incremental_vacuum({CHUNK_PAGES})").fetchall()
    return has_pages_to_return(transaction.connection)
