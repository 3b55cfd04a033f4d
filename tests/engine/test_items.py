"""GetItem, PutItem, UpdateItem and DeleteItem, one at a time."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from bigtime.engine import Engine
from bigtime.wire import (
    AttributeValue,
    ConditionalCheckFailedException,
    DynamoDBError,
    Item,
    Request,
    Response,
    SerializationException,
    check_item,
    item_size,
)
from tests.engine.calls import make_table, refused

INVALID = "One or more parameter values were invalid: "
NO_MATCH = "The provided key element does not match the schema"
FAILED = "The conditional request failed"
NOT_FOUND = "Requested resource not found"
PUT_TOO_LARGE = "Item size has exceeded the maximum allowed size"
UPDATE_TOO_LARGE = "Item size to update has exceeded the maximum allowed size"
ONLY_OLD = "ReturnValues can only be ALL_OLD or NONE"
BOTH_KINDS = "Can not use both expression and non-expression parameters in the same request: "
TOO_DEEP = (
    "Nesting Levels have exceeded supported limits: "
    "Attributes in the item have nested levels beyond supported limit"
)

KEY: Item = {"pk": {"S": "a"}, "sk": {"N": "1"}}
ITEM: Item = {
    **KEY,
    "note": {"S": "x"},
    "points": {"N": "5"},
    "doc": {"M": {"part": {"S": "1"}, "rest": {"N": "2"}}},
    "steps": {"L": [{"S": "zero"}, {"S": "one"}]},
}


def declare(engine: Engine, name: str = "things", **more: Any) -> None:
    attributes = {"pk": "S", "sk": "N", "g": "S", "h": "B"}
    engine(
        Request(
            "CreateTable",
            {
                "TableName": name,
                "AttributeDefinitions": [
                    {"AttributeName": one, "AttributeType": kind}
                    for one, kind in attributes.items()
                ],
                "KeySchema": [
                    {"AttributeName": "pk", "KeyType": "HASH"},
                    {"AttributeName": "sk", "KeyType": "RANGE"},
                ],
                "BillingMode": "PAY_PER_REQUEST",
                "GlobalSecondaryIndexes": [
                    {
                        "IndexName": "by-g",
                        "KeySchema": [
                            {"AttributeName": "g", "KeyType": "HASH"},
                            {"AttributeName": "h", "KeyType": "RANGE"},
                        ],
                        "Projection": {"ProjectionType": "ALL"},
                    }
                ],
                **more,
            },
        )
    )


def call(engine: Engine, operation: str, **params: Any) -> Response:
    return engine(Request(operation, {"TableName": "things", **params}))


def refusal(engine: Engine, operation: str, **params: Any) -> str:
    """The words of the refusal; and nothing has changed."""
    before = stored(engine)
    with pytest.raises(DynamoDBError) as caught:
        call(engine, operation, **params)
    assert stored(engine) == before
    return caught.value.message


def stored(engine: Engine) -> list[Item]:
    found: list[Item] = call(engine, "Scan")["Items"]
    return found


def get(engine: Engine, key: Item = KEY) -> Item | None:
    return call(engine, "GetItem", Key=key, ConsistentRead=True).get("Item")


def put(engine: Engine, item: Item = ITEM, **params: Any) -> Response:
    return call(engine, "PutItem", Item=item, **params)


def update(engine: Engine, expression: str, values: Item | None = None, **params: Any) -> Response:
    if values:
        params["ExpressionAttributeValues"] = values
    return call(engine, "UpdateItem", **{"Key": KEY, "UpdateExpression": expression, **params})


def wrapped(value: AttributeValue, times: int) -> AttributeValue:
    for _ in range(times):
        value = {"L": [value]}
    return value


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
    put(engine, {**KEY, "x": wrapped({"S": ""}, 31)})
    deeper = {**KEY, "x": wrapped({"S": ""}, 32)}
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
    put(engine, {**KEY, "deep": wrapped({"S": ""}, 31), "l": {"L": []}})
    assert refusal(engine, "UpdateItem", Key=KEY, UpdateExpression="SET l[0] = deep") == TOO_DEEP


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
        message = refused(engine, "PutItem", TableName=name, Item=item)
    assert message == PUT_TOO_LARGE
    assert exact == []
