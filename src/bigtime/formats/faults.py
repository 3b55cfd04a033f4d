"""What may be wrong with a file of items, in sentences that say what to do."""

from __future__ import annotations

from pathlib import Path


class BadFile(Exception):
    """A file that cannot be read, or not to its end; the message says where and what to do."""

    def __init__(self, path: Path, reason: str, *, line: int = 0) -> None:
        """`line` is the last one that could be read."""
        super().__init__(f"{path}{f', after line {line:,}' if line else ''}: {reason}")
        self.path = path
        self.line = line
        self.reason = reason


class BadLine(Exception):
    """A line that holds no item; the message says why and what to do."""


class BadItem(BadLine):
    """A line that can be read, and whose item DynamoDB would refuse."""
