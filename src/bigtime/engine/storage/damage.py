"""What is said of a file that cannot be read or written: whether asking again can help.

A full or stumbling disk may recover, so its error is DynamoDB's InternalServerError, which every
SDK sends again. A damaged page stays damaged, and a read-only file stays as it is: these are
errors of status 400, which no SDK repeats.
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
    """The bytes of one item are no item any more; what was being written is rolled back.

    It is no `DynamoDBError`, for those promise that their work has changed nothing yet.
    """

    def __init__(self, table: str, key: Item) -> None:
        self.table = table
        self.key = key
        super().__init__(f"the item {orjson.dumps(key).decode()} of table {table} is damaged")


class UnreadableRecord(UnreadableItem):
    """The same of a record in a stream."""

    def __init__(self, table: str, sequence: int) -> None:
        Exception.__init__(self, f"the record {sequence} of table {table}'s stream is damaged")


class DamagedFileException(DynamoDBError):
    """A part of the file is not what was written: an error of this engine, not one of AWS."""


def is_damage(error: BaseException) -> bool:
    """Whether SQLite found a page with a wrong checksum, or one that makes no sense."""
    if isinstance(error, apsw.CorruptError | apsw.NotADBError):
        return True
    return isinstance(error, apsw.IOError) and getattr(error, "extendedresult", 0) in DAMAGE


def is_full(error: BaseException, connection: apsw.Connection) -> bool:
    """Whether there is no room on the disk for what the connection was to write.

    SQLite says so of ENOSPC alone; a quota that is used up it takes for a disk that fails.
    https://sqlite.org/src/file/src/os_unix.c (`unixWrite`)
    """
    if isinstance(error, apsw.IOError) and not is_damage(error):
        return connection.system_errno in NO_ROOM
    return isinstance(error, apsw.FullError)


def explain(error: apsw.Error | UnreadableItem, doing: str) -> DynamoDBError:
    """What a request is told of trouble with the file; `doing` is "read" or "written"."""
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
