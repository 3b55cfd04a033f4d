"""Counts Python calls into the project's own code, including templates and comprehensions.

Every entry into a frame of a file in `src/bigtime` counts, also when a generator resumes: it is
what you see when you step through a request with a debugger.
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, Final, TypeVar

import bigtime

T = TypeVar("T")

SOURCES: Final = str(Path(bigtime.__file__).parent)


@dataclass
class CallCounter:
    """How many calls there were, and in which files."""

    calls: int = 0
    files: set[str] = field(default_factory=set)

    def note(self, frame: FrameType, event: str, argument: Any) -> None:
        file = frame.f_code.co_filename
        if event == "call" and file.startswith(SOURCES):
            self.calls += 1
            self.files.add(file)

    async def watch(self, work: Awaitable[T]) -> T:
        """Awaits the work on this thread, counting its calls."""
        sys.setprofile(self.note)
        try:
            return await work
        finally:
            sys.setprofile(None)
