"""Running a Bigtime application: evolving its tables, moving it to another store."""

from bigtime.ops.comparison import Comparison
from bigtime.ops.evolution import Evolution, Verb, entity_named, item_count, table_ids
from bigtime.ops.job_state import CannotGoOn, JobState
from bigtime.ops.migration import Migration
from bigtime.ops.table_copy import live_table, table_names
from bigtime.ops.table_walk import TableWalk, scan_pages

__all__ = [
    "CannotGoOn", "Comparison", "Evolution", "JobState", "Migration", "TableWalk", "Verb",
    "entity_named", "item_count", "live_table", "scan_pages", "table_ids", "table_names",
]
