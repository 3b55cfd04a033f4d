"""Quoting strings and names in SQL, for statements that accept no parameters."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


def text_literal(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def list_literal(paths: Iterable[str | Path]) -> str:
    return "[" + ", ".join(text_literal(str(path)) for path in paths) + "]"


def parquet_rows(paths: Iterable[str | Path]) -> str:
    """Reads files, of which some may lack columns; folder names do not become columns."""
    return f"read_parquet({list_literal(paths)}, hive_partitioning=false, union_by_name=true)"


def quote_name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
