"""`bigtime alarms`: a system's alarms for Prometheus and Alertmanager."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from bigtime.cli.engine import refuse
from bigtime.cli.environments import EnvironmentName
from bigtime.cli.systems import SystemName, system_named


class Format(StrEnum):
    prometheus = "prometheus"
    alertmanager = "alertmanager"


def alarms(
    system: SystemName,
    form: Annotated[
        Format, typer.Option("--format", help="Rules of Prometheus, or Alertmanager's part.")
    ] = Format.prometheus,
    environment: EnvironmentName = None,
) -> None:
    """Print a system's alarms as rules for Prometheus; CloudWatch's are in `bigtime infra`.

    Alertmanager's part sends them to the SNS topic of an environment, whose schedule says how old
    a backup may be.
    """
    from bigtime.model import DesignError
    from bigtime.ops import alertmanager_example, environments_of, prometheus_rules

    declared = system_named(system)
    try:
        named = declared.environment(environment) if environment else None
    except DesignError as error:
        refuse(f"{error}.", code=2)
    if form is Format.prometheus:
        typer.echo(prometheus_rules(declared, named), nl=False)
        return
    typer.echo(alertmanager_example(named or environments_of(declared)[0]), nl=False)
