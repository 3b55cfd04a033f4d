"""A query that was asked before is answered, and refused, as it was the first time."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigtime.engine import Engine
from bigtime.engine.operations.plan_cache import MOST_KEPT
from bigtime.wire import DynamoDBError, ResourceNotFoundException, Response
from tests.engine.calls import b, call, drop_index, index, key_schema, make_table, n, s

COMPARED = {
    "=": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
PARTITIONS = ("a", "b", "ü")
BY_KIND = {
    "IndexName": "ByKind",
    "KeyConditionExpression": "#kind = :kind",
    "ExpressionAttributeNames": {"#kind": "kind"},
    "ExpressionAttributeValues": {":kind": s("new")},
}


@pytest.fixture(scope="module")
def shared_engine() -> Iterator[Engine]:
    """A table of thirty items in three partitions, with an index; nobody changes it."""
    with Engine.memory(housekeeping=False) as engine:
        fill(engine)
        yield engine


def fill(engine: Engine) -> None:
    make_table(
        engine,
        {"pk": "S", "sk": "N", "kind": "S"},
        name="Things",
        keys=("pk", "sk"),
        globally=(index("ByKind", key_schema("kind", "sk")),),
    )
    for number in range(30):
        item = {
            "pk": s(PARTITIONS[number % 3]),
            "sk": n(number),
            "kind": s("old" if number % 2 else "new"),
            "weight": n(number % 5),
        }
        call(engine, "PutItem", TableName="Things", Item=item)


def outcome(engine: Engine, asked: dict[str, Any]) -> Response | str:
    try:
        return call(engine, "Query", TableName="Things", **asked)
    except DynamoDBError as error:
        return f"{error.code}: {error.message}"


def is_known(engine: Engine) -> bool:
    return bool(engine._database.catalogue.tables["Things"].queries)


def forget(engine: Engine) -> None:
    engine._database.catalogue.tables["Things"].queries.clear()


partitions = st.sampled_from([*map(s, PARTITIONS), s("none")])
odd = st.sampled_from(
    [s(""), s("x" * 3000), n(1), n("1e999"), b(b"a"), {"S": "a", "N": "1"}, {}, {"S": None}]
)
values = st.one_of(partitions, odd)
sorts = st.one_of(st.integers(-1, 31).map(n), st.sampled_from([n("7.0"), n("7.5")]), odd)
SORTS = [
    *(f"sk {sign} :sk" for sign in ("=", "<", "<=", ">", ">=", "<>")),
    ":sk < sk",
    "sk BETWEEN :sk AND :to",
    "begins_with(sk, :sk)",
    "weight > :sk",
]
OPTIONS: dict[str, list[Any]] = {
    "ScanIndexForward": [True, False],
    "ConsistentRead": [True, False],
    "Select": ["COUNT", "ALL_ATTRIBUTES"],
    "Limit": [1, 4, 100, 0],
    "ProjectionExpression": ["sk", "weight, kind", "weight.more", "weight, weight"],
    "ReturnConsumedCapacity": ["TOTAL", "INDEXES"],
}


@st.composite
def queries(draw: st.DrawFn) -> dict[str, Any]:
    key = draw(st.sampled_from(["pk", "#p", "kind"]))
    asked: dict[str, Any] = {
        "KeyConditionExpression": f"{key} = :key",
        "ExpressionAttributeValues": {":key": draw(values)},
    }
    if key == "#p":
        asked["ExpressionAttributeNames"] = {"#p": draw(st.sampled_from(["pk", "kind", "weight"]))}
    if draw(st.booleans()):
        asked["KeyConditionExpression"] += f" AND {draw(st.sampled_from(SORTS))}"
        asked["ExpressionAttributeValues"] |= {":sk": draw(sorts)}
    if ":to" in asked["KeyConditionExpression"]:
        asked["ExpressionAttributeValues"] |= {":to": draw(sorts)}
    if draw(st.booleans()):
        asked["IndexName"] = draw(st.sampled_from(["ByKind", "Nothing"]))
    if draw(st.booleans()):
        asked["FilterExpression"] = draw(
            st.sampled_from(["weight > :v", "weight = :v", "begins_with(kind, :v)"])
        )
        asked["ExpressionAttributeValues"][":v"] = draw(
            st.one_of(st.sampled_from([n(1), n("1.0"), s("n")]), odd)
        )
    for name, choices in OPTIONS.items():
        if draw(st.booleans()):
            asked[name] = draw(st.sampled_from(choices))
    return asked


@given(st.lists(queries(), min_size=2, max_size=6))
def test_a_query_is_answered_as_if_none_had_come_before(
    shared_engine: Engine, asked: list[dict[str, Any]]
) -> None:
    first = []
    for each in asked:
        forget(shared_engine)
        first.append(outcome(shared_engine, each))
    forget(shared_engine)
    for _ in range(2):
        assert [outcome(shared_engine, each) for each in asked] == first


@given(st.sampled_from(["=", "<", "<=", ">", ">="]), st.integers(-1, 31), st.integers(-1, 31))
def test_another_bound_of_the_same_text_is_heeded(
    shared_engine: Engine, sign: str, before: int, bound: int
) -> None:
    forget(shared_engine)
    for number in (before, bound):
        found = outcome(
            shared_engine,
            {
                "KeyConditionExpression": f"pk = :pk AND sk {sign} :sk",
                "ExpressionAttributeValues": {":pk": s("a"), ":sk": n(number)},
            },
        )
        assert is_known(shared_engine)
    meant = [number for number in range(0, 30, 3) if COMPARED[sign](number, bound)]
    assert not isinstance(found, str)
    assert [int(item["sk"]["N"]) for item in found["Items"]] == meant


@given(partitions, partitions, st.integers(0, 4), st.integers(0, 4))
def test_other_values_of_the_same_text_are_heeded(
    shared_engine: Engine, one: Any, other: Any, before: int, least: int
) -> None:
    def heavy_items(partition: Any, weight: int) -> dict[str, Any]:
        return {
            "KeyConditionExpression": "pk = :pk",
            "FilterExpression": "weight >= :least",
            "ExpressionAttributeValues": {":pk": partition, ":least": n(weight)},
        }

    outcome(shared_engine, heavy_items(one, before))
    assert is_known(shared_engine)
    found = outcome(shared_engine, heavy_items(other, least))
    assert isinstance(found, dict)
    expected = [
        number for number in range(30) if s(PARTITIONS[number % 3]) == other and number % 5 >= least
    ]
    assert [int(item["sk"]["N"]) for item in found["Items"]] == expected


def test_an_unused_value_is_refused_although_the_text_is_known(shared_engine: Engine) -> None:
    asked: dict[str, Any] = {
        "KeyConditionExpression": "pk = :pk",
        "ExpressionAttributeValues": {":pk": s("a")},
    }
    outcome(shared_engine, asked)
    asked["ExpressionAttributeValues"] = {":pk": s("a"), ":more": s("b")}
    assert "unused in expressions" in str(outcome(shared_engine, asked))


def test_a_text_is_forgotten_with_its_index(engine: Engine) -> None:
    fill(engine)
    assert isinstance(outcome(engine, BY_KIND), dict)
    drop_index(engine, "Things", "ByKind")
    assert "does not have the specified index" in str(outcome(engine, BY_KIND))


def test_a_text_is_forgotten_with_its_table(engine: Engine) -> None:
    fill(engine)
    outcome(engine, BY_KIND)
    call(engine, "DeleteTable", TableName="Things")
    with pytest.raises(ResourceNotFoundException):
        call(engine, "Query", TableName="Things", **BY_KIND)


def test_however_many_texts_there_are_few_are_kept(shared_engine: Engine) -> None:
    for number in range(2 * MOST_KEPT):
        asked = {
            "KeyConditionExpression": f"pk = :v{number}",
            "ExpressionAttributeValues": {f":v{number}": s("a")},
        }
        assert isinstance(outcome(shared_engine, asked), dict)
    assert len(shared_engine._database.catalogue.tables["Things"].queries) <= MOST_KEPT
