"""Bare SQLite: the same keys and blobs in a table of the same layout, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import apsw
import orjson

from bigtime.engine.housekeeping import CHECKPOINT_BYTES
from bigtime.engine.storage.keys import base_key, number_bytes, with_hash_prefix
from bigtime.engine.storage.log_file import log_bytes
from bigtime.wire import Item, item_size

SETTINGS = {
    "journal_mode": "wal",
    "synchronous": "normal",
    "wal_autocheckpoint": 0,
    "temp_store": "memory",
    "cache_size": -8192,
}
READ = "SELECT item FROM orders WHERE pk = ? AND sk = ?"
INSERT = "INSERT INTO orders (pk, sk, item) VALUES (?, ?, ?)"
INSERT_INDEX = "INSERT INTO by_day VALUES (?, ?, ?, last_insert_rowid(), ?)"


class BareItem(NamedTuple):
    """The row of an item, and what its row in the index adds."""

    row: tuple[bytes, bytes, bytes]
    index_row: tuple[bytes, bytes, bytes, int]


class BareFile:
    """A connection with the engine's settings; every item is a transaction of its own.

    It keeps a cursor, as the engine's connections do: creating one for each statement is not
    SQLite's work, and takes a tenth of a point read.
    """

    def __init__(self, path: Path) -> None:
        self.wal = path.with_name(path.name + "-wal")
        self.connection = apsw.Connection(str(path), statementcachesize=300)
        self.run = self.connection.cursor().execute
        for name, value in SETTINGS.items():
            self.connection.pragma(name, value)
        self.connection.execute(
            "CREATE TABLE orders (id INTEGER PRIMARY KEY, pk BLOB NOT NULL, sk BLOB NOT NULL,"
            " item BLOB NOT NULL);"
            "CREATE UNIQUE INDEX orders_key ON orders (pk, sk);"
            "CREATE TABLE by_day (pk BLOB NOT NULL, sk BLOB NOT NULL, base_key BLOB NOT NULL,"
            " base INTEGER NOT NULL, size INTEGER NOT NULL, PRIMARY KEY (pk, sk, base_key))"
            " WITHOUT ROWID"
        )

    def fill(self, items: Iterable[Item]) -> None:
        with self.connection:
            for item in map(bare_item, items):
                self.connection.execute(INSERT, item.row)
                self.connection.execute(INSERT_INDEX, item.index_row)
        self.tidy()

    def read_all(self, keys: list[tuple[bytes, bytes]]) -> None:
        run = self.run
        for key in keys:
            run(READ, key).get  # noqa: B018

    def insert_plain(self, items: list[BareItem]) -> None:
        run = self.run
        for item in items:
            run(INSERT, item.row)

    def insert_indexed(self, items: list[BareItem]) -> None:
        """Inserts each item with its index row, as a table with one GSI needs it."""
        run = self.run
        for item in items:
            run("BEGIN IMMEDIATE")
            run(INSERT, item.row)
            run(INSERT_INDEX, item.index_row)
            run("COMMIT")

    def tidy(self) -> None:
        """Checkpoints when the engine would, and keeps the log's size, as the engine does."""
        if log_bytes(self.wal) >= CHECKPOINT_BYTES:
            self.connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_RESTART)

    def close(self) -> None:
        self.connection.close()


def blobs(item: Item) -> tuple[bytes, bytes]:
    return with_hash_prefix(item["customer"]["S"].encode()), item["order"]["S"].encode()


def bare_item(item: Item) -> BareItem:
    partition, sort = blobs(item)
    day, minute = item["day"]["S"].encode(), number_bytes(item["minute"]["N"])
    index_row = with_hash_prefix(day), minute, base_key(partition, sort), item_size(item)
    return BareItem((partition, sort, pack(item)), index_row)


def pack(item: Item) -> bytes:
    return orjson.dumps(item)
