"""Attribute values as Python tuples `(type, value)` that compare the way DynamoDB compares.

A number is a `Decimal`, so that 1, 1.0 and 1e0 are one value and one key; a set is a `frozenset`;
a list is a list and a map is a dict of such tuples.
"""

from __future__ import annotations

import base64
from decimal import Context, Decimal
from typing import Any, TypeAlias

from bigtime.wire import AttributeValue
from bigtime.wire import Item as WireItem

Value: TypeAlias = tuple[str, Any]
Item: TypeAlias = dict[str, Value]
Key: TypeAlias = tuple[Value, ...]

SCALARS = ("S", "N", "B")
SETS = {"SS": "S", "NS": "N", "BS": "B"}
EXACT = Context(prec=500)
MOST_DIGITS = 38
LARGEST_EXPONENT = 125
SMALLEST_EXPONENT = -130


def decode(wire: AttributeValue) -> Value:
    ((kind, content),) = wire.items()
    match kind:
        case "N":
            return kind, Decimal(content)
        case "B":
            return kind, base64.b64decode(content)
        case "SS" | "NS" | "BS":
            return kind, frozenset(decode({SETS[kind]: member})[1] for member in content)
        case "L":
            return kind, [decode(member) for member in content]
        case "M":
            return kind, decode_item(content)
        case _:
            return kind, content


def decode_item(wire: WireItem) -> Item:
    return {name: decode(value) for name, value in wire.items()}


def encode(value: Value) -> AttributeValue:
    """The value as DynamoDB prints it; the members of a set come in sorted order."""
    kind, content = value
    match kind:
        case "N":
            return {kind: plain(content)}
        case "B":
            return {kind: base64.b64encode(content).decode()}
        case "SS" | "NS" | "BS":
            members = [encode((SETS[kind], member))[SETS[kind]] for member in content]
            return {kind: sorted(members)}
        case "L":
            return {kind: [encode(member) for member in content]}
        case "M":
            return {kind: encode_item(content)}
        case _:
            return {kind: content}


def encode_item(item: Item) -> WireItem:
    return {name: encode(value) for name, value in item.items()}


def plain(number: Decimal) -> str:
    """Numbers come back without exponent, without needless zeros, and zero without a sign."""
    if number == 0:
        return "0"
    text = format(number, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def storable(number: Decimal) -> bool:
    """Whether DynamoDB can hold it: 38 digits, 1E-130 to 9.9E+125 (Limits.html, "Number")."""
    reduced = EXACT.normalize(number)
    digits = len(reduced.as_tuple().digits)
    in_range = SMALLEST_EXPONENT <= reduced.adjusted() <= LARGEST_EXPONENT
    return reduced == 0 or (digits <= MOST_DIGITS and in_range)


def order(value: Value) -> Any:
    """What S, N and B sort by: UTF-8 bytes, the number, unsigned bytes."""
    kind, content = value
    return content.encode() if kind == "S" else content


def spelled_plainly(wire: AttributeValue) -> bool:
    """Whether a value that came back is written the way DynamoDB writes it."""
    return in_set_order(wire) == encode(decode(wire))


def in_set_order(wire: AttributeValue) -> AttributeValue:
    ((kind, content),) = wire.items()
    match kind:
        case "SS" | "NS" | "BS":
            return {kind: sorted(content)}
        case "L":
            return {kind: [in_set_order(member) for member in content]}
        case "M":
            return {kind: {name: in_set_order(member) for name, member in content.items()}}
        case _:
            return wire
