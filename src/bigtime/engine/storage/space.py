"""Free pages go back to the disk, a chunk at a time.

What is deleted is overwritten with zeros (`secure_delete`), so that the next checkpoint takes it
out of the file. Its pages stay for the next writes; when they are many, the last pages of the file
are moved into their places and the file is cut off.
"""

from __future__ import annotations

from typing import Final

import apsw

from bigtime.engine.storage.file import Transaction

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
