"""Gaps: changes that the stream no longer had, restored from point-in-time recovery.

A stream keeps records for 24 hours. A worker that was away for longer detects that, and records the
gap in the manifest. If the table has point-in-time recovery, an incremental export contains the
changes made in the meantime, and these are added to the lake: for each item and each window of the
export one net change, at the time of the item's last write. They are placed after the last change
before the gap; current state, which is rebuilt from a scan, ignores them.

Windows are an hour long: AWS accepts 15 minutes to 24 hours.

AWS: "DynamoDB data export to Amazon S3: how it works"
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/S3DataExport.HowItWorks.html
"""

from __future__ import annotations

import gzip
import logging
import shutil
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, Protocol

import orjson

from bigtime.formats import S3, BadFile, Bucket, find_exports, read_export
from bigtime.model import Lake
from bigtime.projections.lake.columns import Row
from bigtime.projections.lake.manifest import Gap
from bigtime.projections.lake.opening import text_of
from bigtime.projections.lake.places import BucketPlace
from bigtime.projections.lake.sql_text import parquet_rows
from bigtime.projections.lake.table_lake import TableLake, part_of
from bigtime.wire import DynamoDBError, Item, Request, Response

log = logging.getLogger("bigtime.lake")

WINDOW: Final = timedelta(hours=1)
SHORTEST: Final = timedelta(minutes=15)
PATIENCE_SECONDS: Final = 1800.0
PAUSE_SECONDS: Final = 1.0
BUCKET: Final = "bigtime-lake-exports"


class ExportBucket(Protocol):
    """The bucket to which exports are written."""

    @property
    def name(self) -> str: ...

    def make(self) -> None:
        """Creates it, if it is missing and can be created."""

    def fetch(self, prefix: str, scratch: Path) -> Path:
        """A folder with the objects under a prefix."""

    def remove(self, prefix: str) -> None:
        """Deletes the objects under a prefix."""


