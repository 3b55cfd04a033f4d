"""Statements that mean nothing are refused, with a 400 and never otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bigtime.engine import Engine
from bigtime.wire import DynamoDBError, ResourceNotFoundException, ValidationException
from tests.engine.calls import call, index, key_schema, make_table, n, s
from tests.engine.partiql.statements import refusal, run
from tests.strategies import values

MALFORMED = "Statement wasn't well formed, can't be processed: "
ONE_STATEMENT = "Unexpected token after semicolon. (Only one query is allowed.)"
LEFT_OVER = f"{MALFORMED}Unexpected token after expression"
INVALID = "One or more parameter values were invalid: "
ONE_TABLE = "FROM clause may only contain a single table name"
BAG = "Unsupported data type in Bag. DynamoDB only supports either numbers or strings in bags"
SIGN = "Unsupported operator in Condition Expression. Operator: "
KEY_WANTED = "Where clause does not contain a mandatory equality on all key attributes"

GOOD = (
    "SELECT * FROM Things WHERE p = ? AND s = ?",
    'SELECT a.b[0], "c" FROM "Things"."by_a" WHERE a = \'x\' AND NOT (b > 1 OR c IS MISSING)',
    "SELECT p FROM Things WHERE p IN ['a', 'b', ?] AND s BETWEEN 1 AND 2 ORDER BY p DESC, s ASC",
    "SELECT p FROM Things WHERE begins_with(a, 'x') OR contains(b, ?) AND size(c) <> 2",
    "SELECT p FROM Things WHERE attribute_type(a, 'S') AND b IS NOT NULL",
    "INSERT INTO Things VALUE {'p': 'x', 's': 1, 'v': [1, <<1, 2>>, {'a': NULL}, true], 'w': ?}",
    "UPDATE Things SET a = 1, b = list_append(b, ?) SET c = set_add(c, <<'x'>>) REMOVE d[0], e.f"
    " WHERE p = 'x' AND s = 1 AND b > -2.5e1 RETURNING ALL NEW *",
    "UPDATE Things SET a = a + 1 WHERE p = ? AND s = ?",
    "DELETE FROM Things WHERE p = 'x' AND s = 1 AND a <= 'b' RETURNING ALL OLD *",
    "EXISTS(SELECT * FROM Things WHERE p = 'x' AND s = 1 AND a IS MISSING)",
)
PIECES = (
    "' \" ( ) [ ] { } << >> < > <= <> = != + - * . , : ; ? 1 1e999 -1 1.5.5 'x' \"y\" NULL TRUE AND"
    " OR NOT IN IS MISSING BETWEEN SELECT FROM WHERE SET REMOVE VALUE RETURNING ORDER BY DESC size("
    " begins_with( set_add( list_append( p s a é \ud800 \x00"
).split(" ")


@pytest.fixture(scope="module")
def things() -> Iterator[Engine]:
    with Engine.memory(housekeeping=False) as engine:
        make_table(
            engine,
            {"p": "S", "s": "N", "a": "S"},
            name="Things",
            globally=(index("by_a", key_schema("a"), "ALL"),),
        )
        item: Any = {"p": s("x"), "s": n(1), "a": s("x"), "b": {"L": [n(1)]}, "c": {"SS": ["y"]}}
        call(engine, "PutItem", TableName="Things", Item=item)
        yield engine


@pytest.mark.parametrize(
    "text",
    [
        " ",
        "nonsense",
        "SELECT",
        "SELECT * FROM",
        "SELECT * FROM Things WHERE",
        "SELECT * FROM Things WHERE a",
        "SELECT * FROM Things WHERE size(a)",
        "SELECT * FROM Things WHERE 'x'",
        "SELECT * FROM Things WHERE a = ",
        "SELECT * FROM Things WHERE a = 1 AND",
        "SELECT * FROM Things WHERE (a = 1",
        "SELECT * FROM Things WHERE a = 1)",
        "SELECT * FROM Things WHERE a = 1 OFFSET 5",
        "SELECT * FROM Things WHERE a IN []",
        "SELECT * FROM Things WHERE a IN [1)",
        "SELECT * FROM Things WHERE a IN ?",
        "SELECT * FROM Things WHERE a IS 5",
        "SELECT * FROM Things WHERE 5 IS MISSING",
        "SELECT * FROM Things WHERE a NOT 5",
        "SELECT * FROM Things WHERE a = 'x",
        'SELECT * FROM "Things',
        "SELECT * FROM Things WHERE lower(a) = 'x'",
        "SELECT * FROM Things WHERE begins_with(a)",
        f"SELECT * FROM Things WHERE {'(' * 60}a = 1{') = TRUE' * 60}",
        "SELECT * FROM Things WHERE size(a, b) = 1",
        "SELECT * FROM Things WHERE a + 1 = 2",
        "SELECT * FROM Things; SELECT * FROM Things",
        "SELECT a FROM Things AS b",
        "SELECT count(*) FROM Things",
        "SELECT a[1.5] FROM Things",
        f"SELECT {'a.' * 40}a FROM Things",
        "SELECT p FROM (SELECT * FROM Things)",
        "SELECT p FROM Things, Others",
        "INSERT INTO Things",
        "INSERT INTO Things VALUE",
        "INSERT INTO Things VALUE {'p'}",
        "INSERT INTO Things VALUE {p: 1}",
        "INSERT INTO Things VALUE {'p': a, 's': 1}",
        "UPDATE Things WHERE p = 'x' AND s = 1",
        "UPDATE Things SET a WHERE p = 'x' AND s = 1",
        "UPDATE Things SET a = 1 + 2 + 3 WHERE p = 'x' AND s = 1",
        "UPDATE Things SET a = if_not_exists(a, 1) WHERE p = 'x' AND s = 1",
        "UPDATE Things SET a = list_append(a) WHERE p = 'x' AND s = 1",
        "UPDATE Things SET a = 1 WHERE p = 'x' AND s = 1 RETURNING ALL *",
        "UPDATE Things SET a = 1 WHERE p = 'x' AND s = 1 RETURNING SOME NEW *",
        "DELETE Things WHERE p = 'x' AND s = 1",
        "EXISTS SELECT * FROM Things",
        f"SELECT * FROM Things WHERE {'(' * 4000}a = 1",
        "DROP TABLE Things",
    ],
)
def test_a_statement_that_is_not_well_formed(things: Engine, text: str) -> None:
    assert refusal(things, text).startswith(MALFORMED)


TERM, KEYWORD, OPERATOR = "Unexpected term", "Unexpected keyword", "Unexpected operator"
SIMPLE_PATH = "Expected identifier for simple path"
RIGHT_SIDE = "Missing right-hand side expression of infix operator"
NO_ACTION = "Expected data manipulation"
NOT_ALONE = (
    "Other expressions may not be present in the select list when '*' is used without dot notation."
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (" ", TERM),
        ("SELECT", TERM),
        ("SELECT *", "Expected FROM after SELECT list"),
        ("SELECT a, b.c WHERE a = 1", "Expected FROM after SELECT list"),
        ("SELECT FROM Things WHERE a = 1", NO_ACTION),
        ("SELECT a, FROM Things", NO_ACTION),
        ("SELECT *, a FROM Things", NOT_ALONE),
        ("SELECT a, * FROM Things", NOT_ALONE),
        ("SELECT a[0 FROM Things", "Expected RIGHT_BRACKET"),
        ("SELECT a[] FROM Things", TERM),
        ("SELECT * FROM", TERM),
        ("SELECT * FROM WHERE a = 1", KEYWORD),
        ("SELECT * FROM Things WHERE", TERM),
        ("SELECT * FROM Things WHERE = 1", OPERATOR),
        ("SELECT * FROM Things WHERE , a = 1", TERM),
        ("SELECT * FROM Things WHERE NOT", TERM),
        ("SELECT * FROM Things WHERE ()", TERM),
        ("SELECT * FROM Things WHERE (a = 1", "Expected RIGHT_PAREN"),
        ("SELECT * FROM Things WHERE a =", RIGHT_SIDE),
        ("SELECT * FROM Things WHERE a = 1 AND", RIGHT_SIDE),
        ("SELECT * FROM Things WHERE a = 1 OR", RIGHT_SIDE),
        ("SELECT * FROM Things WHERE a IN", RIGHT_SIDE),
        ("SELECT * FROM Things WHERE a NOT BETWEEN", RIGHT_SIDE),
        ("SELECT * FROM Things WHERE a = ;", TERM),
        ("SELECT * FROM Things WHERE a = <> 1", OPERATOR),
        ("SELECT * FROM Things WHERE a = ORDER BY p", KEYWORD),
        ("SELECT * FROM Things WHERE a BETWEEN 1", "Expected AND keyword"),
        ("SELECT * FROM Things WHERE a BETWEEN 1 AND", "Expected expression after AND"),
        ("SELECT * FROM Things WHERE a IN [1, 2", "Expected RIGHT_BRACKET"),
        ("SELECT * FROM Things WHERE a IN (1, 2]", "Expected RIGHT_PAREN"),
        ("SELECT * FROM Things WHERE a IS", "Expected type name"),
        ("SELECT * FROM Things WHERE a IS NOT 5", "Expected type name"),
        ("SELECT * FROM Things WHERE begins_with(a, 'x'", "Expected RIGHT_PAREN"),
        ("SELECT * FROM Things WHERE a = <<1, 2", "Expected RIGHT_DOUBLE_ANGLE_BRACKET"),
        ("SELECT * FROM Things; SELECT * FROM Things", ONE_STATEMENT),
        ("SELECT * FROM Things WHERE a = 'x", ""),
        ('SELECT * FROM "Things', ""),
        ("SELECT * FROM Things /* all", ""),
        ("SELECT * FROM Things WHERE a = #5", ""),
        ("SELECT * FROM Things WHERE a = `x`", ""),
        ("UPDATE", SIMPLE_PATH),
        ("UPDATE 'Things' SET a = 1", SIMPLE_PATH),
        ("UPDATE Things SET", SIMPLE_PATH),
        ("UPDATE Things SET 5 = a", SIMPLE_PATH),
        ("UPDATE Things REMOVE WHERE p = 'x'", SIMPLE_PATH),
        ("UPDATE Things SET a = 1, WHERE p = 'x'", SIMPLE_PATH),
        ("UPDATE Things SET a WHERE p = 'x'", "Expected '='"),
        ("UPDATE Things SET a =", TERM),
        ("UPDATE Things SET a = a +", RIGHT_SIDE),
        ("UPDATE Things SET a = WHERE p = 'x'", KEYWORD),
        ("DELETE", "Expected FROM after DELETE"),
        ("DELETE Things WHERE p = 'x'", "Expected FROM after DELETE"),
        ("DELETE FROM", SIMPLE_PATH),
        ("INSERT Things", KEYWORD),
        ("INSERT INTO", SIMPLE_PATH),
        ("INSERT INTO Things", TERM),
        ("INSERT INTO Things VALUE", TERM),
        ("INSERT INTO Things VALUE {'p'}", "Expected COLON"),
        ("INSERT INTO Things VALUE {'p': }", TERM),
        ("INSERT INTO Things VALUE {'p': 1", "Expected RIGHT_CURLY"),
        ("INSERT INTO Things VALUE {'p': [1}", "Expected RIGHT_BRACKET"),
        ("EXISTS SELECT * FROM Things", KEYWORD),
    ],
)
def test_an_error_of_syntax_is_that_of_amazons_parser(
    things: Engine, text: str, expected: str
) -> None:
    """https://github.com/partiql/partiql-lang-kotlin"""
    assert refusal(things, text) == f"{MALFORMED}{expected}"


