"""TransactWriteItems and TransactGetItems."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bigtime.engine import Engine
from bigtime.wire import (
    AttributeValue,
    DynamoDBError,
    IdempotentParameterMismatchException,
    Item,
    Request,
    Response,
    SerializationException,
    TransactionCanceledException,
    ValidationException,
)

INVALID = "One or more parameter values were invalid: "
NOT_VALID = "One or more parameter values are not valid. "
NO_MATCH = "The provided key element does not match the schema"
EMPTY_KEY = (
    NOT_VALID + "The AttributeValue for a key attribute cannot contain an empty string value. "
    "Key: pk"
)
SAME_ITEM = "Transaction request cannot include multiple operations on one item"
TOO_MUCH = "The aggregate size of the items in the transaction cannot exceed 4 MB"
REQUEST_TOO_LARGE = "Transaction request size cannot exceed 4 MB"
TOO_DEEP = (
    "Nesting Levels have exceeded supported limits: "
    "Attributes in the item have nested levels beyond supported limit"
)
NONE = {"Code": "None"}
FAILED = {"Code": "ConditionalCheckFailed", "Message": "The conditional request failed"}
MAX_ITEM = 409_600


@pytest.fixture(autouse=True)
def tables(engine: Engine) -> None:
    declare(engine)


def declare(engine: Engine) -> None:
    for name in ("things", "others"):
        params = {
            "TableName": name,
            "AttributeDefinitions": [
                {"AttributeName": "pk", "AttributeType": "S"},
                {"AttributeName": "g", "AttributeType": "S"},
            ],
            "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
            "GlobalSecondaryIndexes": [
                {
                    "IndexName": "by-g",
                    "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}],
                    "Projection": {"ProjectionType": "ALL"},
                }
            ],
            "BillingMode": "PAY_PER_REQUEST",
        }
        engine(Request("CreateTable", params))


def key(name: object) -> Item:
    return {"pk": {"S": str(name)}}


def put(item: Item, **params: Any) -> Response:
    return {"Put": {"TableName": "things", "Item": item, **params}}


def delete(name: object, **params: Any) -> Response:
    return {"Delete": {"TableName": "things", "Key": key(name), **params}}


def check(name: object, condition: str = "attribute_exists(pk)", **params: Any) -> Response:
    return {
        "ConditionCheck": {
            "TableName": "things",
            "Key": key(name),
            "ConditionExpression": condition,
            **params,
        }
    }


def update(name: object, expression: str, values: Item | None = None, **params: Any) -> Response:
    if values:
        params["ExpressionAttributeValues"] = values
    given = {"TableName": "things", "Key": key(name), "UpdateExpression": expression}
    return {"Update": {**given, **params}}


def add_one(name: object) -> Response:
    return update(name, "ADD n :one", {":one": {"N": "1"}})


def transact(engine: Engine, *actions: Response, **params: Any) -> Response:
    return engine(Request("TransactWriteItems", {"TransactItems": list(actions), **params}))


def stored_items(engine: Engine, table: str = "things") -> dict[str, Item]:
    items = engine(Request("Scan", {"TableName": table}))["Items"]
    return {item["pk"]["S"]: item for item in items}


def reasons(engine: Engine, *actions: Response) -> list[Response]:
    """Why the transaction was cancelled; and nothing has changed."""
    before = stored_items(engine)
    with pytest.raises(TransactionCanceledException) as caught:
        transact(engine, *actions)
    assert stored_items(engine) == before
    codes = ", ".join(reason["Code"] for reason in caught.value.reasons)
    assert caught.value.message == (
        f"Transaction cancelled, please refer cancellation reasons for specific reasons [{codes}]"
    )
    return caught.value.reasons


def refusal(engine: Engine, *actions: Response, **params: Any) -> str:
    """Why the request was refused as a whole; and nothing has changed."""
    before = stored_items(engine)
    with pytest.raises(DynamoDBError) as caught:
        transact(engine, *actions, **params)
    assert not isinstance(caught.value, TransactionCanceledException)
    assert stored_items(engine) == before
    return caught.value.message


def invalid(message: str) -> Response:
    return {"Code": "ValidationError", "Message": message}


def nest(value: AttributeValue, times: int) -> AttributeValue:
    for _ in range(times):
        value = {"L": [value]}
    return value


# --- All or nothing -------------------------------------------------------------------------


def test_a_transaction_does_all_of_its_actions(engine: Engine) -> None:
    transact(engine, put(key("old")), put(key("changed")), put(key("checked")))
    other = {"Put": {"TableName": "others", "Item": key("a")}}
    answer = transact(
        engine,
        put(key("new")),
        delete("old"),
        update("changed", "SET a = :v", {":v": {"S": "x"}}),
        check("checked"),
        check("nothing", "attribute_not_exists(pk)"),
        other,
    )
    assert answer == {}
    assert stored_items(engine) == {
        "new": key("new"),
        "changed": {**key("changed"), "a": {"S": "x"}},
        "checked": key("checked"),
    }
    assert stored_items(engine, "others") == {"a": key("a")}


def test_a_hundred_actions_are_not_too_many(engine: Engine) -> None:
    transact(engine, *(put(key(number)) for number in range(100)))
    assert len(stored_items(engine)) == 100
    message = refusal(engine, *(delete(number) for number in range(101)))
    assert message.endswith("Member must have length less than or equal to 100")


def test_every_failed_condition_is_reported(engine: Engine) -> None:
    transact(engine, put({**key("a"), "n": {"N": "1"}}))
    assert reasons(
        engine,
        put(key("b")),
        put(key("a"), ConditionExpression="attribute_not_exists(pk)"),
        delete("c", ConditionExpression="attribute_exists(pk)"),
        check("d"),
        add_one("e"),
    ) == [NONE, FAILED, FAILED, FAILED, NONE]


def test_each_failed_condition_shows_its_item_when_asked(engine: Engine) -> None:
    item = {**key("a"), "n": {"N": "1"}}
    transact(engine, put(item), put(key("b")))
    asked = {"ReturnValuesOnConditionCheckFailure": "ALL_OLD"}
    missing = "attribute_not_exists(pk)"
    assert reasons(
        engine,
        check("a", missing, **asked),
        put(key("b"), ConditionExpression=missing),
        check("nothing", **asked),
    ) == [{**FAILED, "Item": item}, FAILED, FAILED]


def test_a_cancelled_transaction_says_so_in_its_body(engine: Engine) -> None:
    with pytest.raises(TransactionCanceledException) as caught:
        transact(engine, put(key("a")), check("b"))
    assert caught.value.body() == {
        "__type": "com.amazonaws.dynamodb.v20120810#TransactionCanceledException",
        "Message": "Transaction cancelled, please refer cancellation reasons for specific reasons "
        "[None, ConditionalCheckFailed]",
        "CancellationReasons": [NONE, FAILED],
    }


# --- What cancels ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (put({}), INVALID + "Missing the key pk in the item"),
        (put({"pk": {"N": "1"}}), INVALID + "Type mismatch for key pk expected: S actual: N"),
        (put({"pk": {"M": {}}}), INVALID + "Type mismatch for key pk expected: S actual: M"),
        (
            put(key("x" * 2049)),
            INVALID + "Size of hashkey has exceeded the maximum size limit of2048 bytes",
        ),
        (
            delete("x" * MAX_ITEM),
            INVALID + "Size of hashkey has exceeded the maximum size limit of2048 bytes",
        ),
        (delete("a", Key={}), NO_MATCH),
        (check("a", Key={"pk": {"N": "1"}}), NO_MATCH),
        (update("a", "REMOVE x", Key={**key("a"), "x": {"S": "x"}}), NO_MATCH),
        (
            put({**key("a"), "g": {"N": "1"}}),
            INVALID + "Type mismatch for Index Key g Expected: S Actual: N IndexName: by-g",
        ),
        (
            update("a", "SET g = :n", {":n": {"N": "1"}}),
            INVALID + "Type mismatch for Index Key g Expected: S Actual: N IndexName: by-g",
        ),
        (
            update("a", "REMOVE pk"),
            INVALID + "Cannot update attribute pk. This attribute is part of the key",
        ),
        (
            update("a", "SET x = y"),
            "The provided expression refers to an attribute that does not exist in the item",
        ),
        (
            update("a", "SET g = :long", {":long": {"S": "x" * 2049}}),
            "The update expression attempted to update the secondary index key beyond allowed "
            "size limits",
        ),
        (
            update("full", "SET g = n"),
            "The update expression attempted to update the secondary index key to unsupported type",
        ),
        (
            update("full", "ADD n :s", {":s": {"SS": ["a"]}}),
            "An operand in the update expression has an incorrect data type",
        ),
        (
            update("full", "SET n.x = :s", {":s": {"S": "a"}}),
            "The document path provided in the update expression is invalid for update",
        ),
        (
            update("full", "SET another = half"),
            "Item size to update has exceeded the maximum allowed size",
        ),
        (update("a", "SET x = :deep", {":deep": nest({"S": ""}, 32)}), TOO_DEEP),
        (
            update(
                "a",
                "REMOVE x",
                {":deep": nest({"S": ""}, 32)},
                ConditionExpression="x <> :deep",
            ),
            TOO_DEEP,
        ),
        (update("a", "SET x = :deep", {":deep": nest({"S": ""}, 32)}, Key={}), NO_MATCH),
    ],
)
def test_what_is_wrong_at_an_item_cancels(engine: Engine, action: Response, message: str) -> None:
    transact(engine, put({**key("full"), "n": {"N": "1"}, "half": {"S": "x" * 210_000}}))
    assert reasons(engine, put(key("b")), action, put(key("c"))) == [NONE, invalid(message), NONE]


def test_only_the_first_invalid_action_is_reported(engine: Engine) -> None:
    wrong = put({})
    first = invalid(INVALID + "Missing the key pk in the item")
    assert reasons(engine, put(key("a")), wrong, check("b"), wrong) == [NONE, first, NONE, NONE]


# --- What is refused as a whole -------------------------------------------------------------


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ([{}], "TransactItems can only contain one of Check, Put, Update or Delete"),
        (
            [{**put(key("a")), **delete("a")}],
            "TransactItems can only contain one of Check, Put, Update or Delete",
        ),
        ([put(key("a")), delete("a")], SAME_ITEM),
        ([check("a"), add_one("a")], SAME_ITEM),
        (
            [put({}), put({**key("a"), "x": {"SS": []}})],
            INVALID + "An string set  may not be empty",
        ),
        (
            [put({}), put({**key("a"), "x": {"N": "1e126"}})],
            "Number overflow. "
            "Attempting to store a number with magnitude larger than supported range",
        ),
        (
            [put({}), put(key("a"), ConditionExpression="pk = :v")],
            "Invalid ConditionExpression: An expression attribute value used in expression is not "
            "defined; attribute value: :v",
        ),
        (
            [put({}), add_one("a"), update("b", "SET pk")],
            'Invalid UpdateExpression: Syntax error; token: "<EOF>", near: "pk"',
        ),
        (
            [
                put(
                    key("a"),
                    ConditionExpression="attribute_not_exists(pk)",
                    ExpressionAttributeNames={"#a": "a"},
                )
            ],
            "Value provided in ExpressionAttributeNames unused in expressions: keys: {#a}",
        ),
        (
            [put({}), {"Delete": {"TableName": "none", "Key": {}}}],
            "Requested resource not found",
        ),
        (
            [put({}), put({**key("a"), "x": {"S": "x" * MAX_ITEM}})],
            "Item size has exceeded the maximum allowed size",
        ),
        ([put({}), put({**key("a"), "x": nest({"S": ""}, 32)})], TOO_DEEP),
        ([put({}), put(key(""))], EMPTY_KEY),
        ([put({}), delete("")], EMPTY_KEY),
        ([put({}), check("")], EMPTY_KEY),
        ([put({}), update("", "REMOVE x")], EMPTY_KEY),
        (
            [put({}), put({**key("a"), "g": {"S": ""}})],
            NOT_VALID + "A value specified for a secondary index key is not supported. The "
            "AttributeValue for a key attribute cannot contain an empty string value. "
            "IndexName: by-g, IndexKey: g",
        ),
        (
            [put({}), update("a", "SET g = :e", {":e": {"S": ""}})],
            NOT_VALID + "The update expression attempted to update a secondary index key to a "
            "value that is not supported. The AttributeValue for a key attribute cannot contain "
            "an empty string value.",
        ),
    ],
)
def test_what_is_wrong_with_the_request_refuses_it_whole(
    engine: Engine, actions: list[Response], message: str
) -> None:
    assert refusal(engine, *actions) == message


def test_names_and_values_that_no_expression_could_use_are_no_error(engine: Engine) -> None:
    names, values = {"#a": "a"}, {":a": {"S": "a"}}
    given = {"ExpressionAttributeNames": names, "ExpressionAttributeValues": values}
    transact(engine, put(key("a"), **given), delete("b", **given))
    assert transact_get(engine, get("a", ExpressionAttributeNames=names)) == [{"Item": key("a")}]


def test_the_items_of_a_transaction_have_4_mb_together(engine: Engine) -> None:
    each = MAX_ITEM - 10
    items = [{**key(number), "x": {"S": "x" * (each - 4)}} for number in range(11)]
    assert refusal(engine, *(put(item) for item in items)) == REQUEST_TOO_LARGE
    transact(engine, *(put(item) for item in items[:10]))
    long = {":v": {"S": "x" * 200_000}}
    updates = [update(f"u{number}", "SET x = :v", long) for number in range(21)]
    assert refusal(engine, *updates) == REQUEST_TOO_LARGE
    transact(engine, put(items[10]), *updates[:1])
    transact(engine, *(delete(number) for number in range(11)))
    assert list(stored_items(engine)) == ["u0"]


# --- Tokens ---------------------------------------------------------------------------------


class Clock:
    def __init__(self) -> None:
        self.now = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def timed_engine(clock: Clock) -> Iterator[Engine]:
    with Engine.memory(clock=clock, housekeeping=False) as engine:
        declare(engine)
        yield engine


def count(engine: Engine, name: str = "a") -> str | None:
    item = stored_items(engine).get(name)
    return item["n"]["N"] if item else None


def test_a_token_makes_a_request_happen_once_in_ten_minutes(
    timed_engine: Engine, clock: Clock
) -> None:
    for _ in range(3):
        assert transact(timed_engine, add_one("a"), ClientRequestToken="once") == {}
        clock.now += 200
    assert count(timed_engine) == "1"
    transact(timed_engine, add_one("a"), ClientRequestToken="once")
    assert count(timed_engine) == "2"
    transact(timed_engine, add_one("a"), ClientRequestToken="another")
    transact(timed_engine, add_one("a"))
    assert count(timed_engine) == "4"


def test_a_token_belongs_to_one_request(timed_engine: Engine, clock: Clock) -> None:
    transact(timed_engine, add_one("a"), ClientRequestToken="once")
    with pytest.raises(IdempotentParameterMismatchException) as caught:
        transact(timed_engine, add_one("b"), ClientRequestToken="once")
    assert caught.value.message == (
        "The request uses the same client token as a previous, but non-identical request. "
        "Do not reuse a client token with different requests, unless the requests are identical"
    )
    assert count(timed_engine, "b") is None
    clock.now += 600
    transact(timed_engine, add_one("b"), ClientRequestToken="once")
    assert count(timed_engine, "b") == "1"


def test_a_cancelled_transaction_does_not_use_up_its_token(engine: Engine) -> None:
    actions = [check("a"), add_one("b")]
    with pytest.raises(TransactionCanceledException):
        transact(engine, *actions, ClientRequestToken="once")
    transact(engine, put(key("a")))
    transact(engine, *actions, ClientRequestToken="once")
    assert count(engine, "b") == "1"


def test_a_replay_does_not_judge_its_conditions_again(engine: Engine) -> None:
    action = put(key("a"), ConditionExpression="attribute_not_exists(pk)")
    for _ in range(2):
        transact(engine, action, ClientRequestToken="once")


def test_a_token_outlives_the_engine(tmp_path: Path) -> None:
    for _ in range(2):
        with Engine.open(tmp_path / "file.db") as engine:
            if not engine(Request("ListTables", {}))["TableNames"]:
                declare(engine)
            transact(engine, add_one("a"), ClientRequestToken="once")
            assert count(engine) == "1"


def test_a_token_has_1_to_36_characters(engine: Engine) -> None:
    transact(engine, add_one("a"), ClientRequestToken="x" * 36)
    for token in ("", "x" * 37):
        message = refusal(engine, add_one("a"), ClientRequestToken=token)
        assert message.startswith(f"1 validation error detected: Value '{token}'")


def test_half_a_surrogate_pair_is_not_a_string(engine: Engine) -> None:
    with pytest.raises(SerializationException):
        transact(engine, add_one("a"), ClientRequestToken="\ud800")
    names = {"ExpressionAttributeNames": {"#a": "\ud800"}}
    with pytest.raises(SerializationException):
        transact(engine, check("a", "attribute_exists(#a)", **names), ClientRequestToken="once")


# --- TransactGetItems -----------------------------------------------------------------------


def get(name: object, table: str = "things", **params: Any) -> Response:
    return {"Get": {"TableName": table, "Key": key(name), **params}}


def transact_get(engine: Engine, *gets: Response) -> list[Response]:
    answer = engine(Request("TransactGetItems", {"TransactItems": list(gets)}))
    assert list(answer) == ["Responses"]
    found: list[Response] = answer["Responses"]
    return found


def test_items_come_back_in_the_order_of_the_request(engine: Engine) -> None:
    transact(engine, put({**key("a"), "x": {"S": "1"}}), put(key("b")))
    engine(Request("PutItem", {"TableName": "others", "Item": key("a")}))
    assert transact_get(
        engine,
        get("b"),
        get("nothing"),
        get("a", ProjectionExpression="x"),
        get("a", "others", ProjectionExpression="x"),
    ) == [{"Item": key("b")}, {}, {"Item": {"x": {"S": "1"}}}, {}]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (get("a", Key={}), NO_MATCH),
        (get("a", Key={"pk": {"N": "1"}}), NO_MATCH),
        (get(""), EMPTY_KEY),
        (
            get("x" * 2049),
            INVALID + "Size of hashkey has exceeded the maximum size limit of2048 bytes",
        ),
        (
            get("a", ProjectionExpression="g.x"),
            "Key attributes must be scalars; list random access '[]' and map lookup '.' "
            "are not allowed: IndexKey: g",
        ),
    ],
)
def test_a_wrong_key_cancels_a_read_too(engine: Engine, wrong: Response, message: str) -> None:
    with pytest.raises(TransactionCanceledException) as caught:
        transact_get(engine, get("b"), wrong, get("b"), wrong)
    assert caught.value.reasons == [NONE, invalid(message), NONE, NONE]


@pytest.mark.parametrize(
    ("gets", "message"),
    [
        ([get("a"), get("b"), get("a")], SAME_ITEM),
        ([get("a"), get("a", "none")], "Requested resource not found"),
        ([get("a", Key={}), get("b", Key={"pk": {"NS": []}})],
         INVALID + "An number set  may not be empty"),
        (
            [get("a", Key={}), get("b", ProjectionExpression="x, x")],
            "Invalid ProjectionExpression: Two document paths overlap with each other; must remove "
            "or rewrite one of these paths; path one: [x], path two: [x]",
        ),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_read_refuses_it_whole(
    engine: Engine, gets: list[Response], message: str
) -> None:
    with pytest.raises(DynamoDBError) as caught:
        transact_get(engine, *gets)
    assert not isinstance(caught.value, TransactionCanceledException)
    assert caught.value.message == message


def test_a_read_gives_4_mb_at_most(engine: Engine) -> None:
    for number in range(11):
        transact(engine, put({**key(number), "x": {"S": "x" * (MAX_ITEM - 10)}}))
    numbers = range(11)
    assert len(transact_get(engine, *(get(number) for number in numbers[:10]))) == 10
    with pytest.raises(ValidationException) as caught:
        transact_get(engine, *(get(number, ProjectionExpression="pk") for number in numbers))
    assert caught.value.message == TOO_MUCH


def test_a_hundred_gets_are_not_too_many(engine: Engine) -> None:
    assert transact_get(engine, *(get(number) for number in range(100))) == [{}] * 100
    with pytest.raises(ValidationException) as caught:
        transact_get(engine, *(get(number) for number in range(101)))
    assert caught.value.message.endswith("Member must have length less than or equal to 100")


# --- Conflicts on demand --------------------------------------------------------------------


def test_a_transaction_meets_another_on_demand(engine: Engine) -> None:
    engine.faults.conflict(next=2)
    conflict = {"Code": "TransactionConflict", "Message": "Transaction is ongoing for the item"}
    assert reasons(engine, put(key("a"))) == [conflict]
    with pytest.raises(TransactionCanceledException) as caught:
        transact_get(engine, get("a"))
    assert caught.value.reasons == [conflict]
    transact(engine, put(key("a")))
