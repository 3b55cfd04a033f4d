"""The writer lock, taken before a commit, and the guard of SQLite's log, checked after it.

The writer lock is `flock`, with a deadline. The kernel queues the processes that wait in `flock`,
but has no deadline: behind a stopped process they would wait for ever. So a separate thread does
the waiting:

1. A free lock is taken at once, without a thread.
2. Otherwise the thread queues in the kernel, and the writer waits for it until the deadline.
3. A writer that gives up leaves the thread in the kernel's queue. The next writer waits for the
   same thread; if no writer is waiting when its turn comes, the thread releases the lock.

A process writes its id into the lock file when it takes the lock, so that an error can name it.
"""

from __future__ import annotations

import os
import threading
import time
from contextlib import suppress
from errno import ETIMEDOUT
from fcntl import LOCK_EX, LOCK_NB, LOCK_UN, flock
from math import inf
from os import fstat, pread
from pathlib import Path
from typing import NoReturn

LOCK_SECONDS = 10.0
CLOSING_SECONDS = 5.0
SIGNATURE_BYTES = 20
LOCK_NOW = LOCK_EX | LOCK_NB


class LockTimeout(TimeoutError):
    """Another process did not give up the writer lock in time; `strerror` says which."""


class WriterLock:
    """Held by this process while it writes. Its threads must take turns among themselves."""

    def __init__(self, path: Path, seconds: float = LOCK_SECONDS) -> None:
        self._seconds = seconds
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        # Both share one open file, and so one lock; the thread closes its own when it can.
        self._thread_file = os.dup(self._file)
        self._signature = str(os.getpid()).encode().ljust(SIGNATURE_BYTES - 1) + b"\n"
        self._mutex = threading.Lock()
        self._granted = threading.Condition(self._mutex)
        self._asked = threading.Semaphore(0)
        self._thread: threading.Thread | None = None
        self._holds = 0
        self._is_queued = False
        self._is_wanted = False
        self._is_closed = False
        self._close_by = inf

    def acquire(self, since: float | None = None) -> None:
        """Waits for the lock until the deadline, which is counted from `since`, or from now.

        It is re-entrant: a holder may acquire it again, and must release it as often.
        """
        with self._mutex:
            if not self._take():
                since = time.monotonic() if since is None else since
                self._wait(since + self._seconds)

    def try_acquire(self) -> bool:
        """Takes the lock if that needs no waiting."""
        with self._mutex:
            return self._take()

    def release(self) -> None:
        """Releases the lock; does nothing if it is not held."""
        with self._mutex:
            if self._holds:
                self._holds -= 1
                if not self._holds:
                    flock(self._file, LOCK_UN)

    def hurry(self) -> None:
        """From now on no wait is longer than closing may take."""
        with self._mutex:
            self._close_by = min(
                self._close_by, time.monotonic() + min(self._seconds, CLOSING_SECONDS)
            )
            self._granted.notify_all()

    def close(self) -> None:
        """Releases the lock, without waiting for the waiting thread."""
        with self._mutex:
            self._is_closed = True
            if self._thread is None:
                os.close(self._thread_file)
            os.close(self._file)
        self._asked.release()

    def leave_to_parent(self) -> None:
        """In a forked child: closes the lock, which would otherwise outlive the parent."""
        for handle in (self._file, self._thread_file):
            with suppress(OSError):
                os.close(handle)

    def holder(self) -> str:
        """The id of the process that last took the lock, if it could be recorded."""
        with suppress(OSError):
            return os.pread(self._file, SIGNATURE_BYTES, 0).decode("ascii", "replace").strip()
        return ""

    def _take(self) -> bool:
        if self._is_queued:
            return False
        # Counted first: an interrupt in between must not leave the lock held.
        self._holds += 1
        if self._holds > 1:
            return True
        try:
            flock(self._file, LOCK_NOW)
        except BlockingIOError:
            self._holds = 0
            return False
        # A process that took it last finds its own id there, and writes nothing.
        if pread(self._file, SIGNATURE_BYTES, 0) != self._signature:
            self._sign()
        return True

    def _sign(self) -> None:
        # On a full disk deletes must still work: without the id an error is only less clear.
        with suppress(OSError):
            os.pwrite(self._file, self._signature, 0)

    def _wait(self, deadline: float) -> None:
        self._is_wanted = True
        try:
            if not self._is_queued:
                self._queue_thread()
            while not self._holds:
                left = min(deadline, self._close_by) - time.monotonic()
                if left <= 0:
                    raise LockTimeout(ETIMEDOUT, self._refusal())
                self._granted.wait(left)
        finally:
            self._is_wanted = False

    def _refusal(self) -> str:
        holder = self.holder()
        who = f"process {holder}" if holder else "another process"
        return f"{who} has held the writer lock for {self._seconds:g} s"

    def _queue_thread(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="bigtime-lock", daemon=True)
            self._thread.start()
        self._is_queued = True
        self._asked.release()

    def _run(self) -> None:
        while True:
            self._asked.acquire()
            if self._is_closed:
                break
            flock(self._thread_file, LOCK_EX)
            with self._mutex:
                self._is_queued = False
                if self._is_closed:
                    break
                if self._is_wanted:
                    self._sign()
                    self._holds = 1
                    self._granted.notify()
                else:
                    flock(self._thread_file, LOCK_UN)
        os.close(self._thread_file)


# --- The guard of SQLite's log --------------------------------------------------------------
# It detects that the database, its log or the shared memory was deleted or replaced while it was
# open. SQLite goes on with the files that it has open, which are no longer reachable: what is
# committed to them is lost when the last process ends. So before a commit is acknowledged, the
# files in the folder must be the ones that were there when the file was opened. Checking each costs
# 2 us. The folder's time changes whenever a file in it is created, deleted or renamed, so checking
# the folder is enough, unless it has just changed: its time is coarse.

COARSE_NANOSECONDS = 100_000_000
SUFFIXES = ("", "-wal", "-shm")


class LogLost(Exception):
    """The log is not the one that this process writes to; the message is for the writer."""


class LogGuard:
    """Knows a database's files by their inode numbers. Created once SQLite has opened them."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._known = [self._number(suffix) for suffix in SUFFIXES]
        self._quiet_since = 0
        self.is_lost = False

    def check(self) -> None:
        """Raises `LogLost` if a file is, or ever was, missing or replaced."""
        changed = fstat(self._folder).st_mtime_ns
        if changed != self._quiet_since or self.is_lost:
            self._compare()
            if time.time_ns() - changed > COARSE_NANOSECONDS:
                self._quiet_since = changed

    def refuse(self) -> NoReturn:
        raise LogLost(
            f"{self._path.name} or its log was deleted or replaced while it was open: writes are"
            " refused, for they would be lost. Stop every process that has the file open, and open"
            " it again."
        )

    def can_be_saved(self) -> bool:
        """Whether only the log or the shared memory is gone, and nobody has opened the file since.

        Then acknowledged writes can still be moved from the log, which this process has open.
        """
        numbers = [self._number(suffix) for suffix in SUFFIXES]
        database, *others = [new == old for new, old in zip(numbers, self._known, strict=True)]
        return database and None in numbers and any(others)

    def close(self) -> None:
        os.close(self._folder)

    def _compare(self) -> None:
        if [self._number(suffix) for suffix in SUFFIXES] != self._known:
            self.is_lost = True
        if self.is_lost:
            self.refuse()

    def _number(self, suffix: str) -> int | None:
        try:
            return os.stat(self._path.name + suffix, dir_fd=self._folder).st_ino
        except FileNotFoundError:
            return None
