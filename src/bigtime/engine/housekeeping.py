"""What must happen now and then: checkpoints, expiry, backfills, trimming, dropping.

Of all processes that have the file open one is elected, by a lock that dies with its holder, and
its thread does the rounds. Each chore looks with a reader first and takes the writer lock only
when there is something to do, a chunk at a time, so that no writer waits long behind it.
"""

from __future__ import annotations

import fcntl
import logging
import os
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import apsw
import orjson

from bigtime.engine.operations import TOKEN_SECONDS, Write
from bigtime.engine.storage import (
    OLDEST_SECONDS,
    RETENTION_SECONDS,
    Database,
    Transaction,
    advance_backfill,
    all_rows,
    checkpoint,
    discard_some,
    has_pages_to_return,
    pending_backfills,
    return_pages,
    rotate_shards,
    tables_to_discard,
    trim_streams,
)
from bigtime.wire import DynamoDBError

log = logging.getLogger("bigtime.engine")

PAUSE_SECONDS = 0.25
SHORTEST_PAUSE_SECONDS = 0.05
SLOW_EVERY = 40
CHUNK = 100
CHECKPOINT_BYTES = 8 * 1024 * 1024
PATIENT_BYTES = 32 * 1024 * 1024
PATIENCE_MILLISECONDS = 200
WAL_ALARM_BYTES = 64 * 1024 * 1024


