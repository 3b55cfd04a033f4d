"""Putting the items of files into tables, by several batches at once; resumes after interruption.

1. Files are read in order, and batches of up to 25 changes go to a few threads. A key that is still
   being written is waited for, so that of two changes to an item the later one wins.
2. The state file has, for each file, the line up to which everything is done. A load that was
   stopped resumes there; changes that come twice put the same item again. The state belongs to
   these tables: to continue in others would skip the lines that are done, and lose them.
3. A line that cannot be loaded is written to a file of bad lines, with its position and the error,
   and the load continues. It then ends with exit code 1.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import orjson

from bigtime import formats
from bigtime.cli import dump
from bigtime.formats import BadFile, Format, Record
from bigtime.model import write_chunk
from bigtime.ops import JobState, describe_table, key_of
from bigtime.wire import Identity, Request, ValidationException, item_identity

if TYPE_CHECKING:
    from bigtime.store import Store

BATCH: Final = 25
BATCH_BYTES: Final = 4 * 1024 * 1024
SAVE_SECONDS: Final = 1.0
KINDS: Final[dict[str, formats.Kind]] = {
    ".json": "DYNAMODB_JSON",
    ".jsonl": "JSON_LINES",
    ".ndjson": "JSON_LINES",
    ".csv": "CSV",
}


class CannotLoad(Exception):
    """Why a load cannot begin or continue; the message says what to do."""


# --- What to load -------------------------------------------------------------------------


class Source(NamedTuple):
    """A file and the table that it goes into."""

    path: Path
    table: str
    md5: str = ""


def find_sources(path: Path, table: str | None) -> list[Source]:
    """The files behind a path: a file, an export, a folder of files, or a dump of tables."""
    if path.is_file():
        if table is None:
            raise CannotLoad(f"{path} does not say which table it goes into: name it with --table.")
        return [Source(path, table)]
    if not path.is_dir():
        raise CannotLoad(f"{path} does not exist.")
    found = sources_in(path, table)
    if not found:
        folders = sorted(folder for folder in path.iterdir() if folder.is_dir())
        found = [source for folder in folders for source in sources_in(folder, None)]
        if table is not None:
            found = [source for source in found if source.table == table]
    if not found:
        raise CannotLoad(
            f"{path} holds nothing to load: name a file (.json, .jsonl, .csv, with or without .gz),"
            " a folder of such files, or the folder of an export."
        )
    return found


def sources_in(folder: Path, table: str | None) -> list[Source]:
    if (folder / dump.STATE).is_file():
        raise CannotLoad(f"{folder} holds a dump that is unfinished: run the same dump again.")
    exports = formats.find_exports(folder)
    if exports:
        return exported_sources(folder, exports, table)
    paths = sorted(path for path in folder.iterdir() if path.is_file() and kind_of(path))
    return [Source(path, table or folder.name) for path in paths]


def exported_sources(folder: Path, paths: list[Path], table: str | None) -> list[Source]:
    """A full export, and the incremental ones that follow it."""
    exports = [formats.read_export(path) for path in paths]
    full = [export for export in exports if not export.is_incremental]
    if len(full) > 1:
        names = ", ".join(export.folder.name for export in full)
        raise CannotLoad(f"{folder} holds several full exports ({names}): name one of the folders.")
    return [
        Source(file.path, table or exported_table(export), file.md5)
        for export in exports
        for file in export.files
    ]


def exported_table(export: formats.Export) -> str:
    return str(export.summary.get("tableArn", "")).rpartition("/")[2]


def kind_of(path: Path) -> formats.Kind | None:
    name = path.name.lower().removesuffix(".gz")
    is_ours = name.endswith(".state.json") or ".bad." in name or name.startswith(("_", "."))
    return None if is_ours or name.startswith("manifest-") else KINDS.get(Path(name).suffix)


# --- Loading ------------------------------------------------------------------------------


class Put(NamedTuple):
    """A change being written: its line, its item's identity, and the write."""

    line: int
    identity: Identity
    write: dict[str, Any]


class FilePlace(NamedTuple):
    """How much of a file is loaded: the line up to which all is done. Its size must not change."""

    size: int
    line: int = 0
    is_done: bool = False


class BadLineAt(NamedTuple):
    line: int
    fault: str


@dataclass(slots=True)
class Batch:
    """Changes of one file, and the last line that they and the bad lines cover."""

    source: Source
    puts: list[Put] = field(default_factory=list)
    bad: list[BadLineAt] = field(default_factory=list)
    size: int = 0
    line: int = 0
    ends_file: bool = False
    # Set for a file that cannot be read any further.
    damage: str = ""

    @property
    def is_full(self) -> bool:
        return len(self.puts) + len(self.bad) >= BATCH or self.size >= BATCH_BYTES

    def has_item_of(self, put: Put | BadLineAt) -> bool:
        """Whether it already has a change to this item: DynamoDB accepts one per batch."""
        return isinstance(put, Put) and any(known.identity == put.identity for known in self.puts)

    def add(self, put: Put | BadLineAt, size: int) -> None:
        self.line = put.line
        if isinstance(put, BadLineAt):
            self.bad.append(put)
        else:
            self.puts.append(put)
            self.size += size


class TableKey(NamedTuple):
    """The attributes of a table's key, with their types; and the table's identity."""

    name: str
    attributes: dict[str, str]
    table_id: str

    def fault(self, item: Any) -> str:
        for name, type in self.attributes.items():
            if type not in item.get(name, ()):
                return f"the key attribute {name} is missing, or is not of type {type}"
        return ""


