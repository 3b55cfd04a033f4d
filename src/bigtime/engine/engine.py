"""The engine: DynamoDB in a file. One call, from a request to a response."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, Self, Unpack

import apsw
import orjson

from bigtime import wire
from bigtime.engine import operations, partiql, storage
from bigtime.engine.operations import LOCAL_REGION, READS, Read, TableChange, quick_get
from bigtime.engine.replication import RegionFiles, Replication
from bigtime.engine.storage import Database, Done, Faults, Settings, Work
from bigtime.engine.validation import shapes
from bigtime.wire import Params, Request, Response

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient, DynamoDBServiceResource

    from bigtime.engine.access import UserTransport
    from bigtime.engine.iam import Principal

READ_TRIES = 5
WRITES = {**operations.WRITES, **partiql.WRITES}


class FileFigures(NamedTuple):
    """Figures of a file for monitoring."""

    wal_bytes: int
    """The length of SQLite's write-ahead log."""
    commits: int
    """Commits of this process; each syncs the log, unless durability is relaxed."""
    commit_seconds: float
    """The seconds that they took, nearly all of them in syncs."""


class Engine:
    """DynamoDB in one file, in this process. Thread-safe; many processes can open the same file.

    Other regions have files of their own beside it: see `in_region`.
    """

    def __init__(
        self,
        database: Database,
        *,
        housekeeping: bool = True,
        folder: str | None = None,
        regions: Iterable[str] = (),
        replication: Literal["async", "sync"] = "async",
        settings: Settings | None = None,
    ) -> None:
        """`folder` is a temporary one, deleted with the engine; `settings` are the database's."""
        self._database = database
        files = RegionFiles(database, settings or {}, housekeeping=housekeeping)
        self._regions = files.regions
        self._replicator = files.replicator
        self._housekeeper = files.housekeepers[0]
        self._housekeepers = files.housekeepers
        self._waiting = ThreadPoolExecutor(8, "bigtime-sync") if replication == "sync" else None
        self._closed: str | None = None
        self._shut = weakref.finalize(self, shut, os.getpid(), files, self._waiting, folder)
        if housekeeping and not database.file.is_read_only:
            self._housekeeper.start()
        OPEN.add(self)
        for region in regions:
            self._regions.open(region)

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        *,
        durability: Literal["full", "relaxed"] = "full",
        housekeeping: bool = True,
        regions: Iterable[str] = (),
        replication: Literal["async", "sync"] = "async",
        **settings: Unpack[Settings],
    ) -> Self:
        """Opens or creates the file. `relaxed` may lose the last commits in a power failure.

        Each of `regions` gets a file of its own. With `sync` replication a write is acknowledged
        once it is committed in every replica of its table.
        """
        if durability not in ("full", "relaxed"):
            raise ValueError(f"durability is 'full' or 'relaxed', not {durability!r}")
        regions = tuple(regions)
        check_options(regions, replication)
        database = Database(Path(path).resolve(), durability=durability, **settings)
        return cls(
            database,
            housekeeping=housekeeping,
            regions=regions,
            replication=replication,
            settings=settings,
        )

    @classmethod
    def memory(
        cls,
        *,
        housekeeping: bool = True,
        regions: Iterable[str] = (),
        replication: Literal["async", "sync"] = "async",
        **settings: Unpack[Settings],
    ) -> Self:
        """An engine for tests, on a temporary file that is never synced and deleted at the end."""
        regions = tuple(regions)
        check_options(regions, replication)
        folder = tempfile.mkdtemp(prefix="bigtime-")
        path = Path(folder) / "memory.db"
        try:
            if settings.get("vfs") is None:
                path.write_bytes(empty_file())
            database = Database(path, durability="none", **settings)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return cls(
            database,
            housekeeping=housekeeping,
            folder=folder,
            regions=regions,
            replication=replication,
            settings=settings,
        )

    def __call__(self, request: Request) -> Response:
        """Answers one request; raises a `DynamoDBError` where DynamoDB would."""
        return self._answer(self._database, request)

    def submit(self, request: Request, done: Done, region: str | None = None) -> None:
        """For event loops: starts a request, and calls `done(response, error)` when it is done.

        A read is done before this returns; for a write, the committing thread calls `done`.
        The `region` is the one that the request was signed for.
        """
        try:
            database = self._database if region is None else self._find(region, request)
            response = self._begin(database, request, done)
        except Exception as error:
            done(None, error)
            return
        if response is not None:
            done(response, None)

    def in_region(self, name: str) -> RegionalEngine:
        """The transport to a region: its own file, or the home region while it has none."""
        return RegionalEngine(self, name)

    def replication(self) -> list[Replication]:
        """How far each replica lags behind each other one, as measured by this process."""
        return self._replicator.states()

    def _answer(self, database: Database, request: Request) -> Response:
        if self._closed:
            raise RuntimeError(self._closed)
        operation = request.operation
        if operation == "GetItem" and not database.faults.active:
            response = quick_get(database, request.params)
            if response is not None:
                return response
        try:
            params, read = read_request(request)
            if read is not None:
                return self._read(database, operation, read, params)
            response = database.committer.run(self._work(database, operation, params))
        except (UnicodeEncodeError, orjson.JSONEncodeError):
            # Half of a surrogate pair, which only a Python string can hold: JSON cannot contain it.
            raise wire.SerializationException("Unexpected token received from parser") from None
        if self._waiting:
            self._replicator.push(database)
        return response

    def _begin(self, database: Database, request: Request, done: Done) -> Response | None:
        """Returns the response to a read; queues a write, which calls `done` later."""
        if self._closed:
            raise RuntimeError(self._closed)
        params, read = read_request(request)
        if read is not None:
            return self._read(database, request.operation, read, params)
        work = self._work(database, request.operation, params)
        if self._waiting:
            done = push_first(self._waiting, partial(self._replicator.push, database), done)
        database.committer.submit(work, done)
        return None

    def _find(self, region: str, request: Request) -> Database:
        """The database that answers requests to a region."""
        database = self._regions.find(region)
        if database is not None:
            return database
        if request.operation == "UpdateTable":
            refuse_local_replica(region, request)
        return self._database

    @property
    def path(self) -> Path:
        return self._database.file.path

    @property
    def region(self) -> str:
        return self._database.region

    @property
    def account(self) -> str:
        return self._database.account

    @property
    def faults(self) -> Faults:
        """Switches that make requests fail as they sometimes do in production."""
        return self._database.faults

    @property
    def groups(self) -> tuple[int, int]:
        """How many commits there were, and how many writes they acknowledged."""
        committer = self._database.committer
        return committer.groups, committer.acknowledged

    def version(self) -> int:
        """A number that changes with every write, by any process; reading it takes microseconds."""
        return self._database.file.version()

    def file_figures(self) -> FileFigures:
        """The length of the file's log, and the time this process has waited for the disk."""
        file, committer = self._database.file, self._database.committer
        return FileFigures(file.wal_bytes(), committer.groups, committer.commit_seconds)

    def tidy(self) -> None:
        """Runs all background work now: expiry, backfills, trimming, replication."""
        if not self._database.file.is_read_only:
            while True:
                for housekeeper in list(self._housekeepers):
                    housekeeper.round()
                if not self._replicator.round():
                    return

    def create_backups(self, names: Mapping[str, str]) -> list[Response]:
        """Backs up several tables at one moment: `names` maps table names to backup names.

        Unlike with several calls of CreateBackup, no write can come between them. Returns the
        BackupDetails of each; the copies are made in the background.
        """
        self._admit_backups(names)
        return self._database.committer.run(operations.create_backups(self._database, names))

    def copy_backups(
        self, names: Mapping[str, str], pause: Callable[[], None] = lambda: None
    ) -> list[Response]:
        """Backs up several tables at one moment, and makes the copies on this thread.

        So another process that serves requests from the file is not slowed down. `pause` is called
        after each chunk. If this process dies, another one that has the file open continues.
        """
        self._admit_backups(names)
        return operations.copy_backups(self._database, names, pause)

    def _admit_backups(self, names: Mapping[str, str]) -> None:
        for table, name in names.items():
            given = {"TableName": table, "BackupName": name}
            params = shapes.check("CreateBackup", given)
            self._database.file.admit("CreateBackup", params)

    def check_backup(self, arn: str) -> str | None:
        """Reads a whole backup; returns what is wrong with it, or None if it can be restored."""
        return operations.check_backup(self._database, arn)

    def backup_path(self, arn: str) -> Path:
        """The file of a backup, which can be read and restored without this engine's file."""
        return operations.file_of_backup(self._database, arn)

    def adopt_backup(self, path: str | os.PathLike[str]) -> Response:
        """Copies in a backup file that any engine made; returns its BackupDetails.

        RestoreTableFromBackup then accepts it like this engine's own backups.
        """
        return operations.adopt_backup(self._database, Path(path))

    def changes(self, table: str, *, after: int = 0, limit: int = 1_000) -> list[TableChange]:
        """The changes to a table after a sequence, in order; [] for a table without a change log.

        A table has one while point-in-time recovery is on, or while a backup of it is being copied.
        """
        return operations.read_changes(self._database, table, after, limit)

    def as_user(
        self,
        principal: Principal,
        about: Mapping[str, str] | None = None,
        region: str | None = None,
    ) -> UserTransport:
        """The engine as a user or role sees it: a transport that enforces their policies.

        `about` are condition keys of the connection, such as `aws:SourceIp`.
        """
        from bigtime.engine.access import UserTransport

        name = region or self.region
        return UserTransport(
            self if region is None else self.in_region(region),
            lambda: self._regions.find(name) or self._database,
            principal,
            region=name,
            about=about,
        )

    def boto3_client(self, service: str = "dynamodb") -> DynamoDBClient:
        """A real boto3 client whose requests stay in this process: no socket, no credentials."""
        from bigtime.engine.http import boto3_client

        return boto3_client(self, service, region=self.region)

    def boto3_resource(self) -> DynamoDBServiceResource:
        """A real boto3 resource whose requests stay in this process."""
        from bigtime.engine.http import boto3_resource

        return boto3_resource(self, region=self.region)

    def close(self) -> None:
        if self._closed:
            return
        self._closed = storage.CLOSED
        self._shut()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _read(self, database: Database, operation: str, read: Read, params: Params) -> Response:
        if database.faults.active:
            if operation != "TransactGetItems":
                database.faults.meet(operation)
            tables = partiql.tables_read(operation, params)
            read = partial(
                operations.read_with_faults, operation=operation, read=read, tables=tables
            )
        for _ in range(READ_TRIES):
            try:
                return read(database, params)
            except (apsw.SQLError, apsw.SchemaChangeError):
                # The table or index may have been dropped during the read: refresh the catalogue.
                database.catalogue.refresh()
            except (
                wire.ResourceNotFoundException,
                wire.ValidationException,
                wire.TransactionCanceledException,
            ):
                # Another process may have created or changed the table since the last refresh.
                if not database.catalogue.refresh():
                    raise
            except (apsw.Error, storage.UnreadableItem) as error:
                raise storage.explain(error, "read") from error
        raise wire.InternalServerError("The tables are changing too fast to be read: retry.")

    def _work(self, database: Database, operation: str, params: Params) -> Work[Response]:
        database.file.admit(operation, params)
        if database.faults.active and operation != "TransactWriteItems":
            database.faults.meet(operation)
        write = WRITES[operation]
        try:
            return write(database, params)
        except (wire.SerializationException, wire.ValidationException) as error:
            # AWS checks a put's size last: all else was checked, and checking again is expensive.
            is_too_large = operation == "PutItem" and error.message == operations.PUT_TOO_LARGE
            if is_too_large or operation not in shapes.WITH_ITEMS:
                raise
            return write(database, shapes.exact(operation, params))


