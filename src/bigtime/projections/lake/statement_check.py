"""Which SQL may be run: one SELECT over the tables of the lake that only calls harmless functions.

DuckDB's own settings keep a query from reading files outside the lake, but not from writing into
it, and `WITH x AS (COPY ...) SELECT 1` counts as a SELECT. So a statement is first parsed by DuckDB
itself, and its syntax tree is checked: what is not known to be harmless is refused.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any, Final

import orjson

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

NODES: Final = frozenset({"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"})
TABLE_FUNCTIONS: Final = frozenset({"unnest", "range", "generate_series", "json_each", "json_tree"})
FUNCTIONS: Final = frozenset({"getenv", "current_setting", "getvariable", "nextval", "currval"})
"""Functions that reveal something about the process, or change something; refused."""


class Refused(Exception):
    """Why a statement is not run."""


def check_statement(connection: DuckDBPyConnection, sql: str, tables: Collection[str]) -> None:
    """Raises Refused, or DuckDB's own error for a syntax error."""
    row = connection.execute("SELECT json_serialize_sql(?)", [sql]).fetchone()
    assert row is not None
    parsed = orjson.loads(row[0])
    if parsed["error"]:
        if parsed.get("error_type") == "parser":
            raise Refused(f"Parser Error: {parsed['error_message']}")
        raise Refused("Only SELECT statements can be run")
    if len(parsed["statements"]) != 1:
        raise Refused("Only one statement can be run at a time")
    found = [*dictionaries(parsed["statements"])]
    defined = {entry["key"].lower() for entry in found if {"key", "value"} <= entry.keys()}
    for node in found:
        check_node(node, {name.lower() for name in tables} | defined)


def check_node(node: dict[str, Any], tables: Collection[str]) -> None:
    kind = str(node.get("type", ""))
    if "info_type" in node or (kind.endswith("_NODE") and kind not in NODES):
        raise Refused("Only SELECT statements can be run")
    name = str(node.get("function_name", "")).lower()
    if name in FUNCTIONS:
        raise Refused(f"The function {name} cannot be called here")
    if kind == "TABLE_FUNCTION":
        called = str(node["function"].get("function_name", "")).lower()
        if called not in TABLE_FUNCTIONS:
            raise Refused(f"The table function {called} cannot be called here")
    if kind == "BASE_TABLE":
        table = str(node["table_name"])
        is_own = not node.get("catalog_name") and node.get("schema_name") in ("", "main")
        if table.lower() not in tables or not is_own:
            raise Refused(f"Catalog Error: Table with name {table} does not exist!")


def dictionaries(tree: Any) -> Iterator[dict[str, Any]]:
    """All objects in a JSON tree."""
    if isinstance(tree, dict):
        yield tree
        for value in tree.values():
            yield from dictionaries(value)
    elif isinstance(tree, list):
        for value in tree:
            yield from dictionaries(value)