class Housekeeper:
    """The thread that does the rounds while its process is the elected one."""

    def __init__(self, database: Database) -> None:
        self._database = database
        path = database.file.path
        seat = path.with_name(path.name + "-keeper")
        if database.file.is_read_only:  # nobody keeps house there
            seat = Path(os.devnull)
        self._seat = os.open(seat, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._elected = False
        self._stop = False
        self._log_is_long = database.file.log_is_long
        self._alarmed = False
        self._thread = threading.Thread(target=self._run, name="bigtime-keeper", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop = True
        self._log_is_long.set()
        # A forgotten engine may be collected in the keeper's own thread.
        if self._thread.ident and self._thread is not threading.current_thread():
            self._thread.join()
        os.close(self._seat)

    def leave_to_parent(self) -> None:
        """In a forked child: gives up the seat, which would stay taken here."""
        os.close(self._seat)

    def round(self) -> None:
        """Every chore once, until none has anything left to do."""
        for chore in (self.expire, self.fill, self.drop, self.trim, self.return_pages):
            while chore():
                pass
        self.checkpoint(CHECKPOINT_BYTES)

    def _run(self) -> None:
        rounds, next_round = 0, time.monotonic()
        while not self._stop:
            if self._log_is_long.wait(max(0.0, next_round - time.monotonic())):
                # Whoever makes the log long shortens it, elected or not.
                self._try(self.watch_log)
                time.sleep(SHORTEST_PAUSE_SECONDS)
            if time.monotonic() >= next_round:
                next_round = time.monotonic() + PAUSE_SECONDS
                if self._is_elected():
                    self._do_rounds(slow=rounds % SLOW_EVERY == 0)
                    rounds += 1

    def _do_rounds(self, *, slow: bool) -> None:
        for chore in (self.watch_log, self.expire, self.fill, self.drop):
            self._try(chore)
        if slow:
            self._try(self.trim)
            self._try(self.return_pages)

    def _try(self, chore: Callable[[], object]) -> None:
        try:
            while chore() and not self._stop:
                pass
        except (apsw.Error, DynamoDBError, OSError) as error:
            # A full disk, say: nothing is lost, and the next round tries again.
            log.warning("housekeeping: %s: %s", chore.__name__, error)
        except RuntimeError:
            # The engine is being closed under us, and will stop this thread next.
            if not self._database.file.is_closed:
                raise

    def _is_elected(self) -> bool:
        if not self._elected:
            try:
                fcntl.flock(self._seat, fcntl.LOCK_EX | fcntl.LOCK_NB)
                self._elected = True
            except BlockingIOError:
                return False
        return True

    def watch_log(self) -> bool:
        self._log_is_long.clear()
        reserve = self._database.file.reserve
        self.checkpoint(1 if reserve.is_given_up else min(CHECKPOINT_BYTES, reserve.size))
        size = self._database.file.wal_bytes()
        if size >= WAL_ALARM_BYTES and not self._alarmed:
            log.warning("the log has grown to %d MB: a long read keeps it", size >> 20)
        self._alarmed = size >= WAL_ALARM_BYTES
        return False

    def checkpoint(self, at_bytes: int = 0) -> None:
        """Moves the log into the database, once it is large enough to be worth it."""
        size = self._database.file.wal_bytes()
        if size >= at_bytes:
            patience = PATIENCE_MILLISECONDS if size >= PATIENT_BYTES else 0
            self._database.committer.run_alone(partial(checkpoint, patience_milliseconds=patience))

    def expire(self) -> bool:
        """Deletes a chunk of expired items; True if there may be more."""
        now = int(self._database.clock())
        self._database.catalogue.refresh()
        due = [name for name, expiring in self._expiring() if self._is_due(expiring, now)]
        for name in due:
            self._database.committer.run(partial(expire_some, self._database, name))
        return bool(due)

    def _expiring(self) -> list[tuple[str, str]]:
        tables = self._database.catalogue.tables.values()
        return [(table.name, table.expiring) for table in tables if table.ttl_attribute]

    def _is_due(self, expiring: str, now: int) -> bool:
        return self._exists(
            f"SELECT 1 FROM {expiring} WHERE second BETWEEN ? AND ? LIMIT 1",
            (now - OLDEST_SECONDS, now),
        )

    def fill(self) -> bool:
        """Takes every unfinished backfill a chunk further."""
        with self._database.reading() as reader:
            numbers = pending_backfills(reader)
        committer, catalogue = self._database.committer, self._database.catalogue
        unfinished = [
            committer.run(partial(advance_backfill, catalogue, number)) for number in numbers
        ]
        return any(unfinished)

    def drop(self) -> bool:
        """Takes a chunk out of everything that was discarded with many rows in it."""
        with self._database.reading() as reader:
            names = tables_to_discard(reader)
        for name in names:
            self._database.committer.run(partial(discard_some, name))
        return bool(names)

    def return_pages(self) -> bool:
        """Gives a chunk of free pages back to the disk, if there are many."""
        with self._database.reading() as reader:
            is_due = has_pages_to_return(reader)
        return is_due and self._database.committer.run(return_pages)

    def trim(self) -> bool:
        """Drops old stream records, closed shards and used tokens; gives old shards a child."""
        now = self._database.clock()
        chores = (
            ("SELECT 1 FROM tokens WHERE used_at <= ? LIMIT 1", now - TOKEN_SECONDS),
            ("SELECT 1 FROM streams WHERE disabled_at <= ? LIMIT 1", now - RETENTION_SECONDS),
            ("SELECT 1 FROM shards WHERE opened_at <= ? LIMIT 1", now - RETENTION_SECONDS),
            (
                "SELECT 1 FROM shards WHERE last IS NULL AND opened_at <= ? LIMIT 1",
                now - self._database.shard_seconds,
            ),
        )
        if not any(self._exists(query, (bound,)) for query, bound in chores):
            return False
        return self._database.committer.run(self._trim)

    def _trim(self, transaction: Transaction) -> bool:
        transaction.execute(
            "DELETE FROM tokens WHERE used_at <= ?", (transaction.now - TOKEN_SECONDS,)
        )
        rotate_shards(transaction, self._database.shard_seconds)
        return trim_streams(transaction) > 0

    def _exists(self, query: str, bindings: tuple[float, ...]) -> bool:
        try:
            with self._database.reading() as reader:
                return reader.execute(query, bindings).get is not None
        except apsw.SQLError:
            # Dropped by another process; the catalogue will tell.
            self._database.catalogue.refresh()
            return False


def expire_some(database: Database, name: str, transaction: Transaction) -> None:
    """Deletes expired items as the service itself, which the stream record says."""
    table = database.catalogue.tables_for_writing().get(name)
    if table is None or not table.ttl_attribute:
        return
    now = int(transaction.now)
    rows = all_rows(
        transaction.connection,
        f"SELECT item, pk, sk FROM {table.rows} WHERE id IN (SELECT base FROM {table.expiring}"
        " WHERE second BETWEEN ? AND ? ORDER BY second LIMIT ?)",
        (now - OLDEST_SECONDS, now, CHUNK),
    )
    for blob, partition, sort in rows:
        key = table.key_of(orjson.loads(blob))
        write = Write("delete", table, key, partition, sort, by_service=True)
        write.plan(transaction).apply(transaction)
