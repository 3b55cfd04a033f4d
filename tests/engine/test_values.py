from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable
from copy import deepcopy
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigtime.wire import (
    AttributeValue,
    DynamoDBError,
    Item,
    SerializationException,
    ValidationException,
    values,
)
from tests.strategies import binaries, items, key_values, names, spelt_numbers, texts
from tests.strategies import values as any_values

INVALID = "One or more parameter values were invalid: "
NO_DATATYPE = (
    "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"
)
MANY_DATATYPES = (
    "Supplied AttributeValue has more than one datatypes set, "
    "must contain exactly one of the supported datatypes"
)
NOT_A_NUMBER = "The parameter cannot be converted to a numeric value"
NO_STRUCTURE = "Start of structure or map found where not expected"
BAD_BASE64 = "Invalid last non-pad Base64 character dectected"


def check(value: Any) -> AttributeValue:
    return values.check_value(value)[0]


def refusal(kind: type[DynamoDBError], value: Any) -> str:
    """The words of the refusal, which are the same wherever the value stands."""
    said = set()
    for wrapped in (value, {"L": [{"S": "x"}, value]}, {"M": {"a": {"N": "1"}, "b": value}}):
        with pytest.raises(kind) as caught:
            values.check_value(wrapped)
        said.add(caught.value.message)
    with pytest.raises(kind) as caught:
        values.check_item({"pk": {"S": "x"}, "a": value})
    (message,) = said | {caught.value.message}
    return message


def wrapped_in_maps(times: int) -> AttributeValue:
    value: AttributeValue = {"S": "x"}
    for _ in range(times):
        value = {"M": {"a": value}}
    return value


def wrapped_in_lists(times: int) -> AttributeValue:
    value: AttributeValue = {"S": "x"}
    for _ in range(times):
        value = {"L": [value]}
    return value


# What is stored


@given(items)
def test_an_item_that_is_right_goes_through_as_itself(item: Item) -> None:
    before = deepcopy(item)
    assert values.check_item(item)[0] is item
    assert item == before


@given(any_values)
def test_a_value_that_is_right_goes_through_as_itself(value: AttributeValue) -> None:
    assert check(value) is value


@given(st.lists(spelt_numbers, min_size=1, max_size=3), names, any_values)
def test_numbers_are_respelt_wherever_they_stand_and_nothing_is_changed(
    spelt: list[str], name: str, bystander: AttributeValue
) -> None:
    numbers = [{"N": text} for text in spelt]
    item: Item = {
        "by": bystander,
        "n": numbers[0],
        "l": {"L": numbers},
        "m": {"M": {name: numbers[0]}},
    }
    before = deepcopy(item)
    kept, size = values.check_item(item)
    assert item == before
    assert kept["by"] is bystander
    assert Decimal(kept["n"]["N"]) == Decimal(spelt[0])
    assert kept["m"]["M"][name] == kept["n"] == kept["l"]["L"][0]
    assert [Decimal(value["N"]) for value in kept["l"]["L"]] == [Decimal(text) for text in spelt]
    assert values.check_item(kept) == (kept, size)
    assert values.check_item(kept)[0] is kept


def test_numbers_in_a_set_are_respelt() -> None:
    assert check({"NS": ["1.0", "2e1"]}) == {"NS": ["1", "20"]}


def test_nulls_and_unknown_members_count_as_absent() -> None:
    assert check({"S": None, "N": "1.0", "X": 5}) == {"N": "1"}
    assert check({"S": "x", "SS": None}) == {"S": "x"}


@pytest.mark.parametrize("word", ["true", "TRUE", "1", "yes"])
def test_words_for_true_are_booleans(word: str) -> None:
    assert check({"BOOL": word}) == {"BOOL": True}
    assert check({"NULL": word}) == {"NULL": True}


@pytest.mark.parametrize("word", ["false", "False", "0", "no"])
def test_words_for_false_are_booleans(word: str) -> None:
    assert check({"BOOL": word}) == {"BOOL": False}


@pytest.mark.parametrize(
    "value",
    [{"S": ""}, {"B": ""}, {"SS": [""]}, {"BS": ["", "AA=="]}, {"L": []}, {"M": {}}],
    ids=str,
)
def test_empty_contents_may_be_stored(value: AttributeValue) -> None:
    assert check(value) is value


