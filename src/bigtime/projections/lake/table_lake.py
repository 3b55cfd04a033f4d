"""The lake of one table: its stream as Parquet files, each change once.

1. Records are read by a `Consumption`. They become rows in memory, and its checkpoints are kept in
   memory too. Nothing is committed in the middle of a round: only between rounds do rows and
   checkpoints match.
2. `commit` writes the rows, one file for each entity and day, and then the manifest, which has the
   names of the files and the checkpoints.
3. After a failure in the middle of a round, uncommitted rows are discarded, and reading continues
   from the checkpoints in the manifest. So does the next process after a crash.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from bigtime.model import Entity, Lake, Table, layout_in
from bigtime.projections.lake.columns import Row, RowMaker
from bigtime.projections.lake.manifest import ChangeFile, Gap
from bigtime.projections.lake.opening import events_to_pass_over, open_manifest, text_of
from bigtime.projections.lake.parquet import ParquetWriter
from bigtime.projections.lake.places import Place
from bigtime.store import (
    Checkpoint,
    Consumer,
    Consumption,
    DeadLetters,
    MemoryCheckpoints,
    ShardTurn,
    Store,
)
from bigtime.wire import Item, Response, Steps

log = logging.getLogger("bigtime.lake")

PAGE: Final = 1_000
MAX_ATTEMPTS: Final = 5
GRACE_SECONDS: Final = 600.0
POSITION: Final = 3  # of a row's columns
EPOCH: Final = datetime(1970, 1, 1)


class TableLake:
    """The lake of one table, and the consumer that feeds it."""

    def __init__(
        self, store: Store, table: Table, lakes: Sequence[Lake], place: Place, writer: ParquetWriter
    ) -> None:
        self.store = store
        self.name = f"lake.{table.name}"
        self.table = table
        self.lakes = {lake.name: lake for lake in lakes}
        self.place = place
        self.writer = writer
        self.makers = {lake.name: RowMaker(lake) for lake in lakes}
        self.recognise = layout_in(table)
        self._by_entity: dict[type[Entity], Lake] = {lake.entity: lake for lake in lakes}
        self.handled = 0
        self.begun = store.clock()
        self.manifest = open_manifest(place, writer, table.name, self.lakes, self.begun)
        self._passed_over = events_to_pass_over(place, writer, self.manifest, self.begun)
        self._forget_uncommitted()

    # --- Reading ---

    def _forget_uncommitted(self) -> None:
        self.position = self.manifest.position
        self.waiting = 0
        self.saved_at = time.monotonic()
        self._rows: dict[tuple[str, str], list[Row]] = {}
        self._waiting_since: float | None = None
        self._last_at: datetime | None = None
        self._gaps: list[Gap] = []
        self._open_gap: Gap | None = None
        self._errors: list[Exception] = []
        self._checkpoints = MemoryCheckpoints(
            {shard: Checkpoint(*place) for shard, place in self.manifest.checkpoint.items()}
        )
        consumption = Consumption(
            self.name,
            self.table.name,
            self.gather,
            checkpoints=self._checkpoints,
            dead_letters=DeadLetters(),
            max_attempts=MAX_ATTEMPTS,
            hooks=(self._note_turn,),
            page_size=PAGE,
            on_loss=self._note_loss,
        )
        self.consumer = Consumer(self.store, consumption)

    def read_round(self) -> bool:
        """Reads a page of every shard; returns whether there may be more."""
        self._errors.clear()
        try:
            readings = self.consumer.run_round()
        except Exception as error:
            if not any(known is error for known in self._errors):
                self._forget_uncommitted()
            raise
        return any(reading.more for reading in readings)

    def _note_turn(self, reading: ShardTurn) -> None:
        """Collects a turn's error: rows and checkpoints match even so."""
        if reading.error is not None:
            self._errors.append(reading.error)

    def gather(self, record: Response) -> Steps[None]:
        """Converts a record to a row, if its entity has a lake."""
        change = record["dynamodb"]
        if self._open_gap is not None:
            self._open_gap.before = text_of(moment_in(change).replace(tzinfo=UTC))
            self._open_gap = None
        if record["eventID"] in self._passed_over:
            return
        found = self.row_of(record, self.position + 1)
        if found is not None:
            self._add(*found)
        return
        yield

    def row_of(self, record: Response, position: int) -> tuple[Lake, datetime, Row] | None:
        """A record's lake, time and row; None if its item is in no lake."""
        change = record["dynamodb"]
        image: Item = change.get("NewImage") or change.get("OldImage") or change["Keys"]
        lake = self.lake_of(image)
        if lake is None:
            return None
        at, maker = moment_in(change), self.makers[lake.name]
        row = (
            maker.key_of(change["Keys"]),
            record["eventName"],
            at,
            position,
            record["eventID"],
            change["SequenceNumber"],
            *maker.fields_of(image),
        )
        return lake, at, row

    def lake_of(self, image: Item) -> Lake | None:
        """The lake of an item's entity."""
        layout = self.recognise(image)
        return None if layout is None else self._by_entity.get(layout.entity)

    def _add(self, lake: Lake, at: datetime, row: Row) -> None:
        self.position += 1
        self.waiting += 1
        self._rows.setdefault((lake.name, part_of(lake, at)), []).append(row)
        self._last_at = at
        if self._waiting_since is None:
            self._waiting_since = time.monotonic()

    @property
    def waiting_seconds(self) -> float:
        """How long the oldest row has been waiting for a commit."""
        since = self._waiting_since
        return 0.0 if since is None else time.monotonic() - since

    def behind(self, moment: datetime) -> timedelta:
        """The age of the oldest uncommitted change; if unknown, the greatest that it can be."""
        reading = self.consumer.consumption.behind(moment, begun=self.begun)
        return max(reading, timedelta(seconds=self.waiting_seconds))

    def _note_loss(self, shard: str) -> None:
        """Records a gap after the last change that was read."""
        if any(gap.position == self.position for gap in (*self.manifest.gaps, *self._gaps)):
            return
        last = self._last_at
        after = text_of(last.replace(tzinfo=UTC)) if last else self.manifest.last_change_at
        reason = f"shard {shard} no longer had what was not read yet"
        gap = Gap(self.position, after, text_of(self.store.clock()), reason)
        self._gaps.append(gap)
        self._open_gap = gap

    # --- Committing ---

    @property
    def is_moved(self) -> bool:
        """Whether anything was read since the last commit, even if it produced no rows."""
        return bool(self._rows or self._gaps or self._checkpoints.are_moved)

    def commit(self) -> int:
        """Writes the rows, and the checkpoints after them; returns the number of changes."""
        if not self.is_moved:
            return 0
        written = [
            self.write_changes(lake, part, f"{rows[0][POSITION]}-{rows[-1][POSITION]}", rows)
            for (lake, part), rows in self._rows.items()
        ]
        manifest = self.manifest
        manifest.files += written
        manifest.position = self.position
        manifest.checkpoint = {
            shard: list(place) for shard, place in self._checkpoints.places.items()
        }
        if self._last_at is not None:
            manifest.last_change_at = text_of(self._last_at.replace(tzinfo=UTC))
        for gap in self._gaps:
            log.error("lake %s has a gap after %s: %s", self.table.name, gap.after, gap.reason)
            manifest.gaps.append(gap)
            self.retire([file.name for file in manifest.current.values()])
            manifest.current.clear()  # to be rebuilt from a scan
        self.save()
        committed, self.waiting = self.waiting, 0
        self._rows, self._gaps, self._waiting_since = {}, [], None
        self._checkpoints.are_moved = False
        self.handled += committed
        return committed

    def write_changes(
        self, lake: str, part: str, name: str, rows: Sequence[Row], *, restored: bool = False
    ) -> ChangeFile:
        path = f"{self.table.name}/changes/{lake}/{part}/{name}.parquet"
        columns = self.makers[lake].columns
        size = self.place.add(path, lambda file: self.writer.write_rows(columns, rows, file))
        first, last = rows[0][POSITION], rows[-1][POSITION]
        return ChangeFile(path, lake, part, first, last, len(rows), size, restored)

    def save(self) -> None:
        """Replaces the manifest."""
        self.place.write(self.manifest.name, self.manifest.to_json())
        self.saved_at = time.monotonic()

    def local(self, name: str) -> Path:
        return self.place.local(name, self.writer.scratch)

    def retire(self, names: Sequence[str]) -> None:
        """Marks files that the manifest no longer names for deletion after a while."""
        self.manifest.gone |= dict.fromkeys(names, self.store.clock().timestamp())

    def delete_retired(self) -> bool:
        """Deletes retired files that no reader can still use; returns whether there were any."""
        limit = self.store.clock().timestamp() - GRACE_SECONDS
        old = [name for name, at in self.manifest.gone.items() if at <= limit]
        for name in old:
            self.place.remove(name)
            del self.manifest.gone[name]
        return bool(old)


def moment_in(change: Mapping[str, Any]) -> datetime:
    """When a change was made, in UTC, without a zone."""
    at: float | datetime = change["ApproximateCreationDateTime"]
    if isinstance(at, datetime):
        return at.astimezone(UTC).replace(tzinfo=None)
    return EPOCH + timedelta(seconds=at)


def part_of(lake: Lake, at: datetime) -> str:
    """The folder of a change: `year=2026/month=11/day=16`."""
    return part_of_day(lake.partition_by, at.year, at.month, at.day)


@lru_cache(maxsize=64)
def part_of_day(parts: tuple[str, ...], year: int, month: int, day: int) -> str:
    values = {"year": f"{year:04}", "month": f"{month:02}", "day": f"{day:02}"}
    return "/".join(f"{part}={values[part]}" for part in parts)
