"""`bigtime check`: are all access patterns answered as charted, and will the design grow well?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape

from bigtime.cli.systems import all_systems, system_named

if TYPE_CHECKING:
    from bigtime.advisor import Finding
    from bigtime.model import System


def check(
    system: Annotated[
        str | None,
        typer.Argument(
            metavar="[SYSTEM]",
            help="One of Bigtime's systems by its name, or your own as package.module:ATTRIBUTE."
            "  \\[default: all of Bigtime's]",
        ),
    ] = None,
) -> None:
    """Run every pattern dry, and examine the design; the exit code is 1 if something is found."""
    from bigtime.advisor import check_system

    chosen = all_systems() if system is None else [system_named(system)]
    is_wrong = False
    for one in chosen:
        findings = check_system(one)
        show_findings(one, findings)
        is_wrong = is_wrong or any(finding.accepted is None for finding in findings)
    if is_wrong:
        raise typer.Exit(1)


def show_findings(system: System, findings: list[Finding]) -> None:
    screen = Console(highlight=False)
    accepted = sum(finding.accepted is not None for finding in findings)
    screen.print(
        f"[bold]{escape(system.name)}[/bold]: {len(system.patterns)} patterns,"
        f" {len(system.entities)} entities, {len(findings) - accepted} found, {accepted} accepted",
        soft_wrap=True,
    )
    for finding in sorted(findings, key=lambda one: one.accepted is not None):
        screen.print(finding_line(finding), soft_wrap=True)


def finding_line(finding: Finding) -> str:
    key = escape(finding.key)
    if finding.accepted is not None:
        return f"[green]accepted[/green]  {key}: {escape(finding.accepted)}"
    return f"[red]found[/red]     {key}: {escape(f'{finding.sentence}; {finding.remedy}')}"
