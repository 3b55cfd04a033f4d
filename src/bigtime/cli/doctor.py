"""`bigtime doctor`: checks the versions, the system and a data file.

It only reads: the file is opened read-only, no lock of the engine's is taken, and a read that holds
the log back ends after a few seconds, so it can be run beside an engine.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Literal

import apsw
import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

import bigtime
from bigtime.cli.engine import DEFAULT_DATA
from bigtime.cli.packages import engines

WAL_RESET_BUG = (3, 7, 0), (3, 51, 3)  # in versions from the first up to, not including, the second
WAL_ALARM = 64 * 1024 * 1024
SECONDS_TO_CHECK = 5.0
PLAIN = (
    "none: whoever can read the file can read the items. For encryption at rest put it on an "
    "encrypted volume (LUKS, FileVault, BitLocker, an encrypted EBS volume)"
)
MARKS = {"ok": "[green]ok[/green]", "look": "[yellow]look[/yellow]", "wrong": "[red]wrong[/red]"}


@dataclass(frozen=True, slots=True)
class Finding:
    subject: str
    seen: str
    state: Literal["ok", "look", "wrong"] = "ok"


def doctor(
    data: Annotated[
        Path | None,
        typer.Option(
            "--data",
            metavar="PATH",
            help=f"The file to examine.  \\[default: {DEFAULT_DATA}, if it is there]",
        ),
    ] = None,
    full: Annotated[
        bool,
        typer.Option(
            "--full",
            help="Check the whole file, however long it takes; a running engine's log grows "
            "meanwhile.",
        ),
    ] = False,
) -> None:
    """Examine the installation and a data file; the exit code is 1 if something is wrong."""
    findings = list(installation())
    if data is not None or DEFAULT_DATA.exists():
        findings += file_findings(data or DEFAULT_DATA, None if full else SECONDS_TO_CHECK)
    show(findings)
    if any(finding.state == "wrong" for finding in findings):
        raise typer.Exit(1)


def show(findings: list[Finding]) -> None:
    table = Table("", "what", "found", box=None, pad_edge=False)
    for finding in findings:
        table.add_row(MARKS[finding.state], finding.subject, escape(finding.seen))
    Console(highlight=False).print(table)


def installation() -> Iterator[Finding]:
    yield Finding("Bigtime", bigtime.__version__)
    yield Finding("Python", platform.python_version())
    yield Finding("apsw", version("apsw"))
    yield sqlite(apsw.sqlite_lib_version())
    yield Finding("boto3", version("boto3"))


def sqlite(release: str) -> Finding:
    began, fixed = WAL_RESET_BUG
    if began <= tuple(map(int, release.split("."))) < fixed:
        advice = "has the WAL-reset bug; the engine's writer lock avoids it, but upgrade apsw"
        return Finding("SQLite", f"{release}, {advice}", "look")
    return Finding("SQLite", f"{release}, without the WAL-reset bug")


def file_findings(path: Path, seconds: float | None) -> Iterator[Finding]:
    try:
        if not path.is_file():
            yield Finding("file", f"{path} is not there", "wrong")
            return
        yield privacy(path)
        yield wal(path)
        yield from contents(path, seconds)
    except OSError as error:
        yield Finding("file", f"{path} cannot be looked at: {error.strerror}", "wrong")
    except apsw.NotADBError:
        yield Finding("format", "not a database", "wrong")
    except apsw.Error as error:
        yield Finding("file", f"cannot be read: {error}", "wrong")


def privacy(path: Path) -> Finding:
    size = f"{path}, {megabytes(path.stat().st_size)}"
    if path.stat().st_mode & 0o077:
        return Finding("file", f"{size}, open to other users: chmod 600 {path}", "look")
    return Finding("file", size)


def wal(path: Path) -> Finding:
    size = engines.log_bytes(path.with_name(path.name + "-wal"))
    if size > WAL_ALARM:
        return Finding("WAL", f"{megabytes(size)}: a reader holds it open too long", "look")
    return Finding("WAL", megabytes(size))


def contents(path: Path, seconds: float | None) -> Iterator[Finding]:
    connection = apsw.Connection(
        str(path), flags=apsw.SQLITE_OPEN_READONLY, vfs=engines.checksum_vfs()
    )
    try:
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        connection.set_busy_timeout(1_000)
        yield layout(connection)
        yield pages(connection)
        yield checksums(connection)
        yield Finding("encryption", PLAIN)
        yield integrity(connection, seconds)
    finally:
        connection.close()


def layout(connection: apsw.Connection) -> Finding:
    number = connection.pragma("user_version")
    if connection.pragma("application_id") != engines.APPLICATION_ID:
        return Finding("format", "another program's database", "wrong")
    if number > engines.FORMAT:
        return Finding(
            "format", f"{number}, of a later Bigtime: this one knows {engines.FORMAT}", "wrong"
        )
    if number < 1:
        return Finding("format", f"{number}, which no Bigtime writes", "wrong")
    return Finding("format", str(number))


def pages(connection: apsw.Connection) -> Finding:
    count, free, size = (
        connection.pragma(name) for name in ("page_count", "freelist_count", "page_size")
    )
    return Finding("pages", f"{count:,} of {size:,} bytes, {free:,} of them free")


def checksums(connection: apsw.Connection) -> Finding:
    if str(connection.pragma("checksum_verification")) == "1":
        return Finding("checksums", "on every page")
    if engines.checksum_vfs() is None:
        return Finding("checksums", "none: this apsw lacks SQLite's cksumvfs", "look")
    return Finding("checksums", "none: `bigtime engine compact` adds them", "look")


def integrity(connection: apsw.Connection, seconds: float | None) -> Finding:
    if seconds is not None:
        deadline = time.monotonic() + seconds
        connection.set_progress_handler(lambda: time.monotonic() > deadline, 1_000)
    try:
        faults = [row[0] for row in connection.execute("PRAGMA integrity_check(5)")]
    except apsw.InterruptError:
        return Finding("integrity", f"nothing wrong in {seconds:g} s; --full checks all", "look")
    if faults != ["ok"]:
        return Finding("integrity", "; ".join(map(str, faults)), "wrong")
    return Finding("integrity", "ok")


def megabytes(size: int) -> str:
    return f"{size / 1024 / 1024:,.1f} MB"
