"""The tables of a lake for Glue and Athena: DDL to run there once.

Partition projection is used, so that a new day needs no statement. Athena reads folders and no
manifest, so that for some minutes it may find the changes of a compacted file twice, and two files
of current state. The views take each change once, by its event id, and the newest current state.

AWS: "Partition projection with Amazon Athena"
https://docs.aws.amazon.com/athena/latest/ug/partition-projection.html
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from bigtime.model import Lake
from bigtime.projections.lake.columns import columns_of
from bigtime.projections.lake.views import changes_name

RANGES: Final = {"year": "2020,2099", "month": "1,12", "day": "1,31"}


def athena_ddl(lakes: Iterable[Lake], location: str, database: str = "bigtime") -> str:
    """The statements, each ending with a semicolon; `location` is the lake's S3 URL."""
    place = location.rstrip("/")
    statements = [f"CREATE DATABASE IF NOT EXISTS {database}"]
    for lake in lakes:
        statements += [*table_statements(lake, place, database), *views_of(lake, database)]
    return ";\n\n".join(statements) + ";\n"


def table_statements(lake: Lake, place: str, database: str) -> Iterator[str]:
    parts = ", ".join(f"`{part}` int" for part in lake.partition_by)
    folder = f"{place}/{lake.table}/changes/{lake.name}"
    template = "/".join(f"{part}=${{{part}}}" for part in lake.partition_by)
    properties = {
        "projection.enabled": "true",
        **{
            f"projection.{part}.{key}": value
            for part in lake.partition_by
            for key, value in projection_of(part).items()
        },
        "storage.location.template": f"{folder}/{template}",
    }
    written = ",\n".join(f"  '{name}' = '{value}'" for name, value in properties.items())
    yield (
        f"CREATE EXTERNAL TABLE IF NOT EXISTS {database}.{changes_name(lake)}_files (\n"
        f"{column_lines(lake)}\n)\nPARTITIONED BY ({parts})\nSTORED AS PARQUET\n"
        f"LOCATION '{folder}/'\nTBLPROPERTIES (\n{written}\n)"
    )
    yield (
        f"CREATE EXTERNAL TABLE IF NOT EXISTS {database}.{lake.name}_files (\n"
        f"{column_lines(lake)}\n)\nSTORED AS PARQUET\n"
        f"LOCATION '{place}/{lake.table}/current/{lake.name}/'"
    )


def projection_of(part: str) -> dict[str, str]:
    found = {"type": "integer", "range": RANGES[part]}
    return found if part == "year" else {**found, "digits": "2"}


def column_lines(lake: Lake) -> str:
    return ",\n".join(f"  `{column.name}` {column.glue}" for column in columns_of(lake))


def views_of(lake: Lake, database: str) -> Iterator[str]:
    names = ", ".join(f'"{column.name}"' for column in columns_of(lake))
    parts = ", ".join(f'"{part}"' for part in lake.partition_by)
    yield (
        f"CREATE OR REPLACE VIEW {database}.{changes_name(lake)} AS\n"
        f"SELECT {names}, {parts} FROM (\n"
        f"  SELECT *, row_number() OVER (PARTITION BY event_id ORDER BY position) AS copy\n"
        f"  FROM {database}.{changes_name(lake)}_files\n) WHERE copy = 1"
    )
    yield (
        f"CREATE OR REPLACE VIEW {database}.{lake.name} AS\n"
        f"SELECT {names} FROM {database}.{lake.name}_files\n"
        f'WHERE "$path" = (SELECT max_by("$path", "$file_modified_time")'
        f" FROM {database}.{lake.name}_files)"
    )
