"""The files of an engine's regions: each a database with its housekeeper."""

from __future__ import annotations

from pathlib import Path

from bigtime.engine.housekeeping import Housekeeper
from bigtime.engine.replication.replicator import Replicator
from bigtime.engine.storage import Database, Durability, Regions, Settings


class RegionFiles:
    """The files of an engine's regions, each with its housekeeper, and what replicates them."""

    def __init__(self, home: Database, settings: Settings, *, housekeeping: bool) -> None:
        self._settings: Settings = {**settings, "account": home.account, "clock": home.clock}
        self._durability: Durability = home.file.durability
        self._housekeeping = housekeeping
        self.regions = Regions(home, self._open)
        self.replicator = Replicator(self.regions)
        self.housekeepers = [Housekeeper(home, self._watch_home)]

    def _open(self, path: Path, region: str) -> Database:
        settings: Settings = {**self._settings, "region": region}
        database = Database(path, durability=self._durability, **settings)
        housekeeper = Housekeeper(database, self._watch_other)
        self.housekeepers.append(housekeeper)
        if self._housekeeping and not database.file.is_read_only:
            housekeeper.start()
        return database

    def _watch_home(self, is_held: bool) -> bool:
        """The process with the home region's housekeeping lease replicates all regions."""
        return self.replicator.watch(is_ours=is_held)

    def _watch_other(self, is_held: bool) -> bool:
        return self.replicator.watch()

    def close(self) -> None:
        self.replicator.refuse()
        self.regions.refuse()
        databases = self.regions.open_regions().values()
        for database in databases:
            database.file.refuse()
        self.replicator.stop()
        for housekeeper in self.housekeepers:
            housekeeper.stop()
        for database in databases:
            database.close()
