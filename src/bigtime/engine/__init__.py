"""DynamoDB in a file, on SQLite: in process, and over HTTP for any AWS SDK."""

from typing import TYPE_CHECKING

from bigtime.engine.engine import Engine
from bigtime.engine.expressions import KeyTerm, Update, read_expressions
from bigtime.engine.operations import TableChange
from bigtime.engine.storage import (
    APPLICATION_ID, FORMAT, Faults, FileFormatError, checksum_vfs, compact, scrub_file,
)
from bigtime.wire import lazy_names

if TYPE_CHECKING:
    from bigtime.engine.http import NotLoopback, serve

TOOLS = {"NotLoopback": "http", "serve": "http"}

if not TYPE_CHECKING:  # else any misspelt name would pass the type checker
    __getattr__ = lazy_names(__name__, TOOLS)

__all__ = [
    "APPLICATION_ID", "FORMAT", "Engine", "Faults", "FileFormatError", "KeyTerm", "NotLoopback",
    "TableChange", "Update", "checksum_vfs", "compact", "read_expressions", "scrub_file", "serve",
]
