"""Every text with which DynamoDB refuses an expression, once."""

from __future__ import annotations

from typing import Any

import pytest

from tests.engine.expressions.reading import refusal

SYNTAX = [
    ("_a = :v", "_", "_a"),
    ("a = :v AND _f(a)", "_", "AND _f"),
    ("(m.c).d = :v", ".", ").d"),
    ("(m.c)[0] = :v", "[", ")[0"),
    ("a = (m.c).d", ".", ").d"),
    ("a", "<EOF>", "a"),
    ("a =", "<EOF>", "="),
    ("a = :v AND", "<EOF>", "AND"),
    ("a-b", "-", "a-b"),
    ("a AND b = :v", "AND", "a AND b"),
    ("a == :v", "=", "== :v"),
    ("a = :v :w", ":w", ":v :w"),
    ("a = :v)", ")", ":v)"),
    ("(a = :v", "<EOF>", ":v"),
    ("a = b = c", "=", "b = c"),
    ("a IN ()", ")", "()"),
    ("a IN :v", ":v", "IN :v"),
    ("a.b.", "<EOF>", "."),
    ("a[b] = :v", "b", "[b]"),
    ("a[-1] = :v", "-", "[-1"),
    ("# = :v", "#", "# ="),
    ("a = : v", ":", "= : v"),
    ("a = 1", "1", "= 1"),
    ("a = 'x'", "'", "= 'x"),
    ("AND", "AND", "AND"),
    ("a BETWEEN :v OR :w", "OR", ":v OR :w"),
    ("a  =\n =  :v", "=", "=\n =  :v"),
    ("attribute_exists()", ")", "()"),
    ("attribute_exists(a = :v)", "=", "a = :v"),
    ("a ! b", "!", "a ! b"),
    ("é = :v", "é", "é ="),
]


@pytest.mark.parametrize(("text", "token", "near"), SYNTAX)
def test_a_syntax_error_shows_the_token_between_its_neighbours(
    text: str, token: str, near: str
) -> None:
    assert refusal("ConditionExpression", text) == (
        f'Invalid ConditionExpression: Syntax error; token: "{token}", near: "{near}"'
    )


@pytest.mark.parametrize(
    ("text", "token", "near"),
    [
        ("SET", "<EOF>", "SET"),
        ("INVALID SYNTAX HERE", "INVALID", "INVALID SYNTAX"),
        ("ADD hits : incr", ":", "hits : incr"),
        ("SET a = :a, REMOVE b", "REMOVE", ", REMOVE b"),
        ("SET a = :a b = :b", "b", ":a b ="),
        ("SET a = :a + :b + :c", "+", ":b + :c"),
        ("SET a = (b + :c) + :d", "+", ") + :d"),
        ("SET a :a", ":a", "a :a"),
        ("ADD a b", "b", "a b"),
        ("REMOVE a,", "<EOF>", ","),
        ("SET a = list_append(b, c + d)", "+", "c + d"),
        ("   ", "<EOF>", ""),
        ("SET _a = :v", "_", "SET _a"),
        ("SET a._b = :v", "_", "._b"),
        ("SET a = (b).c", ".", ").c"),
        ("SET a = (b)[0] + :v", "[", ")[0"),
        ("SET a = _f(b)", "_", "= _f"),
    ],
)
def test_a_syntax_error_in_an_update(text: str, token: str, near: str) -> None:
    assert refusal("UpdateExpression", text) == (
        f'Invalid UpdateExpression: Syntax error; token: "{token}", near: "{near}"'
    )


@pytest.mark.parametrize(
    ("text", "token", "near"),
    [("a b", "b", "a b"), (",a", ",", ",a"), ("a = b", "=", "a = b"), ("_a", "_", "_a")],
)
def test_a_syntax_error_in_a_projection(text: str, token: str, near: str) -> None:
    assert refusal("ProjectionExpression", text) == (
        f'Invalid ProjectionExpression: Syntax error; token: "{token}", near: "{near}"'
    )


