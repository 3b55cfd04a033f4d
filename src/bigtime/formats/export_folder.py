"""The folder that an export to S3 writes: manifests, their checksums, and files of items.

    PREFIX/AWSDynamoDB/EXPORT_ID/_started
    PREFIX/AWSDynamoDB/EXPORT_ID/data/NAME.json.gz      (an incremental one: AWSDynamoDB/data/)
    PREFIX/AWSDynamoDB/EXPORT_ID/manifest-files.json    one line for each file of items
    PREFIX/AWSDynamoDB/EXPORT_ID/manifest-files.md5
    PREFIX/AWSDynamoDB/EXPORT_ID/manifest-summary.json  what was exported, and when
    PREFIX/AWSDynamoDB/EXPORT_ID/manifest-summary.md5

The summary is written last, so that an interrupted export has none and is refused. Every file is
written under a temporary name, synced, and renamed.

AWS: "DynamoDB table export output format"
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/S3DataExport.Output.html
The page calls the files of checksums `.checksum`; AWS was seen to call them `.md5`, in Google's
"Migrate from DynamoDB to Spanner" and in https://github.com/scylladb/scylladb/pull/29924
"""

from __future__ import annotations

import base64
import binascii
import gzip
import hashlib
import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson

from bigtime.formats.lines import BadFile
from bigtime.formats.places import write_whole

FOLDER: Final = "AWSDynamoDB"
SUMMARY: Final = "manifest-summary"
FILES: Final = "manifest-files"
STARTED: Final = "_started"
CHECKSUMS: Final = ("md5", "checksum")
NAME_ALPHABET: Final = "abcdefghijklmnopqrstuvwxyz234567"
HASHED_AT_ONCE: Final = 1024 * 1024
UNFINISHED: Final = (
    f"{SUMMARY}.json is missing: the export was interrupted or not copied whole. Export again, or "
    "copy all of it; to load what there is, name the folder data"
)


def export_id(now: float) -> str:
    """An id in AWS's form: milliseconds in 14 digits, and 8 hexadecimal digits."""
    return f"{int(now * 1000):014d}-{secrets.token_hex(4)}"


