"""The reserve for a full disk: a few unused megabytes in a file beside the database.

Without it there is no way out of a full disk: the log takes the last of the space, a checkpoint
needs a little more, and a delete has to be logged before it can free anything. So the reserve is
released when the disk is full: the log is checkpointed and truncated, items can be deleted, and
other writes are rejected until the disk has room for a new reserve. The log is kept shorter than
the reserve, since all of it may be pages that the file does not have yet.

An engine opened on a nearly full disk, such as after a restart, takes a smaller reserve; if there
is no room for that either, it accepts only deletes from the start.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from bigtime.wire import Params

MOST_BYTES: Final = 16 * 1024 * 1024
LEAST_BYTES: Final = 256 * 1024
PARTS: Final = 6  # on a small disk the reserve is one of so many parts of the disk

FULL: Final = (
    "The disk is full: only deletes are taken until it, or your quota on it, has room. Retry then."
)


class Reserve:
    """The file that reserves the space. `is_given_up` while the disk is full."""

    def __init__(self, path: Path) -> None:
        self.path = path.with_name(path.name + "-reserve")
        self.size = MOST_BYTES
        self.is_held = False
        self.is_given_up = False

    def take(self, least: int = MOST_BYTES) -> None:
        """Allocates the reserve; a disk without even `least` bytes is full.

        On a nearly full disk it takes half of what is left. A file system that cannot preallocate
        is used without a reserve.
        """
        try:
            disk = os.statvfs(self.path.parent)
            held = self.path.stat().st_size if self.path.exists() else 0
            wanted = min(MOST_BYTES, disk.f_blocks * disk.f_frsize // PARTS)
            size = max(held, min(wanted, (disk.f_bavail * disk.f_frsize + held) // 2))
            if size < min(least, wanted):
                self.is_given_up = True
                return
            if held < size:
                allocate(self.path, size)
        except OSError:
            with suppress(OSError):
                self.path.unlink(missing_ok=True)
        else:
            self.size = size
            self.is_held, self.is_given_up = True, False

    def is_needed_for(self, log_bytes: int) -> bool:
        """Whether a checkpoint of a log of this length needs the reserve."""
        try:
            disk = os.statvfs(self.path.parent)
        except OSError:
            return False
        return disk.f_bavail * disk.f_frsize < 2 * log_bytes

    def give_up(self) -> None:
        """Frees the space for writes that must still succeed."""
        if self.is_held:
            self.is_held, self.is_given_up = False, True
            with suppress(OSError):
                self.path.unlink(missing_ok=True)

    def is_full_for(self, operation: str, params: Params) -> bool:
        """Whether a write must be rejected; takes the reserve again if there is room by now."""
        if only_deletes(operation, params):
            return False
        self.take()
        return self.is_given_up


def allocate(path: Path, size: int) -> None:
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.posix_fallocate(handle, 0, size)
    finally:
        os.close(handle)


def only_deletes(operation: str, params: Params) -> bool:
    match operation:
        case "DeleteItem" | "DeleteTable" | "DeleteBackup":
            return True
        case "BatchWriteItem":
            requests = [each for table in params["RequestItems"].values() for each in table]
            return all("DeleteRequest" in request for request in requests)
        case "TransactWriteItems":
            return all("Delete" in action for action in params["TransactItems"])
        case "ExecuteStatement" | "BatchExecuteStatement" | "ExecuteTransaction":
            several = params.get("Statements") or params.get("TransactStatements")
            return all(map(is_delete, several or [params]))
        case _:
            return False


def is_delete(params: Params) -> bool:
    """Whether a PartiQL statement is a DELETE, by the verb it begins with."""
    statement: str = params["Statement"]
    return statement.lstrip()[:6].upper() == "DELETE"
