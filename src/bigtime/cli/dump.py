"""Writing the items of a table to files, by several scans at once; resumes after interruption.

Each segment of the table is scanned by a thread of its own, into files of about `FILE_BYTES`. When
a file is complete it is renamed and recorded in the state file, with the key that the scan had
reached; a dump that was stopped resumes each segment there. The state is deleted when the dump is
done: only then are the manifests of an export written, and the loader refuses a folder that still
has a state file.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import orjson

from bigtime import formats
from bigtime.formats import DataFile, FileWriter
from bigtime.ops import Segment, run_scans, scan_pages
from bigtime.wire import Item

if TYPE_CHECKING:
    from bigtime.cli.data import FileFormat
    from bigtime.store import Store

FILE_BYTES: Final = 16 * 1024 * 1024
PAGE_ITEMS: Final = 2_000
"""A page of 1 MB has twelve thousand of the smallest items, which take 20 MB as Python objects."""
STATE: Final = "dump.state.json"
ENDINGS: Final[dict[FileFormat, str]] = {
    "dynamodb-json": "json",
    "json-lines": "jsonl",
    "csv": "csv",
}


class CannotDump(Exception):
    """Why a dump cannot begin or continue; the message says what to do."""


@dataclass
class Dump:
    """A dump of one table into a folder. `columns` are those of a CSV file."""

    folder: Path
    table: dict[str, Any]
    format: FileFormat
    compress: bool
    consistent: bool
    segments: list[Segment]
    export_id: str
    started_at: float
    columns: list[str] = field(default_factory=list)
    types: dict[str, str] = field(default_factory=dict)
    files: list[DataFile] = field(default_factory=list)
    size: int = 0
    seen: int = 0
    stopping: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def is_csv(self) -> bool:
        return self.format == "csv"

    @property
    def data_folder(self) -> str:
        if self.format != "dynamodb-json":
            return self.folder.name
        return f"{formats.manifest_folder(self.folder.name, self.export_id)}/data"

    # --- The state file ---

    @property
    def state_path(self) -> Path:
        return self.folder / STATE

    def save(self) -> None:
        state = {
            "tableId": self.table["TableId"],
            "format": self.format,
            "compress": self.compress,
            "consistent": self.consistent,
            "exportId": self.export_id,
            "startedAt": self.started_at,
            "columns": self.columns,
            "types": self.types,
            "segments": [[segment.key, segment.is_done] for segment in self.segments],
            "files": [list(file) for file in self.files],
            "size": self.size,
            "seen": self.seen,
        }
        formats.write_whole(self.state_path, orjson.dumps(state))

    # --- Scanning ---

    def run(self, database: Store, tell: Callable[[int], None]) -> None:
        """Scans the rest; `tell` is called regularly with the number of items so far."""
        if self.is_csv and not self.columns:
            self.find_columns(database)
        self.save()
        scans = [
            partial(self.scan, database, number)
            for number, segment in enumerate(self.segments)
            if not segment.is_done
        ]
        run_scans(scans, len(self.segments), lambda: tell(self.seen), self.stopping)
        self.finish()

    def find_columns(self, database: Store) -> None:
        """Reads the table once, for the names and types of its attributes."""
        keys = [key["AttributeName"] for key in self.table["KeySchema"]]
        types: dict[str, set[str]] = {}
        for page, _ in self.pages(database, 0, 1, None):
            for item in page:
                for name, value in item.items():
                    types.setdefault(name, set()).update(value)
        self.columns = [*keys, *sorted(set(types) - set(keys))]
        self.types = {name: "/".join(sorted(found)) for name, found in types.items()}

    def scan(self, database: Store, number: int) -> None:
        segment = self.segments[number]
        writer: FileWriter | None = None
        try:
            for page, key in self.pages(database, number, len(self.segments), segment.key):
                writer = writer or self.open_file()
                for item in page:
                    writer.write(self.line(item))
                with self.lock:
                    self.seen += len(page)
                if key is None or writer.size >= FILE_BYTES:
                    self.keep(writer, segment, key)
                    writer = None
                if self.stopping.is_set():
                    break
        finally:
            if writer is not None:
                writer.abandon()

    def pages(
        self, database: Store, number: int, of: int, after: Item | None
    ) -> Iterator[tuple[list[Item], Item | None]]:
        """A segment's pages after a key, each with the key that the next one starts after."""
        params: dict[str, Any] = {"TableName": self.table["TableName"], "Limit": PAGE_ITEMS}
        if self.consistent:
            params["ConsistentRead"] = True
        return scan_pages(database, params, after, part=(number, of))

    def line(self, item: Item) -> bytes:
        if self.format == "dynamodb-json":
            return formats.item_line(item)
        if self.format == "json-lines":
            return formats.plain_line(item)
        unknown = item.keys() - set(self.columns)
        if unknown:
            raise CannotDump(
                f"{self.table['TableName']} has an attribute {min(unknown)!r}, which is no column:"
                " name it in --columns, or leave --columns out and dump again."
            )
        return formats.row_line(formats.cell_of(item.get(name)) for name in self.columns)

    def open_file(self) -> FileWriter:
        ending = ENDINGS[self.format] + (".gz" if self.compress else "")
        writer = FileWriter(self.folder.parent, self.data_folder, ending, compress=self.compress)
        if self.is_csv:
            writer.write(formats.row_line(self.columns), items=0)
        return writer

    def keep(self, writer: FileWriter, segment: Segment, key: Item | None) -> None:
        file = writer.finish()
        with self.lock:
            self.files.append(file)
            self.size += writer.size
            segment.key, segment.is_done = key, key is None
            self.save()

    def finish(self) -> None:
        if self.format == "dynamodb-json":
            summary = formats.full_summary(
                arn=f"{self.table['TableArn']}/export/{self.export_id}",
                table=self.table,
                bucket=self.folder.parent.absolute().name,
                prefix=self.folder.name,
                times=(self.started_at, time.time()),
            )
            folder = self.folder / formats.FOLDER / self.export_id
            formats.write_manifests(folder, self.files, summary, size=self.size)
        self.state_path.unlink()


