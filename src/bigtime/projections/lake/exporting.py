"""A table of the lake, or the result of a report, as one file.

The statement is this program's own, so that it runs here: the file may be of any size.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from bigtime.extras import extra
from bigtime.model import Lake
from bigtime.projections.lake.places import FolderPlace, LakeFault, Place
from bigtime.projections.lake.queries import QueryFailed
from bigtime.projections.lake.sql_text import quote_name, text_literal
from bigtime.projections.lake.views import changes_name, create_views

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
    """Writes a table, or a query with its parameters; gives how many rows that was."""
    with extra("analytics"):
        import duckdb
    lakes = list(lakes)
    if not isinstance(place, FolderPlace):
        raise LakeFault(f"{place.where} is asked through Athena, or copied with `aws s3 sync`.")
    tables = [name for lake in lakes for name in (lake.name, changes_name(lake))]
    if not params and source not in tables:
        raise LakeFault(f"There is no table or report {source!r}; tables: {', '.join(tables)}.")
    query = source if params else f"SELECT * FROM {quote_name(source)}"
    for name, value in params.items():  # COPY takes no parameters
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
