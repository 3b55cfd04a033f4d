"""The database that the operations work on: the file, its tables, and the committer."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from copy import copy
from pathlib import Path
from typing import TypedDict, cast

import apsw

from bigtime.engine.storage.catalogue import Catalogue
from bigtime.engine.storage.clock import Clock, SteadyClock, last_write, noted_time, settled_clock
from bigtime.engine.storage.commit import Committer
from bigtime.engine.storage.damage import is_damage
from bigtime.engine.storage.describe import table_arn, table_name
from bigtime.engine.storage.faults import Faults, LaggingFile
from bigtime.engine.storage.file import Durability, File
from bigtime.engine.storage.format import FileFormatError
from bigtime.engine.storage.regions import Regions, region_in_name
from bigtime.engine.storage.stream_log import DEFAULT_SLOTS, SHARD_SECONDS
from bigtime.engine.storage.table import Index
from bigtime.engine.storage.vector_search import VectorMatrices
from bigtime.engine.storage.writer_lock import LOCK_SECONDS, LockTimeout, LogLost
from bigtime.wire import AccessDeniedException, ValidationException

COLLECTION_LIMIT = 10 * 1024**3
DEFAULT_REGION = "us-east-1"


class Settings(TypedDict, total=False):
    """The options for opening an engine, besides its path and its durability."""

    region: str
    account: str
    clock: Clock
    stream_shards: int
    shard_seconds: float
    collection_limit: int
    vfs: str | None
    lock_seconds: float
    s3_folder: str | os.PathLike[str] | None


def read_catalogue(file: File, name_in_arn: Callable[[str], str]) -> Catalogue:
    """The tables of a newly opened file, which is closed again if they cannot be read."""
    try:
        return Catalogue(file, name_in_arn)
    except BaseException as error:
        file.close()
        if is_damage(error):
            raise FileFormatError(f"{file.path} is damaged ({error}); use a backup.") from error
        raise


def own_region(catalogue: Catalogue) -> str | None:
    """The region recorded by the replicated tables of a file."""
    return next((table.region for table in catalogue.tables.values() if table.region), None)


def clock_of_file(file: File, written: float | None) -> SteadyClock:
    """The machine's clock, checked against the time that an opened file knows."""
    noted = noted_time(file.writer)
    known = [moment for moment in (written, noted) if moment is not None]
    return SteadyClock(last_write=min(known, default=None))


class Database:
    """An open file with its catalogue, its committer and its settings."""

    def __init__(
        self,
        path: Path,
        *,
        durability: Durability,
        region: str | None = None,
        account: str = "000000000000",
        clock: Clock | None = None,
        stream_shards: int = DEFAULT_SLOTS,
        shard_seconds: float = SHARD_SECONDS,
        collection_limit: int = COLLECTION_LIMIT,
        vfs: str | None = None,
        lock_seconds: float = LOCK_SECONDS,
        s3_folder: str | os.PathLike[str] | None = None,
    ) -> None:
        if stream_shards < 1:
            raise ValueError(f"a stream has one shard at least, not {stream_shards}")
        self.regions: Regions | None = None
        self.account = account
        self.stream_shards = stream_shards
        self.shard_seconds = shard_seconds
        # Exports are written here, and imports read from here: one folder per bucket.
        folder = path.with_name(f"{path.name}-s3") if s3_folder is None else Path(s3_folder)
        self.s3_folder = folder.absolute()
        self.trim_horizons: dict[int, int] = {}
        self.collection_limit = collection_limit
        written = last_write(path)
        self.file = File(path, durability=durability, vfs=vfs, lock_seconds=lock_seconds)
        self.clock: Clock = clock or clock_of_file(self.file, written)
        self.settled_clock = settled_clock(self.clock)
        self.catalogue = read_catalogue(self.file, self.table_name)
        # Replicated tables stay in one region; a file without any can be opened as any region.
        own = own_region(self.catalogue)
        self.region = own or region or region_in_name(path) or DEFAULT_REGION
        self.committer = Committer(self.file, catalogue=self.catalogue, clock=self.clock)
        self.faults = Faults(self.file, self.clock)
        self.vectors = VectorMatrices(self.file, self.catalogue)

    def table_name(self, name_or_arn: str) -> str:
        """The name of a table given by name or ARN; the ARN must be of this account and region.

        The errors of others were seen on AWS: DDB-TABLE-011 and -442 of
        aws-controllers-k8s/dynamodb-controller.
        """
        if not name_or_arn.startswith("arn:"):
            return name_or_arn
        _, partition, _, region, account, _ = name_or_arn.split(":", 5)
        if partition != "aws" or region != self.region:
            wrong = "partition" if partition != "aws" else "region"
            raise ValidationException(
                f"1 validation error detected: Invalid AWS {wrong} in '{name_or_arn}'"
            )
        if account != self.account:
            raise AccessDeniedException("Access is denied")
        return table_name(name_or_arn)

    def owner(self, arn: str) -> Database:
        """The database of an ARN's region if this engine has that region, else this one."""
        region = arn.split(":")[3] if arn.startswith("arn:") and arn.count(":") >= 5 else ""
        found = self.regions.find(region) if self.regions and region != self.region else None
        return found or self

    def table_arn(self, name: str) -> str:
        return table_arn(name, self.region, self.account)

    @contextmanager
    def reading(self, index: Index | None = None) -> Iterator[apsw.Connection]:
        """A connection for reading a table or an index."""
        if index is not None and index.is_global and self.faults.index_lag_is_on:
            with self.faults.index_lag.reader() as reader:
                yield reader
            return
        reader = self.file.take_reader()
        try:
            yield reader
        finally:
            self.file.give_reader(reader)

    def lagging_copy(self) -> Database:
        """The same tables, read as they were a moment ago: for the fault `stale_reads`."""
        view = copy(self)
        view.file = cast(File, LaggingFile(self.faults.read_lag))
        return view

    def close(self) -> None:
        self.faults.clear()
        if self.file.is_read_only:
            self.committer.close()
            self.file.close()
            return
        with suppress(apsw.Error, LockTimeout, LogLost):
            self.committer.run_alone(lambda writer: self.file.checkpoint())
        self.committer.close()
        self.file.close()
