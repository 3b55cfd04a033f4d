"""`bigtime analytics`: SQL and named reports over the Parquet files of the lake."""

from __future__ import annotations

import csv
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import typer
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

from bigtime.cli.import_export import Force, check_free
from bigtime.cli.packages import lakes, site, stores
from bigtime.cli.results import cell, failures_as_sentences
from bigtime.cli.screen import refuse, refuse_file_errors, refuse_on, screen_for_tables
from bigtime.cli.tables import StoreSetting, open_database
from bigtime.extras import MissingExtra

analytics = typer.Typer(name="analytics", help="SQL and reports on the files of the lake.")

NUMBERS = ("BIGINT", "INTEGER", "DECIMAL", "DOUBLE", "HUGEINT", "FLOAT", "SMALLINT", "UBIGINT")
DAYS = 30


OutputFormat: TypeAlias = Literal["table", "csv", "json"]


class FileFormat(StrEnum):
    parquet = "parquet"
    csv = "csv"
    json = "json"


LakeSetting = Annotated[
    str | None,
    typer.Option(
        "--lake",
        metavar="PLACE",
        help="The lake: a folder, or s3://bucket/prefix.  \\[default: BIGTIME_LAKE, or data/lake]",
    ),
]
RowsFormat = Annotated[OutputFormat, typer.Option("--format", help="How the rows are shown.")]
Since = Annotated[
    str | None,
    typer.Option("--since", metavar="DAY", help="The first day.  \\[default: 30 days ago]"),
]
Until = Annotated[
    str | None, typer.Option("--until", metavar="DAY", help="The last day.  \\[default: today]")
]
Seconds = Annotated[
    float, typer.Option("--seconds", min=0.1, max=3600, help="The time limit of a query.")
]
Memory = Annotated[
    int, typer.Option("--memory", min=64, max=1_000_000, help="The memory limit, in MB.")
]


@analytics.command()
def sql(
    statement: Annotated[str, typer.Argument(metavar="SQL", help="A SELECT statement.")],
    lake: LakeSetting = None,
    format: RowsFormat = "table",
    seconds: Seconds = 30.0,
    memory: Memory = 1024,
) -> None:
    """Run a SELECT over the lake: each entity is a table, and <table>_changes its history.

    It runs in a separate process that can read only the lake, and writes nothing.
    """
    with lake_faults_as_sentences():
        found = lakes.run_query(
            lake_place(lake), site.LAKES, statement, lakes.Limits(seconds, memory)
        )
    show_result(found, format)


@analytics.command()
def report(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="The report; without it, lists them all.")
    ] = None,
    since: Since = None,
    until: Until = None,
    lake: LakeSetting = None,
    format: RowsFormat = "table",
    seconds: Seconds = 30.0,
) -> None:
    """Show a named report over some days; without a name, list the reports."""
    if name is None:
        show_table(
            ["report", "what it shows"], [[r.name, r.description] for r in site.REPORTS.values()]
        )
        return
    found = site.REPORTS.get(name)
    if found is None:
        refuse(f"There is no report {name!r}; there are: {', '.join(site.REPORTS)}.", code=2)
    first, last = days_of(since, until)
    query = lakes.Query(found.sql, found.params(first, last), is_own=True)
    with lake_faults_as_sentences():
        place = lake_place(lake)
        (result,) = lakes.run_queries(place, site.LAKES, [query], lakes.Limits(seconds))
        if format == "table":
            typer.echo(f"{found.title}, {first} to {last}")
        show_result(result, format)
        tell_gaps(place)


@analytics.command()
def export(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="A table, such as orders_changes, or a report.")
    ],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="Where to write it.")],
    format: Annotated[
        FileFormat | None,
        typer.Option("--format", help="The format of the file.  \\[default: by its name]"),
    ] = None,
    since: Since = None,
    until: Until = None,
    lake: LakeSetting = None,
    force: Force = False,
) -> None:
    """Write a table or a report to one Parquet, CSV or JSON file; --since and --until are of
    reports."""
    chosen = format or format_of(out)
    check_free(out, force=force)
    first, last = days_of(since, until)
    known = site.REPORTS.get(name)
    with lake_faults_as_sentences():
        params = known.params(first, last) if known else {}
        rows = lakes.export_file(
            lake_place(lake), site.LAKES, known.sql if known else name, params, out, chosen.value
        )
    typer.echo(f"{rows:,} rows were written to {out}.")


@analytics.command()
def status(lake: LakeSetting = None) -> None:
    """Show what the lake has of each table, how recent it is, and gaps in its history."""
    with lake_faults_as_sentences():
        place = lake_place(lake)
        found = lakes.lake_status(place, site.LAKES)
    if not found:
        refuse(
            f"There is no lake at {place.where}: the worker of `bigtime serve` writes it, or"
            " `bigtime analytics rebuild`."
        )
    rows = [
        [
            each.table,
            f"{each.changes:,}",
            f"{each.items:,}" if each.items is not None else "being made",
            each.files,
            f"{each.bytes / 1e6:,.1f}",
            minutes(each.since),
            minutes(each.last_change_at),
        ]
        for each in found
    ]
    show_table(["table", "changes", "items", "files", "MB", "since", "last change"], rows)
    tell_gaps(place)


