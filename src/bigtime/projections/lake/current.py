"""Current state: the current items of a table, in a separate Parquet file.

It is built by a scan, and updated from itself and the changes since. A scan is not a snapshot, and
need not be: it begins after the change at some position, and sees each item as it was then or
later. All changes during the scan have a greater position, and are applied on top.

A reader applies the changes since the file was written in the same way, so that the file need not
be rewritten for every change.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC
from pathlib import Path
from typing import Final

from bigtime.model import ItemMismatch
from bigtime.projections.lake.columns import Column, Row, RowMaker
from bigtime.projections.lake.manifest import ChangeFile, CurrentFile, Manifest
from bigtime.projections.lake.sql_text import parquet_rows, quote_name
from bigtime.projections.lake.table_lake import TableLake
from bigtime.wire import Item, Request, Response

log = logging.getLogger("bigtime.lake")

SHARE: Final = 5
FEWEST: Final = 1_000
MOST: Final = 200_000

Tell = Callable[[int], None]


def newer_files(manifest: Manifest, lake: str, through: int) -> list[ChangeFile]:
    """The files with changes after a position."""
    return [file for file in manifest.files_of(lake) if file.last > through and not file.restored]


def no_rows(columns: Iterable[Column]) -> str:
    typed = ", ".join(f"NULL::{column.sql} AS {quote_name(column.name)}" for column in columns)
    return f"SELECT {typed} WHERE false"


def current_query(
    columns: Sequence[Column], current: Path | None, newer: Sequence[Path], through: int
) -> str:
    """The current items: those of the file, with the later changes applied."""
    names = ", ".join(quote_name(column.name) for column in columns)
    # Today's columns of the entity, even if a file is older than one of them.
    shape = no_rows(columns)
    base = f"SELECT * FROM {parquet_rows([current])}" if current else shape
    if not newer:
        return f"SELECT {names} FROM ({shape} UNION ALL BY NAME {base})"
    read = (
        f"{shape} UNION ALL BY NAME SELECT * FROM {parquet_rows(newer)} WHERE position > {through}"
    )
    return (
        f"WITH newer AS ({read}),"
        " latest AS (SELECT * FROM newer WHERE position IN"
        " (SELECT max(position) FROM newer GROUP BY item_key)),"
        f" base AS ({shape} UNION ALL BY NAME {base})"
        f" SELECT {names} FROM (SELECT * FROM base ANTI JOIN latest USING (item_key)"
        " UNION ALL BY NAME SELECT * FROM latest WHERE change <> 'REMOVE')"
    )


def refresh_current(lake: TableLake, *, force: bool = False) -> int:
    """Rewrites the files of current state with many changes since; returns their number."""
    written = 0
    for name in lake.lakes:
        current = lake.manifest.current.get(name)
        if current is None:
            continue
        newer = newer_files(lake.manifest, name, current.through)
        changes = sum(file.rows for file in newer)
        if changes >= min(max(FEWEST, current.rows // SHARE), MOST) or (force and changes):
            rewrite_current(lake, name, current, newer)
            written += 1
    if written:
        lake.save()
    return written


def rewrite_current(
    lake: TableLake, name: str, current: CurrentFile, newer: Sequence[ChangeFile]
) -> None:
    query = current_query(
        lake.makers[name].columns,
        lake.local(current.name),
        [lake.local(file.name) for file in newer],
        current.through,
    )
    put_current(
        lake, name, lake.manifest.position, lambda path: lake.writer.write_query(query, path)
    )


def put_current(lake: TableLake, name: str, through: int, write: Callable[[Path], None]) -> None:
    """Adds a file, and names it in the manifest."""
    known = lake.manifest.current.get(name)
    taken = {known.name, *lake.manifest.gone} if known else {*lake.manifest.gone}
    stem = f"{lake.table.name}/current/{name}/{through}"
    again = 0
    while (path := f"{stem}{f'-{again}' if again else ''}.parquet") in taken:
        again += 1
    rows = 0

    def write_and_count(file: Path) -> None:
        nonlocal rows
        write(file)
        rows = lake.writer.rows_in(file)

    size = lake.place.add(path, write_and_count)
    if known is not None:
        lake.retire([known.name])
    lake.manifest.current[name] = CurrentFile(path, through, rows, size)


# --- From a scan ----------------------------------------------------------------------------


def missing_current(lake: TableLake) -> list[str]:
    return [name for name in lake.lakes if name not in lake.manifest.current]


def rebuild_current(lake: TableLake, *, tell: Tell = lambda items: None) -> int:
    """Rebuilds the current state of a table from a scan; returns the number of items.

    Each entity has its own scan, so that one file is written at a time, with flat memory.
    """
    lake.commit()
    through = lake.manifest.position
    for name in lake.lakes:
        columns = lake.makers[name].columns
        lake.writer.begin(columns)
        for rows in scanned_rows(lake, name, through):
            lake.writer.append(rows)
            tell(len(rows))
        put_current(lake, name, through, lake.writer.finish)
    lake.save()
    return sum(lake.manifest.current[name].rows for name in lake.lakes)


def scanned_rows(lake: TableLake, name: str, through: int) -> Iterator[list[Row]]:
    """The rows of an entity, page by page; an unreadable item is logged and skipped."""
    maker: RowMaker = lake.makers[name]
    entity = lake.lakes[name].entity
    at = lake.store.clock().astimezone(UTC).replace(tzinfo=None)
    for page in scanned_pages(lake):
        rows: list[Row] = []
        for item in page:
            layout = lake.recognise(item)
            if layout is None or layout.entity is not entity:
                continue
            try:
                fields = maker.fields_of(item)
            except (ItemMismatch, ValueError) as error:
                log.warning("lake %s: an item is left out of %s: %s", lake.table.name, name, error)
                continue
            rows.append((maker.key_of(item), "SCAN", at, through, None, None, *fields))
        yield rows


def scanned_pages(lake: TableLake) -> Iterator[list[Item]]:
    params: dict[str, object] = {"TableName": lake.table.name, "ConsistentRead": True}
    while True:
        page: Response = lake.store.send(Request("Scan", params))
        yield page["Items"]
        if "LastEvaluatedKey" not in page:
            return
        params["ExclusiveStartKey"] = page["LastEvaluatedKey"]
