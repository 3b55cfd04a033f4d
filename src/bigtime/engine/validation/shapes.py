"""Validates the shape of requests, with AWS's messages for invalid ones.

Most requests are well formed, so there are two readers.

1. The quick one, here, is compiled per operation to closures that return True or False. True means
   a plain request: right types, every constraint met, nothing unknown or null.
2. The exact one handles all others in AWS's two steps: the JSON is parsed into types
   (`serialization`), then the constraints are checked (`constraints`).

`check` returns the request as AWS parses it, which is the same object if it is plain.

The item of a put is the largest part of its request, and its operation walks it anyway to check its
values. So `check_around_items` leaves it out. If the operation then rejects the request, it must be
checked again by `exact`, whose errors come first.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any, Final, TypeAlias

from bigtime import wire
from bigtime.engine.validation import service_model
from bigtime.engine.validation.constraints import check_constraints
from bigtime.engine.validation.serialization import DEEPEST, GREATEST, read

__all__ = ["WITH_ITEMS", "check", "check_around_items", "exact"]

Plain: TypeAlias = Callable[[Any], bool]

TEXT: Final = frozenset({str})
LONGEST_ATTRIBUTE_NAME: Final = 65_535
WHOLE_ITEM: Final = "PutItemInputAttributeMap"
WITH_ITEMS: Final = frozenset(("PutItem", "BatchWriteItem", "TransactWriteItems"))

# These reject an invalid table name before they check any other constraint.
# (Seen on AWS by dynalite's tests of these operations; undocumented.)
NAME_COMES_FIRST: Final = frozenset(
    "CreateTable DeleteTable DescribeTable DescribeTimeToLive UpdateTable UpdateTimeToLive".split()
)


def check(operation: str, params: Any) -> wire.Params:
    """The request as AWS parses it; raises AWS's error for one of the wrong shape."""
    request: wire.Params = params
    return request if plain_request(operation)(params) else exact(operation, params)


def check_around_items(operation: str, params: Any) -> wire.Params:
    """As `check`, but the attribute values in the items of puts remain to be checked."""
    request: wire.Params = params
    return request if plain_around_items(operation)(params) else exact(operation, params)


def exact(operation: str, params: Any) -> wire.Params:
    """As `check`, by the exact reader alone."""
    shape = service_model.input_shape(operation)
    if params is None:
        raise wire.SerializationException("")
    request: dict[str, Any] = read(shape, params)
    if operation in NAME_COMES_FIRST:
        check_table_name(shape, request)
    if operation == "CreateTable" and "GlobalTableSourceArn" in request:
        # Such a table takes its keys from another: the missing keys are not the error.
        raise wire.ValidationException(
            f"{wire.values.INVALID}GlobalTableSourceArn is not supported by this engine"
        )
    check_constraints(shape, request)
    return request


def check_table_name(shape: service_model.Shape, request: dict[str, Any]) -> None:
    if request.get("TableName") is None:
        raise wire.ValidationException(
            "The parameter 'TableName' is required but was not present in the request"
        )
    name_alone = replace(
        shape,
        members={"TableName": shape.members["TableName"]},
        required=frozenset({"TableName"}),
    )
    check_constraints(name_alone, request)


@cache
def plain_request(operation: str) -> Plain:
    return plain_shape(known_shape(operation), without_items=False)


@cache
def plain_around_items(operation: str) -> Plain:
    return plain_shape(known_shape(operation), without_items=True)


def known_shape(operation: str) -> service_model.Shape:
    """The shape of an operation's request; every AWS operation is implemented.

    AWS sends no message with its UnknownOperationException; naming the operation helps the caller.
    """
    if operation not in service_model.operations():
        raise wire.UnknownOperationException(f"There is no operation {operation}")
    return service_model.input_shape(operation)


def plain_shape(shape: service_model.Shape, without_items: bool) -> Plain:
    if shape.name == "AttributeValue":
        return lambda value: type(value) is dict and plain_item({"": value})
    if shape.name == WHOLE_ITEM and without_items:
        return lambda value: type(value) is dict
    if shape.item is not None and shape.item.name == "AttributeValue":
        return plain_item if shape.kind == "map" else plain_values(shape)
    if shape.kind == "structure":
        return plain_structure(shape, without_items)
    if shape.kind in ("list", "map"):
        return plain_collection(shape, without_items)
    return PLAIN[shape.kind](shape)


def plain_structure(shape: service_model.Shape, without_items: bool) -> Plain:
    members = {name: plain_shape(member, without_items) for name, member in shape.members.items()}
    texts = frozenset(name for name, member in shape.members.items() if is_any_text(member))
    required = tuple(shape.required)

    def is_plain(value: Any) -> bool:
        if type(value) is not dict:
            return False
        for name in required:
            if name not in value:
                return False
        for name, member in value.items():
            if name in texts and type(member) is str:
                continue
            member_is_plain = members.get(name)
            if member_is_plain is None or not member_is_plain(member):
                return False
        return True

    return is_plain


def is_any_text(shape: service_model.Shape) -> bool:
    return shape == service_model.Shape(shape.name, "string")


