"""Reads another region's changes, with a checkpoint of how far it has read.

A region reads stream records, or items and tombstones. The checkpoint is kept in its own file, and
committed together with the changes it covers: after a crash the last chunk may be applied again,
which changes nothing, and none is left out.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal, NamedTuple

import apsw
import orjson

from bigtime.engine.storage import OLDEST, Table, Transaction, Version, all_rows, last_sequence
from bigtime.wire import Item

CHUNK = 250
CHUNK_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Copy:
    """The progress of a comparison of all items: first the existing, then the deleted ones."""

    phase: Literal["items", "tombstones"] = "items"
    row: int = 0
    partition: str = ""
    sort: str = ""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The last record applied from the other region's stream, and any copy to finish first."""

    stream: int
    sequence: int
    copy: Copy | None = None


def name_of(table: Table, source: str) -> str:
    return f"replication {table.number} {source}"


def read_checkpoint(connection: apsw.Connection, table: Table, source: str) -> Checkpoint | None:
    text = connection.execute(
        "SELECT value FROM settings WHERE name = ?", (name_of(table, source),)
    ).get
    if text is None:
        return None
    raw = orjson.loads(text)
    copy = raw.pop("copy")
    return Checkpoint(**raw, copy=Copy(**copy) if copy else None)


def write_checkpoint(
    transaction: Transaction, table: Table, source: str, checkpoint: Checkpoint
) -> None:
    text = orjson.dumps(asdict(checkpoint)).decode()
    transaction.execute(
        "INSERT OR REPLACE INTO settings VALUES (?, ?)", (name_of(table, source), text)
    )


def drop_checkpoints(transaction: Transaction, table: Table) -> None:
    transaction.execute(
        "DELETE FROM settings WHERE name GLOB ?", (f"replication {table.number} *",)
    )


# --- Changes ------------------------------------------------------------------------------------


class Change(NamedTuple):
    """An item in another region; None if it was deleted there."""

    partition: bytes
    sort: bytes
    version: Version
    item: Item | None
    key: Item | None = None
    at: float = 0.0  # when a record was written


class Chunk(NamedTuple):
    """Some changes, the checkpoint after them, and the items that cannot be read."""

    changes: list[Change]
    end: Checkpoint
    unreadable: list[int]


def is_trimmed(reader: apsw.Connection, stream: int, sequence: int) -> bool:
    """Whether any records after that one have been trimmed."""
    first = reader.execute(f"SELECT min(sequence) FROM s{stream}").get
    following = last_sequence(reader, stream) + 1 if first is None else first
    return bool(following > sequence + 1)


def read_records(reader: apsw.Connection, table: Table, here: str, checkpoint: Checkpoint) -> Chunk:
    """The next changes in the stream of another region's table, except those made `here`."""
    changes: list[Change] = []
    unreadable: list[int] = []
    sequence, size = checkpoint.sequence, 0
    rows = reader.execute(
        f"SELECT sequence, at, record FROM s{checkpoint.stream} WHERE sequence > ?"
        " ORDER BY sequence LIMIT ?",
        (sequence, CHUNK),
    )
    for sequence, at, blob in rows:
        try:
            record = orjson.loads(blob)
        except orjson.JSONDecodeError:
            unreadable.append(sequence)
            continue
        size += len(blob)
        version = record.get("version")
        if version and version[1] != here:
            changes.append(change_of(table, record, (version[0], version[1]), at))
        if size >= CHUNK_BYTES:
            break
    rows.close()
    return Chunk(changes, Checkpoint(checkpoint.stream, sequence), unreadable)


def change_of(table: Table, record: Item, version: Version, at: float) -> Change:
    key = record["Keys"]
    partition, sort = table.codec.partition(key), table.codec.sort(key)
    return Change(partition, sort, version, record.get("NewImage"), key, at)


def read_copy(reader: apsw.Connection, table: Table, checkpoint: Checkpoint) -> Chunk:
    """The next items or tombstones in a comparison with another region's table."""
    copy = checkpoint.copy
    assert copy is not None
    return (
        read_items(reader, table, checkpoint, copy)
        if copy.phase == "items"
        else read_tombstones(reader, table, checkpoint, copy)
    )


def read_items(reader: apsw.Connection, table: Table, checkpoint: Checkpoint, copy: Copy) -> Chunk:
    changes: list[Change] = []
    unreadable: list[int] = []
    row, size, count = copy.row, 0, 0
    rows = reader.execute(
        f"SELECT id, t.pk, t.sk, item, at, region FROM {table.rows} AS t"
        f" LEFT JOIN {table.versions} AS v ON v.pk = t.pk AND v.sk = t.sk"
        " WHERE id > ? ORDER BY id LIMIT ?",
        (row, CHUNK),
    )
    for row, partition, sort, blob, at, region in rows:
        count += 1
        size += len(blob)
        try:
            item = orjson.loads(blob)
        except orjson.JSONDecodeError:
            unreadable.append(row)
            continue
        version = OLDEST if at is None else (at, region)
        changes.append(Change(partition, sort, version, item))
        if size >= CHUNK_BYTES:
            break
    rows.close()
    following = Copy(row=row) if count else Copy("tombstones")
    return Chunk(changes, Checkpoint(checkpoint.stream, checkpoint.sequence, following), unreadable)


def read_tombstones(
    reader: apsw.Connection, table: Table, checkpoint: Checkpoint, copy: Copy
) -> Chunk:
    after = bytes.fromhex(copy.partition), bytes.fromhex(copy.sort)
    rows = all_rows(
        reader,
        f"SELECT pk, sk, at, region FROM {table.versions} WHERE deleted AND (pk, sk) > (?, ?)"
        " ORDER BY pk, sk LIMIT ?",
        (*after, CHUNK),
    )
    changes = [Change(pk, sk, (at, region), None) for pk, sk, at, region in rows]
    following = Copy("tombstones", 0, rows[-1][0].hex(), rows[-1][1].hex()) if rows else None
    return Chunk(changes, Checkpoint(checkpoint.stream, checkpoint.sequence, following), [])


def keys_of(table: Table, change: Change) -> Item:
    return change.key or table.codec.key(change.partition, change.sort)


def oldest_pending(reader: apsw.Connection, checkpoint: Checkpoint) -> float | None:
    """When the first record after the checkpoint was written; None if there is none."""
    at: float | None = reader.execute(
        f"SELECT at FROM s{checkpoint.stream} WHERE sequence > ? ORDER BY sequence LIMIT 1",
        (checkpoint.sequence,),
    ).get
    return at
