"""The writer of a lake: follows the streams of all tables with a lake, on one thread.

Changes are committed some seconds after they were made, or when there are many: a commit writes and
syncs a file for each entity and day, however few rows it has. In between, the files are compacted,
current state is rewritten where that pays, gaps are closed, and the requests of `bigtime analytics
rebuild` and `bigtime dead-letters retry` are carried out.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, Self

from bigtime.model import Lake, Table
from bigtime.projections.lake.compaction import compact
from bigtime.projections.lake.current import missing_current, rebuild_current, refresh_current
from bigtime.projections.lake.damage import DAMAGED, check_files, delete_unreadable, mark_damaged
from bigtime.projections.lake.dead_letters import retry_dead_letters
from bigtime.projections.lake.erasure import Replacement, replace_ids
from bigtime.projections.lake.gaps import ExportBucket, close_gaps
from bigtime.projections.lake.parquet import ParquetWriter
from bigtime.projections.lake.places import LakeFault, Place
from bigtime.projections.lake.table_lake import TableLake
from bigtime.store import QUIET_ROUNDS, RetriedLetters, Store

log = logging.getLogger("bigtime.lake")

BATCH: Final = 10_000
COMMIT_SECONDS: Final = 2.0
SAVE_SECONDS: Final = 300.0
"""After so long the checkpoints are saved, even if the records read produced no rows."""
MAINTAIN_SECONDS: Final = 10.0
CHECK_SECONDS: Final = 30.0
REQUEST: Final = "_rebuild"
RETRY: Final = "_retry"


class LakeWriter:
    """Writes the lakes of some entities, in one process at a time. Close it at the end."""

    def __init__(
        self,
        store: Store,
        lakes: Iterable[Lake],
        place: Place,
        *,
        bucket: ExportBucket | None = None,
        commit_seconds: float = COMMIT_SECONDS,
        batch: int = BATCH,
    ) -> None:
        if not place.own():
            raise LakeFault(f"Another process writes the lake {place.where}: stop it first.")
        self.store = store
        self.place = place
        self.bucket = bucket
        self.commit_seconds = commit_seconds
        self.batch = batch
        self.writer = ParquetWriter()
        self.tables = [
            TableLake(store, table, kept, place, self.writer)
            for table, kept in by_table(lakes).items()
        ]
        self._maintained_at = 0.0
        self._checked_at = time.monotonic()  # opening the lake has checked it

    @property
    def handled_changes(self) -> int:
        """How many changes this writer has committed."""
        return sum(table.handled for table in self.tables)

    def behind(self, moment: datetime) -> timedelta:
        """The age of the oldest change that is not in the lake; if unknown, its upper bound."""
        return max((table.behind(moment) for table in self.tables), default=timedelta())

    def take_turn(self) -> bool:
        """Reads new records, and commits what is due; returns whether there may be more to read.

        A table whose stream cannot be read does not block the others: its error is raised after
        their turns.
        """
        more, errors = False, []
        for table in self.tables:
            try:
                more = self._read(table) or more
            except Exception as error:
                errors.append(error)
        if time.monotonic() - self._maintained_at >= MAINTAIN_SECONDS:
            self._maintain_or_tell()
            self._maintained_at = time.monotonic()
        if errors:
            raise errors[0]
        return more

    def _read(self, table: TableLake) -> bool:
        try:
            return table.read_round()
        finally:
            is_due = table.waiting >= self.batch or table.waiting_seconds >= self.commit_seconds
            is_stale = table.is_moved and time.monotonic() - table.saved_at >= SAVE_SECONDS
            if is_due or is_stale:
                table.commit()

    def drain(self) -> int:
        """Reads and commits everything; returns the number of changes."""
        before = self.handled_changes
        quiet = 0
        while quiet < QUIET_ROUNDS:
            readings = [self._read(table) for table in self.tables]
            quiet = 0 if any(readings) else quiet + 1
        for table in self.tables:
            table.commit()
        return self.handled_changes - before

    def _maintain_or_tell(self) -> None:
        """Runs maintenance; after a read error, the next one checks all files."""
        import duckdb

        try:
            self.maintain()
        except duckdb.OperationalError:  # out of memory or disk
            raise
        except duckdb.Error:
            mark_damaged(self.place)
            raise

    def maintain(self) -> None:
        """Periodic work on all tables; raises FilesLost if files are missing."""
        wanted = self.place.read(REQUEST)
        self.check_files(is_wanted=wanted is not None)
        for table in self.tables:
            if wanted is not None or missing_current(table):
                items = rebuild_current(table)
                log.info("lake %s: current state of %d items from a scan", table.table.name, items)
            compact(table, self.store.clock())
            refresh_current(table)
            close_gaps(table, self.bucket)
        if wanted is not None:
            self.place.remove(REQUEST)
        if self.place.read(RETRY) is not None:
            self.retry_dead_letters()
            self.place.remove(RETRY)

    def check_files(self, *, is_wanted: bool) -> None:
        """Raises FilesLost if files are missing; on request, checks their contents too."""
        if is_wanted or self.place.read(DAMAGED) is not None:
            delete_unreadable(self.tables)
            self.place.remove(DAMAGED)
        elif time.monotonic() - self._checked_at < CHECK_SECONDS:
            return
        check_files(self.tables)
        self._checked_at = time.monotonic()

    def retry_dead_letters(self) -> dict[str, RetriedLetters]:
        """Retries the changes that became dead letters, by consumer."""
        return {table.name: retry_dead_letters(table) for table in self.tables}

    def replace_ids(self, wanted: Mapping[str, Sequence[Replacement]]) -> bool:
        """Replaces ids of persons, by lake name; returns whether none of them is left."""
        are_done = [replace_ids(table, wanted) for table in self.tables]
        return all(are_done)

    def close(self) -> None:
        self.writer.close()
        self.place.disown()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()


def by_table(lakes: Iterable[Lake]) -> Mapping[Table, Sequence[Lake]]:
    found: dict[Table, list[Lake]] = {}
    for lake in lakes:
        found.setdefault(lake.entity.layout.table, []).append(lake)
    return found
