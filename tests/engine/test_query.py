"""Query: one partition of a table or index, in the order of its sort key."""

from __future__ import annotations

import operator
from base64 import b64decode
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigtime.engine import Engine
from bigtime.wire import AttributeValue, DynamoDBError
from tests.engine.calls import b, call, index, key_schema, make_table, n, refusal_of, s
from tests.engine.queries import INVALID, legacy, make_library
from tests.strategies import binaries, numbers, tag_contents, texts

COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
CONTENTS = {"S": texts.filter(bool), "N": numbers, "B": binaries.filter(bool)}


def sortable(value: AttributeValue) -> Any:
    ((tag, content),) = value.items()
    if tag == "N":
        return Decimal(content)
    return content.encode() if tag == "S" else b64decode(content)


def holds(op: str, value: AttributeValue, operands: list[AttributeValue]) -> bool:
    mine, *others = map(sortable, (value, *operands))
    if op == "BETWEEN":
        return bool(others[0] <= mine <= others[1])
    return bool(mine.startswith(others[0]) if op == "begins_with" else COMPARE[op](mine, others[0]))


def condition(attribute: str, op: str) -> str:
    if op == "BETWEEN":
        return f"{attribute} BETWEEN :low AND :high"
    return f"begins_with({attribute}, :low)" if op == "begins_with" else f"{attribute} {op} :low"


# --- The seven conditions -----------------------------------------------------------------------


@st.composite
def sort_queries(draw: st.DrawFn) -> tuple[str, list[AttributeValue], str, list[AttributeValue]]:
    tag = draw(st.sampled_from("SNB"))
    value = tag_contents(tag, CONTENTS[tag])
    stored = draw(st.lists(value, min_size=1, max_size=8, unique_by=sortable))
    operators = ["=", "<", "<=", ">", ">=", "BETWEEN"] + ["begins_with"] * (tag != "N")
    # Values that are stored, or begin like one, are where the bounds are.
    near = st.one_of(value, st.sampled_from(stored))
    if tag == "S":
        near = st.one_of(near, st.sampled_from(stored).map(lambda one: {"S": one["S"][:1]}))
    operands = sorted([draw(near), draw(near)], key=sortable)
    op = draw(st.sampled_from(operators))
    return tag, stored, op, operands if op == "BETWEEN" else operands[:1]


@given(sort_queries(), st.sampled_from([None, "local", "global"]), st.booleans())
def test_every_condition_finds_what_it_says_in_order(
    shared_engine: Engine,
    asked: tuple[str, list[AttributeValue], str, list[AttributeValue]],
    index_name: str | None,
    forward: bool,
) -> None:
    tag, stored, op, operands = asked
    table = make_table(
        shared_engine,
        {"p": "S", "s": tag, "l": tag, "g": "S"},
        local=(index("local", key_schema("p", "l"), "KEYS_ONLY"),),
        globally=(index("global", key_schema("g", "l"), ["p"]),),
    )
    for value in stored:
        item = {"p": s("one"), "s": value, "l": value, "g": s("one")}
        call(shared_engine, "PutItem", TableName=table, Item=item)
        call(shared_engine, "PutItem", TableName=table, Item={**item, "p": s("two"), "g": s("two")})
    partition, sort = {None: ("p", "s"), "local": ("p", "l"), "global": ("g", "l")}[index_name]
    names = dict(zip((":low", ":high"), operands, strict=False))
    found = call(
        shared_engine,
        "Query",
        TableName=table,
        KeyConditionExpression=f"{partition} = :p AND {condition(sort, op)}",
        ExpressionAttributeValues={":p": s("one"), **names},
        ScanIndexForward=forward,
        **({"IndexName": index_name} if index_name else {}),
    )
    expected = sorted((v for v in stored if holds(op, v, operands)), key=sortable)
    assert [sortable(item[sort]) for item in found["Items"]] == [
        sortable(value) for value in (expected if forward else expected[::-1])
    ]
    assert found["Count"] == found["ScannedCount"] == len(expected)


