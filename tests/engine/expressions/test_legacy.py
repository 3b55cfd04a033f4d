from __future__ import annotations

from typing import Any

import pytest

from bigtime.engine.expressions.key_condition import KeyTerm
from bigtime.engine.expressions.parameters import Expressions, read_expressions
from bigtime.wire import ValidationException
from tests.engine.expressions.reading import attribute_value, item

INVALID = "One or more parameter values were invalid: "
ITEM = item(n=5, s="hello", tags={"SS": ["a", "b"]}, list=[1, "x"], yes=True, nothing=None)


def compare(operator: str, *operands: Any) -> dict[str, Any]:
    return {
        "ComparisonOperator": operator,
        "AttributeValueList": [attribute_value(operand) for operand in operands],
    }


def refusal(**params: Any) -> str:
    with pytest.raises(ValidationException) as caught:
        read_expressions(params)
    return caught.value.message


COMPARISONS = [
    ("n", compare("EQ", 5), True),
    ("n", compare("EQ", "5"), False),
    ("gone", compare("EQ", 5), False),
    ("tags", compare("EQ", {"SS": ["b", "a"]}), True),
    ("yes", compare("EQ", True), True),
    ("list", compare("EQ", [1, "x"]), True),
    ("n", compare("NE", 5), False),
    ("n", compare("NE", "5"), True),
    ("gone", compare("NE", 5), True),
    ("n", compare("LE", 5), True),
    ("n", compare("LT", 5), False),
    ("n", compare("GE", 6), False),
    ("n", compare("GT", 4), True),
    ("gone", compare("GT", 4), False),
    ("n", compare("NOT_NULL"), True),
    ("nothing", compare("NOT_NULL"), True),
    ("gone", compare("NOT_NULL"), False),
    ("n", compare("NULL"), False),
    ("nothing", compare("NULL"), False),
    ("gone", compare("NULL"), True),
    ("s", compare("CONTAINS", "ell"), True),
    ("tags", compare("CONTAINS", "a"), True),
    ("list", compare("CONTAINS", "x"), True),
    ("s", compare("NOT_CONTAINS", "ell"), False),
    ("tags", compare("NOT_CONTAINS", "z"), True),
    ("gone", compare("NOT_CONTAINS", "z"), False),
    ("s", compare("BEGINS_WITH", "he"), True),
    ("n", compare("IN", 4, 5), True),
    ("n", compare("IN", 4), False),
    ("n", compare("BETWEEN", 4, 6), True),
    ("s", compare("BETWEEN", "a", "b"), False),
]


@pytest.mark.parametrize(("name", "condition", "expected"), COMPARISONS)
def test_every_comparison_operator(name: str, condition: dict[str, Any], expected: bool) -> None:
    for parameter in ("QueryFilter", "ScanFilter"):
        found = read_expressions({parameter: {name: condition}}).filter
        assert found is not None
        assert found(ITEM) is expected
        assert found.attributes == {name}
    condition_ = read_expressions({"Expected": {name: condition}}).condition
    assert condition_ is not None
    assert condition_(ITEM) is expected


@pytest.mark.parametrize(
    ("expectation", "expected"),
    [
        ({"Value": attribute_value(5)}, True),
        ({"Value": attribute_value(6)}, False),
        ({"Value": attribute_value(5), "Exists": True}, True),
        ({"Exists": False}, False),
        ({"Value": attribute_value(4), "ComparisonOperator": "GT"}, True),
        ({"ComparisonOperator": "NOT_NULL"}, True),
    ],
)
def test_what_may_be_expected_of_an_attribute(expectation: Any, expected: bool) -> None:
    condition = read_expressions({"Expected": {"n": expectation}}).condition
    assert condition is not None
    assert condition(ITEM) is expected


@pytest.mark.parametrize(("operator", "expected"), [(None, False), ("AND", False), ("OR", True)])
def test_conditions_are_joined_by_the_conditional_operator(
    operator: str | None, expected: bool
) -> None:
    conditions = {"n": compare("EQ", 5), "s": compare("EQ", "other")}
    params = {"QueryFilter": conditions, "ConditionalOperator": operator}
    found = read_expressions(params).filter
    assert found is not None
    assert found(ITEM) is expected


def test_no_conditions_are_no_condition() -> None:
    assert read_expressions({"Expected": {}, "ScanFilter": {}}) == Expressions()


@pytest.mark.parametrize(
    ("expectation", "problem"),
    [
        (
            {"Value": attribute_value(1), "AttributeValueList": [attribute_value(1)]},
            "Value and AttributeValueList cannot be used together for Attribute: a",
        ),
        (
            {"Exists": True, **compare("EQ", 1)},
            "Exists and ComparisonOperator cannot be used together for Attribute: a",
        ),
        (
            {"ComparisonOperator": "GT"},
            "Value or AttributeValueList must be used with ComparisonOperator: GT for Attribute: a",
        ),
        (
            {"AttributeValueList": [attribute_value(1)]},
            "AttributeValueList can only be used with a ComparisonOperator for Attribute: a",
        ),
        ({}, "Value must be provided when Exists is null for Attribute: a"),
        ({"Exists": True}, "Value must be provided when Exists is true for Attribute: a"),
        (
            {"Exists": False, "Value": attribute_value(1)},
            "Value cannot be used when Exists is false for Attribute: a",
        ),
    ],
)
def test_what_is_wrong_with_an_expectation(expectation: Any, problem: str) -> None:
    assert refusal(Expected={"a": expectation}) == INVALID + problem


