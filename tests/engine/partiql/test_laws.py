"""What holds for every statement: it does what the request that it stands for does."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigtime.engine import Engine
from bigtime.engine.expressions import Condition
from bigtime.wire import AttributeValue, DynamoDBError, Item, Response, ValidationException
from tests.engine.calls import call, index, key_schema, make_table, n, s
from tests.engine.expressions import trees
from tests.engine.partiql.statements import all_pages, run
from tests.strategies import values

INDEXES = (index("by_a", key_schema("a"), "ALL"),)
ATTRIBUTES = {"p": "S", "s": "N", "a": "S"}


@pytest.fixture(scope="module")
def shared_engine() -> Iterator[Engine]:
    with Engine.memory(housekeeping=False) as engine:
        yield engine


def drop_tables(engine: Engine) -> None:
    """Drops what earlier examples have left: an account has 2,500 tables at most."""
    for name in call(engine, "ListTables")["TableNames"]:
        call(engine, "DeleteTable", TableName=name)


def literal(value: AttributeValue) -> str | None:
    """A value as it is written in a statement; None of what only a parameter can be."""
    ((tag, content),) = value.items()
    return LITERALS[tag](content)


def quote(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def list_literal(elements: list[AttributeValue]) -> str | None:
    return join_elements("[", [literal(each) for each in elements], "]")


def map_literal(members: Item) -> str | None:
    texts = {quote(name): literal(each) for name, each in members.items()}
    return join_elements("{", [each and f"{name}: {each}" for name, each in texts.items()], "}")


def join_elements(opening: str, elements: list[str | None], closing: str) -> str | None:
    texts = [each for each in elements if each is not None]
    return f"{opening}{','.join(texts)}{closing}" if len(texts) == len(elements) else None


LITERALS: dict[str, Callable[[Any], str | None]] = {
    "S": quote,
    "N": str,
    "B": lambda content: None,
    "BOOL": lambda content: "true" if content else "FALSE",
    "NULL": lambda content: "Null",
    "SS": lambda content: f"<<{', '.join(map(quote, content))}>>",
    "NS": lambda content: f"<<{', '.join(content)}>>",
    "BS": lambda content: None,
    "L": list_literal,
    "M": map_literal,
}


class Writer:
    """Writes statements, with parameters for some of their values."""

    def __init__(self, draw: Any) -> None:
        self.draw = draw
        self.parameters: list[AttributeValue] = []

    def value(self, value: AttributeValue) -> str:
        text = literal(value)
        if text is not None and self.draw(st.booleans()):
            return text
        self.parameters.append(value)
        return "?"

    def condition(self, condition: Condition) -> str:
        text = trees.condition_text(condition)
        if self.draw(st.booleans()):
            text = re.sub(r"attribute_exists\(([^)]*)\)", r"\1 IS NOT MISSING", text)
            text = re.sub(r"attribute_not_exists\(([^)]*)\)", r"\1 IS MISSING", text)
        return re.sub(":[a-z]+", lambda match: self.value(trees.VALUES[match[0]]), text)


def used_values(text: str) -> dict[str, Any]:
    used = {name: trees.VALUES[name] for name in re.findall(":[a-z]+", text)}
    return {"ExpressionAttributeValues": used} if used else {}


def outcome(engine: Engine, operation: str, **params: Any) -> Response | str:
    try:
        return call(engine, operation, **params)
    except DynamoDBError as error:
        return error.code


@given(st.data())
def test_a_select_is_a_scan_with_the_same_filter(
    shared_engine: Engine, data: st.DataObject
) -> None:
    drop_tables(shared_engine)
    name = make_table(shared_engine, {"p": "S"}, keys=("p",))
    for number, item in enumerate(data.draw(st.lists(trees.items, max_size=5))):
        call(shared_engine, "PutItem", TableName=name, Item={**item, "p": s(str(number))})
    condition = data.draw(trees.conditions)
    filter_text = trees.condition_text(condition)
    scanned = outcome(
        shared_engine,
        "Scan",
        TableName=name,
        FilterExpression=filter_text,
        ReturnConsumedCapacity="INDEXES",
        **used_values(filter_text),
    )
    writer = Writer(data.draw)
    text = f'SELECT * FROM "{name}" WHERE {writer.condition(condition)}'
    given_parameters = {"Parameters": writer.parameters} if writer.parameters else {}
    selected = outcome(
        shared_engine,
        "ExecuteStatement",
        Statement=text,
        ReturnConsumedCapacity="INDEXES",
        **given_parameters,
    )
    if isinstance(scanned, str):
        assert selected == scanned
        return
    assert isinstance(selected, dict)
    assert selected["Items"] == scanned["Items"]
    assert selected["ConsumedCapacity"] == scanned["ConsumedCapacity"]


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 9)), max_size=30),
    st.sampled_from(["p = 'a'", "p = 'b' AND s >= 4", "p IN ['c', 'a']", "s BETWEEN 2 AND 6"]),
    st.integers(1, 7),
)
def test_pages_of_any_size_join_up(
    shared_engine: Engine, keys: list[tuple[str, int]], where: str, limit: int
) -> None:
    drop_tables(shared_engine)
    name = make_table(shared_engine, {"p": "S", "s": "N"})
    for partition, number in keys:
        call(shared_engine, "PutItem", TableName=name, Item={"p": s(partition), "s": n(number)})
    text = f'SELECT * FROM "{name}" WHERE {where}'
    assert all_pages(shared_engine, text, Limit=limit) == all_pages(shared_engine, text)


# A condition as a statement has it, and as Python judges an item's (p, s, c).
Judged: TypeAlias = tuple[str, Callable[[str, int, int], bool]]


def join_parts(parts: list[Judged], word: str, judge: Callable[[Iterable[bool]], bool]) -> Judged:
    texts = [text for text, _ in parts]
    return f"({f' {word} '.join(texts)})", lambda p, s, c: judge(f(p, s, c) for _, f in parts)


def negate(part: Judged) -> Judged:
    text, holds = part
    return f"NOT {text}", lambda p, s, c: not holds(p, s, c)


simple_conditions: st.SearchStrategy[Judged] = st.one_of(
    st.sampled_from("abc").map(lambda v: (f"p = '{v}'", lambda p, s, c: p == v)),
    st.sampled_from(["ab", "ca"]).map(
        lambda v: (f"p IN ['{v[0]}', '{v[1]}']", lambda p, s, c: p in v)
    ),
    st.integers(0, 5).map(lambda v: (f"s = {v}", lambda p, s, c: s == v)),
    st.integers(0, 5).map(lambda v: (f"s < {v}", lambda p, s, c: s < v)),
    st.integers(0, 5).map(lambda v: (f"{v} <= s", lambda p, s, c: v <= s)),
    st.integers(0, 5)
    .map(lambda v: (f"s BETWEEN {v} AND 4.5", lambda p, s, c: v <= s <= 4))
    .filter(lambda condition: "BETWEEN 5" not in condition[0]),
    st.integers(0, 1).map(lambda v: (f"c = {v}", lambda p, s, c: c == v)),
)
key_conditions = st.recursive(
    simple_conditions,
    lambda parts: st.one_of(
        st.lists(parts, min_size=2, max_size=3).map(lambda found: join_parts(found, "AND", all)),
        st.lists(parts, min_size=2, max_size=3).map(lambda found: join_parts(found, "OR", any)),
        parts.map(negate),
    ),
    max_leaves=8,
)


@pytest.fixture(scope="module")
def grid() -> Iterator[Engine]:
    """Every p, s and c of the conditions above."""
    with Engine.memory(housekeeping=False) as engine:
        make_table(engine, {"p": "S", "s": "N"}, name="Grid")
        for p in "abc":
            for number in range(6):
                item = {"p": s(p), "s": n(number), "c": n(number % 2)}
                call(engine, "PutItem", TableName="Grid", Item=item)
        yield engine


@given(key_conditions, st.sampled_from([None, 1, 4]))
def test_a_select_finds_each_item_once_or_is_refused(
    grid: Engine, condition: Judged, limit: int | None
) -> None:
    text, holds = condition
    found, refused = pages_or_refusal(grid, f"SELECT p, s FROM Grid WHERE {text}", limit)
    if refused:
        assert refused.startswith(("Overlapping conditions", "Too many decomposed"))
    else:
        keys = sorted((item["p"]["S"], int(item["s"]["N"])) for item in found)
        assert keys == [(p, v) for p in "abc" for v in range(6) if holds(p, v, v % 2)]


def pages_or_refusal(engine: Engine, text: str, limit: int | None) -> tuple[list[Item], str]:
    """The items of all pages, which are not without end, or the error's message."""
    settings: dict[str, Any] = {"Limit": limit} if limit else {}
    found: list[Item] = []
    try:
        for _ in range(40):
            page = run(engine, text, **settings)
            found.extend(page["Items"])
            if "NextToken" not in page:
                return found, ""
            settings["NextToken"] = page["NextToken"]
    except ValidationException as error:
        return [], error.message
    raise AssertionError(f"pages without end: {text}")