@pytest.mark.parametrize("call", ["lower(a)", "COUNT(*)", "size2(a)", "utcnow()"])
def test_a_function_that_is_not_there(things: Engine, call: str) -> None:
    told = f"{MALFORMED}Unsupported function {call.split('(', maxsplit=1)[0]}"
    assert refusal(things, f"SELECT * FROM Things WHERE {call} = 1") == told
    assert refusal(things, f"UPDATE Things SET b = {call} WHERE p = 'x' AND s = 1") == told


def test_a_statement_has_a_length(things: Engine) -> None:
    assert "'statement' failed to satisfy constraint" in refusal(things, "")
    assert "less than or equal to 8192" in refusal(things, "x" * 8193)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT a.size FROM Things", f"{MALFORMED}Invalid path dot component"),
        ("nonsense", f"{MALFORMED}Expected data manipulation"),
        ("SELECT a AS b FROM Things", "Aliasing is not supported"),
        ("SELECT a b FROM Things", "Aliasing is not supported"),
        ("SELECT a, b.a FROM Things", "Duplicate identifiers in select clause: a"),
        ("SELECT * FROM Things LIMIT 50", "Unsupported clause: LIMIT at 1:28:2"),
        ("SELECT *\nFROM Things\n  LIMIT ?", "Unsupported clause: LIMIT at 3:9:1"),
        ("INSERT INTO Things VALUE {'p': <<>>, 's': 1}", "Empty bags are not supported"),
        (
            "INSERT INTO Things VALUE {'p': <<1, 'x'>>, 's': 1}",
            "Unsupported data type in Bag. "
            "DynamoDB only supports either numbers or strings in bags",
        ),
        ("UPDATE Things-1 SET b = 1 WHERE p = 'x'", f"{MALFORMED}Expected data manipulation"),
        ("UPDATE Things SET b = 1 WHERE p = 'x'", KEY_WANTED),
        ("UPDATE Things SET b = 1", KEY_WANTED),
        ("UPDATE Things SET b = 1 WHERE p = 'x' AND s > 1", KEY_WANTED),
        ("UPDATE Things SET b = 1 WHERE p = 'x' OR s = 1", KEY_WANTED),
        ("DELETE FROM Things WHERE p IN ['x'] AND s = 1", KEY_WANTED),
        (
            "UPDATE Things SET b = 1 WHERE p = 'x' AND s = 1 AND p = 'y'",
            "Multiple conditions on same key p. "
            "Only single item Update/Insert/Delete are supported",
        ),
        (
            "DELETE FROM Things WHERE s = 1 AND p = 'x' AND 2 = s",
            "Multiple conditions on same key s. "
            "Only single item Update/Insert/Delete are supported",
        ),
        (
            "UPDATE Things SET p = 'y' WHERE p = 'x' AND s = 1",
            "One or more parameter values were invalid: "
            "Cannot update attribute p. This attribute is part of the key",
        ),
        (
            "UPDATE Things SET b = 1 WHERE p = 5 AND s = 1",
            "The provided key element does not match the schema",
        ),
        (
            "INSERT INTO Things VALUES <<{'p': 'x'}>>",
            "Unsupported operation: Inserting multiple items in a single statement is not "
            'supported, use "INSERT INTO tableName VALUE item" instead',
        ),
        (
            "INSERT INTO Things {'p': 'x'}",
            "Unsupported operation: Inserting multiple items in a single statement is not "
            'supported, use "INSERT INTO tableName VALUE item" instead',
        ),
        (
            "INSERT INTO Things VALUE {'p': 'x'}",
            "One or more parameter values were invalid: Missing the key s in the item",
        ),
        (
            "SELECT * FROM Things WHERE p = ?",
            "Number of parameters in request and statement don't match.",
        ),
        (
            "SELECT * FROM Things WHERE p = 'x' AND a BETWEEN 5 AND 1",
            "The BETWEEN operator requires upper bound to be greater than or equal to lower bound; "
            "lower bound operand: AttributeValue: {N:5}, "
            "upper bound operand: AttributeValue: {N:1}",
        ),
        ("SELECT * FROM Things WHERE p = 'x')", LEFT_OVER),
        ("SELECT * FROM Things ORDER BY p WHERE p = 'x'", LEFT_OVER),
        ("INSERT INTO Things VALUE {'p': 'x', 's': 1} more", LEFT_OVER),
        ("DELETE FROM Things WHERE p = 'x' AND s = 1 ORDER BY p", LEFT_OVER),
        (
            "SELECT * FROM Things.by_a.more WHERE a = 1",
            "A path may contain at most 2 components in the FROM clause",
        ),
        (
            "DELETE FROM Things WHERE p = 'x' AND s = 1 RETURNING MODIFIED OLD *",
            "Invalid returning clause: RETURNING MODIFIED OLD *. "
            "Only RETURNING ALL OLD * is allowed in DELETE statements.",
        ),
    ],
)
def test_a_statement_that_cannot_be_done(things: Engine, text: str, expected: str) -> None:
    assert refusal(things, text) == expected


