"""The engine: DynamoDB in a file. One call, from a request to a response."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Self, Unpack

import apsw
import orjson

from bigtime.engine import operations, partiql
from bigtime.engine.housekeeping import Housekeeper
from bigtime.engine.operations import READS, Read
from bigtime.engine.storage import (
    CLOSED,
    Database,
    Done,
    Faults,
    Settings,
    UnreadableItem,
    Work,
    explain,
)
from bigtime.engine.validation import shapes
from bigtime.wire import (
    InternalServerError,
    Params,
    Request,
    ResourceNotFoundException,
    Response,
    SerializationException,
    TransactionCanceledException,
    ValidationException,
)

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient, DynamoDBServiceResource

    from bigtime.engine.access import UserTransport
    from bigtime.engine.iam import Principal

READ_TRIES = 5
WRITES = {**operations.WRITES, **partiql.WRITES}


class Engine:
    """DynamoDB in one file, in this process. Safe for threads; many processes may open a file."""

    def __init__(
        self, database: Database, *, housekeeping: bool = True, folder: str | None = None
    ) -> None:
        """`folder` is a temporary one that goes with the engine."""
        self._database = database
        self._housekeeper = Housekeeper(database)
        self._closed: str | None = None
        self._shut = weakref.finalize(self, shut, os.getpid(), self._housekeeper, database, folder)
        if housekeeping and not database.file.is_read_only:
            self._housekeeper.start()
        OPEN.add(self)

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        *,
        durability: Literal["full", "relaxed"] = "full",
        housekeeping: bool = True,
        **settings: Unpack[Settings],
    ) -> Self:
        """Opens the file, or makes it. `relaxed` may lose the last commits in a power cut."""
        if durability not in ("full", "relaxed"):
            raise ValueError(f"durability is 'full' or 'relaxed', not {durability!r}")
        database = Database(Path(path).resolve(), durability=durability, **settings)
        return cls(database, housekeeping=housekeeping)

    @classmethod
    def memory(cls, *, housekeeping: bool = True, **settings: Unpack[Settings]) -> Self:
        """An engine for tests: a temporary file that is never synced and goes at the end."""
        folder = tempfile.mkdtemp(prefix="bigtime-")
        try:
            database = Database(Path(folder) / "memory.db", durability="none", **settings)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return cls(database, housekeeping=housekeeping, folder=folder)

    def __call__(self, request: Request) -> Response:
        """Answers one request; raises a `DynamoDBError` where DynamoDB would."""
        if self._closed:
            raise RuntimeError(self._closed)
        operation = request.operation
        try:
            params = checked(operation, request.params)
            read = READS.get(operation) or partiql.find_read(operation, params)
            if read is not None:
                return self._read(operation, read, params)
            return self._database.committer.run(self._work(operation, params))
        except (UnicodeEncodeError, orjson.JSONEncodeError):
            # Half of a surrogate pair, which only Python can hold: no JSON could have brought it.
            raise SerializationException("Unexpected token received from parser") from None

    def submit(self, request: Request, done: Done) -> None:
        """For event loops: starts a request, and calls `done(response, error)` when it is over.

        A read is answered before this returns; a write is called back by the committing thread.
        """
        try:
            if self._closed:
                raise RuntimeError(self._closed)
            operation = request.operation
            params = checked(operation, request.params)
            read = READS.get(operation) or partiql.find_read(operation, params)
            if read is None:
                work = self._work(operation, params)
                self._database.committer.submit(work, done)
                return
            response = self._read(operation, read, params)
        except Exception as error:
            done(None, error)
            return
        done(response, None)

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
        """Another number after every change, by whichever process; asking costs microseconds."""
        return self._database.file.version()

    def tidy(self) -> None:
        """Does now what the housekeeper would do in time: expiry, backfills, trimming."""
        if not self._database.file.is_read_only:
            self._housekeeper.round()

    def as_user(
        self, principal: Principal, about: Mapping[str, str] | None = None
    ) -> UserTransport:
        """The engine as a user or role sees it: a transport that their policies bind.

        `about` are condition keys of the connection, such as `aws:SourceIp`.
        """
        from bigtime.engine.access import UserTransport

        return UserTransport(self, self._database, principal, checked, about)

    def boto3_client(self, service: str = "dynamodb") -> DynamoDBClient:
        """A real boto3 client that stops in this process: no socket, no credentials."""
        from bigtime.engine.http import boto3_client

        return boto3_client(self, service, region=self.region)

    def boto3_resource(self) -> DynamoDBServiceResource:
        """A real boto3 resource that stops in this process."""
        from bigtime.engine.http import boto3_resource

        return boto3_resource(self, region=self.region)

    def close(self) -> None:
        if self._closed:
            return
        self._closed = CLOSED
        self._shut()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _read(self, operation: str, read: Read, params: Params) -> Response:
        database = self._database
        if database.faults.active:
            if operation != "TransactGetItems":
                database.faults.meet(operation)
            read = partial(operations.read_with_faults, operation=operation, read=read)
        for _ in range(READ_TRIES):
            try:
                return read(database, params)
            except (apsw.SQLError, apsw.SchemaChangeError):
                # The table or index was dropped while we read it; the catalogue tells.
                database.catalogue.refresh()
            except (ResourceNotFoundException, ValidationException, TransactionCanceledException):
                # Another process may have made or changed the table since we last looked.
                if not database.catalogue.refresh():
                    raise
            except (apsw.Error, UnreadableItem) as error:
                raise explain(error, "read") from error
        raise InternalServerError("The tables are changing too fast to be read: retry.")

    def _work(self, operation: str, params: Params) -> Work[Response]:
        database = self._database
        database.admit(operation, params)
        if database.faults.active and operation != "TransactWriteItems":
            database.faults.meet(operation)
        return WRITES[operation](database, params)


def checked(operation: str, params: Params) -> Params:
    if operation not in READS and operation not in WRITES:
        raise shapes.unknown_operation(operation)
    return shapes.check(operation, params)


def shut(owner: int, housekeeper: Housekeeper, database: Database, folder: str | None) -> None:
    """Ends an engine that was closed, or forgotten; in a forked child it is not ours to end."""
    if os.getpid() != owner:
        return
    database.file.refuse()
    housekeeper.stop()
    database.close()
    if folder:
        shutil.rmtree(folder, ignore_errors=True)


OPEN: weakref.WeakSet[Engine] = weakref.WeakSet()


def refuse_in_child() -> None:
    """SQLite's connections and locks do not survive a fork; using them there corrupts files."""
    for engine in OPEN:
        if not engine._closed:
            engine._closed = "This engine was opened before a fork: open the file in the child."
            engine._database.file.leave_to_parent()
            engine._housekeeper.leave_to_parent()


os.register_at_fork(after_in_child=refuse_in_child)
