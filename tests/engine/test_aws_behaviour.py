"""What AWS was seen to do where its documentation says little, and local engines often differ.

Sources: AWS's own messages as recorded by ScyllaDB's Alternator tests, nubo-db's
dynamodb-conformance (run on AWS in 2026) and ack-api-quirks (AWS, October 2026).
"""

from __future__ import annotations

from typing import Any

import pytest

from bigtime.engine import Engine
from bigtime.wire import UnknownOperationException
from tests.engine.calls import b, call, index, key_schema, make_table, n, refusal_of, s

KEY = {"p": s("a"), "s": s("b")}


@pytest.fixture
def table(engine: Engine) -> str:
    """A table with a global index over the attribute `d`."""
    return make_table(
        engine,
        {"p": "S", "s": "S", "d": "S"},
        name="Things",
        globally=(index("ByD", key_schema("d")),),
    )


def update(engine: Engine, text: str, **more: Any) -> Any:
    return call(engine, "UpdateItem", TableName="Things", Key=KEY, UpdateExpression=text, **more)


# --- Expressions --------------------------------------------------------------------------


def test_a_query_without_its_values_is_refused_also_when_its_text_is_known(
    engine: Engine, table: str
) -> None:
    asked = {"TableName": table, "KeyConditionExpression": "p = :p"}
    first = refusal_of(engine, **asked)
    assert first == (
        "Invalid KeyConditionExpression: An expression attribute value used in expression is not "
        "defined; attribute value: :p"
    )
    call(engine, "Query", **asked, ExpressionAttributeValues={":p": s("a")})
    assert refusal_of(engine, **asked) == first


@pytest.mark.parametrize("text", ["REMOVE x.y", "REMOVE x[0]", "REMOVE x.y, z[0].w"])
def test_removing_a_path_of_an_item_that_does_not_exist_does_nothing(
    engine: Engine, table: str, text: str
) -> None:
    assert update(engine, text, ReturnValues="ALL_NEW") == {}
    assert "Item" not in call(engine, "GetItem", TableName=table, Key=KEY)
    call(engine, "PutItem", TableName=table, Item=KEY)
    assert refusal_of(engine, "UpdateItem", TableName=table, Key=KEY, UpdateExpression=text) == (
        "The document path provided in the update expression is invalid for update"
    )


@pytest.mark.parametrize(
    ("text", "role"), [("SET x = d.e", "IndexKey: d"), ("SET x = if_not_exists(p[0], x)", "Key: p")]
)
def test_an_update_reads_no_path_into_a_key(
    engine: Engine, table: str, text: str, role: str
) -> None:
    assert refusal_of(engine, "UpdateItem", TableName=table, Key=KEY, UpdateExpression=text) == (
        "Key attributes must be scalars; list random access '[]' and map lookup '.' are not "
        f"allowed: {role}"
    )


def test_an_update_reads_a_key_whole(engine: Engine, table: str) -> None:
    update(engine, "SET x = p")
    assert call(engine, "GetItem", TableName=table, Key=KEY)["Item"]["x"] == s("a")


# --- Values -------------------------------------------------------------------------------


def test_a_set_comes_back_sorted(engine: Engine, table: str) -> None:
    item = {
        **KEY,
        "ss": {"SS": ["b", "\U00010000", "\ufffd", "a"]},
        "ns": {"NS": ["10", "-1", "9.5"]},
        "bs": {"BS": [b(b"\xff")["B"], b(b"a")["B"]]},
    }
    call(engine, "PutItem", TableName=table, Item=item)
    add = {":ss": {"SS": ["aa"]}, ":ns": {"NS": ["9"]}}
    update(engine, "ADD ss :ss, ns :ns", ExpressionAttributeValues=add)
    assert call(engine, "GetItem", TableName=table, Key=KEY)["Item"] == {
        **KEY,
        "ss": {"SS": ["a", "aa", "b", "\ufffd", "\U00010000"]},
        "ns": {"NS": ["-1", "9", "9.5", "10"]},
        "bs": {"BS": [b(b"a")["B"], b(b"\xff")["B"]]},
    }