REDUNDANT = "The expression has redundant parentheses;"
MISUSED = "The function is not allowed to be used this way in an expression; function: "
WRONG_TYPE = "Incorrect operand type for operator or function; operator or function: "
WRONG_COUNT = "Incorrect number of operands for operator or function; operator or function: "
DISTINCT = (
    "The first operand must be distinct from the remaining operands for this operator or "
    "function; operator: "
)
BOUNDS = "The BETWEEN operator requires "


@pytest.mark.parametrize(
    ("text", "values", "problem"),
    [
        ("", {}, "The expression can not be empty;"),
        ("a" * 4097, {}, "Expression size has exceeded the maximum allowed size;"),
        ("=" + "é" * 2048, {}, "Expression size has exceeded the maximum allowed size;"),
        (
            "a = :v" + " OR a = :v" * 150,
            {"v": 1},
            "The expression contains too many operators; operator count: 301",
        ),
        ("((a = :v))", {"v": 1}, REDUNDANT),
        ("a = ((:v))", {"v": 1}, REDUNDANT),
        ("((a)) = :v", {"v": 1}, REDUNDANT),
        ("a = :v AND ((b = :v OR c = :v))", {"v": 1}, REDUNDANT),
        ("size(((a))) = :v", {"v": 1}, REDUNDANT),
        ("whatever(a)", {}, "Invalid function name; function: whatever"),
        ("Size(a) = :v", {"v": 1}, "Invalid function name; function: Size"),
        (
            "if_not_exists(a, :v) = :v",
            {"v": 1},
            "The function is not allowed in a condition expression; function: if_not_exists",
        ),
        ("size(a)", {}, MISUSED + "size"),
        ("NOT size(a)", {}, MISUSED + "size"),
        ("a = :v AND size(a)", {"v": 1}, MISUSED + "size"),
        ("contains(a, :v) = :v", {"v": 1}, MISUSED + "contains"),
        ("size(contains(a, :v)) = :v", {"v": 1}, MISUSED + "contains"),
        ("a IN (contains(a, :v))", {"v": 1}, MISUSED + "contains"),
        ("abort = :v", {"v": 1}, "Attribute name is a reserved keyword; reserved keyword: abort"),
        ("a.Abort = :v", {"v": 1}, "Attribute name is a reserved keyword; reserved keyword: Abort"),
        (
            "a" + ".b" * 32 + " = :v",
            {"v": 1},
            "The document path has too many nesting levels; nesting levels: 33",
        ),
        (
            "a[4294967294] = :v AND a[4294967295] = :v",
            {"v": 1},
            "List index is not within the allowable range; index: [4294967295]",
        ),
        (
            f"a IN ({', '.join([':v'] * 101)})",
            {"v": 1},
            "The IN operator is provided with too many operands; number of operands: 101",
        ),
        (
            "#a = :v",
            {"v": 1},
            "An expression attribute name used in the document path is not defined; "
            "attribute name: #a",
        ),
        (
            "a = :w",
            {"v": 1},
            "An expression attribute value used in expression is not defined; attribute value: :w",
        ),
        ("contains(a)", {}, WRONG_COUNT + "contains, number of operands: 1"),
        ("attribute_exists(a, b)", {}, WRONG_COUNT + "attribute_exists, number of operands: 2"),
        ("size(a, b) = :v", {"v": 1}, WRONG_COUNT + "size, number of operands: 2"),
        ("a = a", {}, DISTINCT + "=, first operand: [a]"),
        ("a.b[1] <> a.b[1]", {}, DISTINCT + "<>, first operand: [a, b, [1]]"),
        ("contains(a, a)", {}, DISTINCT + "contains, first operand: [a]"),
        (
            "attribute_exists(:v)",
            {"v": 1},
            "Operator or function requires a document path; operator or function: attribute_exists",
        ),
        ("begins_with(a, :v)", {"v": 1}, WRONG_TYPE + "begins_with, operand type: N"),
        ("begins_with(a, size(b))", {}, WRONG_TYPE + "begins_with, operand type: N"),
        (
            "attribute_type(a, b)",
            {},
            WRONG_TYPE + "attribute_type, operand type: {NS,SS,L,BS,N,M,B,BOOL,NULL,S}",
        ),
        ("attribute_type(a, :v)", {"v": 1}, WRONG_TYPE + "attribute_type, operand type: N"),
        (
            "attribute_type(a, :v)",
            {"v": "X"},
            "Invalid attribute type name found; type: X, "
            "valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}",
        ),
        ("size(:v) = :v", {"v": 1}, WRONG_TYPE + "size, operand type: N"),
        ("a < :v", {"v": True}, WRONG_TYPE + "<, operand type: BOOL"),
        ("a BETWEEN b AND :v", {"v": []}, WRONG_TYPE + "BETWEEN, operand type: L"),
        (
            "a BETWEEN :v AND :w",
            {"v": 1, "w": "x"},
            BOUNDS + "same data type for lower and upper bounds; lower bound operand: "
            "AttributeValue: {N:1}, upper bound operand: AttributeValue: {S:x}",
        ),
        (
            "a BETWEEN :v AND :w",
            {"v": 5, "w": 1},
            BOUNDS + "upper bound to be greater than or equal to lower bound; lower bound "
            "operand: AttributeValue: {N:5}, upper bound operand: AttributeValue: {N:1}",
        ),
    ],
)
def test_what_is_wrong_with_a_condition(text: str, values: dict[str, Any], problem: str) -> None:
    for parameter in ("ConditionExpression", "FilterExpression", "KeyConditionExpression"):
        assert refusal(parameter, text, **values) == f"Invalid {parameter}: {problem}"