RANGE = "List index is not within the allowable range; index: [{}] at {}"
UNSUPPORTED = "Unsupported data type: Parameter under key {} at {}"
TOO_DEEP = "Nesting Levels have exceeded supported limits under root"
EMPTY_NAME = "Path component cannot be an empty string"
NO_INDEX = "This operation is not supported on an index"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("UPDATE Things.by_a SET b = 1 WHERE p = 'x' AND s = 1", NO_INDEX),
        ('DELETE FROM "Things"."by_a" WHERE p = \'x\' AND s = 1', NO_INDEX),
        ("DELETE FROM Nope.by_a WHERE p = 'x'", NO_INDEX),
        ("INSERT INTO Things.by_a VALUE {'p': 'x', 's': 1}", ONE_TABLE),
        (
            "UPDATE Things.by_a.x SET b = 1",
            "A path may contain at most 2 components in the FROM clause",
        ),
        ('SELECT * FROM ""', EMPTY_NAME),
        ('SELECT * FROM Things.""', EMPTY_NAME),
        ('UPDATE "" SET b = 1 WHERE p = 1', EMPTY_NAME),
        ("INSERT INTO \"\" VALUE {'p': 'x'}", EMPTY_NAME),
        ("SELECT a[-1] FROM Things", RANGE.format("-1", "1:11:1")),
        ("SELECT a FROM Things\nWHERE b[ - 12] = 1", RANGE.format("-12", "2:12:2")),
        ("SELECT a[2147483648] FROM Things", RANGE.format("2147483648", "1:10:10")),
        (
            "UPDATE Things REMOVE b[99999999999] WHERE p = 'x' AND s = 1",
            RANGE.format("99999999999", "1:24:11"),
        ),
        (
            "INSERT INTO Things VALUE {'p': 'y', 's': 1, 'v': [1, ?]}",
            UNSUPPORTED.format("root[1]", "1:54:1"),
        ),
        (
            "INSERT INTO Things VALUE {'p': 'y', 's': 1, 'v': {'a': {'b': ?}}}",
            UNSUPPORTED.format("root.a.b", "1:62:1"),
        ),
        (
            "UPDATE Things SET b = list_append(b, [?]) WHERE p = 'x' AND s = 1",
            UNSUPPORTED.format("root[0]", "1:39:1"),
        ),
        ("SELECT * FROM Things WHERE a = [{'b': ?}]", UNSUPPORTED.format("root[0].b", "1:39:1")),
        ("INSERT INTO Things VALUE {'p': 'y', 's': 1, 'v': <<?>>}", BAG),
        ("INSERT INTO Things VALUE {'p': 'y', 's': 1, 'v': <<1, 'a'>>}", BAG),
        (
            "INSERT INTO Things VALUE {'p': 'y', 's': 1, 'v': <<'b', 'a', 'b'>>}",
            f"{INVALID}Input collection [b, a, b] contains duplicates.",
        ),
        (
            "INSERT INTO Things VALUE {'p': 'y', 's': 1, 'v': <<1, 1.0>>}",
            f"{INVALID}Input collection [1, 1.0] contains duplicates! under root",
        ),
        (
            f"INSERT INTO Things VALUE {{'p': 'y', 's': 1, 'd': {'[' * 33}1{']' * 33}}}",
            f"{TOO_DEEP}{'[0]' * 32}",
        ),
        ("SELECT * FROM Things WHERE a = -?", f"{SIGN}-"),
        ("SELECT * FROM Things WHERE a = + b", f"{SIGN}+"),
        ("SELECT * FROM Things WHERE a = - - ?", f"{SIGN}-"),
    ],
)
def test_a_statement_that_aws_was_seen_to_refuse(things: Engine, text: str, expected: str) -> None:
    """https://github.com/floci-io/floci/pull/3798"""
    parameters = [n(1)] * text.count("?")
    assert refusal(things, text, *parameters) == expected


