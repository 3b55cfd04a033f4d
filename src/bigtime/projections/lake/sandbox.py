"""The process that runs SQL: `python -m bigtime.projections.lake.sandbox`, its input on stdin.

It reads one JSON object: the folder of the lake, the statements that create its views, the queries,
and limits. It writes a line of JSON for each query: its columns and rows, or its error. Once all
modules are imported and the views are created, it confines itself, and only then runs queries.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import date, datetime, timedelta, tzinfo
from decimal import Decimal
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

import orjson

from bigtime.confinement import confine_to, limit_resources
from bigtime.projections.lake.sql_text import list_literal
from bigtime.projections.lake.statement_check import Refused, check_statement

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

THREADS: Final = 1
"""A second one adds an eighth to a report's CPU time: each thread fills its own hash table."""
PAGE: Final = 1_000
MOST_BYTES: Final = 64 * 2**20
READ_BY_DUCKDB: Final = (
    Path("/proc/self/cgroup"),
    Path("/sys/fs/cgroup"),
    Path("/sys/devices/system/cpu"),
)
"""Files that DuckDB reads to count the processors; if it cannot, it ends the process."""


def connect(folder: Path, views: list[str], memory: str) -> DuckDBPyConnection:
    """A connection that has the views and can reach no file outside the lake; this is locked."""
    import duckdb

    connection = duckdb.connect(
        ":memory:",
        config={
            "threads": THREADS,
            "memory_limit": memory,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "allow_community_extensions": False,
            "python_enable_replacements": False,
            "temp_directory": "",
            "enable_object_cache": True,
        },
    )
    for view in views:
        connection.execute(view)
    connection.execute(f"SET allowed_directories={list_literal([f'{folder}/'])}")
    connection.execute("SET enable_external_access=false")
    connection.execute("SET TimeZone='UTC'")
    connection.execute("SET lock_configuration=true")
    return connection


def answer(connection: DuckDBPyConnection, query: dict[str, Any], most_rows: int) -> dict[str, Any]:
    """The columns and rows of a query, or its error in one line."""
    import duckdb

    try:
        if not query["is_own"]:
            check_statement(connection, query["sql"], query["tables"])
        connection.execute(query["sql"], query["params"] or None)
        columns = [(name, str(kind)) for name, kind, *_ in connection.description or ()]
        rows = fetch(connection, most_rows + 1)
    except Refused as error:
        return {"error": one_line(str(error))}
    except (duckdb.Error, MemoryError, ValueError, OverflowError) as error:
        return {"error": one_line(str(error) or type(error).__name__)}
    return {
        "columns": columns,
        "rows": [[plain(value) for value in row] for row in rows[:most_rows]],
        "is_cut": len(rows) > most_rows,
    }


def fetch(connection: DuckDBPyConnection, most_rows: int) -> list[tuple[Any, ...]]:
    """The rows; fails if they become too many for the process that asked."""
    rows: list[tuple[Any, ...]] = []
    size = 0
    while len(rows) < most_rows and (page := connection.fetchmany(min(PAGE, most_rows))):
        rows += page
        size += sum(len(value) for row in page for value in row if isinstance(value, (str, bytes)))
        if size > MOST_BYTES:
            raise Refused(f"The result has more than {MOST_BYTES:,} bytes; ask for less")
    return rows[:most_rows]


def one_line(message: str) -> str:
    """A DuckDB error without the lines that quote the query and point into it."""
    for end in ("\n\nLINE ", "\nLINE ", "\nPossible solutions:"):
        message = message.partition(end)[0]
    return " ".join(message.split())


def plain(value: Any) -> Any:
    """A value as JSON: decimals and times become strings."""
    if value is None or isinstance(value, (bool, int, str)):
        return value if not isinstance(value, int) or abs(value) < 2**53 else str(value)
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else str(value)
    if isinstance(value, (Decimal, datetime, date, timedelta)):
        return str(value)
    if isinstance(value, dict):
        return {str(name): plain(member) for name, member in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [plain(member) for member in value]
    return value.hex() if isinstance(value, bytes) else str(value)


def answers(work: dict[str, Any]) -> Iterator[dict[str, Any]]:
    import duckdb

    folder = Path(work["folder"])
    limit_resources(work["memory_bytes"], work["cpu_seconds"])
    confine_to(folder, *READ_BY_DUCKDB)
    try:
        connection = connect(folder, work["views"], work["memory"])
    except duckdb.Error as error:
        yield from ({"error": one_line(str(error))} for _ in work["queries"])
        return
    for query in work["queries"]:
        yield answer(connection, query, work["most_rows"])


class Utc(tzinfo):
    """Replaces pytz, with which DuckDB creates times with a zone; the only zone here is UTC."""

    def utcoffset(self, moment: datetime | None) -> timedelta:
        return timedelta()

    dst = utcoffset

    def tzname(self, moment: datetime | None) -> str:
        return "UTC"

    def localize(self, moment: datetime) -> datetime:
        return moment.replace(tzinfo=self)

    def normalize(self, moment: datetime) -> datetime:
        return moment


def main() -> None:
    import uuid  # noqa: F401 - a value may be a UUID, and later no module can be imported

    import duckdb  # noqa: F401

    sys.modules["pytz"] = zones = ModuleType("pytz")
    zones.timezone = lambda name: Utc()  # type: ignore[attr-defined]

    work = orjson.loads(sys.stdin.buffer.read())
    for found in answers(work):
        sys.stdout.buffer.write(orjson.dumps(found, option=orjson.OPT_APPEND_NEWLINE))
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
