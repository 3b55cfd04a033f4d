"""A request as readable text: a few short lines, and no secrets.

    KeyConditionExpression: #n0 = :v0 AND begins_with(#n1, :v1)
    names: #n0 = PK, #n1 = SK
    values: :v0 = {"S": "CUSTOMER#alex"}, :v1 = {"S": "#ORDER#"}

Secret attributes are hidden. An item or a key shows which entity it is, so only that entity's
secrets are hidden; an expression does not, so attributes that are secret in any entity of the table
are hidden. A value belongs to the path before it, because the kit writes every expression that way.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from bigtime.model import Table, hidden_in, hide, layout_in
from bigtime.wire import Item, Params, Request

Tables: TypeAlias = Mapping[str, Table]

WIDTH = 100
INDENT = "  "
MOST_LISTED = 3
VALUE_OR_PATH = re.compile(r":\w+|(?>[#A-Za-z_][\w-]*(?:\.[#\w-]+|\[\d+\])*)(?!\s*\()")
"""Matches a value or a path, but not the name of a function."""
WORDS = frozenset("SET REMOVE ADD DELETE AND OR NOT IN BETWEEN".split())
ITEMS = ("Item", "Key", "ExclusiveStartKey")
TOLD_BEFORE = ("TableName", "IndexName")
PLACEHOLDERS = {"ExpressionAttributeNames": "names", "ExpressionAttributeValues": "values"}


def request_lines(request: Request, tables: Iterable[Table]) -> list[str]:
    """The parameters of a request, without its operation, table and index."""
    named = {table.name: table for table in tables}
    return list(parameters(request.params, named, ""))


def parameters(params: Params, tables: Tables, indent: str) -> Iterator[str]:
    table = tables.get(params.get("TableName", ""))
    for name, value in sorted(params.items(), key=lambda pair: rank(pair[0])):
        if name in ITEMS:
            yield from pairs(name, visible_item(table, value), indent)
        elif name in PLACEHOLDERS:
            yield from pairs(PLACEHOLDERS[name], visible_marks(table, params, value), indent)
        elif name == "TransactItems":
            yield from first_lines(
                (action_lines(action, tables, indent) for action in value), value, indent
            )
        elif name == "RequestItems":
            for table, given in value.items():
                yield from batch_lines(table, given, tables, indent)
        elif name not in TOLD_BEFORE:
            yield f"{indent}{name}: {value_text(value)}"


def rank(name: str) -> int:
    """The sort order of parameters: keys and items, expressions, placeholders, all others."""
    kinds = (name in ITEMS, name.endswith("Expression"), name in PLACEHOLDERS)
    return kinds.index(True) if True in kinds else len(kinds)


def action_lines(action: Params, tables: Tables, indent: str) -> Iterator[str]:
    ((name, given),) = action.items()
    yield f"{indent}{name} in {given['TableName']}"
    yield from parameters(given, tables, indent + INDENT)


def batch_lines(table: str, given: Any, tables: Tables, indent: str) -> Iterator[str]:
    """The lines of a batch: a list of writes, or the keys to read and the read options."""
    yield f"{indent}in {table}"
    inner = indent + INDENT
    if isinstance(given, Mapping):
        keys = [{"Key": key} for key in given["Keys"]]
        rest = {name: value for name, value in given.items() if name != "Keys"}
        yield from parameters(rest, tables, inner)
    else:
        keys = [params for write in given for params in write.values()]
    parts = (parameters({"TableName": table, **params}, tables, inner) for params in keys)
    yield from first_lines(parts, keys, inner)


def first_lines(parts: Iterable[Iterable[str]], of: Sequence[object], indent: str) -> Iterator[str]:
    """The lines of the first `MOST_LISTED` parts, and the number of the rest."""
    for part, _ in zip(parts, range(MOST_LISTED), strict=False):
        yield from part
    if len(of) > MOST_LISTED:
        yield f"{indent}and {len(of) - MOST_LISTED} more"


def pairs(label: str, named: Mapping[str, object], indent: str) -> Iterator[str]:
    """Names and their values, as many per line as fit."""
    line = f"{indent}{label}:"
    for place, (name, value) in enumerate(named.items(), 1):
        part = f" {name} = {value_text(value)}{',' if place < len(named) else ''}"
        if len(line) + len(part) > WIDTH and not line.endswith(":"):
            yield line
            line = indent + INDENT
            part = part.removeprefix(" ")
        line += part
    yield line


def value_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


# Secrets


def visible_item(table: Table | None, item: Item) -> Mapping[str, object]:
    if table is None:
        return item
    layout = layout_in(table)(item)
    if layout is not None:
        return layout.visible(item)
    return hide(item, hidden_in(table))


def visible_marks(
    table: Table | None, params: Params, marks: Mapping[str, object]
) -> dict[str, Any]:
    secret = secret_marks(params, frozenset() if table is None else hidden_in(table))
    return hide(marks, secret)


def secret_marks(params: Params, secret: frozenset[str]) -> set[str]:
    """The placeholders of values that belong to secret attributes."""
    names: Mapping[str, str] = params.get("ExpressionAttributeNames") or {}
    found: set[str] = set()
    for text in (value for name, value in params.items() if name.endswith("Expression")):
        # A value before the first path could belong to any attribute, even a secret one.
        hiding = bool(secret)
        for token in VALUE_OR_PATH.findall(text):
            if token.startswith(":"):
                found |= {token} if hiding else set()
            elif token.upper() not in WORDS:
                root = re.split(r"[.\[]", token)[0]
                hiding = names.get(root, root) in secret
    return found
