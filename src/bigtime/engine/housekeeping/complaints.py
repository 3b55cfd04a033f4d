"""Rate-limited warnings about failing chores, which do not end their thread."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

import apsw

from bigtime.engine.storage import Database, LogLost
from bigtime.wire import DynamoDBError

log = logging.getLogger("bigtime.engine")

EVERY_SECONDS = 60.0

EXPECTED = (apsw.Error, DynamoDBError, LogLost, OSError)
"""Problems with the file, such as a full disk, which need no traceback."""


class Complaints:
    """Logs failures of chores, at most one line a minute for each, with their number."""

    def __init__(self, database: Database) -> None:
        self._file = database.file
        self._last: dict[str, float] = {}
        self._withheld: dict[str, int] = {}

    def attempt(self, chore: Callable[[], bool], name: str | None = None) -> bool:
        """Runs a chore and returns its result; a failure is logged and gives False."""
        try:
            return chore()
        except Exception as error:
            # If the engine was closed meanwhile, this thread stops next.
            if not self._file.is_closed:
                self.complain(name or chore.__name__, error)
            return False

    def complain(self, chore: str, error: Exception, about: str = "") -> None:
        now = time.monotonic()
        if now - self._last.get(chore, -EVERY_SECONDS) < EVERY_SECONDS:
            self._withheld[chore] = self._withheld.get(chore, 0) + 1
            return
        self._last[chore] = now
        withheld = self._withheld.pop(chore, 0)
        log.warning(
            "housekeeping: %s: %s%s%s",
            chore,
            f"{about}: " if about else "",
            f"{type(error).__name__}: {error}",
            f" (and {withheld} like it in the last minutes)" if withheld else "",
            exc_info=None if isinstance(error, EXPECTED) or about else error,
        )
