"""Damage found while a lake is being written: missing or unreadable files.

Opening a lake repairs it (see `opening`) by dropping missing files from the manifest. So an
unreadable file is deleted, and a writer that misses a file ends; the next one repairs the lake
when it opens it.

This is for folders. S3 verifies its own data, and reading all of it costs money.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from bigtime.projections.lake.manifest import ChangeFile, CurrentFile
from bigtime.projections.lake.parquet import ParquetWriter
from bigtime.projections.lake.places import FolderPlace, LakeFault, Place
from bigtime.projections.lake.sql_text import parquet_rows
from bigtime.projections.lake.table_lake import TableLake

log = logging.getLogger("bigtime.lake")

DAMAGED: Final = "_damaged"
"""The file by which a reader asks the writer to check for damage."""


class FilesLost(LakeFault):
    """Files of a lake are missing; its next writer repairs it."""


def mark_damaged(place: Place) -> None:
    """Has the writer check all files, after a reader failed to read one."""
    with suppress(OSError):
        place.write(DAMAGED, b"")


def check_files(lakes: Iterable[TableLake]) -> None:
    """Raises FilesLost if a file is missing, or its size has changed since it was written.

    A manifest that has changed since it was written is written again.
    """
    for lake in lakes:
        if not isinstance(lake.place, FolderPlace):
            continue
        if lost := lost_files(lake):
            more = f", and {len(lost) - 1} more" if len(lost) > 1 else ""
            raise FilesLost(f"The lake lacks {lost[0]}{more}: it is opened again, and mended.")
        manifest = lake.manifest
        if manifest.files and lake.place.read(manifest.name) != manifest.to_json():
            log.warning("lake %s: the manifest is written again", lake.table.name)
            lake.save()


def files_of(lake: TableLake) -> list[ChangeFile | CurrentFile]:
    return [*lake.manifest.files, *lake.manifest.current.values()]


def lost_files(lake: TableLake) -> list[str]:
    sizes = lake.place.sizes(lake.table.name)
    return [file.name for file in files_of(lake) if sizes.get(file.name) != file.bytes]


def delete_unreadable(lakes: Iterable[TableLake]) -> None:
    """Reads all files of these tables, and deletes unreadable ones."""
    for lake in lakes:
        for file in files_of(lake) if isinstance(lake.place, FolderPlace) else ():
            path = lake.local(file.name)
            if path.exists() and not is_readable(lake.writer, path):
                log.error("lake %s: %s is damaged", lake.table.name, file.name)
                lake.place.remove(file.name)


def is_readable(writer: ParquetWriter, path: Path) -> bool:
    """Whether every value of a file can be read."""
    import duckdb

    try:
        writer.fetch(f"SELECT bit_xor(hash(COLUMNS(*))) FROM {parquet_rows([path])}")
    except duckdb.OperationalError:  # out of memory or disk: this says nothing about the file
        raise
    except duckdb.Error:
        return False
    return True
