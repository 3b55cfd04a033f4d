"""Pages without remains of deleted rows: a VFS that clears the gap in each page it writes.

`secure_delete` overwrites a deleted row in its current place. But when SQLite splits a page, it
copies some rows to another one and leaves the old copies in the gap between the list of cells and
the cells (https://sqlite.org/fileformat2.html#b_tree_pages, "unallocated area"). A row that is
deleted later is overwritten only in its new place, and can still be read in the gap of the old
page: about one row in three thousand, in a test with random sizes.

Nothing reads a gap, so clearing it is safe. Checkpoints do it, on a connection of their own over
this VFS, so that readers and writers do not pay for it. A crash during a checkpoint leaves the log,
as always, and the next checkpoint repeats the work.

Each page needs Python's GIL. Busy threads release it every 5 ms, so that a checkpoint of 2,700
pages beside four of them would take 7 s; with `quick_turns` they switch a hundred times as often
meanwhile, and it takes 0.4 s (0.1 s without clearing).

Only b-tree pages may be changed. The first byte identifies them, with two exceptions:

1. The pages of the pointer map begin with small numbers too. Their positions are known: page 2, and
   every 818th after it (820th without checksums).
2. Pages of the free list, and overflow pages of long rows, begin with the number of another page:
   from 2 ** 25 pages on (128 GB) it may look like a b-tree. Files that large are not changed at
   all.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar, Final, TypeAlias

import apsw

Opened: TypeAlias = str | apsw.URIFilename

PAGE_BYTES: Final = 4_096
LARGEST_FILE: Final = (1 << 24) * PAGE_BYTES  # half of what is safe: the log may be long
FILE_HEADER_BYTES: Final = 100
MAGIC: Final = b"SQLite format 3\0"
RESERVED_AT: Final = 20  # https://sqlite.org/fileformat2.html#the_database_header
POINTER_BYTES: Final = 5  # per entry in the pointer map
CELL_LIST: Final = {2: 12, 5: 12, 10: 8, 13: 8}
"""Where the list of cells begins, by the first byte of a b-tree page."""


QUICK_SECONDS: Final = 0.000_05


class QuickTurns:
    """How many checkpoints this process is running, and the switch interval before the first."""

    lock: ClassVar = threading.Lock()
    count: ClassVar = 0
    usual: ClassVar = 0.0


@contextmanager
def quick_turns() -> Iterator[None]:
    """Lets this thread get the GIL often, however busy the other threads are."""
    with QuickTurns.lock:
        if QuickTurns.count == 0:
            QuickTurns.usual = sys.getswitchinterval()
            sys.setswitchinterval(min(QuickTurns.usual, QUICK_SECONDS))
        QuickTurns.count += 1
    try:
        yield
    finally:
        with QuickTurns.lock:
            QuickTurns.count -= 1
            if QuickTurns.count == 0:
                sys.setswitchinterval(QuickTurns.usual)


class GapClearingVfs(apsw.VFS):
    """Opens files through another VFS, and clears gaps in the pages written to the database."""

    made: ClassVar[dict[str, GapClearingVfs]] = {}
    lock: ClassVar = threading.Lock()

    def __init__(self, name: str, base: str, reserved: int | None) -> None:
        self._base = base
        self._reserved = reserved
        super().__init__(name, base)

    def xOpen(self, name: Opened | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        if flags[0] & apsw.SQLITE_OPEN_MAIN_DB:
            return GapClearingFile(self._base, name, flags, self._reserved)
        return apsw.VFSFile(self._base, name, flags)


class GapClearingFile(apsw.VFSFile):
    """A database file; `reserved` as in `register_vfs`."""

    def __init__(
        self,
        base: str,
        name: Opened | None,
        flags: list[int],
        reserved: int | None,
    ) -> None:
        self._reserved = reserved
        # How many pages each page of the pointer map covers, itself included.
        self._map_interval = (
            None if reserved is None else (PAGE_BYTES - reserved) // POINTER_BYTES + 1
        )
        self._is_written = False
        super().__init__(base, name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        if not self._is_written:
            self._begin(offset)
        if len(data) == PAGE_BYTES and not self._is_pointer_map(offset // PAGE_BYTES + 1):
            data = clear_gap(data, FILE_HEADER_BYTES if offset == 0 else 0)
        super().xWrite(data, offset)

    def _begin(self, offset: int) -> None:
        """Writes a header into a file whose first page comes later.

        cksumvfs decides by the header whether to write checksums, and VACUUM INTO writes the first
        page last if not all pages fit in the cache.
        """
        if offset and self._reserved and not self.xFileSize():
            header = bytearray(MAGIC.ljust(FILE_HEADER_BYTES, b"\0"))
            header[RESERVED_AT] = self._reserved
            super().xWrite(bytes(header), 0)
        self._is_written = True

    def _is_pointer_map(self, number: int) -> bool:
        return self._map_interval is not None and (number - 2) % self._map_interval == 0


def clear_gap(page: bytes, header: int = 0) -> bytes:
    """The page with zeros between its list of cells and its cells, if it is a b-tree page."""
    begins = CELL_LIST.get(page[header])
    if begins is None:
        return page
    cells = int.from_bytes(page[header + 3 : header + 5], "big")
    first, last = header + begins + 2 * cells, int.from_bytes(page[header + 5 : header + 7], "big")
    if not first < last <= len(page):
        return page
    return page[:first] + bytes(last - first) + page[last:]


def gap_clearing_vfs(connection: apsw.Connection, base: str | None) -> str | None:
    """The name of the VFS over `base` for a connection's file; None for other page sizes."""
    if connection.pragma("page_size") != PAGE_BYTES:
        return None
    reserved = connection.reserve_bytes("main") if connection.pragma("auto_vacuum") else None
    return register_vfs(base, reserved)


def register_vfs(base: str | None, reserved: int | None) -> str:
    """`reserved` is the bytes reserved per page; None for a file without a pointer map."""
    base = base or apsw.vfs_names()[0]
    name = f"bigtime-gaps-{reserved}-{base}"
    with GapClearingVfs.lock:
        if name not in GapClearingVfs.made:
            GapClearingVfs.made[name] = GapClearingVfs(name, base, reserved)
    return name
