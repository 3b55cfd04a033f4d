"""Running a Bigtime application: environments, infrastructure, cost, backups, evolution, moves."""

from bigtime.ops.alarms import COUNTERS, LONG_LOG_BYTES, alertmanager_example, prometheus_rules
from bigtime.ops.archive import (
    Archive, CannotArchive, anonymise_archived, archive_records, moment_before, open_archive,
    retention_of,
)
from bigtime.ops.backup_places import (
    BackupFault, BucketPlace, FolderPlace, Place, Verification, place_at,
)
from bigtime.ops.backup_restore import restore_backup
from bigtime.ops.backup_runs import BackupPlan, BackupRound, BackupRuns
from bigtime.ops.backups import (
    BackupSource, Manifest, copy_backup, create_backup, engine_of, lower_priority, moment_in,
    names_of, prune, read_manifest, saved_tables, verify_backup,
)
from bigtime.ops.comparison import Comparison, Difference
from bigtime.ops.daily_cost import (
    TOO_MUCH, DayCost, TableUnitCounter, TableUnits, day_cost, days_to, dollars_of,
)
from bigtime.ops.drills import (
    Drill, audit_backup, drill_backup, drill_pitr, drill_region, verify_all,
)
from bigtime.ops.environment_stores import check_store, open_regions
from bigtime.ops.evolution import Evolution, Verb, entity_named, item_count, table_ids
from bigtime.ops.infrastructure import (
    EditedFiles, compare_file, environments_of, infrastructure, write_infrastructure,
)
from bigtime.ops.job_state import CannotGoOn, JobState
from bigtime.ops.migration import Migration
from bigtime.ops.reactions import handle_and_log, lambda_handler
from bigtime.ops.regions import RegionFault, RegionSwitch
from bigtime.ops.restore_records import bring_record_back
from bigtime.ops.restores import Pair, Restore, RestoreFault
from bigtime.ops.schedule import Schedule, WrongSchedule
from bigtime.ops.schema_check import Fault, check_file, schema_files
from bigtime.ops.schema_files import schema_document, schema_text, table_of
from bigtime.ops.status import (
    BackupState, DrillReport, TableRecovery, backup_states, drill_report, drill_reports,
    recovery_states,
)
from bigtime.ops.table_copy import key_of, list_tables
from bigtime.ops.table_settings import NotActive, describe_table, settle
from bigtime.ops.table_walk import Segment, run_scans, scan_pages

__all__ = [
    "COUNTERS", "LONG_LOG_BYTES", "TOO_MUCH", "Archive", "BackupFault", "BackupPlan", "BackupRound",
    "BackupRuns", "BackupSource", "BackupState", "BucketPlace", "CannotArchive", "CannotGoOn",
    "Comparison", "DayCost", "Difference", "Drill", "DrillReport", "EditedFiles", "Evolution",
    "Fault", "FolderPlace", "JobState", "Manifest", "Migration", "NotActive", "Pair", "Place",
    "RegionFault", "RegionSwitch", "Restore", "RestoreFault", "Schedule", "Segment",
    "TableRecovery", "TableUnitCounter", "TableUnits", "Verb", "Verification", "WrongSchedule",
    "alertmanager_example", "anonymise_archived", "archive_records", "audit_backup",
    "backup_states", "bring_record_back", "check_file", "check_store", "compare_file",
    "copy_backup", "create_backup", "day_cost", "days_to", "describe_table", "dollars_of",
    "drill_backup", "drill_pitr", "drill_region", "drill_report", "drill_reports", "engine_of",
    "entity_named", "environments_of", "handle_and_log", "infrastructure", "item_count", "key_of",
    "lambda_handler", "list_tables", "lower_priority", "moment_before", "moment_in", "names_of",
    "open_archive", "open_regions", "place_at", "prometheus_rules", "prune", "read_manifest",
    "recovery_states", "restore_backup", "retention_of", "run_scans", "saved_tables", "scan_pages",
    "schema_document", "schema_files", "schema_text", "settle", "table_ids", "table_of",
    "verify_all", "verify_backup", "write_infrastructure",
]