items: st.SearchStrategy[Item] = st.fixed_dictionaries(
    {"p": st.sampled_from([s("x"), s("y")]), "s": st.sampled_from([n(1), n(2)])},
    optional={"a": st.sampled_from([s("k"), s("l"), n(5)]), "b": values, "c": values},
)


def twins(engine: Engine) -> tuple[str, str]:
    drop_tables(engine)
    return (
        make_table(engine, ATTRIBUTES, globally=INDEXES),
        make_table(engine, ATTRIBUTES, globally=INDEXES),
    )


def same_effects(engine: Engine, first: str, second: str) -> None:
    for settings in ({}, {"IndexName": "by_a"}):
        left = call(engine, "Scan", TableName=first, **settings)
        assert left == call(engine, "Scan", TableName=second, **settings)


def same_outcome(request: Response | str, statement: Response | str) -> None:
    """Both refused with one error, or both done at one price."""
    if isinstance(request, str) or isinstance(statement, str):
        assert request == statement
        return
    left, right = request["ConsumedCapacity"], statement["ConsumedCapacity"]
    assert {**left, "TableName": ""} == {**right, "TableName": ""}
    attributes = request.get("Attributes")
    assert statement["Items"] == ([] if attributes is None else [attributes])


def statement(engine: Engine, text: str, writer: Writer) -> Response | str:
    given_parameters = {"Parameters": writer.parameters} if writer.parameters else {}
    return outcome(
        engine,
        "ExecuteStatement",
        Statement=text,
        ReturnConsumedCapacity="INDEXES",
        **given_parameters,
    )


