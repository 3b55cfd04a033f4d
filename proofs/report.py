"""The results of a run of the proofs: a table on the screen, and a JSON file for the README's."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import apsw
import orjson
from rich.console import Console
from rich.table import Table

from proofs.proof import PROOFS, Length
from proofs.result import Result, summary

LONGEST_VIOLATION = 2_000


@dataclass(slots=True)
class Report:
    """The results of one run, by proof, with the seconds that each took."""

    length: Length
    results: dict[str, Result] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)

    def collect(self, name: str, result: Result, seconds: float) -> None:
        self.results[name] = result
        self.seconds[name] = round(seconds, 1)

    @property
    def is_broken(self) -> bool:
        return any(result["violations"] for result in self.results.values())

    def show(self, screen: Console) -> None:
        table = Table(title=f"Proofs, {self.length} length", title_justify="left")
        for heading in ("proof", "must hold", "seen", "seconds", "holds"):
            table.add_column(heading, justify="right" if heading == "seconds" else "left")
        for name, result in self.results.items():
            proof = PROOFS[name]
            holds = "[bold red]no" if result["violations"] else "[green]yes"
            seconds = f"{self.seconds[name]:,.0f}"
            table.add_row(proof.what, proof.bar, summary(result), seconds, holds)
        screen.print(table)
        for name, result in self.results.items():
            for violation in result["violations"][:10]:
                shown = violation[:LONGEST_VIOLATION]
                screen.print(f"{name}: {shown}", style="red", markup=False)

    def save(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        options = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
        path.write_bytes(orjson.dumps({"rows": self.rows(path)}, option=options))

    def rows(self, path: Path) -> list[dict[str, Any]]:
        """The rows of this run and, from the file, those of proofs that did not run."""
        before = orjson.loads(path.read_bytes())["rows"] if path.exists() else []
        known = {(row["proof"], row["length"]): row for row in before if row["proof"] in PROOFS}
        known |= {(name, self.length): self.row(name) for name in self.results}
        names = list(PROOFS)
        return [known[key] for key in sorted(known, key=lambda key: (names.index(key[0]), key[1]))]

    def row(self, name: str) -> dict[str, Any]:
        """`what`, `bar` and `seen` are for the README."""
        proof, result = PROOFS[name], self.results[name]
        return {
            "what": proof.what,
            "bar": proof.bar,
            "seen": summary(result),
            "proof": name,
            "length": self.length,
            "date": datetime.now(UTC).date().isoformat(),
            "machine": machine(),
            "seconds": self.seconds[name],
            "counts": result["counts"],
            "violations": [violation[:LONGEST_VIOLATION] for violation in result["violations"]],
            "skipped": result["skipped"],
        }


def machine() -> str:
    """What the figures depend on, but nothing that identifies the machine."""
    cores = os.cpu_count() or 1
    kind = f"{cores} {platform.machine()} core{'s' if cores > 1 else ''}"
    versions = f"Python {platform.python_version()}, SQLite {apsw.sqlite_lib_version()}"
    return f"{kind} with {platform.system()}, {versions}"