@dataclass
class Load:
    """The files to load, the progress of each, and what could not be loaded."""

    sources: list[Source]
    keys: dict[str, TableKey]
    state: JobState
    bad_path: Path
    format: Callable[[Source, TableKey], Format]
    places: dict[str, FilePlace] = field(default_factory=dict)
    loaded: int = 0
    bad: int = 0
    bad_bytes: int = 0
    saved_at: float = 0.0

    # --- The state file ---

    def read_state(self) -> None:
        state = self.state.values
        known = {name: FilePlace(*place) for name, place in state.get("files", {}).items()}
        for source in self.sources:
            now = FilePlace(source.path.stat().st_size)
            place = self.places[str(source.path)] = known.get(str(source.path), now)
            if place.size != now.size:
                raise CannotLoad(
                    f"{source.path} has changed since its load was interrupted: delete"
                    f" {self.state.path} to load everything from the start."
                )
        if not self.state.is_resumed:
            self.bad_path.unlink(missing_ok=True)
            return
        self.loaded, self.bad, self.bad_bytes = state["loaded"], state["bad"], state["badBytes"]
        if self.bad_path.is_file():
            with self.bad_path.open("ab") as file:
                file.truncate(self.bad_bytes)

    def save(self) -> None:
        counts = {"loaded": self.loaded, "bad": self.bad, "badBytes": self.bad_bytes}
        files = {name: [*place] for name, place in self.places.items()}
        self.state.save({"files": files, **counts})
        self.saved_at = time.monotonic()

    # --- The work ---

    def run(self, database: Store, writers: int, tell: Callable[[int], None]) -> None:
        """Loads the rest; `tell` is called with the number of changes so far."""
        self.read_state()
        self.save()
        under_way: deque[tuple[Batch, Future[list[BadLineAt]]]] = deque()
        moving: set[Identity] = set()

        def settle() -> None:
            batch, future = under_way.popleft()
            moving.difference_update(put.identity for put in batch.puts)
            self.note(batch, future.result())
            tell(self.loaded)

        with ThreadPoolExecutor(writers, "load") as threads:
            try:
                for batch in self.batches():
                    identities = {put.identity for put in batch.puts}
                    while under_way and (
                        len(under_way) >= 2 * writers or not moving.isdisjoint(identities)
                    ):
                        settle()
                    moving |= identities
                    under_way.append((batch, threads.submit(write_batch, database, batch)))
                while under_way:
                    settle()
            finally:
                threads.shutdown(cancel_futures=True)
                self.save()
        self.state.finish()

    def batches(self) -> Iterator[Batch]:
        for source in self.sources:
            if not self.places[str(source.path)].is_done:
                yield from self.batches_of(source, self.keys[source.table])

    def batches_of(self, source: Source, key: TableKey) -> Iterator[Batch]:
        after = self.places[str(source.path)].line
        batch = Batch(source, line=after)
        try:
            if source.md5:
                formats.check_md5(source.path, source.md5)
            for record in formats.read_records(source.path, self.format(source, key), after=after):
                put = read_put(record, key)
                if batch.is_full or batch.has_item_of(put):
                    yield batch
                    batch = Batch(source, line=batch.line)
                batch.add(put, record.size)
        except BadFile as error:
            batch.damage = str(error)
        batch.ends_file = True
        yield batch

    def note(self, batch: Batch, refused: list[BadLineAt]) -> None:
        """Counts a batch that was written; saves the state from time to time."""
        name = str(batch.source.path)
        bad = sorted(batch.bad + refused)
        if batch.damage:
            bad.append(BadLineAt(batch.line + 1, f"{batch.damage} Nothing after it was loaded."))
        if bad:
            entries = (
                {"file": name, "line": line, "table": batch.source.table, "fault": fault}
                for line, fault in bad
            )
            with self.bad_path.open("ab") as file:
                file.writelines(
                    orjson.dumps(entry, option=orjson.OPT_APPEND_NEWLINE) for entry in entries
                )
                self.bad_bytes = file.tell()
        self.bad += len(bad)
        self.loaded += len(batch.puts) - len(refused)
        place = self.places[name]
        self.places[name] = place._replace(line=batch.line, is_done=batch.ends_file)
        if time.monotonic() - self.saved_at > SAVE_SECONDS:
            self.save()


def read_put(record: Record, key: TableKey) -> Put | BadLineAt:
    """The write for a record, or why there can be none."""
    put, delete = record.change
    item = delete if put is None else put
    fault = record.fault or key.fault(item)
    if fault or item is None:
        return BadLineAt(record.line, fault)
    write = {"DeleteRequest": {"Key": item}} if put is None else {"PutRequest": {"Item": item}}
    return Put(record.line, item_identity(key.name, item, key.attributes), write)


def write_batch(database: Store, batch: Batch) -> list[BadLineAt]:
    """Writes a batch; returns the changes the table refused, found by trying each by itself."""
    table = batch.source.table
    if not batch.puts:
        return []
    try:
        database.run(write_chunk([(table, put.write) for put in batch.puts]))
    except ValidationException:
        return [bad for put in batch.puts for bad in write_alone(database, table, put)]
    return []


def write_alone(database: Store, table: str, put: Put) -> Iterator[BadLineAt]:
    ((kind, content),) = put.write.items()
    operation = "PutItem" if kind == "PutRequest" else "DeleteItem"
    try:
        database.send(Request(operation, {"TableName": table, **content}))
    except ValidationException as error:
        yield BadLineAt(put.line, f"{error.code}: {error.message}")


def table_key(database: Store, name: str) -> TableKey:
    table = database.run(describe_table(name))
    if table is None:
        raise CannotLoad(
            f"There is no table {name}: make it first (`bigtime tables create SYSTEM`, or"
            " CreateTable), or name another with --table."
        )
    return TableKey(name, key_of(table), table.get("TableId", ""))
