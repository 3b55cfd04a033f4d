"""The shape of requests: what passes, what is converted, and AWS's words for the rest."""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigtime.engine import operations as built
from bigtime.engine import partiql
from bigtime.engine.validation.service_model import models, operations
from bigtime.engine.validation.shapes import check, exact, plain_request
from bigtime.wire import (
    MAX_ITEM_BYTES,
    DynamoDBError,
    SerializationException,
    TransactionCanceledException,
    UnknownOperationException,
    ValidationException,
    values,
)
from tests.strategies import items

NAME_RULE = "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+"
CAST = (
    "class sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl cannot be cast to class "
    "java.lang.Class (sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl and "
    "java.lang.Class are in module java.base of loader 'bootstrap')"
)
PACKAGE = "com.amazonaws.dynamodb.v20120810"
NOT_EXPECTED = "Start of structure or map found where not expected"


def get(**params: Any) -> dict[str, Any]:
    return {"TableName": "table", "Key": {"pk": {"S": "a"}}, **params}


def put(value: Any) -> dict[str, Any]:
    return {"TableName": "table", "Item": {"a": value}}


def failure_text(value: str, path: str, constraint: str) -> str:
    return f"Value {value} at '{path}' failed to satisfy constraint: {constraint}"


def error(operation: str, params: Any) -> DynamoDBError:
    with pytest.raises(DynamoDBError) as caught:
        check(operation, params)
    return caught.value


def refusals(operation: str, params: Any) -> list[str]:
    """The failures that one answer reports together."""
    caught = error(operation, params)
    assert type(caught) is ValidationException
    head, _, tail = caught.message.partition(" detected: ")
    found = tail.split("; ")
    assert head == f"{len(found)} validation error{'s' if len(found) > 1 else ''}"
    return found


@given(items)
def test_plain_request_is_returned_as_it_is(item: Any) -> None:
    params = {"TableName": "table", "Item": item}
    assert check("PutItem", params) is params
    assert exact("PutItem", params) == params


def test_every_operation_of_the_service_is_built() -> None:
    assert operations() == {*built.READS, *built.WRITES, *partiql.WRITES}


def test_operations_are_those_of_both_services() -> None:
    assert {"GetItem", "GetRecords", "ExecuteStatement"} <= operations()
    assert "Nonsense" not in operations()
    assert type(error("Nonsense", {})) is UnknownOperationException


