"""CSV files for spreadsheets.

A cell that a spreadsheet would take for a formula begins with an apostrophe (OWASP, "CSV
Injection"); numbers stay numbers.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from io import StringIO
from typing import Final

CSV: Final = "text/csv; charset=utf-8"
FORMULAS: Final = ("=", "+", "-", "@", "\t", "\r")


def csv_headers(name: str) -> dict[str, str]:
    """The headers with which a browser saves a file."""
    return {
        "content-disposition": f'attachment; filename="{name}.csv"',
        "cache-control": "no-store",
    }


def csv_text(rows: Iterable[Iterable[object]]) -> str:
    text = StringIO()
    csv.writer(text).writerows([cell_text(value) for value in row] for row in rows)
    return text.getvalue()


def cell_text(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case Decimal():
            return f"{value:f}"
        case date():
            return value.isoformat()
        case int() | float():
            return str(value)
    text = str(value)
    return f"'{text}" if text.startswith(FORMULAS) else text