def iso_time(seconds: float) -> str:
    moment = datetime.fromtimestamp(seconds, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


# --- Writing ------------------------------------------------------------------------------


class DataFile(NamedTuple):
    """A file of items, with its path below the folder or bucket."""

    key: str
    items: int
    md5: str
    etag: str


class FileWriter:
    """Writes a file of items, which gets its name when it is complete."""

    def __init__(self, root: Path, folder: str, ending: str, *, compress: bool) -> None:
        name = "".join(secrets.choice(NAME_ALPHABET) for _ in range(26))
        self.key = f"{folder}/{name}.{ending}"
        self.path = root / self.key
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.items = self.size = 0
        self._draft = self.path.with_name(f"{self.path.name}.part")
        self._raw = HashedFile(self._draft)
        self._file: Any = self._raw
        if compress:
            self._file = gzip.GzipFile("", "wb", 6, self._raw, mtime=0)

    def write(self, line: bytes, items: int = 1) -> None:
        self._file.write(line)
        self.items += items
        self.size += len(line)

    def finish(self) -> DataFile:
        if self._file is not self._raw:
            self._file.close()
        digest = self._raw.finish()
        self._draft.replace(self.path)
        md5 = base64.b64encode(digest).decode()
        # The ETag of a multipart upload, even of one part, is the hash of the parts' hashes.
        # https://github.com/nathanpeck/s3-upload-stream/issues/7
        return DataFile(self.key, self.items, md5, f"{hashlib.md5(digest).hexdigest()}-1")

    def abandon(self) -> None:
        self._raw.file.close()
        self._draft.unlink(missing_ok=True)


class HashedFile:
    """A file whose MD5 is computed as it is written."""

    def __init__(self, path: Path) -> None:
        self.file = path.open("wb")
        self._md5 = hashlib.md5(usedforsecurity=False)

    def write(self, data: bytes) -> int:
        self._md5.update(data)
        return self.file.write(data)

    def flush(self) -> None:
        self.file.flush()

    def finish(self) -> bytes:
        self.file.flush()
        os.fsync(self.file.fileno())
        self.file.close()
        return self._md5.digest()


def start_export(folder: Path) -> None:
    """Writes the file `_started`, as AWS does, to check that the folder is writable."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / STARTED).touch()


def full_summary(
    *, arn: str, table: Mapping[str, Any], bucket: str, prefix: str, times: tuple[float, float]
) -> dict[str, Any]:
    """The summary of a full export without its counts; `times` are its start and end.

    `table` is DescribeTable's answer.
    """
    start, end = map(iso_time, times)
    return {
        "version": "2020-06-30",
        "exportArn": arn,
        "startTime": start,
        "endTime": end,
        "tableArn": table["TableArn"],
        "tableId": table["TableId"],
        "exportTime": start,
        "s3Bucket": bucket,
        "s3Prefix": prefix or None,
        "s3SseAlgorithm": "AES256",
        "s3SseKmsKeyId": None,
        "manifestFilesS3Key": f"{manifest_folder(prefix, arn)}/{FILES}.json",
        "outputFormat": "DYNAMODB_JSON",
        "exportType": "FULL_EXPORT",
    }


def manifest_folder(prefix: str, arn: str) -> str:
    """The folder of an export below its bucket."""
    return "/".join([*filter(None, prefix.split("/")), FOLDER, arn.rpartition("/")[2]])


def write_manifests(
    folder: Path, files: Sequence[DataFile], summary: Mapping[str, Any], *, size: int = 0
) -> None:
    """Writes the list of files, and last the summary. `size` is the size that AWS would bill."""
    lines = (
        {
            "itemCount": file.items,
            "md5Checksum": file.md5,
            "etag": file.etag,
            "dataFileS3Key": file.key,
        }
        for file in files
    )
    listed = b"".join(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE) for line in lines)
    write_checked(folder, FILES, listed)
    counts = {"billedSizeBytes": size, "itemCount": sum(file.items for file in files)}
    write_checked(folder, SUMMARY, orjson.dumps({**summary, **counts}))


def write_checked(folder: Path, name: str, content: bytes) -> None:
    md5 = base64.b64encode(hashlib.md5(content, usedforsecurity=False).digest())
    write_whole(folder / f"{name}.md5", md5)
    write_whole(folder / f"{name}.json", content)


# --- Reading ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ExportedFile:
    """An existing file of an export; `md5` is from the manifest."""

    path: Path
    items: int
    md5: str


@dataclass(frozen=True, slots=True)
class Export:
    """An export that is complete according to its manifests."""

    folder: Path
    summary: Mapping[str, Any]
    files: tuple[ExportedFile, ...]

    @property
    def is_incremental(self) -> bool:
        return self.summary.get("exportType") == "INCREMENTAL_EXPORT"


def find_exports(folder: Path) -> list[Path]:
    """The export folders in a folder, oldest first; the folder may be one itself."""
    if is_export(folder):
        return [folder]
    for parent in (folder, folder / FOLDER):
        found = sorted(path for path in subfolders(parent) if is_export(path))
        if found:
            return found
    return []


def subfolders(folder: Path) -> Iterator[Path]:
    if folder.is_dir():
        yield from (path for path in folder.iterdir() if path.is_dir())


def is_export(folder: Path) -> bool:
    names = (f"{SUMMARY}.json", f"{FILES}.json", STARTED)
    return any((folder / name).is_file() for name in names)


def read_export(folder: Path) -> Export:
    """The export in a folder; a `BadFile` if part of it is missing or damaged."""
    if not (folder / f"{SUMMARY}.json").is_file():
        raise BadFile(folder, f"{UNFINISHED}.")
    summary = orjson_object(folder / f"{SUMMARY}.json", read_checked(folder, SUMMARY))
    if summary.get("outputFormat") != "DYNAMODB_JSON":
        raise BadFile(
            folder,
            f"the export is in the format {summary.get('outputFormat')}, which is not supported; "
            "export the table as DYNAMODB_JSON.",
        )
    listed = read_checked(folder, FILES).splitlines()
    path = folder / f"{FILES}.json"
    entries = [orjson_object(path, line) for line in listed if line]
    return Export(folder, summary, tuple(exported_file(folder, entry) for entry in entries))


def exported_file(folder: Path, entry: Mapping[str, Any]) -> ExportedFile:
    key = str(entry.get("dataFileS3Key", ""))
    base = folder.parent.parent.resolve()
    _, mark, rest = key.rpartition(f"{FOLDER}/")
    # An export may have been copied to another prefix: only the part from AWSDynamoDB on counts.
    path = base / folder.parent.name / rest if mark else base / key
    if not path.resolve().is_relative_to(base):
        raise BadFile(folder, f"the manifest names a file outside of the export: {key}.")
    if not path.is_file():
        raise BadFile(path, "the manifest names this file, and it is missing; copy it here.")
    return ExportedFile(path, int(entry.get("itemCount", 0)), str(entry.get("md5Checksum", "")))


def read_checked(folder: Path, name: str) -> bytes:
    path = folder / f"{name}.json"
    beside = [folder / f"{name}.{suffix}" for suffix in CHECKSUMS]
    try:
        content = path.read_bytes()
        wanted = next((digest_in(each.read_text()) for each in beside if each.is_file()), None)
    except OSError as error:
        raise BadFile(path, f"it cannot be read: {error.strerror}.") from error
    if wanted and hashlib.md5(content, usedforsecurity=False).digest() != wanted:
        raise BadFile(path, "its checksum is another: it is damaged or was edited; copy it again.")
    return content


def check_md5(path: Path, md5: str) -> None:
    """Checks a file against the checksum in its manifest."""
    wanted = digest_in(md5)
    digest = hashlib.md5(usedforsecurity=False)
    try:
        with path.open("rb") as file:
            while part := file.read(HASHED_AT_ONCE):
                digest.update(part)
    except OSError as error:
        raise BadFile(path, f"it cannot be read: {error.strerror}.") from error
    if wanted and digest.digest() != wanted:
        raise BadFile(path, "its checksum is not the manifest's: it is damaged; copy it again.")


def digest_in(text: str) -> bytes | None:
    """The 16 bytes of an MD5 in base64 or in hexadecimal; None if it is neither."""
    text = text.strip()
    try:
        raw = bytes.fromhex(text) if len(text) == 32 else base64.b64decode(text, validate=True)
    except (ValueError, binascii.Error):
        return None
    return raw if len(raw) == 16 else None


def orjson_object(path: Path, text: bytes) -> dict[str, Any]:
    try:
        members = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise BadFile(path, f"it is no JSON ({error}); copy it again.") from None
    if not isinstance(members, dict):
        raise BadFile(path, "it holds no JSON object; copy it again.")
    return members
