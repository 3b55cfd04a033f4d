"""The log behind a stream: its records, and its shards.

A stream has a fixed number of slots. An item's partition hash chooses its slot, so the changes to
one item stay in order. A shard is a section of one slot: after some hours it is closed and a child
takes over, as in DynamoDB, so that a consumer that ignores shard lineage fails here and not in
production. Sequence numbers count up through the whole stream and are assigned in the write's own
transaction: a change and its record commit together or not at all.

AWS: "Change data capture for DynamoDB Streams"
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Streams.html

Records are in the order of their stamps, whatever the clock does: a stamp is never earlier than
that of the record before it. So the trim horizon is found by a binary search over the sequence.
"""

from __future__ import annotations

import secrets
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import apsw
import orjson

from bigtime.engine.storage.definition import StreamDefinition, TableDefinition
from bigtime.engine.storage.describe import key_schema
from bigtime.engine.storage.discard import discard
from bigtime.engine.storage.file import Transaction, all_rows
from bigtime.engine.storage.stamps import first_later

DEFAULT_SLOTS = 4
RETENTION_SECONDS = 24 * 3600.0
SHARD_SECONDS = 4 * 3600.0


def open_stream(
    transaction: Transaction, table: TableDefinition, number: int, slots: int
) -> TableDefinition:
    """Creates the stream that the table's new definition declares."""
    stream = table.stream
    assert stream is not None
    label = new_label(transaction, table.name)
    stream = replace(stream, number=number, slots=slots, label=label)
    transaction.execute(
        f"CREATE TABLE s{number} (sequence INTEGER PRIMARY KEY AUTOINCREMENT,"
        " slot INTEGER NOT NULL, at REAL NOT NULL, record BLOB NOT NULL)"
    )
    transaction.execute(f"CREATE INDEX s{number}_slots ON s{number} (slot, sequence)")
    described = orjson.dumps(description(table, stream, transaction.now))
    transaction.execute(
        "INSERT INTO streams VALUES (?, ?, ?, ?, NULL)", (number, table.name, label, described)
    )
    for slot in range(slots):
        open_shard(transaction, number, slot, parent=None, first=1)
    return replace(table, stream=stream)


def new_label(transaction: Transaction, table_name: str) -> str:
    """The current time, or a little later: a table's streams never have the same label."""
    moment = datetime.fromtimestamp(transaction.now, UTC)
    while True:
        label = moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment:%f}"[:3]
        taken = transaction.execute(
            "SELECT 1 FROM streams WHERE table_name = ? AND label = ?", (table_name, label)
        ).get
        if not taken:
            return label
        moment += timedelta(milliseconds=1)


def description(table: TableDefinition, stream: StreamDefinition, now: float) -> dict[str, Any]:
    return {
        "view_type": stream.view_type,
        "created_at": round(now, 3),
        "key_schema": key_schema([table.hash_key], table.key_attributes[1:]),
    }


def open_shard(
    transaction: Transaction, stream: int, slot: int, *, parent: str | None, first: int
) -> None:
    shard = f"shardId-{int(transaction.now * 1000):020d}-{secrets.token_hex(4)}"
    transaction.execute(
        "INSERT INTO shards VALUES (?, ?, ?, ?, ?, ?, NULL)",
        (stream, slot, shard, parent, transaction.now, first),
    )


def close_stream(transaction: Transaction, stream: StreamDefinition) -> None:
    """Closes a stream; its records stay readable until they are a day old."""
    last = last_sequence(transaction.connection, stream.number)
    transaction.execute(
        "UPDATE shards SET last = ? WHERE stream = ? AND last IS NULL", (last, stream.number)
    )
    transaction.execute(
        "UPDATE streams SET disabled_at = ? WHERE number = ?", (transaction.now, stream.number)
    )


def last_sequence(connection: apsw.Connection, stream: int) -> int:
    """The highest sequence ever assigned, even if its record has been trimmed."""
    last = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", (f"s{stream}",)).get
    return last or 0


