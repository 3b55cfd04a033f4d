"""Drills: a recovery that is carried out, checked and timed, beside what an environment promises.

- `drill_pitr` restores the system to the latest moment under other names, and takes it away again.
- `drill_backup` restores the newest backup into a file of its own.

RTO is the time until every table is back and verified: its items, their invariants, and for the
portal its audit log. RPO is how old that state is: what was written since is what would be lost.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple

from bigtime import model as bt
from bigtime.ops.backup_places import BackupFault, Place
from bigtime.ops.backup_restore import restore_backup
from bigtime.ops.backups import names_of, read_manifest, saved_tables
from bigtime.ops.restores import Restore
from bigtime.store import RenamingTransport, Store, TableNames
from bigtime.systems import portal
from bigtime.wire import Request

DRILL_SUFFIX: Final = "_drill"
HOUR: Final = timedelta(hours=1)


class Bars(NamedTuple):
    """The longest that a recovery may take. Where they are `firm` they are promised."""

    pitr: timedelta
    backup: timedelta
    firm: bool = True


BARS: Final = {
    "dev": Bars(2 * HOUR, 4 * HOUR, firm=False),
    "sit": Bars(2 * HOUR, 4 * HOUR),
    "prod": Bars(1 * HOUR, 2 * HOUR),
}
RECOVERY_POINT: Final = timedelta(minutes=5)
"""How far AWS's latest restorable moment may lie back; an engine's is now."""


@dataclass(frozen=True, slots=True)
class Drill:
    """What a drill has measured."""

    kind: str
    system: str
    environment: str
    at: datetime
    source: str
    items: int
    recovery_seconds: float
    """RTO."""
    recovery_bar: timedelta
    lost_seconds: float
    """RPO."""
    lost_bar: timedelta
    faults: tuple[str, ...]
    is_firm: bool = True

    @property
    def passed(self) -> bool:
        in_time = (
            self.recovery_seconds < self.recovery_bar.total_seconds()
            and self.lost_seconds <= self.lost_bar.total_seconds()
        )
        return not self.faults and (in_time or not self.is_firm)

    def report(self) -> str:
        """The report, in Markdown."""
        effort = "" if self.is_firm else " (best effort)"
        rows = [
            ("RTO", f"{self.recovery_seconds:,.1f} s", f"< {self.recovery_bar}{effort}"),
            ("RPO", f"{self.lost_seconds:,.1f} s", f"<= {self.lost_bar}{effort}"),
        ]
        lines = [
            f"# Drill: {self.kind} of {self.system} in {self.environment}",
            "",
            f"{self.at:%Y-%m-%d %H:%M:%S} UTC, from {self.source}: {self.items:,} items.",
            "",
            "| | measured | bar |",
            "|---|---|---|",
            *(f"| {name} | {measured} | {bar} |" for name, measured, bar in rows),
            "",
            "Passed." if self.passed else "**Failed.**",
            *(f"- {fault}" for fault in self.faults),
        ]
        return "\n".join(lines) + "\n"


def drill_pitr(restore: Restore, environment: bt.Environment) -> Drill:
    """Restores to the latest moment under names of its own, verifies, and takes it away again."""
    restore = replace(restore, suffix=DRILL_SUFFIX)
    restore.abandon(lambda name: True)  # what an earlier drill may have left
    begun, at = time.monotonic(), datetime.now(UTC)
    try:
        pairs = restore.restore()
        moment = restore.moment_of(pairs[0])
        names = TableNames({**restore.names.names, **{pair.name: pair.target for pair in pairs}})
        restored = Store(RenamingTransport(restore.store.transport, names))
        items, faults = verify_all(restored, restore.system)
        seconds = time.monotonic() - begun
    finally:
        restore.abandon(lambda name: True)
    bars = BARS.get(environment.name, BARS["dev"])
    return Drill(
        kind="point-in-time recovery",
        system=restore.system.name,
        environment=environment.name,
        at=at,
        source=f"the moment {moment.isoformat()}",
        items=items,
        recovery_seconds=seconds,
        recovery_bar=bars.pitr,
        lost_seconds=max(0.0, (at - moment).total_seconds()),
        lost_bar=RECOVERY_POINT,
        faults=tuple(faults),
        is_firm=bars.firm,
    )


def drill_backup(place: Place, system: bt.System, environment: bt.Environment) -> Drill:
    """Restores the newest backup into an empty file, and verifies it."""
    from bigtime.engine import Engine

    names = names_of(place, system.name, environment.name)
    if not names:
        raise BackupFault(
            f"There is no backup of {system.name} in {environment.name} in {place.where}:"
            " `bigtime backup create` makes one."
        )
    at = datetime.now(UTC)
    manifest = read_manifest(place, names[-1])
    begun = time.monotonic()
    with (
        tempfile.TemporaryDirectory(prefix="bigtime-drill-") as folder,
        Engine.open(Path(folder) / "drill.db") as engine,
    ):
        store = Store(engine)
        restore_backup(place, manifest.name, store, engine=engine)
        for part in (system, *system.uses):
            store.run(bt.setup(part))
        items, faults = verify_all(store, system)
        seconds = time.monotonic() - begun
    bars = BARS.get(environment.name, BARS["dev"])
    return Drill(
        kind="backup",
        system=system.name,
        environment=environment.name,
        at=at,
        source=manifest.name,
        items=items,
        recovery_seconds=seconds,
        recovery_bar=bars.backup,
        lost_seconds=max(0.0, (at - manifest.commit).total_seconds()),
        lost_bar=environment.backup_period,
        faults=tuple(faults),
        is_firm=bars.firm,
    )


def verify_all(store: Store, system: bt.System) -> tuple[int, list[str]]:
    """How many items there are, and all that is wrong with them."""
    items = sum(count_items(store, table.name) for table in saved_tables(system))
    faults: list[str] = []
    for part in (system, *system.uses):
        faults += [str(violation) for violation in store.run(bt.verify(part))]
        if part.name == portal.SYSTEM.name:
            faults += broken_chains(store)
    return items, faults


def count_items(store: Store, table: str) -> int:
    count = 0
    params: dict[str, Any] = {"TableName": table, "Select": "COUNT"}
    while True:
        page = store.send(Request("Scan", params))
        count += int(page["Count"])
        if "LastEvaluatedKey" not in page:
            return count
        params["ExclusiveStartKey"] = page["LastEvaluatedKey"]


def broken_chains(store: Store) -> Iterator[str]:
    """What is wrong with the portal's audit log."""
    place: portal.Place | None = portal.Place()
    while place is not None:
        page = store.run(portal.verify_chains(place))
        yield from map(str, page.broken)
        place = page.next