def test_signs_add_up(things: Engine) -> None:
    assert run(things, "SELECT p FROM Things WHERE s = - -+1 AND p = 'x'")["Items"] == [
        {"p": s("x")}
    ]


@pytest.mark.parametrize(
    "text",
    [
        "INSERT INTO Things VALUE 'x'",
        "INSERT INTO Things VALUE {'p': 1e999, 's': 1}",
        "UPDATE Things SET b = 1 SET b = 2 WHERE p = 'x' AND s = 1",
        "UPDATE Things SET b = 1 SET b.c = 2 WHERE p = 'x' AND s = 1",
        "UPDATE Things SET n = set_add(n, 1) WHERE p = 'x' AND s = 1",
        "UPDATE Things SET n = set_delete(n, 1) WHERE p = 'x' AND s = 1",
        "UPDATE Things SET b = nothing WHERE p = 'x' AND s = 1",
        "UPDATE Things SET b = list_append(b, 1) WHERE p = 'x' AND s = 1",
        "UPDATE Things SET a = 1 WHERE p = 'x' AND s = 1",
        "DELETE FROM Things WHERE p = 'x' AND s = 1 RETURNING ALL NEW *",
        "SELECT * FROM Things WHERE attribute_type(a, 'Q')",
        "SELECT * FROM Things WHERE attribute_type(a, b)",
        "SELECT * FROM Things WHERE a < [1]",
        "SELECT * FROM Things WHERE begins_with(a, 5)",
        "SELECT * FROM Things WHERE a = a",
        "SELECT p.q FROM Things",
        f"SELECT * FROM Things WHERE p IN [{','.join('1' * 51)}]",
        f"SELECT * FROM Things WHERE b IN [{','.join('1' * 101)}]",
        "SELECT * FROM Things.nope",
    ],
)
def test_a_statement_that_is_refused_in_other_words(things: Engine, text: str) -> None:
    with pytest.raises(ValidationException):
        run(things, text)


