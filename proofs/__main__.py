"""`make proofs`: proofs at full length, or at a release's, all in one run or each by itself."""

from __future__ import annotations

import time
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from proofs.proof import PROOFS, Length
from proofs.report import Report
from proofs.result import summary

FIGURES = Path("docs/figures/proofs.json")

Name = StrEnum("Name", {name: name for name in PROOFS})  # type: ignore[misc]


def main(
    release: Annotated[
        bool, typer.Option("--release", envvar="RELEASE", help="As often as a release asks for.")
    ] = False,
    short: Annotated[
        bool, typer.Option("--short", help="As often as the tests do; saves no figures.")
    ] = False,
    only: Annotated[list[Name] | None, typer.Option(help="Only these; may be repeated.")] = None,
    output: Annotated[
        Path | None, typer.Option(help=f"Where to save.  \\[default: {FIGURES}]")
    ] = None,
) -> None:
    """Proves, shows a table and saves a JSON file. Exits with 1 if a promise was broken."""
    screen = Console(highlight=False)
    if not screen.is_terminal:
        screen.width = 150
    length: Length = "release" if release else "short" if short else "full"
    report = run(length, [str(name) for name in only or PROOFS], screen)
    report.show(screen)
    if output or not short:
        report.save(output or FIGURES)
    if report.is_broken:
        raise SystemExit(1)


def run(length: Length, names: list[str], screen: Console) -> Report:
    report = Report(length)
    for name in names:
        screen.print(PROOFS[name].what, style="bold")
        started = time.monotonic()
        result = PROOFS[name].result(length)
        report.collect(name, result, time.monotonic() - started)
        screen.print(f"  {summary(result)}", markup=False)
    return report


if __name__ == "__main__":
    typer.run(main)
