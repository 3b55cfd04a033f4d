"""The reserve for a full disk: some unused megabytes beside the file.

A full disk would be a trap. The log takes the last of it, moving the log into the file needs a
little more, and a delete has to be logged before it can free anything. So the reserve is given up
when the disk is full: the log is moved and cut, items can be deleted, and other writes are refused
until the disk has room for a new reserve. The log is kept shorter than the reserve, for all of it
may be pages that the file does not have yet.

An engine that is opened on a disk that is nearly full, as after a restart, takes a smaller one; and
if there is no room for that either, it takes deletes alone from the start.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from bigtime.wire import Params

MOST_BYTES: Final = 16 * 1024 * 1024
LEAST_BYTES: Final = 256 * 1024
PARTS: Final = 6  # a small disk gives one such part

FULL: Final = (
    "The disk is full: only deletes are taken until it, or your quota on it, has room. Retry then."
)


class Reserve:
    """The file that holds the room. `is_given_up` while the disk is full."""

    def __init__(self, path: Path) -> None:
        self.path = path.with_name(path.name + "-reserve")
        self.size = MOST_BYTES
        self.is_held = False
        self.is_given_up = False

    def take(self, least: int = MOST_BYTES) -> None:
        """Sets the room aside; a disk that has not even the least is full.

        Of one that is nearly full, half of what is left is taken. A disk that cannot set room aside
        is used without.
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
        """Whether so long a log could not be moved into the file without the reserve."""
        try:
            disk = os.statvfs(self.path.parent)
        except OSError:
            return False
        return disk.f_bavail * disk.f_frsize < 2 * log_bytes

    def give_up(self) -> None:
        """Frees the room for what must still be written."""
        if self.is_held:
            self.is_held, self.is_given_up = False, True
            with suppress(OSError):
                self.path.unlink(missing_ok=True)

    def is_full_for(self, operation: str, params: Params) -> bool:
        """Whether a write has to wait for room; the reserve is taken again if there is some."""
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
    """Whether a statement of PartiQL is a DELETE; one begins with its verb."""
    statement: str = params["Statement"]
    return statement.lstrip()[:6].upper() == "DELETE"
