"""Parses a request's JSON into the model's types, with the error messages of AWS's parser.

The first mismatch is a SerializationException. Unknown members are dropped and null counts as
absent. Like AWS's parser, this one converts a few values: "true" is a boolean, 1.5 is floored to an
integer, and an integer too large for Java becomes Java's largest.

The message for a mismatch depends on the position of the value: at AWS, different code reads a
member of a structure and an element of a list or map. These messages are undocumented; they were
recorded from AWS by dynalite's tests. (https://github.com/architect/dynalite/tree/main/test)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sized
from itertools import islice
from typing import Any, Final, TypeAlias

from bigtime import wire
from bigtime.engine.validation.service_model import Shape

Reader: TypeAlias = Callable[[Shape, Any, int, bool], Any]

DEEPEST: Final = 40
"""How many levels of a value are read; AWS rejects values deeper than 32."""

MOST_DECLARED: Final = 10_000
"""How much of a list of indexes, attributes or tags is read; longer ones are rejected."""

GREATEST: Final = {"integer": 2**31 - 1, "long": 2**63 - 1}
PACKAGE: Final = "com.amazonaws.dynamodb.v20120810."


def read(shape: Shape, value: Any, depth: int = 0, is_element: bool = True) -> Any:
    """The value as AWS's parser reads it."""
    if value is None:
        # An empty attribute value is rejected later, with AWS's message for it.
        return {} if is_element and shape.name == "AttributeValue" else None
    if depth > 2 * DEEPEST:
        raise wire.ValidationException(wire.TOO_DEEP)
    reader: Reader = READERS.get(shape.kind, read_number)
    return reader(shape, value, depth, is_element)


def read_structure(shape: Shape, value: Any, depth: int, is_element: bool) -> dict[str, Any]:
    if isinstance(value, list):
        raise wire.SerializationException(
            f"Unrecognized collection type class {PACKAGE}{shape.name}"
        )
    if not isinstance(value, Mapping):
        raise wire.SerializationException(
            "Unexpected value type in payload" if is_element else "Unexpected field type"
        )
    known, members = {}, shape.members
    for name, member in value.items():
        if name in members and member is not None:
            known[name] = read(members[name], member, depth + 1, False)
    return known


def read_map(shape: Shape, value: Any, depth: int, is_element: bool) -> dict[str, Any]:
    if isinstance(value, list):
        raise wire.SerializationException(f"Unrecognized collection type {java_type(shape)}")
    if not isinstance(value, Mapping):
        raise wire.SerializationException(PARAMETERIZED if is_element else "Unexpected field type")
    entries = islice(value.items(), most_read(shape, value))
    if not all(isinstance(name, str) for name in value):
        raise wire.SerializationException("Unexpected field type")
    return {name: read(shape.element, entry, depth + 1) for name, entry in entries}


def read_list(shape: Shape, value: Any, depth: int, is_element: bool) -> list[Any]:
    if isinstance(value, Mapping):
        raise wire.values.unexpected_structure()
    if not isinstance(value, list):
        raise wire.SerializationException(PARAMETERIZED if is_element else "Unexpected field type")
    return [read(shape.element, entry, depth + 1) for entry in value[: most_read(shape, value)]]


def most_read(shape: Shape, value: Sized) -> int:
    """How many elements to read: a collection that is too long will be rejected anyway."""
    if shape.maximum is not None:
        return shape.maximum + 1
    declares = shape.kind == "list" and shape.element.kind == "structure"
    if declares and shape.element.name != "AttributeValue":
        return MOST_DECLARED
    if len(value) > (wire.values.MOST_NAMES if shape.kind == "map" else wire.MAX_ITEM_BYTES):
        raise wire.values.too_many()
    return len(value)


# For a collection inside a collection, a cast fails in AWS's own parser.
PARAMETERIZED: Final = (
    "class sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl cannot be cast to class "
    "java.lang.Class (sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl and "
    "java.lang.Class are in module java.base of loader 'bootstrap')"
)


def java_type(shape: Shape) -> str:
    match shape.kind:
        case "map":
            return f"java.util.Map<java.lang.String, {java_type(shape.element)}>"
        case "list":
            return f"java.util.List<{java_type(shape.element)}>"
        case "structure":
            return PACKAGE + shape.name
        case _:
            return "java.lang.String"


def read_string(shape: Shape, value: Any, depth: int, is_element: bool) -> str:
    if not isinstance(value, str):
        raise wire.values.not_a_scalar(value, "String")
    return value


def read_number(shape: Shape, value: Any, depth: int, is_element: bool) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value):
        java = {"integer": "Integer", "long": "Long"}.get(shape.kind, "Double")
        raise wire.values.not_a_scalar(value, java)
    number: float = value
    greatest = GREATEST.get(shape.kind)
    if greatest is None:
        return number
    return max(-greatest - 1, min(greatest, math.floor(number)))


READERS: Final[dict[str, Reader]] = {
    "structure": read_structure,
    "map": read_map,
    "list": read_list,
    "string": read_string,
    "boolean": lambda shape, value, depth, is_element: wire.values.check_bool(value)[0],
    "blob": lambda shape, value, depth, is_element: wire.values.check_binary(value)[0],
}
