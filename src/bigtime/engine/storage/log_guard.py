"""Notices that SQLite's log or its shared memory was deleted or replaced while it was open.

SQLite goes on with the files that it has open, which nobody will find again: what is committed
to them is lost when the last process ends. So before a commit is acknowledged, the files in the
folder must be the ones that were there when the file was opened.

A look at each costs 2 us. The folder changes whenever a file in it is made, deleted or renamed,
so that a look at the folder alone does, unless it changed a moment ago: its time is coarse.
"""

from __future__ import annotations

import os
import time
from os import fstat
from pathlib import Path
from typing import NoReturn

COARSE_NANOSECONDS = 100_000_000
SUFFIXES = ("-wal", "-shm")


class LogLost(Exception):
    """The log is not the one that this process writes to; the message is for the writer."""


class LogGuard:
    """Knows the files beside a database by their numbers. Made when SQLite has opened them."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._known = [self._number(suffix) for suffix in SUFFIXES]
        self._quiet_since = 0
        self.is_lost = False

    def check(self) -> None:
        """Raises `LogLost` if a file is gone or is another one, now or ever before."""
        changed = fstat(self._folder).st_mtime_ns
        if changed != self._quiet_since or self.is_lost:
            self._compare()
            if time.time_ns() - changed > COARSE_NANOSECONDS:
                self._quiet_since = changed

    def refuse(self) -> NoReturn:
        raise LogLost(
            f"The log of {self._path.name} was deleted or replaced while it was open: writes are"
            " refused, for they would be lost. Stop every process that has the file open, and open"
            " it again."
        )

    def can_be_saved(self) -> bool:
        """Whether one file is gone, and the other shows that nobody has opened the file since.

        Then what was acknowledged can still be moved from the log, which we have open.
        """
        numbers = [self._number(suffix) for suffix in SUFFIXES]
        is_known = [new == old for new, old in zip(numbers, self._known, strict=True)]
        return None in numbers and any(is_known)

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
