"""Time to live: deletes expired items, a chunk per transaction.

The next expiry is cached until the file changes, so that idle tables are not read. An item that
cannot be deleted, because it cannot be read, is skipped for an hour.

AWS: "DynamoDB Streams and Time to Live", on the identity of the deleter in the stream record.
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/time-to-live-ttl-streams.html
"""

from __future__ import annotations

import time
from functools import partial

import apsw
import orjson

from bigtime.engine.housekeeping.complaints import EXPECTED, Complaints
from bigtime.engine.operations import Write
from bigtime.engine.storage import OLDEST_SECONDS, Database, Table, Transaction, all_rows

CHUNK = 100
SKIP_SECONDS = 3600.0
NEVER = 1 << 62


class Expiry:
    """The next expiry of each table, and the items that cannot be deleted."""

    def __init__(self, database: Database, complaints: Complaints) -> None:
        self._database = database
        self._complaints = complaints
        self._version: int | None = None
        self._next = 0
        self._skipped: dict[int, dict[int, float]] = {}

    def delete_chunk(self) -> bool:
        """Deletes a chunk of each table's expired items; True if there may be more."""
        now = int(self._database.settled_clock())
        version = self._database.file.version()
        if version == self._version and now < self._next:
            return False
        self._database.catalogue.refresh()
        tables = [
            table for table in self._database.catalogue.tables.values() if table.ttl_attribute
        ]
        seconds = {table: self._next_second(table, now) for table in tables}
        self._version, self._next = version, min(seconds.values(), default=NEVER)
        due = [table for table, second in seconds.items() if second <= now]
        deletions = [partial(self._delete, table) for table in due]
        # Every table gets its turn before any gets another.
        has_more = [self._complaints.attempt(delete, "expire") for delete in deletions]
        return any(has_more)

    def _next_second(self, table: Table, now: int) -> int:
        """When the table's next item expires, ignoring those that cannot be deleted."""
        skipped = self._still_skipped(table)
        try:
            with self._database.reading() as reader:
                rows = all_rows(
                    reader,
                    f"SELECT second, base FROM {table.expiring} WHERE second >= ?"
                    " ORDER BY second LIMIT ?",
                    (now - OLDEST_SECONDS, len(skipped) + 1),
                )
        except (apsw.SQLError, apsw.SchemaChangeError):
            # Dropped by another process; the next refresh of the catalogue will show it.
            return NEVER
        return next((second for second, base in rows if base not in skipped), NEVER)

    def _still_skipped(self, table: Table) -> dict[int, float]:
        skipped = self._skipped.get(table.number, {})
        if skipped:
            since = time.monotonic() - SKIP_SECONDS
            skipped = {base: at for base, at in skipped.items() if at > since}
            self._skipped[table.number] = skipped
        return skipped

    def _delete(self, table: Table, limit: int = CHUNK) -> bool:
        chunk = Chunk(table.name, set(self._still_skipped(table)), limit)
        try:
            self._database.committer.run(partial(expire_some, self._database, chunk))
        except EXPECTED:
            raise
        except Exception as error:
            if limit > 1:
                # One by one, to find the item that failed.
                has_deleted = [self._delete(table, 1) for _ in range(limit)]
                return any(has_deleted)
            if chunk.last is None:
                raise
            chunk.unreadable[chunk.last] = error
        for base, reason in chunk.unreadable.items():
            self._skipped.setdefault(table.number, {})[base] = time.monotonic()
            about = f"row {base} of {table.name} cannot be expired"
            self._complaints.complain("expire", reason, about)
        return chunk.deleted > 0


class Chunk:
    """Items of a table to delete, and the results."""

    def __init__(self, table_name: str, skipped: set[int], limit: int) -> None:
        self.table_name = table_name
        self.skipped = skipped
        self.limit = limit
        self.deleted = 0
        self.last: int | None = None
        self.unreadable: dict[int, Exception] = {}


def expire_some(database: Database, chunk: Chunk, transaction: Transaction) -> None:
    """Deletes expired items as the DynamoDB service, which the stream record names."""
    chunk.deleted, chunk.last = 0, None
    table = database.catalogue.tables_for_writing().get(chunk.table_name)
    if table is None or not table.ttl_attribute:
        return
    now = int(transaction.settled)
    rows = all_rows(
        transaction.connection,
        f"SELECT id, item, pk, sk FROM {table.rows} WHERE id IN (SELECT base FROM {table.expiring}"
        " WHERE second BETWEEN ? AND ? ORDER BY second LIMIT ?)",
        (now - OLDEST_SECONDS, now, chunk.limit + len(chunk.skipped)),
    )
    for id, blob, partition, sort in [row for row in rows if row[0] not in chunk.skipped]:
        chunk.last = id
        try:
            key = table.key_of(orjson.loads(blob))
            plan = Write("delete", table, key, partition, sort, by_service=True).plan(transaction)
        except EXPECTED:
            raise
        except Exception as error:
            # Nothing was written for it, so the others can still be deleted.
            chunk.unreadable[id] = error
            continue
        plan.apply(transaction)
        chunk.deleted += 1
