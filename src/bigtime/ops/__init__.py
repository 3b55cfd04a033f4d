"""Running a Bigtime application: environments, infrastructure, archives; evolving and moving it."""

from bigtime.ops.account import check_store
from bigtime.ops.archive import (
    Archive, CannotArchive, anonymise_archived, archive_records, moment_before, open_archive,
    retention_of,
)
from bigtime.ops.comparison import Comparison
from bigtime.ops.daily_cost import (
    DayCost, TableUnitCounter, TableUnits, day_cost, days_to, dollars_of,
)
from bigtime.ops.evolution import Evolution, Verb, entity_named, item_count, table_ids
from bigtime.ops.infrastructure import (
    compare_file, environments_of, infrastructure, write_infrastructure,
)
from bigtime.ops.job_state import CannotGoOn, JobState
from bigtime.ops.migration import Migration
from bigtime.ops.schema_check import Fault, check_file, schema_files
from bigtime.ops.schema_files import schema_document, schema_path, schema_text, table_of
from bigtime.ops.settings import settle
from bigtime.ops.table_copy import list_tables, live_table
from bigtime.ops.table_walk import TableWalk, scan_pages

__all__ = [
    "Archive", "CannotArchive", "CannotGoOn", "Comparison", "DayCost", "Evolution", "Fault",
    "JobState", "Migration", "TableUnitCounter", "TableUnits", "TableWalk", "Verb",
    "anonymise_archived", "archive_records", "check_file", "check_store", "compare_file",
    "day_cost", "days_to", "dollars_of", "entity_named", "environments_of", "infrastructure",
    "item_count", "list_tables", "live_table", "moment_before", "open_archive", "retention_of",
    "scan_pages", "schema_document", "schema_files", "schema_path", "schema_text", "settle",
    "table_ids", "table_of", "write_infrastructure",
]
