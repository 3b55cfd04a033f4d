"""Backups of a system: all its tables at one commit, made while they are written to.

A backup is a manifest and one file per table, written by the engine: compressed frames with
checksums. Restoring it needs nothing else, neither the data file that it was made from nor the
machine. The manifest has the size, the SHA-256 and the number of items of each file, and the
settings that a restored table lacks (stream, time to live, tags, and so on).

1. The engine fixes the commit and copies the tables, in this process: another process goes on
   serving requests from the same file.
2. The files are copied to the place, where they appear whole, named after system and moment.
3. Then they are read again, to their ends. A backup that cannot be read is reported, and does not
   count as one.

The tables that a system declares as `unsaved`, such as one of one-time codes, are left out: a
restore would bring back codes that have expired since.
"""

from __future__ import annotations

import hashlib
import os
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import orjson
from pydantic import ConfigDict, TypeAdapter
from pydantic.alias_generators import to_camel

from bigtime import model as bt
from bigtime.formats import file_lock
from bigtime.ops.backup_places import MANIFEST, NAME, BackupFault, Place, Verification
from bigtime.ops.table_settings import TableSettings, read_settings
from bigtime.ops.table_walk import pages
from bigtime.store import Store, TableNames
from bigtime.wire import BackupInUseException, BackupNotFoundException, Request

if TYPE_CHECKING:
    from bigtime.engine import Engine

FORMAT: Final = 1
OWN_NAME: Final = "bigtime-backup"
BLOCK_BYTES: Final = 1 << 20
SYNCED_BYTES: Final = 4 << 20
"""Synced this often: a disk with much to write at once keeps the tables' writers waiting."""
IN_CAMEL_CASE: Final = ConfigDict(alias_generator=to_camel)


@dataclass(frozen=True, slots=True)
class TableCopy:
    """A table in a backup, by its declared name; `real` is its name in the database."""

    __pydantic_config__ = IN_CAMEL_CASE

    name: str
    real: str
    file: str
    items: int
    bytes: int
    file_bytes: int
    sha256: str
    settings: TableSettings
    table: Mapping[str, Any]
    """The response of DescribeTable."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a backup says of itself. `moment` is the scheduled time, `commit` that of the commit."""

    __pydantic_config__ = IN_CAMEL_CASE

    system: str
    environment: str | None
    moment: datetime
    commit: datetime
    expires_at: datetime | None
    tables: tuple[TableCopy, ...]

    @property
    def name(self) -> str:
        return backup_name(self.system, self.environment, self.moment)

    @property
    def items(self) -> int:
        return sum(table.items for table in self.tables)

    @property
    def file_bytes(self) -> int:
        return sum(table.file_bytes for table in self.tables)

    def table(self, name: str) -> TableCopy:
        for table in self.tables:
            if table.name == name:
                return table
        known = ", ".join(table.name for table in self.tables)
        raise BackupFault(f"{self.name} has no table {name!r}; it has {known}.")


MANIFESTS: Final = TypeAdapter(Manifest)


def backup_name(system: str, environment: str | None, moment: datetime) -> str:
    middle = "" if environment is None else f"{environment}-"
    return f"{system.lower()}-{middle}{stamp_of(moment)}"


def stamp_of(moment: datetime) -> str:
    """A moment as the end of a backup's name; stamps sort as their moments do."""
    return f"{moment.astimezone(UTC):%Y%m%dT%H%M%SZ}"


def stamp_in(name: str) -> str:
    return name.rpartition("-")[2]


