"""Reading a request's JSON into types, with the words of AWS's parser when it does not fit.

The first mismatch is a SerializationException. Unknown members are dropped and null counts as
absent. AWS's parser converts a little, and so does this one: "true" is a boolean, 1.5 is an
integer after flooring, and an integer too great for Java is Java's greatest.

Which text belongs to which mismatch depends on where the value stands: a member of a structure
and an element of a list or map are read by different code at AWS. Witness: dynalite.
"""

from __future__ import annotations

import math
from binascii import Error as Base64Error
from binascii import a2b_base64
from collections.abc import Callable, Mapping, Sized
from itertools import islice
from typing import Any, Final, NoReturn, TypeAlias

from bigtime.engine.validation.service_model import Shape
from bigtime.wire import SerializationException, ValidationException, check_count

Reader: TypeAlias = Callable[[Shape, Any, int, bool], Any]

DEEPEST: Final = 40
"""How many levels of a value are read at all; AWS refuses what is deeper than 32."""

MOST_DECLARED: Final = 10_000
"""More indexes, attributes or tags than that are refused, however many more there are."""

GREATEST: Final = {"integer": 2**31 - 1, "long": 2**63 - 1}
PACKAGE: Final = "com.amazonaws.dynamodb.v20120810."
NOT_EXPECTED: Final = "Start of structure or map found where not expected"
BAD_BASE64: Final = "Invalid last non-pad Base64 character dectected"  # AWS's spelling
TOO_DEEP: Final = (
    "Nesting Levels have exceeded supported limits: "
    "Attributes in the item have nested levels beyond supported limit"
)


def read(shape: Shape, value: Any, depth: int = 0, is_element: bool = True) -> Any:
    """The value as AWS's parser takes it."""
    if value is None:
        # An empty attribute value is refused later, with the words that AWS has for it.
        return {} if is_element and shape.name == "AttributeValue" else None
    if depth > 2 * DEEPEST:
        raise ValidationException(TOO_DEEP)
    reader: Reader = READERS.get(shape.kind, read_number)
    return reader(shape, value, depth, is_element)


def read_structure(shape: Shape, value: Any, depth: int, is_element: bool) -> dict[str, Any]:
    if isinstance(value, list):
        raise SerializationException(f"Unrecognized collection type class {PACKAGE}{shape.name}")
    if not isinstance(value, Mapping):
        raise SerializationException(
            "Unexpected value type in payload" if is_element else "Unexpected field type"
        )
    known, members = {}, shape.members
    for name, one in value.items():
        if name in members and one is not None:
            known[name] = read(members[name], one, depth + 1, False)
    return known


def read_map(shape: Shape, value: Any, depth: int, is_element: bool) -> dict[str, Any]:
    if isinstance(value, list):
        raise SerializationException(f"Unrecognized collection type {java_type(shape)}")
    if not isinstance(value, Mapping):
        raise SerializationException(PARAMETERIZED if is_element else "Unexpected field type")
    if not all(isinstance(name, str) for name in value):
        raise SerializationException("Unexpected field type")
    entries = islice(value.items(), most_read(shape, value))
    return {name: read(shape.element, one, depth + 1) for name, one in entries}


def read_list(shape: Shape, value: Any, depth: int, is_element: bool) -> list[Any]:
    if isinstance(value, Mapping):
        raise SerializationException(NOT_EXPECTED)
    if not isinstance(value, list):
        raise SerializationException(PARAMETERIZED if is_element else "Unexpected field type")
    return [read(shape.element, one, depth + 1) for one in value[: most_read(shape, value)]]


def most_read(shape: Shape, value: Sized) -> int:
    """How much of a collection is worth reading: one that is too long will be refused anyway."""
    if shape.maximum is not None:
        return shape.maximum + 1
    declares = shape.kind == "list" and shape.element.kind == "structure"
    if declares and shape.element.name != "AttributeValue":
        return MOST_DECLARED
    check_count(value)
    return len(value)


# A collection inside a collection meets a cast that fails in AWS's own parser.
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
    return value if isinstance(value, str) else refuse(value, "String")


def read_boolean(shape: Shape, value: Any, depth: int, is_element: bool) -> bool:
    if isinstance(value, bool):
        return value
    if not isinstance(value, str):
        refuse(value, "Boolean")
    if value.upper() in ("TRUE", "1", "YES"):
        return True
    if value.upper() in ("FALSE", "0", "NO"):
        return False
    raise SerializationException("Unexpected token received from parser")


def read_number(shape: Shape, value: Any, depth: int, is_element: bool) -> float:
    java = {"integer": "Integer", "long": "Long"}.get(shape.kind, "Double")
    if isinstance(value, bool) or not isinstance(value, int | float):
        refuse(value, java)
    if isinstance(value, float) and not math.isfinite(value):
        refuse(value, java)
    greatest = GREATEST.get(shape.kind)
    if greatest is None:
        return value
    return max(-greatest - 1, min(greatest, math.floor(value)))


def read_blob(shape: Shape, value: Any, depth: int, is_element: bool) -> str:
    if isinstance(value, list):
        raise SerializationException("Unrecognized collection type class java.nio.ByteBuffer")
    if isinstance(value, Mapping):
        raise SerializationException(NOT_EXPECTED)
    if not isinstance(value, str):
        raise SerializationException("only base-64-encoded strings are convertible to bytes")
    fault = base64_fault(value)
    if fault:
        raise SerializationException(fault)
    return value


def base64_fault(text: str) -> str | None:
    """What is wrong with a base64 text, bits that its padding would drop included."""
    if len(text) % 4:
        return f"Base64 encoded length is expected a multiple of 4 bytes but found: {len(text)}"
    try:
        a2b_base64(text, strict_mode=True)
    except (Base64Error, ValueError):
        return BAD_BASE64 if text else None
    if text.endswith("=") and text.rstrip("=")[-1] not in LAST_OF[text.count("=")]:
        return BAD_BASE64
    return None


LAST_OF: Final = {1: "AEIMQUYcgkosw048", 2: "AQgw"}

READERS: Final[dict[str, Reader]] = {
    "structure": read_structure,
    "map": read_map,
    "list": read_list,
    "string": read_string,
    "boolean": read_boolean,
    "blob": read_blob,
}


def refuse(value: Any, java: str) -> NoReturn:
    """The words for a value that stands where a single value of another type should be."""
    if isinstance(value, list):
        raise SerializationException(f"Unrecognized collection type class java.lang.{java}")
    if isinstance(value, Mapping):
        raise SerializationException(NOT_EXPECTED)
    raise SerializationException(f"{token(value)} cannot be converted to {java}")


def token(value: Any) -> str:
    if isinstance(value, bool):
        return "TRUE_VALUE" if value else "FALSE_VALUE"
    names = {int: "NUMBER_VALUE", float: "DECIMAL_VALUE", str: "STRING_VALUE"}
    return names.get(type(value), "EMBEDDED_OBJECT")
