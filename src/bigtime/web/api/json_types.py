"""Whether a value in a body is of the type that the documentation says.

The types of the systems are made for forms and programs alike, and take a price that is written as
text. In JSON a number is a number: what is of another type than its schema says was not understood
by whoever sent it, and is refused before any rule is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Final

Schema = Mapping[str, Any]

REFERENCE: Final = "#/$defs/"
CALLED: Final = {
    "string": "text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}


def fits(value: Any, schema: Schema, defs: Schema) -> bool:
    """Whether a value is of a schema's type, and what a list holds too; not more than that."""
    schema = resolved(schema, defs)
    if choices := schema.get("anyOf") or schema.get("oneOf"):
        return any(fits(value, one, defs) for one in choices)
    is_of = TYPES.get(schema.get("type", ""))
    if is_of is not None and not is_of(value):
        return False
    if isinstance(value, list) and "items" in schema:
        return all(fits(one, schema["items"], defs) for one in value)
    return True


def resolved(schema: Schema, defs: Schema) -> Schema:
    while "$ref" in schema:
        schema = defs[schema["$ref"].removeprefix(REFERENCE)]
    return schema


def is_number(value: Any) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


TYPES: Final[Mapping[str, Callable[[Any], bool]]] = {
    "string": lambda value: isinstance(value, str),
    "number": is_number,
    "integer": lambda value: is_number(value) and value == int(value),
    "boolean": lambda value: isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
    "null": lambda value: value is None,
}


def called(schema: Schema, defs: Schema) -> str:
    """What is wanted, in words: `a number or null`."""
    schema = resolved(schema, defs)
    choices = schema.get("anyOf") or schema.get("oneOf") or (schema,)
    kinds = (resolved(one, defs).get("type") for one in choices)
    return " or ".join(dict.fromkeys(CALLED[kind] for kind in kinds if kind in CALLED))
