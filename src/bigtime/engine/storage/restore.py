"""Background copies: filling restored tables, and writing backups.

Each has a row in the file and a generator that does the work, a chunk at a time. If a process dies,
the row remains, and the next process starts again: a backup is rewritten from the beginning, since
its items are still pinned, and a restored table gets only the items that it lacks. The table is
invisible until it is complete.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import apsw
import orjson

from bigtime.engine.storage import backup_file, change_log, recovery
from bigtime.engine.storage.backfill import BaseRow, fill_index, readable, recount
from bigtime.engine.storage.backup_file import BackupFileError, BackupWriter, backup_path
from bigtime.engine.storage.catalogue import Catalogue
from bigtime.engine.storage.database import Database
from bigtime.engine.storage.definition import TableDefinition
from bigtime.engine.storage.discard import discard
from bigtime.engine.storage.file import Transaction, all_rows
from bigtime.engine.storage.format import has_backups
from bigtime.engine.storage.point_in_time import ItemRow, Moment, rows_at
from bigtime.engine.storage.table import Table, collection_bytes

log = logging.getLogger("bigtime.engine")

SUMMARY: Final = "RestoreSummary"  # of a definition's notes


# --- Backups --------------------------------------------------------------------------------


class Backup(NamedTuple):
    """A row of the file's backups. Its description has the table and the source of its items."""

    id: str
    table_name: str
    type: str
    status: str
    created_at: float
    description: dict[str, Any]

    @property
    def definition(self) -> TableDefinition:
        return TableDefinition.from_json(orjson.dumps(self.description["definition"]))

    @property
    def moment(self) -> Moment:
        return Moment(*self.description["moment"])

    @property
    def is_copied_by_caller(self) -> bool:
        return bool(self.description.get("copied_by_caller"))


COLUMNS: Final = "id, table_name, type, status, created_at, description"


def list_backups(
    connection: apsw.Connection,
    *,
    after: str,
    kind: str,
    table_name: str | None,
    between: tuple[float, float],
    limit: int,
) -> list[Backup]:
    """The matching backups, oldest first: their ids begin with the time."""
    if not has_backups(connection):
        return []
    query = (
        f"SELECT {COLUMNS} FROM backups WHERE id > ?1 AND status != 'DELETED'"
        " AND ?2 IN (type, 'ALL') AND (?3 IS NULL OR table_name = ?3)"
        " AND created_at >= ?4 AND created_at < ?5 ORDER BY id LIMIT ?6"
    )
    bindings = (after, kind, table_name, *between, limit)
    return [read_backup_row(row) for row in all_rows(connection, query, bindings)]


def find_backup(connection: apsw.Connection, id: str) -> Backup | None:
    if not has_backups(connection):
        return None
    query = f"SELECT {COLUMNS} FROM backups WHERE id = ? AND status != 'DELETED'"
    return next((read_backup_row(row) for row in all_rows(connection, query, (id,))), None)


def backup_files(connection: apsw.Connection) -> list[Backup]:
    """The completed backups that are files."""
    every = list_backups(
        connection, after="", kind="USER", table_name=None, between=(0.0, float("inf")), limit=-1
    )
    return [backup for backup in every if backup.status == "AVAILABLE"]


def backup_fault(data: Path, backup: Backup) -> str | None:
    """What is wrong with a backup's file, which is read in full; None if nothing is."""
    expected = backup.description["items"]
    try:
        items = backup_file.count_backup_items(backup_path(data, backup.id))
    except BackupFileError as error:
        return f"the backup {backup.id}: {error}"
    wrong = f"the backup {backup.id} has {items:,} items, not {expected:,}"
    return None if items == expected else wrong


def read_backup_row(row: tuple[Any, ...]) -> Backup:
    id, table_name, type, status, created_at, description = row
    return Backup(id, table_name, type, status, created_at, orjson.loads(description))


