"""What each operation says that it cost."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigtime.engine import Engine
from bigtime.wire import Item, Request, Response, read_units, transactional_read_units, write_units

KEY: Item = {"pk": {"S": "a"}, "sk": {"S": "b"}}
KEY_BYTES = 6
ATTRIBUTES = ("pk", "sk", "g", "l")


@pytest.fixture(autouse=True)
def tables(engine: Engine) -> None:
    declare(engine, "plain", ("pk", "sk"))
    declare(
        engine,
        "things",
        ATTRIBUTES,
        GlobalSecondaryIndexes=[
            index("whole", "g", None, ProjectionType="ALL"),
            index("part", "g", "sk", ProjectionType="INCLUDE", NonKeyAttributes=["shown"]),
        ],
        LocalSecondaryIndexes=[index("local", "pk", "l", ProjectionType="KEYS_ONLY")],
    )


def declare(engine: Engine, name: str, attributes: tuple[str, ...], **indexes: Any) -> None:
    params: dict[str, Any] = {
        "TableName": name,
        "AttributeDefinitions": [
            {"AttributeName": attribute, "AttributeType": "S"} for attribute in attributes
        ],
        "KeySchema": schema("pk", "sk"),
        "BillingMode": "PAY_PER_REQUEST",
        **indexes,
    }
    engine(Request("CreateTable", params))


def schema(hash_key: str, range_key: str | None) -> list[dict[str, str]]:
    ranges = [{"AttributeName": range_key, "KeyType": "RANGE"}] if range_key else []
    return [{"AttributeName": hash_key, "KeyType": "HASH"}, *ranges]


def index(name: str, hash_key: str, range_key: str | None, **projection: Any) -> Response:
    return {
        "IndexName": name,
        "KeySchema": schema(hash_key, range_key),
        "Projection": projection,
    }


def item_of_size(size: int, key: Item = KEY) -> Item:
    """An item of that many bytes."""
    return {**key, "x": {"S": "x" * (size - KEY_BYTES - 1)}}


def key_number(number: int) -> Item:
    return {"pk": {"S": chr(ord("a") + number)}, "sk": {"S": "b"}}


def call(engine: Engine, operation: str, table: str = "things", **params: Any) -> Any:
    asked = {"TableName": table, "ReturnConsumedCapacity": "INDEXES", **params}
    return engine(Request(operation, asked))["ConsumedCapacity"]


def put(engine: Engine, item: Item, table: str = "things") -> Any:
    return call(engine, "PutItem", table, Item=item)


def parts(consumed: Response) -> dict[str, float]:
    """Where the units went; their sum is the total."""
    found = {"table": consumed["Table"]["CapacityUnits"]}
    for arm in ("LocalSecondaryIndexes", "GlobalSecondaryIndexes"):
        found |= {name: used["CapacityUnits"] for name, used in consumed.get(arm, {}).items()}
    assert consumed["CapacityUnits"] == sum(found.values())
    return found


# --- The blocks -----------------------------------------------------------------------------


@given(st.integers(0, 409_600))
def test_blocks_are_rounded_up_and_never_none(size: int) -> None:
    assert read_units(size, consistent=True) == max(1, (size + 4095) // 4096)
    assert read_units(size, consistent=False) == read_units(size, consistent=True) / 2
    assert transactional_read_units(size) == read_units(size, consistent=True) * 2
    assert write_units(size) == max(1, (size + 1023) // 1024)


# --- Reads ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("size", "units"), [(8, 1), (4096, 1), (4097, 2), (8193, 3)])
def test_a_read_is_counted_in_blocks_of_4_kb(engine: Engine, size: int, units: int) -> None:
    put(engine, item_of_size(size), "plain")
    assert call(engine, "GetItem", "plain", Key=KEY, ConsistentRead=True) == {
        "TableName": "plain",
        "CapacityUnits": float(units),
        "Table": {"CapacityUnits": float(units)},
    }
    assert call(engine, "GetItem", "plain", Key=KEY)["CapacityUnits"] == units / 2


def test_a_projection_does_not_make_a_read_cheaper(engine: Engine) -> None:
    put(engine, item_of_size(4097), "plain")
    assert call(engine, "GetItem", "plain", Key=KEY, ProjectionExpression="pk") == {
        "TableName": "plain",
        "CapacityUnits": 1.0,
        "Table": {"CapacityUnits": 1.0},
    }


def test_reading_nothing_costs_a_block(engine: Engine) -> None:
    assert call(engine, "GetItem", Key=KEY)["CapacityUnits"] == 0.5
    assert call(engine, "GetItem", Key=KEY, ConsistentRead=True)["CapacityUnits"] == 1.0


def test_a_batch_rounds_each_item_by_itself(engine: Engine) -> None:
    for number, size in enumerate((10, 4097)):
        put(engine, item_of_size(size, key_number(number)), "plain")
    keys = [key_number(number) for number in range(3)]
    request = {"plain": {"Keys": keys}, "things": {"Keys": keys[:1], "ConsistentRead": True}}
    assert batch_get(engine, request) == [
        {"TableName": "plain", "CapacityUnits": 2.0, "Table": {"CapacityUnits": 2.0}},
        {"TableName": "things", "CapacityUnits": 1.0, "Table": {"CapacityUnits": 1.0}},
    ]


def batch_get(engine: Engine, request: Response) -> Any:
    asked = {"RequestItems": request, "ReturnConsumedCapacity": "INDEXES"}
    return engine(Request("BatchGetItem", asked))["ConsumedCapacity"]


def test_a_transactional_read_costs_double(engine: Engine) -> None:
    put(engine, item_of_size(4097), "plain")
    gets = [
        {"Get": {"TableName": "plain", "Key": KEY}},
        {"Get": {"TableName": "plain", "Key": key_number(1)}},
        {"Get": {"TableName": "things", "Key": KEY}},
    ]
    asked = {"TransactItems": gets, "ReturnConsumedCapacity": "INDEXES"}
    assert engine(Request("TransactGetItems", asked))["ConsumedCapacity"] == [
        {"TableName": "plain", **read(6.0), "Table": read(6.0)},
        {"TableName": "things", **read(2.0), "Table": read(2.0)},
    ]


def read(units: float) -> Response:
    return {"CapacityUnits": units, "ReadCapacityUnits": units}


def write_cost(units: float) -> Response:
    return {"CapacityUnits": units, "WriteCapacityUnits": units}


# --- Writes to the table --------------------------------------------------------------------


@pytest.mark.parametrize(("size", "units"), [(8, 1), (1024, 1), (1025, 2), (3073, 4)])
def test_a_write_is_counted_in_blocks_of_1_kb(engine: Engine, size: int, units: int) -> None:
    assert put(engine, item_of_size(size), "plain") == {
        "TableName": "plain",
        "CapacityUnits": float(units),
        "Table": {"CapacityUnits": float(units)},
    }


def test_a_write_costs_the_larger_of_before_and_after(engine: Engine) -> None:
    put(engine, item_of_size(3000), "plain")
    assert put(engine, KEY, "plain")["CapacityUnits"] == 3.0
    assert put(engine, item_of_size(3000), "plain")["CapacityUnits"] == 3.0
    shrinking = call(engine, "UpdateItem", "plain", Key=KEY, UpdateExpression="REMOVE x")
    assert shrinking["CapacityUnits"] == 3.0


def test_an_update_costs_the_whole_item(engine: Engine) -> None:
    put(engine, item_of_size(3000), "plain")
    small = call(engine, "UpdateItem", "plain", Key=KEY, UpdateExpression="SET y = pk")
    assert small["CapacityUnits"] == 3.0
    assert call(engine, "UpdateItem", "plain", Key=KEY)["CapacityUnits"] == 3.0
    other = call(engine, "UpdateItem", "plain", Key=key_number(1), UpdateExpression="REMOVE y")
    assert other["CapacityUnits"] == 1.0


def test_a_delete_costs_what_was_there(engine: Engine) -> None:
    put(engine, item_of_size(3000), "plain")
    assert call(engine, "DeleteItem", "plain", Key=KEY)["CapacityUnits"] == 3.0
    assert call(engine, "DeleteItem", "plain", Key=KEY)["CapacityUnits"] == 1.0


def test_total_says_no_more_than_the_total(engine: Engine) -> None:
    asked = {"TableName": "things", "Item": {**KEY, "g": {"S": "g"}, "l": {"S": "l"}}}
    answer = engine(Request("PutItem", {**asked, "ReturnConsumedCapacity": "TOTAL"}))
    assert answer["ConsumedCapacity"] == {"TableName": "things", "CapacityUnits": 4.0}
    for wanted in ({}, {"ReturnConsumedCapacity": "NONE"}):
        assert engine(Request("PutItem", {**asked, **wanted})) == {}


def test_a_table_called_by_its_arn_is_reported_by_its_arn(engine: Engine) -> None:
    table = engine(Request("DescribeTable", {"TableName": "plain"}))["Table"]
    arn = table["TableArn"]
    assert put(engine, KEY, arn)["TableName"] == arn
    assert call(engine, "GetItem", arn, Key=KEY)["TableName"] == arn
    assert batch_get(engine, {arn: {"Keys": [KEY]}})[0]["TableName"] == arn
    assert transact(engine, {"Delete": {"TableName": arn, "Key": KEY}})[0]["TableName"] == arn


# --- Writes to the indexes ------------------------------------------------------------------


def test_an_index_costs_only_what_it_sees_change(engine: Engine) -> None:
    unseen = {**KEY, "x": {"S": "1"}}
    assert parts(put(engine, unseen)) == {"table": 1.0}
    entered = {**unseen, "g": {"S": "g"}}
    assert parts(put(engine, entered)) == {"table": 1.0, "whole": 1.0, "part": 1.0}
    assert parts(put(engine, entered)) == {"table": 1.0}
    outside_one_view = {**entered, "x": {"S": "2"}}
    assert parts(put(engine, outside_one_view)) == {"table": 1.0, "whole": 1.0}
    in_both_views = {**outside_one_view, "shown": {"SS": ["a", "b"]}}
    assert parts(put(engine, in_both_views)) == {"table": 1.0, "whole": 1.0, "part": 1.0}
    reordered = {**in_both_views, "shown": {"SS": ["b", "a"]}}
    assert parts(put(engine, reordered)) == {"table": 1.0}
    moved = {**in_both_views, "g": {"S": "h"}}
    assert parts(put(engine, moved)) == {"table": 1.0, "whole": 2.0, "part": 2.0}
    local = {**moved, "l": {"S": "l"}}
    assert parts(put(engine, local)) == {"table": 1.0, "local": 1.0, "whole": 1.0}
    left = call(engine, "UpdateItem", Key=KEY, UpdateExpression="REMOVE g")
    assert parts(left) == {"table": 1.0, "whole": 1.0, "part": 1.0}
    assert parts(call(engine, "DeleteItem", Key=KEY)) == {"table": 1.0, "local": 1.0}


def test_an_index_write_is_sized_on_what_the_index_shows(engine: Engine) -> None:
    item = {**item_of_size(3000), "g": {"S": "g"}}
    assert parts(put(engine, item)) == {"table": 3.0, "whole": 3.0, "part": 1.0}
    smaller = {**KEY, "g": {"S": "h"}, "shown": {"S": "x" * 1500}}
    assert parts(put(engine, smaller)) == {"table": 3.0, "whole": 3.0 + 2.0, "part": 1.0 + 2.0}


def test_a_batch_adds_up_its_writes(engine: Engine) -> None:
    entered = {**KEY, "g": {"S": "g"}}
    requests = {
        "things": [
            {"PutRequest": {"Item": entered}},
            {"PutRequest": {"Item": item_of_size(2000, key_number(1))}},
            {"DeleteRequest": {"Key": key_number(2)}},
        ],
        "plain": [{"DeleteRequest": {"Key": KEY}}],
    }
    asked = {"RequestItems": requests, "ReturnConsumedCapacity": "INDEXES"}
    things, plain = engine(Request("BatchWriteItem", asked))["ConsumedCapacity"]
    assert parts(things) == {"table": 4.0, "whole": 1.0, "part": 1.0}
    assert plain == {"TableName": "plain", "CapacityUnits": 1.0, "Table": {"CapacityUnits": 1.0}}


# --- Transactions ---------------------------------------------------------------------------


def transact(engine: Engine, *actions: Response, **params: Any) -> Any:
    asked = {"TransactItems": list(actions), "ReturnConsumedCapacity": "INDEXES", **params}
    return engine(Request("TransactWriteItems", asked))["ConsumedCapacity"]


def test_in_a_transaction_the_table_costs_double_and_the_indexes_do_not(engine: Engine) -> None:
    put(engine, item_of_size(3000, key_number(1)))
    put(engine, item_of_size(2000, key_number(2)))
    check = {
        "TableName": "things",
        "Key": key_number(2),
        "ConditionExpression": "attribute_exists(pk)",
    }
    used = transact(
        engine,
        {"Put": {"TableName": "things", "Item": {**KEY, "g": {"S": "g"}, "l": {"S": "l"}}}},
        {"Delete": {"TableName": "things", "Key": key_number(1)}},
        {"ConditionCheck": check},
        {"Delete": {"TableName": "plain", "Key": KEY}},
    )
    assert used == [
        {
            "TableName": "things",
            **write_cost(2.0 + 6.0 + 4.0 + 3.0),
            "Table": write_cost(2.0 + 6.0 + 4.0),
            "LocalSecondaryIndexes": {"local": write_cost(1.0)},
            "GlobalSecondaryIndexes": {"whole": write_cost(1.0), "part": write_cost(1.0)},
        },
        {"TableName": "plain", **write_cost(2.0), "Table": write_cost(2.0)},
    ]


def test_a_replay_is_billed_as_a_read(engine: Engine) -> None:
    put(engine, item_of_size(9000, key_number(1)), "plain")
    actions = [
        {"Put": {"TableName": "plain", "Item": item_of_size(1500)}},
        {"Delete": {"TableName": "plain", "Key": key_number(1)}},
    ]
    (first,) = transact(engine, *actions, ClientRequestToken="once")
    assert first == {"TableName": "plain", **write_cost(22.0), "Table": write_cost(22.0)}
    (again,) = transact(engine, *actions, ClientRequestToken="once")
    assert again == {"TableName": "plain", **read(8.0), "Table": read(8.0)}
