"""`bigtime audit`: the portal's audit log, checked against itself and against an anchor.

An anchor is a file with the heads of all chains, one line of JSON each, and a signature: the
HMAC-SHA256, under BIGTIME_AUDIT_KEY, of every byte before its line. So a file that was changed,
truncated or made with another key is rejected.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from bigtime.cli.packages import formats, portal, stores
from bigtime.cli.results import failures_as_sentences
from bigtime.cli.screen import plain_screen, refuse, refuse_on
from bigtime.cli.tables import StoreSetting, open_database

BATCH = 100
KEY_CHARACTERS = 32
KIND = "bigtime audit anchor 1"

audit = typer.Typer(name="audit", help="Verify the portal's audit log: find tampering.")

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
    secret = checked_key(key)
    made_at = datetime.now(UTC).isoformat(timespec="seconds")
    with open_database(store, portal.SYSTEM) as database, failures_as_sentences("portal", store):
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
        typer.Option("--anchor", metavar="FILE", help="Also compare the log with this anchor."),
    ] = None,
    key: AuditKey = None,
) -> None:
    """Check every record of the portal against its chain of entries; exit code 1 if one breaks."""
    screen = plain_screen()
    items = faults = 0
    with (
        open_database(store, portal.SYSTEM) as database,
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
    if key is None or len(key) < KEY_CHARACTERS:
        refuse(
            f"Anchors are signed: set BIGTIME_AUDIT_KEY to a secret of at least {KEY_CHARACTERS}"
            " characters, and keep it where the store's writers cannot read it.",
            code=2,
        )
    return key


def broken_in_chains(database: stores.Store) -> Iterator[tuple[list[portal.Broken], int]]:
    """Yields what is wrong with each page of records, and how many records it had."""
    place: portal.Place | None = portal.Place()
    while place is not None:
        page = database.run(portal.verify_chains(place))
        yield page.broken, page.items
        place = page.next


def broken_since(
    database: stores.Store, path: Path, key: str
) -> Iterator[tuple[list[portal.Broken], int]]:
    """Yields what is wrong with each batch of anchored chains, and how many chains it had."""
    heads = read_anchor(path, key)
    with refuse_on(UnusableAnchor, code=2):
        while batch := list(islice(heads, BATCH)):
            yield database.run(portal.compare_heads(batch)), len(batch)


def heads_of(database: stores.Store) -> Iterator[portal.Head]:
    """The last entry of every chain; a chain may span two pages."""
    last = None
    current: portal.Head | None = None
    while True:
        page = database.run(portal.read_heads(last))
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


# The anchor


class UnusableAnchor(Exception):
    """The file is not an anchor, or not one signed with this key."""


def write_anchor(path: Path, key: str, made_at: str, heads: Iterable[portal.Head]) -> int:
    """Writes the whole file or nothing; returns how many chains it has."""
    signature = hmac.new(key.encode(), digestmod="sha256")
    chains = 0
    with formats.whole_file(path) as draft, draft.open("wb") as file:
        for line in ({"kind": KIND, "madeAt": made_at}, *map(asdict, heads)):
            text = json.dumps(line).encode() + b"\n"
            signature.update(text)
            file.write(text)
            chains += "chain" in line
        file.write(json.dumps({"signature": signature.hexdigest()}).encode() + b"\n")
    return chains


def read_anchor(path: Path, key: str) -> Iterator[portal.Head]:
    """The heads in the file; its signature is checked before the first is yielded."""
    try:
        check_signature(path, key)
    except OSError as error:
        raise UnusableAnchor(f"{path} cannot be read: {error.strerror}.") from error
    except (ValueError, KeyError, TypeError) as error:
        raise UnusableAnchor(f"{path} was cut short, or is no anchor: no signature.") from error
    with path.open("rb") as file:
        for line in file:
            content = json.loads(line)
            if "chain" in content:
                yield portal.Head(**content)


def check_signature(path: Path, key: str) -> None:
    signature = hmac.new(key.encode(), digestmod="sha256")
    before = b""
    with path.open("rb") as file:
        for line in file:
            signature.update(before)
            before = line
    claimed = json.loads(before)["signature"]
    if not hmac.compare_digest(str(claimed).encode(), signature.hexdigest().encode()):
        raise UnusableAnchor(
            f"{path} was changed since it was written, or signed with another BIGTIME_AUDIT_KEY."
        )