@pytest.mark.parametrize(
    ("params", "message"),
    [
        (get(TableName=1), "NUMBER_VALUE cannot be converted to String"),
        (get(TableName=1.5), "DECIMAL_VALUE cannot be converted to String"),
        (get(TableName=True), "TRUE_VALUE cannot be converted to String"),
        (get(TableName=False), "FALSE_VALUE cannot be converted to String"),
        (get(TableName=[]), "Unrecognized collection type class java.lang.String"),
        (get(TableName={}), NOT_EXPECTED),
        (get(ConsistentRead=1), "NUMBER_VALUE cannot be converted to Boolean"),
        (get(ConsistentRead="maybe"), "Unexpected token received from parser"),
        (get(ConsistentRead=[]), "Unrecognized collection type class java.lang.Boolean"),
        (get(ConsistentRead={}), NOT_EXPECTED),
        (get(AttributesToGet="a"), "Unexpected field type"),
        (get(AttributesToGet={}), NOT_EXPECTED),
        (get(AttributesToGet=[1]), "NUMBER_VALUE cannot be converted to String"),
        (get(Key="a"), "Unexpected field type"),
        (
            get(Key=[]),
            f"Unrecognized collection type java.util.Map<java.lang.String, {PACKAGE}"
            ".AttributeValue>",
        ),
        (get(Key={"a": "b"}), "Unexpected value type in payload"),
        (get(Key={"a": []}), f"Unrecognized collection type class {PACKAGE}.AttributeValue"),
        (
            get(ExpressionAttributeNames=[]),
            "Unrecognized collection type java.util.Map<java.lang.String, java.lang.String>",
        ),
        ([], f"Unrecognized collection type class {PACKAGE}.GetItemInput"),
        ("text", "Unexpected value type in payload"),
        (None, ""),
    ],
)
def test_wrong_json_type_is_named_as_the_parser_names_it(params: Any, message: str) -> None:
    caught = error("GetItem", params)
    assert type(caught) is SerializationException
    assert caught.message == message


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"S": 1}, "NUMBER_VALUE cannot be converted to String"),
        ({"N": 1}, "NUMBER_VALUE cannot be converted to String"),
        ({"N": 1.5}, "DECIMAL_VALUE cannot be converted to String"),
        ({"B": 1}, "only base-64-encoded strings are convertible to bytes"),
        ({"B": []}, "Unrecognized collection type class java.nio.ByteBuffer"),
        ({"B": {}}, NOT_EXPECTED),
        ({"B": "abc"}, "Base64 encoded length is expected a multiple of 4 bytes but found: 3"),
        ({"B": "===="}, "Invalid last non-pad Base64 character dectected"),
        ({"B": "ab=="}, "Invalid last non-pad Base64 character dectected"),
        ({"B": "ab é"}, "Invalid last non-pad Base64 character dectected"),
        ({"BS": ["ab=="]}, "Invalid last non-pad Base64 character dectected"),
        ({"SS": "a"}, "Unexpected field type"),
        ({"SS": [1]}, "NUMBER_VALUE cannot be converted to String"),
        ({"L": {}}, NOT_EXPECTED),
        ({"L": ["a"]}, "Unexpected value type in payload"),
        ({"M": "a"}, "Unexpected field type"),
        ({"M": {"b": {"L": [{"N": 5}]}}}, "NUMBER_VALUE cannot be converted to String"),
        ({"NULL": "x"}, "Unexpected token received from parser"),
        (b"raw", "Unexpected value type in payload"),
        ({"S": b"raw"}, "EMBEDDED_OBJECT cannot be converted to String"),
        ({"M": {1: {"S": "a"}}}, "Unexpected field type"),
    ],
)
def test_wrong_type_inside_a_value_is_found_at_any_depth(value: Any, message: str) -> None:
    caught = error("PutItem", put(value))
    assert type(caught) is SerializationException
    assert caught.message == message


@pytest.mark.parametrize(
    ("operation", "params", "message"),
    [
        (
            "Scan",
            {"TableName": "table", "Limit": "1"},
            "STRING_VALUE cannot be converted to Integer",
        ),
        (
            "Scan",
            {"TableName": "table", "Limit": True},
            "TRUE_VALUE cannot be converted to Integer",
        ),
        (
            "CreateTable",
            {"ProvisionedThroughput": {"ReadCapacityUnits": "1"}},
            "STRING_VALUE cannot be converted to Long",
        ),
        ("CreateTable", {"ProvisionedThroughput": 1}, "Unexpected field type"),
        (
            "CreateTable",
            {"ProvisionedThroughput": []},
            f"Unrecognized collection type class {PACKAGE}.ProvisionedThroughput",
        ),
        ("CreateTable", {"KeySchema": ["a"]}, "Unexpected value type in payload"),
        ("BatchGetItem", {"RequestItems": {"table": {"Keys": ["a"]}}}, CAST),
        ("BatchWriteItem", {"RequestItems": {"table": "a"}}, CAST),
        (
            "BatchWriteItem",
            {"RequestItems": []},
            "Unrecognized collection type java.util.Map<java.lang.String, "
            f"java.util.List<{PACKAGE}.WriteRequest>>",
        ),
    ],
)
def test_wrong_type_elsewhere(operation: str, params: Any, message: str) -> None:
    caught = error(operation, params)
    assert type(caught) is SerializationException
    assert caught.message == message


