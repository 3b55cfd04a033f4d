"""Writing Parquet with DuckDB, without any other library."""

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
"""The order of the rows in a merged file of changes.

Most reports over history ask for one kind of change: if all of a kind are adjacent, other row
groups are skipped without decoding.
"""


def table_columns(columns: Sequence[Column]) -> str:
    return ", ".join(f"{quote_name(column.name)} {column.sql}" for column in columns)


class ParquetWriter:
    """A DuckDB connection that writes rows, and the results of queries, to Parquet files.

    It uses one thread and little memory, because it runs beside the worker's other consumers.
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
        """Begins a file, to which rows may then be appended."""
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
        """The number of rows in a file; raises `duckdb.Error` if it is damaged."""
        read = f"SELECT num_rows FROM parquet_file_metadata({text_literal(str(path))})"
        return int(self.fetch(read)[0][0])

    def close(self) -> None:
        with suppress(Exception):
            self.connection.close()
        self._folder.cleanup()
