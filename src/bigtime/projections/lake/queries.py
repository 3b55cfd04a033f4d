"""Running SQL over a lake: in a separate process, with limits on memory and time.

`bigtime analytics` and the site's pages both use it. The process gets only the few environment
variables of `confinement.KEPT`, and so none of this process's secrets.
"""

from __future__ import annotations

import math
import signal
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import orjson

from bigtime.confinement import run_confined
from bigtime.extras import extra
from bigtime.model import Lake
from bigtime.projections.lake.places import FolderPlace, LakeFault, Place
from bigtime.projections.lake.sql_text import quote_name, text_literal
from bigtime.projections.lake.views import changes_name, create_views

SANDBOX: Final = "bigtime.projections.lake.sandbox"


class QueryFailed(Exception):
    """DuckDB's error for a query, in one line."""

    @property
    def is_of_limits(self) -> bool:
        """Whether the query exceeded the limit on time or memory."""
        return str(self).startswith(("Interrupt Error", "Out of Memory Error"))


@dataclass(frozen=True, slots=True)
class Query:
    """A statement. `is_own` marks statements of this program, which are not checked."""

    sql: str
    params: Mapping[str, Any] = field(default_factory=dict)
    is_own: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """Columns with their SQL types, and rows, in which decimals and times are strings."""

    columns: tuple[tuple[str, str], ...]
    rows: list[list[Any]]
    is_cut: bool = False
    """Whether there were more rows than the limit."""

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.columns]

    def records(self) -> list[dict[str, Any]]:
        return [dict(zip(self.names, row, strict=True)) for row in self.rows]


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on queries. `memory_megabytes` is DuckDB's limit; the process may use more."""

    seconds: float = 30.0
    memory_megabytes: int = 1024
    most_rows: int = 100_000
    overhead_megabytes: int = field(default=2048, repr=False)


LIMITS: Final = Limits()


def table_names(lakes: Iterable[Lake]) -> list[str]:
    return [name for lake in lakes for name in (lake.name, changes_name(lake))]


def run_query(place: Place, lakes: Iterable[Lake], sql: str, limits: Limits = LIMITS) -> Result:
    """Runs a user's statement."""
    return run_queries(place, lakes, [Query(sql)], limits)[0]


def run_queries(
    place: Place, lakes: Iterable[Lake], queries: Sequence[Query], limits: Limits = LIMITS
) -> list[Result]:
    """Runs statements in order on one snapshot of the lake; raises QueryFailed."""
    with extra("analytics"):
        import duckdb  # noqa: F401 - if it is missing, say so here and not in the other process
    if not isinstance(place, FolderPlace):
        raise LakeFault(
            f"{place.where} is asked through Athena: `bigtime analytics ddl` makes its tables."
        )
    if not place.folder.is_dir():
        raise LakeFault(
            f"There is no lake at {place.where}: the worker of `bigtime serve` writes it, or"
            " `bigtime analytics rebuild`."
        )
    lakes = list(lakes)
    tables = table_names(lakes)
    work = {
        "folder": str(place.folder.absolute()),
        "views": create_views(place, lakes),
        "queries": [
            {
                "sql": query.sql,
                "params": dict(query.params),
                "is_own": query.is_own,
                "tables": tables,
            }
            for query in queries
        ],
        "memory": f"{limits.memory_megabytes}MB",
        "memory_bytes": (limits.memory_megabytes + limits.overhead_megabytes) * 2**20,
        # One thread is stopped by the timeout before it uses this much: a second line of defence.
        "cpu_seconds": 2 * math.ceil(limits.seconds) + 1,
        "most_rows": limits.most_rows,
    }
    answers = run_sandbox(work, limits)
    for found in answers:
        if "error" in found:
            raise QueryFailed(found["error"])
    if len(answers) < len(queries):
        raise QueryFailed("Out of Memory Error: the query takes more memory than it may")
    return [
        Result(
            tuple((name, kind) for name, kind in found["columns"]), found["rows"], found["is_cut"]
        )
        for found in answers
    ]


def run_sandbox(work: dict[str, Any], limits: Limits) -> list[dict[str, Any]]:
    try:
        process = run_confined(SANDBOX, orjson.dumps(work), seconds=limits.seconds)
    except subprocess.TimeoutExpired:
        raise QueryFailed(
            f"Interrupt Error: the query takes longer than {limits.seconds:g} seconds"
        ) from None
    out = process.stdout
    if process.returncode in (-signal.SIGXCPU, -signal.SIGKILL) and not out:
        raise QueryFailed("Interrupt Error: the query takes more time or memory than it may")
    if process.returncode == 1 and not out:  # an error of the process, not of a query
        raise LakeFault(process.stderr.decode(errors="replace").strip().rpartition("\n")[2])
    return [orjson.loads(line) for line in out.splitlines() if line.strip()]


# --- A table or a report as one file ----------------------------------------------------------
# The statement is this program's own, so it runs in this process: the file may have any size.

OPTIONS: Final = {
    "parquet": "FORMAT parquet",
    "csv": "FORMAT csv, HEADER",
    "json": "FORMAT json",
}


def export_file(
    place: Place,
    lakes: Iterable[Lake],
    source: str,
    params: Mapping[str, Any],
    out: Path,
    format: str,
) -> int:
    """Writes a table, or the result of a query with parameters; returns the number of rows."""
    with extra("analytics"):
        import duckdb
    lakes = list(lakes)
    if not isinstance(place, FolderPlace):
        raise LakeFault(f"{place.where} is asked through Athena, or copied with `aws s3 sync`.")
    tables = table_names(lakes)
    if not params and source not in tables:
        raise LakeFault(f"There is no table or report {source!r}; tables: {', '.join(tables)}.")
    query = source if params else f"SELECT * FROM {quote_name(source)}"
    for name, value in params.items():  # COPY does not accept parameters
        query = query.replace(f"${name}", text_literal(str(value)))
    draft = out.with_name(f".{out.name}.part")
    with tempfile.TemporaryDirectory(prefix="bigtime-export-") as folder:
        connection = duckdb.connect(":memory:", config={"temp_directory": folder})
        try:
            for view in create_views(place, lakes):
                connection.execute(view)
            target = f"TO {text_literal(str(draft))} ({OPTIONS[format]})"
            row = connection.execute(f"COPY ({query}) {target}").fetchone()
            draft.replace(out)
        except duckdb.Error as error:
            raise QueryFailed(" ".join(str(error).split())) from error
        finally:
            draft.unlink(missing_ok=True)
            connection.close()
    return int(row[0]) if row else 0
