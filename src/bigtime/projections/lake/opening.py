"""Opening a table's lake after a crash, a disk failure or a change of version.

1. Files that the manifest does not name are from an uncommitted batch: they are deleted.
2. A file of changes that is missing, or has another size, is dropped from the manifest, and its
   changes become a gap. A file of current state is rebuilt from a scan.
3. A manifest that is missing, damaged or of another format is rebuilt from the files, whose names
   say which changes they contain. The checkpoint is lost: the stream is read from its oldest
   record, and records that the files already contain are skipped by event id.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final

from bigtime.projections.lake.manifest import (
    ChangeFile,
    Damaged,
    Gap,
    Manifest,
    files_from_names,
    manifest_name,
    read_manifest,
)
from bigtime.projections.lake.parquet import ParquetWriter
from bigtime.projections.lake.places import Place
from bigtime.projections.lake.sql_text import parquet_rows

log = logging.getLogger("bigtime.lake")

STREAM_KEEPS: Final = timedelta(hours=24)
SLACK: Final = timedelta(hours=1)


def open_manifest(
    place: Place, writer: ParquetWriter, table: str, lakes: Collection[str], now: datetime
) -> Manifest:
    """The manifest of a table, or a new one; repairs and logs what is wrong."""
    content = place.read(manifest_name(table))
    sizes = place.sizes(table)
    if content is None and not any(name.endswith(".parquet") for name in sizes):
        return Manifest(table, since=text_of(now))
    try:
        if content is None:
            raise Damaged("it is missing")
        manifest = read_manifest(content)
        drop_lost_files(manifest, sizes)
        if manifest.to_json() != content:  # or readers would look for the missing files
            place.write(manifest.name, manifest.to_json())
    except Damaged as error:
        log.error("lake %s: the manifest is made anew: %s", table, error)
        manifest = salvage(place, writer, table, lakes, sizes, now)
    for name in set(sizes) - set(manifest.known_names()):
        place.remove(name)
    return manifest


def text_of(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds")


def drop_lost_files(manifest: Manifest, sizes: Mapping[str, int]) -> None:
    for file in [file for file in manifest.files if sizes.get(file.name) != file.bytes]:
        note_lost_file(manifest, file)
        manifest.files.remove(file)
    for lake, current in list(manifest.current.items()):
        if sizes.get(current.name) != current.bytes:
            log.warning("lake %s: %s is made anew from a scan", manifest.table, current.name)
            del manifest.current[lake]


def note_lost_file(manifest: Manifest, file: ChangeFile) -> None:
    """Adds a gap for a lost file: its changes were made on its day, or in its month."""
    log.error("lake %s: %s is missing or damaged", manifest.table, file.name)
    numbers = [int(part.partition("=")[2]) for part in file.part.split("/")]
    year, month, day = (*numbers, 1)[:3]
    start = datetime(year, month, day, tzinfo=UTC)
    end = start + timedelta(days=1 if len(numbers) == 3 else 31)
    reason = f"{file.name} was lost" + (f", with {file.rows:,} changes" if file.rows else "")
    manifest.gaps.append(Gap(file.last, text_of(start), text_of(end), reason))


def salvage(
    place: Place,
    writer: ParquetWriter,
    table: str,
    lakes: Collection[str],
    sizes: Mapping[str, int],
    now: datetime,
) -> Manifest:
    """A manifest rebuilt from the existing files."""
    manifest = Manifest(table, since=text_of(now), salvaged_at=text_of(now))
    for file in files_from_names(sizes):
        if file.lake not in lakes:
            continue
        rows = rows_in(place, writer, file)
        if rows is None:
            note_lost_file(manifest, file)
        else:
            manifest.files.append(replace(file, rows=rows))
    manifest.position = max((file.last for file in manifest.files), default=0)
    first, last = span_of(place, writer, manifest)
    if first is not None and last is not None:
        manifest.since, manifest.last_change_at = text_of(first), text_of(last)
        if now - last > STREAM_KEEPS:
            reason = "the manifest was lost, and with it the place in the stream"
            manifest.gaps.append(
                Gap(manifest.position, manifest.last_change_at, text_of(now - STREAM_KEEPS), reason)
            )
    place.write(manifest.name, manifest.to_json())
    return manifest


def rows_in(place: Place, writer: ParquetWriter, file: ChangeFile) -> int | None:
    """The number of rows in a file; None if it is unreadable."""
    import duckdb

    try:
        return writer.rows_in(place.local(file.name, writer.scratch))
    except duckdb.Error:
        return None


def span_of(
    place: Place, writer: ParquetWriter, manifest: Manifest
) -> tuple[datetime | None, datetime | None]:
    """The times of the first and the last change in the files."""
    paths = [place.local(file.name, writer.scratch) for file in manifest.files]
    if not paths:
        return None, None
    found = writer.fetch(f"SELECT min(changed_at), max(changed_at) FROM {parquet_rows(paths)}")[0]
    first, last = (at.replace(tzinfo=UTC) if at else None for at in found)
    return first, last


def events_to_pass_over(
    place: Place, writer: ParquetWriter, manifest: Manifest, now: datetime
) -> frozenset[str]:
    """The events in the files that the stream may still have; none unless it was salvaged."""
    if manifest.salvaged_at is None:
        return frozenset()
    salvaged = datetime.fromisoformat(manifest.salvaged_at)
    if now - salvaged > STREAM_KEEPS + SLACK:
        return frozenset()
    since = salvaged - STREAM_KEEPS - SLACK
    paths = [place.local(file.name, writer.scratch) for file in manifest.files if not file.restored]
    if not paths:
        return frozenset()
    rows = writer.fetch(
        f"SELECT event_id FROM {parquet_rows(paths)}"
        f" WHERE changed_at >= TIMESTAMP '{since.astimezone(UTC):%Y-%m-%d %H:%M:%S}'"
    )
    return frozenset(event for (event,) in rows)
