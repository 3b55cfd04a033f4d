"""Backups being written, deleted backups, and restored tables being filled: a chunk at a time."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from typing import TypeAlias

from bigtime.engine import storage
from bigtime.engine.housekeeping.complaints import Complaints

Job: TypeAlias = tuple[str, str | int]
"""The status of a backup and its id, or the number of a restored table."""


class Copies:
    """The copies that this process has begun, and how far each has come."""

    def __init__(self, database: storage.Database, complaints: Complaints) -> None:
        self._database = database
        self._complaints = complaints
        self._running: dict[Job, Iterator[None]] = {}
        # `Engine.tidy` may be called while the housekeeper does its rounds.
        self._lock = threading.Lock()

    def advance(self) -> bool:
        """Takes every copy a chunk further; True if one has more to do."""
        with self._lock:
            jobs = self._jobs()
            for job in jobs:
                self._running.setdefault(job, self._start(job))
            has_more = [self._complaints.attempt(partial(self._step, job), "copy") for job in jobs]
            return any(has_more)

    def stop(self) -> None:
        """Leaves what is unfinished to the next process that opens the file."""
        with self._lock:
            while self._running:
                _, copy = self._running.popitem()
                with suppress(Exception):
                    copy.close()  # type: ignore[attr-defined]

    def _jobs(self) -> list[Job]:
        with self._database.reading() as reader:
            backups = storage.unfinished_backups(reader)
            jobs: list[Job] = [
                (backup.status, backup.id)
                for backup in backups
                if not (backup.status == "CREATING" and self._is_copied_elsewhere(backup))
            ]
            jobs += [
                ("RESTORING", each.definition.number)
                for each in storage.restores(reader)
                if "import" not in each.source  # `Imports` fills those
            ]
        return jobs

    def _is_copied_elsewhere(self, backup: storage.Backup) -> bool:
        return backup.is_copied_by_caller and storage.has_copier(self._database.file.path)

    def _start(self, job: Job) -> Iterator[None]:
        match job:
            case "CREATING", str(id):
                return storage.write_backup(self._database, id)
            case "DELETED", str(id):
                return storage.remove_backup(self._database, id)
            case _, int(number):
                return storage.fill_restored(self._database, number)
        raise ValueError(job)

    def _step(self, job: Job) -> bool:
        """One chunk; a copy that failed or is done is forgotten, and begun anew if need be."""
        try:
            next(self._running[job])
        except BaseException as error:
            del self._running[job]
            if isinstance(error, StopIteration):
                return False
            raise
        return True
