"""The SQLite file behind an engine: its connections, its format and its writer lock.

1. One connection writes, and only while this process holds the writer lock: `flock` on a file
   beside the database. SQLite's own busy handler polls and starves some processes; `flock`
   queues them. Checkpoints happen under the same lock, which also removes the precondition of
   the WAL-reset bug on any SQLite version.
   A process that waits for the lock gives up after a while: see `writer_lock`.
2. Up to eight connections read. A reader is taken for one statement or one snapshot and given back;
   nobody keeps one, since a long read would keep the log from being emptied.
3. Every commit is on disk before it is acknowledged (`synchronous=FULL`), unless the file was
   opened as relaxed: then a crash of the machine, not of the process, may lose the last commits.
4. Nothing else in a process may open the database file: POSIX drops all of a process's locks on
   a file as soon as any handle to it is closed.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, Literal, TypeAlias
from urllib.parse import quote

import apsw

from bigtime.engine.storage.checksums import checksum_vfs
from bigtime.engine.storage.damage import READ_ONLY, is_damage, is_full
from bigtime.engine.storage.format import (
    FileFormatError,
    check_checksums,
    check_format,
    is_empty,
    is_prepared,
    prepare,
)
from bigtime.engine.storage.log_file import LogLength, log_bytes, log_length
from bigtime.engine.storage.page_gaps import LARGEST_FILE, PAGE_BYTES, gap_clearing_vfs, quick_turns
from bigtime.engine.storage.reserve import FULL, LEAST_BYTES, Reserve
from bigtime.engine.storage.writer_lock import LOCK_SECONDS, LogGuard, WriterLock
from bigtime.wire import AccessDeniedException, InternalServerError, Params

Durability: TypeAlias = Literal["full", "relaxed", "none"]

MAX_READERS = 8
BUSY_MILLISECONDS = 5_000
RETRY_SECONDS = 0.005
CLOSED = "This engine is closed: open the file again."
LONG_LOG_PAGES = 4_000
PAGES_BETWEEN_LOOKS = 64
LOG_KEPT_BYTES = 64 * 1024 * 1024
CACHE_KIB = 8_192
SYNCHRONOUS: dict[Durability, str] = {"full": "FULL", "relaxed": "NORMAL", "none": "OFF"}


class Connection(apsw.Connection):
    """A connection that reuses one cursor: creating one takes a fifth of a point read's time."""

    run: Callable[..., apsw.Cursor]
    """Executes a statement; its rows, if any, must be fetched before the next call."""

    def keep_cursor(self) -> None:
        self.run = self.cursor().execute