@pytest.mark.parametrize("word", ["key", "Size", "PAD", "user", "date", "count", "list", "old"])
def test_a_reserved_word_is_a_name_in_quotes_alone(things: Engine, word: str) -> None:
    unexpected = f"{MALFORMED}Unexpected keyword"
    assert refusal(things, f"SELECT {word} FROM Things") == unexpected
    assert refusal(things, f"SELECT * FROM Things WHERE {word} = 1") == unexpected
    assert refusal(things, f"SELECT * FROM Things ORDER BY {word}") == unexpected
    assert refusal(things, f"UPDATE Things SET {word} = 1 WHERE p = 'x'") == (
        f"{MALFORMED}Expected identifier for simple path"
    )
    assert (
        refusal(things, f"SELECT b.{word} FROM Things") == f"{MALFORMED}Invalid path dot component"
    )
    run(things, f'SELECT "{word}", b."{word}"[0] FROM Things WHERE "{word}" = 1')


def test_year_and_name_are_no_reserved_words(things: Engine) -> None:
    """They are in AWS's examples, and DynamoDB's own expressions alone reserve them."""
    run(things, "SELECT name, info.rating FROM Things WHERE year = 1985 AND status = 'x'")


def test_a_key_may_be_repeated(things: Engine) -> None:
    run(things, "UPDATE Things SET z = 1 WHERE p = 'x' AND s = 1 AND p = 'x' AND s = 1.0")


