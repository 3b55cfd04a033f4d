"""DynamoDB in a file, on SQLite: in process, and over HTTP for any AWS SDK."""

from typing import TYPE_CHECKING

from bigtime.engine.engine import Engine, FileFigures, RegionalEngine
from bigtime.engine.expressions import KeyTerm, Update, read_expressions
from bigtime.engine.operations import TableChange
from bigtime.engine.replication import Replication
from bigtime.engine.storage import (
    APPLICATION_ID, FORMAT, BackupFileError, Faults, FileFormatError, checksum_vfs, compact,
    count_backup_items, log_bytes, read_backup_items, scrub_file,
)
from bigtime.wire import lazy_names

if TYPE_CHECKING:
    from bigtime.engine.access import UserTransport
    from bigtime.engine.http import (
        NotLoopback, Supervisor, response_handler, serve, serve_in_thread, serve_workers,
    )
    from bigtime.engine.iam import (
        AccessKeys, AccessRequest, Decision, Policy, PolicyError, Principal, UsersFileError,
        evaluate, read_policy, read_users,
    )

if not TYPE_CHECKING:  # else any misspelt name would pass the type checker
    __getattr__ = lazy_names(
        __name__,
        access="UserTransport",
        http="NotLoopback Supervisor response_handler serve serve_in_thread serve_workers",
        iam=(
            "AccessKeys AccessRequest Decision Policy PolicyError Principal UsersFileError "
            "evaluate read_policy read_users"
        ),
    )

__all__ = [
    "APPLICATION_ID", "FORMAT", "AccessKeys", "AccessRequest", "BackupFileError", "Decision",
    "Engine", "Faults", "FileFigures", "FileFormatError", "KeyTerm", "NotLoopback", "Policy",
    "PolicyError", "Principal", "RegionalEngine", "Replication", "Supervisor", "TableChange",
    "Update", "UserTransport", "UsersFileError", "checksum_vfs", "compact", "count_backup_items",
    "evaluate", "log_bytes", "read_backup_items", "read_expressions", "read_policy", "read_users",
    "response_handler", "scrub_file", "serve", "serve_in_thread", "serve_workers",
]
