"""GetItem, PutItem, UpdateItem and DeleteItem, one at a time."""

from __future__ import annotations

from typing import Any

import pytest

from bigtime.engine import Engine
from bigtime.wire import DynamoDBError, Item, Request, SerializationException, check_item, item_size
from tests.engine.calls import make_table, refusal_of
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

INVALID = "One or more parameter values were invalid: "
NO_MATCH = "The provided key element does not match the schema"
NOT_FOUND = "Requested resource not found"
ONLY_OLD = "ReturnValues can only be ALL_OLD or NONE"
BOTH_KINDS = "Can not use both expression and non-expression parameters in the same request: "


@pytest.fixture(autouse=True)
def table(engine: Engine) -> None:
    declare(engine)


# --- Reading --------------------------------------------------------------------------------


def test_what_is_put_is_got(engine: Engine) -> None:
    assert put(engine) == {}
    assert get(engine) == ITEM
    assert call(engine, "GetItem", Key=KEY) == {"Item": ITEM}


def test_a_missing_item_is_no_item(engine: Engine) -> None:
    assert call(engine, "GetItem", Key=KEY) == {}


def test_an_item_without_the_projected_attributes_is_an_empty_item(engine: Engine) -> None:
    put(engine)
    assert call(engine, "GetItem", Key=KEY, ProjectionExpression="nothing") == {"Item": {}}
    assert call(engine, "GetItem", Key=KEY, AttributesToGet=["nothing"]) == {"Item": {}}


def test_projections_select_parts(engine: Engine) -> None:
    put(engine)
    names = {"ExpressionAttributeNames": {"#p": "part"}}
    found = call(engine, "GetItem", Key=KEY, ProjectionExpression="doc.#p, steps[1]", **names)
    assert found["Item"] == {"doc": {"M": {"part": {"S": "1"}}}, "steps": {"L": [{"S": "one"}]}}
    assert call(engine, "GetItem", Key=KEY, AttributesToGet=["note"])["Item"] == {
        "note": {"S": "x"}
    }


def test_equal_numbers_are_one_key(engine: Engine) -> None:
    put(engine, {**ITEM, "sk": {"N": "1.00"}})
    assert get(engine) == ITEM
    assert get(engine, {**KEY, "sk": {"N": "+01e0"}}) == ITEM


def test_a_table_may_be_called_by_its_arn(engine: Engine) -> None:
    arn = call(engine, "DescribeTable")["Table"]["TableArn"]
    engine(Request("PutItem", {"TableName": arn, "Item": ITEM}))
    assert engine(Request("GetItem", {"TableName": arn, "Key": KEY})) == {"Item": ITEM}


# --- The order of checks --------------------------------------------------------------------

# Each step's faults come with those of the steps after it: the first of them is reported.
EMPTY_SET: Item = {**KEY, "x": {"SS": []}}
NO_SET = INVALID + "An string set  may not be empty"


@pytest.mark.parametrize(
    ("params", "message"),
    [
        (
            {"Key": EMPTY_SET, "ProjectionExpression": "pk.x", "AttributesToGet": ["a", "a"]},
            BOTH_KINDS + "Non-expression parameters: {AttributesToGet} "
            "Expression parameters: {ProjectionExpression}",
        ),
        (
            {"Key": EMPTY_SET, "ExpressionAttributeNames": {"#a": "a"}, "TableName": "none"},
            "ExpressionAttributeNames can only be specified when using expressions",
        ),
        (
            {"Key": EMPTY_SET, "AttributesToGet": ["a", "a"], "TableName": "none"},
            NO_SET,
        ),
        (
            {"Key": {}, "AttributesToGet": ["a", "a"], "TableName": "none"},
            INVALID + "Duplicate value in attribute name: a",
        ),
        (
            {"Key": {}, "ProjectionExpression": "a, a", "TableName": "none"},
            "Invalid ProjectionExpression: Two document paths overlap with each other; must remove "
            "or rewrite one of these paths; path one: [a], path two: [a]",
        ),
        ({"Key": {}, "ProjectionExpression": "pk.x", "TableName": "none"}, NOT_FOUND),
        ({"Key": {}, "ProjectionExpression": "pk.x"}, NO_MATCH),
        (
            {"Key": KEY, "ProjectionExpression": "pk.x"},
            "Key attributes must be scalars; list random access '[]' and map lookup '.' "
            "are not allowed: Key: pk",
        ),
        (
            {"Key": KEY, "ProjectionExpression": "g[0]"},
            "Key attributes must be scalars; list random access '[]' and map lookup '.' "
            "are not allowed: IndexKey: g",
        ),
    ],
)
def test_get_item_reports_the_first_fault(engine: Engine, params: Any, message: str) -> None:
    assert refusal(engine, "GetItem", **params) == message


