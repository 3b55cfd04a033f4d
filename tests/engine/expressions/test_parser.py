from __future__ import annotations

from contextlib import suppress
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigtime.engine.expressions.condition_parser import parse_condition
from bigtime.engine.expressions.lexer import ExpressionError
from bigtime.engine.expressions.parser import parse_projection, parse_update
from bigtime.engine.expressions.tree import (
    Add,
    Alias,
    And,
    Arithmetic,
    Between,
    Comparison,
    Delete,
    Function,
    Not,
    Or,
    Path,
    Remove,
    Set,
    Value,
)
from tests.engine.expressions.trees import condition_text, conditions, flat

A, B, C, D = (Comparison("=", Path((name,)), Value(f":{name}")) for name in "abcd")
TEXTS = {"a": "a = :a", "b": "b = :b", "c": "c = :c", "d": "d = :d"}


@given(conditions)
def test_a_printed_condition_parses_to_itself(condition: And) -> None:
    assert parse_condition(condition_text(condition)).tree == flat(condition)


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("{a} AND {b} OR {c}", Or((And((A, B)), C))),
        ("{a} OR {b} AND {c}", Or((A, And((B, C))))),
        ("NOT {a} AND {b}", And((Not(A), B))),
        ("NOT ({a} AND {b})", Not(And((A, B)))),
        ("{a} AND ({b} OR {c}) AND {d}", And((A, Or((B, C)), D))),
        ("NOT NOT {a}", A),
        ("{a} and {b} Or not {c}", Or((And((A, B)), Not(C)))),
        ("({a})", A),
        ("\t( {a}\r\n)\n", A),
    ],
)
def test_not_binds_before_and_before_or(text: str, tree: object) -> None:
    assert parse_condition(text.format(**TEXTS)).tree == tree


def test_the_and_of_between_is_its_own() -> None:
    a = Path(("a",))
    assert parse_condition("a BETWEEN :a AND :b AND b = :b").tree == And(
        (Between(a, Value(":a"), Value(":b")), B)
    )


@pytest.mark.parametrize("text", ["(a) = :a", "a = (:a)", "(a) = (:a)", "a=:a"])
def test_an_operand_may_stand_in_parentheses(text: str) -> None:
    assert parse_condition(text).tree == A


@pytest.mark.parametrize("text", ["a.b[3].#c = :v", "a . b [ 3 ] . #c = :v"])
def test_a_path_goes_through_maps_and_lists(text: str) -> None:
    path = Path(("a", "b", 3, Alias("#c")))
    assert parse_condition(text).tree == Comparison("=", path, Value(":v"))


def test_the_name_of_a_function_is_a_name_where_nothing_is_called() -> None:
    assert parse_condition("contains = :v").tree == Comparison(
        "=", Path(("contains",)), Value(":v")
    )


def test_placeholders_may_begin_with_digits() -> None:
    parsed = parse_condition("#1a = :2b OR #1a = :3")
    assert (parsed.aliases, parsed.values) == (("#1a",), (":2b", ":3"))


def test_all_clauses_of_an_update() -> None:
    actions = parse_update(
        "set a = b + :x, c = list_append(if_not_exists(c, :e), :l) "
        "Remove d, e[1] ADD f :n DELETE g.h :s"
    ).tree
    assert actions == (
        Set(Path(("a",)), Arithmetic("+", Path(("b",)), Value(":x"))),
        Set(
            Path(("c",)),
            Function(
                "list_append",
                (Function("if_not_exists", (Path(("c",)), Value(":e"))), Value(":l")),
            ),
        ),
        Remove(Path(("d",))),
        Remove(Path(("e", 1))),
        Add(Path(("f",)), Value(":n")),
        Delete(Path(("g", "h")), Value(":s")),
    )


@pytest.mark.parametrize("text", ["(b - :x)", "(b) - (:x)", "((b) - :x)"])
def test_a_sum_may_stand_in_parentheses(text: str) -> None:
    (action,) = parse_update(f"SET a = {text}").tree
    assert action == Set(Path(("a",)), Arithmetic("-", Path(("b",)), Value(":x")))


def test_a_projection_is_a_list_of_paths() -> None:
    assert parse_projection("a, b.c , d[0][1]").tree == (
        Path(("a",)),
        Path(("b", "c")),
        Path(("d", 0, 1)),
    )


@pytest.mark.parametrize(
    "text",
    [
        "(" * 2000 + "a=b" + ")" * 2000,
        "(" * 4000,
        "NOT " * 1000 + "a=b",
        "NOT(" * 800 + "a=b" + ")" * 800,
        "a=b" + " OR a=b" * 500,
        "size(" * 600 + "a" + ")" * 600 + "=b",
        "contains(" * 400,
        "a=" + "(" * 2000 + "b" + ")" * 2000,
        "a" + ".b" * 2000 + "=c",
        "a[" + "9" * 4000 + "]=b",
    ],
)
def test_depth_and_length_are_refused_quickly(text: str) -> None:
    started = process_time()
    with pytest.raises(ExpressionError):
        parse_condition(text)
    assert process_time() - started < 0.5


@pytest.mark.parametrize(
    "text",
    [
        "SET a = " + "(" * 2000 + "b" + ")" * 2000,
        "SET a = " + "list_append(" * 300 + "b",
        "SET a = " + "if_not_exists(a, " * 200 + "b" + ")" * 200,
    ],
)
def test_a_deep_update_is_refused(text: str) -> None:
    with pytest.raises(ExpressionError):
        parse_update(text)


@given(st.text("ab#:. =<>()[],+-019ANDORTISEBWnotin\n", max_size=60))
def test_any_text_parses_or_is_an_expression_error(text: str) -> None:
    for parse in (parse_condition, parse_update, parse_projection):
        with suppress(ExpressionError):
            parse(text)
