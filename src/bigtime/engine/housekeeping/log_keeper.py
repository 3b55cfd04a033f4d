"""Checkpoints: a thread of its own that keeps SQLite's log short.

The process with the housekeeping lease checks the log now and then; any other process does so when
its own commit has made the log long. The thread also detects that the log was deleted.
"""

from __future__ import annotations

import logging
import threading

from bigtime.engine.housekeeping.complaints import Complaints
from bigtime.engine.housekeeping.lease import Lease
from bigtime.engine.storage import Database, LogLost

log = logging.getLogger("bigtime.engine")

PAUSE_SECONDS = 0.25
SHORTEST_PAUSE_SECONDS = 0.05
CHECKPOINT_BYTES = 8 * 1024 * 1024
PATIENT_BYTES = 32 * 1024 * 1024
PATIENCE_MILLISECONDS = 200
WAL_ALARM_BYTES = 64 * 1024 * 1024


class LogKeeper:
    """Runs a checkpoint whenever the log has grown."""

    def __init__(self, database: Database, lease: Lease, complaints: Complaints) -> None:
        self._database = database
        self._lease = lease
        self._complaints = complaints
        self._log_is_long = database.file.log_is_long
        self._alarmed = False
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
        reserve = self._database.file.reserve
        self.checkpoint(1 if reserve.is_given_up else min(CHECKPOINT_BYTES, reserve.size))
        size = self._database.file.wal_bytes()
        if size >= WAL_ALARM_BYTES and not self._alarmed:
            log.warning("the log has grown to %d MB: a long read keeps it", size >> 20)
        self._alarmed = size >= WAL_ALARM_BYTES
        return False

    def _notice_loss(self) -> None:
        try:
            self._database.file.log_guard.check()
        except LogLost:
            # Saves acknowledged writes if possible, then fails like every other write.
            self._checkpoint()

    def checkpoint(self, at_bytes: int = 0) -> None:
        """Moves the log into the database, if it has at least `at_bytes`."""
        size = self._database.file.wal_bytes()
        if size >= at_bytes:
            patience = PATIENCE_MILLISECONDS if size >= PATIENT_BYTES else 0
            self._checkpoint(patience)

    def _checkpoint(self, patience_milliseconds: int = 0) -> None:
        file = self._database.file
        self._database.committer.run_alone(lambda writer: file.checkpoint(patience_milliseconds))
