"""The few keys, names and values that everything is made of, so that operations collide.

Small on purpose, and full of what breaks comparisons: one number in several spellings, strings
whose UTF-8 and UTF-16 orders differ, bytes above 0x7f, empty strings and binaries, a list in a map
in a list, names that only a placeholder can say.
"""

from __future__ import annotations

import base64
from random import Random

from bigtime.wire import AttributeValue, Item
from tests.reference.designs import ATTRIBUTE_TYPES, Design

STRINGS = ("a", "ab", "\ufffd", "\U00010000", "aa", "b", "é", "a\U0001f600", "Z", "~", "a b")
NUMBERS = (
    "0", "-0", "0.0", "1", "1.0", "1e0", "+1", "01", "2", "10", "1E1", "9", "-1", "-1.50", "-1.5",
    ".5", "0.50", "99", "100", "-100", "1e-130", "9.99e125", "-9.99E+125", "1" * 38,
    "0." + "1" * 38,
)  # fmt: skip
BINARIES = (b"a", b"ab", b"\x80", b"\xff", b"\x00", b"\x00\x00", b"\x7f", b"\xff\x00", b"\xc3\xa9")
FREE_NAMES = ("a", "b", "c", "name", "d.e", "f-1")
"""Attributes of no key: `name` is reserved, the last two need a placeholder."""

FAVOURED = {"a": "N", "b": "L", "c": "M", "name": "NS", "d.e": "S", "f-1": "L"}
"""The type that an attribute has most of the time, so that paths and operands often fit."""

MEMBER_NAMES = ("a", "b", "x y")
PARTITIONS: dict[str, tuple[str | bytes, ...]] = {
    "S": ("a", "\U00010000"),
    "N": ("1", "1.0", "-2"),
    "B": (b"a", b"\xff"),
}
SORTS: dict[str, tuple[str | bytes, ...]] = {
    "S": STRINGS,
    "N": ("1", "1.0", "-1.5", "10", "0", "2", "-1", ".5", "1e-130", "9.99e125", "-100"),
    "B": BINARIES,
}
TYPES = ("S", "N", "B", "BOOL", "NULL", "SS", "NS", "BS", "L", "M")


def wire(kind: str, content: str | bytes) -> AttributeValue:
    text = base64.b64encode(content).decode() if isinstance(content, bytes) else content
    return {kind: text}


def key_value(dice: Random, design: Design, name: str) -> AttributeValue:
    """A value for a key attribute; a few of them most of the time, so that items meet."""
    kind = ATTRIBUTE_TYPES[name]
    pool = (PARTITIONS if name == design.partition or name in "gh" else SORTS)[kind]
    return wire(kind, dice.choice(pool[:4] if dice.random() < 0.7 else pool))


def key(dice: Random, design: Design) -> Item:
    return {name: key_value(dice, design, name) for name in design.keys}


def item(dice: Random, design: Design, size: int) -> Item:
    made = key(dice, design)
    for name in design.index_keys:
        if dice.random() < 0.7:
            made[name] = key_value(dice, design, name)
    for name in dice.sample(FREE_NAMES, dice.randint(0, size + 2)):
        made[name] = value_for(dice, name, size)
    for name in ("g", "n"):
        if name not in design.index_keys and dice.random() < 0.2:
            made[name] = value(dice, size)
    return made


def value_for(dice: Random, name: str, depth: int) -> AttributeValue:
    if dice.random() < 0.7:
        return value_of(dice, FAVOURED[name], depth)
    return value(dice, depth)


def value(dice: Random, depth: int) -> AttributeValue:
    kinds = TYPES if depth > 0 else TYPES[:8]
    return value_of(dice, dice.choice(kinds), depth)


def value_of(dice: Random, kind: str, depth: int = 0) -> AttributeValue:
    match kind:
        case "S" | "N" | "B":
            return scalar(dice, kind)
        case "BOOL":
            return {kind: dice.random() < 0.5}
        case "NULL":
            return {kind: True}
        case "SS" | "NS" | "BS":
            return members(dice, kind)
        case "L":
            return {kind: [value(dice, depth - 1) for _ in range(dice.randint(0, 4))]}
        case _:
            names = dice.sample(MEMBER_NAMES, dice.randint(0, 2))
            return {"M": {name: value(dice, depth - 1) for name in names}}


def scalar(dice: Random, kind: str) -> AttributeValue:
    match kind:
        case "S":
            return {kind: dice.choice((*STRINGS, ""))}
        case "N":
            return {kind: dice.choice(NUMBERS)}
        case _:
            return wire(kind, dice.choice((*BINARIES, b"")))


def members(dice: Random, kind: str) -> AttributeValue:
    """A set: members differ as values, not just as texts (1 and 1.0 would be refused)."""
    pools = {
        "SS": (*STRINGS[:6], ""),
        "NS": ("1.0", "0", "2", "-1.5", "1e1", "9.9e1"),
        "BS": (*BINARIES[:6], b""),
    }
    chosen = dice.sample(pools[kind], dice.randint(1, 3))
    return {kind: [wire(kind[0], member)[kind[0]] for member in chosen]}
