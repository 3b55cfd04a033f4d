"""Hypothesis strategies for the things DynamoDB stores: numbers, values, items, keys."""

from __future__ import annotations

from base64 import b64decode, b64encode
from decimal import Decimal
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from bigtime.wire import AttributeValue, Item


def fewer_examples() -> settings:
    """For a law that is tried on dozens of types: a third of the profile's examples for each."""
    return settings(max_examples=settings().max_examples // 3)


def as_decimal(negative: bool, digits: int, magnitude: int) -> Decimal:
    """The number whose first significant digit stands for 10^magnitude."""
    text = str(digits)
    return Decimal(f"{'-' if negative else ''}{text}e{magnitude - len(text) + 1}")


def respelt(value: Decimal, plus: str, zeros: int, exponent: str) -> str:
    """One of the many texts of a number that DynamoDB takes."""
    sign, digits, scale = value.as_tuple()
    mantissa = "0" * zeros + "".join(map(str, digits))
    return f"{'-' if sign else plus}{mantissa}{exponent}{scale:+d}"


decimals: SearchStrategy[Decimal] = st.one_of(
    st.integers(-1000, 1000).map(Decimal),
    st.builds(
        as_decimal,
        st.booleans(),
        st.one_of(st.integers(1, 9999), st.integers(1, 10**38 - 1)),
        st.one_of(st.integers(-3, 6), st.integers(-130, 125)),
    ),
)
"""Every number that DynamoDB can store."""

spelt_numbers: SearchStrategy[str] = st.builds(
    respelt, decimals, st.sampled_from(["", "+"]), st.integers(0, 3), st.sampled_from(["e", "E"])
)
"""Texts of such numbers, with signs, leading zeros and exponents."""

numbers: SearchStrategy[str] = st.one_of(
    st.integers(-(10**9), 10**9).map(str),
    st.builds(lambda units, cents: f"{units}.{cents}", st.integers(0, 10**6), st.integers(1, 9)),
)
"""Numbers in the notation in which DynamoDB gives them back."""

texts: SearchStrategy[str] = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
names: SearchStrategy[str] = st.text(
    st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8
)
binaries: SearchStrategy[str] = st.binary(max_size=12).map(lambda raw: b64encode(raw).decode())


def tag_contents(tag: str, contents: SearchStrategy[Any]) -> SearchStrategy[AttributeValue]:
    return contents.map(lambda content: {tag: content})


def members(elements: SearchStrategy[str]) -> SearchStrategy[list[str]]:
    return st.lists(elements, min_size=1, max_size=4, unique=True)


scalars: SearchStrategy[AttributeValue] = st.one_of(
    tag_contents("S", texts),
    tag_contents("N", numbers),
    tag_contents("B", binaries),
    tag_contents("BOOL", st.booleans()),
    tag_contents("NULL", st.just(True)),
)

sets: SearchStrategy[AttributeValue] = st.one_of(
    tag_contents("SS", members(texts).map(sorted)),
    tag_contents("NS", members(numbers).map(lambda found: sorted(found, key=Decimal))),
    tag_contents("BS", members(binaries).map(lambda found: sorted(found, key=b64decode))),
)

values: SearchStrategy[AttributeValue] = st.recursive(
    st.one_of(scalars, sets),
    lambda children: st.one_of(
        tag_contents("L", st.lists(children, max_size=3)),
        tag_contents("M", st.dictionaries(names, children, max_size=3)),
    ),
    max_leaves=8,
)
"""Any attribute value, nested a few levels, as DynamoDB gives it back."""

items: SearchStrategy[Item] = st.dictionaries(names, values, max_size=6)

key_values: SearchStrategy[AttributeValue] = st.one_of(
    tag_contents("S", texts.filter(bool)),
    tag_contents("N", numbers),
    tag_contents("B", binaries.filter(bool)),
)
"""Values that may be a partition or sort key: string, number or binary, never empty."""


def keys(*attributes: str, tag: str = "S") -> SearchStrategy[Item]:
    """Keys made of the attributes named, all of one type."""
    contents = {"S": texts.filter(bool), "N": numbers, "B": binaries.filter(bool)}[tag]
    return st.fixed_dictionaries({name: tag_contents(tag, contents) for name in attributes})
