from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from bigtime.engine.expressions.parameters import read_expressions
from bigtime.engine.expressions.tree import And, leaves, operands, simple_conditions
from bigtime.wire import Item
from tests.engine.expressions.reading import holds, item, map_value, read
from tests.engine.expressions.trees import VALUES, condition_text, conditions, items, meaning

ITEM = item(
    n=5,
    s="hello",
    blank="",
    b={"B": "aGVsbG8="},
    yes=True,
    nothing=None,
    strings={"SS": ["x", "y"]},
    nums={"NS": ["1", "2.5"]},
    seq=[1, "two", {"SS": ["x", "y"]}],
    doc=map_value(core=map_value(n=7), seq=[map_value(z=9)]),
)


def bound(condition: Any) -> Any:
    used = {
        leaf.name
        for simple in simple_conditions(condition)
        for operand in operands(simple)
        for leaf in leaves(operand)
        if hasattr(leaf, "name")
    }
    params: dict[str, Any] = {"FilterExpression": condition_text(condition)}
    if used:
        params["ExpressionAttributeValues"] = {name: VALUES[name] for name in used}
    return read_expressions(params).filter


@given(conditions, items)
def test_a_condition_means_what_the_documentation_says(condition: And, subject: Item) -> None:
    assert bound(condition)(subject) is meaning(condition, subject)


@pytest.mark.parametrize(
    ("text", "values", "expected"),
    [
        ("n = :v", {"v": {"N": "5.0"}}, True),
        ("n = :v", {"v": "5"}, False),
        ("n <> :v", {"v": "5"}, True),
        ("absent = :v", {"v": 1}, False),
        ("absent <> :v", {"v": 1}, True),
        ("absent < :v", {"v": 1}, False),
        ("NOT absent < :v", {"v": 1}, True),
        ("absent <> gone", {}, True),
        ("n < :v", {"v": {"N": "5.0000000000000000001"}}, True),
        ("n <= :v", {"v": 5}, True),
        ("n > :v", {"v": {"N": "-1e100"}}, True),
        ("n >= :v", {"v": "a"}, False),
        (":v < n", {"v": 4}, True),
        (":v >= n", {"v": 4}, False),
        (":v = :w", {"v": 4, "w": {"N": "4.0"}}, True),
        ("s < :v", {"v": "i"}, True),
        ("s > :v", {"v": "Hello"}, True),
        ("b > :v", {"v": {"B": "aA=="}}, True),
        ("yes = :v", {"v": True}, True),
        ("yes = :v", {"v": 1}, False),
        ("nothing = :v", {"v": None}, True),
        ("strings = :v", {"v": {"SS": ["y", "x"]}}, True),
        ("strings <> :v", {"v": {"SS": ["y"]}}, True),
        ("nums = :v", {"v": {"NS": ["2.50", "1e0"]}}, True),
        ("seq = :v", {"v": [1, "two", {"SS": ["y", "x"]}]}, True),
        ("seq = :v", {"v": ["two", 1, {"SS": ["y", "x"]}]}, False),
        ("doc.core = :v", {"v": map_value(n={"N": "7.0"})}, True),
        ("doc.core.n = :v", {"v": 7}, True),
        ("doc.seq[0].z > doc.core.n", {}, True),
        ("doc.seq[1].z = :v", {"v": 9}, False),
        ("seq[1] = :v", {"v": "two"}, True),
        ("s[0] = :v", {"v": "h"}, False),
        ("n BETWEEN :v AND :w", {"v": 5, "w": 5}, True),
        ("n BETWEEN :v AND :w", {"v": 6, "w": 7}, False),
        (":v BETWEEN n AND :w", {"v": 6, "w": 7}, True),
        ("absent BETWEEN :v AND :w", {"v": 6, "w": 7}, False),
        ("n IN (:v, :w)", {"v": "5", "w": 5}, True),
        ("strings IN (:v)", {"v": {"SS": ["y", "x"]}}, True),
        ("n IN (s, n2, :v)", {"v": 5}, True),
        ("absent IN (:v)", {"v": 5}, False),
        ("yes IN (:v)", {"v": 1}, False),
        ("attribute_exists(n)", {}, True),
        ("attribute_exists(doc.core.n)", {}, True),
        ("attribute_exists(doc.core.m)", {}, False),
        ("attribute_exists(nothing)", {}, True),
        ("attribute_not_exists(absent)", {}, True),
        ("attribute_not_exists(seq[3])", {}, True),
        ("attribute_not_exists(seq[2])", {}, False),
        ("attribute_type(n, :v)", {"v": "N"}, True),
        ("attribute_type(n, :v)", {"v": "S"}, False),
        ("attribute_type(absent, :v)", {"v": "NULL"}, False),
        ("attribute_type(seq[2], :v)", {"v": "SS"}, True),
        ("begins_with(s, :v)", {"v": "hel"}, True),
        ("begins_with(s, :v)", {"v": ""}, True),
        ("begins_with(s, :v)", {"v": "el"}, False),
        ("begins_with(b, :v)", {"v": {"B": "aGVs"}}, True),
        ("begins_with(b, :v)", {"v": "hel"}, False),
        ("begins_with(n, :v)", {"v": "5"}, False),
        ("begins_with(s, blank)", {}, True),
        ("contains(s, :v)", {"v": "ell"}, True),
        ("contains(b, :v)", {"v": {"B": "bGw="}}, True),
        ("contains(strings, :v)", {"v": "x"}, True),
        ("contains(strings, :v)", {"v": {"SS": ["x"]}}, False),
        ("contains(nums, :v)", {"v": {"N": "2.50"}}, True),
        ("contains(seq, :v)", {"v": 1}, True),
        ("contains(seq, :v)", {"v": {"SS": ["y", "x"]}}, True),
        ("contains(doc, :v)", {"v": "core"}, False),
        ("contains(n, :v)", {"v": 5}, False),
        ("contains(:v, s)", {"v": {"SS": ["hello", "other"]}}, True),
        ("size(s) = :v", {"v": 5}, True),
        ("size(b) = :v", {"v": 5}, True),
        ("size(strings) = :v", {"v": 2}, True),
        ("size(seq) > size(doc)", {}, True),
        ("size(doc) < n", {}, True),
        ("size(n) = :v", {"v": 1}, False),
        ("size(n) <> :v", {"v": 1}, True),
        ("size(absent) = :v", {"v": 0}, False),
        ("size(:v) = n", {"v": "12345"}, True),
    ],
)
def test_what_a_condition_says_of_an_item(
    text: str, values: dict[str, Any], expected: bool
) -> None:
    assert holds(text, ITEM, **values) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("attribute_not_exists(pk)", True), ("attribute_exists(pk)", False), ("pk <> :v", True)],
)
def test_an_item_that_is_not_there_has_no_attributes(text: str, expected: bool) -> None:
    values = {"v": 1} if ":v" in text else {}
    assert holds(text, {}, **values) is expected