def unfinished_backups(connection: apsw.Connection) -> list[Backup]:
    """The backups that are being created or deleted."""
    query = f"SELECT {COLUMNS} FROM backups WHERE status != 'AVAILABLE'"
    return [read_backup_row(row) for row in all_rows(connection, query)]


def add_backup(transaction: Transaction, backup: Backup) -> None:
    transaction.execute(
        "INSERT INTO backups VALUES (?, ?, ?, ?, ?, ?)",
        (*backup[:5], orjson.dumps(backup.description)),
    )


def write_backup(database: Database, id: str) -> Iterator[None]:
    """Copies a backup's pinned items into its file."""
    with database.reading() as reader:
        backup = find_backup(reader, id)
    if backup is None or backup.status != "CREATING":
        return
    file = database.file
    path = backup_path(file.path, id)
    with BackupWriter(path, backup.description, is_synced=file.syncs) as writer:
        for rows in rows_at(file, backup.moment):
            writer.add(rows)
            yield
        writer.finish()
    database.committer.run(partial(finish_backup, database.catalogue, backup))


def finish_backup(catalogue: Catalogue, backup: Backup, transaction: Transaction) -> None:
    transaction.execute("UPDATE backups SET status = 'AVAILABLE' WHERE id = ?", (backup.id,))
    release_pin(catalogue, backup.description["pin"], transaction)


def remove_backup(database: Database, id: str) -> Iterator[None]:
    """Deletes the file of a deleted backup, then its row."""
    backup_path(database.file.path, id).unlink(missing_ok=True)
    database.committer.run(
        lambda transaction: transaction.execute("DELETE FROM backups WHERE id = ?", (id,)).close()
    )
    return
    yield


# --- Restores -------------------------------------------------------------------------------


class Restore(NamedTuple):
    """A table being filled, from a backup's file or from a table's past state."""

    definition: TableDefinition
    source: dict[str, Any]

    @property
    def is_import(self) -> bool:
        return "import" in self.source

    @property
    def backup_arn(self) -> str | None:
        """The backup that the table is restored from."""
        arn: str | None = self.definition.notes.get(SUMMARY, {}).get("SourceBackupArn")
        return arn


def restores(connection: apsw.Connection) -> list[Restore]:
    if not has_backups(connection):
        return []
    query = "SELECT definition, source FROM restores ORDER BY number"
    return [
        Restore(TableDefinition.from_json(text), orjson.loads(source))
        for text, source in all_rows(connection, query)
    ]


def find_restore(connection: apsw.Connection, name: str) -> Restore | None:
    """The restore or import that is still filling the table of that name."""
    return next((each for each in restores(connection) if each.definition.name == name), None)


def restoring_table(connection: apsw.Connection, name: str) -> Table | None:
    """The table of that name that is still being restored or imported."""
    found = find_restore(connection, name)
    return None if found is None else Table(found.definition)


def begin_restore(
    catalogue: Catalogue,
    transaction: Transaction,
    definition: TableDefinition,
    source: dict[str, Any],
) -> Table:
    """Creates an empty table, under an unused name, for the housekeeper to fill."""
    table = catalogue.lay_out(transaction, definition)
    transaction.execute(
        "INSERT INTO restores VALUES (?, ?, ?, ?)",
        (table.number, table.name, table.definition.to_json(), orjson.dumps(source)),
    )
    return table


def fill_restored(database: Database, number: int) -> Iterator[None]:
    """Copies the items into a restored table, which gets its name once all are there."""
    with database.reading() as reader:
        found = [each for each in restores(reader) if each.definition.number == number]
    if not found:
        return
    restore = found[0]
    table = Table(restore.definition)
    try:
        owner = source_database(database, restore.source)
        for rows in source_rows(owner, restore.source):
            database.committer.run(partial(insert_rows, table, rows))
            yield
    except BackupFileError as error:
        log.error("the restore of %s was given up: %s", table.name, error)
        database.committer.run(partial(give_up, database.catalogue, restore))
        return
    if owner is not database and "pin" in restore.source:
        # Before the restore ends, since nothing refers to the pin after that.
        owner.committer.run(partial(release_pin, owner.catalogue, restore.source["pin"]))
    database.committer.run(partial(finish_restore, database.catalogue, restore))


