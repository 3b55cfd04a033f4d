"""Functions in conditions and updates: what they take, and the errors for what they do not.

AWS's page has no attribute_exists; that it works, and the texts, were seen on AWS.
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ql-functions.html
https://github.com/floci-io/floci/pull/3798
"""

from __future__ import annotations

from typing import Any

import pytest

from bigtime.engine import Engine
from bigtime.wire import AttributeValue, ConditionalCheckFailedException
from tests.engine.calls import call, make_table, n, s
from tests.engine.partiql.statements import items, refusal, run

FIRST = "The first argument to {} must equal the assignment value at {}"
SECOND = "The second argument to {} must be a value with type SET at {}"
INCORRECT = (
    "Incorrect operand type for operator or function; operator or function: {}, operand type: {}"
)


@pytest.fixture
def things(engine: Engine) -> Engine:
    make_table(engine, {"p": "N"}, name="Things", keys=("p",))
    items: tuple[Any, ...] = (
        {"p": n(1), "a": s("x"), "m": {"M": {"k": {"NULL": True}}}, "flag": {"BOOL": True}},
        {"p": n(2), "l": {"L": [s("x")]}, "ss": {"SS": ["a"]}, "flag": {"BOOL": False}},
    )
    for item in items:
        call(engine, "PutItem", TableName="Things", Item=item)
    return engine


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("attribute_exists(a)", {1}),
        ("attribute_not_exists(a)", {2}),
        ("NOT ATTRIBUTE_EXISTS(a)", {2}),
        ("attribute_exists(m.k)", {1}),
        ("attribute_exists(l[0]) OR Attribute_Exists(m.nothing)", {2}),
        ("attribute_exists(a) = TRUE", {1}),
        ("attribute_exists(a) = false", {2}),
        ("attribute_exists(a) <> false", {1}),
        ("TRUE = attribute_exists(a)", {1}),
        ("attribute_exists(a) = 1", set()),
        ("attribute_exists(a) <> 1", {1, 2}),
        ("attribute_exists(a) = flag", {1, 2}),
        ("attribute_exists(l) = flag", set()),
        ("attribute_exists(a) = attribute_exists(m)", {1, 2}),
        ("begins_with(a, 'x') = contains(l, 'x')", set()),
        ("attribute_exists(a) IN [FALSE, 'x']", {2}),
        ("attribute_exists(a) NOT IN [FALSE, 'x']", {1}),
    ],
)
def test_a_condition_reads_as_a_boolean(things: Engine, condition: str, expected: set[int]) -> None:
    found = items(things, f"SELECT * FROM Things WHERE {condition}")
    assert {int(item["p"]["N"]) for item in found} == expected


@pytest.mark.parametrize("parameter", [{"BOOL": True}, {"BOOL": False}, n(1)])
def test_a_condition_is_compared_with_a_parameter(
    things: Engine, parameter: AttributeValue
) -> None:
    found = items(things, "SELECT p FROM Things WHERE attribute_exists(a) = ?", parameter)
    assert found == {"True": [{"p": n(1)}], "False": [{"p": n(2)}]}.get(
        str(parameter.get("BOOL")), []
    )


@pytest.mark.parametrize("operator", ["<", "<=", ">", ">=", "BETWEEN"])
def test_a_condition_has_no_order(things: Engine, operator: str) -> None:
    bounds = "FALSE AND TRUE" if operator == "BETWEEN" else "TRUE"
    text = f"SELECT * FROM Things WHERE attribute_exists(a) {operator} {bounds}"
    assert refusal(things, text) == INCORRECT.format(operator, "BOOL")


def test_a_write_takes_attribute_exists_too(things: Engine) -> None:
    run(things, "UPDATE Things SET b = 1 WHERE p = 1 AND attribute_exists(a)")
    with pytest.raises(ConditionalCheckFailedException):
        run(things, "UPDATE Things SET b = 2 WHERE p = 1 AND attribute_not_exists(a)")
    with pytest.raises(ConditionalCheckFailedException):
        run(things, "DELETE FROM Things WHERE p = 2 AND attribute_exists(a)")
    run(things, "DELETE FROM Things WHERE p = 2 AND attribute_not_exists(a)")
    assert items(things, "SELECT p, b FROM Things") == [{"p": n(1), "b": n(1)}]
    exists = "EXISTS(SELECT * FROM Things WHERE p = 1 AND attribute_exists(a))"
    call(things, "ExecuteTransaction", TransactStatements=[{"Statement": exists}])


@pytest.mark.parametrize(
    ("assignment", "expected"),
    [
        ("t = set_add(ss, <<'x'>>)", FIRST.format("SET_ADD", "1:23:7")),
        ("ss = SET_DELETE(t, <<'x'>>)", FIRST.format("SET_DELETE", "1:24:10")),
        ("ss = set_add(<<'a'>>, <<'b'>>)", FIRST.format("SET_ADD", "1:24:7")),
        ("ss = set_add('ss', <<'b'>>)", FIRST.format("SET_ADD", "1:24:7")),
        ("a = 1,\n  t = set_add(ss, <<'x'>>)", FIRST.format("SET_ADD", "2:7:7")),
        ("ss = set_add(ss, 'x')", SECOND.format("SET_ADD", "1:32:2")),
        ("ss = set_delete(ss, ['x'])", SECOND.format("SET_DELETE", "1:35:2")),
        ("ss = set_add(ss, a)", SECOND.format("SET_ADD", "1:32:2")),
        ('a = 1 SET\n"ss" = set_add("ss", 5)', SECOND.format("SET_ADD", "2:16:4")),
        (
            "ss = set_add(ss, <<1>>)",
            "An operand in the update expression has an incorrect data type",
        ),
    ],
)
def test_a_set_is_changed_by_a_set_alone(things: Engine, assignment: str, expected: str) -> None:
    assert refusal(things, f"UPDATE Things SET {assignment} WHERE p = 2") == expected


def test_a_parameter_must_be_a_set_too(things: Engine) -> None:
    text = "UPDATE Things SET ss = set_add(ss, ?) WHERE p = 2 RETURNING MODIFIED NEW *"
    assert refusal(things, text, s("x")) == SECOND.format("SET_ADD", "1:32:2")
    assert items(things, text, {"SS": ["b"]}) == [{"ss": {"SS": ["a", "b"]}}]
    assert refusal(things, text, n(1)) == SECOND.format("SET_ADD", "1:32:2")


def test_a_set_that_is_not_there(things: Engine) -> None:
    """SET_ADD creates it, SET_DELETE leaves it out."""
    text = "UPDATE Things SET t = set_add(t, <<1>>) SET u = set_delete(u, <<1>>) WHERE p = 2"
    assert items(things, f"{text} RETURNING MODIFIED NEW *") == [{"t": {"NS": ["1"]}}]
