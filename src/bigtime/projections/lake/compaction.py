"""Compaction: few large files instead of many small ones.

The newest files of a day are merged when there are eight, none much larger than all after it
together. So a row is copied about as often as its day's size has digits, and not with every eighth
batch. Once a day is over, its files are merged into one.

Only adjacent files are merged: the new file spans the positions of the old ones.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from bigtime.projections.lake.manifest import ChangeFile
from bigtime.projections.lake.parquet import CHANGE_ORDER
from bigtime.projections.lake.sql_text import parquet_rows
from bigtime.projections.lake.table_lake import TableLake, part_of

AT_ONCE: Final = 8
MUCH_LARGER: Final = 4


def compact(lake: TableLake, now: datetime) -> int:
    """Merges files where that pays; returns how many were replaced."""
    replaced = 0
    for run in runs_to_merge(lake, now):
        merge(lake, run)
        replaced += len(run)
    if lake.delete_retired() or replaced:
        lake.save()
    return replaced


def runs_to_merge(lake: TableLake, now: datetime) -> Iterator[list[ChangeFile]]:
    parts: defaultdict[tuple[str, str], list[ChangeFile]] = defaultdict(list)
    for file in lake.manifest.files:
        if not file.restored:
            parts[file.lake, file.part].append(file)
    for (name, part), files in parts.items():
        files.sort(key=lambda file: file.first)
        is_over = part < part_of(lake.lakes[name], now) if name in lake.lakes else True
        run = files if is_over else newest_run(files)
        if len(run) >= (2 if is_over else AT_ONCE):
            yield run


def newest_run(files: Sequence[ChangeFile]) -> list[ChangeFile]:
    """The longest run of newest files in which none is much larger than all that follow it."""
    rows = 0
    for place in range(len(files) - 1, -1, -1):
        if rows and files[place].rows > MUCH_LARGER * rows:
            return list(files[place + 1 :])
        rows += files[place].rows
    return list(files)


def merge(lake: TableLake, run: Sequence[ChangeFile]) -> None:
    """Merges several files into one, which replaces them in the manifest."""
    first, last = run[0], run[-1]
    folder = first.name.rpartition("/")[0]
    name = f"{folder}/{first.first}-{last.last}.parquet"
    rows = parquet_rows(lake.local(file.name) for file in run)
    query = f"SELECT * FROM {rows} ORDER BY {CHANGE_ORDER}"
    size = lake.place.add(name, lambda path: lake.writer.write_query(query, path))
    count = sum(file.rows for file in run)
    merged = ChangeFile(name, first.lake, first.part, first.first, last.last, count, size)
    old = {file.name for file in run}
    lake.manifest.files = [file for file in lake.manifest.files if file.name not in old]
    lake.manifest.files.append(merged)
    lake.retire(sorted(old))
