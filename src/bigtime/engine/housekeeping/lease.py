"""The housekeeping lease: one of the processes that have the file open runs the chores.

The holder writes its name and a heartbeat into the `-keeper` file. A process that finds no recent
heartbeat, because the holder has ended or is stopped, takes over the lease; if the old holder
resumes, it finds another name there and steps down. Two may briefly believe that they hold it: this
is harmless, since every chore runs under the writer lock, and finds nothing left to do if the other
has done it.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

HEARTBEAT_SECONDS = 2.0
LEASE_SECONDS = 10.0
WIDTH = 64


class Lease:
    """One process's claim. Heartbeats use a clock that all processes share."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._name = f"{os.getpid()}-{token_hex(4)}"
        self.is_held = False

    def renew(self) -> bool:
        """Takes the lease if it is free, or renews it if it is ours; True if it is held now."""
        now = time.monotonic()
        name, beat = self._read()
        is_ours = name == self._name
        # A heartbeat in the future is from before the machine was restarted.
        is_fresh = 0.0 <= now - beat < LEASE_SECONDS
        self.is_held = is_ours or not name or not is_fresh
        if self.is_held and not (is_ours and 0.0 <= now - beat < HEARTBEAT_SECONDS):
            self._write(f"{self._name} {now:.3f}")
        return self.is_held

    def close(self) -> None:
        """Releases the lease, so that another process need not wait for it to expire."""
        if self.is_held and self._read()[0] == self._name:
            self._write("")
        self.is_held = False
        os.close(self._file)

    def leave_to_parent(self) -> None:
        """In a forked child: drops the claim, which is the parent's."""
        os.close(self._file)

    def _read(self) -> tuple[str, float]:
        try:
            name, beat = os.pread(self._file, WIDTH, 0).decode("ascii", "replace").split()
            return name, float(beat)
        except (OSError, ValueError):
            return "", 0.0

    def _write(self, text: str) -> None:
        # On a full disk the chores are needed most, so every process then runs them.
        with suppress(OSError):
            os.pwrite(self._file, text.ljust(WIDTH - 1).encode() + b"\n", 0)
