"""The chore that imports: a chunk of lines per transaction, with the position it reached.

1. The files are listed once. Each is read in order; a chunk's items, its counts and the line where
   it ended are committed together, so that after a crash nothing is done twice or left out.
2. A line whose item is rejected is counted and written to the import's log, and reading continues.
   After a line that cannot be parsed the rest of its file is skipped, as AWS does.
3. The last transaction stores the table under its name.

AWS: "Import format quotas and validation"
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/S3DataImport.Validation.html
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

import orjson

from bigtime import formats
from bigtime.engine import storage
from bigtime.engine.housekeeping.complaints import Complaints
from bigtime.engine.housekeeping.exports import failure_of
from bigtime.engine.operations import Write
from bigtime.engine.storage import Database, Table, Transaction, Transfer, TransferKind, Work
from bigtime.wire import DynamoDBError, check_item

log = logging.getLogger("bigtime.engine")

CHUNK: Final = 500
CHUNK_BYTES: Final = 2 * 1024 * 1024
MOST_FILES: Final = 50_000
LOGS: Final = "_imports"
REST_LEFT_OUT: Final = "The rest of the file was not read."
INVALID_ITEMS: Final = (
    "Some of the items failed validation checks and were not imported. "
    "Please check CloudWatch error logs for more details."
)


@dataclass(slots=True)
class Place:
    """An import's position: the file, the line in it, and the records that follow."""

    file: int
    line: int
    records: Iterator[formats.Record]


@dataclass(slots=True)
class Chunk:
    """Consecutive records of one file, and whether they are its last."""

    records: list[formats.Record] = field(default_factory=list)
    damage: str = ""
    is_last: bool = False

    @property
    def line(self) -> int:
        return self.records[-1].line if self.records else 0

    @property
    def count(self) -> int:
        """The number of records, including one that could not be parsed."""
        return len(self.records) + bool(self.damage)

    @property
    def bytes(self) -> int:
        return sum(record.size + 1 for record in self.records)


class Imports:
    """The imports in progress, as this process knows them."""

    kind: TransferKind = "import"

    def __init__(self, database: Database, complaints: Complaints) -> None:
        self._database = database
        self._complaints = complaints
        # `Engine.tidy` may be called while the housekeeper is running.
        self._lock = threading.Lock()
        self._places: dict[str, Place] = {}

    def advance(self) -> bool:
        """Advances every import by a chunk; True if one has more to do."""
        with self._lock:
            with self._database.reading() as reader:
                running = storage.transfers_in_progress(reader, self.kind)
            steps = [partial(self._advance, transfer) for transfer in running]
            has_more = [self._complaints.attempt(step, self.kind) for step in steps]
            return any(has_more)

    def _advance(self, transfer: Transfer) -> bool:
        if "files" not in transfer.state:
            return self._begin(transfer)
        files = transfer.state["files"]
        if transfer.state["file"] >= len(files):
            self._finish(transfer)
            return False
        chunk = self._read(transfer)
        self._commit(transfer, chunk)
        return True

    def _begin(self, transfer: Transfer) -> bool:
        source = transfer.state["asked"]["S3BucketSource"]
        try:
            bucket = formats.bucket_folder(Path(transfer.state["root"]), source["S3Bucket"])
            paths = formats.objects(bucket, source.get("S3KeyPrefix", ""))
            if len(paths) > MOST_FILES:
                raise formats.BucketError(
                    "TooManyObjects",
                    f"An {self.kind} takes {MOST_FILES:,} objects, not {len(paths):,}",
                )
            files = [path.relative_to(bucket).as_posix() for path in paths]
            total = sum(path.stat().st_size for path in paths)
        except (formats.BucketError, OSError) as error:
            self._fail(transfer, error)
            return False
        counts = dict.fromkeys(("file", "line", "errors", "processed", "imported", "bytes"), 0)
        begun = transfer.with_state(files=files, total=total, logged=0, **counts)
        self._run(partial(save, begun), transfer)
        return True

    # --- A chunk ---

    def _read(self, transfer: Transfer) -> Chunk:
        state = transfer.state
        place = self._places.get(transfer.arn)
        if place is None or (place.file, place.line) != (state["file"], state["line"]):
            place = self._places[transfer.arn] = self._open(transfer)
        chunk, size = Chunk(), 0
        try:
            while len(chunk.records) < CHUNK and size < CHUNK_BYTES:
                record = next(place.records, None)
                if record is None:
                    chunk.is_last = True
                    break
                chunk.records.append(record)
                size += record.size
                if record.unreadable:
                    chunk.is_last = True
                    break
        except formats.BadFile as error:
            chunk.damage, chunk.is_last = str(error), True
        place.line = chunk.line or place.line
        if chunk.is_last:
            del self._places[transfer.arn]
        return chunk

    def _open(self, transfer: Transfer) -> Place:
        state = transfer.state
        path = object_path(transfer, state["files"][state["file"]])
        options = state["asked"].get("InputFormatOptions", {}).get("Csv", {})
        format = formats.Format(
            kind=state["asked"]["InputFormat"],
            compression=state["compression"],
            delimiter=options.get("Delimiter", ","),
            header=tuple(options.get("HeaderList", ())),
            types=self._types(transfer),
        )
        records = formats.read_records(path, format, after=state["line"])
        return Place(state["file"], state["line"], records)

    def _types(self, transfer: Transfer) -> dict[str, str]:
        """The types of a CSV file's columns that are not strings."""
        table = storage.imported_definition(transfer)
        return {attribute.name: attribute.type for attribute in table.attributes}

    def _commit(self, transfer: Transfer, chunk: Chunk) -> None:
        table = Table(storage.imported_definition(transfer))

        def work(transaction: Transaction) -> None:
            faults = put_records(chunk, partial(put_record, transaction, table))
            state = transfer.state
            changed = after_chunk(transfer, chunk, faults).with_state(
                imported=state["imported"] + chunk.count - len(faults),
                bytes=state["bytes"] + chunk.bytes,
                logged=write_log(transfer, faults),
            )
            storage.save_transfer(transaction, changed)

        self._run_chunk(work, transfer)

    def _run_chunk(self, work: Work[None], transfer: Transfer) -> None:
        try:
            self._run(work, transfer)
        except BaseException:
            # The chunk is read again.
            self._places.pop(transfer.arn, None)
            raise

    # --- The end ---

    def _finish(self, transfer: Transfer) -> None:
        now = self._database.clock()
        ended = transfer.end("COMPLETED", now, files=[])
        if transfer.state["errors"]:
            message = f"{INVALID_ITEMS} (They are in {log_path(transfer)}.)"
            failure = ("ItemValidationError", message)
            ended = transfer.end("FAILED", now, files=[], failure=failure)
        self._run(partial(storage.finish_import, self._database.catalogue, ended), transfer)

    def _fail(self, transfer: Transfer, error: formats.BucketError | OSError) -> None:
        """Ends an import that could not read anything."""
        ended = transfer.end("FAILED", self._database.clock(), failure=failure_of(error))
        self._run(partial(storage.give_up_import, self._database.catalogue, ended), transfer)

    def _run(self, work: Work[None], transfer: Transfer) -> None:
        """Commits a step, unless another process has already done it."""

        def step(transaction: Transaction) -> None:
            if storage.find_transfer(transaction.connection, self.kind, transfer.arn) == transfer:
                work(transaction)

        self._database.committer.run(step)