@pytest.mark.parametrize(
    ("operation", "params"),
    [
        ("PutItem", {"Item": {**KEY, "": s("x")}}),
        ("GetItem", {"Key": KEY, "AttributesToGet": [""]}),
        ("UpdateItem", {"Key": KEY, "AttributeUpdates": {"": {"Value": s("x")}}}),
        ("DeleteItem", {"Key": KEY, "Expected": {"": {"Exists": False}}}),
    ],
)
def test_an_attribute_has_a_name(
    engine: Engine, table: str, operation: str, params: dict[str, Any]
) -> None:
    assert refusal_of(engine, operation, TableName=table, **params) == (
        "One or more parameter values were invalid: Empty attribute name"
    )


# --- Batches, queries and streams -----------------------------------------------------------


def test_a_batch_names_a_table(engine: Engine) -> None:
    assert refusal_of(engine, "BatchGetItem", RequestItems={}) == (
        "1 validation error detected: Value at 'RequestItems' failed to satisfy constraint: "
        "Member must have length greater than or equal to 1"
    )
    assert refusal_of(engine, "BatchWriteItem", RequestItems={}) == (
        "The requestItems parameter is required for BatchWriteItem"
    )


def test_a_batch_gets_a_hundred_keys_of_a_table(engine: Engine, table: str) -> None:
    keys = [{"p": s("a"), "s": s(str(number))} for number in range(101)]
    assert refusal_of(engine, "BatchGetItem", RequestItems={table: {"Keys": keys}}) == (
        "1 validation error detected: Value at 'RequestItems.Things.member.Keys' failed to satisfy "
        "constraint: Member must have length less than or equal to 100"
    )


def test_a_batch_projects_in_one_way(engine: Engine, table: str) -> None:
    other = make_table(engine, {"p": "S", "s": "S"})
    wanted = {
        table: {"Keys": [KEY], "ProjectionExpression": "x"},
        other: {"Keys": [KEY], "AttributesToGet": ["x"]},
    }
    assert refusal_of(engine, "BatchGetItem", RequestItems=wanted) == (
        "Can not use both expression and non-expression parameters in the same request: "
        "Non-expression parameters: {AttributesToGet} Expression parameters: {ProjectionExpression}"
    )


@pytest.mark.parametrize("limit", [0, -1])
def test_a_query_looks_at_one_item_at_least(engine: Engine, table: str, limit: int) -> None:
    asked: dict[str, Any] = {
        "KeyConditionExpression": "p = :p",
        "ExpressionAttributeValues": {":p": s("a")},
    }
    assert refusal_of(engine, TableName=table, **asked, Limit=limit) == (
        "1 validation error detected: Value at 'Limit' failed to satisfy constraint: "
        "Member must have value greater than or equal to 1"
    )


def test_a_partition_of_one_item_has_no_second_page(engine: Engine) -> None:
    name = make_table(engine, {"p": "S"}, keys=("p",))
    call(engine, "PutItem", TableName=name, Item={"p": s("a")})
    asked: dict[str, Any] = {
        "KeyConditionExpression": "p = :p",
        "ExpressionAttributeValues": {":p": s("a")},
    }
    assert refusal_of(engine, TableName=name, **asked, ExclusiveStartKey={"p": s("a")}) == (
        "The provided exclusive start key is invalid"
    )


def test_what_no_index_can_answer_is_refused_before_anything_else(engine: Engine) -> None:
    condition = {"ComparisonOperator": "NE", "AttributeValueList": [s("a")]}
    assert refusal_of(
        engine,
        TableName="nowhere",
        IndexName="none",
        KeyConditions={"p": condition},
        ExclusiveStartKey={"p": n("x")},
    ) == ("Attempted conditional constraint is not an indexable operation")