def moment_in(name: str) -> datetime:
    """The moment in a backup's name."""
    return datetime.strptime(stamp_in(name), "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)


def saved_tables(system: bt.System) -> list[bt.Table]:
    """The tables backed up and restored together: a system's, and those of the systems it uses."""
    used = (table for part in system.uses for table in saved_tables(part))
    return list(dict.fromkeys((*system.saved_tables, *used)))


def engine_of(store: Store) -> Engine | None:
    """The engine behind a store, if it is in this process."""
    from bigtime.engine import Engine

    transport: object = store.transport
    while transport is not None and not isinstance(transport, Engine):
        transport = getattr(transport, "transport", None)
    return transport


# --- Making ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class BackupSource:
    """The tables of a system in an engine; `names` are their real names."""

    engine: Engine
    system: bt.System
    environment: str | None = None
    names: TableNames | None = None

    def real(self, table: bt.Table) -> str:
        return table.name if self.names is None else self.names.real(table.name)


def create_backup(
    source: BackupSource,
    place: Place,
    *,
    moment: datetime,
    keep: timedelta | None = None,
) -> Manifest:
    """Backs a system up, and reads the backup again. Without `keep` it is never pruned."""
    store = Store(source.engine)
    with lock_of(source.engine.path):
        drop_leftovers(store)
        arns = copy_tables(source)
        try:
            manifest = put_backup(source, store, arns, place, moment=moment, keep=keep)
        finally:
            for arn in arns.values():
                delete_backup(store, arn)
    refuse_faults(place, manifest.name)
    return manifest


def copy_tables(source: BackupSource) -> dict[bt.Table, str]:
    """Makes the engine's backup of each table, all at one commit; returns their ARNs."""
    tables = saved_tables(source.system)
    names = {source.real(table): f"{OWN_NAME}.{source.system.name}" for table in tables}
    made = source.engine.copy_backups(names)
    return {table: details["BackupArn"] for table, details in zip(tables, made, strict=True)}


def put_backup(
    source: BackupSource,
    store: Store,
    arns: Mapping[bt.Table, str],
    place: Place,
    *,
    moment: datetime,
    keep: timedelta | None,
) -> Manifest:
    at = moment.astimezone(UTC).replace(microsecond=0)
    made: list[Manifest] = []

    def write(folder: Path) -> None:
        copies = [copy_table(source, store, table, arn, folder) for table, arn in arns.items()]
        commit = max((commit for _, commit in copies), default=0.0)
        manifest = Manifest(
            source.system.name,
            source.environment,
            at,
            datetime.fromtimestamp(commit, UTC),
            None if keep is None else at + keep,
            tuple(copy for copy, _ in copies),
        )
        (folder / MANIFEST).write_bytes(manifest_json(manifest))
        made.append(manifest)

    place.put(backup_name(source.system.name, source.environment, moment), write)
    return made[0]


def copy_table(
    source: BackupSource, store: Store, table: bt.Table, arn: str, folder: Path
) -> tuple[TableCopy, float]:
    """Copies the file of a table; returns it with the time of the engine's commit."""
    described = store.send(Request("DescribeBackup", {"BackupArn": arn}))["BackupDescription"]
    real = source.real(table)
    file = f"{table.name}.backup"
    digest, size = copy_file(source.engine.backup_path(arn), folder / file)
    copy = TableCopy(
        name=table.name,
        real=real,
        file=file,
        items=described["SourceTableDetails"]["ItemCount"],
        bytes=described["SourceTableDetails"]["TableSizeBytes"],
        file_bytes=size,
        sha256=digest,
        settings=store.run(read_settings(real)),
        table=store.send(Request("DescribeTable", {"TableName": real}))["Table"],
    )
    return copy, float(described["BackupDetails"]["BackupCreationDateTime"])


def copy_file(source: Path, target: Path) -> tuple[str, int]:
    """Copies a file; returns its SHA-256 and its size."""
    digest, size = hashlib.sha256(), 0
    with source.open("rb") as reader, target.open("wb") as writer:
        while block := reader.read(BLOCK_BYTES):
            digest.update(block)
            size += len(block)
            writer.write(block)
            if size % SYNCED_BYTES < len(block):
                writer.flush()
                os.fdatasync(writer.fileno())
    return digest.hexdigest(), size


def drop_leftovers(store: Store) -> None:
    """Deletes the engine's backups that a killed process left; those still being made stay."""
    for page in pages(store, "ListBackups", {}, after="BackupArn"):
        for summary in page["BackupSummaries"]:
            if summary["BackupName"].startswith(f"{OWN_NAME}."):
                delete_backup(store, summary["BackupArn"])


def delete_backup(store: Store, arn: str) -> None:
    """Deletes the engine's backup, unless it is still being made or already deleted by another."""
    with suppress(BackupInUseException, BackupNotFoundException):
        store.send(Request("DeleteBackup", {"BackupArn": arn}))


def lower_priority() -> None:
    """Lowers this thread's priority, so that it runs only when no other process wants the CPU.

    On a machine whose processors are all busy, a backup would otherwise take a share from those
    that answer requests. Linux keeps priorities per thread.
    """
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 19)


def lock_of(data: Path) -> AbstractContextManager[None]:
    """Lets one process at a time back a file up: what has our name was then left by a dead one."""
    return file_lock(data.with_name(data.name + "-backup-lock"))


def copy_backup(place: Place, name: str, other: Place) -> None:
    """Copies a backup to a second place, and reads it there."""
    manifest = read_manifest(place, name)
    files = [MANIFEST, *(table.file for table in manifest.tables)]

    def write(folder: Path) -> None:
        for file in files:
            copy_file(place.file(name, file), folder / file)

    other.put(name, write)
    refuse_faults(other, name)


# --- Reading --------------------------------------------------------------------------------


def manifest_json(manifest: Manifest) -> bytes:
    content = {"format": FORMAT, **MANIFESTS.dump_python(manifest, by_alias=True)}
    body = orjson.dumps(content, option=orjson.OPT_SORT_KEYS | orjson.OPT_INDENT_2)
    digest = hashlib.sha256(body).hexdigest()
    return b'{"sha256": "%s", "manifest":\n%s}\n' % (digest.encode(), body)


