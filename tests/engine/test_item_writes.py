"""PutItem, UpdateItem, DeleteItem and their conditions."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from bigtime.engine import Engine
from bigtime.wire import AttributeValue, ConditionalCheckFailedException, Item, Response
from tests.engine.item_calls import (
    FAILED,
    ITEM,
    KEY,
    PUT_TOO_LARGE,
    call,
    declare,
    get,
    put,
    refusal,
)

UPDATE_TOO_LARGE = "Item size to update has exceeded the maximum allowed size"
TOO_DEEP = (
    "Nesting Levels have exceeded supported limits: "
    "Attributes in the item have nested levels beyond supported limit"
)


@pytest.fixture(autouse=True)
def table(engine: Engine) -> None:
    declare(engine)


def update(engine: Engine, expression: str, values: Item | None = None, **params: Any) -> Response:
    if values:
        params["ExpressionAttributeValues"] = values
    return call(engine, "UpdateItem", **{"Key": KEY, "UpdateExpression": expression, **params})


def nest(value: AttributeValue, times: int) -> AttributeValue:
    for _ in range(times):
        value = {"L": [value]}
    return value


# --- PutItem --------------------------------------------------------------------------------


def test_put_replaces_the_whole_item(engine: Engine) -> None:
    put(engine)
    assert put(engine, {**KEY, "new": {"BOOL": True}}, ReturnValues="ALL_OLD") == {
        "Attributes": ITEM
    }
    assert get(engine) == {**KEY, "new": {"BOOL": True}}


def test_put_of_a_new_item_has_no_old_one_to_return(engine: Engine) -> None:
    assert put(engine, ReturnValues="ALL_OLD") == {}


def test_an_item_may_have_400_kb_with_its_names(engine: Engine) -> None:
    names = len("pk") + len("a") + len("sk") + 2 + len(b"x")
    full = {**KEY, "x": {"S": "x" * (409_600 - names)}}
    put(engine, full)
    assert get(engine) == full
    over = {**KEY, "x": {"S": "x" * (409_600 - names + 1)}}
    assert refusal(engine, "PutItem", Item=over) == PUT_TOO_LARGE
    named_in_two_bytes = {**KEY, "é": full["x"]}
    assert refusal(engine, "PutItem", Item=named_in_two_bytes) == PUT_TOO_LARGE


def test_an_item_may_be_31_levels_deep(engine: Engine) -> None:
    put(engine, {**KEY, "x": nest({"S": ""}, 31)})
    deeper = {**KEY, "x": nest({"S": ""}, 32)}
    assert refusal(engine, "PutItem", Item=deeper) == TOO_DEEP


def test_the_callers_item_is_not_changed(engine: Engine) -> None:
    item = {**ITEM, "sk": {"N": "1.0"}, "doc": {"M": {"n": {"N": "1e2"}}}}
    given = deepcopy(item)
    put(engine, item)
    update(engine, "SET doc.n = :n", {":n": {"N": "3.0"}})
    assert item == given


# --- Conditions -----------------------------------------------------------------------------


@pytest.mark.parametrize("operation", ["PutItem", "UpdateItem", "DeleteItem"])
def test_a_failed_condition_shows_the_item_only_when_asked(engine: Engine, operation: str) -> None:
    put(engine)
    target = {"Item": ITEM} if operation == "PutItem" else {"Key": KEY}
    params = {**target, "ConditionExpression": "attribute_not_exists(pk)"}
    for wanted, shown in ((None, None), ("NONE", None), ("ALL_OLD", ITEM)):
        if wanted:
            params["ReturnValuesOnConditionCheckFailure"] = wanted
        with pytest.raises(ConditionalCheckFailedException) as caught:
            call(engine, operation, **params)
        assert caught.value.item == shown
        assert ("Item" in caught.value.body()) == (shown is not None)


def test_a_failed_condition_on_nothing_has_nothing_to_show(engine: Engine) -> None:
    asked = {"ReturnValuesOnConditionCheckFailure": "ALL_OLD"}
    with pytest.raises(ConditionalCheckFailedException) as caught:
        call(engine, "DeleteItem", Key=KEY, ConditionExpression="attribute_exists(pk)", **asked)
    assert caught.value.item is None


def test_expected_is_a_condition_too(engine: Engine) -> None:
    put(engine)
    assert refusal(engine, "PutItem", Item=KEY, Expected={"pk": {"Exists": False}}) == FAILED
    either = {
        "note": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "no"}]},
        "points": {"ComparisonOperator": "GT", "AttributeValueList": [{"N": "4"}]},
    }
    assert refusal(engine, "DeleteItem", Key=KEY, Expected=either) == FAILED
    call(engine, "DeleteItem", Key=KEY, Expected=either, ConditionalOperator="OR")
    assert get(engine) is None


# --- UpdateItem -----------------------------------------------------------------------------


def test_update_makes_the_item_that_is_not_there(engine: Engine) -> None:
    update(engine, "SET a = :v", {":v": {"S": "x"}})
    assert get(engine) == {**KEY, "a": {"S": "x"}}


def test_update_without_a_word_makes_a_bare_item(engine: Engine) -> None:
    assert call(engine, "UpdateItem", Key=KEY, ReturnValues="ALL_NEW") == {"Attributes": KEY}
    assert get(engine) == KEY


def test_update_without_a_word_changes_nothing(engine: Engine) -> None:
    put(engine)
    assert call(engine, "UpdateItem", Key=KEY, ReturnValues="UPDATED_NEW") == {}
    assert call(engine, "UpdateItem", Key=KEY, AttributeUpdates={}) == {}
    assert get(engine) == ITEM


@pytest.mark.parametrize(
    "params",
    [
        {"UpdateExpression": "REMOVE a"},
        {"UpdateExpression": "DELETE a :s", "ExpressionAttributeValues": {":s": {"SS": ["x"]}}},
        {"AttributeUpdates": {"a": {"Action": "DELETE"}}},
        {"AttributeUpdates": {"a": {"Action": "DELETE", "Value": {"SS": ["x"]}}}},
    ],
)
def test_an_update_that_only_takes_away_makes_no_item(engine: Engine, params: Any) -> None:
    assert call(engine, "UpdateItem", Key=KEY, ReturnValues="ALL_NEW", **params) == {}
    assert get(engine) is None


def test_a_failed_condition_makes_no_item(engine: Engine) -> None:
    with pytest.raises(ConditionalCheckFailedException):
        update(engine, "SET a = :v", {":v": {"S": "x"}}, ConditionExpression="attribute_exists(pk)")
    assert get(engine) is None


@pytest.mark.parametrize(
    ("expression", "old", "new"),
    [
        ("SET note = :v", {"note": {"S": "x"}}, {"note": "v"}),
        ("SET note = note, more = :v", {"note": {"S": "x"}}, {"note": {"S": "x"}, "more": "v"}),
        ("SET doc.part = :v", {"doc": {"M": {"part": {"S": "1"}}}}, {"doc": {"M": {"part": "v"}}}),
        ("SET doc.more = :v", None, {"doc": {"M": {"more": "v"}}}),
        ("SET steps[1] = :v", {"steps": {"L": [{"S": "one"}]}}, {"steps": {"L": ["v"]}}),
        ("SET steps[9] = :v", None, None),
        ("REMOVE note", {"note": {"S": "x"}}, None),
        ("REMOVE doc.part SET more = :v", {"doc": {"M": {"part": {"S": "1"}}}}, {"more": "v"}),
        ("REMOVE nothing", None, None),
    ],
)
def test_updated_values_are_those_that_the_update_names(
    engine: Engine, expression: str, old: Any, new: Any
) -> None:
    values = {":v": {"S": "new"}} if ":v" in expression else None
    for wanted, shown in (("UPDATED_OLD", old), ("UPDATED_NEW", new)):
        put(engine)
        answer = update(engine, expression, values, ReturnValues=wanted)
        assert answer.get("Attributes") == spelt(shown)


def spelt(shown: Any) -> Any:
    """The short form of the new value, written out."""
    match shown:
        case "v":
            return {"S": "new"}
        case dict():
            return {name: spelt(value) for name, value in shown.items()}
        case list():
            return [spelt(value) for value in shown]
    return shown


def test_update_returns_what_it_is_asked_for(engine: Engine) -> None:
    one = {":one": {"N": "1"}}
    first = {**KEY, "n": {"N": "1"}}
    assert update(engine, "ADD n :one", one, ReturnValues="UPDATED_OLD") == {}
    assert get(engine) == first
    for wanted, shown in (
        ("NONE", None),
        ("ALL_OLD", {**KEY, "n": {"N": "2"}}),
        ("ALL_NEW", {**KEY, "n": {"N": "4"}}),
        ("UPDATED_OLD", {"n": {"N": "4"}}),
        ("UPDATED_NEW", {"n": {"N": "6"}}),
    ):
        answer = update(engine, "ADD n :one", one, ReturnValues=wanted)
        assert answer == ({"Attributes": shown} if shown else {})


def test_an_updated_item_may_not_grow_too_large_or_too_deep(engine: Engine) -> None:
    put(engine, {**KEY, "half": {"S": "x" * 210_000}})
    message = refusal(engine, "UpdateItem", Key=KEY, UpdateExpression="SET another = half")
    assert message == UPDATE_TOO_LARGE
    put(engine, {**KEY, "deep": nest({"S": ""}, 31), "l": {"L": []}})
    assert refusal(engine, "UpdateItem", Key=KEY, UpdateExpression="SET l[0] = deep") == TOO_DEEP


@pytest.mark.parametrize(
    ("expression", "beside"),
    [
        ("SET b = :b", 3 + 19),
        ("SET b = :b REMOVE x", 3 + 19 + 2),
        ("SET b = :b, c = :one", 3 + 19 + 19 + len("c") + 2),
        ("SET b = :b, n = n + :one", 3 + 19 + 19 + 50 + len("n") + 2),
        ("SET b = :b ADD n :one", 3 + 19 + 19 + len("n") + 2),
        ("SET l[0] = :b", 3 + 19 + 1 + 3 + 1),
    ],
)
def test_what_an_update_changes_has_400_kb_less_some_bytes_for_each_action(
    engine: Engine, expression: str, beside: int
) -> None:
    put(engine, {**KEY, "n": {"N": "1"}, "l": {"L": []}})
    most = 409_600 - len("b") - beside
    one = {":one": {"N": "1"}} if ":one" in expression else {}
    too_much = {":b": {"S": "x" * (most + 1)}, **one}
    asked = {"Key": KEY, "UpdateExpression": expression, "ExpressionAttributeValues": too_much}
    assert refusal(engine, "UpdateItem", **asked) == UPDATE_TOO_LARGE
    update(engine, expression, {":b": {"S": "x" * most}, **one})
    update(engine, "SET c = :one", {":one": {"N": "1"}})  # which does not count what it leaves


def test_an_item_that_an_update_leaves_as_it_is_may_be_full(engine: Engine) -> None:
    names = len("pk") + len("a") + len("sk") + 2 + len("xn") + 2
    put(engine, {**KEY, "x": {"S": "x" * (409_600 - names)}, "n": {"N": "1"}})
    update(engine, "ADD n :one", {":one": {"N": "1"}})
    asked = {"UpdateExpression": "SET o = :one", "ExpressionAttributeValues": {":one": {"N": "1"}}}
    assert refusal(engine, "UpdateItem", Key=KEY, **asked) == UPDATE_TOO_LARGE


def test_legacy_updates_put_add_and_delete(engine: Engine) -> None:
    put(engine, {**KEY, "s": {"SS": ["a", "b"]}, "n": {"N": "1"}, "gone": {"S": "x"}})
    answer = call(
        engine,
        "UpdateItem",
        Key=KEY,
        AttributeUpdates={
            "s": {"Action": "DELETE", "Value": {"SS": ["a"]}},
            "n": {"Action": "ADD", "Value": {"N": "2"}},
            "l": {"Action": "ADD", "Value": {"L": [{"S": "x"}]}},
            "gone": {"Action": "DELETE"},
            "new": {"Value": {"S": "y"}},
        },
        ReturnValues="ALL_NEW",
    )
    assert answer["Attributes"] == {
        **KEY,
        "s": {"SS": ["b"]},
        "n": {"N": "3"},
        "l": {"L": [{"S": "x"}]},
        "new": {"S": "y"},
    }


# --- DeleteItem -----------------------------------------------------------------------------


def test_delete_returns_what_it_deleted(engine: Engine) -> None:
    put(engine)
    assert call(engine, "DeleteItem", Key=KEY, ReturnValues="ALL_OLD") == {"Attributes": ITEM}
    assert get(engine) is None


def test_delete_of_nothing_is_no_error(engine: Engine) -> None:
    assert call(engine, "DeleteItem", Key=KEY, ReturnValues="ALL_OLD") == {}
