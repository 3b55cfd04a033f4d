"""Running a Bigtime application: environments, infrastructure, alarms."""

from bigtime.ops.account import check_store
from bigtime.ops.archive import (
    Archive, CannotArchive, anonymise_archived, archive_records, moment_before, open_archive,
    retention_of,
)
from bigtime.ops.daily_cost import (
    DayCost, TableUnitCounter, TableUnits, day_cost, days_to, dollars_of,
)
from bigtime.ops.infrastructure import (
    compare_file, environments_of, infrastructure, write_infrastructure,
)
from bigtime.ops.schema_check import Fault, check_file, schema_files
from bigtime.ops.schema_files import schema_document, schema_path, schema_text, table_of
from bigtime.ops.settings import settle

__all__ = [
    "Archive", "CannotArchive", "DayCost", "Fault", "TableUnitCounter", "TableUnits",
    "anonymise_archived", "archive_records", "check_file", "check_store", "compare_file",
    "day_cost", "days_to", "dollars_of", "environments_of", "infrastructure", "moment_before",
    "open_archive", "retention_of", "schema_document", "schema_files", "schema_path", "schema_text",
    "settle", "table_of", "write_infrastructure",
]
