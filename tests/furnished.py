"""Engines that have their tables from the start: one is furnished, the others are copies of it.

To make the tables of all systems takes longer than most tests that need them.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bigtime.engine import Engine
from bigtime.engine.storage import Database

Furnish = Callable[[Engine], object]

FILES: dict[Furnish, bytes] = {}


def furnished_engine(furnish: Furnish, *, housekeeping: bool = True, **settings: Any) -> Engine:
    """An engine in memory on which `furnish` was run, perhaps some time ago."""
    folder = tempfile.mkdtemp(prefix="bigtime-")
    path = write_furnished(Path(folder, "memory.db"), furnish, **settings)
    database = Database(path, durability="none", **settings)
    return Engine(database, housekeeping=housekeeping, folder=folder)


def write_furnished(path: Path, furnish: Furnish, **settings: Any) -> Path:
    """Makes that path the file of such an engine."""
    if furnish not in FILES:
        FILES[furnish] = furnished_file(furnish, settings)
    path.write_bytes(FILES[furnish])
    return path


def furnished_file(furnish: Furnish, settings: dict[str, Any]) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "furnished.db")
        with Engine.open(path, durability="relaxed", housekeeping=False, **settings) as engine:
            furnish(engine)
        return path.read_bytes()
