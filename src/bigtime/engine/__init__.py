"""DynamoDB in a file, on SQLite: in process, and over HTTP for any AWS SDK."""

from bigtime.engine.engine import Engine
from bigtime.engine.faults import Faults

__all__ = ["Engine", "Faults"]
