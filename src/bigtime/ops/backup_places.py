"""Where backups are kept: a place holds, under each backup's name, files that never change.

A backup enters a place whole or not at all, under a name that is not taken, and is durable once
`put` has returned.

- In a folder each backup is a folder of its own, written under a name that begins with a dot,
  synced, and renamed when it is whole; the next backup removes what a killed process left behind.
- In a bucket of S3 its files are objects, and the manifest is put last: without one there is no
  backup. What a killed process left behind is removed after a day. A file is downloaded before it
  is read, and again when its ETag has changed.

Beside the backups is a file for each, which says when it was last read from end to end, and what
was found.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple, Protocol

import orjson

from bigtime.formats import Bucket, Folder, PlaceFault, file_lock, make_folder, place_named, sync

NAME = re.compile(r"[a-z0-9_.-]+-\d{8}T\d{6}Z")
LOCK: Final = ".lock"
PART: Final = ".part"
MANIFEST: Final = "manifest.json"
VERIFIED: Final = ".verified"
LEFT_FOR: Final = timedelta(days=1)


class BackupFault(PlaceFault):
    """A problem with backups that a person must know of; the sentence says what to do."""


class Verification(NamedTuple):
    """When a backup was read from end to end, and what was wrong with it."""

    at: datetime
    faults: list[str]

    def to_json(self) -> bytes:
        return orjson.dumps({"at": self.at.isoformat(), "faults": self.faults})

    @classmethod
    def from_json(cls, content: bytes | None) -> Verification | None:
        try:
            known = orjson.loads(content or b"")
            return cls(datetime.fromisoformat(known["at"]), known["faults"])
        except (ValueError, KeyError, TypeError):
            return None


class Place(Protocol):
    """Holds backups; each is a few files under a name."""

    @property
    def where(self) -> str: ...

    def names(self) -> list[str]:
        """The names of complete backups, the oldest first within each system."""

    def file(self, name: str, file: str) -> Path:
        """A path to a file of a backup, readable on this machine."""

    def put(self, name: str, write: Callable[[Path], None]) -> None:
        """Adds a backup: the files that `write` puts into the folder it is given."""

    def remove(self, name: str) -> None: ...

    def note_verification(self, name: str, found: Verification) -> None: ...

    def verification(self, name: str) -> Verification | None:
        """The last verification of a backup; None if it was never verified."""


class FolderPlace(Folder):
    """Backups in a folder."""

    def names(self) -> list[str]:
        with self.faults(), suppress(FileNotFoundError):
            found = [entry.name for entry in os.scandir(self.folder) if entry.is_dir()]
            return sorted(name for name in found if NAME.fullmatch(name))
        return []

    def file(self, name: str, file: str) -> Path:
        if Path(file).name != file:
            raise BackupFault(f"{file!r} is no file of a backup.")
        return self._folder_of(name) / file

    def put(self, name: str, write: Callable[[Path], None]) -> None:
        with self.faults(), self.lock():
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

    def remove(self, name: str) -> None:
        """Renames the folder first, so that one half removed is not taken for a backup."""
        with self.faults(), suppress(FileNotFoundError), self.lock():
            gone = self.folder / f".{name}.{token_hex(4)}{PART}"
            self._folder_of(name).rename(gone)
            sync(self.folder)
            shutil.rmtree(gone, ignore_errors=True)
            (self.folder / note_of(name)).unlink(missing_ok=True)

    def note_verification(self, name: str, found: Verification) -> None:
        with self.faults():
            self.write(note_of(name), found.to_json())

    def verification(self, name: str) -> Verification | None:
        with suppress(OSError):
            return Verification.from_json(self.read(note_of(name)))
        return None

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Lets only one process at a time change the place."""
        make_folder(self.folder)
        with file_lock(self.folder / LOCK):
            yield

    @contextmanager
    def faults(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise BackupFault(
                f"{error.filename or self.folder} cannot be used: {error.strerror}."
            ) from error

    def _folder_of(self, name: str) -> Path:
        return self.folder / checked_name(name)

    def _drop_parts(self) -> None:
        for left in self.folder.glob(f".*{PART}"):
            shutil.rmtree(left, ignore_errors=True)


class BucketPlace(Bucket):
    """Backups in a bucket of S3."""

    fault = BackupFault

    def __init__(self, address: str) -> None:
        super().__init__(address)
        self._downloads = TemporaryDirectory(prefix="bigtime-backup-")
        self._etags: dict[str, str] = {}

    def names(self) -> list[str]:
        keys = [found.name.partition("/") for found in self.objects()]
        return sorted(name for name, _, file in keys if file == MANIFEST and NAME.fullmatch(name))

    def file(self, name: str, file: str) -> Path:
        """Downloads the file; downloaded files of other backups are removed."""
        key = f"{checked_name(name)}/{file}"
        folder = Path(self._downloads.name) / name
        etag = self.etag(key)
        if etag is None:
            (folder / file).unlink(missing_ok=True)
        elif self._etags.get(key) != etag:
            self._drop_others(folder)
            self.download(key, folder / file)
            self._etags[key] = etag
        return folder / file

    def _drop_others(self, folder: Path) -> None:
        for other in Path(self._downloads.name).iterdir():
            if other != folder:
                shutil.rmtree(other)
        self._etags = {
            key: etag for key, etag in self._etags.items() if key.startswith(f"{folder.name}/")
        }
        folder.mkdir(mode=0o700, exist_ok=True)

    def put(self, name: str, write: Callable[[Path], None]) -> None:
        if self.etag(f"{checked_name(name)}/{MANIFEST}") is not None:
            raise BackupFault(f"{self.where} has a backup {name} already.")
        self._drop_parts()
        with TemporaryDirectory(prefix="bigtime-backup-") as folder:
            write(Path(folder))
            paths = sorted(Path(folder).iterdir(), key=lambda path: path.name == MANIFEST)
            for path in paths:
                self.upload(path, f"{name}/{path.name}")

    def remove(self, name: str) -> None:
        """Deletes the manifest first, so that a backup half removed is not taken for one."""
        self.delete(f"{checked_name(name)}/{MANIFEST}", note_of(name))
        self.delete(*(found.name for found in self.objects(f"{name}/")))

    def note_verification(self, name: str, found: Verification) -> None:
        self.write(note_of(name), found.to_json())

    def verification(self, name: str) -> Verification | None:
        return Verification.from_json(self.read(note_of(name)))

    def _drop_parts(self) -> None:
        found = list(self.objects())
        whole = {each.name.partition("/")[0] for each in found if each.name.endswith(MANIFEST)}
        old = datetime.now(UTC) - LEFT_FOR
        self.delete(
            *(
                each.name
                for each in found
                if NAME.fullmatch(each.name.partition("/")[0])
                and each.name.partition("/")[0] not in whole
                and each.changed_at < old
            )
        )


def note_of(name: str) -> str:
    """The name of the file that records a backup's last verification."""
    return f"{VERIFIED}/{checked_name(name)}.json"


def checked_name(name: str) -> str:
    if not NAME.fullmatch(name):
        raise BackupFault(f"{name!r} is no backup's name: `bigtime backup list` has them.")
    return name


def place_at(text: str) -> FolderPlace | BucketPlace:
    """The place that a setting names: a folder, or s3://BUCKET/FOLDER; raises BackupFault."""
    return place_named(text, "backups", FolderPlace, BucketPlace)