# What is refused


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({}, NO_DATATYPE),
        ({"S": None}, NO_DATATYPE),
        ({"X": "x"}, NO_DATATYPE),
        ({"S": None, "N": None}, NO_DATATYPE),
        (None, NO_DATATYPE),
        ({"S": "a", "N": "1"}, MANY_DATATYPES),
        ({"M": {}, "L": []}, MANY_DATATYPES),
        ({"S": "a", "N": "dog"}, f"{NOT_A_NUMBER}: dog"),
        ({"N": ""}, NOT_A_NUMBER),
        ({"N": "dog"}, f"{NOT_A_NUMBER}: dog"),
        ({"NS": ["1", ""]}, NOT_A_NUMBER),
        ({"NS": ["1", None]}, NOT_A_NUMBER),
        ({"NS": ["1", "dog"]}, f"{NOT_A_NUMBER}: dog"),
        ({"NULL": False}, INVALID + "Null attribute value types must have the value of true"),
        ({"NULL": "no"}, INVALID + "Null attribute value types must have the value of true"),
        ({"SS": []}, INVALID + "An string set  may not be empty"),
        ({"NS": []}, INVALID + "An number set  may not be empty"),
        ({"BS": []}, INVALID + "Binary sets should not be empty"),
        ({"SS": ["a", None]}, INVALID + "An string set may not have a null string as a member"),
        ({"BS": ["AA==", None]}, INVALID + "Binary sets may not contain null or empty values"),
        ({"SS": ["a", "a"]}, INVALID + "Input collection [a, a] contains duplicates."),
        ({"NS": ["1", "1.0"]}, "Input collection contains duplicates"),
        (
            {"BS": ["Yg==", "Yg=="]},
            INVALID + "Input collection [Yg==, Yg==]of type BS contains duplicates.",
        ),
    ],
    ids=str,
)
def test_wrong_values_are_refused_in_amazons_words(value: Any, message: str) -> None:
    assert refusal(ValidationException, value) == message


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("x", "Unexpected value type in payload"),
        (5, "Unexpected value type in payload"),
        (
            [],
            "Unrecognized collection type class com.amazonaws.dynamodb.v20120810.AttributeValue",
        ),
        ({"S": 5}, "NUMBER_VALUE cannot be converted to String"),
        ({"S": 5.5}, "DECIMAL_VALUE cannot be converted to String"),
        ({"S": True}, "TRUE_VALUE cannot be converted to String"),
        ({"N": 5}, "NUMBER_VALUE cannot be converted to String"),
        ({"N": False}, "FALSE_VALUE cannot be converted to String"),
        ({"N": []}, "Unrecognized collection type class java.lang.String"),
        ({"S": {}}, NO_STRUCTURE),
        ({"SS": [1]}, "NUMBER_VALUE cannot be converted to String"),
        ({"NS": [1]}, "NUMBER_VALUE cannot be converted to String"),
        ({"SS": [["a"]]}, "Unrecognized collection type class java.lang.String"),
        ({"SS": "x"}, "Unexpected field type"),
        ({"NS": {}}, NO_STRUCTURE),
        ({"BS": 5}, "Unexpected field type"),
        ({"L": "x"}, "Unexpected field type"),
        ({"L": {}}, NO_STRUCTURE),
        ({"M": "x"}, "Unexpected field type"),
        (
            {"M": []},
            "Unrecognized collection type java.util.Map<java.lang.String, "
            "com.amazonaws.dynamodb.v20120810.AttributeValue>",
        ),
        ({"BOOL": 1}, "NUMBER_VALUE cannot be converted to Boolean"),
        ({"BOOL": "maybe"}, "Unexpected token received from parser"),
        ({"BOOL": {}}, NO_STRUCTURE),
        ({"NULL": []}, "Unrecognized collection type class java.lang.Boolean"),
        ({"B": 5}, "only base-64-encoded strings are convertible to bytes"),
        ({"B": []}, "Unrecognized collection type class java.nio.ByteBuffer"),
        ({"B": {}}, NO_STRUCTURE),
        ({"B": "abc"}, "Base64 encoded length is expected a multiple of 4 bytes but found: 3"),
        ({"BS": ["a"]}, "Base64 encoded length is expected a multiple of 4 bytes but found: 1"),
        ({"B": "ab!="}, BAD_BASE64),
        ({"B": "Yh=="}, BAD_BASE64),
        ({"B": "===="}, BAD_BASE64),
        ({"B": "Yg==Yg=="}, BAD_BASE64),
        ({"B": "\u00e9\u00e9\u00e9\u00e9"}, BAD_BASE64),
        ({"S": "\ud800"}, "Unexpected token received from parser"),
        ({"SS": ["\udfff"]}, "Unexpected token received from parser"),
        ({"N": "\ud800"}, "Unexpected token received from parser"),
        ({"NS": ["\ud800"]}, "Unexpected token received from parser"),
        ({"B": "\ud800" * 4}, BAD_BASE64),
        ({"M": {"\ud800": {"S": ""}}}, "Unexpected token received from parser"),
        ({"M": {5: {"S": ""}}}, "NUMBER_VALUE cannot be converted to String"),
    ],
    ids=ascii,
)
def test_json_of_the_wrong_type_is_refused_in_amazons_words(value: Any, message: str) -> None:
    assert refusal(SerializationException, value) == message