def plain_collection(shape: service_model.Shape, without_items: bool) -> Plain:
    item_is_plain = plain_shape(shape.element, without_items)
    least, most = bounds(shape)
    if shape.key is None:
        return lambda value: (
            type(value) is list and least <= len(value) <= most and all(map(item_is_plain, value))
        )
    if shape.name == "ExpressionAttributeNameMap":
        return plain_names
    key_is_plain = plain_shape(shape.key, without_items)
    most = min(most, wire.values.MOST_NAMES)
    return lambda value: (
        type(value) is dict
        and least <= len(value) <= most
        and all(map(key_is_plain, value))
        and all(map(item_is_plain, value.values()))
    )


def plain_values(shape: service_model.Shape) -> Plain:
    least, most = bounds(shape)
    return lambda value: plain_list(value) and least <= len(value) <= most


def plain_names(value: Any) -> bool:
    """Checks ExpressionAttributeNames, which most requests have, without a call per name."""
    return (
        type(value) is dict
        and len(value) <= wire.values.MOST_NAMES
        and TEXT.issuperset(map(type, (*value, *value.values())))
        and max(map(len, value.values()), default=0) <= LONGEST_ATTRIBUTE_NAME
    )


def plain_string(shape: service_model.Shape) -> Plain:
    if shape.choices:
        choices = frozenset(shape.choices)
        return lambda value: type(value) is str and value in choices
    if shape.pattern == service_model.NAME_PATTERN and shape.maximum is not None:
        return plain_name(shape)
    least, most = bounds(shape)
    if shape.pattern:
        matches = shape.matches
        return lambda value: type(value) is str and least <= len(value) <= most and matches(value)
    if shape.minimum is None and shape.maximum is None:
        return lambda value: type(value) is str
    return lambda value: type(value) is str and least <= len(value) <= most


def plain_name(shape: service_model.Shape) -> Plain:
    pattern = rf"{service_model.NAME_PATTERN[:-1]}{{{shape.minimum},{shape.maximum}}}"
    if shape.takes_arn:
        pattern = f"{pattern}|{service_model.TABLE_ARN.pattern}"
    matches = re.compile(pattern).fullmatch
    return lambda value: type(value) is str and matches(value) is not None


def plain_number(shape: service_model.Shape) -> Plain:
    least, most = bounds(shape)
    greatest = min(most, GREATEST.get(shape.kind, math.inf))
    return lambda value: type(value) is int and least <= value <= greatest


def bounds(shape: service_model.Shape) -> tuple[float, float]:
    least = -math.inf if shape.minimum is None else shape.minimum
    return least, math.inf if shape.maximum is None else shape.maximum


PLAIN: Final[dict[str, Callable[[service_model.Shape], Plain]]] = {
    "string": plain_string,
    "integer": plain_number,
    "long": plain_number,
    "double": plain_number,
    "timestamp": plain_number,
    "boolean": lambda shape: lambda value: type(value) is bool,
    "blob": lambda shape: plain_binary,
}


def plain_item(item: Any, deeper: int = DEEPEST) -> bool:
    """Whether this is a map of attribute values with valid types.

    A value with no type or two counts as plain: it is rejected later, with another message.
    """
    if type(item) is not dict or len(item) > wire.values.MOST_NAMES:
        return False
    for name, value in item.items():
        if type(value) is not dict:
            return False
        for tag, content in value.items():
            if type(content) is str and (tag == "S" or tag == "N"):
                continue
            if not plain_content(tag, content, deeper):
                return False
        if type(name) is not str or len(name) > LONGEST_ATTRIBUTE_NAME:
            return False
    return True


def plain_list(values: Any, deeper: int = DEEPEST) -> bool:
    if type(values) is not list:
        return False
    for value in values:
        if type(value) is not dict:
            return False
        for tag, content in value.items():
            if type(content) is str and (tag == "S" or tag == "N"):
                continue
            if not plain_content(tag, content, deeper):
                return False
    return True


def plain_content(tag: str, content: Any, deeper: int) -> bool:
    is_plain = CONTENTS.get(tag)
    return is_plain is not None and is_plain(content, deeper)


def plain_binary(content: Any, deeper: int = 0) -> bool:
    return type(content) is str and wire.values.base64_fault(content) is None


def plain_texts(content: Any, deeper: int) -> bool:
    return type(content) is list and TEXT.issuperset(map(type, content))


CONTENTS: Final[dict[str, Callable[[Any, int], bool]]] = {
    "S": lambda content, deeper: type(content) is str,
    "N": lambda content, deeper: type(content) is str,
    "BOOL": lambda content, deeper: type(content) is bool,
    "NULL": lambda content, deeper: type(content) is bool,
    "M": lambda content, deeper: deeper > 0 and plain_item(content, deeper - 1),
    "L": lambda content, deeper: deeper > 0 and plain_list(content, deeper - 1),
    "B": plain_binary,
    "SS": plain_texts,
    "NS": plain_texts,
    "BS": lambda content, deeper: type(content) is list and all(map(plain_binary, content)),
}
