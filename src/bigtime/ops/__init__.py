"""Running a Bigtime application: environments, infrastructure, alarms, backups, restores."""

from bigtime.ops.account import check_store
from bigtime.ops.backup_places import BackupFault, FolderPlace, Place, place_at
from bigtime.ops.backup_restore import RestoredTable, restore_backup
from bigtime.ops.backup_runs import BackupPlan, BackupRound, BackupRuns
from bigtime.ops.backups import (
    BackupSource, Manifest, TableCopy, copy_backup, create_backup, engine_of, moment_in, names_of,
    prune, read_manifest, verify_backup,
)
from bigtime.ops.drills import Drill, drill_backup, drill_pitr
from bigtime.ops.restore_compare import BEGINNING, Compared, Difference, compare_page
from bigtime.ops.restore_records import bring_record_back
from bigtime.ops.restores import SUFFIX, Origin, Pair, Restore, RestoreFault, origin_of
from bigtime.ops.schedule import Schedule, WrongSchedule
from bigtime.ops.settings import settle
from bigtime.ops.table_settings import NotActive

__all__ = [
    "BEGINNING", "SUFFIX", "BackupFault", "BackupPlan", "BackupRound", "BackupRuns", "BackupSource",
    "Compared", "Difference", "Drill", "FolderPlace", "Manifest", "NotActive", "Origin", "Pair",
    "Place", "Restore", "RestoreFault", "RestoredTable", "Schedule", "TableCopy", "WrongSchedule",
    "bring_record_back", "check_store", "compare_page", "copy_backup", "create_backup",
    "drill_backup", "drill_pitr", "engine_of", "moment_in", "names_of", "origin_of", "place_at",
    "prune", "read_manifest", "restore_backup", "settle", "verify_backup",
]
