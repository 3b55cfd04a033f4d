"""SQLite's log, overwritten instead of truncated, which halves the time of a write to it.

A commit appends frames to the log, one page in each. If the file has to grow, the file system must
allocate space and record the new length: 5.2 us a frame, against 2.3 us for overwriting; a sync has
less to do, too. So once a checkpoint has moved all frames into the database, it fills the log with
zeros instead of truncating it, in two steps:

1. The header is zeroed first, and synced. A log without a header is empty
   (https://sqlite.org/fileformat2.html#walformat). If the power failed while frames were being
   zeroed and the header was still there, SQLite would find the first frames intact, and take them
   for the newest state of their pages.
2. Then the frames, the last ones first, so that no deleted data stays in the log.

A log is still truncated if it has grown too long, if the disk is full, and when the file is closed.
So is a log that was not zeroed to its end, because a process was killed during the second step: a
frame after those in use shows it. The process may also have been killed during a write, which
leaves zeros before frames, so as much as one write is checked. After a power failure any of the
zeros may be missing on disk, so the first checkpoint of a process always truncates the log.

The length of the file is therefore no longer the length of the log. But frames carry the salt of
the header that they were written under, and those with the current salt come first.

The log of an engine in memory is a `RestartedLog`: it is neither synced nor searched for what was
deleted, so zeroing the header is enough.
"""

from __future__ import annotations

import os
import threading
from bisect import bisect_left
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar, Final, TypeAlias

import apsw

HEADER_BYTES: Final = 32
FRAME_HEADER_BYTES: Final = 24
KEPT_BYTES: Final = 64 * 1024 * 1024
"""Far more than the length at which writers ask for a checkpoint, since they go on until it begins:
at 16 MB, half of the checkpoints under steady writes truncated the log."""

FRAME_BYTES: Final = FRAME_HEADER_BYTES + 4_096
CHUNK_BYTES: Final = 30 * FRAME_BYTES
"""Whole frames, since the checksum VFS takes a power of two for a page and adds a checksum; and
under 128 KiB, which is all that SQLite's own VFS writes at once."""

Read: TypeAlias = Callable[[int, int], bytes]
"""Reads a number of bytes at an offset."""
Opened: TypeAlias = str | apsw.URIFilename


class OwnVfs(apsw.VFS):
    """A VFS of ours over another one, registered once in this process under its name."""

    registered: ClassVar[dict[str, OwnVfs]] = {}
    lock: ClassVar = threading.Lock()

    @staticmethod
    def register(name: str, create: Callable[[], OwnVfs]) -> str:
        with OwnVfs.lock:
            if name not in OwnVfs.registered:
                OwnVfs.registered[name] = create()
        return name


class ReusedLog(apsw.VFSFile):
    """The log as a checkpoint opens it; see `page_gaps` for its VFS."""

    _was_cut = False

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        size = self.xFileSize()
        used = used_bytes(self.xRead, size)
        may_keep = self._was_cut and not newsize and size <= KEPT_BYTES
        if may_keep and is_empty_from(self.xRead, used, size):
            self._clear(used)
        else:
            super().xTruncate(newsize)
            self._was_cut = True

    def _clear(self, used: int) -> None:
        if used:
            self.xWrite(bytes(HEADER_BYTES), 0)
            self.xSync(apsw.SQLITE_SYNC_NORMAL)
            for start in reversed(range(HEADER_BYTES, used, CHUNK_BYTES)):
                self.xWrite(bytes(min(CHUNK_BYTES, used - start)), start)


class RestartedLog(apsw.VFSFile):
    """The log of an engine in memory, as a checkpoint opens it."""

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        if newsize or self.xFileSize() > KEPT_BYTES:
            super().xTruncate(newsize)
        else:
            self.xWrite(bytes(HEADER_BYTES), 0)


class LogRestartingVfs(OwnVfs):
    """Opens files through another VFS, and a log as a `RestartedLog`."""

    def __init__(self, name: str, base: str) -> None:
        self._base = base
        super().__init__(name, base)

    def xOpen(self, name: Opened | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        is_log = flags[0] & apsw.SQLITE_OPEN_WAL
        return (RestartedLog if is_log else apsw.VFSFile)(self._base, name, flags)


def log_restarting_vfs(base: str | None) -> str:
    """The name of the VFS over `base`."""
    base = base or apsw.vfs_names()[0]
    name = f"bigtime-log-{base}"
    return OwnVfs.register(name, lambda: LogRestartingVfs(name, base))


def log_bytes(path: Path) -> int:
    """How many bytes of a log are in use; 0 if there is no log."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return 0
    try:
        size = os.fstat(handle).st_size
        return used_bytes(lambda amount, offset: os.pread(handle, amount, offset), size)
    finally:
        os.close(handle)


def used_bytes(read: Read, size: int) -> int:
    """The bytes of the header and of the frames written under it."""
    if size < HEADER_BYTES:
        return size
    header = read(HEADER_BYTES, 0)
    if not any(header):
        return 0
    salt, length = header[16:24], FRAME_HEADER_BYTES + int.from_bytes(header[8:12], "big")

    def is_older(number: int) -> bool:
        return read(len(salt), HEADER_BYTES + number * length + 8) != salt

    frames = bisect_left(range((size - HEADER_BYTES) // length), True, key=is_older)
    return HEADER_BYTES + frames * length


def is_empty_from(read: Read, used: int, size: int) -> bool:
    """Whether whole frames of zeros follow the bytes in use, for the length of one write."""
    start = max(used, HEADER_BYTES)
    left = size - start
    if left <= 0:
        return True
    amount = min(CHUNK_BYTES, left)
    return left % FRAME_BYTES == 0 and read(amount, start) == bytes(amount)
