"""`bigtime chart`: the charts of a system, as Markdown."""

from __future__ import annotations

import typer

from bigtime.cli.systems import SystemName, system_named


def chart(system: SystemName) -> None:
    """Print a system's entity, index and access-pattern charts as Markdown."""
    from bigtime.advisor import chart as charted

    typer.echo(charted(system_named(system)), nl=False)
