"""Backups on a schedule: made when due, copied to a second place, pruned when they expire.

A backup is due when a moment of the schedule has passed since the newest one. So a process that was
down for a day makes one backup when it comes back, not twenty-four; and two that run at once make
one, because a backup is named after its moment. What a second place lacks is copied in the next
round, unless it would have expired by now.

Each new backup is opened as a restore would open it, and the portal's audit log in it is checked.
That takes ten times as long as the backup, so it comes last. A backup with a broken log is kept,
because the tables were broken too; but the round has failed.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final

from bigtime.ops import backups
from bigtime.ops.backup_places import BackupFault, Place
from bigtime.ops.drills import audit_backup
from bigtime.ops.schedule import Schedule

log = logging.getLogger("bigtime.ops")

LONGEST_SLEEP_SECONDS: Final = 30.0


def utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class BackupPlan:
    """When, for how long, and where to."""

    schedule: Schedule
    keep: timedelta
    place: Place
    second: Place | None = None


@dataclass(slots=True)
class BackupRound:
    """What a round did, and what it could not do."""

    made: backups.Manifest | None = None
    copied: list[str] = field(default_factory=list)
    pruned: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    @contextmanager
    def noting_faults(self) -> Iterator[None]:
        """Records an error as a fault of the round, which continues."""
        try:
            yield
        except BackupFault as error:
            self.faults.append(str(error))


@dataclass(frozen=True, slots=True)
class BackupRuns:
    """A system's backups, as planned."""

    source: backups.BackupSource
    plan: BackupPlan
    clock: Callable[[], datetime] = utc_now

    def run(self, stop: threading.Event, tell: Callable[[BackupRound], None]) -> None:
        """Runs rounds until stopped; a round that fails is reported, and tried again."""
        while not stop.is_set():
            tell(self.round())
            stop.wait(self.seconds_until_next())

    def seconds_until_next(self) -> float:
        now = self.clock()
        due = self.plan.schedule.next(now)
        if due is None:
            return LONGEST_SLEEP_SECONDS
        return min(max((due - now).total_seconds(), 0.0), LONGEST_SLEEP_SECONDS)

    def round(self) -> BackupRound:
        """Does what is due now."""
        done = BackupRound()
        with done.noting_faults():
            due = self.due()
            if due is not None:
                done.made = self.make(due)
        if self.plan.second is not None:
            self.copy_missing(self.plan.second, done)
        if done.made is not None:
            self.prune_all(done.made, done)
            self.check_log(done.made, done)
        for fault in done.faults:
            log.error("backup of %s: %s", self.source.system.name, fault)
        return done

    def check_log(self, made: backups.Manifest, done: BackupRound) -> None:
        with done.noting_faults():
            broken = audit_backup(self.plan.place, made.name, self.source.system)
            done.faults += (f"{made.name}: {fault}" for fault in broken)

    def due(self) -> datetime | None:
        """The last moment of the schedule, if it has no backup yet."""
        moment = self.plan.schedule.last(self.clock())
        names = self.names(self.plan.place)
        if moment is None or (names and backups.stamp_in(names[-1]) >= backups.stamp_of(moment)):
            return None
        return moment

    def make(self, moment: datetime) -> backups.Manifest | None:
        try:
            return backups.create_backup(
                self.source, self.plan.place, moment=moment, keep=self.plan.keep
            )
        except BackupFault:
            if self.was_made(moment):  # by another process, which was faster
                return None
            raise

    def was_made(self, moment: datetime) -> bool:
        name = backups.backup_name(self.source.system.name, self.source.environment, moment)
        place = self.plan.place
        return name in self.names(place) and not backups.verify_backup(place, name)

    def copy_missing(self, second: Place, done: BackupRound) -> None:
        with done.noting_faults():
            there = set(self.names(second))
            oldest = backups.stamp_of(self.clock() - self.plan.keep)
            for name in self.names(self.plan.place):
                if name not in there and backups.stamp_in(name) > oldest:
                    backups.copy_backup(self.plan.place, name, second)
                    done.copied.append(name)

    def prune_all(self, made: backups.Manifest, done: BackupRound) -> None:
        self.prune_place(self.plan.place, made.name, done)
        if self.plan.second is not None:
            copied = made.name if made.name in done.copied else None
            self.prune_place(self.plan.second, copied, done)

    def prune_place(self, place: Place, good: str | None, done: BackupRound) -> None:
        with done.noting_faults():
            done.pruned += backups.prune(
                place, self.names(place), now=self.clock(), keep=self.plan.keep, good=good
            )

    def names(self, place: Place) -> list[str]:
        return backups.names_of(place, self.source.system.name, self.source.environment)
