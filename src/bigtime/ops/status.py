"""What an operator looks at first: how far back each table can be restored, backups, drills."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from pathlib import Path
from typing import Final, NamedTuple

from bigtime import model as bt
from bigtime.ops.backup_places import BackupFault, Place, Verification
from bigtime.ops.backups import moment_in, names_of, read_manifest
from bigtime.ops.restores import Window, recovery_window
from bigtime.ops.table_settings import describe_table
from bigtime.wire import Response, Steps

REPORT = re.compile(r"(\d{4}-\d{2}-\d{2})(?:T(\d{6})Z)?-([a-z]+)-([a-z0-9_-]+)\.md")
MOST_REPORTS: Final = 20
PASSED: Final = "\nPassed.\n"


class TableRecovery(NamedTuple):
    """The moments that a table can be restored to, its replicas with their status, its size."""

    table: str
    window: Window | None
    replicas: Mapping[str, str]
    size_bytes: int = 0
    """The size of its items and indexes; DynamoDB updates it about every six hours."""

    @property
    def window_seconds(self) -> float:
        if self.window is None:
            return 0.0
        return (self.window.latest - self.window.earliest).total_seconds()


def recovery_states(tables: Iterable[bt.Table]) -> Steps[list[TableRecovery]]:
    """The recovery state of each table that exists."""
    found: list[TableRecovery] = []
    for table in tables:
        described = yield from describe_table(table.name)
        if described is None:
            continue
        replicas = {
            each["RegionName"]: each.get("ReplicaStatus", "")
            for each in described.get("Replicas") or []
        }
        window = yield from recovery_window(table.name)
        found.append(TableRecovery(table.name, window, replicas, size_of(described)))
    return found


def size_of(described: Response) -> int:
    """The bytes of storage that a table is billed for, from its DescribeTable."""
    indexes = described.get("GlobalSecondaryIndexes") or []
    local = described.get("LocalSecondaryIndexes") or []
    sizes: list[int] = [index.get("IndexSizeBytes", 0) for index in (*indexes, *local)]
    return sum(sizes, int(described.get("TableSizeBytes", 0)))


class BackupState(NamedTuple):
    """A backup in a list; `fault` says why its manifest cannot be read."""

    name: str
    moment: datetime
    items: int | None
    file_bytes: int | None
    expires_at: datetime | None
    verification: Verification | None
    fault: str | None = None


def backup_states(
    place: Place, system: str, environment: str | None, *, limit: int
) -> tuple[int, list[BackupState]]:
    """The number of backups, and the newest of them."""
    names = names_of(place, system, environment)
    return len(names), [backup_state(place, name) for name in reversed(names[-limit:])]


def backup_state(place: Place, name: str) -> BackupState:
    seen = place.verification(name)
    try:
        manifest = read_manifest(place, name)
    except BackupFault as error:
        return BackupState(name, moment_in(name), None, None, None, seen, str(error))
    return BackupState(
        name, manifest.moment, manifest.items, manifest.file_bytes, manifest.expires_at, seen
    )


class DrillReport(NamedTuple):
    """The report of a drill, with the name of its file."""

    name: str
    day: date
    clock: str
    """The time of day, such as 14:30; empty if the name has none."""
    kind: str
    environment: str
    text: str

    @property
    def has_passed(self) -> bool:
        return PASSED in self.text


def drill_reports(folder: Path) -> list[DrillReport]:
    """The latest reports written by `bigtime drill`, newest first."""
    names = [path.name for path in folder.glob("*.md")] if folder.is_dir() else []
    known = sorted((name for name in names if REPORT.fullmatch(name)), reverse=True)
    return [report for name in known[:MOST_REPORTS] if (report := drill_report(folder, name))]


def drill_report(folder: Path, name: str) -> DrillReport | None:
    """One report by name; None if there is none."""
    parsed = REPORT.fullmatch(name)
    try:
        if parsed is None:
            return None
        day, text = date.fromisoformat(parsed[1]), (folder / name).read_text()
    except (OSError, ValueError):
        return None
    clock = f"{parsed[2][:2]}:{parsed[2][2:4]}" if parsed[2] else ""
    return DrillReport(name, day, clock, parsed[3], parsed[4], text)
