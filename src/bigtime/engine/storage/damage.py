"""Errors for a file that cannot be read or written: retryable ones and permanent ones.

A full or failing disk may recover, so its error is DynamoDB's InternalServerError, which every SDK
retries. A damaged page stays damaged, and a read-only file stays read-only: these are errors of
status 400, which no SDK retries.
"""

from __future__ import annotations

import errno
from typing import Final

import apsw
import orjson

from bigtime.wire import AccessDeniedException, DynamoDBError, InternalServerError, Item

DAMAGE: Final = frozenset(
    {apsw.SQLITE_IOERR_DATA, apsw.SQLITE_IOERR_CORRUPTFS, apsw.SQLITE_IOERR_SHORT_READ}
)
ADVICE: Final = "Asking again does not help: `bigtime engine scrub` finds what is lost."
NO_ROOM: Final = (errno.ENOSPC, errno.EDQUOT)
READ_ONLY: Final = "This file is open read-only: it cannot be changed here."


class UnreadableItem(Exception):
    """The bytes of one item cannot be decoded; the write in progress is rolled back.

    It is not a `DynamoDBError`, since those promise that their work has changed nothing yet.
    """

    def __init__(self, table: str, key: Item) -> None:
        self.table = table
        self.key = key
        super().__init__(f"the item {orjson.dumps(key).decode()} of table {table} is damaged")


class UnreadableRecord(UnreadableItem):
    """The same for a stream record."""

    def __init__(self, table: str, sequence: int) -> None:
        Exception.__init__(self, f"the record {sequence} of table {table}'s stream is damaged")


class DamagedFileException(DynamoDBError):
    """A part of the file is not what was written: an error of this engine, not one of AWS."""


def is_damage(error: BaseException) -> bool:
    """Whether SQLite found a page with a wrong checksum or invalid contents."""
    if isinstance(error, apsw.CorruptError | apsw.NotADBError):
        return True
    return isinstance(error, apsw.IOError) and getattr(error, "extendedresult", 0) in DAMAGE


def is_full(error: BaseException, connection: apsw.Connection) -> bool:
    """Whether the disk has no room for what the connection tried to write.

    SQLite reports a full disk for ENOSPC alone, and an exhausted quota as an I/O error.
    https://sqlite.org/src/file/src/os_unix.c (`unixWrite`)
    """
    if isinstance(error, apsw.IOError) and not is_damage(error):
        return connection.system_errno in NO_ROOM
    return isinstance(error, apsw.FullError)


def explain(error: apsw.Error | UnreadableItem, doing: str) -> DynamoDBError:
    """The error response for a problem with the file; `doing` is "read" or "written"."""
    if isinstance(error, UnreadableItem):
        return DamagedFileException(f"T{str(error)[1:]}. {ADVICE}")
    if is_damage(error):
        return DamagedFileException(f"A page of the file is damaged ({error}). {ADVICE}")
    if isinstance(error, apsw.ReadOnlyError):
        return AccessDeniedException(READ_ONLY)
    if isinstance(error, apsw.FullError):
        return InternalServerError(
            "The disk is full: nothing was written. Retry when it, or your quota on it, has room."
        )
    return InternalServerError(f"The file cannot be {doing} now ({error}): retry.")
