"""Running a Bigtime application: environments, infrastructure, alarms."""

from bigtime.ops.account import check_store
from bigtime.ops.archive import (
    Archive, CannotArchive, anonymise_archived, archive_records, moment_before, open_archive,
    retention_of,
)
from bigtime.ops.daily_cost import (
    DayCost, TableUnitCounter, TableUnits, day_cost, days_to, dollars_of,
)
from bigtime.ops.lambda_handler import lambda_handler
from bigtime.ops.reaction_log import handle_and_log
from bigtime.ops.settings import settle

__all__ = [
    "Archive", "CannotArchive", "DayCost", "TableUnitCounter", "TableUnits", "anonymise_archived",
    "archive_records", "check_store", "day_cost", "days_to", "dollars_of", "handle_and_log",
    "lambda_handler", "moment_before", "open_archive", "retention_of", "settle",
]
