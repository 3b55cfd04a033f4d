"""Running a Bigtime application: backups, restores, drills."""

from bigtime.ops.backup_places import BackupFault, FolderPlace, Place, place_at
from bigtime.ops.backup_runs import BackupPlan, BackupRound, BackupRuns
from bigtime.ops.backups import (
    BackupSource, Manifest, TableCopy, copy_backup, create_backup, kept_tables, moment_in, names_of,
    prune, read_manifest, verify_backup,
)
from bigtime.ops.schedule import Schedule, WrongSchedule

__all__ = [
    "BackupFault", "BackupPlan", "BackupRound", "BackupRuns", "BackupSource", "FolderPlace",
    "Manifest", "Place", "Schedule", "TableCopy", "WrongSchedule", "copy_backup", "create_backup",
    "kept_tables", "moment_in", "names_of", "place_at", "prune", "read_manifest", "verify_backup",
]