@pytest.mark.parametrize(
    ("params", "message"),
    [
        (
            {"Item": EMPTY_SET, "Expected": {}, "ConditionExpression": "x", "ReturnValues": "NONE"},
            BOTH_KINDS + "Non-expression parameters: {Expected} "
            "Expression parameters: {ConditionExpression}",
        ),
        (
            {"Item": EMPTY_SET, "ExpressionAttributeValues": {":a": {"S": ""}}},
            "ExpressionAttributeValues can only be specified when using expressions: "
            "ConditionExpression is null",
        ),
        ({"Item": EMPTY_SET, "ReturnValues": "ALL_NEW"}, NO_SET),
        ({"Item": {"x": {"S": "x" * 409_600}}, "ReturnValues": "ALL_NEW"}, ONLY_OLD),
        (
            {"Item": {"x": {"S": "x" * 409_600}}, "Expected": {"a": {"Exists": True}}},
            PUT_TOO_LARGE,
        ),
        (
            {"Item": {}, "Expected": {"a": {"Exists": True}}, "TableName": "none"},
            INVALID + "Value must be provided when Exists is true for Attribute: a",
        ),
        (
            {"Item": {}, "ConditionExpression": "", "TableName": "none"},
            "Invalid ConditionExpression: The expression can not be empty;",
        ),
        ({"Item": {}, "TableName": "none"}, NOT_FOUND),
        ({"Item": {"sk": {"S": ""}}}, INVALID + "Missing the key pk in the item"),
        ({"Item": {"pk": {"S": "x"}, "g": {"N": "1"}}}, INVALID + "Missing the key sk in the item"),
        (
            {"Item": {"pk": {"SS": ["x"]}, "sk": {"S": ""}}},
            INVALID + "Type mismatch for key pk expected: S actual: SS",
        ),
        (
            {
                "Item": {**KEY, "g": {"N": "1"}},
                "ConditionExpression": "attribute_exists(pk)",
            },
            INVALID + "Type mismatch for Index Key g Expected: S Actual: N IndexName: by-g",
        ),
        ({"Item": KEY, "ConditionExpression": "attribute_exists(pk)"}, FAILED),
    ],
)
def test_put_item_reports_the_first_fault(engine: Engine, params: Any, message: str) -> None:
    assert refusal(engine, "PutItem", **params) == message


