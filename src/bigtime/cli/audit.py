"""`bigtime audit`: the portal's audit log, checked against itself and against an anchor."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from bigtime.cli.engine import refuse, refuse_on
from bigtime.cli.tables import StoreSetting, open_database

if TYPE_CHECKING:
    from bigtime.store import Store
    from bigtime.systems.portal import Broken, Head

BATCH = 100

audit = typer.Typer(
    name="audit",
    help="The portal's audit log: find what was changed behind the portal's back.",
    no_args_is_help=True,
)

AuditKey = Annotated[
    str | None,
    typer.Option(
        "--key", envvar="BIGTIME_AUDIT_KEY", help="Signs anchors; at least 32 characters."
    ),
]


@audit.command()
def anchor(
    file: Annotated[Path, typer.Argument(help="Where to write it; keep it outside the store.")],
    store: StoreSetting = None,
    key: AuditKey = None,
) -> None:
    """Write the last hash and the count of every chain into a signed file."""
    from datetime import UTC, datetime

    from bigtime.cli.anchor_file import write_anchor
    from bigtime.cli.results import failures_as_sentences
    from bigtime.systems.portal import SYSTEM

    secret = checked_key(key)
    made_at = datetime.now(UTC).isoformat(timespec="seconds")
    with open_database(store, SYSTEM) as database, failures_as_sentences("portal", store):
        try:
            chains = write_anchor(file, secret, made_at, heads_of(database))
        except OSError as error:
            refuse(f"{file} cannot be written: {error.strerror}.")
    typer.echo(f"{chains:,} chains are anchored in {file}")


@audit.command()
def verify(
    store: StoreSetting = None,
    anchor: Annotated[
        Path | None,
        typer.Option("--anchor", metavar="FILE", help="Also compare with an anchor."),
    ] = None,
    key: AuditKey = None,
) -> None:
    """Check every record of the portal against its chain of entries; exit code 1 if one breaks."""
    from bigtime.cli.results import failures_as_sentences
    from bigtime.systems.portal import SYSTEM

    screen = Console(highlight=False, markup=False)
    items = faults = 0
    with (
        open_database(store, SYSTEM) as database,
        failures_as_sentences("portal", store),
        progress(screen) as bar,
    ):
        task = bar.add_task("", items=0)
        checks = [broken_in_chains(database)]
        if anchor is not None:
            checks.insert(0, broken_since(database, anchor, checked_key(key)))
        for check in checks:
            for broken, looked_at in check:
                for break_ in broken:
                    screen.print(f"broken  {break_}", soft_wrap=True)
                items += looked_at
                faults += len(broken)
                bar.update(task, items=items)
    if faults:
        screen.print(f"{faults:,} broken, among {items:,} items")
        raise typer.Exit(1)
    screen.print(f"nothing is broken, among {items:,} items")


def checked_key(key: str | None) -> str:
    from bigtime.cli.anchor_file import KEY_CHARACTERS

    if key is None or len(key) < KEY_CHARACTERS:
        refuse(
            f"Anchors are signed: set BIGTIME_AUDIT_KEY to a secret of at least {KEY_CHARACTERS}"
            " characters, and keep it where the store's writers cannot read it.",
            code=2,
        )
    return key


def broken_in_chains(database: Store) -> Iterator[tuple[list[Broken], int]]:
    """What is wrong with each page of records, and how many there were."""
    from bigtime.systems.portal import Place, verify_chains

    place: Place | None = Place()
    while place is not None:
        page = database.run(verify_chains(place))
        yield page.broken, page.items
        place = page.next


def broken_since(database: Store, path: Path, key: str) -> Iterator[tuple[list[Broken], int]]:
    """What is wrong with each batch of anchored chains, and how many there were."""
    from bigtime.cli.anchor_file import UnusableAnchor, read_anchor
    from bigtime.systems.portal import compare_heads

    heads = read_anchor(path, key)
    with refuse_on(UnusableAnchor, code=2):
        while batch := list(islice(heads, BATCH)):
            yield database.run(compare_heads(batch)), len(batch)


def heads_of(database: Store) -> Iterator[Head]:
    """The last entry of every chain; a chain may go on from one page to the next."""
    from bigtime.systems.portal import read_heads

    last = None
    current: Head | None = None
    while True:
        page = database.run(read_heads(last))
        for head in page.heads:
            if current is not None and current.chain != head.chain:
                yield current
            current = head
        last = page.next
        if last is None:
            break
    if current is not None:
        yield current


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
