"""Where a lake is: a folder, or a prefix in a bucket of S3.

A file comes there whole or not at all, and is there for good once `add` or `replace` has returned.
In a folder that is: written under another name, synced, renamed, and the folder synced. S3 puts an
object whole by itself; DuckDB writes and reads files of this machine, so that objects go through a
folder for temporary files.

One process writes a lake. In a folder a lock says so. In a bucket the manifests do: each is
replaced only where it is still the one that this writer has read or written last.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, Protocol

from bigtime.extras import extra
from bigtime.formats import write_whole

DRAFT: Final = ".tmp"
LOCK: Final = ".lock"
SCHEME: Final = "s3://"


class LakeFault(Exception):
    """Something about a lake that a person must know: a sentence that says what to do."""


class Place(Protocol):
    """Holds the files of a lake under names such as `CartTable/_manifest.json`."""

    @property
    def where(self) -> str:
        """What a person knows it by."""

    def read(self, name: str) -> bytes | None: ...

    def replace(self, name: str, content: bytes) -> None:
        """Puts a small file in the place of the one that was there."""

    def add(self, name: str, write: Callable[[Path], None]) -> int:
        """Adds the file that `write` writes to the path it is given; gives its size."""

    def remove(self, name: str) -> None: ...

    def sizes(self, prefix: str) -> dict[str, int]:
        """The files whose names begin with the prefix, and how large they are."""

    def local(self, name: str, folder: Path) -> Path:
        """A path to read the file at; `folder` may be used for a copy."""

    def own(self) -> bool:
        """Makes this process the one that writes; False if another one is."""

    def disown(self) -> None: ...


def place_at(setting: str) -> Place:
    """The place that a setting names: a folder, or `s3://bucket/prefix`."""
    if setting.startswith(SCHEME):
        bucket, _, prefix = setting.removeprefix(SCHEME).partition("/")
        if not bucket:
            raise LakeFault(f"{setting} names no bucket: write s3://bucket/prefix.")
        return BucketPlace(bucket, prefix.strip("/"))
    if "://" in setting:
        raise LakeFault(f"{setting} is no place for a lake: name a folder, or s3://bucket/prefix.")
    return FolderPlace(Path(setting).expanduser())


class FolderPlace:
    """A folder of this machine."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock: int | None = None

    @property
    def where(self) -> str:
        return str(self.folder)

    def read(self, name: str) -> bytes | None:
        try:
            return (self.folder / name).read_bytes()
        except FileNotFoundError:
            return None

    def replace(self, name: str, content: bytes) -> None:
        path = self.folder / name
        self._make_folder(path.parent)
        write_whole(path, content)

    def add(self, name: str, write: Callable[[Path], None]) -> int:
        path = self.folder / name
        self._make_folder(path.parent)
        draft = path.with_name(f"{path.name}{DRAFT}")
        try:
            write(draft)
            sync(draft)
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)
        sync(path.parent)
        return path.stat().st_size

    def remove(self, name: str) -> None:
        (self.folder / name).unlink(missing_ok=True)
        with suppress(OSError):  # it is not empty, or is gone already
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
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(self.folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            return False
        self._lock = handle
        return True

    def disown(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _make_folder(self, folder: Path) -> None:
        """With its parents; a folder that is new is synced into the one above it."""
        if folder.is_dir():
            return
        self._make_folder(folder.parent)
        folder.mkdir(exist_ok=True)
        sync(folder.parent)


class BucketPlace:
    """A prefix in a bucket of S3. Credentials and region are those that boto3 finds."""

    def __init__(self, bucket: str, prefix: str, client: Any = None) -> None:
        self.bucket = bucket
        self.prefix = f"{prefix}/" if prefix else ""
        self._client = client
        self._seen: dict[str, str | None] = {}

    @property
    def where(self) -> str:
        return f"{SCHEME}{self.bucket}/{self.prefix}".rstrip("/")

    @property
    def client(self) -> Any:
        if self._client is None:
            with extra("aws"):
                import boto3
            self._client = boto3.client("s3")
        return self._client

    def read(self, name: str) -> bytes | None:
        try:
            found = self.client.get_object(Bucket=self.bucket, Key=self.prefix + name)
        except self.client.exceptions.NoSuchKey:
            self._seen[name] = None
            return None
        self._seen[name] = found["ETag"]
        content: bytes = found["Body"].read()
        return content

    def replace(self, name: str, content: bytes) -> None:
        seen = self._seen.get(name)
        condition = {"IfNoneMatch": "*"} if seen is None else {"IfMatch": seen}
        try:
            put = self.client.put_object(
                Bucket=self.bucket, Key=self.prefix + name, Body=content, **condition
            )
        except self.client.exceptions.ClientError as error:
            if error.response["Error"]["Code"] not in ("PreconditionFailed", "412"):
                raise
            raise LakeFault(
                f"Another process has written {self.where}/{name}: let one worker write a lake."
            ) from error
        self._seen[name] = put["ETag"]

    def add(self, name: str, write: Callable[[Path], None]) -> int:
        with tempfile.TemporaryDirectory(prefix="bigtime-lake-") as folder:
            path = Path(folder, "part.parquet")
            write(path)
            self.client.upload_file(str(path), self.bucket, self.prefix + name)
            return path.stat().st_size

    def remove(self, name: str) -> None:
        self.client.delete_object(Bucket=self.bucket, Key=self.prefix + name)

    def sizes(self, prefix: str) -> dict[str, int]:
        whole = f"{self.prefix}{prefix}/" if prefix else self.prefix
        pages = self.client.get_paginator("list_objects_v2")
        return {
            found["Key"].removeprefix(self.prefix): found["Size"]
            for page in pages.paginate(Bucket=self.bucket, Prefix=whole)
            for found in page.get("Contents", ())
        }

    def local(self, name: str, folder: Path) -> Path:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            self.client.download_file(self.bucket, self.prefix + name, str(path))
        return path

    def own(self) -> bool:
        return True

    def disown(self) -> None:
        pass


def sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def owned(place: Place) -> Iterator[bool]:
    """Writes alone, if no other process does; whether that is so."""
    is_owner = place.own()
    try:
        yield is_owner
    finally:
        if is_owner:
            place.disown()