def save(transfer: Transfer, transaction: Transaction) -> None:
    storage.save_transfer(transaction, transfer)


def after_chunk(transfer: Transfer, chunk: Chunk, faults: list[tuple[int, str]]) -> Transfer:
    """The operation's state after a chunk: its position in the files, and its counts."""
    state = transfer.state
    return transfer.with_state(
        file=state["file"] + chunk.is_last,
        line=0 if chunk.is_last else chunk.line,
        processed=state["processed"] + chunk.count,
        errors=state["errors"] + len(faults),
    )


def put_records(chunk: Chunk, put: Callable[[formats.Record], str]) -> list[tuple[int, str]]:
    """Puts the valid records; returns the line and the fault of each of the others."""
    faults = []
    for record in chunk.records:
        fault = record.fault
        try:
            fault = fault or put(record)
        except DynamoDBError as error:
            fault = error.message
        if fault:
            faults.append(
                (record.line, f"{fault}. {REST_LEFT_OUT}" if record.unreadable else fault)
            )
    if chunk.damage:
        faults.append((chunk.line + 1, chunk.damage))
    return faults


def put_record(transaction: Transaction, table: Table, record: formats.Record) -> str:
    """Puts the record's item; returns or raises the reason if it cannot."""
    item = record.change.put
    if item is None:
        return "A record of an incremental export that deletes cannot be imported"
    blobs = table.item_blobs(item)
    _, size = check_item(item)
    Write("put", table, item, *blobs, size).plan(transaction).apply(transaction)
    return ""


def object_path(transfer: Transfer, key: str) -> Path:
    source = transfer.state["asked"]["S3BucketSource"]
    return Path(transfer.state["root"], source["S3Bucket"], key)


def log_path(transfer: Transfer) -> Path:
    """The path of an import's log: no bucket's name begins with an underscore."""
    return Path(transfer.state["root"]) / LOGS / f"{transfer.arn.rpartition('/')[2]}.jsonl"


def write_log(transfer: Transfer, faults: list[tuple[int, str]]) -> int:
    """Writes the faults after the log's last committed length; returns its new length."""
    state = transfer.state
    if not faults:
        return int(state["logged"])
    entries = b"".join(log_entry(transfer, line, fault) for line, fault in faults)
    path = log_path(transfer)
    try:
        return append(path, state["logged"], entries)
    except OSError as error:
        # A read-only folder is a valid source.
        log.warning("%s cannot be written (%s): %s", path, error.strerror, entries.decode())
        return int(state["logged"])


def append(path: Path, length: int, entries: bytes) -> int:
    """Writes `entries` after a file's first `length` bytes; returns its new length."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.truncate(length)
        file.write(entries)
        file.flush()
        os.fsync(file.fileno())
        return file.tell()


def log_entry(transfer: Transfer, line: int, fault: str) -> bytes:
    """A log entry as AWS writes it to CloudWatch; its item index is that of the line."""
    pointer = item_pointer(transfer, line)
    entry = {"itemS3Pointer": pointer, "importArn": transfer.arn, "errorMessages": [fault]}
    return orjson.dumps(entry, option=orjson.OPT_APPEND_NEWLINE)


def item_pointer(transfer: Transfer, line: int) -> dict[str, object]:
    state = transfer.state
    return {
        "bucket": state["asked"]["S3BucketSource"]["S3Bucket"],
        "key": state["files"][state["file"]],
        "itemIndex": line,
    }