def test_a_table_that_does_not_exist(things: Engine) -> None:
    for text in (
        "SELECT * FROM Nope",
        "INSERT INTO Nope VALUE {'a': 1}",
        "UPDATE Nope SET a = 1 WHERE p = 1",
        "DELETE FROM Nope WHERE p = 1",
    ):
        with pytest.raises(ResourceNotFoundException):
            run(things, text)


def test_a_list_of_parameters_has_one_at_least(things: Engine) -> None:
    """Seen on AWS: https://github.com/localstack/localstack/pull/12083"""
    assert refusal(things, "SELECT * FROM Things", Parameters=[]) == (
        "1 validation error detected: Value '[]' at 'parameters' failed to satisfy constraint: "
        "Member must have length greater than or equal to 1"
    )


def attempt(engine: Engine, text: str, parameters: list[Any]) -> None:
    """Runs a statement in every way; whatever is wrong with it is the caller's fault."""
    request: dict[str, Any] = {"Statement": text}
    if parameters:
        request["Parameters"] = parameters
    for operation, params in (
        ("ExecuteStatement", request),
        ("BatchExecuteStatement", {"Statements": [request]}),
        ("ExecuteTransaction", {"TransactStatements": [request]}),
    ):
        assert status(engine, operation, params) in (200, 400)


