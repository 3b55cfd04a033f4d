"""The SQL tables: for each lake its current items, and all their changes.

A view reads exactly the files that the manifest names when the view is created.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from bigtime.model import Lake
from bigtime.projections.lake.columns import Column, columns_of
from bigtime.projections.lake.current import current_query, newer_files, no_rows
from bigtime.projections.lake.manifest import Damaged, Gap, Manifest, manifest_name, read_manifest
from bigtime.projections.lake.places import FolderPlace, LakeFault, Place
from bigtime.projections.lake.sql_text import list_literal, quote_name


@dataclass(frozen=True, slots=True)
class TableStatus:
    """The state of a table's lake, for display."""

    table: str
    changes: int
    files: int
    bytes: int
    items: int | None
    """The number of current items; None while the file is being built."""
    since: datetime
    last_change_at: datetime | None
    gaps: tuple[Gap, ...]


def read_manifests(place: Place, lakes: Iterable[Lake]) -> dict[str, Manifest]:
    """The manifests of the tables that have one; a damaged one counts as none for a reader."""
    found: dict[str, Manifest] = {}
    for table in dict.fromkeys(lake.table for lake in lakes):
        content = place.read(manifest_name(table))
        if content is None:
            continue
        try:
            found[table] = read_manifest(content)
        except Damaged as error:
            raise LakeFault(
                f"The manifest of {table} in {place.where} is damaged ({error}): the worker makes"
                " it anew when it starts; or run `bigtime analytics rebuild`."
            ) from error
    return found


def lake_status(place: Place, lakes: Iterable[Lake]) -> list[TableStatus]:
    return [table_status(manifest) for manifest in read_manifests(place, lakes).values()]


def table_status(manifest: Manifest) -> TableStatus:
    last = manifest.last_change_at
    current = list(manifest.current.values())
    return TableStatus(
        table=manifest.table,
        changes=sum(file.rows for file in manifest.files),
        files=len(manifest.files),
        bytes=sum(file.bytes for file in manifest.files) + sum(file.bytes for file in current),
        items=sum(file.rows for file in current) if current else None,
        since=datetime.fromisoformat(manifest.since),
        last_change_at=datetime.fromisoformat(last) if last else None,
        gaps=tuple(manifest.gaps),
    )


def open_gaps(statuses: Iterable[TableStatus]) -> list[tuple[str, Gap]]:
    """The gaps that are not closed, with their tables."""
    return [
        (status.table, gap) for status in statuses for gap in status.gaps if gap.closed_at is None
    ]


# --- Views ----------------------------------------------------------------------------------


def create_views(place: FolderPlace, lakes: Iterable[Lake]) -> list[str]:
    """The statements that create the views of all lakes, for DuckDB."""
    lakes = list(lakes)
    manifests = read_manifests(place, lakes)
    return [
        f"CREATE VIEW {quote_name(name)} AS {query}"
        for lake in lakes
        for name, query in queries_of(lake, manifests.get(lake.table), place.folder.absolute())
    ]


def queries_of(lake: Lake, manifest: Manifest | None, folder: Path) -> list[tuple[str, str]]:
    columns = columns_of(lake)
    current = None if manifest is None else manifest.current.get(lake.name)
    if manifest is None:
        return [(lake.name, no_rows(columns)), (changes_name(lake), empty_changes(lake, columns))]
    through = current.through if current else 0
    newer = newer_files(manifest, lake.name, through)
    now = current_query(
        columns,
        folder / current.name if current else None,
        [folder / file.name for file in newer],
        through,
    )
    files = [folder / file.name for file in manifest.files_of(lake.name)]
    return [(lake.name, now), (changes_name(lake), changes_query(lake, columns, files))]


def changes_name(lake: Lake) -> str:
    return f"{lake.name}_changes"


def changes_query(lake: Lake, columns: Iterable[Column], files: list[Path]) -> str:
    if not files:
        return empty_changes(lake, columns)
    types = ", ".join(f"'{part}': INTEGER" for part in lake.partition_by)
    return (
        f"SELECT * FROM read_parquet({list_literal(files)}, hive_partitioning=true,"
        f" union_by_name=true, hive_types={{{types}}})"
    )


def empty_changes(lake: Lake, columns: Iterable[Column]) -> str:
    parts = ", ".join(f"NULL::INTEGER AS {part}" for part in lake.partition_by)
    return f"SELECT *, {parts} FROM ({no_rows(columns)})"
