"""Temporary folders."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MEMORY = Path("/dev/shm")


@contextmanager
def scratch(*, on_disk: bool = True) -> Iterator[Path]:
    """An empty folder; if no disk is needed, in memory where the machine offers that."""
    place = None if on_disk or not MEMORY.is_dir() else MEMORY
    with tempfile.TemporaryDirectory(
        prefix="bigtime-proof-", dir=place, ignore_cleanup_errors=True
    ) as name:
        yield Path(name)