NO_BACKUP: Final = (
    "There is no backup {name} in {where}: `bigtime backup list` has those there are."
)


def read_manifest(place: Place, name: str) -> Manifest:
    """The manifest of a backup, checked against its own checksum."""
    if not NAME.fullmatch(name):
        raise BackupFault(NO_BACKUP.format(name=name, where=place.where))
    path = place.file(name, MANIFEST)
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        if name not in place.names():
            raise BackupFault(NO_BACKUP.format(name=name, where=place.where)) from None
        raise BackupFault(f"{name} in {place.where} is damaged: it has no manifest.") from None
    except OSError as error:
        raise BackupFault(f"{path} cannot be read: {error.strerror}.") from error
    try:
        body = content.partition(b"\n")[2].removesuffix(b"}\n")
        if orjson.loads(content)["sha256"] != hashlib.sha256(body).hexdigest():
            raise ValueError("its checksum is another")
        return manifest_in(body)
    except (ValueError, KeyError, TypeError) as error:
        raise BackupFault(f"{name} in {place.where} is damaged: its manifest, {error}.") from error


def manifest_in(body: bytes) -> Manifest:
    format = orjson.loads(body)["format"]
    if format != FORMAT:
        raise ValueError(f"it is of format {format}, and this version reads {FORMAT}")
    return MANIFESTS.validate_json(body)


def refuse_faults(place: Place, name: str) -> None:
    refuse(place, name, verify_backup(place, name))


def refuse_others(place: Place, manifest: Manifest) -> None:
    """Refuses a backup whose files are not the manifest's; an engine reads them to their ends."""
    found = (digest_fault(place, manifest.name, table) for table in manifest.tables)
    refuse(place, manifest.name, [fault for fault in found if fault])


def refuse(place: Place, name: str, faults: list[str]) -> None:
    if faults:
        raise BackupFault(
            f"{name} in {place.where} cannot be used: {'; '.join(faults)}. Make another one."
        )


def verify_backup(place: Place, name: str) -> list[str]:
    """All that is wrong with a backup, read from first byte to last; also recorded beside it."""
    try:
        manifest = read_manifest(place, name)
    except BackupFault as error:
        return [str(error)]
    faults = [fault for table in manifest.tables for fault in table_faults(place, name, table)]
    with suppress(BackupFault):  # a place that is read-only
        place.note_verification(name, Verification(datetime.now(UTC), faults))
    return faults


def table_faults(place: Place, name: str, table: TableCopy) -> Iterator[str]:
    from bigtime.engine import BackupFileError, count_backup_items

    if fault := digest_fault(place, name, table):
        yield fault
        return
    try:
        items = count_backup_items(place.file(name, table.file))
    except BackupFileError as error:
        yield f"{table.file} cannot be read: {error}"
        return
    if items != table.items:
        yield f"{table.file} has {items:,} items, not {table.items:,}"


def digest_fault(place: Place, name: str, table: TableCopy) -> str | None:
    """Says so if the file is not the one that the manifest describes."""
    try:
        with place.file(name, table.file).open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        return f"{table.file} cannot be read: {error.strerror}"
    is_same = digest == table.sha256
    return None if is_same else f"{table.file} is damaged: its SHA-256 is not the manifest's"


def names_of(place: Place, system: str, environment: str | None) -> list[str]:
    """The backups of a system in an environment, the oldest first."""
    stem = backup_name(system, environment, datetime.now(UTC)).rpartition("-")[0]
    return [name for name in place.names() if name.rpartition("-")[0] == stem]


# --- Pruning --------------------------------------------------------------------------------


def prune(
    place: Place,
    names: Iterable[str],
    *,
    now: datetime,
    keep: timedelta = timedelta(),
    good: str | None = None,
) -> list[str]:
    """Removes the expired backups, and returns their names.

    The newest readable one is never removed, and nothing is unless there is one; `good` is one
    that was just read. Only backups older than `keep` can have expired, so only their manifests are
    read.
    """
    newest_first = sorted(names, key=stamp_in, reverse=True)
    oldest = stamp_of(now - keep)
    old = [name for name in newest_first if stamp_in(name) <= oldest]
    over = [name for name in old if is_over(place, name, now)]
    if not over:
        return []
    last = good or next((name for name in newest_first if not verify_backup(place, name)), None)
    if last is None:
        raise BackupFault(
            f"No backup in {place.where} can be read, so none is removed:"
            " make one with `bigtime backup create`."
        )
    gone = [name for name in reversed(over) if name != last]
    for name in gone:
        place.remove(name)
    return gone


def is_over(place: Place, name: str, now: datetime) -> bool:
    """Whether it has expired; without a readable manifest nobody knows, so the backup stays."""
    try:
        expires_at = read_manifest(place, name).expires_at
    except BackupFault:
        return False
    return expires_at is not None and expires_at <= now