def test_begins_with_goes_past_bytes_of_ff(engine: Engine) -> None:
    table = make_table(engine, {"p": "S", "s": "B"})
    for raw in (b"\xfe\xff", b"\xff", b"\xff\x00", b"\xff\xff", b"\xff\xff\x01"):
        call(engine, "PutItem", TableName=table, Item={"p": s("a"), "s": b(raw)})

    def beginning(prefix: bytes) -> list[bytes]:
        found = call(
            engine,
            "Query",
            TableName=table,
            KeyConditionExpression="p = :p AND begins_with(s, :s)",
            ExpressionAttributeValues={":p": s("a"), ":s": b(prefix)},
        )
        return [b64decode(item["s"]["B"]) for item in found["Items"]]

    assert beginning(b"\xff") == [b"\xff", b"\xff\x00", b"\xff\xff", b"\xff\xff\x01"]
    assert beginning(b"\xff\xff") == [b"\xff\xff", b"\xff\xff\x01"]
    assert beginning(b"\xfe") == [b"\xfe\xff"]


def test_a_number_is_one_key_however_it_is_spelt(engine: Engine) -> None:
    table = make_table(engine, {"p": "N", "s": "N"})
    call(engine, "PutItem", TableName=table, Item={"p": n("1.0"), "s": n("1e2")})
    found = call(
        engine,
        "Query",
        TableName=table,
        KeyConditionExpression="p = :p AND s = :s",
        ExpressionAttributeValues={":p": n("001"), ":s": n("100.00")},
        ExclusiveStartKey={"p": n("0.1e1"), "s": n(100)},
    )
    assert found["Items"] == []


# --- Keys of several attributes -----------------------------------------------------------------


@st.composite
def long_keys(draw: st.DrawFn) -> tuple[tuple[str, ...], list[tuple[AttributeValue, ...]]]:
    tags = tuple(draw(st.lists(st.sampled_from("SNB"), min_size=2, max_size=4)))
    few = {
        "S": st.sampled_from(["a", "a\x00", "a\x00\x01", "ab", "b", "\x00", "\xff"]),
        "N": st.sampled_from(["-10", "-1", "0", "1", "1.5", "10", "12", "100"]),
        "B": st.sampled_from([b"\x00", b"\x00\xff", b"\xff", b"\xff\xff", b"a"]).map(
            lambda raw: str(b(raw)["B"])
        ),
    }
    value = st.tuples(*(tag_contents(tag, few[tag]) for tag in tags))
    return tags, draw(st.lists(value, min_size=1, max_size=12))


@given(long_keys(), st.data())
def test_long_keys_are_ordered_attribute_by_attribute(
    shared_engine: Engine,
    asked: tuple[tuple[str, ...], list[tuple[AttributeValue, ...]]],
    data: st.DataObject,
) -> None:
    tags, rows = asked
    names = tuple(f"r{place}" for place in range(len(tags)))
    schema = [{"AttributeName": name, "KeyType": "HASH"} for name in ("g", "h")] + [
        {"AttributeName": name, "KeyType": "RANGE"} for name in names
    ]
    types = dict(zip(names, tags, strict=True))
    table = make_table(
        shared_engine,
        {"p": "N", "g": "S", "h": "S", **types},
        keys=("p",),
        globally=(index("long", schema),),
    )
    for number, row in enumerate(rows):
        item = {"p": n(number), "g": s("x"), "h": s("y"), **dict(zip(names, row, strict=True))}
        call(shared_engine, "PutItem", TableName=table, Item=item)
    # The same bytes, cut elsewhere, are another partition.
    stray = dict(zip(names, rows[0], strict=True))
    call(
        shared_engine,
        "PutItem",
        TableName=table,
        Item={"p": n(-1), "g": s("xy"), "h": s("y"), **stray},
    )
    row = data.draw(st.sampled_from(rows))
    depth = data.draw(st.integers(0, len(tags)))
    terms = [f"{names[place]} = :v{place}" for place in range(depth)]
    values = {f":v{place}": row[place] for place in range(depth)}
    op = None
    if depth < len(tags):
        choices = ["<", "<=", ">", ">="] + ["begins_with"] * (tags[depth] != "N")
        op = data.draw(st.sampled_from(choices))
        terms.append(condition(names[depth], op))
        values[":low"] = row[depth]
    found = call(
        shared_engine,
        "Query",
        TableName=table,
        IndexName="long",
        KeyConditionExpression=" AND ".join(["g = :g", "h = :h", *terms]),
        ExpressionAttributeValues={":g": s("x"), ":h": s("y"), **values},
    )
    expected = sorted(
        tuple(map(sortable, each))
        for each in rows
        if each[:depth] == row[:depth] and (op is None or holds(op, each[depth], [row[depth]]))
    )
    assert [tuple(sortable(item[name]) for name in names) for item in found["Items"]] == expected


