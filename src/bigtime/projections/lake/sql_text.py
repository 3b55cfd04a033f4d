"""Texts and names in SQL, for statements that take no parameters."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


def text_literal(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def list_literal(paths: Iterable[str | Path]) -> str:
    return "[" + ", ".join(text_literal(str(path)) for path in paths) + "]"


def quote_name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
