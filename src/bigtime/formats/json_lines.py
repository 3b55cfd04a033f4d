"""JSON lines: one item per line in plain JSON, for people and for other programs.

    {"id": "a", "price": 1.5, "tags": {"SS": ["new", "red"]}}

Strings, numbers, booleans, null, lists and maps are JSON's own. JSON has no binary values and no
sets: these keep DynamoDB's tag, `{"B": "..."}`, `{"SS": [...]}`, `{"NS": [...]}`, `{"BS": [...]}`.
A map whose only name is one of those tags, or "M", is written as `{"M": {...}}`, so that every
item is read back unchanged. Numbers keep all of their 38 digits.
"""

from __future__ import annotations

import json
from functools import partial
from typing import Any, Final

import orjson

from bigtime.formats.dynamodb_json import checked_item, json_object
from bigtime.wire import AttributeValue, Item

TAGGED: Final = frozenset({"B", "BS", "M", "NS", "SS"})


class NumberText(str):
    """A number as it is spelled in a JSON text."""


def refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


parse_plain: Final = partial(
    json.loads, parse_int=NumberText, parse_float=NumberText, parse_constant=refuse_constant
)


def plain_line(item: Item) -> bytes:
    plain = {name: plain_value(value) for name, value in item.items()}
    return orjson.dumps(plain, option=orjson.OPT_APPEND_NEWLINE)


def plain_value(value: AttributeValue) -> Any:
    ((tag, content),) = value.items()
    match tag:
        case "N":
            return orjson.Fragment(content.encode())
        case "NULL":
            return None
        case "L":
            return [plain_value(element) for element in content]
        case "M":
            plain = {name: plain_value(member) for name, member in content.items()}
            return {"M": plain} if len(content) == 1 and TAGGED.issuperset(content) else plain
        case "S" | "BOOL":
            return content
    return value


def read_plain_item(line: bytes) -> Item:
    members = json_object(line, parse_plain)
    return checked_item({name: tagged_value(member) for name, member in members.items()})


def tagged_value(plain: Any) -> Any:
    """The attribute value of a plain JSON value; invalid ones are left to the item's check."""
    if isinstance(plain, dict):
        return tagged_map(plain)
    if isinstance(plain, list):
        return {"L": [tagged_value(element) for element in plain]}
    if isinstance(plain, str):
        return {"N" if isinstance(plain, NumberText) else "S": str(plain)}
    return {"NULL": True} if plain is None else {"BOOL": plain}


def tagged_map(plain: dict[str, Any]) -> Any:
    members = plain
    if len(plain) == 1 and TAGGED.issuperset(plain):
        ((tag, content),) = plain.items()
        if tag != "M":
            return plain
        if isinstance(content, dict):
            members = content
    return {"M": {name: tagged_value(member) for name, member in members.items()}}
