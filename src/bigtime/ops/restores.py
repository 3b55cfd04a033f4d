"""Restoring a system to a moment, in the five steps of a recovery; each may be run again.

1. Find the moment: just before things went wrong. `window` says how far back it may lie.
2. `restore`: every saved table, all at that moment, under new names (`tenants_restored`). They
   belong together: an audit log of another moment would not fit the records.
3. `compare` shows item by item what differs.
4. `cut_over` gives the new tables the settings that a restore leaves out, and writes the map of
   table names, which running processes reload. A new stream begins with the first change after
   that, and each consumer starts at its beginning: shards have ids of their own, so no old
   checkpoint applies.
5. `finish` deletes the old tables, once their names were typed.

The tables themselves say what they were restored from, so no state is kept beside them: DynamoDB
says it while they are restored, and tags after that (`restore_marks`). `restore` waits for its
tables and tags them. If it was stopped, the next run does so, unless a table was ready in between:
that one says nothing, and must be deleted by hand. The tags stay after `finish`, since they show
that the table is in use by a cut-over; a table restored from this one has tags of its own.

Only DynamoDB's own requests are used, on an engine as on AWS.

AWS: "Restoring a DynamoDB table to a point in time"
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/PointInTimeRecovery.Tutorial.html
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final, NamedTuple

from bigtime import model as bt
from bigtime.formats import write_whole
from bigtime.ops.backups import saved_tables
from bigtime.ops.comparison import Comparison, Difference
from bigtime.ops.restore_marks import (
    Origin,
    mark_when_active,
    origin_in,
    origin_of,
    read_origin,
    time_of,
)
from bigtime.ops.table_copy import key_of
from bigtime.ops.table_settings import (
    describe_table,
    give_settings,
    read_settings,
    wait_until_active,
)
from bigtime.store import RenamingTransport, Store, TableNames
from bigtime.systems import portal
from bigtime.wire import Request, Response, Steps, TableNotFoundException

SUFFIX: Final = "_restored"
AUDIT: Final = portal.AuditEntry.layout.table.name
"""Restored with any other table of the portal: it has the history of each record."""


class RestoreFault(Exception):
    """Why a step of a restore cannot be done: a sentence that says what was found, what to do."""


class Pair(NamedTuple):
    """A declared table, the real table it had, and the one that it is restored to."""

    name: str
    source: str
    target: str


class Window(NamedTuple):
    """The moments that all tables of a system can be restored to."""

    earliest: datetime
    latest: datetime


@dataclass(frozen=True, slots=True)
class Restore:
    """A system's restore under a suffix. `store` takes real table names; `names` maps to them."""

    store: Store
    system: bt.System
    names: TableNames
    suffix: str = SUFFIX

    @property
    def suffix_option(self) -> str:
        """The option as typed on the command line; empty for the default suffix."""
        return "" if self.suffix == SUFFIX else f" --suffix {self.suffix}"

    @property
    def words(self) -> str:
        """The arguments to type after a verb."""
        return f"{self.system.name}{self.suffix_option}"

    def pairs(self) -> list[Pair]:
        """Each saved table with its source and target, before the cut-over and after it."""
        return [self.pair(table.name) for table in saved_tables(self.system)]

    def pair(self, name: str) -> Pair:
        real = self.names.real(name)
        origin = self.store.run(origin_of(real)) if real.endswith(self.suffix) else None
        if origin is not None and origin.table + self.suffix == real:
            return Pair(name, origin.table, real)
        return Pair(name, real, real + self.suffix)

    def chosen_pairs(self, tables: Sequence[str]) -> list[Pair]:
        """The pairs of those tables and of the audit log; without tables, all."""
        pairs = self.pairs()
        known = [pair.name for pair in pairs]
        for name in tables:
            if name not in known:
                raise RestoreFault(
                    f"{self.system.name} has no saved table {name!r}; it has {', '.join(known)}."
                )
        wanted = {*tables, AUDIT} if tables else known
        return [pair for pair in pairs if pair.name in wanted]

    def restored_pairs(self) -> list[Pair]:
        """The pairs whose target exists and was made by a restore."""
        return [pair for pair in self.pairs() if self.store.run(origin_of(pair.target))]

    def is_cut_over(self, pair: Pair) -> bool:
        return self.names.real(pair.name) == pair.target

    # 1 and 2

    def window(self) -> Window:
        """The moments that the tables in use can be restored to."""
        windows = [
            self.table_window(self.names.real(table.name)) for table in saved_tables(self.system)
        ]
        return Window(
            max(window.earliest for window in windows), min(window.latest for window in windows)
        )

    def table_window(self, name: str) -> Window:
        try:
            found = self.store.run(recovery_window(name))
        except TableNotFoundException:
            raise RestoreFault(
                f"There is no table {name}: `bigtime restore` needs the tables of"
                f" {self.system.name}. After a cut-over, name the map of table names with"
                " BIGTIME_TABLES; from a backup, `bigtime backup restore` makes them."
            ) from None
        if found is None:
            raise RestoreFault(
                f"{name} has no point-in-time recovery, so no moment of it was kept: restore"
                " a backup (`bigtime backup list`), and switch it on with"
                f" `bigtime tables create {self.system.name} --environment NAME`."
            )
        return found

    def restore(self, at: datetime | None = None, tables: Sequence[str] = ()) -> list[Pair]:
        """Restores all saved tables to that moment, or the latest; waits until they are ready.

        If `tables` are named, only those and the audit log: to look at, and to bring records back
        from. A later restore without them adds the others, at the same moment.
        """
        chosen = self.chosen_pairs(tables)
        pairs = self.pairs()
        for pair in pairs:
            self.check_not_in_use(pair)
        window = self.window()
        moment = window.latest if at is None else at
        if not window.earliest <= moment <= window.latest:
            raise RestoreFault(
                f"{self.system.name} cannot be restored to {moment.isoformat()}: its tables can be"
                f" restored to any moment from {window.earliest.isoformat()}"
                f" to {window.latest.isoformat()}."
            )
        origins = self.begun(pairs, None if at is None else moment)
        if at is None and origins:
            moment = next(iter(origins.values())).at
        for pair in chosen:
            if pair.target not in origins:
                origins[pair.target] = self.begin(pair, moment)
        marks = {target: origin.marks for target, origin in origins.items()}
        self.store.run(mark_when_active(marks))
        return chosen

    def check_not_in_use(self, pair: Pair) -> None:
        if self.is_cut_over(pair):
            raise RestoreFault(
                f"{pair.name} is {pair.target} since a cut-over: `bigtime restore finish"
                f" {self.words}` ends that restore; for another one, say another --suffix."
            )

    def begun(self, pairs: Sequence[Pair], moment: datetime | None) -> dict[str, Origin]:
        """What the targets that exist were restored from."""
        found = {pair.target: self.begun_origin(pair, moment) for pair in pairs}
        return {target: origin for target, origin in found.items() if origin is not None}

    def begun_origin(self, pair: Pair, moment: datetime | None) -> Origin | None:
        """The origin of an existing target; it must be this source, and `moment` if given."""
        there = self.store.run(describe_table(pair.target))
        if there is None:
            return None
        origin = self.store.run(read_origin(there))
        if origin is None:
            raise unknown_origin(pair)
        if origin.table != pair.source:
            raise RestoreFault(
                f"There is a table {pair.target} that was not restored from {pair.source}: nothing"
                " is written over. Say another --suffix."
            )
        if moment is not None and abs((origin.at - moment).total_seconds()) >= 0.001:
            raise RestoreFault(
                f"{pair.target} is there already, as {pair.source} was at {origin.at.isoformat()}."
                f" Go on with that moment, take it away with `bigtime restore abandon"
                f" {self.words}`, or say another --suffix."
            )
        return origin

    def moment_of(self, pair: Pair) -> datetime:
        origin = self.store.run(origin_of(pair.target))
        assert origin is not None
        return origin.at

    def begin(self, pair: Pair, moment: datetime) -> Origin:
        """Starts to restore a table; returns its origin as DynamoDB understood it."""
        params = {
            "SourceTableName": pair.source,
            "TargetTableName": pair.target,
            "RestoreDateTime": moment.timestamp(),
        }
        begun = self.store.send(Request("RestoreTableToPointInTime", params))
        summary = begun["TableDescription"].get("RestoreSummary", {})
        return origin_in(summary) or Origin(pair.source, moment)

    # 3

    def restored_store(self) -> Store:
        """The system with its restored tables, to verify them."""
        targets = {pair.name: pair.target for pair in self.pairs()}
        names = TableNames({**self.names.names, **targets})
        return Store(RenamingTransport(self.store.transport, names))

    def compare(self, pair: Pair, report: Callable[[Difference], None]) -> Comparison:
        """Compares a table with its restored copy; differences are reported as they are found."""
        described = self.store.send(Request("DescribeTable", {"TableName": pair.target}))
        if self.store.run(describe_table(pair.source)) is None:
            raise RestoreFault(
                f"{pair.source} was removed after the cut-over to {pair.target}: nothing is left"
                " to compare it with."
            )
        comparison = Comparison(
            self.store,
            self.store,
            {pair.source: key_of(described["Table"])},
            names={pair.source: pair.target},
            report=report,
        )
        comparison.run()
        return comparison

    def states(self) -> list[str]:
        """The progress of each table's restore, in words."""
        return [self.state(pair) for pair in self.pairs()]

    def state(self, pair: Pair) -> str:
        table = self.store.run(describe_table(pair.target))
        if table is None:
            return f"{pair.name}: is {pair.source}, and not restored"
        origin = self.store.run(read_origin(table))
        if origin is None:
            return f"{pair.name}: is {pair.source}. {unknown_origin(pair)}"
        when = f"as {pair.source} was at {origin.at.isoformat()}"
        if table["TableStatus"] != "ACTIVE":
            return (
                f"{pair.name}: {pair.target} is being filled, {when};"
                f" `bigtime restore {self.words}` waits for it"
            )
        if not self.is_cut_over(pair):
            return f"{pair.name}: is {pair.source}; {pair.target} is ready, {when}"
        is_left = self.store.run(describe_table(pair.source)) is not None
        rest = f"; {pair.source} is still there" if is_left else ""
        return f"{pair.name}: is {pair.target}, {when}{rest}"

    # 4

    def cut_over(self, path: Path) -> list[str]:
        """Gives the restored tables their settings, and writes the map; returns what it did."""
        pairs = self.pairs()
        self.check_restored(pairs)
        done: list[str] = []
        for pair in pairs:
            given = self.store.run(copy_settings(pair))
            done += [f"{pair.target} has {what}" for what in given]
        names = {**self.names.names, **{pair.name: pair.target for pair in pairs}}
        if names != self.names.names:
            write_names(path, names)
            done.append(f"{path} names the restored tables: processes follow within seconds")
        return done

    def check_restored(self, pairs: Sequence[Pair]) -> None:
        moments: set[datetime] = set()
        for pair in pairs:
            table = self.store.run(describe_table(pair.target))
            if table is None:
                raise self.no_restored_table(pair)
            origin = self.store.run(read_origin(table))
            if origin is None:
                raise unknown_origin(pair)
            moments.add(origin.at)
            if table["TableStatus"] != "ACTIVE":
                raise RestoreFault(
                    f"{pair.target} is still being restored: `bigtime restore {self.words}` waits"
                    " until it is ready; then run the same again."
                )
        if len(moments) > 1:
            first, last = min(moments), max(moments)
            raise RestoreFault(
                f"The restored tables are of several moments, {first.isoformat()} to"
                f" {last.isoformat()}, and do not belong together: `bigtime restore abandon"
                f" {self.words}` takes them away."
            )

    def no_restored_table(self, pair: Pair) -> RestoreFault:
        command = f"`bigtime restore {self.words}"
        how = (
            f"tables belong together, and {command}` makes it as of the same moment"
            if self.restored_pairs()
            else f"{command} --at TIME` makes it"
        )
        return RestoreFault(f"There is no restored table {pair.target} yet: {how}.")

    # 5

    def finish(self, confirm: Callable[[str], bool]) -> list[str]:
        """Deletes the old tables, each after its name is confirmed; returns those deleted."""
        pairs = self.pairs()
        waiting = [pair.name for pair in pairs if not self.is_cut_over(pair)]
        if waiting:
            raise RestoreFault(
                f"{', '.join(waiting)} still are the tables of before: `bigtime restore cut-over"
                f" {self.words}` comes first."
            )
        return self.remove([pair.source for pair in pairs], confirm)

    def abandon(self, confirm: Callable[[str], bool]) -> list[str]:
        """Deletes the restored tables, each after its name is confirmed; returns those deleted."""
        pairs = self.pairs()
        if used := [pair.target for pair in pairs if self.is_cut_over(pair)]:
            raise RestoreFault(
                f"{', '.join(used)} are in use since the cut-over, and are not removed."
            )
        return self.remove([pair.target for pair in self.restored_pairs()], confirm)

    def check_no_cut_over(self) -> None:
        """Refuses tables with point-in-time recovery: a cut-over enables it, a restore does not.

        Without the map of names nothing else shows whether they are in use.
        """
        for pair in self.restored_pairs():
            if self.store.run(recovery_window(pair.target)) is not None:
                raise RestoreFault(
                    f"A cut-over to {pair.target} has begun, so it may be in use: name the map of"
                    " table names that says so, with --tables FILE or BIGTIME_TABLES."
                )

    def remove(self, tables: Sequence[str], confirm: Callable[[str], bool]) -> list[str]:
        gone: list[str] = []
        for name in tables:
            if self.store.run(describe_table(name)) is not None and confirm(name):
                self.store.run(remove_table(name))
                gone.append(name)
        return gone