def status(engine: Engine, operation: str, params: Any) -> int:
    try:
        call(engine, operation, **params)
    except DynamoDBError as error:
        return error.status
    return 200


@pytest.mark.parametrize("text", ["a IS STRING", "a IS NOT LIST"])
def test_a_type_other_than_null_and_missing_is_told_by_attribute_type(
    things: Engine, text: str
) -> None:
    assert refusal(things, f"SELECT * FROM Things WHERE {text}") == (
        f"{MALFORMED}IS takes NULL or MISSING; attribute_type tells other types"
    )


def test_the_bounds_of_a_key_must_be_in_order(things: Engine) -> None:
    """As in a KeyConditionExpression, and in a filter."""
    assert refusal(things, "SELECT * FROM Things WHERE p = 'x' AND s BETWEEN 2 AND 1").startswith(
        "The BETWEEN operator requires upper bound to be greater than or equal to lower bound"
    )


@given(st.text(max_size=60), st.lists(values, max_size=2))
@example("SELECT * FROM Things WHERE p = '\ud800'", [])
@example("\ud800", [])
def test_any_text_is_answered(things: Engine, text: str, parameters: list[Any]) -> None:
    attempt(things, text, parameters)


@given(st.sampled_from(GOOD), st.data())
def test_a_damaged_statement_is_answered(things: Engine, text: str, data: st.DataObject) -> None:
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(len(text), start + 6)))
        text = text[:start] + data.draw(st.sampled_from(["", " ", *PIECES])) + text[end:]
    parameters = data.draw(st.lists(values, min_size=text.count("?"), max_size=text.count("?")))
    attempt(things, text, parameters)


@given(st.sampled_from(GOOD), st.data())
def test_parameters_of_any_type_are_answered(
    things: Engine, text: str, data: st.DataObject
) -> None:
    count = text.count("?")
    attempt(things, text, data.draw(st.lists(values, min_size=count, max_size=count)))