@given(st.data(), st.lists(items, max_size=4))
def test_an_insert_is_a_put_of_a_new_item(
    shared_engine: Engine, data: st.DataObject, new_items: list[Item]
) -> None:
    plain, other = twins(shared_engine)
    for item in new_items:
        put = outcome(
            shared_engine,
            "PutItem",
            TableName=plain,
            Item=item,
            ConditionExpression="attribute_not_exists(p)",
            ReturnConsumedCapacity="INDEXES",
        )
        writer = Writer(data.draw)
        members = [f"'{name}': {writer.value(value)}" for name, value in item.items()]
        inserted = statement(
            shared_engine, f'INSERT INTO "{other}" VALUE {{{", ".join(members)}}}', writer
        )
        if put == "ConditionalCheckFailedException":
            put = "DuplicateItemException"
        same_outcome(put, inserted)
    same_effects(shared_engine, plain, other)


RETURNING = {
    "NONE": "",
    "ALL_OLD": " RETURNING ALL OLD *",
    "ALL_NEW": " RETURNING ALL NEW *",
    "UPDATED_OLD": " RETURNING MODIFIED OLD *",
    "UPDATED_NEW": " RETURNING MODIFIED NEW *",
}
CHANGES = {
    "SET b = {0}": "SET b = {0}",
    "SET b = c": "SET b = c",
    "SET b = c + {0}": "SET b = c + {0}",
    "SET b = {0} - c, a = c": "SET b = {0} - c SET a = c",
    "SET b = list_append(b, {0})": "SET b = LIST_APPEND(b, {0})",
    "SET c[1] = {0}": "SET c[1] = {0}",
    "SET c.d = {0} REMOVE b": "REMOVE b SET c.d = {0}",
    "ADD b {0}": "SET b = set_add(b, {0})",
    "DELETE b {0}": "SET b = set_delete(b, {0})",
    "REMOVE a, b": "REMOVE a, b",
    "SET a = {0}": "SET a = {0}",
}


