"""Bare SQLite: the same keys and blobs in a table of the same layout, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import apsw
import orjson

from bigtime.engine.housekeeping import CHECKPOINT_BYTES
from bigtime.engine.storage.keys import with_hash_prefix
from bigtime.engine.storage.log_file import log_bytes
from bigtime.wire import Item

SETTINGS = {
    "journal_mode": "wal",
    "synchronous": "normal",
    "wal_autocheckpoint": 0,
    "temp_store": "memory",
    "cache_size": -8192,
}
READ = "SELECT item FROM orders WHERE pk = ? AND sk = ?"
INSERT = "INSERT INTO orders (pk, sk, item) VALUES (?, ?, ?)"


class BareFile:
    """A connection with the engine's settings; every statement is its own transaction."""

    def __init__(self, path: Path) -> None:
        self.wal = path.with_name(path.name + "-wal")
        self.connection = apsw.Connection(str(path), statementcachesize=300)
        for name, value in SETTINGS.items():
            self.connection.pragma(name, value)
        self.connection.execute(
            "CREATE TABLE orders (id INTEGER PRIMARY KEY, pk BLOB NOT NULL, sk BLOB NOT NULL,"
            " item BLOB NOT NULL);"
            "CREATE UNIQUE INDEX orders_key ON orders (pk, sk)"
        )

    def fill(self, items: Iterable[Item]) -> None:
        with self.connection:
            self.connection.executemany(INSERT, ((*blobs(item), pack(item)) for item in items))
        self.tidy()

    def read_all(self, keys: list[tuple[bytes, bytes]]) -> None:
        execute = self.connection.execute
        for key in keys:
            execute(READ, key).get  # noqa: B018

    def insert_all(self, rows: list[tuple[bytes, bytes, bytes]]) -> None:
        execute = self.connection.execute
        for row in rows:
            execute(INSERT, row)

    def tidy(self) -> None:
        """Checkpoints when the engine would, and keeps the log's room, as the engine does."""
        if log_bytes(self.wal) >= CHECKPOINT_BYTES:
            self.connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_RESTART)

    def close(self) -> None:
        self.connection.close()


def blobs(item: Item) -> tuple[bytes, bytes]:
    return with_hash_prefix(item["customer"]["S"].encode()), item["order"]["S"].encode()


def pack(item: Item) -> bytes:
    return orjson.dumps(item)
