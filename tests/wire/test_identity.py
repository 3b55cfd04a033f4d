"""Identities: one for each item, however its key is spelled."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from bigtime.wire import ValidationException, check_value, equal, item_identity
from tests.strategies import spelt_numbers


@given(spelt_numbers)
def test_a_number_has_one_identity_and_one_value_however_it_is_spelled(text: str) -> None:
    canonical, _ = check_value({"N": text})
    assert item_identity("t", {"n": {"N": text}}, ["n"]) == item_identity(
        "t", {"n": canonical}, ["n"]
    )
    assert equal({"N": text}, canonical)


def test_values_of_different_types_have_different_identities() -> None:
    values: list[Any] = [{"S": "MQ=="}, {"B": "MQ=="}, {"S": "1"}, {"N": "1"}]
    assert len({item_identity("t", {"k": value}, ["k"]) for value in values}) == 4


def test_the_table_and_the_names_belong_to_an_identity() -> None:
    item = {"a": {"S": "x"}, "b": {"S": "x"}}
    identities = {item_identity(table, item, [name]) for table in "tu" for name in "ab"}
    assert len(identities) == 4


@pytest.mark.parametrize(
    "value", [{"BOOL": True}, {"S": "a", "N": "1"}, {}, {"N": "much"}, {"N": "1e999"}]
)
def test_what_is_no_key_has_none(value: Any) -> None:
    with pytest.raises((ValueError, ValidationException)):
        item_identity("t", {"k": value}, ["k"])


def test_sets_are_equal_in_any_order_and_lists_are_not() -> None:
    assert equal({"NS": ["1.0", "2"]}, {"NS": ["2.00", "1"]})
    assert equal({"M": {"m": {"SS": ["a", "b"]}}}, {"M": {"m": {"SS": ["b", "a"]}}})
    assert not equal({"L": [{"N": "1"}, {"N": "2"}]}, {"L": [{"N": "2"}, {"N": "1"}]})
