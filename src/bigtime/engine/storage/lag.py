"""Reads of the past: a connection that still sees the file as it was a moment ago.

It holds a read transaction open, for one thread at a time, and begins another when the state that
it sees has become too old. A table or index that is made or dropped cannot lag: that ends it too.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import apsw

from bigtime.engine.storage.clock import Clock
from bigtime.engine.storage.file import Connection, File


class Lag:
    """How far reads are behind; `seconds` is None while they are not."""

    def __init__(self, file: File, clock: Clock) -> None:
        self._file = file
        self._clock = clock
        self._lock = threading.RLock()
        self._snapshot: Connection | None = None
        self._taken_at = 0.0
        self._schema = 0
        self.seconds: float | None = None

    def begin(self, seconds: float) -> None:
        """From now on reads see this moment, until it is that long ago."""
        with self._lock:
            self._drop()
            self.seconds = seconds
            self._take()

    def end(self) -> None:
        with self._lock:
            self.seconds = None
            self._drop()

    def take_reader(self) -> Connection:
        self._lock.acquire()
        try:
            if self._snapshot is None or self._is_outdated():
                self._drop()
                self._take()
        except BaseException:
            self._lock.release()
            raise
        assert self._snapshot is not None
        return self._snapshot

    def give_reader(self, reader: Connection) -> None:
        if self.seconds is None:
            self._drop()  # switched off between the caller's look and now
        self._lock.release()

    @contextmanager
    def reader(self) -> Iterator[apsw.Connection]:
        reader = self.take_reader()
        try:
            yield reader
        finally:
            self.give_reader(reader)

    def _is_outdated(self) -> bool:
        if self.seconds is None or self._clock() - self._taken_at > self.seconds:
            return True
        with self._file.reader() as reader:
            return schema_version(reader) != self._schema

    def _take(self) -> None:
        snapshot = self._file.take_reader()
        snapshot.execute("BEGIN")
        # A transaction begins to see a state at its first read, which this is.
        self._schema = schema_version(snapshot)
        self._snapshot = snapshot
        self._taken_at = self._clock()

    def _drop(self) -> None:
        if self._snapshot is not None:
            self._snapshot.execute("COMMIT")
            self._file.give_reader(self._snapshot)
            self._snapshot = None


class LaggingFile:
    """The part of a file that reads of items use, as it was a moment ago."""

    def __init__(self, lag: Lag) -> None:
        self.take_reader = lag.take_reader
        self.give_reader = lag.give_reader
        self.reader = lag.reader
        self.snapshot = lag.reader  # which sees one state anyhow


def schema_version(reader: apsw.Connection) -> int:
    version: int = reader.execute("PRAGMA schema_version").get
    return version