def test_type_errors_come_before_constraints() -> None:
    assert type(error("GetItem", {"TableName": "!", "Key": 1})) is SerializationException


def test_every_broken_constraint_is_reported_in_the_order_of_the_service() -> None:
    params = {
        "TableName": "a;",
        "Key": {},
        "ReturnConsumedCapacity": "some",
        "AttributesToGet": [],
    }
    assert refusals("GetItem", params) == [
        failure_text(
            "'some'",
            "returnConsumedCapacity",
            "Member must satisfy enum value set: [INDEXES, TOTAL, NONE]",
        ),
        failure_text(
            "'[]'", "attributesToGet", "Member must have length greater than or equal to 1"
        ),
        failure_text("'a;'", "tableName", NAME_RULE),
        failure_text("'a;'", "tableName", "Member must have length greater than or equal to 3"),
    ]


def test_missing_members_are_null() -> None:
    assert refusals("GetItem", {}) == [
        failure_text("null", "tableName", "Member must not be null"),
        failure_text("null", "key", "Member must not be null"),
    ]


def test_places_inside_lists_are_numbered_from_one() -> None:
    params = {
        "TableName": "table",
        "AttributeDefinitions": [{"AttributeName": "a", "AttributeType": "X"}],
        "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}, {"AttributeName": ""}],
        "ProvisionedThroughput": {"ReadCapacityUnits": 0, "WriteCapacityUnits": -1},
    }
    least = "Member must have value greater than or equal to 1"
    assert refusals("CreateTable", params) == [
        failure_text(
            "'X'",
            "attributeDefinitions.1.member.attributeType",
            "Member must satisfy enum value set: [B, N, S]",
        ),
        failure_text("'-1'", "provisionedThroughput.writeCapacityUnits", least),
        failure_text("'0'", "provisionedThroughput.readCapacityUnits", least),
        failure_text(
            "''",
            "keySchema.2.member.attributeName",
            "Member must have length greater than or equal to 1",
        ),
        failure_text("null", "keySchema.2.member.keyType", "Member must not be null"),
    ]


def test_collections_are_shown_as_java_shows_them() -> None:
    element = {"AttributeName": "id", "KeyType": "HASH"}
    params = {"TableName": "table", "AttributeDefinitions": [], "KeySchema": [element] * 3}
    shown = ", ".join(["KeySchemaElement(attributeName=id, keyType=HASH)"] * 3)
    with pytest.raises(ValidationException) as caught:
        check("CreateTable", params)
    assert caught.value.message == "1 validation error detected: " + failure_text(
        f"'[{shown}]'", "keySchema", "Member must have length less than or equal to 2"
    )


def test_keys_and_values_of_a_map_are_reported_at_the_map() -> None:
    assert refusals("BatchWriteItem", {"RequestItems": {"a;": []}}) == [
        failure_text(
            "'{a;=[]}'",
            "requestItems",
            "Map keys must satisfy constraint: [Member must have length less than or equal to 255, "
            "Member must have length greater than or equal to 3, " + NAME_RULE + "]",
        ),
        failure_text(
            "'{a;=[]}'",
            "requestItems",
            "Map value must satisfy constraint: [Member must have length less than or equal to 25, "
            "Member must have length greater than or equal to 1]",
        ),
    ]


def test_places_inside_a_map_have_the_key() -> None:
    params: dict[str, Any] = {"RequestItems": {"table": [{"PutRequest": {}}]}}
    path = "requestItems.table.member.1.member.putRequest.item"
    assert refusals("BatchWriteItem", params) == [
        failure_text("null", path, "Member must not be null")
    ]
    params = {"TransactItems": [{"Delete": {"TableName": "t", "Key": {}}}]}
    assert refusals("TransactWriteItems", params) == [
        failure_text(
            "'t'",
            "transactItems.1.member.delete.tableName",
            "Member must have length greater than or equal to 3",
        )
    ]


