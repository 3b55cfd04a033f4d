"""Restoring a backup: into a file, which may be empty and on another machine, or to AWS.

An engine takes over the files and restores them itself. In any other store the tables are created
as the backup describes them and filled in batches; meanwhile a tag on each table says which backup
it is being filled from, so that an interrupted restore can be run again. Every table gets back the
settings that it had.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from bigtime.ops.backup_places import BackupFault, Place
from bigtime.ops.backups import Manifest, TableCopy, read_manifest, refuse_faults, refuse_others
from bigtime.ops.table_copy import create_params, write_all
from bigtime.ops.table_settings import describe_table, give_settings, read_tags, wait_until_active
from bigtime.store import Store
from bigtime.wire import Request, Response

if TYPE_CHECKING:
    from bigtime.engine import Engine

MARK: Final = "bigtime:restored-from"


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
        return [job.fill(copy) for copy in wanted]
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
        done = [self.finish(copy) for copy in copies]
        for arn in arns:
            self.store.send(Request("DeleteBackup", {"BackupArn": arn}))
        return done

    def begin(self, copy: TableCopy, arn: str) -> None:
        target = self.target(copy)
        there = self.store.run(describe_table(target))
        if there is None:
            params = {"TargetTableName": target, "BackupArn": arn}
            self.store.send(Request("RestoreTableFromBackup", params))
        elif there.get("RestoreSummary", {}).get("SourceBackupArn") != arn:
            raise is_taken(target, there)

    def finish(self, copy: TableCopy) -> RestoredTable:
        target = self.target(copy)
        self.store.run(wait_until_active(target))
        self.store.run(give_settings(target, copy.settings))
        return RestoredTable(copy.name, target, copy.items)

    # Through DynamoDB's own requests

    def fill(self, copy: TableCopy) -> RestoredTable:
        """Creates the table and writes its items; starts over if that was begun before."""
        from bigtime.engine import read_backup_items

        target = self.target(copy)
        there = self.store.run(describe_table(target))
        if there is None:
            params = create_params(copy.table, target, {MARK: self.manifest.name})
            self.store.send(Request("CreateTable", params))
        elif self.store.run(read_tags(there["TableArn"])).get(MARK) != self.manifest.name:
            raise is_taken(target, there)
        table = self.store.run(wait_until_active(target))
        for chunk in read_backup_items(self.place.file(self.manifest.name, copy.file)):
            write_all(self.store, target, [{"PutRequest": {"Item": item}} for item in chunk])
        self.store.run(give_settings(target, copy.settings))
        marked = {"ResourceArn": table["TableArn"], "TagKeys": [MARK]}
        self.store.send(Request("UntagResource", marked))
        return RestoredTable(copy.name, target, copy.items)


def is_taken(target: str, there: Response) -> BackupFault:
    items = there.get("ItemCount", 0)
    return BackupFault(
        f"There is a table {target} already, with about {items:,} items: nothing is written over."
        " Choose another store, or say --suffix _restored."
    )