def rotate_shards(transaction: Transaction, shard_seconds: float = SHARD_SECONDS) -> bool:
    """Closes open shards older than `shard_seconds`, and opens a child for each."""
    due = all_rows(
        transaction.connection,
        "SELECT stream, slot, id FROM shards WHERE last IS NULL AND opened_at <= ?",
        (transaction.now - shard_seconds,),
    )
    for stream, slot, shard in due:
        last = last_sequence(transaction.connection, stream)
        transaction.execute(
            "UPDATE shards SET last = ? WHERE stream = ? AND id = ?", (last, stream, shard)
        )
        open_shard(transaction, stream, slot, parent=shard, first=last + 1)
    return False


def streams_to_trim(reader: apsw.Connection, oldest: float) -> list[int]:
    """The streams with records or shards beyond the trim horizon, or disabled before it."""
    streams = all_rows(reader, "SELECT number, disabled_at FROM streams")
    return [
        number
        for number, disabled_at in streams
        if (disabled_at is not None and disabled_at <= oldest)
        or is_old(reader, number, oldest)
        or dead_shards(reader, number, oldest)
    ]


def is_old(reader: apsw.Connection, number: int, oldest: float) -> bool:
    first: float | None = reader.execute(f"SELECT at FROM s{number} ORDER BY sequence LIMIT 1").get
    return first is not None and first <= oldest


def dead_shards(connection: apsw.Connection, number: int, oldest: float) -> list[str]:
    """The shards no longer shown: those without records, a day after they were closed."""
    # A shard is closed when its child is opened.
    rows = all_rows(
        connection,
        "SELECT id, last FROM shards WHERE stream = ?1 AND last IS NOT NULL AND EXISTS"
        " (SELECT 1 FROM shards AS child"
        " WHERE child.stream = ?1 AND child.parent = shards.id AND child.opened_at <= ?2)",
        (number, oldest),
    )
    horizon = first_after(connection, number, oldest) if rows else 0
    return [shard for shard, last in rows if last < horizon]


def trim_stream(number: int, transaction: Transaction, limit: int = 500) -> bool:
    """Drops a chunk of what is beyond the trim horizon; True if there may be more.

    A stream that was disabled before the horizon is dropped as a whole.
    """
    oldest = transaction.settled - RETENTION_SECONDS
    disabled_at = transaction.execute(
        "SELECT disabled_at FROM streams WHERE number = ?", (number,)
    ).get
    if disabled_at is not None and disabled_at <= oldest:
        drop_stream(transaction, number)
        return False
    return trim_records(transaction, number, oldest, limit) == limit


def drop_stream(transaction: Transaction, number: int) -> None:
    discard(transaction, f"s{number}")
    transaction.execute("DELETE FROM shards WHERE stream = ?", (number,))
    transaction.execute("DELETE FROM streams WHERE number = ?", (number,))


def trim_records(transaction: Transaction, number: int, oldest: float, limit: int) -> int:
    horizon = first_after(transaction.connection, number, oldest)
    end: int | None = transaction.execute(
        f"SELECT sequence FROM s{number} ORDER BY sequence LIMIT 1 OFFSET ?", (limit,)
    ).get
    transaction.execute(
        f"DELETE FROM s{number} WHERE sequence < ?",
        (horizon if end is None else min(end, horizon),),
    )
    trimmed = transaction.connection.changes()
    for shard in dead_shards(transaction.connection, number, oldest):
        transaction.execute("DELETE FROM shards WHERE stream = ? AND id = ?", (number, shard))
    return trimmed


def first_after(connection: apsw.Connection, number: int, moment: float, at_least: int = 0) -> int:
    """The first sequence from `at_least` on with a later stamp, or the next to be assigned."""
    found = first_later(connection, f"s{number}", moment, at_least)
    return last_sequence(connection, number) + 1 if found is None else found