def check_options(regions: Iterable[str], replication: str) -> None:
    """Rejects wrong options before a file is opened, or created, for them."""
    if replication not in ("async", "sync"):
        raise ValueError(f"replication is 'async' or 'sync', not {replication!r}")
    for region in regions:
        storage.check_region(region)


@cache
def empty_file() -> bytes:
    """A file without tables; copying it takes half the time of initialising one."""
    with tempfile.TemporaryDirectory(prefix="bigtime-") as folder:
        path = Path(folder) / "empty.db"
        Database(path, durability="none").close()
        return path.read_bytes()


def read_request(request: Request) -> tuple[Params, Read | None]:
    """A request as AWS parses it, and the function that answers it if it only reads.

    Items of puts are left unchecked: their operations check those.
    """
    operation = request.operation
    params = shapes.check_around_items(operation, request.params)
    read = READS.get(operation)
    if operation in partiql.READS:
        read = partiql.find_read(operation, params)
    return params, read


def refuse_local_replica(region: str, request: Request) -> None:
    """Rejects a replica in the region that a request was signed for."""
    params = request.params if isinstance(request.params, dict) else {}
    for update in params.get("ReplicaUpdates") or ():
        if any(action.get("RegionName") == region for action in update.values()):
            raise wire.ValidationException(LOCAL_REGION)