def test_300_operators_are_enough() -> None:
    text = "NOT a = :w" + " OR a = :v" * 149
    assert "attribute value: :w" in refusal("ConditionExpression", text, v=1)


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("((foo(a)))", REDUNDANT),
        ("foo(size(contains(a, b)))", "Invalid function name; function: foo"),
        ("size(a) AND abort = :v", MISUSED + "size"),
        ("#u = :v AND abort = :v", "Attribute name is a reserved keyword; reserved keyword: abort"),
        ("a = a AND #u = :v", DISTINCT + "=, first operand: [a]"),
        ("contains(#u) AND a = a", "An expression attribute name used in the document path"),
        ("contains(a) AND a = a", WRONG_COUNT + "contains, number of operands: 1"),
        ("a BETWEEN :w AND :v AND #u = :v", BOUNDS + "upper bound"),
        ("a = :v", None),
    ],
)
def test_mistakes_are_reported_in_dynamodbs_order(text: str, first: str | None) -> None:
    message = refusal("ConditionExpression", text, v=1, w=2, x=3)
    if first is None:
        assert message.startswith("Value provided in ExpressionAttributeValues unused")
    else:
        assert message.startswith(f"Invalid ConditionExpression: {first}")


OVERLAP = "Two document paths overlap with each other; must remove or rewrite one of these paths; "
CONFLICT = (
    "Two document paths conflict with each other; must remove or rewrite one of these paths; "
)


