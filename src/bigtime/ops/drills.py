"""Drills: recoveries that are rehearsed, verified and timed against an environment's targets.

- `drill_pitr` restores the system to the latest moment under other names, and deletes it again.
- `drill_backup` restores the newest backup into a new file.
- `drill_region` fails over to the replica's region, behind a fence of the drill's own.

RTO is the time until every table is back and verified: its items, their invariants, and for the
portal its audit log. RPO is the age of that state: whatever was written since would be lost. For a
region it is the age of the oldest write that had not arrived when the region was given up. The time
that Route 53 takes to notice, and resolvers to follow, comes before that RTO.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple

from bigtime import model as bt
from bigtime.ops.backup_places import BackupFault, Place
from bigtime.ops.backup_restore import restore_backup
from bigtime.ops.backups import names_of, read_manifest, saved_tables
from bigtime.ops.regions import RegionFault, RegionSwitch
from bigtime.ops.restores import Restore
from bigtime.ops.table_settings import NotActive
from bigtime.ops.table_walk import pages
from bigtime.store import WRITERS, Fence, FencedTransport, Store, Writer, write_epoch
from bigtime.systems import portal
from bigtime.wire import DynamoDBError, Steps

DRILL_SUFFIX: Final = "_drill"
HOUR: Final = timedelta(hours=1)


class Bars(NamedTuple):
    """The longest that a recovery may take; `firm` ones are promised."""

    pitr: timedelta
    backup: timedelta
    region: timedelta = timedelta(minutes=15)
    firm: bool = True


BARS: Final = {
    "dev": Bars(2 * HOUR, 4 * HOUR, firm=False),
    "sit": Bars(2 * HOUR, 4 * HOUR),
    "prod": Bars(1 * HOUR, 2 * HOUR),
}
REPLICATION_POINT: Final = timedelta(seconds=1)
PROBES: Final = 50
PROBE_PAUSE_SECONDS: Final = 0.02
RECOVERY_POINT: Final = timedelta(minutes=5)
"""How old AWS's latest restorable moment may be; an engine's is now."""


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
    def has_passed(self) -> bool:
        in_time = (
            self.recovery_seconds < self.recovery_bar.total_seconds()
            and self.lost_seconds <= self.lost_bar.total_seconds()
        )
        return not self.faults and (in_time or not self.is_firm)

    def report(self) -> str:
        """The report, in Markdown."""
        effort = "" if self.is_firm else " (best effort)"
        rows = [
            ("RTO", seconds_text(self.recovery_seconds), f"< {self.recovery_bar}{effort}"),
            ("RPO", seconds_text(self.lost_seconds), f"<= {self.lost_bar}{effort}"),
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
            "Passed." if self.has_passed else "**Failed.**",
            *(f"- {fault}" for fault in self.faults),
        ]
        return "\n".join(lines) + "\n"


def seconds_text(seconds: float) -> str:
    return f"{seconds:,.1f} s" if seconds >= 10 else f"{seconds:.3f} s"


def drill_pitr(restore: Restore, environment: bt.Environment) -> Drill:
    """Restores to the latest moment under the drill's own names, verifies, and deletes again."""
    restore = replace(restore, suffix=DRILL_SUFFIX)
    restore.abandon(lambda name: True)  # an earlier drill may have left some
    begun, at = time.monotonic(), datetime.now(UTC)
    try:
        pairs = restore.restore()
        moment = restore.moment_of(pairs[0])
        items, faults = verify_all(restore.restored_store(), restore.system)
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
    names = names_of(place, system.name, environment.name)
    if not names:
        raise BackupFault(
            f"There is no backup of {system.name} in {environment.name} in {place.where}:"
            " `bigtime backup create` makes one."
        )
    at = datetime.now(UTC)
    manifest = read_manifest(place, names[-1])
    begun = time.monotonic()
    with open_backup(place, manifest.name) as store:
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


@contextmanager
def open_backup(place: Place, name: str, tables: Sequence[str] = ()) -> Iterator[Store]:
    """A backup, or some of its tables, in a file that is removed afterwards."""
    from bigtime.engine import Engine

    with (
        tempfile.TemporaryDirectory(prefix="bigtime-drill-") as folder,
        Engine.open(Path(folder) / "drill.db") as engine,
    ):
        store = Store(engine)
        restore_backup(place, name, store, engine=engine, tables=tables)
        yield store


