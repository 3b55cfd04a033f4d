"""`bigtime drill`: rehearses recoveries, and times them against an environment's targets."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bigtime.cli.backup import PlaceSetting, faults_as_sentences, place_of
from bigtime.cli.packages import ops
from bigtime.cli.regions import open_regions
from bigtime.cli.restore import open_restore
from bigtime.cli.screen import refuse
from bigtime.cli.systems import SystemName, environment_named, system_named
from bigtime.cli.tables import StoreSetting

drill = typer.Typer(
    name="drill", help="Rehearse a recovery: how long it takes, and what would be lost."
)

EnvironmentOfDrill = Annotated[
    str,
    typer.Option(
        "--environment",
        metavar="NAME",
        envvar="BIGTIME_ENVIRONMENT",
        help="The environment whose recovery objectives are checked.",
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="FILE",
        help="The report.  \\[default: drills/DAYTTIMEZ-KIND-ENVIRONMENT.md]",
    ),
]


@drill.command()
def pitr(
    system: SystemName,
    environment: EnvironmentOfDrill,
    out: Out = None,
    store: StoreSetting = None,
) -> None:
    """Restore to the latest moment under other names, verify, delete; exit code 1 if late."""
    with open_restore(system, store, "_drill", environment) as restore:
        done = ops.drill_pitr(restore, restore.system.environment(environment))
    write_report(done, "pitr", out)


@drill.command()
def backup(
    system: SystemName,
    environment: EnvironmentOfDrill,
    place: PlaceSetting = None,
    out: Out = None,
) -> None:
    """Restore the newest backup into an empty file, and verify it; exit code 1 if it is late."""
    declared = system_named(system)
    named = environment_named(declared, environment)
    with faults_as_sentences():
        done = ops.drill_backup(place_of(place, environment), declared, named)
    write_report(done, "backup", out)


@drill.command()
def region(
    system: SystemName,
    environment: EnvironmentOfDrill,
    out: Out = None,
    store: StoreSetting = None,
) -> None:
    """Let the replica's region take over as a trial, and verify it; exit code 1 if it is late.

    It uses a fence of its own, so that the region in use keeps writing.
    """
    with open_regions(system, environment, store) as regions:
        done = ops.drill_region(regions)
    write_report(done, "region", out)


def write_report(done: ops.Drill, kind: str, out: Path | None) -> None:
    typer.echo(done.report())
    path = out or Path("drills") / f"{done.at:%Y-%m-%dT%H%M%SZ}-{kind}-{done.environment}.md"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(done.report())
    except OSError as error:
        refuse(f"{path} cannot be written: {error.strerror}.")
    typer.echo(f"written to {path}")
    if not done.has_passed:
        raise typer.Exit(1)
