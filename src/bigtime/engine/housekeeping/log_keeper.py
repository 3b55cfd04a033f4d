"""Checkpoints: a thread of its own that keeps SQLite's log short.

The process with the housekeeping lease checks the log now and then; any other process does so when
its own commit has made the log long. The thread also detects that the log was deleted.

A checkpoint of a long log restarts it, so that the next writes overwrite it (see `log_file`), and
leaves old frames in it, which may hold deleted data. So it is truncated instead

- once nothing was written between two looks,
- after old frames have been in it for ten seconds, however steady the writes are,
- if the disk is full, or the log is too long to be kept.

A long read keeps the log as it is. Writers wait for it for a moment if the log is very long, and
otherwise only once in ten seconds.
"""

from __future__ import annotations

import logging
import threading
import time
from math import inf

from bigtime.engine.housekeeping.complaints import Complaints
from bigtime.engine.housekeeping.lease import Lease
from bigtime.engine.storage import LOG_KEPT_BYTES, Database, LogLength, LogLost

log = logging.getLogger("bigtime.engine")

PAUSE_SECONDS = 0.25
SHORTEST_PAUSE_SECONDS = 0.05
CHECKPOINT_BYTES = 8 * 1024 * 1024
PATIENT_BYTES = 32 * 1024 * 1024
PATIENCE_MILLISECONDS = 200
WAL_ALARM_BYTES = 64 * 1024 * 1024
OLD_FRAMES_SECONDS = 10.0


class LogKeeper:
    """Runs a checkpoint whenever the log has grown."""

    def __init__(self, database: Database, lease: Lease, complaints: Complaints) -> None:
        self._database = database
        self._lease = lease
        self._complaints = complaints
        self._log_is_long = database.file.log_is_long
        self._alarmed = False
        self._seen = LogLength(0, 0)
        self._old_since = inf
        self._stopping = threading.Event()
        self.thread = threading.Thread(target=self._run, name="bigtime-checkpoint", daemon=True)

    def stop(self) -> None:
        self._stopping.set()
        self._log_is_long.set()

    def _run(self) -> None:
        while not self._stopping.is_set():
            is_long = self._log_is_long.wait(PAUSE_SECONDS)
            if (is_long or self._lease.is_held) and not self._stopping.is_set():
                self._complaints.attempt(self.watch, "checkpoint")
            if is_long:
                self._stopping.wait(SHORTEST_PAUSE_SECONDS)

    def watch(self) -> bool:
        self._log_is_long.clear()
        self._notice_loss()
        self.shorten()
        size = self._database.file.wal_bytes()
        if size >= WAL_ALARM_BYTES and not self._alarmed:
            log.warning("the log has grown to %d MB: a long read keeps it", size >> 20)
        self._alarmed = size >= WAL_ALARM_BYTES
        return False

    def shorten(self) -> None:
        """Runs a checkpoint if the log is long, or has old frames that must go."""
        file, reserve = self._database.file, self._database.file.reserve
        length, now = file.log_length(), time.monotonic()
        is_quiet, self._seen = length == self._seen, length
        has_old_frames = length.room > length.used
        self._old_since = min(self._old_since, now) if has_old_frames else inf
        is_overdue = now - self._old_since >= OLD_FRAMES_SECONDS
        least = 1 if reserve.is_given_up else min(CHECKPOINT_BYTES, reserve.size)
        is_too_long = length.room > (0 if reserve.is_given_up else LOG_KEPT_BYTES)
        truncates = is_quiet or is_overdue or is_too_long
        if length.used >= least or (truncates and has_old_frames):
            is_patient = is_overdue or length.used >= PATIENT_BYTES
            if is_overdue:
                self._old_since = now
            self.checkpoint(restarts=not truncates, is_patient=is_patient)

    def _notice_loss(self) -> None:
        try:
            self._database.file.log_guard.check()
        except LogLost:
            # Saves acknowledged writes if possible, then fails like every other write.
            self.checkpoint(is_patient=False)

    def checkpoint(self, *, restarts: bool = False, is_patient: bool = True) -> None:
        """Moves the log into the database, and truncates or restarts it."""
        file, patience = self._database.file, PATIENCE_MILLISECONDS if is_patient else 0
        self._database.committer.run_alone(
            lambda writer: file.checkpoint(patience, restarts=restarts)
        )
