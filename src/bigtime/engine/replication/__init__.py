"""Replication between the regions of an engine: tables, their settings and their items."""

from bigtime.engine.replication.region_files import RegionFiles
from bigtime.engine.replication.replicator import Replication, Replicator

__all__ = ["RegionFiles", "Replication", "Replicator"]
