"""Background copies: backups, restored tables and exports, a chunk at a time.

An interrupted copy is restarted, since its items are still pinned.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import TypeAlias

from bigtime.engine import storage
from bigtime.engine.housekeeping.complaints import Complaints
from bigtime.engine.housekeeping.exports import write_export

Job: TypeAlias = tuple[str, str | int]
"""The kind of job, and the id, number or ARN of its subject."""

Begin: TypeAlias = Callable[[], Iterator[None]]


class Copies:
    """The copies that this process has begun, with their progress."""

    def __init__(self, database: storage.Database, complaints: Complaints) -> None:
        self._database = database
        self._complaints = complaints
        self._running: dict[Job, Iterator[None]] = {}
        # `Engine.tidy` may be called while the housekeeper is running.
        self._lock = threading.Lock()

    def advance(self) -> bool:
        """Advances every copy by a chunk; True if one has more to do."""
        with self._lock:
            jobs = self._jobs()
            for job, begin in jobs.items():
                if job not in self._running:
                    self._running[job] = begin()
            has_more = [self._complaints.attempt(partial(self._step, job), job[0]) for job in jobs]
            return any(has_more)

    def stop(self) -> None:
        """Leaves unfinished copies to the next process that opens the file."""
        with self._lock:
            while self._running:
                _, copy = self._running.popitem()
                with suppress(Exception):
                    copy.close()  # type: ignore[attr-defined]

    def _jobs(self) -> dict[Job, Begin]:
        database = self._database
        with database.reading() as reader:
            backups = storage.unfinished_backups(reader)
            restores = storage.restores(reader)
            exports = storage.transfers_in_progress(reader, "export")
        jobs: dict[Job, Begin] = {}
        for backup in backups:
            if backup.status == "DELETED":
                jobs["delete", backup.id] = partial(storage.remove_backup, database, backup.id)
            elif not self._is_copied_elsewhere(backup):
                jobs["copy", backup.id] = partial(storage.write_backup, database, backup.id)
        for restore in restores:
            number = restore.definition.number
            if "import" not in restore.source:  # `Imports` fills those
                jobs["restore", number] = partial(storage.fill_restored, database, number)
        for export in exports:
            jobs["export", export.arn] = partial(write_export, database, export)
        return jobs

    def _is_copied_elsewhere(self, backup: storage.Backup) -> bool:
        return backup.is_copied_by_caller and storage.has_copier(self._database.file.path)

    def _step(self, job: Job) -> bool:
        """Copies one chunk; a failed or finished copy is forgotten, and restarted if necessary."""
        try:
            next(self._running[job])
        except BaseException as error:
            del self._running[job]
            if isinstance(error, StopIteration):
                return False
            raise
        return True
