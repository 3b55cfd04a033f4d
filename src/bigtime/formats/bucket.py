"""A folder that stands in for S3: each bucket is a folder in it, each object a file.

Nothing outside the bucket is read or written, whatever a name or a prefix contains, and no link out
of it is followed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

BUCKET: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,253}[A-Za-z0-9]")


class BucketError(Exception):
    """A bucket or prefix that cannot be used; `code` is AWS's FailureCode."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def bucket_folder(root: Path, name: str) -> Path:
    """The folder of a bucket that exists."""
    if not BUCKET.fullmatch(name) or ".." in name:
        raise BucketError("S3NoSuchBucket", f"{name!r} is no name of a bucket")
    folder = root / name
    if not folder.is_dir():
        raise BucketError(
            "S3NoSuchBucket", f"The specified bucket does not exist: make the folder {folder}"
        )
    if not folder.resolve().is_relative_to(root.resolve()):
        raise BucketError("S3AccessDenied", f"{folder} is a link that leads out of {root}")
    return folder


def prefix_folder(bucket: Path, prefix: str) -> Path:
    """The folder of a prefix in a bucket, for writing."""
    parts = [part for part in prefix.split("/") if part]
    if any(part in (".", "..") or "\0" in part or "\\" in part for part in parts):
        raise BucketError("S3InvalidPrefix", f"The prefix {prefix!r} leads out of the bucket")
    folder = bucket.joinpath(*parts)
    if not folder.resolve().is_relative_to(bucket.resolve()):
        raise BucketError("S3AccessDenied", f"{folder} is a link that leads out of the bucket")
    return folder


def objects(bucket: Path, prefix: str) -> list[Path]:
    """The files whose key begins with the prefix, in the order of their keys."""
    return sorted(
        path for path in files_in(bucket) if path.relative_to(bucket).as_posix().startswith(prefix)
    )


def files_in(bucket: Path) -> Iterator[Path]:
    for folder, _, names in os.walk(bucket, followlinks=False):
        paths = (Path(folder, name) for name in names)
        yield from (path for path in paths if path.is_file() and not path.is_symlink())
