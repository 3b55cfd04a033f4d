"""Restoring a backup: into a file, which may be empty and on another machine, or to AWS.

An engine takes over the files and restores them itself. In any other store the tables are created
as the backup describes them and filled in batches. Until all is done a tag on each table says which
backup it is restored from (`restore_marks`), so that an interrupted restore can be run again. Every
table gets back the settings that it had.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from bigtime.ops.backup_places import BackupFault, Place
from bigtime.ops.backups import Manifest, TableCopy, read_manifest, refuse_faults, refuse_others
from bigtime.ops.restore_marks import FROM, mark_when_active, read_marks, unmark
from bigtime.ops.table_copy import create_params, write_all
from bigtime.ops.table_settings import describe_table, give_settings, wait_until_active
from bigtime.store import Store
from bigtime.wire import Request, Response

if TYPE_CHECKING:
    from bigtime.engine import Engine


class RestoredTable(NamedTuple):
    """A table of a backup, and the name that it has now."""

    name: str
    target: str
    items: int


def restore_backup(
    place: Place,
    name: str,
    store: Store,
    *,
    engine: Engine | None = None,
    real: Callable[[str], str] = lambda declared: declared,
    suffix: str = "",
    tables: Sequence[str] = (),
) -> list[RestoredTable]:
    """Restores all tables of a backup, or some, each under its real name plus the suffix."""
    from bigtime.engine import BackupFileError

    manifest = read_manifest(place, name)
    wanted = [manifest.table(table) for table in tables] or [*manifest.tables]
    job = BackupRestore(place, manifest, store, lambda copy: real(copy.name) + suffix)
    if engine is None:
        refuse_faults(place, name)
        return job.fill_all(wanted)
    refuse_others(place, manifest)
    try:
        return job.restore_all(engine, wanted)
    except BackupFileError as error:
        raise BackupFault(f"{name} in {place.where} cannot be used: {error}") from error


class BackupRestore(NamedTuple):
    """A backup that is being restored into a store."""

    place: Place
    manifest: Manifest
    store: Store
    target: Callable[[TableCopy], str]

    def restore_all(self, engine: Engine, copies: Sequence[TableCopy]) -> list[RestoredTable]:
        """Restores all tables at once, by the engine's own restore."""
        arns: list[str] = []
        for copy in copies:
            path = self.place.file(self.manifest.name, copy.file)
            arns.append(engine.adopt_backup(path)["BackupArn"])
        for copy, arn in zip(copies, arns, strict=True):
            self.begin(copy, arn)
        self.store.run(mark_when_active({self.target(copy): self.marks for copy in copies}))
        for copy in copies:
            self.store.run(give_settings(self.target(copy), copy.settings))
        for arn in arns:
            self.store.send(Request("DeleteBackup", {"BackupArn": arn}))
        return self.finish(copies)

    def begin(self, copy: TableCopy, arn: str) -> None:
        target = self.target(copy)
        there = self.store.run(describe_table(target))
        if there is None:
            params = {"TargetTableName": target, "BackupArn": arn}
            self.store.send(Request("RestoreTableFromBackup", params))
        elif there.get("RestoreSummary", {}).get("SourceBackupArn") != arn:
            self.check_mark(there)

    @property
    def marks(self) -> dict[str, str]:
        return {FROM: self.manifest.name}

    def check_mark(self, there: Response) -> None:
        """Refuses a table that this backup was not being restored to."""
        marks = self.store.run(read_marks(there))
        if marks != self.marks:
            raise is_taken(there, is_marked=bool(marks))

    def finish(self, copies: Sequence[TableCopy]) -> list[RestoredTable]:
        """Takes the marks away once all is done: until then each run finds its own tables."""
        tables = [self.store.run(wait_until_active(self.target(copy))) for copy in copies]
        for table in tables:
            self.store.run(unmark(table))
        return [RestoredTable(copy.name, self.target(copy), copy.items) for copy in copies]

    # Through DynamoDB's own requests

    def fill_all(self, copies: Sequence[TableCopy]) -> list[RestoredTable]:
        for copy in copies:
            self.fill(copy)
        return self.finish(copies)

    def fill(self, copy: TableCopy) -> None:
        """Creates the table and writes its items; starts over if that was begun before."""
        from bigtime.engine import read_backup_items

        target = self.target(copy)
        there = self.store.run(describe_table(target))
        if there is None:
            params = create_params(copy.table, target, self.marks)
            self.store.send(Request("CreateTable", params))
        table = self.store.run(wait_until_active(target))
        if there is not None:
            self.check_mark(table)
        for chunk in read_backup_items(self.place.file(self.manifest.name, copy.file)):
            write_all(self.store, target, [{"PutRequest": {"Item": item}} for item in chunk])
        self.store.run(give_settings(target, copy.settings))


def is_taken(there: Response, *, is_marked: bool) -> BackupFault:
    items = there.get("ItemCount", 0)
    left = " If a restore that was stopped left it, delete it by hand, and run the same again."
    return BackupFault(
        f"There is a table {there['TableName']} already, with about {items:,} items: nothing is"
        " written over. Choose another store, or say --suffix _restored."
        + ("" if is_marked else left)
    )
