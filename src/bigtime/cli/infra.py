"""`bigtime infra`, `schema`, `iam` and `alarms`: what runs a system, from its declarations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Literal

import typer

from bigtime.cli.packages import advisor, bt, ops, stores
from bigtime.cli.screen import refuse, refuse_on
from bigtime.cli.systems import EnvironmentName, SystemName, environment_named, system_named

schema = typer.Typer(name="schema", help="Schema files: tables as JSON documents.")


def infra(
    system: SystemName,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="The folder to write to.")],
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Also overwrite files that were edited.")
    ] = False,
) -> None:
    """Write the repository that runs a system on AWS: schemas, Terraform, workflows, tests.

    It is made of the declarations alone, so that writing it again changes nothing. Other files in
    the folder stay as they are. If one of these was edited since, nothing is written.
    """
    declared = system_named(system)
    try:
        written = ops.write_infrastructure(declared, out, overwrite=overwrite)
    except bt.DesignError as error:
        refuse(f"{error}.")
    except ops.EditedFiles as error:
        refuse(str(error))
    except OSError as error:
        refuse(f"{error.filename or out} cannot be written: {error.strerror}.")
    for name in written:
        typer.echo(f"wrote {name}")
    if not written:
        typer.echo("nothing has changed")


@schema.command()
def validate(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH...", help="Schema files, or folders of them.")
    ],
    system: Annotated[
        str | None,
        typer.Option("--system", help="Also compare them with the tables of this system."),
    ] = None,
) -> None:
    """Check schema files; the exit code is 1 if there is an error."""
    declared = None if system is None else system_named(system)
    found = list(ops.schema_files(paths))
    if not found:
        refuse("There is no schema file to check: name files, or folders with *.schema.json.")
    faults = [fault for path in found for fault in file_faults(path, declared)]
    for fault in faults:
        typer.echo(fault)
    errors = sum(fault.level == "error" for fault in faults)
    typer.echo(f"{len(found)} files, {errors} errors, {len(faults) - errors} warnings")
    if errors:
        raise typer.Exit(1)


def file_faults(path: Path, system: bt.System | None) -> list[ops.Fault]:
    """What is wrong with a schema file, by itself or compared with a system's declarations."""
    if system is None:
        return ops.check_file(path)
    environments = [there.name for there in ops.environments_of(system)]
    return [*ops.check_file(path, environments), *ops.compare_file(system, path)]


def iam(
    system: SystemName,
    pattern: Annotated[
        list[str] | None, typer.Option("--pattern", help="A pattern to allow; may be repeated.")
    ] = None,
    role: Annotated[
        list[str] | None,
        typer.Option("--role", help="A role of the system to allow; may be repeated."),
    ] = None,
    region: Annotated[str, typer.Option("--region", help="The region of the tables.")] = "*",
    account: Annotated[str, typer.Option("--account", help="The account of the tables.")] = "*",
) -> None:
    """Print the IAM policy that a system's patterns need, as JSON; all of them, if none is named.

    Each pattern is run dry on sample arguments, and the policy allows the requests that it makes.
    """
    found = system_named(system)
    with refuse_on(bt.DesignError, stores.SettingError, code=2, then="."):
        made = advisor.iam_policy(
            found, patterns=pattern or (), roles=role or (), region=region, account=account
        )
    typer.echo(json.dumps(made, indent=2))


def alarms(
    system: SystemName,
    form: Annotated[
        Literal["prometheus", "alertmanager"],
        typer.Option(
            "--format", help="Prometheus rules, or an example configuration of Alertmanager."
        ),
    ] = "prometheus",
    environment: EnvironmentName = None,
) -> None:
    """Print a system's alarms as rules for Prometheus; CloudWatch's are in `bigtime infra`.

    Alertmanager's part sends them to the SNS topic of an environment, whose schedule says how old
    a backup may be.
    """
    declared = system_named(system)
    named = environment_named(declared, environment) if environment else None
    if form == "prometheus":
        typer.echo(ops.prometheus_rules(declared, named), nl=False)
        return
    typer.echo(ops.alertmanager_example(named or ops.environments_of(declared)[0]), nl=False)
