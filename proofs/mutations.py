"""Structured mutations of requests: each makes a valid one odd in some place.

A mutation picks any place in the tree of a request, a whole member or a leaf deep inside, and
drops it, doubles it, changes its type, wraps it, or puts something hostile there. Text that looks
like an expression is also cut into tokens and shuffled.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from copy import deepcopy
from typing import Any

Place = tuple[Any, Any]
"""A dict or list of the tree, and a key or index in it."""

HOSTILE_TEXTS = [
    "",
    " ",
    "\x00",
    "\ud800",
    "\U0010ffff" * 10,
    "é" * 300,
    "a" * 256,
    "a" * 4_097,
    "a" * 70_000,
    "NaN",
    "Infinity",
    "-0",
    "0e126",
    "1e100000000",
    "1E-100000000",
    "1e-131",
    "9" * 39,
    "9" * 100_000,
    "1" + "0" * 100_000,
    "." * 50,
    "+.e",
    "====",
    "AAA",
    "A===",
    "ünï==",
    "#",
    ":",
    "((((((((((a))))))))))",
    "(" * 20_000,
    "(" * 2_000 + "a = :a" + ")" * 2_000,
    "NOT " * 1_000 + "a = :a",
    " AND ".join(["a = :a"] * 400),
    "a" + ".a" * 2_000,
    "a" + "[0]" * 1_300,
    "a[99999999999999999999999999]",
    "a[-1]",
    "size(" * 800 + "a" + ")" * 800,
    "a IN (" + ", ".join([":a"] * 700) + ")",
    "SET " + ", ".join(f"a{n} = :a" for n in range(400)),
    "SET a = " + " + ".join([":a"] * 900),
    "REMOVE a[0], a[0]",
    "../../etc/passwd",
    "'; DROP TABLE settings; --",
    "%s%n{0}{x}",
    "arn:aws:dynamodb:us-east-1:000000000000:table/Fuzz",
    "__class__",
]
HOSTILE_VALUES: list[Any] = [
    None,
    True,
    False,
    0,
    -1,
    1,
    1.5,
    2**31,
    2**63,
    2**64,
    -(2**63) - 1,
    1e308,
    -1e-308,
    {},
    [],
    [[]],
    [None],
    {"": ""},
    {"S": None},
    {"S": "a", "N": "1"},
    {"N": "1e126"},
    {"N": "1e100000000"},
    {"N": 1},
    {"NS": ["1", "1.0"]},
    {"NS": []},
    {"SS": ["a", "a"]},
    {"BS": ["AA==", "AA=="]},
    {"B": "====="},
    {"BOOL": "true"},
    {"NULL": False},
    {"L": [{"L": []}] * 1_000},
    {"M": {"": {"S": "x"}}},
    {"X": "y"},
]
SIGNS = ["#n", ":v", "(", ")", ",", ".", "[1]", "=", "<>", "AND", "NOT", "SET", "+", "a", "size("]
TOKEN = re.compile(r"[#:]?\w+|\S|\s+")


def mutate_request(params: dict[str, Any], chance: random.Random) -> Any:
    """A copy of a request after one to four mutations."""
    tree: Any = {"": deepcopy(params)}
    for _ in range(chance.choice([1, 1, 2, 3, 4])):
        spots = places(tree)
        if not spots:
            break
        chance.choice(MUTATIONS)(*chance.choice(spots), chance)
    return tree.get("", {})


def places(tree: Any) -> list[Place]:
    found: list[Place] = []
    unvisited = [tree]
    while unvisited:
        node = unvisited.pop()
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        for key in keys:
            found.append((node, key))
            if isinstance(node[key], dict | list):
                unvisited.append(node[key])
    return found


def drop(node: Any, key: Any, chance: random.Random) -> None:
    del node[key]


def double(node: Any, key: Any, chance: random.Random) -> None:
    copies = chance.choice([1, 2, 30, 120])
    if isinstance(node, list):
        node.extend(deepcopy(node[key]) for _ in range(copies))
    else:
        node |= {f"{key}{number or ''}": deepcopy(node[key]) for number in range(copies)}


def rename(node: Any, key: Any, chance: random.Random) -> None:
    if isinstance(node, dict) and isinstance(key, str):
        name = chance.choice([key.lower(), key.upper(), key + " ", "", "S", "#text", ":text"])
        node[name] = node.pop(key)


def retype(node: Any, key: Any, chance: random.Random) -> None:
    value = node[key]
    others = [str(value)[:2_000], [value], {"S": value}, len(str(value)), None, True]
    node[key] = chance.choice(others)


def nest(node: Any, key: Any, chance: random.Random) -> None:
    for _ in range(chance.choice([1, 2, 31, 33])):
        tag = chance.choice(["L", "M"])
        node[key] = {tag: [node[key]] if tag == "L" else {"a": node[key]}}


def replace(node: Any, key: Any, chance: random.Random) -> None:
    node[key] = deepcopy(chance.choice(HOSTILE_VALUES))


def replace_text(node: Any, key: Any, chance: random.Random) -> None:
    node[key] = chance.choice(HOSTILE_TEXTS)


def stretch(node: Any, key: Any, chance: random.Random) -> None:
    if isinstance(node[key], str):
        node[key] = node[key][:50] * chance.choice([2, 50, 1_000])
    elif isinstance(node[key], int):
        node[key] = int(node[key]) * chance.choice([-1, 0, 10**6, 10**12])


def shuffle_tokens(node: Any, key: Any, chance: random.Random) -> None:
    if not isinstance(node[key], str):
        return
    tokens = TOKEN.findall(node[key][:5_000])
    for _ in range(chance.choice([1, 2, 5])):
        place = chance.randrange(len(tokens) + 1)
        if tokens and chance.random() < 0.5:
            tokens.insert(place, chance.choice(tokens))
        elif tokens and chance.random() < 0.5:
            del tokens[chance.randrange(len(tokens))]
        else:
            tokens.insert(place, chance.choice(SIGNS))
    node[key] = "".join(tokens)


MUTATIONS: list[Callable[[Any, Any, random.Random], None]] = [
    drop,
    double,
    rename,
    retype,
    nest,
    replace,
    replace_text,
    stretch,
    shuffle_tokens,
]