def source_database(database: Database, source: dict[str, Any]) -> Database:
    """The database that has the items to restore: this one, or another region's."""
    region = source.get("region", database.region)
    if region == database.region:
        return database
    found = database.regions.find(region) if database.regions else None
    if found is None:
        raise BackupFileError(f"the file of {region} is gone")
    return found


def source_rows(database: Database, source: dict[str, Any]) -> Iterator[list[ItemRow]]:
    if "backup" in source:
        return backup_file.read_backup(backup_path(database.file.path, source["backup"]))
    return rows_at(database.file, Moment(*source["moment"]))


def insert_rows(table: Table, rows: list[ItemRow], transaction: Transaction) -> None:
    """Adds the items that the table lacks, with their entries in its indexes."""
    if not is_restoring(transaction, table.number):
        return  # another process has finished it
    insert = f"INSERT OR IGNORE INTO {table.rows} (pk, sk, size, item) VALUES (?, ?, ?, ?)"
    if not table.all_indexes:
        transaction.connection.executemany(insert, rows)
        return
    added: list[BaseRow] = []
    for row in rows:
        transaction.execute(insert, row)
        if transaction.connection.changes():
            added.append((transaction.connection.last_insert_rowid(), *row))
    for index in table.all_indexes:
        fill_index(transaction, table, index, added)
    if table.collections:
        fill_collections(transaction, table, added)


def fill_collections(transaction: Transaction, table: Table, rows: list[BaseRow]) -> None:
    add = (
        f"INSERT INTO {table.collections} VALUES (?, ?)"
        " ON CONFLICT DO UPDATE SET bytes = bytes + excluded.bytes"
    )
    for (_, partition, _, size, _), item in readable(table, rows):
        transaction.execute(add, (partition, collection_bytes(table, item, size)))


def is_restoring(transaction: Transaction, number: int) -> bool:
    query = "SELECT 1 FROM restores WHERE number = ?"
    return transaction.execute(query, (number,)).get is not None


def finish_restore(catalogue: Catalogue, restore: Restore, transaction: Transaction) -> None:
    """Makes the table ACTIVE. From then on nothing shows its source (DDB-TABLE-216):
    https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/table-restore.md
    """
    table = Table(restore.definition)
    if not is_restoring(transaction, table.number):
        return
    for number, rows in [
        (table.number, table.rows),
        *((index.number, index.rows) for index in table.all_indexes),
    ]:
        recount(number, rows, transaction)
    end_restore(catalogue, restore, transaction)
    catalogue.store(transaction, Table(table.definition.with_note(SUMMARY, None)))


def give_up(catalogue: Catalogue, restore: Restore, transaction: Transaction) -> None:
    """Drops a table that cannot be filled."""
    table = Table(restore.definition)
    if is_restoring(transaction, table.number):
        for number in table.definition.numbers():
            transaction.execute("DELETE FROM counts WHERE number = ?", (number,))
        for rows in table.physical():
            discard(transaction, rows)
        end_restore(catalogue, restore, transaction)


def end_restore(catalogue: Catalogue, restore: Restore, transaction: Transaction) -> None:
    transaction.execute("DELETE FROM restores WHERE number = ?", (restore.definition.number,))
    if "pin" in restore.source and "region" not in restore.source:
        release_pin(catalogue, restore.source["pin"], transaction)


def release_pin(catalogue: Catalogue, pin: int, transaction: Transaction) -> None:
    change_log.unpin(transaction, pin)
    recovery.drop_needless_logs(catalogue, transaction)
