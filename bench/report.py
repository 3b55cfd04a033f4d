"""The figures of a run: a table on the screen, and a JSON file that the README's come from."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import apsw
import orjson
from rich.console import Console
from rich.table import Table

from bench.figure import Figure, amount
from bench.scale import Scale

PACKAGES = (
    "apsw",
    "orjson",
    "pydantic",
    "boto3",
    "httptools",
    "uvloop",
    "moto",
    "pynamodb",
    "dyntastic",
)


@dataclass(slots=True)
class Report:
    """What one run measured, by section, and what it could not measure."""

    scale: Scale
    sections: dict[str, list[Figure]] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    dynalite: Path | None = None

    def collect(self, section: str, figures: Iterable[Figure]) -> bool:
        """Whether the bars hold; what was measured again is judged by its best measurement."""
        before = {figure.what: figure for figure in self.sections.get(section, ())}
        self.sections[section] = [figure.best(before.get(figure.what)) for figure in figures]
        return not any(figure.fails(self.scale.room) for figure in self.sections[section])

    @property
    def figures(self) -> list[Figure]:
        return [figure for figures in self.sections.values() for figure in figures]

    @property
    def missed_bars(self) -> list[Figure]:
        return [figure for figure in self.figures if figure.is_met is False]

    @property
    def failures(self) -> list[Figure]:
        return [figure for figure in self.figures if figure.fails(self.scale.room)]

    def show(self, screen: Console) -> None:
        for section, figures in self.sections.items():
            screen.print(table(section, figures))
        for section, reason in self.skipped.items():
            screen.print(f"not measured: {section}: {reason}", style="yellow")
        bars = sum(figure.bar is not None for figure in self.figures)
        screen.print(f"{bars - len(self.missed_bars)} of {bars} bars met", style="bold")
        for figure in self.failures:
            screen.print(f"failed: {figure.what}: {figure.summary}, not {figure.bar}", style="red")

    def save(self, path: Path, order: Iterable[str]) -> None:
        """Replaces the measured sections in the file; the others stay. `order` sorts them."""
        path.parent.mkdir(parents=True, exist_ok=True)
        options = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
        before = orjson.loads(path.read_bytes()) if path.exists() else {"rows": [], "skipped": {}}
        path.write_bytes(orjson.dumps(self.as_json(before, list(order)), option=options))

    def as_json(self, before: dict[str, Any], order: list[str]) -> dict[str, Any]:
        found = versions(self.dynalite)
        measured = {*self.sections, *self.skipped}
        rows = [row for row in before["rows"] if row["section"] not in measured] + self.rows()
        skipped = {name: why for name, why in before["skipped"].items() if name not in measured}
        return {
            "machine": machine(found),
            "versions": found,
            "scale": asdict(self.scale),
            "rows": sorted(rows, key=lambda row: order.index(row["section"])),
            "skipped": skipped | self.skipped,
        }

    def rows(self) -> list[dict[str, Any]]:
        today = datetime.now(UTC).date().isoformat()
        return [
            {"section": section, "date": today, **figure.row()}
            for section, figures in self.sections.items()
            for figure in figures
        ]


def table(section: str, figures: list[Figure]) -> Table:
    shown = Table(title=section, title_justify="left", title_style="bold")
    for heading in ("operation", "ours", "other", "ratio", "bar", "met"):
        shown.add_column(heading, justify="left" if heading in ("operation", "bar") else "right")
    for figure in figures:
        shown.add_row(*cells(figure))
    return shown


def cells(figure: Figure) -> tuple[str, ...]:
    met = {True: "[green]yes", False: "[bold red]no", None: ""}[figure.is_met]
    return (
        figure.what,
        amount(figure.ours, figure.unit),
        f"{amount(figure.other, figure.unit)} {figure.beside}",
        amount(figure.ratio, "x"),
        "" if figure.bar is None else str(figure.bar),
        met,
    )


def versions(dynalite: Path | None) -> dict[str, str]:
    found = {"python": platform.python_version(), "sqlite": apsw.sqlite_lib_version()}
    found |= {package: version(package) for package in PACKAGES}
    if dynalite is not None:
        found["dynalite"] = orjson.loads((dynalite.parent / "package.json").read_bytes())["version"]
        found["node"] = node_version()
    return found


def node_version() -> str:
    node = shutil.which("node") or "node"
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=True)
    return said.stdout.strip().removeprefix("v")


def machine(found: dict[str, str]) -> str:
    """What the figures depend on, but nothing that identifies the machine."""
    cores = os.cpu_count() or 1
    kind = f"{cores} {platform.machine()} core{'s' if cores > 1 else ''}"
    return f"{kind} with {platform.system()}, Python {found['python']}, SQLite {found['sqlite']}"
