"""Mistakes in values and in expressions."""

from __future__ import annotations

from typing import Any

from bigtime.wire import AttributeValue
from tests.reference.designs import Design
from tests.reference.faults import (
    EITHER,
    INVALID,
    ITEM_WRITES,
    READS,
    SINGLE,
    Fault,
    Spoil,
    part,
    setting,
)
from tests.reference.key_faults import has_item

BAD_VALUES: dict[str, tuple[AttributeValue, str | None]] = {
    "not a number": ({"N": "dog"}, "The parameter cannot be converted to a numeric value: dog"),
    "no number": ({"N": ""}, "The parameter cannot be converted to a numeric value"),
    "39 digits": (
        {"N": "1" * 39},
        "Attempting to store more than 38 significant digits in a Number",
    ),
    "number too large": (
        {"N": "1e126"},
        "Number overflow. Attempting to store a number with magnitude larger than supported range",
    ),
    "number too small": (
        {"N": "-1e-131"},
        "Number underflow. "
        "Attempting to store a number with magnitude smaller than supported range",
    ),
    "empty set": ({"SS": []}, f"{INVALID}An string set  may not be empty"),
    "set with a string twice": (
        {"SS": ["a", "b", "a"]},
        f"{INVALID}Input collection [a, b, a] contains duplicates.",
    ),
    "set with a number twice": ({"NS": ["1", "1.0"]}, "Input collection contains duplicates"),
    "null that is not": (
        {"NULL": False},
        f"{INVALID}Null attribute value types must have the value of true",
    ),
    "no type": (
        {},
        "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes",
    ),
    "two types": (
        {"S": "a", "N": "1"},
        "Supplied AttributeValue has more than one datatypes set, "
        "must contain exactly one of the supported datatypes",
    ),
    "bad number in a list": ({"L": [{"N": "1"}, {"N": "dog"}]}, None),
    "empty set in a map": ({"M": {"x": {"NS": []}}}, None),
}


def value_faults() -> list[Fault]:
    made: list[Fault] = []
    for name, (value, sentence) in BAD_VALUES.items():
        said = None if sentence is None else lambda _, s=sentence: s
        made += [
            Fault(name, ("PutItem",), in_item(value), sentence=said),
            Fault(name, ("BatchWriteItem",), in_item(value), fits=has_item),
            Fault(name, ("TransactWriteItems",), in_item(value), EITHER, fits=has_item),
            Fault(name, (*ITEM_WRITES, *READS), in_values(value), fits=has_values),
        ]
    return made


def in_item(value: AttributeValue) -> Spoil:
    def spoil(params: dict[str, Any], _design: Design) -> None:
        part(params)["Item"]["a"] = value

    return spoil


def in_values(value: AttributeValue) -> Spoil:
    def spoil(params: dict[str, Any], _design: Design) -> None:
        values = params["ExpressionAttributeValues"]
        values[next(iter(values))] = value

    return spoil


def has_values(params: dict[str, Any], _design: Design) -> bool:
    return "ExpressionAttributeValues" in params


def condition_parameter(params: dict[str, Any]) -> str:
    on_item = "Item" in params or "Key" in params
    return "ConditionExpression" if on_item else "FilterExpression"


def condition(text: str, values: dict[str, AttributeValue] | None = None) -> Spoil:
    """Replaces the condition or the filter. What it no longer uses is one more mistake, of the
    same name, so values that the new text needs are given alone."""

    def spoil(params: dict[str, Any], _design: Design) -> None:
        params[condition_parameter(params)] = text
        if values is not None:
            params["ExpressionAttributeValues"] = values

    return spoil


def unused_placeholder(kind: str, placeholder: str, content: object) -> Spoil:
    def spoil(params: dict[str, Any], _design: Design) -> None:
        params[kind] = {**params.get(kind, {}), placeholder: content}

    return spoil


BAD_CONDITIONS: dict[str, tuple[str, dict[str, AttributeValue] | None]] = {
    "undefined value": ("a = :nope", None),
    "undefined name": ("attribute_exists(#nope)", None),
    "syntax error": ("a = = b", None),
    "unbalanced parenthesis": ("(a = b", None),
    "redundant parentheses": ("((a = b))", None),
    "unknown function": ("exists(a)", None),
    "function names are case-sensitive": ("Attribute_Exists(a)", None),
    "wrong number of operands": ("attribute_exists(a, b)", None),
    "size is no condition": ("size(a)", None),
    "reserved word": ("attribute_exists(name)", None),
    "operand not distinct": ("contains(a, a)", None),
    "value for a path": ("attribute_exists(:v)", {":v": {"S": "a"}}),
    "no such type": ("attribute_type(a, :v)", {":v": {"S": "Q"}}),
    "begins_with a number": ("begins_with(a, :v)", {":v": {"N": "1"}}),
    "BETWEEN two types": ("a BETWEEN :v AND :w", {":v": {"N": "1"}, ":w": {"S": "2"}}),
    "BETWEEN the wrong way": ("a BETWEEN :v AND :w", {":v": {"N": "10"}, ":w": {"N": "9"}}),
    "empty expression": ("", None),
}


def expression_faults() -> list[Fault]:
    conditional = (*ITEM_WRITES, "Scan")
    made = [
        Fault(name, conditional, condition(text, values))
        for name, (text, values) in BAD_CONDITIONS.items()
    ]
    names, values = "ExpressionAttributeNames", "ExpressionAttributeValues"
    return [
        *made,
        Fault("unused name", SINGLE, unused_placeholder(names, "#unused", "zz")),
        Fault(
            "unused value",
            (*ITEM_WRITES, *READS),
            unused_placeholder(values, ":unused", {"S": "zz"}),
        ),
        Fault("name without #", SINGLE, unused_placeholder(names, "unused", "zz")),
        Fault("no names", SINGLE, setting(ExpressionAttributeNames={})),
        Fault("no values", (*ITEM_WRITES, *READS), setting(ExpressionAttributeValues={})),
        Fault("old and new parameters", ITEM_WRITES, mix_parameters, fits=has_expression),
        Fault("update twice", ("UpdateItem",), setting(UpdateExpression="SET a = b SET c = d")),
        Fault("update of nothing", ("UpdateItem",), setting(UpdateExpression="SET")),
        Fault("update of a key", ("UpdateItem",), update_key),
        Fault("overlap", ("UpdateItem",), setting(UpdateExpression="SET a.b = c REMOVE a")),
        Fault("projection overlap", ("GetItem", *READS), projection("a, a.b")),
        Fault("projection syntax", ("GetItem", *READS), projection("a b")),
    ]


def projection(text: str) -> Spoil:
    def spoil(params: dict[str, Any], _design: Design) -> None:
        params["ProjectionExpression"] = text
        params.pop("Select", None)

    return spoil


def has_expression(params: dict[str, Any], _design: Design) -> bool:
    return "ConditionExpression" in params or "UpdateExpression" in params


def mix_parameters(params: dict[str, Any], _design: Design) -> None:
    params["Expected"] = {"a": {"Exists": False}}


def update_key(params: dict[str, Any], design: Design) -> None:
    for name in ("ConditionExpression", "ExpressionAttributeNames"):
        params.pop(name, None)
    params["UpdateExpression"] = f"SET {design.partition} = :v"
    params["ExpressionAttributeValues"] = {":v": {"S": "a"}}