@pytest.fixture
def tournaments(engine: Engine) -> Engine:
    schema = [{"AttributeName": name, "KeyType": "HASH"} for name in ("t", "r")]
    schema += [{"AttributeName": name, "KeyType": "RANGE"} for name in ("a", "b", "c")]
    attributes = {"p": "S", "t": "S", "r": "S", "a": "S", "b": "N", "c": "S"}
    matches = index("matches", schema, "KEYS_ONLY")
    make_table(engine, attributes, name="matches", keys=("p",), globally=(matches,))
    return engine


@pytest.mark.parametrize(
    ("terms", "message"),
    [
        ("t = :s", "Query condition missed key schema element: r"),
        ("r = :s AND a = :s", "Query condition missed key schema element: t"),
        ("t = :s AND r > :s", "Query key condition not supported"),
        (
            "t = :s AND r = :s AND b = :n",
            "RANGE key attributes a must have equality conditions specified in the query because "
            "a condition is present on key attribute b",
        ),
        (
            "t = :s AND r = :s AND a = :s AND c = :s",
            "RANGE key attributes b must have equality conditions specified in the query because "
            "a condition is present on key attribute c",
        ),
        (
            "t = :s AND r = :s AND a > :s AND b = :n",
            "RANGE key attributes a must have equality conditions specified in the query because "
            "a condition is present on key attribute b",
        ),
        ("t = :s AND r = :s AND p = :s", "Query condition missed key schema element: a"),
        (
            "t = :s AND r = :s AND a = :s AND b = :n AND c = :s AND p = :s",
            "The number of query conditions (6) exceeds the number of key attributes defined in "
            "the schema (5)",
        ),
        (
            "t = :s AND r = :s AND a = :n",
            INVALID + "Condition parameter type does not match schema type",
        ),
    ],
)
def test_long_keys_are_asked_from_the_left(tournaments: Engine, terms: str, message: str) -> None:
    values = {":s": s("x"), ":n": n(1)}
    used = {name: value for name, value in values.items() if name in terms}
    assert message == refusal_of(
        tournaments,
        TableName="matches",
        IndexName="matches",
        KeyConditionExpression=terms,
        ExpressionAttributeValues=used,
    )


def test_legacy_conditions_ask_a_long_key_too(tournaments: Engine) -> None:
    parts = {"t": s("x"), "r": s("x"), "a": s("x"), "b": n(1)}
    for number in range(3):
        item = {"p": s(f"{number}"), **parts, "c": s(f"c{number}")}
        call(tournaments, "PutItem", TableName="matches", Item=item)
    equal = {name: legacy("EQ", value) for name, value in parts.items()}
    asked = {**equal, "c": legacy("GE", s("c1"))}
    found = call(
        tournaments, "Query", TableName="matches", IndexName="matches", KeyConditions=asked
    )
    assert [item["c"] for item in found["Items"]] == [s("c1"), s("c2")]
    assert refusal_of(
        tournaments,
        TableName="matches",
        IndexName="matches",
        KeyConditions={**asked, "p": legacy("EQ", s("0"))},
    ) == (
        "The number of query conditions (6) exceeds the number of key attributes defined in the "
        "schema (5)"
    )
    assert refusal_of(tournaments, TableName="matches", KeyConditions=equal) == (
        "Conditions can be of length 1 or 2 only"
    )


@pytest.mark.parametrize("name", ["t", "r", "a", "b", "c"])
def test_a_filter_names_no_attribute_of_a_long_key(tournaments: Engine, name: str) -> None:
    assert refusal_of(
        tournaments,
        TableName="matches",
        IndexName="matches",
        KeyConditionExpression="t = :s AND r = :s",
        FilterExpression=f"{name} = :s",
        ExpressionAttributeValues={":s": s("x")},
    ) == (
        "Filter Expression can only contain non-primary key attributes: "
        f"Primary key attribute: {name}"
    )


# --- What is refused, in AWS's order ------------------------------------------------------------


@pytest.fixture
def library(engine: Engine) -> Engine:
    return make_library(engine)


