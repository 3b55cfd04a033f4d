"""A file's chores: expiry, backfills, copies, dropping, trimming, a chunk at a time.

Of all processes that have the file open, one holds the lease, and its thread runs the chores:

1. Each chore checks with a reader first and takes the writer lock only when there is something to
   do, so that no writer waits long behind it. If nothing was committed and nothing is due, it does
   not even check.
2. A failure is logged, and retried when the file changes or after ten seconds: the other items and
   the other chores do not depend on it.
3. Chores take turns, so that a long one does not hold up the others.
4. Checking takes a hundredth of the time, even if a thousand tables have time to live enabled.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import apsw

from bigtime.engine import storage
from bigtime.engine.housekeeping.bulk_puts import BulkPuts
from bigtime.engine.housekeeping.complaints import Complaints
from bigtime.engine.housekeeping.copies import Copies
from bigtime.engine.housekeeping.expiry import Expiry
from bigtime.engine.housekeeping.imports import Imports
from bigtime.engine.housekeeping.lease import Lease
from bigtime.engine.housekeeping.log_keeper import LogKeeper
from bigtime.engine.operations import TOKEN_SECONDS
from bigtime.engine.storage import return_pages

PAUSE_SECONDS = 0.25
LONGEST_PAUSE_SECONDS = 2.0
TURN_SECONDS = 0.25
SLOW_SECONDS = 10.0
IDLE_SHARE = 100
TRIM_REST = 3
LATE_SECONDS = 24 * 3600.0

USED_TOKENS = "SELECT 1 FROM tokens WHERE used_at <= ? LIMIT 1"
OLD_SHARDS = "SELECT 1 FROM shards WHERE last IS NULL AND opened_at <= ? LIMIT 1"


class Housekeeper:
    """The threads that run the chores and keep the log short."""

    def __init__(
        self, database: storage.Database, watch: Callable[[bool], bool] = lambda is_held: False
    ) -> None:
        """`watch` is told now and then, and after changes, whether this process has the lease."""
        self._database = database
        self._watch = watch
        path = database.file.path
        keeper = path.with_name(path.name + "-keeper")
        self.lease = Lease(Path(os.devnull) if database.file.is_read_only else keeper)
        self._complaints = Complaints(database)
        self._expiry = Expiry(database, self._complaints)
        self._imports = Imports(database, self._complaints)
        self._bulk_puts = BulkPuts(database, self._complaints)
        self._copies = Copies(database, self._complaints)
        self.log_keeper = LogKeeper(database, self.lease, self._complaints)
        self._stopping = threading.Event()
        self._seen: int | None = None
        self._has_worked = False
        self._next_slow = self._next_trim = 0.0
        self._thread = threading.Thread(target=self._run, name="bigtime-keeper", daemon=True)

    def start(self) -> None:
        self._thread.start()
        self.log_keeper.thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self.log_keeper.stop()
        for thread in (self._thread, self.log_keeper.thread):
            # A forgotten engine may be garbage-collected in one of its own threads.
            if thread.ident and thread is not threading.current_thread():
                thread.join()
        self._copies.stop()
        self.lease.close()

    def leave_to_parent(self) -> None:
        self.lease.leave_to_parent()

    def round(self) -> None:
        """Runs every chore until none has anything left to do."""
        chores = (
            self.expire,
            self.fill,
            self.copy,
            self.transfer,
            self.trim,
            self.drop,
            self.return_pages,
        )
        for chore in chores:
            while chore():
                pass
        self.log_keeper.shorten()

    # --- The thread ---

    def _run(self) -> None:
        pause = 0.0
        while not self._stopping.wait(pause):
            started, self._has_worked = time.thread_time(), False
            is_busy = self._complaints.attempt(self._take_turns, "round")
            looked = 0.0 if self._has_worked else time.thread_time() - started
            pause = min(max(PAUSE_SECONDS, IDLE_SHARE * looked), LONGEST_PAUSE_SECONDS)
            if is_busy:
                pause = 0.0
            if self._next_trim:
                pause = min(pause, max(0.0, self._next_trim - time.monotonic()))

    def _take_turns(self) -> bool:
        """Runs each chore that may have work for a while; True if one is not finished."""
        if not self.lease.renew():
            return self._watch(False)
        version, now = self._database.file.version(), time.monotonic()
        is_slow = now >= self._next_slow
        is_changed = version != self._seen
        is_busy = self._turn(self.expire)
        if is_changed or is_slow:
            self._complaints.attempt(partial(self._watch, True), "watch")
            chores = (self.fill, self.copy, self.transfer, self.drop)
            turns = [self._turn(chore) for chore in chores]
            is_busy = any(turns) or is_busy
            # Unfinished work makes the next turn check again.
            self._seen = None if is_busy else version
        if is_slow:
            self._next_slow = now + SLOW_SECONDS
            is_busy = self._turn(self.return_pages) or is_busy
        if is_slow or self._next_trim:
            self._trim_now_and_then(now)
        return is_busy

    def _turn(self, chore: Callable[[], bool]) -> bool:
        end = time.monotonic() + TURN_SECONDS
        while self._complaints.attempt(chore):
            self._has_worked = True
            if self._stopping.is_set() or time.monotonic() >= end:
                return True
        return False

    def _trim_now_and_then(self, now: float) -> None:
        """Trims a chunk, then pauses: a file may have millions of records to trim."""
        if now < self._next_trim:
            return
        is_unfinished = self._complaints.attempt(self.trim)
        ended = time.monotonic()
        self._next_trim = ended + TRIM_REST * (ended - now) if is_unfinished else 0.0

    # --- The chores ---

    def expire(self) -> bool:
        return self._expiry.delete_chunk()

    def fill(self) -> bool:
        """Advances every unfinished backfill by a chunk; True if one has more to do."""
        with self._database.reading() as reader:
            numbers = storage.pending_backfills(reader)
        catalogue = self._database.catalogue
        return self._each(
            (partial(storage.advance_backfill, catalogue, number) for number in numbers), "fill"
        )

    def copy(self) -> bool:
        """Advances every backup, restore and export by a chunk; True if one has more to do."""
        return self._copies.advance()

    def transfer(self) -> bool:
        """Advances every import and bulk operation by a chunk; True if one has more to do."""
        has_more = [part.advance() for part in (self._imports, self._bulk_puts)]
        return any(has_more)

    def drop(self) -> bool:
        """Drops a chunk of each large SQL table that was discarded."""
        with self._database.reading() as reader:
            names = storage.tables_to_discard(reader)
        return self._each((partial(storage.discard_some, name) for name in names), "drop")

    def return_pages(self) -> bool:
        """Returns a chunk of free pages to the disk, if there are many."""
        with self._database.reading() as reader:
            is_due = storage.has_pages_to_return(reader)
        return is_due and self._database.committer.run(return_pages)

    def trim(self) -> bool:
        """Drops old stream records, old changes, closed shards, used tokens and expired deleted
        tables; rotates old shards; records the time.
        """
        return self._each(self._trimming(), "trim")

    def _trimming(self) -> list[storage.Work[bool]]:
        now, settled = self._database.clock(), self._database.settled_clock()
        shard_seconds = self._database.shard_seconds
        works: list[storage.Work[bool]] = []
        self._database.catalogue.refresh()
        with self._database.file.snapshot() as reader:
            if settled >= now and storage.has_late_stamps(reader, now + LATE_SECONDS):
                works.append(partial(storage.mend_stamps, now + LATE_SECONDS))
            if storage.is_note_due(self._database.clock, storage.noted_time(reader)):
                works.append(storage.note_time)
            if exists(reader, USED_TOKENS, settled - TOKEN_SECONDS):
                works.append(drop_tokens)
            if exists(reader, OLD_SHARDS, now - shard_seconds):
                works.append(partial(storage.rotate_shards, shard_seconds=shard_seconds))
            oldest = settled - storage.RETENTION_SECONDS
            works += [
                partial(storage.trim_stream, number)
                for number in storage.streams_to_trim(reader, oldest)
            ]
            tables = [table.definition for table in self._database.catalogue.tables.values()]
            works += storage.logs_to_trim(reader, tables, settled)
            works += [
                partial(storage.forget_table, kept)
                for kept in storage.tables_to_forget(reader, settled)
            ]
        return works

    def _each(self, works: Iterable[storage.Work[bool]], chore: str) -> bool:
        """Commits each work separately, so that none depends on another; True if one has more."""
        run = self._database.committer.run
        has_more = [self._complaints.attempt(partial(run, work), chore) for work in works]
        return any(has_more)


def exists(reader: apsw.Connection, query: str, bound: float) -> bool:
    return reader.execute(query, (bound,)).get is not None


def drop_tokens(transaction: storage.Transaction) -> bool:
    transaction.execute(
        "DELETE FROM tokens WHERE used_at <= ?", (transaction.settled - TOKEN_SECONDS,)
    )
    return False
