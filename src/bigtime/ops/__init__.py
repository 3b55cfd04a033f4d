"""Running a Bigtime application: evolving its tables, moving it to another store."""

from bigtime.ops.evolution import Evolution, Verb, entity_named, item_count, table_ids
from bigtime.ops.job_state import CannotGoOn, JobState
from bigtime.ops.table_walk import TableWalk, scan_pages

__all__ = [
    "CannotGoOn", "Evolution", "JobState", "TableWalk", "Verb", "entity_named", "item_count",
    "scan_pages", "table_ids",
]
