"""Rows ordered by their time stamps: a stream's records, and a table's changes.

A stamp is never earlier than that of the row before it, whatever the clock does, so that a moment
can be found by a binary search over the sequence.
"""

from __future__ import annotations

import apsw

from bigtime.engine.storage.file import Transaction, all_rows, tables_named


def first_later(
    connection: apsw.Connection, rows: str, moment: float, at_least: int = 0
) -> int | None:
    """The first row, from sequence `at_least` on, with a stamp later than the moment."""
    ends = all_rows(
        connection,
        f"SELECT * FROM (SELECT sequence, at FROM {rows} WHERE sequence >= ?"
        " ORDER BY sequence LIMIT 1) UNION ALL"
        f" SELECT * FROM (SELECT sequence, at FROM {rows} ORDER BY sequence DESC LIMIT 1)",
        (at_least,),
    )
    # Mostly none is later, or all are.
    if len(ends) < 2 or ends[1][1] <= moment:
        return None
    (low, first), (high, _) = ends
    if first > moment:
        return int(low)
    return search(connection, rows, moment, int(low), int(high))


def search(connection: apsw.Connection, rows: str, moment: float, low: int, high: int) -> int:
    """The boundary between `low`, whose stamp is not later, and `high`, whose stamp is.

    It is mostly near `low`, so the first steps are small.
    """
    probe = f"SELECT at FROM {rows} WHERE sequence >= ? ORDER BY sequence LIMIT 1"
    step = 1
    while high - low > 1:
        middle = min(low + step, (low + high) // 2)
        stamp: float = connection.execute(probe, (middle,)).get
        if stamp > moment:
            high, step = middle, high
        else:
            low, step = middle, step * 2
    return high


def last_stamp(reader: apsw.Connection, rows: str) -> float:
    stamp: float | None = reader.execute(
        f"SELECT at FROM {rows} ORDER BY sequence DESC LIMIT 1"
    ).get
    return 0.0 if stamp is None else stamp


# --- A clock that was ahead -----------------------------------------------------------------

STAMPED = (
    ("shards", "opened_at"),
    ("streams", "disabled_at"),
    ("tokens", "used_at"),
    ("kept_tables", "deleted_at"),
)


def stamped_rows(connection: apsw.Connection) -> list[str]:
    """The tables of the file that hold the records of a stream (s<n>) or changes (l<n>)."""
    return tables_named(connection, "[sl][0-9]*")


def has_late_stamps(reader: apsw.Connection, latest: float) -> bool:
    """Whether the file has stamps later than `latest`, from a clock that was far ahead."""
    small = " UNION ALL ".join(
        f"SELECT 1 FROM {table} WHERE {column} > ?1" for table, column in STAMPED
    )
    if reader.execute(f"{small} LIMIT 1", (latest,)).get is not None:
        return True
    return any(last_stamp(reader, rows) > latest for rows in stamped_rows(reader))


def mend_stamps(latest: float, transaction: Transaction, limit: int = 500) -> bool:
    """Resets future stamps to now, a chunk of records at a time; True if there were any.

    Otherwise they, and all records after them, would be kept until that time.
    """
    changed = 0
    for table, column in STAMPED:
        transaction.execute(
            f"UPDATE {table} SET {column} = ? WHERE {column} > ?", (transaction.now, latest)
        )
        changed += transaction.connection.changes()
    for rows in stamped_rows(transaction.connection):
        first = first_later(transaction.connection, rows, latest)
        if first is not None:
            before: float | None = transaction.execute(
                f"SELECT at FROM {rows} WHERE sequence < ? ORDER BY sequence DESC LIMIT 1",
                (first,),
            ).get
            transaction.execute(
                f"UPDATE {rows} SET at = ? WHERE sequence >= ? AND sequence < ?",
                (max(transaction.now, before or 0.0), first, first + limit),
            )
            changed += transaction.connection.changes()
    return changed > 0
