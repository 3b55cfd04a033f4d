"""Where backups are: a place has a name for each, and under it some files that never change.

A backup comes into a place whole or not at all, under a name that is free, and is there for good
once `put` has returned. A folder is such a place; a bucket of S3 can be another, with the manifest
put last. Each backup is a folder of its own, written under a name that begins with a dot, synced,
and renamed when it is whole; what a killed process has left of one goes with the next.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import Final, Protocol

NAME = re.compile(r"[a-z0-9_.-]+-\d{8}T\d{6}Z")
LOCK: Final = ".lock"
PART: Final = ".part"


class BackupFault(Exception):
    """Something about backups that a person must know; a sentence that says what to do."""


class Place(Protocol):
    """Holds backups; each is some files under a name."""

    @property
    def where(self) -> str:
        """What a person knows it by."""

    def names(self) -> list[str]:
        """Those of whole backups, the oldest first for each system."""

    def file(self, name: str, file: str) -> Path:
        """A file of a backup, to be read here."""

    def put(self, name: str, write: Callable[[Path], None]) -> None:
        """Adds a backup: the files that `write` has put into the folder that it is given."""

    def remove(self, name: str) -> None: ...


class FolderPlace:
    """A folder: on this machine, or one that is mounted from another."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def where(self) -> str:
        return str(self.folder)

    def names(self) -> list[str]:
        try:
            found = [entry.name for entry in os.scandir(self.folder) if entry.is_dir()]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise unusable(self.folder, error) from error
        return sorted(name for name in found if NAME.fullmatch(name))

    def file(self, name: str, file: str) -> Path:
        if Path(file).name != file:
            raise BackupFault(f"{file!r} is no file of a backup.")
        return self._folder_of(name) / file

    def put(self, name: str, write: Callable[[Path], None]) -> None:
        try:
            with self.lock():
                self._drop_parts()
                target = self._folder_of(name)
                if target.exists():
                    raise BackupFault(f"{self.where} has a backup {name} already.")
                part = self.folder / f".{name}.{token_hex(4)}{PART}"
                part.mkdir(mode=0o700)
                try:
                    write(part)
                    for path in (*part.iterdir(), part):
                        sync(path)
                    part.rename(target)
                finally:
                    shutil.rmtree(part, ignore_errors=True)
                sync(self.folder)
        except OSError as error:
            raise unusable(self.folder, error) from error

    def remove(self, name: str) -> None:
        """Renamed first, so that one that is half removed is not taken for a backup."""
        try:
            with self.lock():
                gone = self.folder / f".{name}.{token_hex(4)}{PART}"
                self._folder_of(name).rename(gone)
                sync(self.folder)
                shutil.rmtree(gone, ignore_errors=True)
        except FileNotFoundError:
            return
        except OSError as error:
            raise unusable(self.folder, error) from error

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Only one process at a time changes a place."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(self.folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    def _folder_of(self, name: str) -> Path:
        if not NAME.fullmatch(name):
            raise BackupFault(f"{name!r} is no backup's name: `bigtime backup list` has them.")
        return self.folder / name

    def _drop_parts(self) -> None:
        for left in self.folder.glob(f".*{PART}"):
            shutil.rmtree(left, ignore_errors=True)


def place_at(text: str) -> Place:
    """The place that a setting names."""
    scheme, found, _ = text.partition("://")
    if found:
        raise BackupFault(
            f"{text} is no place for backups: a place is a folder, and may be one that is mounted"
            f" from elsewhere. (There is no {scheme}:// yet.)"
        )
    path = Path(text).expanduser()
    if path.exists() and not path.is_dir():
        raise BackupFault(f"{path} is a file: name a folder for backups.")
    return FolderPlace(path)


def unusable(folder: Path, error: OSError) -> BackupFault:
    return BackupFault(f"{error.filename or folder} cannot be used: {error.strerror}.")


def sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