@analytics.command()
def rebuild(lake: LakeSetting = None, store: StoreSetting = None) -> None:
    """Bring the lake up to date with the streams, and rebuild the current state from scans.

    If a worker is running, the worker does it, within seconds.
    """
    with lake_faults_as_sentences():
        place = lake_place(lake)
        with lakes.ownership(place) as is_owner:
            if not is_owner:
                place.write(lakes.REQUEST, b"{}")
                typer.echo("The worker writes this lake: it rebuilds current state in a moment.")
                return
            with (
                open_database(store, site.SITE) as database,
                failures_as_sentences("site", store),
                checked_writer(database, place) as writer,
                Progress() as progress,
            ):
                changes = writer.drain()
                items = 0
                for table in writer.tables:
                    task = progress.add_task(table.table.name, total=None)
                    items += lakes.rebuild_current(table, tell=partial(progress.advance, task))
                    lakes.compact(table, database.clock())
                    progress.update(task, total=1, completed=1)
    typer.echo(f"{changes:,} new changes, and {items:,} items from scans, are in {place.where}.")


def checked_writer(database: stores.Store, place: lakes.Place) -> lakes.LakeWriter:
    """The writer of a lake without damaged files; opening it repairs what is missing."""
    with suppress(lakes.FilesLost), lakes.LakeWriter(database, site.LAKES, place) as writer:
        writer.check_files(is_wanted=True)
    return lakes.LakeWriter(database, site.LAKES, place)


@analytics.command()
def ddl(
    location: Annotated[
        str,
        typer.Option("--location", metavar="S3", help="Where the lake is: s3://bucket/prefix."),
    ],
    database: Annotated[
        str, typer.Option("--database", metavar="NAME", help="The database of Glue.")
    ] = "bigtime",
) -> None:
    """Print the DDL of the lake's tables for Glue and Athena."""
    if not location.startswith("s3://"):
        refuse("Athena reads S3: name the lake as s3://bucket/prefix.", code=2)
    typer.echo(lakes.athena_ddl(site.LAKES, location, database), nl=False)


# Arguments


def lake_place(setting: str | None) -> lakes.Place:
    """The lake in the setting, else in BIGTIME_LAKE, else `lake` in BIGTIME_DATA."""
    named = setting or os.environ.get("BIGTIME_LAKE")
    return lakes.place_at(named or str(Path(os.environ.get("BIGTIME_DATA") or "data") / "lake"))


def days_of(since: str | None, until: str | None) -> tuple[date, date]:
    last = day_of(until) if until else datetime.now(UTC).date()
    first = day_of(since) if since else last - min(timedelta(days=DAYS - 1), last - date.min)
    if first > last:
        refuse(f"{first} comes after {last}: give an earlier --since.", code=2)
    return first, last


def day_of(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        refuse(f"{text} is no day: write it as 2026-11-16.", code=2)


def format_of(out: Path) -> FileFormat:
    try:
        return FileFormat(out.suffix.lower().removeprefix("."))
    except ValueError:
        refuse(f"The name of {out} tells no format: end it in .parquet, .csv or .json.", code=2)


@contextmanager
def lake_faults_as_sentences() -> Iterator[None]:
    with (
        refuse_on(lakes.LakeFault, lakes.QueryFailed, MissingExtra),
        refuse_file_errors("The lake"),
    ):
        yield


# Output


def show_result(result: lakes.Result, format: OutputFormat) -> None:
    if format == "json":
        typer.echo(json.dumps(result.records(), indent=2, ensure_ascii=False))
    elif format == "csv":
        writer = csv.writer(sys.stdout)
        writer.writerow(result.names)
        writer.writerows(result.rows)
    else:
        numbers = {name for name, kind in result.columns if kind.startswith(NUMBERS)}
        show_table(result.names, result.rows, numbers)
        rows = len(result.rows)
        typer.echo(f"{rows:,} row{'' if rows == 1 else 's'}" + (", and more" * result.is_cut))


def show_table(names: list[str], rows: list[list[Any]], numbers: set[str] | None = None) -> None:
    table = Table(box=None, pad_edge=False)
    for name in names:
        table.add_column(name, justify="right" if name in (numbers or ()) else "left")
    for row in rows:
        table.add_row(*(Text(cell(value), overflow="fold") for value in row))
    screen_for_tables().print(table)


def minutes(moment: datetime | None) -> str:
    return f"{moment:%Y-%m-%d %H:%M}" if moment else ""


def tell_gaps(place: lakes.Place) -> None:
    for table, gap in lakes.open_gaps(lakes.lake_status(place, site.LAKES)):
        typer.echo(
            f"History of {table} has a gap: changes after {gap.after or 'its beginning'} and"
            f" before {gap.before} are missing ({gap.reason}).",
            err=True,
        )