@pytest.mark.parametrize(
    ("text", "values", "problem"),
    [
        ("", {}, "The expression can not be empty;"),
        (
            "SET abort = :v",
            {"v": 1},
            "Attribute name is a reserved keyword; reserved keyword: abort",
        ),
        ("SET a = foo(b)", {}, "Invalid function name; function: foo"),
        (
            "SET a = size(b)",
            {},
            "The function is not allowed in an update expression; function: size",
        ),
        (
            "SET a = :v REMOVE b SET c = :v",
            {"v": 1},
            'The "SET" section can only be used once in an update expression;',
        ),
        (
            "REMOVE #a",
            {},
            "An expression attribute name used in the document path is not defined; "
            "attribute name: #a",
        ),
        (
            "SET a = :w",
            {"v": 1},
            "An expression attribute value used in expression is not defined; attribute value: :w",
        ),
        ("SET a = :v REMOVE a", {"v": 1}, OVERLAP + "path one: [a], path two: [a]"),
        ("SET a.b = :v, a = :v", {"v": 1}, OVERLAP + "path one: [a, b], path two: [a]"),
        ("REMOVE a[1], a[1].b", {}, OVERLAP + "path one: [a, [1]], path two: [a, [1], b]"),
        ("REMOVE a[1], a.b", {}, CONFLICT + "path one: [a, [1]], path two: [a, b]"),
        ("SET a = if_not_exists(b)", {}, WRONG_COUNT + "if_not_exists, number of operands: 1"),
        (
            "SET a = if_not_exists(:v, b)",
            {"v": 1},
            "Operator or function requires a document path; operator or function: if_not_exists",
        ),
        ("SET a = list_append(list_append(b, :v), :v)", {"v": []}, MISUSED + "list_append"),
        ("SET a = list_append(:v, list_append(b, :v))", {"v": []}, MISUSED + "list_append"),
        ("SET a = if_not_exists(a, list_append(b, :v))", {"v": []}, MISUSED + "list_append"),
        ("SET a = b + list_append(b, :v)", {"v": []}, MISUSED + "list_append"),
        (
            "SET a = list_append(b, :v)",
            {"v": 1},
            WRONG_TYPE + "list_append, operand type: N",
        ),
        ("SET a = b + :v", {"v": "x"}, WRONG_TYPE + "+, operand type: S"),
        ("SET a = :v - b", {"v": []}, WRONG_TYPE + "-, operand type: L"),
        (
            "ADD a :v",
            {"v": "x"},
            "Incorrect operand type for operator or function; operator: ADD, "
            "operand type: STRING, typeSet: ALLOWED_FOR_ADD_OPERAND",
        ),
        (
            "DELETE a :v",
            {"v": 1},
            "Incorrect operand type for operator or function; operator: DELETE, "
            "operand type: NUMBER, typeSet: ALLOWED_FOR_DELETE_OPERAND",
        ),
    ],
)
def test_what_is_wrong_with_an_update(text: str, values: dict[str, Any], problem: str) -> None:
    assert refusal("UpdateExpression", text, **values) == f"Invalid UpdateExpression: {problem}"


def test_an_update_counts_its_pluses_and_minuses() -> None:
    names = {f"#{number:x}": f"n{number}" for number in range(301)}
    text = "SET " + ",".join(f"{name}=a+:v" for name in names)
    assert refusal("UpdateExpression", text, names, v=1) == (
        "Invalid UpdateExpression: The expression contains too many operators; operator count: 301"
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a, b, a", OVERLAP + "path one: [a], path two: [a]"),
        ("a.b, a", OVERLAP + "path one: [a, b], path two: [a]"),
        ("a.b, a[0]", CONFLICT + "path one: [a, b], path two: [a, [0]]"),
        ("a[0], a.b, c, c", OVERLAP + "path one: [c], path two: [c]"),
        ("a.size", "Attribute name is a reserved keyword; reserved keyword: size"),
        ("a" + "[0]" * 32, "The document path has too many nesting levels; nesting levels: 33"),
    ],
)
def test_what_is_wrong_with_a_projection(text: str, problem: str) -> None:
    assert refusal("ProjectionExpression", text) == f"Invalid ProjectionExpression: {problem}"


def test_two_names_for_one_attribute_overlap() -> None:
    assert refusal("ProjectionExpression", "#a, #b", {"#a": "x.y", "#b": "x.y"}) == (
        f"Invalid ProjectionExpression: {OVERLAP}path one: [x.y], path two: [x.y]"
    )
