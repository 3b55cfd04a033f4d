"""A backup: the items of one table at one moment, in a separate file.

It is in the folder `<data file>-backups`, named after the backup. A line that identifies the format
is followed by frames: four bytes of length, sixteen of checksum, and the frame itself, compressed.
The first frame describes the table, the last has the item count, those between hold items. Each
checksum covers the previous one, so that a missing or misplaced frame is detected like a changed
byte, and a truncated file lacks its last frame.

A file is written under another name, synced, and renamed when it is complete. It is also synced as
it grows: one large write at the end would hold up the commits of writers.

By default the housekeeper makes the copies, in whichever process it runs. A process that requests
backups can make them itself instead, so that a server does not spend its interpreter on them. It
holds a lock meanwhile; if it dies, the housekeeper completes its copies.
"""

from __future__ import annotations

import os
import shutil
import struct
import zlib
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from hashlib import blake2b, file_digest
from pathlib import Path
from secrets import token_hex
from typing import Any, BinaryIO, Final, Self

import orjson

from bigtime.engine.storage.point_in_time import ItemRow
from bigtime.formats import file_lock, sync, whole_file
from bigtime.wire import Item

MAGIC: Final = b"bigtime backup 1\n"
FRAME: Final = struct.Struct(">I16s")
ROW: Final = struct.Struct(">IIII")
LARGEST_FRAME: Final = 64 * 1024 * 1024
QUICKLY: Final = 1  # the level of compression
SYNCED_BYTES: Final = 4 * 1024 * 1024
COPIER: Final = ".copier"


class BackupFileError(Exception):
    """A backup is not there, or not whole; the message says which."""


def backup_path(data: Path, id: str) -> Path:
    return data.with_name(data.name + "-backups") / f"{id}.backup"


def copier_lock(data: Path, *, wait: bool = True) -> AbstractContextManager[None]:
    """The lock held by the one process that copies the backups it requested."""
    path = backup_path(data, "").with_name(COPIER)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    return file_lock(path, wait=wait)


def has_copier(data: Path) -> bool:
    """Whether a process holds the lock; that of a killed process is free."""
    try:
        with copier_lock(data, wait=False):
            return False
    except BlockingIOError:
        return True


def checksum(before: bytes, frame: bytes) -> bytes:
    return blake2b(frame, key=before, digest_size=16).digest()


class BackupWriter:
    """Writes one backup; without `finish` nothing is left of it."""

    def __init__(self, path: Path, description: dict[str, Any], *, is_synced: bool) -> None:
        self.path = path
        self._is_synced = is_synced
        path.parent.mkdir(mode=0o700, exist_ok=True)
        for left in path.parent.glob(f"{path.stem}.*.part"):
            left.unlink(missing_ok=True)
        self._part = path.with_suffix(f".{token_hex(4)}.part")
        handle = os.open(self._part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        self._file: BinaryIO = os.fdopen(handle, "wb")
        self._checksum = b""
        self._items = self._bytes = self._unsynced = 0
        self._file.write(MAGIC)
        self._frame(orjson.dumps(description))

    def add(self, rows: Iterable[ItemRow]) -> None:
        parts: list[bytes] = []
        for partition, sort, size, item in rows:
            parts += (ROW.pack(len(partition), len(sort), size, len(item)), partition, sort, item)
            self._items += 1
            self._bytes += size
        if parts:
            self._frame(b"".join(parts))

    def finish(self) -> None:
        """Completes the file and renames it into place."""
        self._frame(orjson.dumps({"items": self._items, "bytes": self._bytes}))
        self._sync()
        self._part.rename(self.path)
        if self._is_synced:
            sync(self.path.parent)

    def _sync(self) -> None:
        self._file.flush()
        self._unsynced = 0
        if self._is_synced:
            os.fsync(self._file.fileno())

    def _frame(self, content: bytes) -> None:
        frame = zlib.compress(content, QUICKLY)
        self._checksum = checksum(self._checksum, frame)
        self._file.write(FRAME.pack(len(frame), self._checksum))
        self._file.write(frame)
        self._unsynced += len(frame)
        if self._unsynced >= SYNCED_BYTES:
            self._sync()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        self._part.unlink(missing_ok=True)


def read_backup(path: Path) -> Iterator[list[ItemRow]]:
    """The items of a backup, in chunks; raises `BackupFileError` if the file is damaged."""
    frames = read_frames(path)
    next(frames)
    items = 0
    content = next(frames)
    for following in frames:
        rows = unpack(content)
        items += len(rows)
        yield rows
        content = following
    if orjson.loads(content)["items"] != items:
        raise BackupFileError(f"{path} has another number of items than it says.")


def backup_digest(path: Path) -> str:
    """The checksum of a file, which identifies it."""
    try:
        with path.open("rb") as file:
            return file_digest(file, "blake2b").hexdigest()
    except OSError as error:
        raise BackupFileError(f"{path} cannot be read: {error.strerror}.") from error


def count_backup_items(path: Path) -> int:
    """How many items a backup has; raises `BackupFileError` if the file is damaged."""
    return sum(len(rows) for rows in read_backup(path))


def copy_backup(source: Path, path: Path) -> dict[str, Any]:
    """Copies and verifies a backup from elsewhere; returns its description of the table."""
    count_backup_items(source)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    with whole_file(path) as draft:
        shutil.copyfile(source, draft)
    return read_description(path)


def read_backup_items(path: Path) -> Iterator[list[Item]]:
    """The items of a backup as DynamoDB has them, in chunks."""
    for rows in read_backup(path):
        yield [orjson.loads(item) for _, _, _, item in rows]


def read_description(path: Path) -> dict[str, Any]:
    """A backup's description of its table, from the first frame alone."""
    description: dict[str, Any] = orjson.loads(next(read_frames(path)))
    return description


def read_frames(path: Path) -> Iterator[bytes]:
    """The frames of a file, each verified by its checksum; the last one must be present."""
    try:
        file = path.open("rb")
    except OSError as error:
        raise BackupFileError(f"{path} cannot be read: {error.strerror}.") from error
    with file:
        if file.read(len(MAGIC)) != MAGIC:
            raise BackupFileError(f"{path} is no backup that this version can read.")
        before, frame, count = b"", b"", 0
        while header := file.read(FRAME.size):
            if count:
                yield zlib.decompress(frame)
            length, said = FRAME.unpack(header) if len(header) == FRAME.size else (0, b"")
            frame = file.read(min(length, LARGEST_FRAME))
            before = checksum(before, frame)
            if before != said:
                raise BackupFileError(f"{path} is damaged in frame {count + 1}.")
            count += 1
        content = zlib.decompress(frame) if count > 1 else b""
        if not is_end(content):
            raise BackupFileError(f"{path} is not whole: its end is missing.")
        yield content


def is_end(content: bytes) -> bool:
    try:
        return set(orjson.loads(content)) == {"items", "bytes"}
    except (orjson.JSONDecodeError, TypeError):
        return False


def unpack(content: bytes) -> list[ItemRow]:
    rows: list[ItemRow] = []
    position = 0
    while position < len(content):
        partition, sort, size, item = ROW.unpack_from(content, position)
        start = position + ROW.size
        cuts = start + partition, start + partition + sort, start + partition + sort + item
        rows.append(
            (content[start : cuts[0]], content[cuts[0] : cuts[1]], size, content[cuts[1] : cuts[2]])
        )
        position = cuts[2]
    return rows
