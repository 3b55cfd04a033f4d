from __future__ import annotations

from time import process_time
from typing import Any

import pytest

from bigtime.engine.expressions.parameters import check_parameters, read_expressions
from bigtime.wire import ValidationException
from tests.engine.expressions.reading import attribute_value, item

QUERY: dict[str, Any] = {
    "expressions": ("ProjectionExpression", "FilterExpression", "KeyConditionExpression"),
    "legacy": ("AttributesToGet", "QueryFilter", "ConditionalOperator", "KeyConditions"),
}
PUT: dict[str, Any] = {
    "expressions": ("ConditionExpression",),
    "legacy": ("Expected", "ConditionalOperator"),
}
UPDATE: dict[str, Any] = {
    "expressions": ("UpdateExpression", "ConditionExpression"),
    "legacy": ("AttributeUpdates", "Expected"),
}
GET: dict[str, Any] = {
    "expressions": ("ProjectionExpression",),
    "legacy": ("AttributesToGet",),
}
MIXED = "Can not use both expression and non-expression parameters in the same request: "


def mixed_message(old: str, new: str) -> str:
    return f"{MIXED}Non-expression parameters: {{{old}}} Expression parameters: {{{new}}}"


@pytest.mark.parametrize(
    ("operation", "params", "problem"),
    [
        (
            PUT,
            {"Expected": {}, "ConditionExpression": "a"},
            mixed_message("Expected", "ConditionExpression"),
        ),
        (
            QUERY,
            {
                "QueryFilter": {},
                "AttributesToGet": ["a"],
                "FilterExpression": "a",
                "ProjectionExpression": "a",
            },
            mixed_message("AttributesToGet, QueryFilter", "ProjectionExpression, FilterExpression"),
        ),
        (
            QUERY,
            {"KeyConditions": {}, "KeyConditionExpression": "a"},
            mixed_message("KeyConditions", "KeyConditionExpression"),
        ),
        (
            UPDATE,
            {"AttributeUpdates": {}, "ConditionExpression": "a"},
            mixed_message("AttributeUpdates", "ConditionExpression"),
        ),
        (
            GET,
            {"ExpressionAttributeNames": {}},
            "ExpressionAttributeNames can only be specified when using expressions",
        ),
        (
            PUT,
            {"ExpressionAttributeValues": {}},
            "ExpressionAttributeValues can only be specified when using expressions: "
            "ConditionExpression is null",
        ),
        (
            UPDATE,
            {"ExpressionAttributeValues": {}},
            "ExpressionAttributeValues can only be specified when using expressions: "
            "UpdateExpression and ConditionExpression are null",
        ),
        (
            QUERY,
            {"ExpressionAttributeValues": {}, "ProjectionExpression": "a"},
            "ExpressionAttributeValues can only be specified when using expressions: "
            "FilterExpression and KeyConditionExpression are null",
        ),
        (
            QUERY,
            {"ConditionalOperator": "OR"},
            "ConditionalOperator cannot be used without Filter or Expected",
        ),
        (
            QUERY,
            {"ConditionalOperator": "OR", "QueryFilter": {"a": {}}},
            "ConditionalOperator can only be used when Filter or Expected has two or more elements",
        ),
    ],
)
def test_parameters_that_do_not_go_together(
    operation: dict[str, Any], params: dict[str, Any], problem: str
) -> None:
    with pytest.raises(ValidationException) as caught:
        check_parameters(params, **operation)
    assert caught.value.message == problem


def test_a_query_may_filter_by_expression_what_key_conditions_find() -> None:
    check_parameters({"KeyConditions": {}, "FilterExpression": "a = :v"}, **QUERY)