def begin_dump(
    folder: Path,
    table: dict[str, Any],
    *,
    format: FileFormat,
    compress: bool,
    consistent: bool,
    segments: int,
    columns: list[str],
) -> Dump:
    """A new dump into the folder, or the unfinished one found there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        state = folder / STATE
        if state.is_file():
            return read_dump(folder, table, orjson.loads(state.read_bytes()), format)
        others = [path.name for path in folder.iterdir() if path.name != formats.FOLDER]
    except OSError as error:
        raise CannotDump(f"{folder} cannot be written: {error.strerror}.") from error
    if others:
        raise CannotDump(
            f"{folder} holds other files already ({min(others)}): choose an empty folder."
        )
    now = time.time()
    dump = Dump(
        folder=folder,
        table=table,
        format=format,
        compress=compress,
        consistent=consistent,
        segments=[Segment() for _ in range(segments)],
        export_id=formats.export_id(now),
        started_at=now,
        columns=columns,
    )
    if format == "dynamodb-json":
        formats.start_export(folder / formats.FOLDER / dump.export_id)
    return dump


def read_dump(
    folder: Path, table: dict[str, Any], state: dict[str, Any], format: FileFormat
) -> Dump:
    if (state["tableId"], state["format"]) != (table["TableId"], format):
        raise CannotDump(
            f"A dump of another table or in another format was begun in {folder}: choose another"
            f" folder, or delete this one."
        )
    dump = Dump(
        folder=folder,
        table=table,
        format=format,
        compress=state["compress"],
        consistent=state["consistent"],
        segments=[Segment(key, is_done) for key, is_done in state["segments"]],
        export_id=state["exportId"],
        started_at=state["startedAt"],
        columns=state["columns"],
        types=state["types"],
        files=[DataFile(*file) for file in state["files"]],
        size=state["size"],
    )
    dump.seen = sum(file.items for file in dump.files)
    drop_strays(dump)
    return dump


def drop_strays(dump: Dump) -> None:
    """Deletes files that an interrupted dump wrote, in part or in full, but did not record."""
    known = {dump.folder.parent / file.key for file in dump.files}
    data = dump.folder.parent / dump.data_folder
    if data.is_dir():
        for path in data.iterdir():
            if path.is_file() and path not in known and path.name != STATE:
                with suppress(OSError):
                    path.unlink()
