"""Checks a file's contents for consistency, while others go on using it.

For each table: every page is read, so that its checksum is verified; every item is decoded, and its
key and size are recomputed; every index, and the list of expiring items, must have exactly the
entries that the items require; counts must be the sums; the last stream record of each item must
show the current item; every change in the change log must be readable. Deleted tables that are
kept, and the files of backups, are read too. It works in chunks, each in a short snapshot of its
own, so that the log does not have to grow meanwhile; only a count is one longer read.

An index can be repaired, since it is derived from the items: entries are added and removed one by
one, each checked again inside the write that changes it; an index with a damaged page is rebuilt.
An item that cannot be read, or is on a damaged page, is only reported: nothing here knows what
it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

import apsw
import orjson

from bigtime.engine.storage import scrub_entries as entries
from bigtime.engine.storage.backfill import BaseRow, pending_backfills, rebuild_index, recount
from bigtime.engine.storage.change_log import last_sequence_of, read_changes
from bigtime.engine.storage.commit import Work
from bigtime.engine.storage.damage import DamagedFileException, UnreadableItem, is_damage
from bigtime.engine.storage.database import Database
from bigtime.engine.storage.definition import TableDefinition
from bigtime.engine.storage.discard import DAMAGED, discard_damaged, tables_to_discard
from bigtime.engine.storage.file import all_rows
from bigtime.engine.storage.format import FileFormatError
from bigtime.engine.storage.keys import base_blobs, base_key
from bigtime.engine.storage.recovery import kept_tables
from bigtime.engine.storage.restore import backup_fault, backup_files
from bigtime.engine.storage.table import Index, Table
from bigtime.engine.storage.vector_index import VectorIndex
from bigtime.wire import Item, item_size

ROW: Final = "id, pk, sk, size, item"

Progress: TypeAlias = Callable[[str, int, int], None]
"""Called with what is being checked, the position in it, and its total."""


class Fault(NamedTuple):
    """A fault that was found; `is_repaired` says whether it has been repaired."""

    table: str
    what: str
    is_repaired: bool = False


@dataclass(slots=True)
class Findings:
    """What a scrub checked, and the faults it found."""

    tables: int = 0
    items: int = 0
    entries: int = 0
    records: int = 0
    changes: int = 0
    backups: int = 0
    faults: list[Fault] = field(default_factory=list)

    @property
    def faults_left(self) -> list[Fault]:
        return [fault for fault in self.faults if not fault.is_repaired]


def scrub(
    database: Database, *, repair: bool = False, progress: Progress = lambda what, at, of: None
) -> Findings:
    """Checks every table of an open file."""
    findings = Findings()
    database.catalogue.refresh()
    for table in list(database.catalogue.tables.values()):
        Scrub(database, table, findings, progress, repair=repair).run()
        findings.tables += 1
    with database.reading() as reader:
        kept = [bare_table(each.definition) for each in kept_tables(reader)]
        files = backup_files(reader)
        discarded = [name for name in tables_to_discard(reader) if not name.endswith(DAMAGED)]
    for name in discarded:
        check_discarded(database, name, findings, repair=repair)
    for table in kept:
        Scrub(database, table, findings, progress, repair=False).run()
    for backup in files:
        findings.backups += 1
        fault = backup_fault(database.file.path, backup)
        if fault:
            findings.faults.append(Fault(backup.table_name, fault))
    return findings


def check_discarded(database: Database, rows: str, findings: Findings, *, repair: bool) -> None:
    """Checks rows waiting to be dropped; a repair lets them be dropped despite the damage."""
    try:
        with database.file.reader() as reader:
            all_rows(reader, f"PRAGMA integrity_check({rows})")
    except apsw.SQLError:
        return  # dropped in the meantime
    except apsw.Error as error:
        if not is_damage(error):
            raise
        if repair:
            database.committer.run(partial(discard_damaged, rows))
        what = f"what is left of it has a damaged page ({error})"
        findings.faults.append(Fault("a deleted table or index", what, is_repaired=repair))


def bare_table(definition: TableDefinition) -> Table:
    """A deleted table as it is kept: its items and its change log."""
    return Table(replace(definition, indexes=(), stream=None, ttl_attribute=None))


def scrub_file(
    path: Path, *, repair: bool = False, progress: Progress = lambda what, at, of: None
) -> Findings:
    """Opens an existing file, checks every table, and closes it."""
    if not path.is_file():
        raise FileFormatError(f"{path} is not there.")
    database = Database(path.resolve(), durability="full")
    try:
        if repair and database.file.is_read_only:
            raise FileFormatError(f"{path} is read-only: it can be looked at, and not repaired.")
        return scrub(database, repair=repair, progress=progress)
    finally:
        database.close()


class Scrub:
    """One table under examination."""

    def __init__(
        self,
        database: Database,
        table: Table,
        findings: Findings,
        progress: Progress,
        *,
        repair: bool,
    ) -> None:
        self.database = database
        self.table = table
        self.findings = findings
        self.progress = progress
        self.repair = repair
        # An index that is still being backfilled is expected to lack entries.
        self.indexes = [index for index in table.indexes if not index.definition.building]
        self.vectors = [index for index in table.vectors if not index.definition.building]

    def run(self) -> None:
        self.check_pages()
        for part in (self.check_items, self.check_indexes, self.check_counts):
            self.guard(part)
        self.guard(self.check_expiring, "the list of expiring items has")
        for part in (self.check_stream, self.check_log):
            self.guard(part)

    def guard(self, part: Callable[[], object], what: str = "the table has") -> bool:
        """Runs one part of the check; a damaged page ends it, is a fault, and gives False."""
        try:
            part()
        except (apsw.SQLError, apsw.SchemaChangeError):
            # The table or a part of it was deleted by another process: nothing is left to check.
            self.database.catalogue.refresh()
            table = self.database.catalogue.tables.get(self.table.name)
            if table is not None and table.definition == self.table.definition:
                raise
        except apsw.Error as error:
            if not is_damage(error):
                raise
            self.note(f"{what} a damaged page ({error})")
            return False
        return True

    def note(self, what: str, *, is_repaired: bool = False) -> None:
        self.findings.faults.append(Fault(self.table.name, what, is_repaired))

    def mend(self, what: str, work: Work[object]) -> None:
        """Reports a fault, and repairs it with `work` if repairs were requested."""
        if self.repair:
            self.database.committer.run(work)
        self.note(what, is_repaired=self.repair)

    def total(self, rows: str) -> int:
        with self.database.file.reader() as reader:
            return int(reader.execute(f"SELECT max(rowid) FROM {rows}").get or 0)

    # Pages and items.

    def check_pages(self) -> None:
        whats = {index.rows: f"index {index.name} has" for index in self.table.all_indexes}
        for rows in self.table.physical():
            self.progress(f"{self.table.name}: pages", 0, 0)
            what = whats.get(rows, "the table has")
            if not self.guard(partial(self.check_integrity, rows), what):
                self.mend_damaged(rows)

    def check_integrity(self, rows: str) -> None:
        with self.database.file.reader() as reader:
            for (fault,) in all_rows(reader, f"PRAGMA integrity_check({rows})"):
                if fault != "ok":
                    self.note(str(fault))

    def mend_damaged(self, rows: str) -> None:
        """Rebuilds a damaged index; what is not repaired is left out of the remaining checks."""
        for index in self.indexes:
            if index.rows == rows and self.repair and self.rebuild(index):
                fault = self.findings.faults.pop()
                self.findings.faults.append(fault._replace(is_repaired=True))
                return
        self.indexes = [index for index in self.indexes if index.rows != rows]
        self.vectors = [index for index in self.vectors if index.rows != rows]

    def rebuild(self, index: Index) -> bool:
        """Rebuilds an index; False if the items it is built from are damaged too."""
        try:
            self.database.committer.run(partial(rebuild_index, self.table, index))
        except DamagedFileException:
            return False
        return True

    def check_items(self) -> None:
        position, last = 0, self.total(self.table.rows)
        query = f"SELECT {ROW} FROM {self.table.rows} WHERE id > ? LIMIT {entries.CHUNK}"
        while True:
            try:
                rows = self.check_rows(query, position)
            except apsw.Error as error:
                if not is_damage(error):
                    raise
                self.name_lost_items(position)
                return
            if not rows:
                return
            position = rows[-1][0]
            self.progress(f"{self.table.name}: items", position, max(position, last))

    def check_rows(self, query: str, bound: int) -> list[BaseRow]:
        with self.database.file.snapshot() as reader:
            rows: list[BaseRow] = all_rows(reader, query, (bound,))
            missing = [entry for row in rows for entry in self.missing_entries(reader, row)]
            wrong = [
                (index, row)
                for index in self.vectors
                for row in rows
                if not entries.vector_is_right(reader, index, row)
            ]
        for index, entry in missing:
            key = key_text(self.table.codec.key(*base_blobs(entry[2])))
            work = partial(entries.put_entry, self.table, index, entry)
            self.mend(f"index {index.name} lacks the item {key}", work)
        for vector_index, row in wrong:
            key = key_text(self.table.codec.key(row[1], row[2]))
            what = f"vector index {vector_index.name} does not have the item {key} as it is"
            self.mend(what, partial(entries.put_vector, self.table, vector_index, row[0]))
        return rows

    def name_lost_items(self, after: int) -> None:
        """Checks the items one by one, by their keys, which are on pages of their own."""
        rows, place = self.table.rows, (b"", b"")
        keys = (
            f"SELECT pk, sk, id FROM {rows} INDEXED BY {rows}_key WHERE (pk, sk) > (?, ?)"
            f" ORDER BY pk, sk LIMIT {entries.CHUNK}"
        )
        query = f"SELECT {ROW} FROM {rows} WHERE id = ?"
        while True:
            with self.database.file.reader() as reader:
                found: list[tuple[bytes, bytes, int]] = all_rows(reader, keys, place)
            if not found:
                return
            place = found[-1][:2]
            for partition, sort, id in found:
                if id > after:
                    key = key_text(self.table.codec.key(partition, sort))
                    self.guard(partial(self.check_rows, query, id), f"the item {key} is on")

    def missing_entries(
        self, reader: apsw.Connection, row: BaseRow
    ) -> Iterator[tuple[Index, entries.Entry]]:
        """Missing or wrong index entries of one item; reports any fault of the item itself."""
        self.findings.items += 1
        item = self.checked_item(row)
        if item is None:
            return
        for index in self.indexes:
            entry = entries.entry_of(index, row, item)
            if entry and (entry[3], entry[4]) != entries.stored_entry(reader, index, entry):
                yield index, entry

    def checked_item(self, row: BaseRow) -> Item | None:
        _, partition, sort, size, blob = row
        key = self.table.codec.key(partition, sort)
        try:
            item: Item = orjson.loads(blob)
            actual = item_size(item)
            blobs = self.table.codec.partition(item), self.table.codec.sort(item)
        except entries.UNREADABLE:
            self.note(str(UnreadableItem(self.table.name, key)))
            return None
        if actual != size:
            self.note(f"the item {key_text(key)} has {actual} bytes and is said to have {size}")
        if blobs != (partition, sort):
            self.note(f"the item under the key {key_text(key)} has another key")
            return None
        return item

    # Indexes: entries that no item requires.

    def check_indexes(self) -> None:
        for index in self.indexes:
            self.check_index(index)
        for vector_index in self.vectors:
            self.check_vector_index(vector_index)

    def check_vector_index(self, index: VectorIndex) -> None:
        """Checks that every row belongs to an item; missing rows were found with the items."""
        query = (
            f"SELECT base FROM {index.rows} WHERE base NOT IN (SELECT id FROM {self.table.rows})"
        )
        with self.database.file.reader() as reader:
            stray = [base for (base,) in all_rows(reader, query)]
            self.findings.entries += int(reader.execute(f"SELECT count(*) FROM {index.rows}").get)
        for base in stray:
            what = f"vector index {index.name} has a row of an item that is not there"
            self.mend(what, partial(entries.put_vector, self.table, index, base))

    def check_index(self, index: Index) -> None:
        columns = "pk, sk, base_key"
        place = (b"", b"", b"")
        query = (
            f"SELECT {columns}, base, size FROM {index.rows} WHERE ({columns}) > (?, ?, ?)"
            f" ORDER BY {columns} LIMIT {entries.CHUNK}"
        )
        seen = 0
        with self.database.file.reader() as reader:
            last = int(reader.execute(f"SELECT count(*) FROM {index.rows}").get or 0)
        while True:
            with self.database.file.snapshot() as reader:
                rows: list[entries.Entry] = all_rows(reader, query, place)
                stray = [
                    row for row in rows if not entries.is_called_for(reader, self.table, index, row)
                ]
            for entry in stray:
                key = key_text(self.table.codec.key(*base_blobs(entry[2])))
                what = f"index {index.name} has an entry of the item {key} that is not so"
                self.mend(what, partial(entries.drop_entry, self.table, index, entry))
            if not rows:
                return
            seen += len(rows)
            self.findings.entries += len(rows)
            place = rows[-1][:3]
            self.progress(f"{self.table.name}: index {index.name}", seen, max(seen, last))

    # The list of expiring items.

    def check_expiring(self) -> None:
        """Checks that the list has the second of every item that expires, and no others."""
        with self.database.file.reader() as reader:
            is_being_filled = self.table.number in pending_backfills(reader)
        if not self.table.ttl_attribute or is_being_filled:
            return
        for find in (entries.find_unlisted, entries.find_stray):
            place: tuple[int, int] | None = (0, 0)
            while place is not None:
                with self.database.file.snapshot() as reader:
                    wrong, place = find(reader, self.table, place)
                for second, id in wrong:
                    what = f"the list of expiring items is wrong about the item in row {id}"
                    self.mend(what, partial(entries.list_expiry, self.table, second, id))
        self.progress(f"{self.table.name}: expiry", 1, 1)

    # Counts.

    def check_counts(self) -> None:
        indexes: list[Index | VectorIndex] = [*self.indexes, *self.vectors]
        numbered = [(self.table.number, self.table.rows, "the table")]
        numbered += [(index.number, index.rows, f"index {index.name}") for index in indexes]
        for number, rows, what in numbered:
            with self.database.file.snapshot() as reader:
                actual, said = counts(reader, number, rows)
            if said is None or tuple(said) == tuple(actual):
                continue
            self.mend(
                f"{what} has {actual[0]:,} items of {actual[1]:,} bytes and is said to have "
                f"{said[0]:,} of {said[1]:,}",
                partial(recount, number, rows),
            )

    # The stream.

    def check_stream(self) -> None:
        """Checks that the last record of each item shows the current item."""
        stream = self.table.definition.stream
        if stream is None or not stream.enabled:
            return
        rows = f"s{stream.number}"
        seen: set[bytes] = set()
        with self.database.file.reader() as reader:
            newest = position = int(reader.execute(f"SELECT max(sequence) FROM {rows}").get or 0)
        newer = f"SELECT sequence, record FROM {rows} WHERE sequence > ? ORDER BY sequence DESC"
        older = (
            f"SELECT sequence, record FROM {rows} WHERE sequence <= ? ORDER BY sequence DESC"
            f" LIMIT {entries.CHUNK}"
        )
        last = position
        while True:
            with self.database.file.snapshot() as reader:
                # Newer records are read first: they may have superseded the ones below.
                late = all_rows(reader, newer, (newest,))
                early = all_rows(reader, older, (position,))
                for sequence, blob in [*late, *early]:
                    self.check_record(reader, sequence, blob, seen)
            self.findings.records += len(late) + len(early)
            newest = late[0][0] if late else newest
            if not early:
                return
            position = early[-1][0] - 1
            self.progress(f"{self.table.name}: stream", last - position, last)

    def check_record(
        self, reader: apsw.Connection, sequence: int, blob: bytes, seen: set[bytes]
    ) -> None:
        try:
            record: dict[str, Any] = orjson.loads(blob)
            key = record["Keys"]
            place = self.table.codec.partition(key), self.table.codec.sort(key)
        except entries.UNREADABLE:
            self.note(f"record {sequence} of the stream cannot be read")
            return
        digest = blake2b(base_key(*place), digest_size=12).digest()
        if digest in seen:
            return
        seen.add(digest)
        row = reader.execute(self.table.fetch, place).get
        if (row is None) != (record.get("eventName") == "REMOVE"):
            self.note(
                f"record {sequence} of the stream tells otherwise of the item {key_text(key)}"
            )
        elif row is not None and "NewImage" in record and not is_same(row[1], record["NewImage"]):
            self.note(f"record {sequence} of the stream shows another item {key_text(key)}")

    # The change log.

    def check_log(self) -> None:
        """Checks that every old item can be read and has its key, and that stamps never go back."""
        log = self.table.log
        if log is None:
            return
        sequence, at = 0, 0.0
        with self.database.file.reader() as reader:
            last = last_sequence_of(reader, log)
        while True:
            with self.database.file.snapshot() as reader:
                changes = read_changes(reader, log, sequence, entries.CHUNK)
            for change in changes:
                if change.at < at:
                    self.note(f"change {change.sequence} is older than the one before it")
                at = change.at
                if change.item is not None:
                    self.checked_item(
                        (change.id, change.partition, change.sort, change.size, change.item)
                    )
            if not changes:
                return
            self.findings.changes += len(changes)
            sequence = changes[-1].sequence
            self.progress(f"{self.table.name}: changes", sequence, max(sequence, last))


def key_text(key: Item) -> str:
    return orjson.dumps(key).decode()


def is_same(blob: bytes, image: Item) -> bool:
    try:
        return bool(orjson.loads(blob) == image)
    except ValueError:
        return True  # already reported as an unreadable item


def counts(
    connection: apsw.Connection, number: int, rows: str
) -> tuple[tuple[int, int], tuple[int, int] | None]:
    actual = connection.execute(f"SELECT count(*), coalesce(sum(size), 0) FROM {rows}").get
    said = connection.execute("SELECT items, bytes FROM counts WHERE number = ?", (number,)).get
    return actual, said
