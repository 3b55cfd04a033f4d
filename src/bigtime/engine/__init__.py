"""DynamoDB in a file, on SQLite: in process, and over HTTP for any AWS SDK."""

from typing import TYPE_CHECKING

from bigtime.engine.engine import Engine, RegionalEngine
from bigtime.engine.expressions import KeyTerm, Update, read_expressions
from bigtime.engine.operations import TableChange
from bigtime.engine.replication import Replication
from bigtime.engine.storage import (
    APPLICATION_ID, FORMAT, BackupFileError, Faults, FileFormatError, checksum_vfs, compact,
    count_backup_items, read_backup_items, scrub_file,
)
from bigtime.wire import lazy_names

if TYPE_CHECKING:
    from bigtime.engine.http import NotLoopback, response_handler, serve, serve_in_thread

TOOLS = dict.fromkeys(("NotLoopback", "response_handler", "serve", "serve_in_thread"), "http")

if not TYPE_CHECKING:  # else any misspelt name would pass the type checker
    __getattr__ = lazy_names(__name__, TOOLS)

__all__ = [
    "APPLICATION_ID", "FORMAT", "BackupFileError", "Engine", "Faults", "FileFormatError", "KeyTerm",
    "NotLoopback", "RegionalEngine", "Replication", "TableChange", "Update", "checksum_vfs",
    "compact", "count_backup_items", "read_backup_items", "read_expressions", "response_handler",
    "scrub_file", "serve", "serve_in_thread",
]
