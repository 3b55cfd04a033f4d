"""Dead letters of the lake: retries of changes that could not be converted to rows.

Later changes are in the lake by then. So a retried change is placed after the last one, like a
restored change, in a separate file that current state ignores; current state is rebuilt from a
scan. If the letter cannot be removed afterwards, the next retry recognises its event id.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from typing import Final

from bigtime.model import ItemMismatch
from bigtime.projections.lake.columns import Row
from bigtime.projections.lake.current import rebuild_current
from bigtime.projections.lake.sql_text import parquet_rows
from bigtime.projections.lake.table_lake import TableLake, part_of
from bigtime.store import DeadLetter, DeadLetters, RetriedLetters

log = logging.getLogger("bigtime.lake")

EVENT: Final = 4  # of a row's columns


def retry_dead_letters(lake: TableLake) -> RetriedLetters:
    """Retries the changes of a table that could not be converted before."""
    lake.commit()
    handled: list[DeadLetter] = []
    rows: defaultdict[tuple[str, str], list[Row]] = defaultdict(list)
    failures: list[str] = []
    known = restored_events(lake)
    for letter in lake.store.run(DeadLetters().of(lake.name)):
        try:
            found = lake.row_of(letter.record, lake.manifest.position)
        except (ItemMismatch, ValueError, ArithmeticError) as error:
            failures.append(f"record {letter.sequence}: {error}")
            continue
        handled.append(letter)
        if found is not None and found[2][EVENT] not in known:
            kept, at, row = found
            rows[kept.name, part_of(kept, at)].append(row)
    add_rows(lake, rows)
    for letter in handled:
        lake.store.run(DeadLetters().remove(letter))
    return RetriedLetters(len(handled), tuple(failures))


def add_rows(lake: TableLake, rows: dict[tuple[str, str], list[Row]]) -> None:
    """Commits the rows as restored ones, and rebuilds current state."""
    if not rows:
        return
    number = int(lake.store.clock().timestamp())
    name = f"restored-{lake.manifest.position}-{number}"
    lake.manifest.files += [
        lake.write_changes(kept, part, name, found, restored=True)
        for (kept, part), found in rows.items()
    ]
    rebuild_current(lake)
    log.info("lake %s: %d dead letters retried", lake.table.name, sum(map(len, rows.values())))


def restored_events(lake: TableLake) -> frozenset[str]:
    paths = [lake.local(file.name) for file in lake.manifest.files if file.restored]
    if not paths:
        return frozenset()
    read = f"SELECT event_id FROM {parquet_rows(paths)}"
    return frozenset(event for (event,) in lake.writer.fetch(read))
