"""Running a Bigtime application: environments, infrastructure, alarms, backups, restores."""

from bigtime.ops.account import check_store
from bigtime.ops.backup_places import BackupFault, FolderPlace, Place, place_at
from bigtime.ops.backup_runs import BackupPlan, BackupRound, BackupRuns
from bigtime.ops.backups import (
    BackupSource, Manifest, TableCopy, copy_backup, create_backup, moment_in, names_of, prune,
    read_manifest, verify_backup,
)
from bigtime.ops.schedule import Schedule, WrongSchedule
from bigtime.ops.settings import settle

__all__ = [
    "BackupFault", "BackupPlan", "BackupRound", "BackupRuns", "BackupSource", "FolderPlace",
    "Manifest", "Place", "Schedule", "TableCopy", "WrongSchedule", "check_store", "copy_backup",
    "create_backup", "moment_in", "names_of", "place_at", "prune", "read_manifest", "settle",
    "verify_backup",
]
