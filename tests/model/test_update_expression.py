"""An update in a dry run leaves what the engine's update leaves."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given

from bigtime.advisor.capacity import canonical_item
from bigtime.advisor.update_expression import updated
from bigtime.engine import Engine
from bigtime.wire import Item, Request
from tests.strategies import decimals

KEY: Item = {"pk": {"S": "a"}}
BEFORE: Item = {
    **KEY,
    "n": {"N": "7"},
    "list": {"L": [{"S": "x"}, {"S": "y"}, {"S": "z"}]},
    "map": {"M": {"within_it": {"N": "1"}, "below": {"M": {"l": {"L": [{"N": "5"}]}}}}},
    "members": {"SS": ["a", "b"]},
    "sums": {"NS": ["1", "2.50"]},
}
VALUES: Item = {
    ":n": {"N": "2.50"},
    ":s": {"S": "text"},
    ":l": {"L": [{"S": "w"}]},
    ":e": {"L": []},
    ":ss": {"SS": ["b", "c"]},
    ":ns": {"NS": ["2.5", "9"]},
}
NAMES = {"#n": "n", "#l": "list", "#m": "map"}

EXPRESSIONS = [
    "SET #n = :n",
    "SET #n = #n + :n",
    "SET #n = :n - #n, more_of_it = #n",
    "SET fresh = if_not_exists(fresh, :s), #n = if_not_exists(#n, :s)",
    "SET #l = list_append(:l, #l)",
    "SET fresh = list_append(if_not_exists(fresh, :e), :l)",
    "SET #l[1] = :s",
    "SET #l[9] = :s",
    "SET #m.#n = :s, #m.below.l[0] = :n",
    "SET copied = #m.below",
    "REMOVE #n, absent",
    "REMOVE #l[0], #l[2]",
    "REMOVE #m.below.l[0], #m.within_it",
    "ADD #n :n, fresh :n",
    "ADD members :ss, sums :ns, more_of_it :ss",
    "DELETE members :ss, sums :ns, absent :ss",
    "DELETE members :both",
    "SET a = :s REMOVE #n ADD fresh :n DELETE members :ss",
    "set a = :s remove #n",
]


def request(expression: str) -> dict[str, Any]:
    names = {mark: name for mark, name in NAMES.items() if mark in expression}
    values = {**VALUES, ":both": {"SS": ["a", "b"]}}
    marks = re.findall(r":\w+", expression)
    used = {mark: value for mark, value in values.items() if mark in marks}
    params: dict[str, Any] = {"TableName": "things", "Key": KEY, "UpdateExpression": expression}
    if names:
        params["ExpressionAttributeNames"] = names
    if used:
        params["ExpressionAttributeValues"] = used
    return params


@pytest.fixture
def table(engine: Engine) -> Engine:
    engine(
        Request(
            "CreateTable",
            {
                "TableName": "things",
                "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
                "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
                "BillingMode": "PAY_PER_REQUEST",
            },
        )
    )
    return engine


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_an_expression_leaves_what_the_engine_leaves(table: Engine, expression: str) -> None:
    table(Request("PutItem", {"TableName": "things", "Item": BEFORE}))
    params = request(expression)
    answer = table(Request("UpdateItem", {**params, "ReturnValues": "ALL_NEW"}))
    assert updated(BEFORE, params) == canonical_item(answer["Attributes"])


@pytest.mark.parametrize(
    "expression", ["SET a = :s", "ADD #n :n", "REMOVE #n", "DELETE members :ss"]
)
def test_what_is_not_there_starts_from_its_key(table: Engine, expression: str) -> None:
    params = request(expression)
    answer = table(Request("UpdateItem", {**params, "ReturnValues": "ALL_NEW"}))
    assert updated(KEY, params) == canonical_item(answer.get("Attributes", KEY))


@given(decimals.filter(lambda one: abs(one.adjusted()) < 15 and len(one.as_tuple().digits) < 15))
def test_sums_are_exact(value: Any) -> None:
    params = {
        "UpdateExpression": "SET #n = #n + :n",
        "ExpressionAttributeNames": {"#n": "n"},
        "ExpressionAttributeValues": {":n": {"N": str(value)}},
    }
    after = updated({**KEY, "n": {"N": "7"}}, params)
    assert type(value)(after["n"]["N"]) == value + 7


def test_the_item_before_is_not_touched() -> None:
    kept = canonical_item(BEFORE)
    updated(kept, request("SET #m.below.l[0] = :n"))
    assert kept == canonical_item(BEFORE)
