"""The tables of a file, cached in memory and kept consistent with the file.

Another process may create, change or delete a table at any time. Three rules keep this cheap:

1. A writer checks inside its transaction: SQLite's data version tells, at no cost, whether another
   process has committed since our last commit; only then is the catalogue's version read.
2. A reader does not check. Numbers in the file are never reused, so a dropped table gives an SQL
   error and a new one is not found; either makes the reader refresh and retry.
3. Readers see what is committed, so the writer has a view of its own, published at its commit and
   discarded when it is rolled back.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

import apsw

from bigtime.engine.storage.definition import TableDefinition
from bigtime.engine.storage.discard import discard
from bigtime.engine.storage.file import File, Transaction
from bigtime.engine.storage.format import check_format
from bigtime.engine.storage.table import Table
from bigtime.wire import ResourceNotFoundException


class Catalogue:
    """Finds tables by name, and records new and changed ones."""

    def __init__(self, file: File, name_in_arn: Callable[[str], str]) -> None:
        self._file = file
        self._name_in_arn = name_in_arn
        self._publishing = threading.Lock()
        self._version = -1
        self.tables: dict[str, Table] = {}
        self._writer_data_version = -1
        self._writer_tables: dict[str, Table] = {}
        self.refresh()

    def table(self, name_or_arn: str) -> Table:
        """The table as a reader knows it."""
        table = self.tables.get(name_or_arn)
        if table is None:
            name = self._name_in_arn(name_or_arn)
            table = self.tables.get(name)
            if table is None and self.refresh():
                table = self.tables.get(name)
        if table is None:
            raise ResourceNotFoundException()
        return table

    def table_for_writing(self, name_or_arn: str) -> Table:
        """The table as seen inside the current write transaction."""
        table = self._writer_tables.get(name_or_arn)
        if table is None:
            table = self._writer_tables.get(self._name_in_arn(name_or_arn))
        if table is None:
            raise ResourceNotFoundException()
        return table

    def tables_for_writing(self) -> Mapping[str, Table]:
        return self._writer_tables

    def refresh(self) -> bool:
        """Rereads the catalogue if it has changed; True if it has."""
        with self._file.snapshot() as reader:
            version = read_version(reader)
            if version == self._version:
                return False
            check_format(reader, self._file.path)
            self._publish(version, read_tables(reader, self.tables))
            return True

    def begin(self, connection: apsw.Connection) -> None:
        """Called at the start of each write transaction."""
        seen = connection.data_version()
        if seen == self._writer_data_version:
            return
        self._writer_data_version = seen
        version = read_version(connection)
        if version != self._version:
            check_format(connection, self._file.path)
            self._publish(version, read_tables(connection, self.tables))
        self._writer_tables = dict(self.tables)

    def note_commit(self, connection: apsw.Connection) -> None:
        """Called after each commit of this process, with the writer lock still held."""
        self._writer_data_version = connection.data_version()

    def rolled_back(self) -> None:
        self._writer_data_version = -1

    def add(self, transaction: Transaction, definition: TableDefinition) -> Table:
        """Creates a table and its SQL tables; assigns numbers to it and to its indexes."""
        table = self.lay_out(transaction, definition)
        self.store(transaction, table)
        return table

    def lay_out(self, transaction: Transaction, definition: TableDefinition) -> Table:
        """Creates the SQL tables of a table that is invisible until it is stored under its name."""
        definition = self._with_numbers(transaction, definition)
        table = Table(definition)
        for statement in table.create():
            transaction.execute(statement)
        for number in definition.numbers():
            transaction.execute("INSERT INTO counts VALUES (?, 0, 0)", (number,))
        return table

    def change(self, transaction: Transaction, definition: TableDefinition) -> Table:
        """Replaces a table's definition, creating and dropping the SQL tables of indexes."""
        before = self._writer_tables[definition.name]
        definition = self._with_numbers(transaction, definition)
        table = Table(definition)
        kept = {index.number for index in table.all_indexes}
        known = {index.number for index in before.all_indexes}
        for index in before.all_indexes:
            if index.number not in kept:
                discard(transaction, index.rows)
                transaction.execute("DELETE FROM counts WHERE number = ?", (index.number,))
        for index in table.all_indexes:
            if index.number not in known:
                transaction.execute(index.create())
                transaction.execute("INSERT INTO counts VALUES (?, 0, 0)", (index.number,))
        if table.versions and not before.versions:
            for statement in table.create_versions():
                transaction.execute(statement)
        elif before.versions and not table.versions:
            discard(transaction, before.versions)
        self.store(transaction, table)
        return table

    def remove(self, transaction: Transaction, table: Table, *, kept: Collection[str] = ()) -> None:
        """Removes a table and its SQL tables, except those in `kept`."""
        transaction.execute("DELETE FROM tables WHERE name = ?", (table.name,))
        for number in table.definition.numbers():
            transaction.execute("DELETE FROM counts WHERE number = ?", (number,))
        for rows in [name for name in table.physical() if name not in kept]:
            discard(transaction, rows)
        del self._writer_tables[table.name]
        self._note_change(transaction)

    def counts(self, reader: apsw.Connection, table: Table) -> dict[int, tuple[int, int]]:
        """Items and bytes of the table and of each of its indexes, by number."""
        numbers = tuple(table.definition.numbers())
        marks = ", ".join("?" * len(numbers))
        rows = reader.execute(
            f"SELECT number, items, bytes FROM counts WHERE number IN ({marks})", numbers
        )
        return {number: (items, size) for number, items, size in rows}

    def next_number(self, transaction: Transaction) -> int:
        number: int = transaction.execute(
            "UPDATE settings SET value = value + 1 WHERE name = 'last number' RETURNING value"
        ).get
        return number

    def _with_numbers(
        self, transaction: Transaction, definition: TableDefinition
    ) -> TableDefinition:
        indexes = tuple(
            index if index.number else replace(index, number=self.next_number(transaction))
            for index in definition.indexes
        )
        vectors = tuple(
            index if index.number else replace(index, number=self.next_number(transaction))
            for index in definition.vectors
        )
        number = definition.number or self.next_number(transaction)
        return replace(definition, number=number, indexes=indexes, vectors=vectors)

    def store(self, transaction: Transaction, table: Table) -> None:
        """Stores the current state of a table under its name."""
        transaction.execute(
            "INSERT OR REPLACE INTO tables VALUES (?, ?)", (table.name, table.definition.to_json())
        )
        self._writer_tables[table.name] = table
        self._note_change(transaction)

    def _note_change(self, transaction: Transaction) -> None:
        version = transaction.execute(
            "UPDATE settings SET value = value + 1 WHERE name = 'catalogue version' RETURNING value"
        ).get
        tables = dict(self._writer_tables)
        transaction.on_commit.append(lambda: self._publish(version, tables))

    def _publish(self, version: int, tables: dict[str, Table]) -> None:
        with self._publishing:
            if version > self._version:
                self._version = version
                self.tables = tables


def read_version(connection: apsw.Connection) -> int:
    version: int = connection.execute(
        "SELECT value FROM settings WHERE name = 'catalogue version'"
    ).get
    return version


def read_tables(connection: apsw.Connection, known: dict[str, Table]) -> dict[str, Table]:
    """The tables in the file; an unchanged table stays the same object."""
    tables = {}
    for name, text in connection.execute("SELECT name, definition FROM tables"):
        definition = TableDefinition.from_json(text)
        table = known.get(name)
        tables[name] = table if table and table.definition == definition else Table(definition)
    return tables
