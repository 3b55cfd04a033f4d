"""The change log of a table: each item as it was before each change to it.

Point-in-time recovery reads it, and so does a backup while it is being copied. It is an undo log:

1. A write adds one row (`l<n>`) in its own transaction: the item's row number, its key, and the
   item as it was before, or nothing if the write created it. A table without a log writes none.
2. So the items at any moment are the current ones with every later change undone: for each row
   number, the first later change has the item as it was (`point_in_time`).
3. Sequences count up and are never reused: the newest row is always kept, so that the next one
   follows it. A log begins with an empty row; trimming empties the newest row but never drops it.
4. A stamp is never earlier than that of the row before it, whatever the clock does.
5. A copy that needs the changes after a sequence has a pin: trimming stops there. A log lasts as
   long as its table has point-in-time recovery, or a pin is left.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import apsw

from bigtime.engine.storage.file import Transaction, rows_within, tables_named
from bigtime.engine.storage.stamps import first_later

CHUNK: Final = 1_000
CHUNK_BYTES: Final = 4 * 1024 * 1024
EMPTY: Final = b""  # the partition blob of an empty row; an item's is longer

COLUMNS: Final = "sequence, at, id, pk, sk, size, item"


class Change(NamedTuple):
    """One change to one item: its key as blobs, and the item before, if it existed."""

    sequence: int
    at: float
    id: int
    partition: bytes
    sort: bytes
    size: int
    item: bytes | None


def open_log(transaction: Transaction, number: int) -> None:
    """Starts a log with an empty row, after which every change counts."""
    transaction.execute(
        f"CREATE TABLE l{number} (sequence INTEGER PRIMARY KEY, at REAL NOT NULL,"
        " id INTEGER NOT NULL, pk BLOB NOT NULL, sk BLOB NOT NULL, size INTEGER NOT NULL,"
        " item BLOB)"
    )
    transaction.execute(
        f"INSERT INTO l{number} VALUES (1, ?, 0, x'', x'', 0, NULL)", (transaction.now,)
    )


def append_statement(log: str) -> str:
    """The SQL a write executes with the time, row number, key, and the old size and item.

    The stamp is the time, or the newest row's stamp if that is later.
    """
    return (
        f"INSERT INTO {log} (at, id, pk, sk, size, item) VALUES (max(?1,"
        f" (SELECT at FROM {log} ORDER BY sequence DESC LIMIT 1)), ?2, ?3, ?4, ?5, ?6)"
    )


def last_sequence_of(connection: apsw.Connection, log: str) -> int:
    return int(connection.execute(f"SELECT max(sequence) FROM {log}").get)


def sequence_at(connection: apsw.Connection, log: str, moment: float) -> int:
    """The last change made by that moment: all changes after it came later."""
    later = first_later(connection, log, moment)
    return last_sequence_of(connection, log) if later is None else later - 1


def read_changes(
    connection: apsw.Connection, log: str, after: int, limit: int = CHUNK
) -> list[Change]:
    """The changes after a sequence, in order; few enough to hold in memory."""
    query = f"SELECT {COLUMNS} FROM {log} WHERE sequence > ? ORDER BY sequence LIMIT ?"
    rows = rows_within(connection, query, (after, limit), size_at=5, most=CHUNK_BYTES)
    return [Change(*row) for row in rows]


# --- Pins -----------------------------------------------------------------------------------


def pin(transaction: Transaction, log: int, sequence: int) -> int:
    """Keeps the changes after a sequence from being trimmed, until `unpin`."""
    number: int = transaction.execute(
        "INSERT INTO pins (log, sequence) VALUES (?, ?) RETURNING id", (log, sequence)
    ).get
    return number


def unpin(transaction: Transaction, number: int) -> None:
    transaction.execute("DELETE FROM pins WHERE id = ?", (number,))


def lowest_pin(connection: apsw.Connection, log: int) -> int | None:
    """The sequence after which every change is still needed; None if nobody has a pin."""
    lowest: int | None = connection.execute(
        "SELECT min(sequence) FROM pins WHERE log = ?", (log,)
    ).get
    return lowest


# --- Trimming -------------------------------------------------------------------------------


def is_to_trim(reader: apsw.Connection, log: int, oldest: float) -> bool:
    """Whether the log has a change older than `oldest` that is not pinned."""
    first: tuple[int, float, bytes, int] = reader.execute(
        f"SELECT sequence, at, pk, (SELECT max(sequence) FROM l{log}) FROM l{log}"
        " ORDER BY sequence LIMIT 1"
    ).get
    sequence, at, partition, last = first
    pinned = lowest_pin(reader, log)
    if at > oldest or (pinned is not None and sequence > pinned):
        return False
    return sequence < last or partition != EMPTY


def trim_log(log: int, oldest: float, transaction: Transaction, limit: int = 500) -> bool:
    """Drops a chunk of the changes older than `oldest`; True if there may be more."""
    rows, connection = f"l{log}", transaction.connection
    end = sequence_at(connection, rows, oldest) + 1
    pinned = lowest_pin(connection, log)
    if pinned is not None:
        end = min(end, pinned + 1)
    last = last_sequence_of(connection, rows)
    first: int = transaction.execute(f"SELECT min(sequence) FROM {rows}").get
    transaction.execute(f"DELETE FROM {rows} WHERE sequence < ?", (min(end, last, first + limit),))
    if end > last:
        transaction.execute(
            f"UPDATE {rows} SET id = 0, pk = x'', sk = x'', size = 0, item = NULL"
            " WHERE sequence = ?",
            (last,),
        )
    return first + limit < min(end, last)


def logs_of(connection: apsw.Connection) -> list[int]:
    """The numbers of all logs in the file."""
    return [int(name[1:]) for name in tables_named(connection, "l[0-9]*")]