@dataclass(frozen=True, slots=True)
class FolderBucket:
    """A bucket of the engine: a subfolder of the folder that stands in for S3."""

    root: Path
    name: str = BUCKET

    def make(self) -> None:
        (self.root / self.name).mkdir(parents=True, exist_ok=True)

    def fetch(self, prefix: str, scratch: Path) -> Path:
        return self.root / self.name / prefix

    def remove(self, prefix: str) -> None:
        shutil.rmtree(self.root / self.name / prefix, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class LakeBucket:
    """The bucket that contains the lake itself."""

    place: BucketPlace

    @property
    def name(self) -> str:
        return self.place.name

    def make(self) -> None:
        pass

    def fetch(self, prefix: str, scratch: Path) -> Path:
        exports = self.exports()
        for found in exports.objects(f"{prefix}/"):
            path = scratch / found.name
            path.parent.mkdir(parents=True, exist_ok=True)
            exports.download(found.name, path)
        return scratch / prefix

    def remove(self, prefix: str) -> None:
        exports = self.exports()
        exports.delete(*(found.name for found in exports.objects(f"{prefix}/")))

    def exports(self) -> Bucket:
        """The whole bucket: exports are written beside the lake, not under its prefix."""
        return Bucket(f"{S3}{self.name}")


def close_gaps(lake: TableLake, bucket: ExportBucket | None) -> int:
    """Closes a table's open gaps as far as its recovery log allows; returns how many changes."""
    gaps = closable_gaps(lake)
    if bucket is None or not gaps:
        return 0
    table = lake.store.send(Request("DescribeTable", {"TableName": lake.table.name}))["Table"]
    restored = 0
    for gap in gaps:
        try:
            restored += close_gap(lake, gap, table["TableArn"], bucket)
        except (DynamoDBError, BadFile, TimeoutError) as error:
            log.warning("lake %s: a gap is left open: %s", lake.table.name, error)
    return restored


def closable_gaps(lake: TableLake) -> list[Gap]:
    """The open gaps of a table that its recovery log covers."""
    gaps = [gap for gap in lake.manifest.gaps if gap.closed_at is None and gap.after]
    earliest = recovery_begin(lake) if gaps else None
    if earliest is None:
        return []
    return [gap for gap in gaps if earliest <= datetime.fromisoformat(str(gap.after))]


def recovery_begin(lake: TableLake) -> datetime | None:
    """The earliest moment in the table's recovery log; None if it has none."""
    asked = Request("DescribeContinuousBackups", {"TableName": lake.table.name})
    described: Response = lake.store.send(asked)["ContinuousBackupsDescription"]
    recovery = described.get("PointInTimeRecoveryDescription", {})
    if recovery.get("PointInTimeRecoveryStatus") != "ENABLED":
        return None
    at: float | datetime | None = recovery.get("EarliestRestorableDateTime")
    if at is None:
        return None
    return at if isinstance(at, datetime) else datetime.fromtimestamp(at, UTC)


def close_gap(lake: TableLake, gap: Gap, arn: str, bucket: ExportBucket) -> int:
    known = keys_at(lake, gap)
    rows: defaultdict[tuple[str, str], list[Row]] = defaultdict(list)
    for line in exported_changes(lake, gap, arn, bucket):
        restored = row_of(lake, gap, line)
        if restored is None:
            continue
        kept, at, row = restored
        # Records have times in seconds: items with a change in the gap's first second are skipped.
        if (row[0], at.replace(microsecond=0)) not in known:
            rows[kept.name, part_of(kept, at)].append(row)
    number = sum(other.closed_at is not None for other in lake.manifest.gaps)
    files = [
        lake.write_changes(
            name,
            part,
            f"restored-{gap.position}-{number}",
            sorted(found, key=lambda row: row[2]),
            restored=True,
        )
        for (name, part), found in rows.items()
    ]
    lake.manifest.files += files
    gap.closed_at = text_of(lake.store.clock())
    gap.restored = sum(file.rows for file in files)
    lake.save()
    for start, _ in windows(gap):  # or persons who are erased later would remain in the exports
        bucket.remove(window_prefix(lake, gap, start))
    log.warning("lake %s: a gap is closed, with %d changes", lake.table.name, gap.restored)
    return gap.restored


def keys_at(lake: TableLake, gap: Gap) -> frozenset[tuple[str, datetime]]:
    """The items with a change in the second in which the gap begins."""
    second = datetime.fromisoformat(str(gap.after)).astimezone(UTC).replace(tzinfo=None)
    files = [file for file in lake.manifest.files if not file.restored]
    paths = [lake.local(file.name) for file in files if file.last <= gap.position]
    if not paths:
        return frozenset()
    found = lake.writer.fetch(
        f"SELECT item_key FROM {parquet_rows(paths)}"
        f" WHERE changed_at = TIMESTAMP '{second:%Y-%m-%d %H:%M:%S}'"
    )
    return frozenset((key, second) for (key,) in found)


def row_of(lake: TableLake, gap: Gap, line: dict[str, Any]) -> tuple[Lake, datetime, Row] | None:
    """The row for a line of an export; None if its item is in no lake."""
    new, old = line.get("NewImage"), line.get("OldImage")
    image: Item | None = new or old
    kept = lake.lake_of(image) if image else None
    if kept is None or image is None:
        return None
    micros = int(line["Metadata"]["WriteTimestampMicros"]["N"])
    at = datetime.fromtimestamp(micros / 1e6, UTC).replace(tzinfo=None)
    change = "REMOVE" if new is None else "MODIFY" if old is not None else "INSERT"
    maker = lake.makers[kept.name]
    key = maker.key_of(line["Keys"])
    event = sha256(f"{lake.table.name} {key} {micros}".encode()).hexdigest()[:32]
    return kept, at, (key, change, at, gap.position, event, None, *maker.fields_of(image))


# --- Exports --------------------------------------------------------------------------------


def exported_changes(
    lake: TableLake, gap: Gap, arn: str, bucket: ExportBucket
) -> Iterator[dict[str, Any]]:
    bucket.make()
    for start, end in windows(gap):
        prefix = window_prefix(lake, gap, start)
        export_window(lake, arn, bucket.name, prefix, start, end)
        folder = bucket.fetch(prefix, lake.writer.scratch)
        for export in find_exports(folder):
            for file in read_export(export).files:
                with gzip.open(file.path) as lines:
                    yield from (orjson.loads(line) for line in lines if line.strip())


def window_prefix(lake: TableLake, gap: Gap, start: datetime) -> str:
    return f"lake-gaps/{lake.table.name}/{gap.position}-{int(start.timestamp())}"


def windows(gap: Gap) -> Iterator[tuple[datetime, datetime]]:
    """The gap in windows of an hour; the last one begins earlier instead of being too short."""
    start = datetime.fromisoformat(str(gap.after))
    end = max(datetime.fromisoformat(gap.before), start + SHORTEST)
    while start < end:
        until = min(start + WINDOW, end)
        if end - until < SHORTEST:
            until = end
        yield start, until
        start = until


def export_window(
    lake: TableLake, arn: str, bucket: str, prefix: str, start: datetime, end: datetime
) -> None:
    """Exports the changes between two moments, and waits until the export is complete."""
    token = sha256(f"{arn} {prefix} {end.timestamp()}".encode()).hexdigest()[:32]
    asked = Request(
        "ExportTableToPointInTime",
        {
            "TableArn": arn,
            "S3Bucket": bucket,
            "S3Prefix": prefix,
            "ClientToken": token,
            "ExportFormat": "DYNAMODB_JSON",
            "ExportType": "INCREMENTAL_EXPORT",
            "IncrementalExportSpecification": {
                "ExportFromTime": start.timestamp(),
                "ExportToTime": end.timestamp(),
                "ExportViewType": "NEW_AND_OLD_IMAGES",
            },
        },
    )
    export: Response = lake.store.send(asked)["ExportDescription"]
    waited = 0.0
    while export["ExportStatus"] == "IN_PROGRESS":
        if waited > PATIENCE_SECONDS:
            raise TimeoutError(f"the export {export['ExportArn']} takes too long")
        lake.store.sleep(PAUSE_SECONDS)
        waited += PAUSE_SECONDS
        described = Request("DescribeExport", {"ExportArn": export["ExportArn"]})
        export = lake.store.send(described)["ExportDescription"]
    if export["ExportStatus"] == "FAILED":
        raise TimeoutError(f"the export failed: {export.get('FailureMessage', 'no reason given')}")
