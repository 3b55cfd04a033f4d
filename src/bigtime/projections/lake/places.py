"""Where a lake is stored: a folder, or a prefix in an S3 bucket.

DuckDB reads and writes local files, so S3 objects go through a temporary folder. Only one process
writes a lake. In a folder a lock ensures that. In a bucket the manifests do: each is replaced only
if it is still the version that this writer last read or wrote.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final, Protocol

from bigtime import formats

LOCK: Final = ".lock"


class LakeFault(formats.PlaceFault):
    """A problem with a lake; the message tells a person what to do."""


class Place(Protocol):
    """Stores the files of a lake under names such as `CartTable/_manifest.json`."""

    @property
    def where(self) -> str: ...

    def read(self, name: str) -> bytes | None: ...

    def write(self, name: str, content: bytes) -> None:
        """Creates or replaces a small file."""

    def add(self, name: str, write: Callable[[Path], None]) -> int:
        """Adds a file that `write` writes to the path it is given; returns its size."""

    def remove(self, name: str) -> None: ...

    def sizes(self, prefix: str) -> dict[str, int]:
        """The files whose names begin with the prefix, with their sizes."""

    def local(self, name: str, folder: Path) -> Path:
        """A path to read the file at; `folder` may be used for a copy."""

    def own(self) -> bool:
        """Makes this process the lake's writer; returns False if another process is."""

    def disown(self) -> None: ...


def place_at(setting: str) -> FolderPlace | BucketPlace:
    """The place that a setting names: a folder, or s3://BUCKET/FOLDER; raises LakeFault."""
    return formats.place_named(setting, "a lake", FolderPlace, BucketPlace)


class FolderPlace(formats.Folder):
    """A lake in a folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._lock: ExitStack | None = None

    def add(self, name: str, write: Callable[[Path], None]) -> int:
        path = self.folder / name
        formats.make_folder(path.parent)
        with formats.whole_file(path) as draft:
            write(draft)
        return path.stat().st_size

    def remove(self, name: str) -> None:
        (self.folder / name).unlink(missing_ok=True)
        with suppress(OSError):  # it is not empty, or was removed already
            (self.folder / name).parent.rmdir()

    def sizes(self, prefix: str) -> dict[str, int]:
        found = (self.folder / prefix).rglob("*") if prefix else self.folder.rglob("*")
        return {
            path.relative_to(self.folder).as_posix(): path.stat().st_size
            for path in found
            if path.is_file() and not path.is_symlink()
        }

    def local(self, name: str, folder: Path) -> Path:
        return self.folder / name

    def own(self) -> bool:
        if self._lock is not None:
            return True
        formats.make_folder(self.folder)
        lock = ExitStack()
        try:
            lock.enter_context(formats.file_lock(self.folder / LOCK, wait=False))
        except BlockingIOError:
            return False
        self._lock = lock
        return True

    def disown(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None


class BucketPlace(formats.Bucket):
    """A lake in a bucket of S3."""

    fault = LakeFault

    def __init__(self, address: str) -> None:
        super().__init__(address)
        self._etags: dict[str, str | None] = {}

    def read(self, name: str) -> bytes | None:
        found = self.read_with_etag(name)
        self._etags[name] = found.etag if found else None
        return found.content if found else None

    def write(self, name: str, content: bytes) -> None:
        try:
            self._etags[name] = self.replace(name, content, self._etags.get(name))
        except formats.ObjectChanged as error:
            raise LakeFault(f"{error}: let one worker write a lake.") from error

    def add(self, name: str, write: Callable[[Path], None]) -> int:
        with tempfile.TemporaryDirectory(prefix="bigtime-lake-") as folder:
            path = Path(folder, "part.parquet")
            write(path)
            self.upload(path, name)
            return path.stat().st_size

    def remove(self, name: str) -> None:
        self.delete(name)

    def sizes(self, prefix: str) -> dict[str, int]:
        return {each.name: each.size for each in self.objects(f"{prefix}/" if prefix else "")}

    def local(self, name: str, folder: Path) -> Path:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            self.download(name, path)
        return path

    def own(self) -> bool:
        return True

    def disown(self) -> None:
        pass


@contextmanager
def ownership(place: Place) -> Iterator[bool]:
    """Makes this process the writer for the block; yields False if another process is."""
    is_owner = place.own()
    try:
        yield is_owner
    finally:
        if is_owner:
            place.disown()