def test_elements_that_are_single_values_are_reported_at_their_list() -> None:
    params = {"TableName": "table", "Key": {}, "AttributesToGet": ["a", None]}
    assert refusals("GetItem", params) == [
        failure_text(
            "'[a, null]'",
            "attributesToGet",
            "Member must satisfy constraint: [Member must have length less than or equal to 65535, "
            "Member must not be null]",
        )
    ]
    gsi = {"TableName": "table", "KeySchema": [None], "AttributeDefinitions": []}
    assert refusals("CreateTable", gsi) == [
        failure_text("null", "keySchema.1.member", "Member must not be null")
    ]


def test_attribute_name_of_65536_bytes_is_refused() -> None:
    good, bad = {"a" * 65_535: {"S": ""}}, {"a" * 65_536: {"S": ""}}
    too_large = "Attribute name is too large, must be less than 65536 bytes"
    for wrap in (lambda item: item, lambda item: {"m": {"L": [{"M": item}]}}):
        assert check("PutItem", {"TableName": "table", "Item": wrap(good)})
        assert error("PutItem", {"TableName": "table", "Item": wrap(bad)}).message == too_large
        put = {"PutRequest": {"Item": wrap(bad)}}
        assert error("BatchWriteItem", {"RequestItems": {"table": [put]}}).message == too_large
    update = {"TableName": "table", "Key": {}, "ExpressionAttributeValues": {":v": {"M": bad}}}
    assert error("UpdateItem", update).message == too_large


def test_no_more_than_ten_failures_are_reported() -> None:
    bare: list[Any] = [{} for _ in range(20)]
    table = {"TableName": "table", "AttributeDefinitions": bare}
    assert len(refusals("CreateTable", table)) == 10


@pytest.mark.parametrize(
    "operation",
    [
        "CreateTable",
        "DeleteTable",
        "DescribeTable",
        "DescribeTimeToLive",
        "UpdateTable",
        "UpdateTimeToLive",
    ],
)
def test_table_operations_stop_at_a_bad_table_name(operation: str) -> None:
    assert error(operation, {"BillingMode": "x"}).message == (
        "The parameter 'TableName' is required but was not present in the request"
    )
    short = failure_text("'ab'", "tableName", "Member must have length greater than or equal to 3")
    assert refusals(operation, {"TableName": "ab", "BillingMode": "x"}) == [short]
    name = "a" * 256
    long = failure_text(
        f"'{name}'", "tableName", "Member must have length less than or equal to 255"
    )
    assert refusals(operation, {"TableName": name}) == [long]
    wrong = failure_text("'a b'", "tableName", NAME_RULE)
    assert refusals(operation, {"TableName": "a b", "BillingMode": "x"}) == [wrong]


def test_item_calls_take_an_arn_and_create_table_does_not() -> None:
    arn = "arn:aws:dynamodb:us-east-1:000000000000:table/table"
    params = get(TableName=arn)
    assert check("GetItem", params) is params
    assert check("DescribeTable", {"TableName": arn})
    assert check("BatchGetItem", {"RequestItems": {arn: {"Keys": [{}]}}})
    assert failure_text(f"'{arn}'", "tableName", NAME_RULE) in refusals(
        "CreateTable", {"TableName": arn}
    )
    assert refusals("GetItem", get(TableName="arn:aws:s3:::table")) == [
        failure_text("'arn:aws:s3:::table'", "tableName", NAME_RULE)
    ]


def test_unknown_members_are_dropped_and_null_is_absent() -> None:
    params = get(Nonsense=1, ConsistentRead=None)
    assert check("GetItem", params) == get()
    value = {"S": "x", "N": None, "Z": [1]}
    assert check("PutItem", put(value)) == put({"S": "x"})
    assert check("PutItem", put({"L": [None]})) == put({"L": [{}]})