@pytest.mark.parametrize(
    ("params", "message"),
    [
        (
            {
                "Key": EMPTY_SET,
                "AttributeUpdates": {"a": {"Action": "PUT"}},
                "Expected": {},
                "UpdateExpression": "x",
                "ConditionExpression": "x",
            },
            BOTH_KINDS + "Non-expression parameters: {AttributeUpdates, Expected} "
            "Expression parameters: {UpdateExpression, ConditionExpression}",
        ),
        ({"Key": EMPTY_SET, "AttributeUpdates": {"a": {"Action": "PUT"}}}, NO_SET),
        (
            {
                "Key": {},
                "AttributeUpdates": {"a": {"Action": "PUT"}},
                "Expected": {"a": {"Exists": True}},
            },
            INVALID + "Only DELETE action is allowed when no attribute value is specified",
        ),
        (
            {"Key": {}, "UpdateExpression": "SET pk = :a", "ConditionExpression": "x"},
            "Invalid UpdateExpression: An expression attribute value used in expression is not "
            "defined; attribute value: :a",
        ),
        ({"Key": {}, "UpdateExpression": "REMOVE pk", "TableName": "none"}, NOT_FOUND),
        ({"Key": {}, "UpdateExpression": "REMOVE pk"}, NO_MATCH),
        (
            {"Key": KEY, "UpdateExpression": "REMOVE sk, pk, g.x"},
            INVALID + "Cannot update attribute pk. This attribute is part of the key",
        ),
        (
            {"Key": KEY, "AttributeUpdates": {"sk": {"Action": "DELETE"}}},
            INVALID + "Cannot update attribute sk. This attribute is part of the key",
        ),
        (
            {"Key": KEY, "UpdateExpression": "REMOVE pk.x"},
            INVALID + "Cannot update attribute pk. This attribute is part of the key",
        ),
        (
            {
                "Key": KEY,
                "UpdateExpression": "SET g = :a REMOVE h.x",
                "ExpressionAttributeValues": {":a": {"N": "1"}},
            },
            INVALID + "Type mismatch for Index Key g Expected: S Actual: N IndexName: by-g",
        ),
        (
            {
                "Key": KEY,
                "UpdateExpression": "REMOVE h.x",
                "ConditionExpression": "attribute_exists(pk)",
            },
            "Key attributes must be scalars; list random access '[]' and map lookup '.' "
            "are not allowed: IndexKey: h",
        ),
        (
            {
                "Key": KEY,
                "UpdateExpression": "SET a = b",
                "ConditionExpression": "attribute_exists(pk)",
            },
            FAILED,
        ),
        (
            {"Key": KEY, "UpdateExpression": "SET a = b"},
            "The provided expression refers to an attribute that does not exist in the item",
        ),
    ],
)
def test_update_item_reports_the_first_fault(engine: Engine, params: Any, message: str) -> None:
    assert refusal(engine, "UpdateItem", **params) == message


@pytest.mark.parametrize(
    ("params", "message"),
    [
        (
            {"Key": EMPTY_SET, "Expected": {}, "ConditionExpression": "x"},
            BOTH_KINDS + "Non-expression parameters: {Expected} "
            "Expression parameters: {ConditionExpression}",
        ),
        ({"Key": EMPTY_SET, "ReturnValues": "ALL_NEW"}, NO_SET),
        ({"Key": {}, "ConditionExpression": "", "ReturnValues": "UPDATED_OLD"}, ONLY_OLD),
        (
            {"Key": {}, "ConditionExpression": "", "TableName": "none"},
            "Invalid ConditionExpression: The expression can not be empty;",
        ),
        ({"Key": {}, "TableName": "none"}, NOT_FOUND),
        ({"Key": {**KEY, "x": {"S": "x"}}}, NO_MATCH),
        ({"Key": KEY, "ConditionExpression": "attribute_exists(pk)"}, FAILED),
    ],
)
def test_delete_item_reports_the_first_fault(engine: Engine, params: Any, message: str) -> None:
    assert refusal(engine, "DeleteItem", **params) == message


def test_half_a_surrogate_pair_is_not_a_string(engine: Engine) -> None:
    for operation in ("GetItem", "DeleteItem", "UpdateItem"):
        with pytest.raises(SerializationException):
            call(engine, operation, Key={"\ud800": {"S": "a"}, "sk": {"N": "1"}})


# --- Short ways that must not differ from the long ones -----------------------------------------

ODD_GETS: list[Any] = [
    {"TableName": "things", "Key": KEY},
    {"TableName": "things", "Key": {"pk": {"S": "b"}, "sk": {"N": "1"}}},
    {"TableName": "things", "Key": {"pk": {"S": "a"}, "sk": {"N": "1.0"}}},
    {"TableName": "things", "Key": {"pk": {"S": "a"}, "sk": {"N": "one"}}},
    {"TableName": "things", "Key": {"pk": {"S": "a"}, "sk": {"N": 1}}},
    {"TableName": "things", "Key": {"pk": {"S": ["a"]}, "sk": {"N": "1"}}},
    {"TableName": "things", "Key": {"pk": {"S": b"a"}, "sk": {"N": b"1"}}},
    {"TableName": "things", "Key": {"pk": {"S": "a", "N": None}, "sk": {"N": "1"}}},
    {"TableName": "things", "Key": {"pk": {"S": "\ud800"}, "sk": {"N": "1"}}},
    {"TableName": "things", "Key": {"pk": {"S": ""}, "sk": {"N": "1"}}},
    {"TableName": "things", "Key": {"pk": "a", "sk": "1"}},
    {"TableName": "things", "Key": {"pk": {"S": "a"}}},
    {"TableName": "things", "Key": ["pk", "sk"]},
    {"TableName": "things", "Key": None},
    {"TableName": "things", "Key": KEY, "ConsistentRead": "perhaps"},
    {"TableName": "things", "Key": KEY, "Unknown": 1},
    {"TableName": "nothing", "Key": KEY},
    {"TableName": ["things"], "Key": KEY},
    {"TableName": "things"},
    {"Key": KEY},
    [],
    None,
]