class File:
    """One database file, opened by this process."""

    def __init__(
        self,
        path: Path,
        *,
        durability: Durability,
        vfs: str | None = None,
        lock_seconds: float = LOCK_SECONDS,
    ) -> None:
        self.path = path
        self.durability = durability
        self._vfs = vfs
        self.is_read_only = is_read_only(path)
        lock = Path(os.devnull) if self.is_read_only else path.with_name(path.name + "-lock")
        if not self.is_read_only:
            create_private(path)
        self._writer_lock = WriterLock(lock, lock_seconds)
        self.lock = self._writer_lock.acquire
        self.try_lock = self._writer_lock.try_acquire
        self.unlock = self._writer_lock.release
        self._watcher: apsw.Connection | None = None
        self._checkpointer: Connection | None = None
        # A None in the queue tells waiting threads that the file was closed.
        self._idle: SimpleQueue[Connection | None] = SimpleQueue()
        self.give_reader: Callable[[Connection], None] = self._idle.put
        self._closed = False
        self._opening = threading.Lock()
        self._readers: list[Connection] = []
        self.log_is_long = threading.Event()
        self._asked_at_pages = 0
        self.reserve = Reserve(path)
        try:
            self.writer = self._open()
            self.writer.set_wal_hook(self._note_log)
            self.log_guard = LogGuard(path)
        except apsw.Error as error:
            self._writer_lock.close()
            refusal = explain_refusal(error, path)
            if refusal is None:
                raise
            raise refusal from error
        except BaseException:
            self._writer_lock.close()
            raise
        if durability != "none" and not self.is_read_only:
            self.reserve.take(LEAST_BYTES)

    def _open(self) -> Connection:
        """The first connection, to a file that was checked to be an engine's."""
        if self.is_read_only:
            reader = self._connect()
            check_read_only(reader, self.path)
            return reader
        found = self.path.stat()
        # The VFS reads the header only when it opens a file: there must be one by then.
        connection = self._connect_prepared() if found.st_size else None
        if connection is None:
            with self.exclusive():
                found = self.path.stat()
                connection = self._connect()
                prepare(connection, self.path)
        if self.path.stat().st_ino != found.st_ino:
            # A compacted file has replaced this one in the meantime.
            connection.close()
            return self._open()
        return connection

    def _connect_prepared(self) -> Connection | None:
        """A connection to a file that needs no preparation, and so no lock; None for any other."""
        connection = self._connect()
        if is_prepared(connection):
            check_checksums(connection, self.path)
            return connection
        connection.close()
        return None

    @property
    def is_closed(self) -> bool:
        return self._closed

    @property
    def syncs(self) -> bool:
        """Whether a commit waits for the disk."""
        return self.durability == "full"

    @property
    def wal_path(self) -> Path:
        return self.path.with_name(self.path.name + "-wal")

    def admit(self, operation: str, params: Params) -> None:
        """Rejects a write that cannot be done, before it waits for others."""
        if self.is_read_only:
            raise AccessDeniedException(READ_ONLY)
        if self.reserve.is_given_up and self.reserve.is_full_for(operation, params):
            raise InternalServerError(FULL)

    def _note_log(self, connection: apsw.Connection, name: str, pages: int) -> int:
        if pages >= LONG_LOG_PAGES or pages >= self.reserve.size // PAGE_BYTES:
            if not self.log_is_long.is_set():
                self.log_is_long.set()
            # Checking free disk space takes as long as a small write, so it is done now and then.
            if not 0 <= pages - self._asked_at_pages < PAGES_BETWEEN_LOOKS:
                self._asked_at_pages = pages
                if self.reserve.is_needed_for(pages * PAGE_BYTES):
                    # The disk may be full before the housekeeper runs: this writer moves the log.
                    with suppress(apsw.Error):
                        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
        return apsw.SQLITE_OK

    def meet_full_disk(self) -> None:
        """Releases the reserve, and wakes the checkpoint thread, which frees the log."""
        self.reserve.give_up()
        self.log_is_long.set()

    def wal_bytes(self) -> int:
        return log_bytes(self.wal_path)

    def log_length(self) -> LogLength:
        return log_length(self.wal_path)

    def save_log(self) -> None:
        """With the writer lock held: recovers what it can from a log that was deleted."""
        if self.log_guard.can_be_saved():
            checkpoint(self.writer)

    def checkpoint(self, patience_milliseconds: int = 0, *, restarts: bool = False) -> None:
        """With the writer lock held: moves the log into the database, and clears gaps in pages.

        Then the log is truncated, or with `restarts` overwritten by the next writes.
        """
        if self._checkpointer is None and self.durability != "none":
            # A connection whose VFS leaves no remains of deleted rows: see `page_gaps`.
            vfs = gap_clearing_vfs(self.writer, self._base_vfs())
            self._checkpointer = None if vfs is None else self._connect(vfs)
        is_small = self.path.stat().st_size < LARGEST_FILE
        clears = self._checkpointer if is_small else None
        checkpoint(clears or self.writer, patience_milliseconds, restarts=restarts)

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Holds the writer lock: no other process commits or checkpoints meanwhile."""
        self.lock()
        try:
            yield
        finally:
            self.unlock()

    def take_reader(self) -> Connection:
        try:
            reader = self._idle.get_nowait()
        except Empty:
            reader = self._open_reader() or self._idle.get()
        if self._closed or reader is None:
            self._idle.put(reader)
            raise RuntimeError(CLOSED)
        return reader

    @contextmanager
    def reader(self) -> Iterator[Connection]:
        reader = self.take_reader()
        try:
            yield reader
        finally:
            self.give_reader(reader)

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """A reader whose statements all see one snapshot of the file."""
        with self.reader() as reader:
            reader.execute("BEGIN")
            try:
                yield reader
            finally:
                # A damaged page has ended the transaction already.
                if reader.in_transaction:
                    reader.execute("COMMIT")

    def version(self) -> int:
        """A number that changes with every commit, of this process or of another.

        SQLite counts other connections' commits for each connection, so this uses its own.
        """
        with self._opening:
            if self._closed:
                raise RuntimeError(CLOSED)
            if self._watcher is None:
                self._watcher = self._connect()
            version: int = self._watcher.pragma("data_version")
            return version

    def refuse(self) -> None:
        """Gives out no more readers; threads waiting for one are told that the file is closed."""
        with self._opening:
            if not self._closed:
                self._closed = True
                self._idle.put(None)
                self._writer_lock.hurry()

    def close(self) -> None:
        """Waits for active readers, and closes everything."""
        self.refuse()
        left = len(self._readers)
        while left:
            reader = self._idle.get()
            if reader is None:
                self._idle.put(None)
                time.sleep(0.001)
            else:
                reader.close()
                left -= 1
        for connection in (self._watcher, self._checkpointer, self.writer):
            if connection is not None:
                connection.close()
        self.log_guard.close()
        self._writer_lock.close()

    def leave_to_parent(self) -> None:
        """In a forked child: closes the lock, which would otherwise outlive the parent."""
        self._writer_lock.leave_to_parent()

    def _open_reader(self) -> Connection | None:
        with self._opening:
            if self._closed or len(self._readers) >= MAX_READERS:
                return None
            reader = self._connect()
            reader.execute("PRAGMA query_only = ON")
            self._readers.append(reader)
            return reader

    def _base_vfs(self) -> str | None:
        return checksum_vfs(self._vfs) or self._vfs

    def _connect(self, vfs: str | None = None) -> Connection:
        flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
        name = str(self.path)
        if self.is_read_only:
            flags, name = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI, read_only_uri(self.path)
        vfs = vfs or self._base_vfs()
        connection = Connection(name, flags=flags, vfs=vfs, statementcachesize=300)
        connection.keep_cursor()
        connection.set_busy_timeout(BUSY_MILLISECONDS)
        for name, value in (
            ("synchronous", SYNCHRONOUS[self.durability]),
            ("wal_autocheckpoint", 0),
            ("temp_store", "MEMORY"),
            ("cache_size", CACHE_KIB * -1),
            ("journal_size_limit", LOG_KEPT_BYTES),
            ("secure_delete", "ON"),
        ):
            connection.pragma(name, value)
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        # Else SQLite peeks at the value of `LIMIT ?` and recompiles the statement for each one.
        connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
        return connection


def all_rows(connection: apsw.Connection, query: str, bindings: tuple[Any, ...] = ()) -> list[Any]:
    """Every row of a query; the caller knows the columns."""
    return connection.execute(query, bindings).fetchall()


def rows_within(
    connection: apsw.Connection, query: str, bindings: tuple[Any, ...], *, size_at: int, most: int
) -> list[Any]:
    """The rows of a query until their sizes, in column `size_at`, reach `most` bytes."""
    rows: list[Any] = []
    size = 0
    cursor = connection.execute(query, bindings)
    for row in cursor:
        rows.append(row)
        size += row[size_at]
        if size >= most:
            break
    cursor.close()
    return rows


def tables_named(connection: apsw.Connection, pattern: str) -> list[str]:
    """The SQL tables whose names match a GLOB pattern."""
    query = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB ?"
    return [name for (name,) in all_rows(connection, query, (pattern,))]


def explain_refusal(error: apsw.Error, path: Path) -> FileFormatError | None:
    """Why SQLite does not open a file; None where the error says more than we know."""
    if isinstance(error, apsw.NotADBError):
        return FileFormatError(f"{path} is not a database; choose another path.")
    if isinstance(error, apsw.CantOpenError):
        return FileFormatError(f"{path} cannot be opened: check that you may read and write it.")
    if is_damage(error):
        return FileFormatError(f"{path} is damaged ({error}); use a backup.")
    return None


def create_private(path: Path) -> None:
    """Creates the file, readable by its owner alone; an existing one is left as it is."""
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        pass
    except OSError as error:
        raise FileFormatError(f"{path} cannot be created: {error.strerror}.") from error
    if path.is_dir():
        raise FileFormatError(f"{path} is a folder; name a file in it.")


def is_read_only(path: Path) -> bool:
    """Whether the file exists and this process cannot write it or its log."""
    return path.is_file() and not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK))


def read_only_uri(path: Path) -> str:
    """A URI that opens the file for reading; where no log can be created, none is expected."""
    wal, shared = (path.with_name(path.name + suffix) for suffix in ("-wal", "-shm"))
    has_log = shared.exists() or log_bytes(wal) > 0
    is_frozen = not has_log and not os.access(path.parent, os.W_OK)
    return f"file:{quote(str(path))}?mode=ro{'&immutable=1' if is_frozen else ''}"


def check_read_only(connection: apsw.Connection, path: Path) -> None:
    if is_empty(connection):
        raise FileFormatError(f"{path} is empty and read-only; choose another path.")
    check_format(connection, path)
    check_checksums(connection, path)


def checkpoint(
    connection: apsw.Connection, patience_milliseconds: int = 0, *, restarts: bool = False
) -> None:
    """Moves the log into the database, with the writer lock held.

    Without patience it does what it can and waits for no reader. Emptying the log needs a moment in
    which nobody reads from it, which can take long under steady reading. It is retried rather than
    waited for in SQLite, so that readers finish at their usual pace in between.
    """
    deadline = time.monotonic() + patience_milliseconds / 1_000
    connection.set_busy_timeout(0)
    try:
        while not empty_log(connection, restarts=restarts) and time.monotonic() < deadline:
            time.sleep(RETRY_SECONDS)
    finally:
        connection.set_busy_timeout(BUSY_MILLISECONDS)


def empty_log(connection: apsw.Connection, *, restarts: bool) -> bool:
    """Moves as much of the log as readers allow; False if they still need some of it."""
    mode = apsw.SQLITE_CHECKPOINT_RESTART if restarts else apsw.SQLITE_CHECKPOINT_TRUNCATE
    try:
        with quick_turns():
            connection.wal_checkpoint(mode=mode)
    except apsw.BusyError:
        return False
    except apsw.IOError as error:
        if is_full(error, connection):
            raise apsw.FullError(str(error)) from error
        raise
    return True


# --- Transactions -------------------------------------------------------------------------


class Transaction:
    """One SQLite transaction, shared by the works of a group."""

    __slots__ = ("connection", "counts", "execute", "now", "on_commit", "run", "settled")

    def __init__(self, connection: Connection, now: float, settled: float | None = None) -> None:
        """`now` is the time to stamp writes with, `settled` the time to expire by."""
        self.connection = connection
        self.execute = connection.execute
        self.run = connection.run
        self.now = now
        self.settled = now if settled is None else settled
        self.counts: dict[int, list[int]] = {}
        self.on_commit: list[Callable[[], None]] = []

    def count(self, number: int, items: int, size: int) -> None:
        """Adds to the counts of a table or an index, which are written once per group."""
        if items or size:
            total = self.counts.get(number)
            if total is None:
                self.counts[number] = [items, size]
            else:
                total[0] += items
                total[1] += size

    def write_counts(self) -> None:
        for number, (items, size) in self.counts.items():
            self.run(
                "UPDATE counts SET items = items + ?, bytes = bytes + ? WHERE number = ?",
                (items, size, number),
            )