@pytest.mark.parametrize(
    ("condition", "problem"),
    [
        (compare("EQ"), "Invalid number of argument(s) for the EQ ComparisonOperator"),
        (compare("NULL", 1), "Invalid number of argument(s) for the NULL ComparisonOperator"),
        (compare("BETWEEN", 1), "Invalid number of argument(s) for the BETWEEN ComparisonOperator"),
        (compare("IN"), "Invalid number of argument(s) for the IN ComparisonOperator"),
        (
            compare("IN", 1, "x"),
            "AttributeValues inside AttributeValueList must be of same type",
        ),
        (
            compare("BEGINS_WITH", 1),
            "ComparisonOperator BEGINS_WITH is not valid for N AttributeValue type",
        ),
        (
            compare("LT", {"SS": ["a"]}),
            "ComparisonOperator LT is not valid for SS AttributeValue type",
        ),
        (
            compare("CONTAINS", {"L": []}),
            "ComparisonOperator CONTAINS is not valid for L AttributeValue type",
        ),
        (compare("EQ", {"SS": []}), "An string set  may not be empty"),
    ],
)
def test_what_is_wrong_with_a_condition(condition: Any, problem: str) -> None:
    for parameter in ("QueryFilter", "ScanFilter", "Expected", "KeyConditions"):
        assert refusal(**{parameter: {"a": condition}}) == INVALID + problem


def test_bounds_that_are_the_wrong_way_round() -> None:
    assert refusal(QueryFilter={"a": compare("BETWEEN", 2, 1)}) == (
        "The BETWEEN condition was provided a range where the lower bound is greater than the "
        "upper bound"
    )


def test_key_conditions_are_the_same_terms() -> None:
    found = read_expressions(
        {"KeyConditions": {"pk": compare("EQ", "a"), "sk": compare("BEGINS_WITH", "b")}}
    ).key_condition
    assert found == (
        KeyTerm("pk", "=", (attribute_value("a"),)),
        KeyTerm("sk", "begins_with", (attribute_value("b"),)),
    )


def test_not_every_comparison_finds_keys() -> None:
    assert refusal(KeyConditions={"pk": compare("NE", "a")}) == (
        "Attempted conditional constraint is not an indexable operation"
    )


def test_attributes_to_get_are_a_projection() -> None:
    projection = read_expressions({"AttributesToGet": ["n", "s", "a.b"]}).projection
    assert projection is not None
    assert projection({**ITEM, "a.b": attribute_value(1)}) == {
        **item(n=5, s="hello"),
        "a.b": attribute_value(1),
    }
    assert refusal(AttributesToGet=["a", "b", "a"]) == (
        INVALID + "Duplicate value in attribute name: a"
    )


@pytest.mark.parametrize(
    ("name", "update", "after"),
    [
        ("n", {"Value": attribute_value("x")}, "x"),
        ("n", {"Action": "PUT", "Value": attribute_value("x")}, "x"),
        ("n", {"Action": "ADD", "Value": attribute_value(2)}, 7),
        ("new", {"Action": "ADD", "Value": attribute_value(2)}, 2),
        ("tags", {"Action": "ADD", "Value": {"SS": ["b", "c"]}}, {"SS": ["a", "b", "c"]}),
        ("list", {"Action": "ADD", "Value": attribute_value([1])}, [1, "x", 1]),
        ("new", {"Action": "ADD", "Value": attribute_value([1])}, [1]),
        ("tags", {"Action": "DELETE", "Value": {"SS": ["b", "c"]}}, {"SS": ["a"]}),
        ("#1.x", {"Value": attribute_value(1)}, 1),
    ],
)
def test_every_action_of_an_attribute_update(name: str, update: Any, after: Any) -> None:
    found = read_expressions({"AttributeUpdates": {name: update}}).update
    assert found is not None
    assert found.attributes == {name}
    assert found.apply(ITEM) == {**ITEM, name: attribute_value(after)}


@pytest.mark.parametrize(
    "update", [{"Action": "DELETE"}, {"Action": "DELETE", "Value": {"SS": ["a", "b"]}}]
)
def test_what_an_attribute_update_takes_away(update: Any) -> None:
    found = read_expressions({"AttributeUpdates": {"tags": update, "gone": update}}).update
    assert found is not None
    assert found.apply(ITEM).keys() == ITEM.keys() - {"tags"}


@pytest.mark.parametrize(
    ("update", "problem"),
    [
        (
            {"Action": "PUT"},
            "Only DELETE action is allowed when no attribute value is specified",
        ),
        ({}, "Only DELETE action is allowed when no attribute value is specified"),
        (
            {"Action": "DELETE", "Value": attribute_value(1)},
            "DELETE action with value is not supported for the type N",
        ),
        (
            {"Action": "ADD", "Value": attribute_value("x")},
            "ADD action is not supported for the type S",
        ),
    ],
)
def test_what_is_wrong_with_an_attribute_update(update: Any, problem: str) -> None:
    assert refusal(AttributeUpdates={"a": update}) == INVALID + problem


@pytest.mark.parametrize(
    ("name", "update"),
    [
        ("s", {"Action": "ADD", "Value": attribute_value(1)}),
        ("tags", {"Action": "ADD", "Value": {"NS": ["1"]}}),
        ("tags", {"Action": "DELETE", "Value": {"NS": ["1"]}}),
    ],
)
def test_an_attribute_of_another_type(name: str, update: Any) -> None:
    found = read_expressions({"AttributeUpdates": {name: update}}).update
    assert found is not None
    with pytest.raises(ValidationException) as caught:
        found.apply(ITEM)
    assert caught.value.message == "Type mismatch for attribute to update"