@pytest.mark.parametrize("item", [[], "x", 5, None])
def test_an_item_must_be_an_object(item: Any) -> None:
    with pytest.raises(SerializationException):
        values.check_item(item)


json_like = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.text(st.characters(categories=["L", "N", "Cs", "P"]), max_size=5),
    ),
    lambda children: st.one_of(
        st.lists(children, max_size=3),
        st.dictionaries(
            st.sampled_from(["S", "N", "B", "BOOL", "NULL", "SS", "NS", "BS", "L", "M", "x"]),
            children,
            max_size=3,
        ),
    ),
    max_leaves=12,
)


@given(json_like)
def test_any_json_is_stored_or_refused_as_dynamodb_would(value: Any) -> None:
    try:
        kept, size = values.check_value(value)
    except DynamoDBError as error:
        error.message.encode()  # so that the refusal can be sent
        return
    assert values.check_value(kept) == (kept, size)


# Nesting


@pytest.mark.parametrize("wrap", [wrapped_in_maps, wrapped_in_lists])
def test_thirty_two_levels_are_the_limit(wrap: Callable[[int], AttributeValue]) -> None:
    assert check(wrap(31)) == wrap(31)
    assert values.check_item({"a": wrap(31)})[0] == {"a": wrap(31)}
    for too_deep in (32, 33, 5000):
        with pytest.raises(ValidationException) as caught:
            values.check_item({"a": wrap(too_deep)})
        assert caught.value.message == (
            "Nesting Levels have exceeded supported limits: "
            "Attributes in the item have nested levels beyond supported limit"
        )


# Sizes


@pytest.mark.parametrize(
    ("value", "size"),
    [
        ({"S": ""}, 0),
        ({"S": "abc"}, 3),
        ({"S": "\u00e9"}, 2),
        ({"S": "\U0001d11e"}, 4),
        ({"N": "0"}, 1),
        ({"N": "-12345"}, 5),
        ({"B": "AAAA"}, 3),
        ({"B": "AA=="}, 1),
        ({"BOOL": False}, 1),
        ({"NULL": True}, 1),
        ({"SS": ["a", "bcd"]}, 4),
        ({"NS": ["1", "1234"]}, 5),
        ({"BS": ["AA==", "AAAA"]}, 4),
        ({"L": []}, 3),
        ({"L": [{"S": "abc"}, {"BOOL": True}]}, 3 + 1 + 3 + 1 + 1),
        ({"M": {}}, 3),
        ({"M": {"name": {"S": "abc"}, "\u00e9": {"N": "1"}}}, 3 + 1 + 4 + 3 + 1 + 2 + 2),
    ],
    ids=ascii,
)
def test_sizes_of_values(value: AttributeValue, size: int) -> None:
    assert values.check_value(value)[1] == size
    assert values.item_size({"name": value}) == 4 + size


@given(items)
def test_an_item_is_as_large_as_its_names_and_values(item: Item) -> None:
    total = sum(len(name.encode()) + values.check_value(value)[1] for name, value in item.items())
    assert values.check_item(item)[1] == values.item_size(item) == total


@given(names, texts)
def test_strings_and_names_count_in_utf8(name: str, text: str) -> None:
    assert values.item_size({name: {"S": text}}) == len(name.encode()) + len(text.encode())


# Comparisons


@given(any_values)
def test_a_value_is_the_same_as_its_copy(value: AttributeValue) -> None:
    assert values.same(value, deepcopy(value))


@given(any_values, any_values)
def test_sameness_goes_both_ways(a: AttributeValue, b: AttributeValue) -> None:
    assert values.same(a, b) == values.same(b, a)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ({"SS": ["a", "b"]}, {"SS": ["b", "a"]}),
        ({"NS": ["1", "2"]}, {"NS": ["2", "1"]}),
        ({"BS": ["AA==", "AQ=="]}, {"BS": ["AQ==", "AA=="]}),
        (
            {"M": {"a": {"S": ""}, "b": {"SS": ["x", "y"]}}},
            {"M": {"b": {"SS": ["y", "x"]}, "a": {"S": ""}}},
        ),
        ({"L": [{"SS": ["a", "b"]}]}, {"L": [{"SS": ["b", "a"]}]}),
        (check({"N": "1.0"}), check({"N": "1"})),
    ],
    ids=str,
)
def test_order_in_sets_and_maps_does_not_matter(a: AttributeValue, b: AttributeValue) -> None:
    assert values.same(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ({"S": "1"}, {"N": "1"}),
        ({"S": "AA=="}, {"B": "AA=="}),
        ({"SS": ["1"]}, {"NS": ["1"]}),
        ({"SS": ["a", "b"]}, {"SS": ["a", "c"]}),
        ({"SS": ["a"]}, {"SS": ["a", "b"]}),
        ({"L": [{"S": "a"}, {"S": "b"}]}, {"L": [{"S": "b"}, {"S": "a"}]}),
        ({"L": [{"S": "a"}]}, {"L": []}),
        ({"L": []}, {"M": {}}),
        ({"M": {"a": {"S": ""}}}, {"M": {"b": {"S": ""}}}),
        ({"BOOL": True}, {"NULL": True}),
        ({"BOOL": True}, {"BOOL": False}),
    ],
    ids=str,
)
def test_values_that_differ_are_not_the_same(a: AttributeValue, b: AttributeValue) -> None:
    assert not values.same(a, b)


