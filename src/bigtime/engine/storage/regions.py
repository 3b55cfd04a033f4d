"""The regions of an engine: each has its own file beside the home region's.

The home region's file is the one that the engine was opened with; another region's is
`<name>.<region><suffix>` in the same folder. A region gets a file when it is declared, or when any
process creates a replica of a table there; until then the home region answers its requests.

The file of another region can also be opened by itself, as if on a machine of its own: its name
tells the region. Replication runs while a process has the home region's file open.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bigtime.engine.storage.database import Database

REGION_NAME = re.compile(r"[a-z]{2,4}(-[a-z]{2,12}){1,3}-\d{1,2}")


class Regions:
    """The open databases by region. Thread-safe."""

    def __init__(self, home: Database, open_file: Callable[[Path, str], Database]) -> None:
        """`open_file` opens the file of a region with the home region's settings."""
        self.home = home
        self._open_file = open_file
        self._lock = threading.Lock()
        self._databases = {home.region: home}
        self._is_closed = False
        home.regions = self

    def path(self, region: str) -> Path:
        path = self.home.file.path
        return path.with_name(f"{path.stem}.{region}{path.suffix}")

    def has_file(self, region: str) -> bool:
        return region in self._databases or (is_region(region) and self.path(region).is_file())

    def find(self, region: str) -> Database | None:
        """The database of a region; None if it has no file."""
        database = self._databases.get(region)
        if database is None and self.has_file(region):
            database = self.open(region)
        return database

    def open(self, region: str) -> Database:
        """The database of a region, whose file is created if there is none."""
        check_region(region)
        with self._lock:
            if region not in self._databases:
                if self._is_closed:
                    raise RuntimeError(f"The engine is closed: {region} cannot be opened.")
                database = self._open_file(self.path(region), region)
                database.regions = self
                self._databases = {**self._databases, region: database}
            return self._databases[region]

    def others(self, region: str) -> list[Database]:
        """The other regions that this process has opened."""
        return [database for name, database in self._databases.items() if name != region]

    def databases(self) -> dict[str, Database]:
        """The databases of all regions that have a file, opened if necessary."""
        path = self.home.file.path
        for found in path.parent.glob(f"{escape(path.stem)}.*{escape(path.suffix)}"):
            region = found.name[len(path.stem) + 1 : len(found.name) - len(path.suffix)]
            if is_region(region) and region not in self._databases:
                self.open(region)
        return self._databases

    def open_regions(self) -> dict[str, Database]:
        """The regions that this process has opened."""
        return self._databases

    def refuse(self) -> None:
        """Opens no more files."""
        with self._lock:
            self._is_closed = True


def region_in_name(path: Path) -> str | None:
    """The region in a file's name, as in `shop.eu-west-1.db`."""
    name = Path(path.stem).suffix.removeprefix(".")
    return name if is_region(name) else None


def is_region(name: str) -> bool:
    return REGION_NAME.fullmatch(name) is not None


def check_region(name: str) -> None:
    if not is_region(name):
        raise ValueError(f"{name!r} is not the name of a region, such as eu-west-1")