def audit_backup(place: Place, name: str, system: bt.System) -> list[str]:
    """What is wrong with the portal's audit log in a backup; nothing in systems without one.

    The tables were already broken then: the backup is as good as they were.
    """
    parts = {part.name: part for part in (system, *system.uses)}
    if portal.SYSTEM.name not in parts:
        return []
    tables = [table.name for table in parts[portal.SYSTEM.name].saved_tables]
    try:
        with open_backup(place, name, tables) as store:
            return [*broken_chains(store)]
    except OSError as error:
        reason = f"{error.filename or 'a file'} cannot be used ({error.strerror})"
        raise not_opened(name, reason) from error
    except (DynamoDBError, NotActive) as error:
        raise not_opened(name, str(error)) from error


def not_opened(name: str, reason: str) -> BackupFault:
    return BackupFault(
        f"{name} was not opened to check its audit log: {reason}. Make room there, or say TMPDIR="
        "FOLDER, and run `bigtime backup verify`; its files themselves are verified."
    )


def drill_region(regions: RegionSwitch) -> Drill:
    """Gives up the writing region as a trial: what the other has by then, and when it can write.

    Numbered items are written until then. The fence is the drill's own, so the system itself goes
    on; fence and items are deleted afterwards.
    """
    writer = regions.writer().region
    if writer not in regions.stores:
        raise RegionFault("Nobody writes: end the switch first, with the same command again.")
    to = regions.other(writer)
    there = regions.store_of(to)
    regions.store_of(writer)
    regions.prepare()
    probes = Probes(regions.stores[writer], f"{regions.system.name}.drill")
    try:
        for _ in range(PROBES):
            probes.write()
            regions.sleep(PROBE_PAUSE_SECONDS)
        begun, at = time.monotonic(), datetime.now(UTC)
        lost = probes.lost_seconds(there, at)
        there.run(write_epoch(probes.name, Writer(1, to, at)))
        Store(FencedTransport(there.transport, Fence(probes.name, to))).run(probes.check_write())
        items, faults = verify_all(there, regions.system)
        seconds = time.monotonic() - begun
    finally:
        there.run(probes.remove())
        regions.stores[writer].run(probes.remove())
    bars = BARS.get(regions.environment.name, BARS["dev"])
    return Drill(
        kind="region",
        system=regions.system.name,
        environment=regions.environment.name,
        at=at,
        source=f"the replicas in {to}, with {writer} given up",
        items=items,
        recovery_seconds=seconds,
        recovery_bar=bars.region,
        lost_seconds=lost,
        lost_bar=REPLICATION_POINT,
        faults=tuple(faults),
        is_firm=bars.firm,
    )


class Probes:
    """Items that are written in one region, and looked for in another."""

    def __init__(self, store: Store, name: str) -> None:
        self.store = store
        self.name = name
        self.written: list[datetime] = []

    def write(self) -> None:
        number = len(self.written)
        self.written.append(datetime.now(UTC))
        self.store.run(WRITERS.put(WRITERS.key(f"PROBE#{self.name}", f"{number:04}")))

    def lost_seconds(self, there: Store, at: datetime) -> float:
        """The age of the oldest item missing in the other region; 0 if all are there."""
        arrived = {item["SK"]["S"] for item in there.run(WRITERS.items_in(f"PROBE#{self.name}"))}
        for number, moment in enumerate(self.written):
            if f"{number:04}" not in arrived:
                return (at - moment).total_seconds()
        return 0.0

    def check_write(self) -> Steps[None]:
        yield from WRITERS.put(WRITERS.key(f"PROBE#{self.name}", "taken over"))

    def remove(self) -> Steps[None]:
        for partition in (f"PROBE#{self.name}", f"WRITER#{self.name}"):
            for item in (yield from WRITERS.items_in(partition)):
                yield from WRITERS.delete(partition, item["SK"]["S"])


def verify_all(store: Store, system: bt.System) -> tuple[int, list[str]]:
    """The number of items, and all that is wrong with them."""
    items = sum(count_items(store, table.name) for table in saved_tables(system))
    faults: list[str] = []
    for part in (system, *system.uses):
        faults += [str(violation) for violation in store.run(bt.verify(part))]
        if part.name == portal.SYSTEM.name:
            faults += broken_chains(store)
    return items, faults


def count_items(store: Store, table: str) -> int:
    params = {"TableName": table, "Select": "COUNT"}
    return sum(int(page["Count"]) for page in pages(store, "Scan", params, after="Key"))


def broken_chains(store: Store) -> Iterator[str]:
    """What is wrong with the portal's audit log."""
    place: portal.Place | None = portal.Place()
    while place is not None:
        page = store.run(portal.verify_chains(place))
        yield from map(str, page.broken)
        place = page.next
