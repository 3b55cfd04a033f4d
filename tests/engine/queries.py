"""A library to query, and words of refusals."""

from __future__ import annotations

from typing import Any

from bigtime.engine import Engine
from bigtime.wire import AttributeValue
from tests.engine.calls import index, key_schema, make_table

INVALID = "One or more parameter values were invalid: "


def legacy(op: str, *operands: AttributeValue) -> dict[str, Any]:
    return {"ComparisonOperator": op, "AttributeValueList": list(operands)}


def make_library(engine: Engine) -> Engine:
    """The table `books` (p, s: N), a local index by l, global ones by (g, h: N) and by g alone."""
    make_table(
        engine,
        {"p": "S", "s": "N", "l": "S", "g": "S", "h": "N"},
        name="books",
        local=(index("local", key_schema("p", "l"), "KEYS_ONLY"),),
        globally=(
            index("global", key_schema("g", "h"), ["shown"]),
            index("lone", key_schema("g")),
        ),
    )
    return engine
