"""`bigtime failover`, `failback` and `replica`: which region writes a system's tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Annotated

import typer
from rich.table import Table

from bigtime.cli.packages import ops, stores
from bigtime.cli.screen import refuse, refuse_on, say, screen_for_tables, tell
from bigtime.cli.systems import SystemName, in_environment, system_named
from bigtime.cli.tables import StoreSetting, store_sentences

replica = typer.Typer(name="replica", help="The status of a system's replicas, and what differs.")

EnvironmentOfRegions = Annotated[
    str,
    typer.Option(
        "--environment",
        metavar="NAME",
        envvar="BIGTIME_ENVIRONMENT",
        help="The environment; it must have a replica.",
    ),
]
AcceptDifferences = Annotated[
    bool,
    typer.Option(
        "--accept-differences", help="Continue even if items differ: the last writer wins."
    ),
]


def failover(
    system: SystemName,
    environment: EnvironmentOfRegions,
    to: Annotated[
        str | None,
        typer.Option(
            "--to", metavar="REGION", help="The new writer.  \\[default: the replica's region]"
        ),
    ] = None,
    fence: Annotated[
        bool,
        typer.Option("--fence", help="Make the old region's processes stop writing first."),
    ] = False,
    stopped: Annotated[
        str | None,
        typer.Option(
            "--stopped",
            metavar="REGION",
            help="The old region, to confirm that its processes are stopped.",
        ),
    ] = None,
    accept_differences: AcceptDifferences = False,
    store: StoreSetting = None,
) -> None:
    """Let another region write, and verify its items; the exit code is 1 if something is wrong.

    Run it again to continue after an interruption.
    """
    if fence and stopped is not None:
        refuse(
            "Say --fence if the old region answers, or --stopped REGION if it is lost: not both.",
            code=2,
        )
    with open_regions(system, environment, store, without=stopped) as regions:
        wanted = to or regions.environment.dr_region or ""
        tell(regions.switch(wanted, fence=fence, stopped=stopped, accept=accept_differences))
        verify_items(regions, wanted)


def failback(
    system: SystemName,
    environment: EnvironmentOfRegions,
    accept_differences: AcceptDifferences = False,
    store: StoreSetting = None,
) -> None:
    """Let the environment's own region write again, once both regions have the same items.

    Run it again to continue after an interruption.
    """
    with open_regions(system, environment, store) as regions:
        home = regions.environment.region
        tell(regions.switch(home, fence=True, accept=accept_differences))
        verify_items(regions, home)


@replica.command()
def status(
    system: SystemName, environment: EnvironmentOfRegions, store: StoreSetting = None
) -> None:
    """Show which region writes, each replica, and how long a write takes to the other region."""
    with open_regions(system, environment, store) as regions:
        writer = regions.writer()
        begun = writer if writer.epoch else f"{writer.region} (no epoch has begun)"
        say(f"the writer is {begun}")
        known = regions.writers()
        tell(
            f"{region} knows epoch {seen.epoch if seen else 0}"
            for region, seen in known.items()
            if (seen.epoch if seen else 0) != writer.epoch
        )
        sheet = Table("table", *regions.environment.regions, box=None, pad_edge=False)
        states = regions.states()
        for name, cells in states.items():
            sheet.add_row(name, *cells)
        screen_for_tables().print(sheet)
        if writer.epoch and writer.region != stores.NOBODY and len(known) == 2:
            other = regions.other(writer.region)
            lag = regions.lag_seconds(writer.region, other)
            took = "has not arrived in 10 s" if lag is None else f"took {1000 * lag:,.0f} ms"
            say(f"a write in {writer.region} {took} to {other}")
        is_well = len(known) == 2 and all({*cells} == {"ACTIVE"} for cells in states.values())
    if not is_well:
        raise typer.Exit(1)


@replica.command()
def compare(
    system: SystemName, environment: EnvironmentOfRegions, store: StoreSetting = None
) -> None:
    """Show item by item what differs, and what both regions wrote; the exit code is 1 if so."""
    with open_regions(system, environment, store) as regions:
        found = show(regions.compare(*regions.environment.regions))
        say(f"{found:,} items differ" if found else "both regions have the same items")
        both = show(regions.written_by_both())
        if both:
            say(f"{both:,} items were written by both regions: what was written last is left")
        writer = regions.writer().region
        verify_items(regions, writer if writer in regions.stores else regions.environment.region)
    if found or both:
        raise typer.Exit(1)


def show(differences: Iterable[ops.Difference]) -> int:
    count = 0
    for count, difference in enumerate(differences, 1):  # noqa: B007
        say(f"{difference.kind:18}  {difference.table}  {difference.item}")
    return count


def verify_items(regions: ops.RegionSwitch, region: str) -> None:
    """Verifies every item in the region that now writes, and the portal's audit log."""
    items, faults = ops.verify_all(regions.stores[region], regions.system)
    tell(f"wrong  {fault}" for fault in faults)
    say(f"{len(faults):,} faults among {items:,} items in {region}")
    if faults:
        raise typer.Exit(1)


@contextmanager
def open_regions(
    system: str, environment: str, store: str | None, *, without: str | None = None
) -> Iterator[ops.RegionSwitch]:
    declared = system_named(system)
    in_environment(declared, environment, store)
    there = declared.environment(environment)
    with store_sentences(), refuse_on(ops.RegionFault):
        if without is not None:
            ops.RegionSwitch(declared, there, {}).check_region(without)
        with ops.open_regions(store, there, without=without) as opened:
            yield ops.RegionSwitch(declared, there, opened)
