"""`bigtime audit`: the portal's audit log, proved."""

from __future__ import annotations

import typer
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from bigtime.cli.tables import StoreSetting, open_database

audit = typer.Typer(
    name="audit", help="The portal's audit log: prove that nobody changed it.", no_args_is_help=True
)


@audit.command()
def verify(store: StoreSetting = None) -> None:
    """Check every record of the portal against its chain of entries; exit code 1 if one breaks."""
    from bigtime.cli.results import failures_as_sentences
    from bigtime.systems.portal import Place, verify_chains

    screen = Console(highlight=False, markup=False)
    items = faults = 0
    with (
        open_database(store) as database,
        failures_as_sentences("portal", store),
        progress(screen) as bar,
    ):
        task = bar.add_task("", items=0)
        place: Place | None = Place()
        while place is not None:
            page = database.run(verify_chains(place))
            for broken in page.broken:
                screen.print(f"broken  {broken}", soft_wrap=True)
            items += page.items
            faults += len(page.broken)
            bar.update(task, items=items)
            place = page.next
    if faults:
        screen.print(f"{faults:,} broken, among {items:,} items")
        raise typer.Exit(1)
    screen.print(f"nothing is broken, among {items:,} items")


def progress(screen: Console) -> Progress:
    looked_at = TextColumn("{task.fields[items]:,} items looked at")
    return Progress(
        SpinnerColumn(),
        looked_at,
        TimeElapsedColumn(),
        console=screen,
        transient=True,
        disable=not screen.is_terminal,
    )
