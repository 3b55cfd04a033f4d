"""Keys: how they are ordered as bytes, and what may be a key of a table or of an index."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigtime.engine import Engine
from bigtime.engine.storage.definition import KeyAttribute, KeyType
from bigtime.engine.storage.keys import HASH_SPACE, KeyCodec, SortRange, base_key, segment_range
from bigtime.wire import AttributeValue, DynamoDBError, Item, Request, Response
from tests.strategies import binaries, spelt_numbers, texts

INVALID = "One or more parameter values were invalid: "
NOT_VALID = "One or more parameter values are not valid. "
NO_MATCH = "The provided key element does not match the schema"
EMPTY_INDEX_KEY = (
    NOT_VALID + "The update expression attempted to update a secondary index key to a value that "
    "is not supported. The AttributeValue for a key attribute cannot contain an empty string value."
)
UNSUPPORTED_TYPE = (
    "The update expression attempted to update the secondary index key to unsupported type"
)
BEYOND_SIZE = (
    "The update expression attempted to update the secondary index key beyond allowed size limits"
)

# --- Bytes ----------------------------------------------------------------------------------

CONTENTS = {"S": texts.filter(bool), "N": spelt_numbers, "B": binaries.filter(bool)}
# What DynamoDB compares: UTF-8 bytes, numbers, bytes.
MEANINGS: dict[str, Callable[[str], Any]] = {"S": str.encode, "N": Decimal, "B": b64decode}
OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "=": lambda one, other: one == other,
    "<": lambda one, other: one < other,
    "<=": lambda one, other: one <= other,
    ">": lambda one, other: one > other,
    ">=": lambda one, other: one >= other,
}
schemas = st.lists(st.sampled_from(["S", "N", "B"]), min_size=1, max_size=4)


def codec(types: list[Any]) -> KeyCodec:
    sort = tuple(KeyAttribute(f"s{place}", kind) for place, kind in enumerate(types))
    return KeyCodec((KeyAttribute("p", "S"),), sort)


def item_of(types: list[str], contents: list[str]) -> Item:
    pairs = zip(types, contents, strict=True)
    return {
        "p": {"S": "p"},
        **{f"s{place}": {kind: text} for place, (kind, text) in enumerate(pairs)},
    }


def meaning(types: list[str], contents: list[str]) -> tuple[Any, ...]:
    return tuple(MEANINGS[kind](text) for kind, text in zip(types, contents, strict=True))


def contents_of(types: list[str]) -> st.SearchStrategy[list[str]]:
    return st.tuples(*(CONTENTS[kind] for kind in types)).map(list)


@given(st.data(), schemas)
def test_bytes_are_ordered_as_dynamodb_orders_keys(data: st.DataObject, types: list[str]) -> None:
    one, other = data.draw(contents_of(types)), data.draw(contents_of(types))
    left, right = (codec(types).sort(item_of(types, each)) for each in (one, other))
    a, b = meaning(types, one), meaning(types, other)
    assert (left < right, left == right) == (a < b, a == b)


def falls_in(bounds: SortRange, blob: bytes) -> bool:
    return (bounds.low is None or bounds.low <= blob) and (
        bounds.high is None or blob < bounds.high
    )


@given(st.data(), schemas, st.sampled_from([*OPERATORS, "BETWEEN", "begins_with"]))
def test_a_range_holds_what_its_condition_asks_for(
    data: st.DataObject, types: list[str], operator: str
) -> None:
    one, other, third = (data.draw(contents_of(types)) for _ in range(3))
    last = data.draw(st.integers(0, len(types) - 1))
    one[:last] = data.draw(st.sampled_from([one, other]))[:last]
    if operator == "begins_with" and types[last] == "N":
        operator = "="
    if operator == "begins_with":
        other[last] = data.draw(st.sampled_from(beginnings(types[last], one[last])))
    operands: list[AttributeValue] = [{types[last]: other[last]}]
    if operator == "BETWEEN":
        operands.append({types[last]: third[last]})
    terms = [("=", ({kind: text},)) for kind, text in zip(types[:last], other[:last], strict=True)]
    bounds = codec(types).sort_range((*terms, (operator, tuple(operands))))
    found = falls_in(bounds, codec(types).sort(item_of(types, one)))
    same_start = meaning(types[:last], one[:last]) == meaning(types[:last], other[:last])
    value, low, high = (MEANINGS[types[last]](each[last]) for each in (one, other, third))
    if operator == "BETWEEN":
        assert found == (same_start and low <= value <= high)
    elif operator == "begins_with":
        assert found == (same_start and value.startswith(low))
    else:
        assert found == (same_start and OPERATORS[operator](value, low))


def beginnings(kind: str, content: str) -> list[str]:
    whole = MEANINGS[kind](content)
    if kind == "S":
        return [content, content[:1], content + "x"]
    return [b64encode(part).decode() for part in (whole, whole[:1], whole + b"x")]


@given(st.tuples(st.binary(), st.binary()), st.tuples(st.binary(), st.binary()))
def test_base_keys_tell_items_apart(one: tuple[bytes, bytes], other: tuple[bytes, bytes]) -> None:
    assert (base_key(*one) == base_key(*other)) == (one == other)


@given(st.integers(1, 1_000_000), st.integers(0, HASH_SPACE - 1))
def test_every_partition_is_in_exactly_one_segment(total: int, place: int) -> None:
    blob = place.to_bytes(4, "big") + b"partition"
    near = place * total // HASH_SPACE
    around = range(max(near - 2, 0), min(near + 3, total))
    assert sum(falls_in(segment_range(segment, total), blob) for segment in around) == 1


@pytest.mark.parametrize("total", [1, 2, 3, 7, 64, 1000])
def test_segments_join_up(total: int) -> None:
    ranges = [segment_range(segment, total) for segment in range(total)]
    assert ranges[0].low == bytes(4) and ranges[-1].high is None
    assert all(each.high == following.low for each, following in pairwise(ranges))


# --- Tables ---------------------------------------------------------------------------------

KEY: Item = {"pk": {"S": "a"}, "sk": {"N": "1"}}
TYPES: dict[str, KeyType] = {"pk": "S", "sk": "N", "g": "S", "h": "B"}


@pytest.fixture
def things(engine: Engine) -> Engine:
    declare(engine, "things", ["pk", "sk"], TYPES, {"by-g": ["g", "h"]})
    return engine


def declare(
    engine: Engine,
    name: str,
    key: list[str],
    types: dict[str, KeyType],
    indexes: dict[str, list[str]],
) -> None:
    params: dict[str, Any] = {
        "TableName": name,
        "AttributeDefinitions": [
            {"AttributeName": each, "AttributeType": kind} for each, kind in types.items()
        ],
        "KeySchema": schema(key),
        "BillingMode": "PAY_PER_REQUEST",
    }
    if indexes:
        params["GlobalSecondaryIndexes"] = [index(*item) for item in indexes.items()]
    engine(Request("CreateTable", params))


def schema(names: list[str]) -> list[dict[str, str]]:
    roles = zip(names, ("HASH", "RANGE"), strict=False)
    return [{"AttributeName": name, "KeyType": role} for name, role in roles]


def index(name: str, key: list[str]) -> dict[str, Any]:
    return {
        "IndexName": name,
        "KeySchema": schema(key),
        "Projection": {"ProjectionType": "ALL"},
    }


def call(engine: Engine, operation: str, **params: Any) -> Response:
    return engine(Request(operation, {"TableName": "things", **params}))


def refusal(engine: Engine, operation: str, **params: Any) -> str:
    """The words of the refusal; and nothing has changed."""
    before = call(engine, "Scan")
    with pytest.raises(DynamoDBError) as caught:
        call(engine, operation, **params)
    assert call(engine, "Scan") == before
    return caught.value.message


def put(engine: Engine, item: Item) -> None:
    call(engine, "PutItem", Item=item)


def get(engine: Engine, key: Item = KEY) -> Item | None:
    return call(engine, "GetItem", Key=key).get("Item")


def update(engine: Engine, expression: str, values: Item) -> None:
    call(
        engine, "UpdateItem", Key=KEY, UpdateExpression=expression, ExpressionAttributeValues=values
    )


BAD_KEYS: list[tuple[Item, str]] = [
    ({}, NO_MATCH),
    ({"pk": {"S": "a"}}, NO_MATCH),
    ({**KEY, "x": {"S": "x"}}, NO_MATCH),
    ({"pk": {"S": "a"}, "other": {"N": "1"}}, NO_MATCH),
    ({"pk": {"N": "1"}, "sk": {"N": "1"}}, NO_MATCH),
    ({"pk": {"M": {}}, "sk": {"N": "1"}}, NO_MATCH),
    ({**KEY, "sk": {"S": "1"}}, NO_MATCH),
    (
        {**KEY, "pk": {"S": ""}},
        NOT_VALID + "The AttributeValue for a key attribute cannot contain an empty string value. "
        "Key: pk",
    ),
    (
        {**KEY, "pk": {"S": "x" * 2049}},
        INVALID + "Size of hashkey has exceeded the maximum size limit of2048 bytes",
    ),
    (
        {**KEY, "pk": {"S": "é" * 1025}},
        INVALID + "Size of hashkey has exceeded the maximum size limit of2048 bytes",
    ),
    ({**KEY, "sk": {"N": "one"}}, "The parameter cannot be converted to a numeric value: one"),
]


@pytest.mark.parametrize(("key", "message"), BAD_KEYS)
@pytest.mark.parametrize("operation", ["GetItem", "UpdateItem", "DeleteItem"])
def test_a_key_has_the_attributes_of_the_schema_and_no_others(
    things: Engine, operation: str, key: Item, message: str
) -> None:
    assert refusal(things, operation, Key=key) == message


def test_a_key_is_measured_in_bytes(things: Engine) -> None:
    for text in ("x" * 2048, "é" * 1024):
        key = {**KEY, "pk": {"S": text}}
        put(things, key)
        assert get(things, key) == key


def test_each_part_of_a_key_has_its_limit_in_bytes(engine: Engine) -> None:
    declare(engine, "texts", ["p", "s"], {"p": "B", "s": "S"}, {})
    edge: Item = {"p": binary(2048), "s": {"S": "é" * 512}}
    target = {"TableName": "texts", "Item": edge}
    engine(Request("PutItem", target))
    over: list[tuple[Item, str]] = [
        ({"p": binary(2049)}, "Size of hashkey has exceeded the maximum size limit of2048 bytes"),
        (
            {"s": {"S": "é" * 512 + "x"}},
            "Aggregated size of all range keys has exceeded the size limit of 1024 bytes",
        ),
    ]
    for change, message in over:
        for operation, member in (("PutItem", "Item"), ("GetItem", "Key"), ("DeleteItem", "Key")):
            with pytest.raises(DynamoDBError) as caught:
                engine(Request(operation, {"TableName": "texts", member: {**edge, **change}}))
            assert caught.value.message == INVALID + message


def binary(size: int) -> AttributeValue:
    return {"B": b64encode(bytes(size)).decode()}


@pytest.mark.parametrize("kind", ["string", "binary"])
def test_no_part_of_a_key_may_be_empty(engine: Engine, kind: str) -> None:
    tag: KeyType = "S" if kind == "string" else "B"
    declare(engine, "texts", ["p", "s"], {"p": tag, "s": tag}, {})
    full: Item = {"p": {tag: "aaaa"}, "s": {tag: "aaaa"}}
    for name in ("p", "s"):
        for operation, member in (("PutItem", "Item"), ("GetItem", "Key"), ("DeleteItem", "Key")):
            params = {"TableName": "texts", member: {**full, name: {tag: ""}}}
            with pytest.raises(DynamoDBError) as caught:
                engine(Request(operation, params))
            assert caught.value.message == (
                NOT_VALID + "The AttributeValue for a key attribute cannot contain an empty "
                f"{kind} value. Key: {name}"
            )


# --- Indexes --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "expression",
    ["SET g = :n", "ADD g :n", "SET g = if_not_exists(g, :n)", "SET g = points + :n"],
)
def test_an_update_may_not_give_an_index_key_another_type(things: Engine, expression: str) -> None:
    # It is refused whatever the item: before any condition is judged.
    message = refusal(
        things,
        "UpdateItem",
        Key=KEY,
        UpdateExpression=expression,
        ConditionExpression="attribute_exists(pk)",
        ExpressionAttributeValues={":n": {"N": "1"}},
    )
    assert message == INVALID + (
        "Type mismatch for Index Key g Expected: S Actual: N IndexName: by-g"
    )


def test_legacy_updates_keep_the_types_of_index_keys(things: Engine) -> None:
    message = refusal(
        things,
        "UpdateItem",
        Key=KEY,
        AttributeUpdates={"h": {"Value": {"S": "x"}}},
        Expected={"pk": {"Value": {"S": "no"}}},
    )
    assert message == INVALID + (
        "Type mismatch for Index Key h Expected: B Actual: S IndexName: by-g"
    )


def test_an_index_key_computed_to_another_type_is_refused(things: Engine) -> None:
    put(things, {**KEY, "points": {"N": "5"}})
    message = refusal(things, "UpdateItem", Key=KEY, UpdateExpression="SET g = points")
    assert message == UNSUPPORTED_TYPE


def test_an_index_key_may_not_become_empty_or_too_long(things: Engine) -> None:
    put(things, {**KEY, "blank": {"S": ""}})
    for params in (
        {"UpdateExpression": "SET g = :e", "ExpressionAttributeValues": {":e": {"S": ""}}},
        {"UpdateExpression": "SET g = blank"},
        {"AttributeUpdates": {"g": {"Value": {"S": ""}}}},
    ):
        assert refusal(things, "UpdateItem", Key=KEY, **params) == EMPTY_INDEX_KEY
    update(things, "SET g = :long", {":long": {"S": "é" * 1024}})
    message = refusal(
        things,
        "UpdateItem",
        Key=KEY,
        UpdateExpression="SET g = :long",
        ExpressionAttributeValues={":long": {"S": "é" * 1025}},
    )
    assert message == BEYOND_SIZE


def test_put_names_the_index_whose_key_is_empty(things: Engine) -> None:
    assert refusal(things, "PutItem", Item={**KEY, "h": {"B": ""}}) == (
        NOT_VALID + "A value specified for a secondary index key is not supported. The "
        "AttributeValue for a key attribute cannot contain an empty binary value. "
        "IndexName: by-g, IndexKey: h"
    )


def test_an_item_that_breaks_the_rules_of_a_new_index_cannot_be_updated(things: Engine) -> None:
    put(things, {**KEY, "late": {"N": "1"}})
    put(things, {**KEY, "sk": {"N": "2"}, "late": {"S": ""}})
    add_index(things, "by-late", "late")
    assert refusal(things, "UpdateItem", Key=KEY, UpdateExpression="SET a = pk") == UNSUPPORTED_TYPE
    second = {**KEY, "sk": {"N": "2"}}
    assert (
        refusal(things, "UpdateItem", Key=second, UpdateExpression="SET a = pk") == EMPTY_INDEX_KEY
    )
    update(things, "SET late = :s", {":s": {"S": "x"}})
    call(things, "DeleteItem", Key=second)
    (found,) = call(things, "Scan", IndexName="by-late")["Items"]
    assert found["late"] == {"S": "x"}
    assert index_counts(things) == {"by-g": 0, "by-late": 1}


def add_index(engine: Engine, name: str, attribute: str) -> None:
    call(
        engine,
        "UpdateTable",
        AttributeDefinitions=[{"AttributeName": attribute, "AttributeType": "S"}],
        GlobalSecondaryIndexUpdates=[
            {
                "Create": {
                    "IndexName": name,
                    "KeySchema": [{"AttributeName": attribute, "KeyType": "HASH"}],
                    "Projection": {"ProjectionType": "ALL"},
                }
            }
        ],
    )
    while any(
        index["IndexStatus"] != "ACTIVE"
        for index in call(engine, "DescribeTable")["Table"]["GlobalSecondaryIndexes"]
    ):
        engine.tidy()


def index_counts(engine: Engine) -> dict[str, int]:
    table = call(engine, "DescribeTable")["Table"]
    return {index["IndexName"]: index["ItemCount"] for index in table["GlobalSecondaryIndexes"]}
