"""The version of each item of a replicated table: when, and in which region, it was last written.

Versions are in `v<n>`, and written in the same transaction as the items. A deleted item keeps its
version, a tombstone, until every replica has had it for a day. The greater version wins: the later
time, and of two equal times the region whose name sorts last. AWS reconciles by the last writer
too:
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/V2globaltables_HowItWorks.html

A local write always gets a later version than the one it replaces, even if this region's clock is
behind: the writer saw the other version, and an acknowledged write must not lose to it. An item
written before its table had replicas has no row: its version is the smallest possible.
"""

from __future__ import annotations

from typing import TypeAlias

import apsw

from bigtime.engine.storage.file import Transaction
from bigtime.engine.storage.table import Table

Version: TypeAlias = tuple[int, str]
"""Microseconds since 1970, and the region."""

UNWRITTEN: Version = (-1, "")
OLDEST: Version = (0, "")
MICROSECONDS = 1_000_000


def stamp_write(
    transaction: Transaction, table: Table, partition: bytes, sort: bytes, *, deleted: bool
) -> Version:
    """Records that the item is written here and now; returns its new version."""
    at: int = transaction.execute(
        f"INSERT INTO {table.versions} VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET"
        " at = max(excluded.at, at + 1), region = excluded.region, deleted = excluded.deleted"
        " RETURNING at",
        (partition, sort, int(transaction.now * MICROSECONDS), table.region, deleted),
    ).get
    return at, table.region


def set_version(
    transaction: Transaction,
    table: Table,
    partition: bytes,
    sort: bytes,
    version: Version,
    *,
    deleted: bool,
) -> None:
    """Records the version of an item that was written in another region."""
    transaction.execute(
        f"INSERT OR REPLACE INTO {table.versions} VALUES (?, ?, ?, ?, ?)",
        (partition, sort, *version, deleted),
    )


def item_version(
    connection: apsw.Connection, table: Table, partition: bytes, sort: bytes
) -> Version:
    key = (partition, sort)
    row = connection.execute(
        f"SELECT at, region FROM {table.versions} WHERE pk = ? AND sk = ?", key
    ).get
    if row:
        return row[0], row[1]
    exists = connection.execute(f"SELECT 1 FROM {table.rows} WHERE pk = ? AND sk = ?", key).get
    return OLDEST if exists else UNWRITTEN


def has_tombstones(reader: apsw.Connection, table: Table, before: int) -> bool:
    """Whether there are tombstones of items deleted before that microsecond."""
    query = f"SELECT 1 FROM {table.versions} WHERE deleted AND at < ? LIMIT 1"
    return reader.execute(query, (before,)).get is not None


def trim_tombstones(transaction: Transaction, table: Table, before: int, limit: int = 500) -> bool:
    """Drops a chunk of the tombstones from before that microsecond; True if there may be more."""
    transaction.execute(
        f"DELETE FROM {table.versions} WHERE (pk, sk) IN"
        f" (SELECT pk, sk FROM {table.versions} WHERE deleted AND at < ? LIMIT ?)",
        (before, limit),
    )
    return transaction.connection.changes() == limit