VALUES = {
    ":s": s("x"),
    ":n": n(1),
    ":t": n(2),
    ":e": s(""),
    ":w": s("w" * 2049),
    ":bool": {"BOOL": True},
}
UNSUPPORTED = "Query key condition not supported"
MISMATCH = INVALID + "Condition parameter type does not match schema type"
EMPTY = (
    "One or more parameter values are not valid. The AttributeValue for a key attribute "
    "cannot contain an empty string value. Key: "
)


@pytest.mark.parametrize(
    ("index_name", "terms", "message"),
    [
        (None, "s = :n", "Query condition missed key schema element: p"),
        (None, "p = :s AND l = :s", "Query condition missed key schema element: s"),
        (None, "p > :s", UNSUPPORTED),
        (None, "begins_with(p, :s) AND s = :n", UNSUPPORTED),
        (None, "p = :n", MISMATCH),
        (None, "p = :bool", MISMATCH),
        (None, "p = :s AND s = :s", MISMATCH),
        (None, "p = :e", EMPTY + "p"),
        (
            None,
            "p = :s AND s = :n AND l = :s",
            "The number of query conditions (3) exceeds the number of key attributes defined in "
            "the schema (2)",
        ),
        (
            None,
            "p = :w",
            INVALID + "Size of hashkey has exceeded the maximum size limit of2048 bytes",
        ),
        ("local", "p = :s AND begins_with(l, :e)", EMPTY + "l"),
        ("local", "p = :s AND s = :n", "Query condition missed key schema element: l"),
        (
            "local",
            "p = :s AND l = :w",
            INVALID + "Aggregated size of all range keys has exceeded the size limit of 1024 bytes",
        ),
        ("global", "p = :s", "Query condition missed key schema element: g"),
        (
            "global",
            "g = :s AND h = :n AND p = :s",
            "The number of query conditions (3) exceeds the number of key attributes defined in "
            "the schema (2)",
        ),
        ("lone", "g = :s AND h = :n", UNSUPPORTED),
        ("lone", "p = :s AND h = :n", UNSUPPORTED),
        ("absent", "p = :s", "The table does not have the specified index: absent"),
        (None, "p = :s OR s = :n", "Invalid operator used in KeyConditionExpression: OR"),
        (None, "NOT p = :s", "Invalid operator used in KeyConditionExpression: NOT"),
        (None, "p <> :s", "Invalid operator used in KeyConditionExpression: <>"),
        (None, "p IN (:s)", "Invalid operator used in KeyConditionExpression: IN"),
        (
            None,
            "p = :s AND p = :s",
            "Invalid KeyConditionExpression: "
            "KeyConditionExpressions must only contain one condition per key",
        ),
        (
            None,
            "p = :s AND s BETWEEN :t AND :n",
            "Invalid KeyConditionExpression: "
            "The BETWEEN operator requires upper bound to be greater than or equal to lower bound; "
            "lower bound operand: AttributeValue: {N:2}, "
            "upper bound operand: AttributeValue: {N:1}",
        ),
    ],
)
def test_key_conditions_must_fit_the_key(
    library: Engine, index_name: str | None, terms: str, message: str
) -> None:
    used = {name: value for name, value in VALUES.items() if name in terms}
    assert message == refusal_of(
        library,
        TableName="books",
        KeyConditionExpression=terms,
        ExpressionAttributeValues=used,
        **({"IndexName": index_name} if index_name else {}),
    )


@pytest.mark.parametrize(
    ("conditions", "message"),
    [
        ({}, "Conditions can be of length 1 or 2 only"),
        (
            {"p": legacy("EQ", s("x")), "s": legacy("NE", n(1))},
            "Attempted conditional constraint is not an indexable operation",
        ),
        (
            {"p": legacy("EQ", s("x")), "s": legacy("BETWEEN", n(2), n(1))},
            "The BETWEEN condition was provided a range where the lower bound is greater than "
            "the upper bound",
        ),
        (
            {"p": legacy("EQ")},
            INVALID + "Invalid number of argument(s) for the EQ ComparisonOperator",
        ),
    ],
)
def test_legacy_key_conditions_must_fit_the_key(
    library: Engine, conditions: Any, message: str
) -> None:
    assert refusal_of(library, TableName="books", KeyConditions=conditions) == message


