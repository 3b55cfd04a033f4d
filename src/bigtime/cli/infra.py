"""`bigtime infra` and `bigtime schema`: what runs a system on AWS, written and checked."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bigtime.cli.engine import refuse
from bigtime.cli.systems import SystemName, system_named

schema = typer.Typer(
    name="schema", help="Schema files: tables as JSON documents.", no_args_is_help=True
)


def infra(
    system: SystemName,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="The folder to write to.")],
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Write over files that were edited too.")
    ] = False,
) -> None:
    """Write the repository that runs a system on AWS: schemas, Terraform, workflows, tests.

    It is made of the declarations alone, so that writing it again changes nothing. Other files in
    the folder stay as they are. If one of these was edited since, nothing is written.
    """
    from bigtime.model import DesignError
    from bigtime.ops import EditedFiles, write_infrastructure

    declared = system_named(system)
    try:
        written = write_infrastructure(declared, out, overwrite=overwrite)
    except DesignError as error:
        refuse(f"{error}.")
    except EditedFiles as error:
        refuse(str(error))
    except OSError as error:
        refuse(f"{error.filename or out} cannot be written: {error.strerror}.")
    for name in written:
        typer.echo(f"wrote {name}")
    if not written:
        typer.echo("nothing has changed")


@schema.callback()
def about() -> None:
    """Schema files: tables as JSON documents."""


@schema.command()
def validate(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH...", help="Schema files, or folders of them.")
    ],
    system: Annotated[
        str | None,
        typer.Option("--system", help="Compare them with the tables of this system too."),
    ] = None,
) -> None:
    """Tell what is wrong with schema files; the exit code is 1 if there is an error."""
    from bigtime import ops

    declared = None if system is None else system_named(system)
    found = list(ops.schema_files(paths))
    if not found:
        refuse("There is no schema file to check: name files, or folders with *.schema.json.")
    faults = [
        fault
        for path in found
        for fault in (
            *ops.check_file(path),
            *(ops.compare_file(declared, path) if declared else ()),
        )
    ]
    for fault in faults:
        typer.echo(fault)
    errors = sum(fault.level == "error" for fault in faults)
    typer.echo(f"{len(found)} files, {errors} errors, {len(faults) - errors} warnings")
    if errors:
        raise typer.Exit(1)
