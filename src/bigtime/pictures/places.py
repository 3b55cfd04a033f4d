"""Where pictures are stored. A file never changes: its name contains its content's hash.

Uploads that wait to be encoded are in `incoming`, which is never served.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Protocol

from bigtime.formats import Bucket, Folder, place_named


class PicturePlace(Protocol):
    """Stores files under names such as `incoming/4f2a` and `ab/ab12.../320.webp`."""

    @property
    def where(self) -> str: ...

    def read(self, name: str) -> bytes | None: ...

    def write(self, name: str, content: bytes) -> None: ...

    def remove(self, name: str) -> None:
        """Removes a file, or a folder with its contents, if it exists."""

    def changes(self, folder: str) -> Iterator[tuple[str, datetime]]:
        """The names of the files in a folder, and when each was written."""


def place_at(setting: str) -> PicturePlace:
    """The place that a setting names: a folder, or s3://BUCKET/FOLDER; raises PlaceFault."""
    return place_named(setting, "pictures", FolderPlace, BucketPlace)


class FolderPlace(Folder):
    """Pictures in a folder."""

    def remove(self, name: str) -> None:
        path = self.folder / name
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)

    def changes(self, folder: str) -> Iterator[tuple[str, datetime]]:
        try:
            found = sorted(os.scandir(self.folder / folder), key=lambda entry: entry.name)
        except FileNotFoundError:
            return
        for entry in found:
            changed_at = datetime.fromtimestamp(entry.stat().st_mtime, UTC)
            yield f"{folder}/{entry.name}", changed_at


class BucketPlace(Bucket):
    """Pictures in a bucket of S3."""

    def remove(self, name: str) -> None:
        self.delete(name, *(each.name for each in self.objects(f"{name}/")))

    def changes(self, folder: str) -> Iterator[tuple[str, datetime]]:
        return ((each.name, each.changed_at) for each in self.objects(f"{folder}/"))
