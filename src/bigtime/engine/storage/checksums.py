"""A checksum on every page, by SQLite's own `cksumvfs` (https://sqlite.org/cksumvfs.html).

Disks and memory flip bits, and SQLite would return them: a balance of 1000 becomes one of 9000. So
eight bytes at the end of each page hold a checksum, written with the page and verified whenever the
page is read from disk. The log has checksums of its own, which SQLite verifies when it recovers
from a crash.

Whether a file has checksums is recorded twice: in the header, which reserves the eight bytes, and
in a row of `settings`. The VFS reads only the header, where a flipped bit would switch verification
off. A program without the extension would write pages with wrong checksums: it must not open such a
file.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar, Final

import apsw
from apsw import sqlite_extra

EXTENSION: Final = "cksumvfs"
VFS: Final = "cksmvfs"
RESERVED_BYTES: Final = 8


class LoadedVfs:
    """The VFS that the checksum VFS wraps in this process."""

    lock: ClassVar = threading.Lock()
    over: ClassVar[str | None] = None


def checksum_vfs(over: str | None = None) -> str | None:
    """The name of the VFS, loaded on first use; None where apsw comes without it.

    It wraps the default VFS of the process. Proofs make it wrap one of theirs, which then sees what
    reaches the disk; that applies to every file the process opens afterwards.
    """
    with LoadedVfs.lock:
        default = apsw.vfs_names()[0]
        if LoadedVfs.over != (over or default):
            apsw.set_default_vfs(over or default)
            try:
                load()
            except (sqlite_extra.NotAvailable, apsw.Error, OSError):
                return None
            finally:
                # The extension makes itself the default VFS; other users of SQLite must not be
                # affected.
                apsw.set_default_vfs(default)
            LoadedVfs.over = over or default
        return VFS


def load() -> None:
    connection = apsw.Connection(":memory:")
    try:
        if VFS in apsw.vfs_names():
            apsw.unregister_vfs(VFS)
        sqlite_extra.load(connection, EXTENSION)
    finally:
        connection.close()


def can_check(connection: apsw.Connection) -> bool:
    """Whether this connection goes through the VFS."""
    return connection.pragma("checksum_verification") is not None


def reserve_bytes(connection: apsw.Connection) -> None:
    """Reserves the bytes on each page of an empty file; must precede any other statement."""
    connection.reserve_bytes("main", RESERVED_BYTES)


def has_room(connection: apsw.Connection) -> bool:
    """Whether the file's header reserves the eight bytes on each page."""
    return connection.reserve_bytes("main") == RESERVED_BYTES


def are_compared(connection: apsw.Connection) -> bool:
    """Whether a page with a wrong checksum is an error on this connection."""
    # The VFS returns text.
    return str(connection.pragma("checksum_verification")) == "1"


@contextmanager
def not_compared(connection: apsw.Connection) -> Iterator[None]:
    """Disables verification, so that damaged pages can be read in order to drop them."""
    was_on = are_compared(connection)
    if was_on:
        connection.pragma("checksum_verification", "OFF")
    try:
        yield
    finally:
        if was_on:
            connection.pragma("checksum_verification", "ON")