def test_parser_converts_as_the_service_does() -> None:
    assert check("GetItem", get(ConsistentRead="Yes")) == get(ConsistentRead=True)
    assert check("GetItem", get(ConsistentRead="0")) == get(ConsistentRead=False)
    scan = {"TableName": "table", "Limit": 2.9}
    assert check("Scan", scan) == {"TableName": "table", "Limit": 2}
    assert check("Scan", {**scan, "Limit": 2**40}) == {"TableName": "table", "Limit": 2**31 - 1}
    assert error("Scan", {**scan, "Limit": float("nan")}).message == (
        "DECIMAL_VALUE cannot be converted to Integer"
    )


def test_any_mapping_will_do() -> None:
    params = MappingProxyType(get(Key=MappingProxyType({"pk": {"S": "a"}})))
    assert check("GetItem", params) == get()


def test_value_nested_too_deep_is_an_error_of_the_service() -> None:
    value: dict[str, Any] = {"S": "x"}
    for _ in range(5_000):
        value = {"L": [value]}
    message = error("PutItem", put(value)).message
    assert message.startswith("Nesting Levels have exceeded supported limits")


def test_values_of_no_type_or_two_are_left_to_the_check_of_values() -> None:
    params = {"TableName": "table", "Item": {"a": {}, "b": {"S": "x", "N": "1"}}}
    assert check("PutItem", params) is params


def test_answer_to_a_huge_request_is_short() -> None:
    element = {"AttributeName": "id", "KeyType": "HASH"}
    params = {"TableName": "table", "AttributeDefinitions": [], "KeySchema": [element] * 100_000}
    assert len(error("CreateTable", params).message) < 1_000
    huge = get(ReturnConsumedCapacity="x" * 10**6)
    assert len(error("GetItem", huge).message) < 11_000


def test_more_names_than_an_item_can_hold_are_refused_unread() -> None:
    """The shortest names that differ take 409,600 bytes when there are so many."""
    bytes_in_all = 128 * 1 + (128**2 + 1_920) * 2 + (values.MOST_NAMES - 18_432) * 3
    assert bytes_in_all == MAX_ITEM_BYTES
    many: dict[str, Any] = {f":{number}": {"N": 1} for number in range(values.MOST_NAMES + 1)}
    for operation, member in (
        ("PutItem", "ExpressionAttributeValues"),
        ("PutItem", "ExpressionAttributeNames"),
        ("UpdateItem", "AttributeUpdates"),
        ("Query", "KeyConditions"),
    ):
        with pytest.raises(ValidationException, match="Item size has exceeded"):
            check(operation, {"TableName": "Orders", member: many})


def test_multi_attribute_keys_are_for_global_indexes_only() -> None:
    index = {
        "IndexName": "index",
        "Projection": {"ProjectionType": "ALL"},
        "KeySchema": [{"AttributeName": name, "KeyType": "HASH"} for name in "abcd"],
    }
    table = {
        "TableName": "table",
        "AttributeDefinitions": [],
        "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}],
    }
    assert check("CreateTable", {**table, "GlobalSecondaryIndexes": [index]})
    found = refusals("CreateTable", {**table, "LocalSecondaryIndexes": [index]})
    assert "at 'localSecondaryIndexes.1.member.keySchema' failed" in found[0]


def test_streams_requests_are_checked_too() -> None:
    assert refusals("GetRecords", {"ShardIterator": "", "Limit": 1001}) == [
        failure_text("''", "shardIterator", "Member must have length greater than or equal to 1"),
        failure_text("'1001'", "limit", "Member must have value less than or equal to 1000"),
    ]


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5)),
    lambda children: st.one_of(
        st.lists(children, max_size=3),
        st.dictionaries(st.text(max_size=4), children, max_size=3),
        st.dictionaries(
            st.sampled_from(["S", "N", "B", "L", "M", "SS", "Keys", "Key", "TableName", "Put"]),
            children,
            max_size=3,
        ),
    ),
    max_leaves=12,
)


