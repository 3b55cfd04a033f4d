from __future__ import annotations

from typing import Any

import pytest

from bigtime.engine.expressions.key_condition import KeyTerm
from tests.engine.expressions.reading import attribute_value, read, refusal


def term(attribute: str, operator: Any, *operands: Any) -> KeyTerm:
    return KeyTerm(attribute, operator, tuple(map(attribute_value, operands)))


INVALID = "Invalid KeyConditionExpression: "


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("pk = :v", [term("pk", "=", 1)]),
        (":v = pk", [term("pk", "=", 1)]),
        ("pk = :v AND sk < :w", [term("pk", "=", 1), term("sk", "<", 2)]),
        ("(pk = :v) AND (:w < sk)", [term("pk", "=", 1), term("sk", ">", 2)]),
        ("(sk >= :w AND pk = :v)", [term("sk", ">=", 2), term("pk", "=", 1)]),
        (":w >= sk AND pk = :v", [term("sk", "<=", 2), term("pk", "=", 1)]),
        ("pk = :v AND sk BETWEEN :v AND :w", [term("pk", "=", 1), term("sk", "BETWEEN", 1, 2)]),
        (
            "pk = :v AND a = :w AND (b = :v AND c > :w)",
            [term("pk", "=", 1), term("a", "=", 2), term("b", "=", 1), term("c", ">", 2)],
        ),
    ],
)
def test_a_key_condition_is_a_list_of_terms(text: str, terms: list[KeyTerm]) -> None:
    values = {name: value for name, value in (("v", 1), ("w", 2)) if f":{name}" in text}
    assert read("KeyConditionExpression", text, **values).key_condition == tuple(terms)


def test_begins_with_is_a_term_too() -> None:
    text = "#p = :p AND begins_with(#s, :s)"
    names = {"#p": "pk", "#s": "sk"}
    found = read("KeyConditionExpression", text, names, p="a", s="b").key_condition
    assert found == (term("pk", "=", "a"), term("sk", "begins_with", "b"))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("pk = :v OR sk = :v", "Invalid operator used in KeyConditionExpression: OR"),
        ("pk = :v AND NOT sk = :v", "Invalid operator used in KeyConditionExpression: NOT"),
        ("pk <> :v", "Invalid operator used in KeyConditionExpression: <>"),
        ("pk IN (:v)", "Invalid operator used in KeyConditionExpression: IN"),
        (
            "attribute_exists(pk) AND sk = :v",
            "Invalid operator used in KeyConditionExpression: attribute_exists",
        ),
        ("contains(pk, :v)", "Invalid operator used in KeyConditionExpression: contains"),
        (
            "size(pk) = :v",
            INVALID + "KeyConditionExpressions cannot contain nested operations",
        ),
        (
            "pk.a = :v",
            INVALID + "KeyConditionExpressions cannot have conditions on nested attributes",
        ),
        (
            "pk[0] = :v",
            INVALID + "KeyConditionExpressions cannot have conditions on nested attributes",
        ),
        (
            "pk = :v AND pk > :v",
            INVALID + "KeyConditionExpressions must only contain one condition per key",
        ),
        (
            ":v = :v",
            "Invalid condition in KeyConditionExpression: No key attribute specified",
        ),
        (
            "pk = sk AND a = :v",
            "Invalid condition in KeyConditionExpression: "
            "Multiple attribute names used in one condition",
        ),
        (
            ":v BETWEEN pk AND :v",
            "Invalid condition in KeyConditionExpression: "
            "BETWEEN operator must have the key attribute as its first operand",
        ),
        (
            "begins_with(:v, pk)",
            "Invalid condition in KeyConditionExpression: "
            "begins_with operator must have the key attribute as its first operand",
        ),
    ],
)
def test_what_a_key_condition_may_not_say(text: str, problem: str) -> None:
    assert refusal("KeyConditionExpression", text, v="x") == problem
