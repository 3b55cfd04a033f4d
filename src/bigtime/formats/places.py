"""Places for files: a folder, or a prefix in an S3 bucket.

Writes are atomic and durable: a file is written under a temporary name, synced, renamed, and its
folder synced. In S3 a PutObject is atomic by itself. Pictures, lakes, backups and archives build
their own kinds of places on these.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from bigtime.formats.s3_bucket import S3, Bucket


class Folder:
    """The files of a folder, which may be local or mounted."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def where(self) -> str:
        """The place's name for messages."""
        return str(self.folder)

    def read(self, name: str) -> bytes | None:
        """A file's content; None if there is none."""
        try:
            return (self.folder / name).read_bytes()
        except FileNotFoundError:
            return None

    def write(self, name: str, content: bytes) -> None:
        path = self.folder / name
        make_folder(path.parent)
        write_whole(path, content)


F = TypeVar("F", bound=Folder)
B = TypeVar("B", bound=Bucket)


def place_named(setting: str, purpose: str, folder: type[F], bucket: type[B]) -> F | B:
    """The place that a setting names: a folder, or s3://BUCKET/FOLDER; raises `bucket.fault`."""
    if setting.startswith(S3):
        return bucket(setting)
    scheme, found, _ = setting.partition("://")
    if found:
        raise bucket.fault(
            f"{setting} is no place for {purpose}: name a folder, which may be mounted from"
            f" elsewhere, or a bucket, s3://BUCKET/FOLDER. (There is no {scheme}://.)"
        )
    path = Path(setting).expanduser()
    if path.exists() and not path.is_dir():
        raise bucket.fault(f"{path} is a file: name a folder for {purpose}.")
    return folder(path)


def make_folder(folder: Path) -> None:
    """Creates a folder and its parents, and syncs the entry of each new one."""
    if not folder.is_dir():
        make_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)
        sync(folder.parent)


def write_whole(path: Path, content: bytes) -> None:
    """Writes a file atomically and durably."""
    with whole_file(path) as draft:
        draft.write_bytes(content)


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A temporary path to write to; the file is then synced and renamed to `path`."""
    draft = path.with_name(f"{path.name}.part")
    try:
        yield draft
        sync(draft)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    sync(path.parent)


def sync(path: Path) -> None:
    """Syncs a file, or a folder's entries, to the disk."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def file_lock(path: Path, *, wait: bool = True) -> Iterator[None]:
    """Holds a file's lock, which ends with the process; BlockingIOError if taken and not `wait`."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(handle)