@st.composite
def odd_requests(draw: st.DrawFn) -> tuple[str, Any]:
    """An operation with members of the right names and the wrong contents."""
    operation = draw(st.sampled_from(sorted(operations())))
    names = [
        "TableName",
        "Key",
        "Item",
        "RequestItems",
        "TransactItems",
        "Limit",
        "Tags",
        "KeySchema",
    ]
    return operation, draw(
        st.one_of(
            json_values,
            st.dictionaries(st.sampled_from(names), json_values, min_size=1, max_size=6),
        )
    )


@given(odd_requests())
def test_odd_requests_give_errors_of_the_service_and_both_readers_agree(
    request: tuple[str, Any],
) -> None:
    operation, params = request
    try:
        read = exact(operation, params)
    except DynamoDBError:
        assert not plain_request(operation)(params)
    else:
        assert check(operation, params) == read
        assert plain_request(operation)(read)


def errors(kind: type[DynamoDBError] = DynamoDBError) -> Iterator[type[DynamoDBError]]:
    for each in kind.__subclasses__():
        yield each
        yield from errors(each)


def test_errors_have_the_members_of_the_model() -> None:
    """AWS spells the member of the message with a capital in some of them."""
    shapes = {name: shape for model in models() for name, shape in model["shapes"].items()}
    modelled = [kind for kind in errors() if shapes.get(kind.__name__, {}).get("exception")]
    assert len(modelled) > 20
    for kind in modelled:
        error = kind([]) if kind is TransactionCanceledException else kind("words")
        known = shapes[kind.__name__]["members"]
        assert error.body().keys() - {"__type"} <= known.keys(), kind.__name__


def test_a_table_made_from_a_global_one_is_refused_for_that_and_not_for_its_keys() -> None:
    arn = "arn:aws:dynamodb:us-east-1:000000000000:table/source"
    with pytest.raises(ValidationException) as caught:
        check("CreateTable", {"TableName": "table", "GlobalTableSourceArn": arn})
    assert caught.value.message == (
        "One or more parameter values were invalid: "
        "GlobalTableSourceArn is not supported by this engine"
    )


@pytest.mark.parametrize(
    ("operation", "params", "message"),
    [
        (
            "DescribeContributorInsights",
            {"TableName": "table", "IndexName": ""},
            "IndexName must be at least 3 characters long and at most 255 characters long",
        ),
        (
            "RestoreTableFromBackup",
            {"BackupArn": "x" * 40, "TargetTableName": ""},
            "TableName must be at least 3 characters long and at most 255 characters long",
        ),
        (
            "DescribeGlobalTable",
            {"GlobalTableName": ""},
            "TableName must be at least 3 characters long and at most 255 characters long",
        ),
        (
            "UpdateTimeToLive",
            {"TableName": "table", "TimeToLiveSpecification": {}},
            "2 validation errors detected: Value null at 'timeToLiveSpecification.attributeName' "
            "failed to satisfy constraint: Member must not be null; Value null at "
            "'timeToLiveSpecification.enabled' failed to satisfy constraint: Member must not be "
            "null",
        ),
        (
            "UpdateContributorInsights",
            {
                "TableName": "table",
                "ContributorInsightsAction": "ENABLE",
                "ContributorInsightsMode": "",
            },
            "1 validation error detected: Value '' at 'contributorInsightsMode' failed to satisfy "
            "constraint: Member must satisfy enum value set: [THROTTLED_KEYS, "
            "ACCESSED_AND_THROTTLED_KEYS]",
        ),
    ],
)
def test_empty_members_are_refused_as_they_were_seen_to_be(
    operation: str, params: dict[str, Any], message: str
) -> None:
    """(DDB-TABLE-457 of https://github.com/aws-controllers-k8s/dynamodb-controller)"""
    assert error(operation, params).message == message
