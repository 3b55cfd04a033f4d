"""A layer under SQLite that sees every write and every sync of the log.

Each written item carries a mark of its own. The witness finds marks in the bytes that go into the
write-ahead log; when a sync of the log has returned, the marks written before it are on disk. So it
can tell for every acknowledgement whether its sync came first.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager

import apsw

MARK = re.compile(rb"mark-\d{8}")


class Witness:
    """What was seen of the log so far; a sync takes at least `sync_seconds`."""

    def __init__(self, sync_seconds: float = 0.0) -> None:
        self.sync_seconds = sync_seconds
        self.syncs = 0
        self.written: set[bytes] = set()
        self.synced: set[bytes] = set()

    def saw_write(self, data: bytes) -> None:
        self.written.update(MARK.findall(data))

    def saw_sync(self) -> None:
        self.syncs += 1
        self.synced |= self.written
        self.written.clear()

    def has_synced(self, mark: str) -> bool:
        return mark.encode() in self.synced


class WitnessedLog(apsw.VFSFile):
    def __init__(
        self, name: str | apsw.URIFilename | None, flags: list[int], witness: Witness
    ) -> None:
        super().__init__("", name, flags)
        self.witness = witness

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802 (SQLite's name)
        super().xWrite(data, offset)
        self.witness.saw_write(data)

    def xSync(self, flags: int) -> None:  # noqa: N802 (SQLite's name)
        start = time.monotonic()
        super().xSync(flags)
        left = self.witness.sync_seconds - (time.monotonic() - start)
        if left > 0:
            time.sleep(left)
        self.witness.saw_sync()


class WitnessedFiles(apsw.VFS):
    """The system's own files, except for the log."""

    def __init__(self, name: str, witness: Witness) -> None:
        super().__init__(name, base="")
        self.witness = witness

    def xOpen(  # noqa: N802 (SQLite's name)
        self, name: str | apsw.URIFilename | None, flags: list[int]
    ) -> apsw.VFSFile:
        if flags[0] & apsw.SQLITE_OPEN_WAL:
            return WitnessedLog(name, flags, self.witness)
        return super().xOpen(name, flags)


KEPT: list[WitnessedFiles] = []
"""SQLite may call a VFS until the last connection is closed, even after it was unregistered."""


@contextmanager
def watch_syncs(witness: Witness) -> Iterator[str]:
    """The name of a VFS to open an engine with, while the witness watches."""
    name = f"witness-{id(witness)}"
    files = WitnessedFiles(name, witness)
    KEPT.append(files)
    try:
        yield name
    finally:
        files.unregister()
