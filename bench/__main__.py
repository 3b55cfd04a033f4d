"""`make bench`: measures every figure of speed and size against its bar, in one run."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from bench import (
    backups,
    beside_clients,
    beside_dynalite,
    beside_moto,
    durable,
    growth,
    in_process,
    kit,
    lake,
    recovery,
    replication,
    search,
    site,
    site_load,
    systems,
    vectors,
    workers,
)
from bench.figure import Figure, NotHere
from bench.report import Report
from bench.scale import FULL, QUICK, Scale
from bench.server import dynalite_script

FIGURES = Path("docs/figures/bench.json")


class Section(StrEnum):
    in_process = "in-process"
    moto = "moto"
    dynalite = "dynalite"
    durable = "durable"
    workers = "workers"
    growth = "growth"
    vectors = "vectors"
    clients = "clients"
    kit = "kit"
    systems = "systems"
    search = "search"
    site = "site"
    site_load = "site-load"
    lake = "lake"
    operations = "operations"


TITLES = {
    Section.in_process: "In process, beside bare SQLite (CPU time)",
    Section.moto: "In process, beside moto (CPU time)",
    Section.dynalite: "Over HTTP, beside dynalite (CPU time of the server)",
    Section.durable: "Durable writes",
    Section.workers: "Several workers (CPU time of the servers)",
    Section.growth: "Growth (CPU time)",
    Section.vectors: "Vector indexes (CPU time)",
    Section.clients: "The model kit beside other clients (CPU time)",
    Section.kit: "The model kit, what it adds (CPU time)",
    Section.systems: "The systems (CPU time)",
    Section.search: "Search (CPU time)",
    Section.site: "The site (CPU time of the server)",
    Section.site_load: "The site under load",
    Section.lake: "Analytics (CPU time)",
    Section.operations: "Recovery, backups, replication",
}


def main(
    quick: Annotated[
        bool, typer.Option("--quick", help="Seconds instead of minutes; saves no figures.")
    ] = False,
    only: Annotated[
        list[Section] | None, typer.Option(help="Only this part; the others keep their figures.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option(help=f"Where to save.  \\[default: {FIGURES}]")
    ] = None,
) -> None:
    """Measures, shows a table and saves a JSON file. Exits with 1 if a bar is missed.

    A quick run gates only on CPU time and ratios, and leaves them room: a ratio may be twice the
    limit, CPU time three times.
    """
    screen = Console()
    if not screen.is_terminal:
        screen.width = 130
    report = run(QUICK if quick else FULL, only or list(Section), screen)
    report.show(screen)
    if output or not quick:
        report.save(output or FIGURES, TITLES.values())
    if report.failures:
        raise SystemExit(1)


def run(scale: Scale, sections: list[Section], screen: Console) -> Report:
    report = Report(scale, dynalite=dynalite_script())
    with tempfile.TemporaryDirectory(prefix="bigtime-bench-") as folder:
        for section in sections:
            screen.print(f"measuring: {TITLES[section]}", style="dim")
            try:
                look(report, section, Path(folder), screen)
            except NotHere as reason:
                report.skipped[TITLES[section]] = str(reason)
    return report


def look(report: Report, section: Section, folder: Path, screen: Console) -> None:
    """Measures a section, and again if a bar is missed and the scale allows more looks."""
    for number in range(report.scale.looks):
        own = folder / f"{section}-{number}"
        own.mkdir()
        figures = measurements(report.scale, own, report.dynalite, screen)
        if report.collect(TITLES[section], figures[section]()):
            return


def measurements(
    scale: Scale, folder: Path, dynalite: Path | None, screen: Console
) -> dict[Section, Callable[[], Iterable[Figure]]]:
    return {
        Section.in_process: lambda: in_process.measure(scale, folder),
        Section.moto: lambda: beside_moto.measure(scale),
        Section.dynalite: lambda: beside_dynalite.measure(scale, folder, dynalite),
        Section.durable: lambda: durable.measure(scale, folder),
        Section.workers: lambda: workers.measure(scale, folder),
        Section.growth: lambda: growth.measure(scale, folder, screen),
        Section.vectors: lambda: vectors.measure(scale),
        Section.clients: lambda: beside_clients.measure(scale),
        Section.kit: lambda: kit.measure(scale, folder),
        Section.systems: lambda: systems.measure(scale, folder, screen),
        Section.search: lambda: search.measure(scale, folder, screen),
        Section.site: lambda: site.measure(scale, folder),
        Section.site_load: lambda: site_load.measure(scale, folder),
        Section.lake: lambda: lake.measure(scale, folder),
        Section.operations: lambda: chain(
            recovery.measure(scale, folder),
            backups.measure(scale, folder),
            replication.measure(scale, folder),
        ),
    }


if __name__ == "__main__":
    typer.run(main)