def push_first(threads: ThreadPoolExecutor, push: Callable[[], None], done: Done) -> Done:
    """Wraps a write's `done`, so that it is called once the write is in every replica.

    If the engine is closed first, `done` gets that as an error: the write is in its own region.
    """

    def replicate(response: Response) -> None:
        try:
            push()
        except Exception as error:
            done(None, error)
        else:
            done(response, None)

    def submit_replication(response: Response | None, error: BaseException | None) -> None:
        if response is None:
            done(None, error)
            return
        try:
            pushing = threads.submit(replicate, response)
        except RuntimeError:  # the threads have been shut down
            done(None, RuntimeError(storage.CLOSED))
        else:
            pushing.add_done_callback(report_cancellation)

    def report_cancellation(pushing: Future[None]) -> None:
        if pushing.cancelled():
            done(None, RuntimeError(storage.CLOSED))

    return submit_replication


class RegionalEngine:
    """One region of the engine: a transport like the engine itself."""

    def __init__(self, engine: Engine, region: str) -> None:
        self._engine = engine
        self.region = region

    def __call__(self, request: Request) -> Response:
        return self._engine._answer(self._engine._find(self.region, request), request)

    def submit(self, request: Request, done: Done) -> None:
        self._engine.submit(request, done, self.region)

    @property
    def faults(self) -> Faults:
        """Switches that make requests to this region fail."""
        return (self._engine._regions.find(self.region) or self._engine._database).faults

    def boto3_client(self, service: str = "dynamodb") -> DynamoDBClient:
        """A real boto3 client of this region whose requests stay in this process."""
        from bigtime.engine.http import boto3_client

        return boto3_client(self, service, region=self.region)


def shut(
    owner: int, files: RegionFiles, waiting: ThreadPoolExecutor | None, folder: str | None
) -> None:
    """Ends an engine that was closed or garbage-collected; a forked child leaves it alone."""
    if os.getpid() != owner:
        return
    if waiting:
        waiting.shutdown(wait=False, cancel_futures=True)
    files.close()
    if folder:
        shutil.rmtree(folder, ignore_errors=True)


OPEN: weakref.WeakSet[Engine] = weakref.WeakSet()


def refuse_in_child() -> None:
    """In a forked child: disables all engines, whose connections and locks could corrupt files."""
    for engine in OPEN:
        if not engine._closed:
            engine._closed = "This engine was opened before a fork: open the file in the child."
            for database in engine._regions.open_regions().values():
                database.file.leave_to_parent()
            for housekeeper in engine._housekeepers:
                housekeeper.leave_to_parent()


os.register_at_fork(after_in_child=refuse_in_child)
