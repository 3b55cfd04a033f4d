"""A checksum on every page, by SQLite's own `cksumvfs` (https://sqlite.org/cksumvfs.html).

Disks and memory flip bits, and SQLite would serve them: a balance of 1000 becomes one of 9000. So
eight bytes at the end of each page hold a checksum, written with the page and compared whenever
the page is read from the disk. The log has checksums of its own, which SQLite compares when it
recovers from a crash.

Whether a file has them is said twice: by the header, which sets the eight bytes aside, and by a
row of `settings`. For the header is where the VFS looks, and a flipped bit there would switch the
comparison off. A program without the extension would write pages whose checksums are wrong: it
must not open such a file.
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
    """Over which VFS the checksums stand in this process."""

    lock: ClassVar = threading.Lock()
    over: ClassVar[str | None] = None


def checksum_vfs(over: str | None = None) -> str | None:
    """The name of the VFS, loaded on first use; None where apsw comes without it.

    It stands over the default VFS of the process. Proofs put it over one of theirs, which then
    sees what reaches the disk; that holds for whatever the process opens next.
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
                # It makes itself the default, which is not for us to choose for others.
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
    """Whether the VFS stands between this connection and the disk."""
    return connection.pragma("checksum_verification") is not None


def reserve_bytes(connection: apsw.Connection) -> None:
    """Sets room aside on each page of a file that has no page yet. Nothing may come before it."""
    connection.reserve_bytes("main", RESERVED_BYTES)


def has_room(connection: apsw.Connection) -> bool:
    """Whether each page has the eight bytes, by the header of the file."""
    return connection.reserve_bytes("main") == RESERVED_BYTES


def are_compared(connection: apsw.Connection) -> bool:
    """Whether a page with a wrong checksum is an error on this connection."""
    # The VFS answers in text.
    return str(connection.pragma("checksum_verification")) == "1"


@contextmanager
def not_compared(connection: apsw.Connection) -> Iterator[None]:
    """Lets damaged pages be read, to get rid of them."""
    was_on = are_compared(connection)
    if was_on:
        connection.pragma("checksum_verification", "OFF")
    try:
        yield
    finally:
        if was_on:
            connection.pragma("checksum_verification", "ON")