def recovery_window(name: str) -> Steps[Window | None]:
    """The moments that a table can be restored to; None without point-in-time recovery."""
    answer: Response = yield Request("DescribeContinuousBackups", {"TableName": name})
    found = answer["ContinuousBackupsDescription"].get("PointInTimeRecoveryDescription", {})
    if found.get("PointInTimeRecoveryStatus") != "ENABLED":
        return None
    return Window(
        time_of(found["EarliestRestorableDateTime"]), time_of(found["LatestRestorableDateTime"])
    )


def unknown_origin(pair: Pair) -> RestoreFault:
    return RestoreFault(
        f"There is a table {pair.target} that does not say what it was restored from: nothing is"
        " written over. If a `bigtime restore` that was stopped left it, delete it by hand, and"
        " run the same again; otherwise say another --suffix."
    )


def copy_settings(pair: Pair) -> Steps[list[str]]:
    if (yield from describe_table(pair.source)) is None:
        return []
    settings = yield from read_settings(pair.source)
    return (yield from give_settings(pair.target, settings))


def remove_table(name: str) -> Steps[None]:
    """Deletes a table for good, with its replicas, even if it is protected."""
    settings = yield from read_settings(name)
    if settings.protected:
        off = {"TableName": name, "DeletionProtectionEnabled": False}
        yield Request("UpdateTable", off)
        yield from wait_until_active(name)
    for region in settings.replicas:
        gone = [{"Delete": {"RegionName": region}}]
        yield Request("UpdateTable", {"TableName": name, "ReplicaUpdates": gone})
        yield from wait_until_active(name)
    yield Request("DeleteTable", {"TableName": name})


def write_names(path: Path, names: dict[str, str]) -> None:
    """Replaces the map atomically: a process that reads it meanwhile reads the old one."""
    try:
        write_whole(path, json.dumps(names, indent=2).encode() + b"\n")
    except OSError as error:
        raise RestoreFault(f"{path} cannot be written: {error.strerror}.") from error
