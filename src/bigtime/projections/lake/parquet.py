"""Writing Parquet with DuckDB, which needs no other library."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bigtime.extras import extra
from bigtime.projections.lake.columns import Column, Row
from bigtime.projections.lake.sql_text import quote_name, text_literal

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MEMORY: Final = "512MB"
CHANGE_ORDER: Final = "change, position"
"""The order of the rows in a file of changes that is made of others.

A report over history asks for one kind of change, mostly: where all of a kind lie together, what
lies between them is passed over and not decoded.
"""


def table_columns(columns: Sequence[Column]) -> str:
    return ", ".join(f"{quote_name(column.name)} {column.sql}" for column in columns)


class ParquetWriter:
    """A connection to DuckDB that writes rows, and the results of queries, to Parquet files.

    It uses one thread and little memory: it runs beside the other consumers of the worker.
    """

    def __init__(self) -> None:
        with extra("analytics"):
            import duckdb
        self._folder = tempfile.TemporaryDirectory(prefix="bigtime-lake-")
        self.scratch = Path(self._folder.name)
        settings: dict[str, Any] = {
            "threads": 1,
            "memory_limit": MEMORY,
            "temp_directory": str(self.scratch / "spill"),
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "preserve_insertion_order": True,
        }
        self.connection: DuckDBPyConnection = duckdb.connect(":memory:", config=settings)

    def write_rows(self, columns: Sequence[Column], rows: Sequence[Row], path: Path) -> None:
        self.begin(columns)
        self.append(rows)
        self.finish(path)

    def begin(self, columns: Sequence[Column]) -> None:
        """Begins a file; rows may then be appended as they come."""
        self.connection.execute(f"CREATE OR REPLACE TABLE batch ({table_columns(columns)})")

    def append(self, rows: Sequence[Row]) -> None:
        appender = self.connection.appender("batch")
        appender.append_rows(rows)
        appender.flush()

    def finish(self, path: Path) -> None:
        self.write_query("SELECT * FROM batch", path)
        self.connection.execute("DROP TABLE batch")

    def write_query(self, query: str, path: Path) -> None:
        self.connection.execute(f"COPY ({query}) TO {text_literal(str(path))} (FORMAT parquet)")

    def fetch(self, query: str) -> list[tuple[Any, ...]]:
        return self.connection.execute(query).fetchall()

    def rows_in(self, path: Path) -> int:
        """How many rows a file has; raises `duckdb.Error` if it is damaged."""
        read = f"SELECT num_rows FROM parquet_file_metadata({text_literal(str(path))})"
        return int(self.fetch(read)[0][0])

    def close(self) -> None:
        with suppress(Exception):
            self.connection.close()
        self._folder.cleanup()