def test_names_may_be_anything_behind_a_placeholder() -> None:
    names = {"#1": "and", "#2": "a.b[0] #:", "#3": "ü"}
    subject: Item = {"and": map_value(**{"a.b[0] #:": {"M": {"ü": {"N": "1"}}}})}
    assert holds("#1.#2.#3 = :v", subject, names, v=1)


def test_a_filter_knows_the_attributes_it_looks_at() -> None:
    filtered = read(
        "FilterExpression",
        "#n > :v AND (size(b.c) = :v OR contains(d, e[0])) AND NOT f IN (g, :v)",
        {"#n": "first"},
        v=1,
    ).filter
    assert filtered is not None
    assert filtered.attributes == {"first", "b", "d", "e", "f", "g"}
    assert filtered.nested_attributes == {"b", "e"}


def test_one_text_serves_many_values_and_types() -> None:
    for _ in range(2):
        assert holds("n = :v", ITEM, v=5)
        assert holds("n <> :v", ITEM, v="five")
        assert holds("strings = :v", ITEM, v={"SS": ["y", "x"]})
        assert not holds("strings = :v", ITEM, v={"NS": ["1"]})
        assert holds("#x = :v", ITEM, {"#x": "n"}, v=5)
        assert not holds("#x = :v", ITEM, {"#x": "s"}, v=5)


def test_the_deepest_condition_that_is_allowed() -> None:
    depth = 149
    text = "NOT (contains(s,:v)OR " * depth + "n = :n" + ")" * depth
    assert holds(text, ITEM, v="x", n=5) is False
    assert holds(text, ITEM, v="x", n=6) is True
    text = "contains(s,:v)AND(contains(s,:v)OR(" * 110 + "n = :n" + "))" * 110
    assert holds(text, ITEM, v="h", n=5) is True