def test_duplicates_in_attributes_to_get_come_before_the_values_of_a_filter(
    engine: Engine, table: str
) -> None:
    condition = {"ComparisonOperator": "EQ", "AttributeValueList": [s("a")]}
    assert refusal_of(
        engine,
        TableName=table,
        KeyConditions={"p": condition},
        AttributesToGet=["x", "x"],
        QueryFilter={"y": {"ComparisonOperator": "EQ", "AttributeValueList": [n("no")]}},
    ) == ("One or more parameter values were invalid: Duplicate value in attribute name: x")


def test_a_conditional_operator_is_looked_at_before_names(engine: Engine, table: str) -> None:
    assert refusal_of(
        engine,
        "PutItem",
        TableName=table,
        Item=KEY,
        ConditionalOperator="OR",
        ExpressionAttributeNames={"#a": "a"},
    ) == ("ConditionalOperator cannot be used without Filter or Expected")


def test_an_item_call_reports_an_empty_table_name_once(engine: Engine) -> None:
    assert refusal_of(engine, "PutItem", TableName="", Item=KEY) == (
        "1 validation error detected: Value '' at 'tableName' failed to satisfy constraint: "
        "Member must have length greater than or equal to 1"
    )


def test_a_transaction_of_too_many_actions_is_quoted(engine: Engine) -> None:
    message = refusal_of(
        engine,
        "TransactWriteItems",
        TransactItems=[{"Delete": {"TableName": "Things", "Key": KEY}}] * 101,
    )
    assert message.startswith("1 validation error detected: Value '[TransactWriteItem(delete=")
    assert message.endswith(
        "at 'transactItems' failed to satisfy constraint: "
        "Member must have length less than or equal to 100"
    )


@pytest.mark.parametrize("kind", ["TRIM_HORIZON", "LATEST"])
def test_an_iterator_at_an_end_of_a_shard_takes_no_sequence_number(
    engine: Engine, kind: str
) -> None:
    stream = {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}
    name = make_table(engine, {"p": "S"}, keys=("p",), StreamSpecification=stream)
    arn = call(engine, "DescribeTable", TableName=name)["Table"]["LatestStreamArn"]
    shard = call(engine, "DescribeStream", StreamArn=arn)["StreamDescription"]["Shards"][0]
    asked = {"StreamArn": arn, "ShardId": shard["ShardId"], "ShardIteratorType": kind}
    assert call(engine, "GetShardIterator", **asked)["ShardIterator"]
    first = shard["SequenceNumberRange"]["StartingSequenceNumber"]
    assert "SequenceNumber must not be specified" in refusal_of(
        engine, "GetShardIterator", **asked, SequenceNumber=first
    )


def test_a_stream_arn_has_a_form(engine: Engine) -> None:
    arn = "arn:aws:dynamodb:us-east-1:000000000000:table/without-a-stream"
    assert refusal_of(engine, "DescribeStream", StreamArn=arn) == "Invalid StreamArn"


# --- Tables -------------------------------------------------------------------------------


def test_a_table_that_is_going_shows_no_keys_and_no_indexes(engine: Engine) -> None:
    name = make_table(
        engine,
        {"p": "S", "s": "S", "d": "S"},
        local=(index("local", key_schema("p", "d")),),
        globally=(index("global", key_schema("d")),),
    )
    gone = call(engine, "DeleteTable", TableName=name)["TableDescription"]
    assert gone["TableStatus"] == "DELETING"
    shown = {"KeySchema", "AttributeDefinitions", "LocalSecondaryIndexes", "GlobalSecondaryIndexes"}
    assert shown.isdisjoint(gone)


def test_an_unknown_operation_is_named(engine: Engine) -> None:
    with pytest.raises(UnknownOperationException) as caught:
        call(engine, "MakeTea")
    assert caught.value.message == "There is no operation MakeTea"