@given(key_values, key_values)
def test_order_is_that_of_numbers_and_of_bytes(a: AttributeValue, b: AttributeValue) -> None:
    read: dict[str, Callable[[str], Any]] = {"S": str.encode, "N": Decimal, "B": b64decode}
    (left_tag, left_text), (right_tag, right_text) = *a.items(), *b.items()
    if left_tag != right_tag:
        assert values.order(a, b) is None
        return
    left, right = read[left_tag](left_text), read[right_tag](right_text)
    assert values.order(a, b) == (left > right) - (left < right)


def test_strings_order_by_code_point_and_not_by_utf16() -> None:
    assert values.order({"S": "\ufffd"}, {"S": "\U00010000"}) == -1


@pytest.mark.parametrize(
    "value", [{"BOOL": True}, {"SS": ["a"]}, {"L": []}, {"NULL": True}], ids=str
)
def test_other_types_have_no_order(value: AttributeValue) -> None:
    assert values.order(value, value) is None


@given(texts, texts, texts)
def test_a_string_contains_its_parts(before: str, part: str, after: str) -> None:
    assert values.contains({"S": before + part + after}, {"S": part})


@given(st.binary(max_size=4), st.binary(max_size=4), st.binary(max_size=4))
def test_a_binary_contains_its_parts(before: bytes, part: bytes, after: bytes) -> None:
    whole = b64encode(before + part + after).decode()
    assert values.contains({"B": whole}, {"B": b64encode(part).decode()})


@given(st.lists(any_values, min_size=1, max_size=3), st.integers(0, 2))
def test_a_list_contains_its_elements(elements: list[AttributeValue], index: int) -> None:
    assert values.contains({"L": elements}, deepcopy(elements[index % len(elements)]))


@pytest.mark.parametrize(
    ("container", "operand", "contained"),
    [
        ({"SS": ["a", "b"]}, {"S": "a"}, True),
        ({"SS": ["ab"]}, {"S": "a"}, False),
        ({"NS": ["1", "2"]}, {"N": "2"}, True),
        ({"NS": ["1", "2"]}, {"S": "2"}, False),
        ({"BS": ["AA=="]}, {"B": "AA=="}, True),
        ({"SS": ["a"]}, {"SS": ["a"]}, False),
        ({"S": "abc"}, {"S": "d"}, False),
        ({"S": "1"}, {"N": "1"}, False),
        ({"B": "AAEC"}, {"S": "AAEC"}, False),
        ({"B": "AAEC"}, {"B": "AQI="}, True),
        ({"L": [{"SS": ["a", "b"]}]}, {"SS": ["b", "a"]}, True),
        ({"N": "11"}, {"N": "1"}, False),
        ({"M": {"a": {"S": "a"}}}, {"S": "a"}, False),
    ],
    ids=str,
)
def test_contains(container: AttributeValue, operand: AttributeValue, *, contained: bool) -> None:
    assert values.contains(container, operand) is contained


@pytest.mark.parametrize(
    ("value", "size"),
    [
        ({"S": ""}, 0),
        ({"S": "abc"}, 3),
        ({"S": "\u00e9\U0001d11e"}, 3),
        ({"B": "AAEC"}, 3),
        ({"SS": ["a", "b"]}, 2),
        ({"NS": ["1"]}, 1),
        ({"BS": ["AA==", "AQ=="]}, 2),
        ({"L": [{"S": "abc"}, {"L": []}]}, 2),
        ({"M": {"a": {"S": "abc"}}}, 1),
        ({"N": "12"}, None),
        ({"BOOL": True}, None),
        ({"NULL": True}, None),
    ],
    ids=ascii,
)
def test_size_function(value: AttributeValue, size: int | None) -> None:
    assert values.size_of(value) == size


@given(binaries)
def test_binary_is_what_base64_says(text: str) -> None:
    assert b64encode(values.binary(text)).decode() == text
