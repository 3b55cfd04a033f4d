"""Charts as sets of rows, so that one can be held against another."""

from __future__ import annotations

from pathlib import Path
from typing import TypeAlias

from bigtime.advisor import chart
from bigtime.model import System

Row: TypeAlias = tuple[str, ...]


def tables_in(markdown: str) -> dict[Row, set[Row]]:
    """The rows of all tables, by the heads of these; tables with one head are one."""
    found: dict[Row, set[Row]] = {}
    head: Row | None = None
    for line in markdown.splitlines():
        if not line.startswith("|"):
            head = None
        elif head is None:
            head = cells(line)
            found.setdefault(head, set())
        elif set(line) - set("|-"):
            found[head].add(tuple(map(plain, cells(line))))
    return found


def cells(line: str) -> Row:
    return tuple(cell.strip() for cell in line.strip().strip("|").split("|"))


def plain(cell: str) -> str:
    """A note may begin with a capital and end with a full stop; fields are `<ItemSKU>` or not."""
    if "<" in cell:
        return cell.lower()
    return (cell[:1].lower() + cell[1:]).removesuffix(".")


def expected_rows(folder: Path) -> dict[Row, set[Row]]:
    return tables_in((folder / "chart.md").read_text())


def generated_rows(system: System) -> dict[Row, set[Row]]:
    return tables_in(chart(system))
