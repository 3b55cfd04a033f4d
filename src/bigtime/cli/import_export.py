"""`bigtime import` and `bigtime export`: designs from elsewhere, and to elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from bigtime.cli.engine import refuse, refuse_on
from bigtime.cli.systems import SystemName, system_named
from bigtime.cli.tables import StoreSetting, open_database

if TYPE_CHECKING:
    from bigtime.advisor import ImportedModule

import_ = typer.Typer(
    name="import", help="Designs from elsewhere, as Python modules.", no_args_is_help=True
)
export = typer.Typer(
    name="export", help="A system's design, for other tools.", no_args_is_help=True
)

Source = Annotated[Path, typer.Argument(metavar="FILE", help="The file to read.")]
Out = Annotated[
    Path | None,
    typer.Option("--out", metavar="FILE", help="Where to write it.  \\[default: to the terminal]"),
]
Force = Annotated[bool, typer.Option("--force", help="Replace the file if it is there.")]


@import_.command()
def workbench(source: Source, out: Out = None, force: Force = False) -> None:
    """Import a model of NoSQL Workbench: its facets or sample rows become entities."""
    from bigtime.advisor import import_workbench

    check_free(out, force=force)
    with faults_as_sentences():
        module = import_workbench(source)
    deliver_module(module, out)


@import_.command()
def schema(source: Source, out: Out = None, force: Force = False) -> None:
    """Import a generator's schema.json: tables, entities and access patterns."""
    from bigtime.advisor import import_schema

    check_free(out, force=force)
    with faults_as_sentences():
        module = import_schema(source)
    deliver_module(module, out)


@import_.command()
def table(
    name: Annotated[str, typer.Argument(metavar="TABLE", help="The table's name.")],
    sample: Annotated[
        int, typer.Option("--sample", min=8, max=100_000, help="How many items to look at.")
    ] = 1_000,
    out: Out = None,
    force: Force = False,
    store: StoreSetting = None,
) -> None:
    """Import a live table: a sample of its items proposes entities and templates."""
    from bigtime.advisor import import_table

    check_free(out, force=force)
    with open_database(store, makes=False) as database, faults_as_sentences():
        module = database.run(import_table(name, sample=sample))
    deliver_module(module, out)


@export.command("workbench")
def export_workbench(system: SystemName, out: Out = None, force: Force = False) -> None:
    """Export a model of NoSQL Workbench, with facets and sample rows."""
    from bigtime.advisor import workbench_model

    check_free(out, force=force)
    found = system_named(system)
    deliver_json(workbench_model(found, at=datetime.now(UTC)), out)
    for index in (index for table in found.tables for index in table.indexes):
        if max(len(index.hash), len(index.range)) > 1:
            Console(stderr=True, highlight=False, markup=False).print(
                f"{index.name} has several attributes in its key; the model has the first",
                soft_wrap=True,
            )


@export.command()
def cloudformation(system: SystemName, out: Out = None, force: Force = False) -> None:
    """Export a CloudFormation template of the tables."""
    from bigtime.advisor import cloudformation_template

    check_free(out, force=force)
    deliver_json(cloudformation_template(system_named(system)), out)


# What is written, whole or not at all


@contextmanager
def faults_as_sentences() -> Iterator[None]:
    from bigtime.advisor import CannotImport

    with refuse_on(CannotImport, then="."):
        yield


def check_free(out: Path | None, *, force: bool) -> None:
    if out is not None and out.exists() and not force:
        refuse(f"{out} is there already; name another file, or replace it with --force.", code=2)


def deliver_module(module: ImportedModule, out: Path | None) -> None:
    """Writes a module, and tells what a person should look at."""
    deliver(module.text, out)
    screen = Console(stderr=True, highlight=False, markup=False)
    for note in module.notes:
        screen.print(f"to decide  {note}", soft_wrap=True)
    if out is not None:
        screen.print(f"wrote {out}; next: bigtime check {out.stem}:SYSTEM", soft_wrap=True)


def deliver_json(made: dict[str, Any], out: Path | None) -> None:
    deliver(json.dumps(made, indent=2, ensure_ascii=False) + "\n", out)


def deliver(text: str, out: Path | None) -> None:
    if out is None:
        typer.echo(text, nl=False)
        return
    from bigtime.formats import write_whole

    try:
        write_whole(out, text.encode())
    except OSError as error:
        refuse(f"{out} cannot be written: {error.strerror}.")
