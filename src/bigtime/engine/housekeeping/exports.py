"""Writes an export of the moment that a request has pinned, a chunk at a time.

When an export is restarted, the files of the first attempt are deleted; without a manifest summary
they are not taken for an export.

AWS: "DynamoDB table export output format", of which `formats` writes the files.
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/S3DataExport.Output.html
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

import orjson

from bigtime import formats
from bigtime.engine import storage
from bigtime.engine.operations import ExportFilter, read_export_filter
from bigtime.engine.storage import Database, Moment, Table, Transfer
from bigtime.formats import BucketError, DataFile, FileWriter
from bigtime.wire import Item

FILE_BYTES: Final = 64 * 1024 * 1024
# Billed for an incremental export that found nothing: DDB-EXPORT-019 of `operations.transfers`.
LEAST_INCREMENTAL_BYTES: Final = 10_000_000


def write_export(database: Database, transfer: Transfer) -> Iterator[None]:
    """Writes the files of an export and its manifests, or records why it failed."""
    asked = transfer.state["asked"]
    try:
        bucket = formats.bucket_folder(Path(transfer.state["root"]), asked["S3Bucket"])
        formats.prefix_folder(bucket, asked.get("S3Prefix", ""))
        with Writer(bucket, transfer) as writer:
            for lines in export_lines(database, transfer):
                for line, size in lines:
                    writer.add(line, size)
                yield
            ended = writer.finish(database.clock())
    except (BucketError, OSError, storage.UnreadableItem) as error:
        ended = transfer.end("FAILED", database.clock(), failure=failure_of(error))
    database.committer.run(partial(storage.finish_export, database.catalogue, ended))


def failure_of(error: BucketError | OSError | storage.UnreadableItem) -> tuple[str, str]:
    """The FailureCode and the FailureMessage of an export, an import or a bulk operation."""
    if isinstance(error, OSError):
        reason = error.strerror or str(error)
        # A write to an open file that fails, as on a full disk, does not tell its name.
        return "S3AccessDenied", f"{error.filename}: {reason}" if error.filename else reason
    code = error.code if isinstance(error, BucketError) else "InternalServerError"
    return code, str(error)


def export_lines(database: Database, transfer: Transfer) -> Iterator[list[tuple[bytes, int]]]:
    """The lines of an export, in chunks, each with its billed size."""
    state = transfer.state
    moment = Moment(*state["moment"])
    table = Table(storage.imported_definition(transfer))
    chosen = read_export_filter(table, state["filter"]) if "filter" in state else None
    if "window" not in state:
        for rows in storage.rows_at(database.file, moment):
            lines = [(full_line(table, row, chosen), row[2]) for row in rows]
            yield [(line, size) for line, size in lines if line]
        return
    with_old = state["window"]["ExportViewType"] == "NEW_AND_OLD_IMAGES"
    for changes in storage.changed_items(database.file, moment, state["until"]):
        lines = [
            (line, len(line))
            for change in changes
            if (line := incremental_line(table, change, chosen, with_old=with_old))
        ]
        yield lines


def full_line(table: Table, row: storage.ItemRow, chosen: ExportFilter | None) -> bytes:
    """An item as AWS writes it; empty if the filter excludes it."""
    partition, sort, _, blob = row
    item = read_item(table, partition, sort, blob)
    if chosen is None:
        return b'{"Item":' + blob + b"}\n"
    return formats.item_line(chosen.project(item)) if chosen.takes(partition, sort, item) else b""


def incremental_line(
    table: Table, change: storage.ChangedItem, chosen: ExportFilter | None, *, with_old: bool
) -> bytes:
    """A change as AWS writes it; empty for an item created and deleted within the window."""
    place = change.partition, change.sort
    old = None if change.old is None else read_item(table, *place, change.old)
    new = None if change.new is None else read_item(table, *place, change.new)
    latest = old if new is None else new
    if latest is None or (chosen is not None and not chosen.takes(*place, latest)):
        return b""
    if chosen is not None:
        old, new = (None if image is None else chosen.project(image) for image in (old, new))
    key, micros = table.codec.key(*place), int(change.at * 1_000_000)
    return formats.change_line(key, old if with_old else None, new, micros)


def read_item(table: Table, partition: bytes, sort: bytes, blob: bytes) -> Item:
    try:
        item: Item = orjson.loads(blob)
    except orjson.JSONDecodeError:
        raise storage.UnreadableItem(table.name, table.codec.key(partition, sort)) from None
    return item


class Writer:
    """The files of one export; without `finish` nothing is left of them."""

    def __init__(self, bucket: Path, transfer: Transfer) -> None:
        self._bucket = bucket
        self._transfer = transfer
        self._prefix: str = transfer.state["asked"].get("S3Prefix", "")
        self._key = formats.manifest_folder(self._prefix, transfer.arn)
        self._folder = bucket / self._key
        self._files: list[DataFile] = []
        self._size = 0
        self._is_finished = False
        self._discard()
        formats.start_export(self._folder)
        self._file = self._open()

    def add(self, line: bytes, size: int) -> None:
        self._file.write(line)
        self._size += size
        if self._file.size >= FILE_BYTES:
            self._files.append(self._file.finish())
            self._file = self._open()

    def finish(self, now: float) -> Transfer:
        """Writes the manifests; returns the completed transfer."""
        self._files.append(self._file.finish())
        if "window" in self._transfer.state:
            self._files = [self._move_to_shared_folder(file) for file in self._files]
            self._size = max(self._size, LEAST_INCREMENTAL_BYTES)
        formats.write_manifests(self._folder, self._files, self._summary(now), size=self._size)
        self._is_finished = True
        return self._transfer.end(
            "COMPLETED",
            now,
            manifest=f"{self._key}/manifest-summary.json",
            items=sum(file.items for file in self._files),
            size=self._size,
        )

    def _open(self) -> FileWriter:
        return FileWriter(self._bucket, f"{self._key}/data", "json.gz", compress=True)

    def _move_to_shared_folder(self, file: DataFile) -> DataFile:
        """Incremental exports with the same prefix share one data folder."""
        key = f"{Path(self._key).parent.as_posix()}/data/{Path(file.key).name}"
        (self._bucket / key).parent.mkdir(exist_ok=True)
        (self._bucket / file.key).replace(self._bucket / key)
        return file._replace(key=key)

    def _summary(self, now: float) -> dict[str, Any]:
        state, asked = self._transfer.state, self._transfer.state["asked"]
        arn, definition = self._transfer.arn, storage.imported_definition(self._transfer)
        table = {"TableArn": arn.partition("/export/")[0], "TableId": definition.id}
        summary = formats.full_summary(
            arn=arn,
            table=table,
            bucket=asked["S3Bucket"],
            prefix=self._prefix,
            times=(self._transfer.started_at, now),
        )
        summary["s3SseAlgorithm"] = asked.get("S3SseAlgorithm", "AES256")
        summary["s3SseKmsKeyId"] = asked.get("S3SseKmsKeyId")
        if "window" not in state:
            return {**summary, "exportTime": formats.iso_time(state["time"])}
        window = state["window"]
        del summary["exportTime"]
        return {
            **summary,
            "version": "2023-08-01",
            "exportFromTime": formats.iso_time(window["ExportFromTime"]),
            "exportToTime": formats.iso_time(window["ExportToTime"]),
            "outputView": window["ExportViewType"],
            "exportType": "INCREMENTAL_EXPORT",
        }

    def _discard(self) -> None:
        """Deletes the files of an attempt, beginning with the summary that completes it."""
        if self._folder.is_dir():
            (self._folder / "manifest-summary.json").unlink(missing_ok=True)
            shutil.rmtree(self._folder)

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, *_: object) -> None:
        if not self._is_finished:
            self._file.abandon()
            with suppress(OSError):
                self._discard()
