"""The state file of a long job: its progress, so that it continues after an interruption.

The file is JSON, written whole or not at all. Beside it is a lock file, held by the process that
does the job, so that no other starts it too. Both are deleted when the job is done.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import orjson

from bigtime import formats


class CannotGoOn(Exception):
    """Why a job cannot begin or continue; the message says what to do."""


class JobState:
    """The state of a job, kept in a file; `identity` says which job it belongs to."""

    def __init__(self, path: Path, identity: Mapping[str, Any]) -> None:
        self.path = path
        self.identity = orjson.loads(orjson.dumps(dict(identity)))
        self.values: dict[str, Any] = {}
        self.is_resumed = False
        self._lock = -1

    @property
    def lock_path(self) -> Path:
        return self.path.with_name(f"{self.path.name}.lock")

    def __enter__(self) -> Self:
        try:
            self._lock = take_lock(self.lock_path)
        except BlockingIOError:
            raise CannotGoOn(
                f"Another process is at it, and notes in {self.path} how far it is: wait until it"
                " is done, or stop it first."
            ) from None
        except OSError as error:
            raise CannotGoOn(
                f"{self.path} cannot be written: {error.strerror}. Say --state FILE, in a folder"
                " that can be."
            ) from error
        try:
            self._read()
        except BaseException:
            self._unlock()
            raise
        return self

    def __exit__(self, *raised: object) -> None:
        self._unlock()

    def _unlock(self) -> None:
        if not self.path.exists():
            with suppress(OSError):
                self.lock_path.unlink()
        os.close(self._lock)

    def _read(self) -> None:
        if not self.path.is_file():
            return
        try:
            saved = orjson.loads(self.path.read_bytes())
            identity, self.values = saved["job"], saved["values"]
        except (ValueError, KeyError, TypeError):
            raise CannotGoOn(
                f"{self.path} is not the state of a job: delete it, or say --state FILE."
            ) from None
        if identity != self.identity:
            raise CannotGoOn(
                f"{self.path} is of another job, or its tables were made anew since: delete it to"
                " begin from the start, or say --state FILE."
            )
        self.is_resumed = True

    def save(self, values: Mapping[str, Any]) -> None:
        content = orjson.dumps({"job": self.identity, "values": dict(values)})
        formats.write_whole(self.path, content)

    def finish(self) -> None:
        """Deletes the state: the job is done."""
        self.path.unlink(missing_ok=True)


def take_lock(path: Path) -> int:
    """Opens and locks the lock file; retries if another process deletes it meanwhile."""
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if path.exists() and os.fstat(handle).st_ino == path.stat().st_ino:
                return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)
