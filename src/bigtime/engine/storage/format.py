"""The file format: its application ID, its format number, and the upgrades between formats.

A file's header has an application ID and a format number. A file of an older format is upgraded in
a single transaction, step by step; a file that no version could have written, or only a later one,
is rejected with an explanation, and not a byte of it is changed.

Format 1: tables, indexes, streams, tokens, counts. Format 2: pages may have checksums, and free
pages can be returned to the disk. A file of format 1 keeps its pages as they are: `compact`
rewrites them. Format 3: change logs, backups, restores, and deleted tables that are kept for a
while.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

import apsw

from bigtime.engine.storage import checksums

APPLICATION_ID: Final = 0x4269_5469  # "BiTi" in the header, so that `file` and doctor know it
FORMAT: Final = 3
OLDEST_FORMAT: Final = 1
INCREMENTAL: Final = 2  # of PRAGMA auto_vacuum

BACKUPS_SCHEMA: Final = """
CREATE TABLE pins (id INTEGER PRIMARY KEY, log INTEGER NOT NULL, sequence INTEGER NOT NULL);
CREATE TABLE kept_tables (
    number INTEGER PRIMARY KEY, definition BLOB NOT NULL, deleted_at REAL NOT NULL
);
CREATE TABLE backups (
    id TEXT PRIMARY KEY, table_name TEXT NOT NULL, type TEXT NOT NULL, status TEXT NOT NULL,
    created_at REAL NOT NULL, description BLOB NOT NULL
) WITHOUT ROWID;
CREATE INDEX unfinished_backups ON backups (status) WHERE status != 'AVAILABLE';
CREATE TABLE restores (
    number INTEGER PRIMARY KEY, table_name TEXT UNIQUE NOT NULL, definition BLOB NOT NULL,
    source BLOB NOT NULL
);
"""
SCHEMA: Final = (
    """
CREATE TABLE settings (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
INSERT INTO settings VALUES ('catalogue version', 0), ('last number', 0);
CREATE TABLE tables (name TEXT PRIMARY KEY, definition BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE counts (number INTEGER PRIMARY KEY, items INTEGER NOT NULL, bytes INTEGER NOT NULL);
CREATE TABLE tokens (
    token TEXT PRIMARY KEY, digest BLOB NOT NULL, used_at REAL NOT NULL, outcome BLOB NOT NULL
) WITHOUT ROWID;
CREATE INDEX tokens_by_age ON tokens (used_at);
CREATE TABLE backfills (
    number INTEGER PRIMARY KEY, table_name TEXT NOT NULL, position INTEGER NOT NULL
);
CREATE TABLE streams (
    number INTEGER PRIMARY KEY, table_name TEXT NOT NULL, label TEXT NOT NULL,
    description BLOB NOT NULL, disabled_at REAL
);
CREATE TABLE shards (
    stream INTEGER NOT NULL, slot INTEGER NOT NULL, id TEXT NOT NULL, parent TEXT,
    opened_at REAL NOT NULL, first INTEGER NOT NULL, last INTEGER,
    PRIMARY KEY (stream, id)
) WITHOUT ROWID;
"""
    + BACKUPS_SCHEMA
)
WITH_CHECKSUMS: Final = "INSERT OR REPLACE INTO settings VALUES ('checksums', 1);"


class FileFormatError(Exception):
    """The file cannot be opened as an engine's; the message says what to do."""


def prepare(connection: apsw.Connection, path: Path) -> None:
    """With the writer lock held: initialises a new file, or upgrades an existing one."""
    if is_empty(connection):
        lay_out(connection)
    check_format(connection, path)
    check_checksums(connection, path)
    connection.pragma("journal_mode", "wal")
    upgrade(connection)


def is_prepared(connection: apsw.Connection) -> bool:
    """Whether the file needs no `prepare`."""
    wanted = {"application_id": APPLICATION_ID, "user_version": FORMAT, "journal_mode": "wal"}
    return all(connection.pragma(name) == value for name, value in wanted.items())


def is_empty(connection: apsw.Connection) -> bool:
    return not connection.pragma("schema_version")


def lay_out(connection: apsw.Connection) -> None:
    checked = checksums.can_check(connection)
    if checked:
        checksums.reserve_bytes(connection)
    connection.pragma("auto_vacuum", INCREMENTAL)
    connection.pragma("journal_mode", "wal")
    connection.execute(
        f"BEGIN IMMEDIATE; {SCHEMA} {WITH_CHECKSUMS if checked else ''}"
        f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {FORMAT}; COMMIT"
    ).fetchall()


def check_format(connection: apsw.Connection, path: Path) -> None:
    """Rejects a file that is not an engine's, or of a format that this version does not know."""
    if connection.pragma("application_id") != APPLICATION_ID:
        raise FileFormatError(f"{path} is another program's database; choose another path.")
    version = connection.pragma("user_version")
    if version > FORMAT:
        raise FileFormatError(
            f"{path} has format {version} and this version knows up to {FORMAT}; upgrade bigtime."
        )
    if version < OLDEST_FORMAT:
        raise FileFormatError(
            f"{path} has format {version}, which no version of bigtime writes: its header is "
            "damaged. Use a backup."
        )


def check_checksums(connection: apsw.Connection, path: Path) -> None:
    """Rejects a file whose checksums would not be verified or would not be written."""
    if checksums.has_room(connection) and not checksums.can_check(connection):
        raise FileFormatError(
            f"{path} has a checksum on each page, and this installation of apsw cannot write them: "
            "it lacks SQLite's cksumvfs. Install apsw from its wheel on PyPI."
        )
    if has_checksums(connection) and not checksums.are_compared(connection):
        raise FileFormatError(
            f"{path} has a checksum on each page, and its header says that it has none: the header "
            "is damaged. Use a backup."
        )


def has_backups(connection: apsw.Connection) -> bool:
    """Whether the file has the tables of format 3; a read-only one may be older."""
    return int(connection.pragma("user_version")) >= 3


def has_checksums(connection: apsw.Connection) -> bool:
    row = connection.execute("SELECT value FROM settings WHERE name = 'checksums'").get
    return bool(row)


# --- From one format to the next ----------------------------------------------------------


def allow_checksums(connection: apsw.Connection) -> None:
    """From 1 to 2: the layout is unchanged, but programs that know only 1 must not write."""


def add_backups(connection: apsw.Connection) -> None:
    """From 2 to 3: programs that know only 2 would change items without logging it."""
    connection.execute(BACKUPS_SCHEMA).fetchall()


UPGRADES: Final[dict[int, Callable[[apsw.Connection], None]]] = {
    1: allow_checksums,
    2: add_backups,
}
"""The upgrade steps, by the format they start from; each runs inside a transaction."""


def upgrade(connection: apsw.Connection) -> None:
    version = connection.pragma("user_version")
    if version == FORMAT:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        for step in range(version, FORMAT):
            UPGRADES[step](connection)
        # Makes other processes that have the file open reread the catalogue and see the new format.
        connection.execute("UPDATE settings SET value = value + 1 WHERE name = 'catalogue version'")
        connection.pragma("user_version", FORMAT)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