@pytest.mark.parametrize("params", ODD_GETS)
def test_quick_get_answers_as_the_checked_one(engine: Engine, params: Any) -> None:
    engine(Request("PutItem", {"TableName": "things", "Item": ITEM}))
    assert outcome(engine, params) == checked_outcome(engine, params)


def outcome(engine: Engine, params: Any) -> tuple[Any, str | None]:
    try:
        return engine(Request("GetItem", params)), None
    except DynamoDBError as error:
        return None, repr(error)


def checked_outcome(engine: Engine, params: Any) -> tuple[Any, str | None]:
    """By way of an event loop, where every request is checked."""
    answers: list[tuple[Any, str | None]] = []
    engine.submit(
        Request("GetItem", params),
        lambda response, error: answers.append((response, repr(error) if error else None)),
    )
    return answers[0]


def test_wrong_shape_of_an_item_comes_before_what_is_wrong_with_the_request(
    engine: Engine,
) -> None:
    item = {**KEY, "note": {"S": 5}}
    put = {"TableName": "things", "Item": item}
    mixed = {"ConditionExpression": "attribute_exists(pk)", "Expected": {}}
    requests: dict[str, dict[str, Any]] = {
        "PutItem": {**put, **mixed},
        "BatchWriteItem": {"RequestItems": {"things": [{"PutRequest": {"Item": item}}] * 2}},
        "TransactWriteItems": {"TransactItems": [{"Put": put}] * 2},
    }
    for operation, params in requests.items():
        with pytest.raises(SerializationException, match="NUMBER_VALUE cannot be converted"):
            engine(Request(operation, params))


@pytest.mark.parametrize(
    "expression",
    [
        "SET note = :long",
        "SET doc.part = :long",
        "SET fresh = doc, steps[1] = :long",
        "ADD points :n, tags :tags",
        "REMOVE note, doc.part, steps[0]",
        "SET again = points + :n REMOVE points",
    ],
)
def test_update_keeps_the_size_of_the_whole_item(engine: Engine, expression: str) -> None:
    values = {":long": {"S": "long" * 9}, ":n": {"N": "1.50"}, ":tags": {"SS": ["b", "a"]}}
    used = {name: value for name, value in values.items() if name in expression}
    params: dict[str, Any] = {
        "TableName": "things",
        "Key": KEY,
        "UpdateExpression": expression,
        "ReturnValues": "ALL_NEW",
    }
    if used:
        params["ExpressionAttributeValues"] = used
    engine(Request("PutItem", {"TableName": "things", "Item": ITEM}))
    after = engine(Request("UpdateItem", params))["Attributes"]
    table = engine(Request("DescribeTable", {"TableName": "things"}))["Table"]
    assert table["TableSizeBytes"] == item_size(after)
    assert check_item(after)[0] == after


def test_a_put_that_is_too_large_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading 200,000 numbers a second time took as long as the first."""
    exact: list[str] = []
    monkeypatch.setattr(
        "bigtime.engine.engine.shapes.exact", lambda operation, params: exact.append(operation)
    )
    with Engine.memory(housekeeping=False) as engine:
        name = make_table(engine, {"p": "S"}, keys=("p",))
        item = {"p": {"S": "a"}, "numbers": {"NS": [str(number) for number in range(200_000)]}}
        message = refusal_of(engine, "PutItem", TableName=name, Item=item)
    assert message == PUT_TOO_LARGE
    assert exact == []
