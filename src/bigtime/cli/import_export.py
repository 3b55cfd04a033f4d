"""`bigtime import` and `bigtime export`: designs from other tools, and for them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from bigtime.cli.packages import advisor, formats
from bigtime.cli.screen import refuse, refuse_on, say
from bigtime.cli.systems import SystemName, system_named
from bigtime.cli.tables import StoreSetting, open_database

import_ = typer.Typer(name="import", help="Import designs from elsewhere, as Python modules.")
export = typer.Typer(name="export", help="Export a system's design for other tools.")

Source = Annotated[Path, typer.Argument(metavar="FILE", help="The file to read.")]
Out = Annotated[
    Path | None,
    typer.Option("--out", metavar="FILE", help="Where to write it.  \\[default: to the terminal]"),
]
Force = Annotated[bool, typer.Option("--force", help="Replace an existing file.")]


@import_.command()
def workbench(source: Source, out: Out = None, force: Force = False) -> None:
    """Import a NoSQL Workbench model: its facets or sample rows become entities."""
    check_free(out, force=force)
    with faults_as_sentences():
        module = advisor.import_workbench(source)
    deliver_module(module, out)


@import_.command()
def schema(source: Source, out: Out = None, force: Force = False) -> None:
    """Import a generator's schema.json: tables, entities and access patterns."""
    check_free(out, force=force)
    with faults_as_sentences():
        module = advisor.import_schema(source)
    deliver_module(module, out)


@import_.command()
def table(
    name: Annotated[str, typer.Argument(metavar="TABLE", help="The table's name.")],
    sample: Annotated[
        int, typer.Option("--sample", min=8, max=100_000, help="How many items to read.")
    ] = 1_000,
    out: Out = None,
    force: Force = False,
    store: StoreSetting = None,
) -> None:
    """Import a live table: entities and templates are proposed from a sample of its items."""
    check_free(out, force=force)
    with open_database(store, makes=False) as database, faults_as_sentences():
        module = database.run(advisor.import_table(name, sample=sample))
    deliver_module(module, out)


@export.command("workbench")
def export_workbench(system: SystemName, out: Out = None, force: Force = False) -> None:
    """Export a NoSQL Workbench model, with facets and sample rows."""
    check_free(out, force=force)
    found = system_named(system)
    deliver_json(advisor.workbench_model(found, at=datetime.now(UTC)), out)
    for index in (index for table in found.tables for index in table.indexes):
        if max(len(index.hash), len(index.range)) > 1:
            say(
                f"{index.name} has several attributes in its key; the model has the first",
                error=True,
            )


@export.command()
def cloudformation(system: SystemName, out: Out = None, force: Force = False) -> None:
    """Export a CloudFormation template of the tables."""
    check_free(out, force=force)
    deliver_json(advisor.cloudformation_template(system_named(system)), out)


# Output, whole or not at all


@contextmanager
def faults_as_sentences() -> Iterator[None]:
    with refuse_on(advisor.CannotImport, then="."):
        yield


def check_free(out: Path | None, *, force: bool) -> None:
    if out is not None and out.exists() and not force:
        refuse(f"{out} is there already; name another file, or replace it with --force.", code=2)


def deliver_module(module: advisor.ImportedModule, out: Path | None) -> None:
    """Writes a module, and lists what a person should review."""
    deliver(module.text, out)
    for note in module.notes:
        say(f"to decide  {note}", error=True)
    if out is not None:
        say(f"wrote {out}; next: bigtime check {out.stem}:SYSTEM", error=True)


def deliver_json(made: dict[str, Any], out: Path | None) -> None:
    deliver(json.dumps(made, indent=2, ensure_ascii=False) + "\n", out)


def deliver(text: str, out: Path | None) -> None:
    if out is None:
        typer.echo(text, nl=False)
        return
    try:
        formats.write_whole(out, text.encode())
    except OSError as error:
        refuse(f"{out} cannot be written: {error.strerror}.")
