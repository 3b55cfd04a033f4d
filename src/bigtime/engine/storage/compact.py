"""Rewrites a file: as small as possible, and with a checksum on each page.

The new file is written beside the old one, synced, and renamed over it, so that a crash leaves one
or the other. No other process may have the file open: it would go on using the unlinked one. The
writer lock and SQLite's exclusive lock keep others out until it is done.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import apsw

from bigtime.engine.storage import checksums
from bigtime.engine.storage.damage import is_damage
from bigtime.engine.storage.format import (
    INCREMENTAL,
    WITH_CHECKSUMS,
    FileFormatError,
    check_checksums,
    check_format,
    is_empty,
    upgrade,
)
from bigtime.engine.storage.page_gaps import register_vfs
from bigtime.formats import file_lock, sync

HOLD_MILLISECONDS = 1_000


class CompactedFile(NamedTuple):
    """The size of the file before and after."""

    bytes_before: int
    bytes_after: int
    has_checksums: bool


def compact(path: Path) -> CompactedFile:
    """Rewrites the file; raises `FileFormatError` with an explanation if it cannot."""
    path = path.resolve()
    if not path.is_file():
        raise FileFormatError(f"{path} is not there.")
    new = path.with_name(path.name + "-compact")
    try:
        with writer_lock(path), alone(path) as connection, removed_at_the_end(new):
            before = path.stat().st_size
            check_room(path, before)
            has_checksums = write_anew(connection, new)
            put_in_place(new, path)
            return CompactedFile(before, path.stat().st_size, has_checksums)
    except apsw.NotADBError as error:
        raise FileFormatError(f"{path} is not a database.") from error
    except apsw.BusyError as error:
        raise FileFormatError(f"{path} is open in another process: stop it first.") from error
    except apsw.Error as error:
        reason = "is damaged" if is_damage(error) else "cannot be written anew"
        raise FileFormatError(f"{path} {reason} ({error}); it was left as it is.") from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise FileFormatError(f"{path} cannot be written anew: {reason}.") from error


@contextmanager
def removed_at_the_end(new: Path) -> Iterator[None]:
    """Leaves no draft behind; under the lock, since another process may be writing its own."""
    new.unlink(missing_ok=True)
    try:
        yield
    finally:
        with suppress(OSError):
            new.unlink(missing_ok=True)


@contextmanager
def writer_lock(path: Path) -> Iterator[None]:
    try:
        with file_lock(path.with_name(path.name + "-lock"), wait=False):
            yield
    except BlockingIOError as error:
        raise FileFormatError(f"{path} is open in another process: stop it first.") from error


@contextmanager
def alone(path: Path) -> Iterator[apsw.Connection]:
    """An exclusive connection, with the whole log moved into the file."""
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_URI
    connection = apsw.Connection(str(path), flags=flags, vfs=checksums.checksum_vfs())
    try:
        connection.set_busy_timeout(HOLD_MILLISECONDS)
        if is_empty(connection):
            raise FileFormatError(f"{path} is empty.")
        check_format(connection, path)
        check_checksums(connection, path)
        connection.pragma("locking_mode", "exclusive")
        # Leaving WAL mode works only if nobody else has the file open.
        if connection.pragma("journal_mode", "delete") != "delete":
            raise apsw.BusyError
        connection.execute("BEGIN EXCLUSIVE; COMMIT")
        upgrade(connection)
        yield connection
    finally:
        connection.close()


def check_room(path: Path, size: int) -> None:
    free = shutil.disk_usage(path.parent).free
    if free < size + size // 10:
        raise FileFormatError(
            f"{path} has {size:,} bytes and its disk has {free:,} free: the new file needs as much "
            "as the old one, and a tenth."
        )


def write_anew(connection: apsw.Connection, new: Path) -> bool:
    """Fills the new file; returns whether it has checksums."""
    has_checksums = checksums.can_check(connection)
    connection.pragma("auto_vacuum", INCREMENTAL)
    reserved = checksums.RESERVED_BYTES if has_checksums else 0
    os.close(os.open(new, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    vfs = register_vfs(checksums.checksum_vfs(), reserved)
    connection.execute("VACUUM INTO ?", (f"file:{quote(str(new))}?reserve={reserved}&vfs={vfs}",))
    finish(new, has_checksums=has_checksums)
    return has_checksums


def finish(new: Path, *, has_checksums: bool) -> None:
    """Records the checksums in the new file, and reads it once before it replaces the old one."""
    connection = apsw.Connection(str(new), vfs=checksums.checksum_vfs())
    try:
        if has_checksums:
            connection.execute(WITH_CHECKSUMS)
        check_checksums(connection, new)
        if connection.pragma("quick_check") != "ok":
            raise apsw.CorruptError("the new file is not whole")
    finally:
        connection.close()


def put_in_place(new: Path, path: Path) -> None:
    shutil.copymode(path, new)
    sync(new)
    new.rename(path)
    sync(path.parent)
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