@given(st.data(), st.lists(items, max_size=4))
def test_an_update_is_an_update_item_of_what_is_there(
    shared_engine: Engine, data: st.DataObject, stored: list[Item]
) -> None:
    plain, other = twins(shared_engine)
    for item in stored:
        for name in (plain, other):
            outcome(shared_engine, "PutItem", TableName=name, Item=item)
    for _ in range(data.draw(st.integers(1, 3))):
        change = data.draw(st.sampled_from(list(CHANGES)))
        value = data.draw(st.one_of(values, st.just(n(3)), st.just({"L": [n(1)]})))
        if change.startswith("ADD") and "N" in value:
            continue  # ADD takes a number; SET_ADD does not.
        returning = data.draw(st.sampled_from(list(RETURNING)))
        key = {"p": data.draw(st.sampled_from([s("x"), s("y")])), "s": n(1)}
        has_value = "{0}" in change
        updated = outcome(
            shared_engine,
            "UpdateItem",
            TableName=plain,
            Key=key,
            UpdateExpression=change.format(":v"),
            ConditionExpression="attribute_exists(p)",
            ReturnValues=returning,
            ReturnConsumedCapacity="INDEXES",
            **({"ExpressionAttributeValues": {":v": value}} if has_value else {}),
        )
        writer = Writer(data.draw)
        text = CHANGES[change].format(writer.value(value) if has_value else "")
        where = f"WHERE s = 1 AND p = {writer.value(key['p'])}{RETURNING[returning]}"
        same_outcome(updated, statement(shared_engine, f'UPDATE "{other}" {text} {where}', writer))
    same_effects(shared_engine, plain, other)


@given(st.data(), st.lists(items, max_size=4), trees.conditions)
def test_a_delete_is_a_delete_item(
    shared_engine: Engine, data: st.DataObject, stored: list[Item], condition: Condition
) -> None:
    plain, other = twins(shared_engine)
    for item in stored:
        for name in (plain, other):
            outcome(shared_engine, "PutItem", TableName=name, Item=item)
    key = {"p": s("x"), "s": n(1)}
    text = f"attribute_not_exists(p) OR ({trees.condition_text(condition)})"
    deleted = outcome(
        shared_engine,
        "DeleteItem",
        TableName=plain,
        Key=key,
        ConditionExpression=text,
        ReturnValues="ALL_OLD",
        ReturnConsumedCapacity="INDEXES",
        **used_values(text),
    )
    writer = Writer(data.draw)
    where = f"p = 'x' AND s = 1 AND ({writer.condition(condition)}) RETURNING ALL OLD *"
    same_outcome(deleted, statement(shared_engine, f'DELETE FROM "{other}" WHERE {where}', writer))
    same_effects(shared_engine, plain, other)


@given(st.lists(values, min_size=1, max_size=3))
def test_a_value_comes_back_as_it_was_written(
    shared_engine: Engine, stored: list[AttributeValue]
) -> None:
    drop_tables(shared_engine)
    name = make_table(shared_engine, {"p": "S"}, keys=("p",))
    for number, value in enumerate(stored):
        text = literal(value)
        if text is None or len(text) > 4000:
            continue
        run(shared_engine, f"INSERT INTO \"{name}\" VALUE {{'p': '{number}', 'v': {text}}}")
        call(shared_engine, "PutItem", TableName=name, Item={"p": s(f"put {number}"), "v": value})
        seen, put = (
            call(shared_engine, "GetItem", TableName=name, Key={"p": s(key)})["Item"]["v"]
            for key in (str(number), f"put {number}")
        )
        assert seen == put