@pytest.mark.parametrize(
    ("placeholders", "problem"),
    [
        ({"ExpressionAttributeNames": {}}, "ExpressionAttributeNames must not be empty"),
        ({"ExpressionAttributeValues": {}}, "ExpressionAttributeValues must not be empty"),
        (
            {"ExpressionAttributeNames": {"a": "a"}},
            'ExpressionAttributeNames contains invalid key: Syntax error; key: "a"',
        ),
        (
            {"ExpressionAttributeNames": {"#a-b": "a"}},
            'ExpressionAttributeNames contains invalid key: Syntax error; key: "#a-b"',
        ),
        (
            {"ExpressionAttributeValues": {":": attribute_value(1)}},
            'ExpressionAttributeValues contains invalid key: Syntax error; key: ":"',
        ),
        (
            {"ExpressionAttributeNames": {"#" + "a" * 255: "a"}},
            "ExpressionAttributeNames contains invalid key: The expression attribute map "
            "contains a key that is too long; size of key: 256",
        ),
        (
            {"ExpressionAttributeNames": {"#a": ""}},
            "ExpressionAttributeNames contains invalid value: Empty attribute name for key #a",
        ),
        (
            {"ExpressionAttributeValues": {":v": {"N": "dog"}}},
            "ExpressionAttributeValues contains invalid value: The parameter cannot be converted "
            "to a numeric value: dog for key :v",
        ),
        (
            {"ExpressionAttributeValues": {":v": {}}},
            "ExpressionAttributeValues contains invalid value: Supplied AttributeValue is empty, "
            "must contain exactly one of the supported datatypes for key :v",
        ),
        (
            {"ExpressionAttributeNames": {f"#{n}": "a" * 65535 for n in range(33)}},
            "ExpressionAttributeNames exceeds max size",
        ),
        (
            {"ExpressionAttributeNames": {"#a": "a", "#b": "b", "#c": "c"}},
            "Value provided in ExpressionAttributeNames unused in expressions: keys: {#b, #c}",
        ),
        (
            {
                "ExpressionAttributeNames": {"#a": "a"},
                "ExpressionAttributeValues": {":v": attribute_value(1), ":w": attribute_value(1)},
            },
            "Value provided in ExpressionAttributeValues unused in expressions: keys: {:v, :w}",
        ),
    ],
)
def test_what_is_wrong_with_placeholders(placeholders: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValidationException) as caught:
        read_expressions({"ConditionExpression": "attribute_exists(#a)", **placeholders})
    assert caught.value.message == problem


def test_expressions_of_one_request_share_their_placeholders() -> None:
    found = read_expressions(
        {
            "KeyConditionExpression": "#p = :v",
            "FilterExpression": "a > :v AND b < :w",
            "ProjectionExpression": "#p, #q",
            "ExpressionAttributeNames": {"#p": "pk", "#q": "q"},
            "ExpressionAttributeValues": {":v": attribute_value(1), ":w": attribute_value(3)},
        }
    )
    assert found.filter is not None and found.projection is not None
    assert found.filter(item(a=2, b=2))
    assert found.projection(item(pk=1, a=2)) == item(pk=1)
    assert found.condition is None and found.update is None


@pytest.mark.parametrize(
    ("params", "blamed"),
    [
        (
            {"UpdateExpression": "(", "ConditionExpression": "("},
            "Invalid UpdateExpression",
        ),
        (
            {"KeyConditionExpression": "(", "FilterExpression": "(", "ProjectionExpression": "("},
            "Invalid KeyConditionExpression",
        ),
        ({"FilterExpression": "(", "ProjectionExpression": "("}, "Invalid FilterExpression"),
        ({"KeyConditionExpression": "a < b OR b < c", "FilterExpression": "("}, "Invalid Filter"),
    ],
)
def test_the_order_in_which_expressions_are_read(params: dict[str, Any], blamed: str) -> None:
    with pytest.raises(ValidationException) as caught:
        read_expressions(params)
    assert caught.value.message.startswith(blamed)


def test_the_values_of_a_request_are_never_changed() -> None:
    values = {":v": {"N": "01.50"}}
    params = {"UpdateExpression": "SET a = :v", "ExpressionAttributeValues": values}
    update = read_expressions(params).update
    assert update is not None
    assert update.apply({}) == {"a": {"N": "1.5"}}
    assert values == {":v": {"N": "01.50"}}


def test_a_hundred_thousand_unused_names_are_refused_quickly() -> None:
    names = {f"#{number}": "a" for number in range(100_000)}
    started = process_time()
    with pytest.raises(ValidationException):
        read_expressions(
            {"ProjectionExpression": "#1, #2", "ExpressionAttributeNames": {**names, "#2": "b"}}
        )
    assert process_time() - started < 1


def test_a_thousand_paths_are_compared_quickly() -> None:
    text = ",".join(f"a.b{number}" for number in range(550))
    started = process_time()
    assert read_expressions({"ProjectionExpression": text}).projection is not None
    assert process_time() - started < 0.5