def test_legacy_parameters_find_the_same(library: Engine) -> None:
    for number in range(5):
        item = {"p": s("x"), "s": n(number), "even": {"BOOL": number % 2 == 0}}
        call(library, "PutItem", TableName="books", Item=item)
    found = call(
        library,
        "Query",
        TableName="books",
        KeyConditions={"p": legacy("EQ", s("x")), "s": legacy("GE", n(1))},
        QueryFilter={"even": legacy("EQ", {"BOOL": True})},
        AttributesToGet=["s"],
    )
    assert found["Items"] == [{"s": n(2)}, {"s": n(4)}]
    assert (found["Count"], found["ScannedCount"]) == (2, 4)


def test_a_query_needs_a_key_condition(library: Engine) -> None:
    assert refusal_of(library, TableName="books") == (
        "Either the KeyConditions or KeyConditionExpression parameter "
        "must be specified in the request."
    )


@pytest.mark.parametrize(
    ("index_name", "partition", "key"),
    [(None, "p", "p"), (None, "p", "s"), ("global", "g", "h"), ("local", "p", "l")],
)
def test_a_filter_names_no_key_it_is_queried_by(
    library: Engine, index_name: str | None, partition: str, key: str
) -> None:
    where = {"IndexName": index_name} if index_name else {}
    reason = f"can only contain non-primary key attributes: Primary key attribute: {key}"
    assert f"Filter Expression {reason}" == refusal_of(
        library,
        TableName="books",
        KeyConditionExpression=f"{partition} = :s",
        FilterExpression=f"attribute_exists({key})",
        ExpressionAttributeValues={":s": s("x")},
        **where,
    )
    assert f"QueryFilter {reason}" == refusal_of(
        library,
        TableName="books",
        KeyConditions={partition: legacy("EQ", s("x"))},
        QueryFilter={key: legacy("NOT_NULL")},
        **where,
    )


def test_a_filter_of_an_index_may_name_the_keys_of_the_table(library: Engine) -> None:
    item = {"p": s("x"), "s": n(1), "g": s("y"), "h": n(2)}
    call(library, "PutItem", TableName="books", Item=item)
    found = call(
        library,
        "Query",
        TableName="books",
        IndexName="global",
        KeyConditionExpression="g = :g",
        FilterExpression="s < :s",
        ExpressionAttributeValues={":g": s("y"), ":s": n(5)},
    )
    assert found["Items"] == [item]


def test_projections_and_filters_look_into_no_key(library: Engine) -> None:
    scalars = (
        "Key attributes must be scalars; list random access '[]' and map lookup '.' "
        "are not allowed: "
    )
    asked = {"TableName": "books", "KeyConditionExpression": "p = :s"}
    values = {":s": s("x")}
    assert scalars + "Key: s" == refusal_of(
        library, **asked, ExpressionAttributeValues=values, ProjectionExpression="s.a"
    )
    assert scalars + "IndexKey: g" == refusal_of(
        library, **asked, ExpressionAttributeValues=values, FilterExpression="g.a = :s"
    )
    # The projection is looked at before the keys in the filter, and those before its paths.
    assert scalars + "Key: s" == refusal_of(
        library,
        **asked,
        ExpressionAttributeValues=values,
        ProjectionExpression="s.a",
        FilterExpression="p = :s",
    )
    assert "Primary key attribute: p" in refusal_of(
        library, **asked, ExpressionAttributeValues=values, FilterExpression="p = :s AND g.a = :s"
    )


def test_global_indexes_have_no_consistent_reads(library: Engine) -> None:
    assert (
        refusal_of(
            library,
            TableName="books",
            IndexName="global",
            KeyConditionExpression="g = :s",
            ExpressionAttributeValues={":s": s("x")},
            ConsistentRead=True,
        )
        == "Consistent reads are not supported on global secondary indexes"
    )


def test_no_table_is_found_before_the_request_is_sound(engine: Engine) -> None:
    with pytest.raises(DynamoDBError) as caught:
        call(
            engine,
            "Query",
            TableName="nowhere",
            KeyConditionExpression="p = :s",
            ExpressionAttributeValues={":s": s("x")},
        )
    assert (caught.value.code, caught.value.message) == (
        "ResourceNotFoundException",
        "Requested resource not found",
    )
    assert refusal_of(engine, TableName="nowhere", KeyConditions={}) == (
        "Conditions can be of length 1 or 2 only"
    )
    assert refusal_of(
        engine,
        TableName="nowhere",
        KeyConditionExpression="p = :s",
        ExpressionAttributeValues={":s": s("x")},
        Select="SPECIFIC_ATTRIBUTES",
    ).endswith("when choosing to get SPECIFIC_ATTRIBUTES")
