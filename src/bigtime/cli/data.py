"""`bigtime data`: dumps the items of tables to files, and loads them from files."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn, TypeAlias

import typer

from bigtime.cli.evolve import Segments, job_sentences, resolved_setting
from bigtime.cli.packages import dumps, formats, loads, ops, stores
from bigtime.cli.results import remedy
from bigtime.cli.screen import progress, refuse, refuse_on, say
from bigtime.cli.systems import system_named
from bigtime.cli.tables import StoreSetting, open_database

FileFormat: TypeAlias = Literal["dynamodb-json", "json-lines", "csv"]

BAD_LINES_SHOWN = 5
KINDS: dict[str, formats.Kind] = {
    "dynamodb-json": "DYNAMODB_JSON",
    "json-lines": "JSON_LINES",
    "csv": "CSV",
}
DELIMITERS = {"tab": "\t", "\\t": "\t"}

data = typer.Typer(name="data", help="Dump the items of tables to files, and load them.")

Tables = Annotated[
    list[str] | None,
    typer.Option("--table", metavar="NAME", help="This table; may be repeated."),
]


@data.command()
def dump(
    folder: Annotated[
        Path, typer.Argument(help="The folder to write to: each table gets a folder in it.")
    ],
    system: Annotated[
        str | None,
        typer.Option("--system", metavar="SYSTEM", help="All tables of this system."),
    ] = None,
    table: Tables = None,
    format: Annotated[
        FileFormat,
        typer.Option(
            "--format",
            help="dynamodb-json: AWS's export format. json-lines: plain JSON. csv: for "
            "spreadsheets.",
        ),
    ] = "dynamodb-json",
    plain: Annotated[bool, typer.Option("--plain", help="Do not compress with gzip.")] = False,
    segments: Segments = 4,
    columns: Annotated[
        str | None,
        typer.Option(
            "--columns",
            metavar="NAMES",
            help="The columns of a CSV file, separated by commas.  \\[default: all attributes,"
            " found by reading the table once more]",
        ),
    ] = None,
    consistent: Annotated[
        bool, typer.Option("--consistent", help="Consistent reads: twice the price on AWS.")
    ] = False,
    store: StoreSetting = None,
) -> None:
    """Write the items of tables to files; run it again to continue after an interruption."""
    if plain and format == "dynamodb-json":
        refuse("An export is always gzip: leave --plain out, or choose another --format.", code=2)
    names = wanted_tables(system, table)
    systems = [] if system is None else [system_named(system)]
    with open_database(store, *systems, makes=False) as database, sentences():
        for name in names:
            described = describe(database, name, system, store)
            job = dumps.begin_dump(
                folder / name,
                described,
                format=format,
                compress=not plain,
                consistent=consistent,
                segments=segments,
                columns=columns.split(",") if columns else [],
            )
            run_dump(database, job)


@data.command()
def load(
    path: Annotated[
        Path,
        typer.Argument(help="A file, a folder of files, a DynamoDB export, or a dump."),
    ],
    table: Annotated[
        str | None,
        typer.Option("--table", metavar="NAME", help="The table.  \\[default: as it was dumped]"),
    ] = None,
    format: Annotated[
        FileFormat | None,
        typer.Option("--format", help="How the files are written.  \\[default: by their names]"),
    ] = None,
    delimiter: Annotated[
        str,
        typer.Option("--delimiter", help="What separates the values of a CSV file; tab for a tab."),
    ] = ",",
    header: Annotated[
        str | None,
        typer.Option(
            "--header",
            metavar="NAMES",
            help="The columns of a CSV file whose first line is an item, separated by commas.",
        ),
    ] = None,
    type: Annotated[
        list[str] | None,
        typer.Option(
            "--type",
            metavar="NAME=TYPE",
            help="The type of a CSV column that is not a string: N, B, BOOL, NULL, SS, NS, BS, L"
            " or M.",
        ),
    ] = None,
    writers: Annotated[
        int, typer.Option("--writers", min=1, max=64, help="How many batches run at once.")
    ] = 4,
    state: Annotated[
        Path | None,
        typer.Option(
            "--state",
            metavar="FILE",
            help="Where to save the progress.  \\[default: beside the loaded files]",
        ),
    ] = None,
    store: StoreSetting = None,
) -> None:
    """Put the items of files into tables; run it again to continue after an interruption.

    The exit code is 1 if a line could not be loaded.
    """
    options = csv_options(delimiter, header, type)
    with sentences():
        sources = loads.find_sources(path, table)  # first, so that a wrong path makes no file
    with open_database(store, makes=False) as database, sentences():
        state_path = state or default_state(path, table, store)
        if not os.access(state_path.absolute().parent, os.W_OK):
            refuse(
                f"{state_path.parent} cannot be written to: say --state FILE, in another folder."
            )

        def format_of(source: loads.Source, key: loads.TableKey) -> formats.Format:
            return file_format(source, key, format, options)

        tables = sorted({source.table for source in sources})
        keys = {name: loads.table_key(database, name) for name in tables}
        ids = {name: key.table_id for name, key in keys.items()}
        with ops.JobState(state_path, {"verb": "load", "tables": ids}) as job_state:
            job = loads.Load(sources, keys, job_state, bad_path(state_path), format_of)
            run_load(database, job, writers)


# --- Dumping ------------------------------------------------------------------------------


def wanted_tables(system: str | None, tables: list[str] | None) -> list[str]:
    if (system is None) == (not tables):
        refuse("Say which tables: --system SYSTEM or --table NAME.", code=2)
    if tables:
        return tables
    assert system is not None
    return [table.name for table in system_named(system).tables]


def describe(
    database: stores.Store, name: str, system: str | None, store: str | None
) -> dict[str, Any]:
    table = database.run(ops.describe_table(name))
    if table is None:
        hint = remedy(system, store) if system else "its name may be another in this store."
        refuse(f"There is no table {name}: {hint}")
    return table


def run_dump(database: stores.Store, job: dumps.Dump) -> None:
    name, began = job.table["TableName"], time.monotonic()
    if job.files:
        typer.echo(f"resuming {name}: {job.seen:,} items are written")
    try:
        with progress() as bar:
            task = bar.add_task(name, total=job.table.get("ItemCount") or None)
            job.run(database, lambda count: bar.update(task, completed=count))
    except KeyboardInterrupt:
        refuse(f"Stopped: {name} is not complete. Run the same command again to continue.")
    seconds = time.monotonic() - began
    typer.echo(
        f"dumped {job.seen:,} items of {name} into {len(job.files):,} files in {seconds:,.0f} s"
    )
    if job.is_csv:
        tell_types(job)


def tell_types(job: dumps.Dump) -> None:
    """Says which CSV columns need a type to be loaded as they were, as the file has none."""
    keys = {key["AttributeName"] for key in job.table["KeySchema"]}
    others = {name: found for name, found in job.types.items() if found != "S"}
    typed = [f"--type {name}={found}" for name, found in others.items() if name not in keys]
    mixed = [option for option in typed if "/" in option]
    if mixed:
        names = ", ".join(option.removeprefix("--type ") for option in mixed)
        typer.echo(f"CSV cannot tell these types apart, and no load brings them back: {names}")
    if len(typed) > len(mixed):
        plain = " ".join(option for option in typed if option not in mixed)
        typer.echo(f"to load the columns as they were: {plain}")


# --- Loading ------------------------------------------------------------------------------


def csv_options(delimiter: str, header: str | None, types: list[str] | None) -> dict[str, Any]:
    mark = DELIMITERS.get(delimiter, delimiter)
    if mark not in set(",;:|\t "):
        refuse("A delimiter is one of , ; : | a space and tab.", code=2)
    named = [text.partition("=") for text in types or ()]
    for name, sign, type in named:
        if not (name and sign and type in "S N B BOOL NULL SS NS BS L M".split()):
            refuse(f"--type {name}{sign}{type} names no type: say --type price=N.", code=2)
    return {
        "delimiter": mark,
        "header": tuple(header.split(",")) if header else (),
        "types": {name: type for name, _, type in named},
    }


def file_format(
    source: loads.Source, key: loads.TableKey, wanted: FileFormat | None, options: dict[str, Any]
) -> formats.Format:
    kind = KINDS[wanted] if wanted else loads.kind_of(source.path)
    if kind is None:
        raise loads.CannotLoad(f"{source.path} does not tell its format: name it with --format.")
    compression = formats.compression_of(source.path)
    if kind != "CSV":
        return formats.Format(kind, compression)
    types = {**options["types"], **key.attributes}
    return formats.Format(
        kind, compression, options["delimiter"], options["header"], types, drops_empty=True
    )


def default_state(path: Path, table: str | None, store: str | None) -> Path:
    """A file beside the loaded ones, a different one for each store."""
    digest = hashlib.sha256(f"{resolved_setting(store)}\0{table}".encode()).hexdigest()[:8]
    name = f"load-{digest}.state.json"
    return path / name if path.is_dir() else path.with_name(f"{path.name}.{name}")


def bad_path(state: Path) -> Path:
    return state.with_name(f"{state.name.removesuffix('.state.json')}.bad.jsonl")


def run_load(database: stores.Store, job: loads.Load, writers: int) -> None:
    began = time.monotonic()
    names = ", ".join(dict.fromkeys(source.table for source in job.sources))
    try:
        with progress() as bar:
            task = bar.add_task(names, total=None)
            job.run(database, writers, lambda count: bar.update(task, completed=count))
    except KeyboardInterrupt:
        refuse(f"Stopped: {job.loaded:,} items are loaded. Run the same command again to continue.")
    seconds = time.monotonic() - began
    typer.echo(f"loaded {job.loaded:,} items into {names} in {seconds:,.0f} s")
    if job.bad:
        refuse_bad_lines(job)


def refuse_bad_lines(job: loads.Load) -> NoReturn:
    with job.bad_path.open("rb") as file:
        for line in islice(file, BAD_LINES_SHOWN):
            entry = json.loads(line)
            say(f"{entry['file']}, line {entry['line']:,}: {entry['fault']}", error=True)
    refuse(
        f"{job.bad:,} lines were not loaded; all are listed in {job.bad_path}. Put them right, and"
        " load the file again: what is there is put once more."
    )


@contextmanager
def sentences() -> Iterator[None]:
    with refuse_on(dumps.CannotDump, loads.CannotLoad, formats.BadFile), job_sentences():
        yield
