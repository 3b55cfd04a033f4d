"""Whatever is written, every index shows the table as it is, and the counts are true."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bigtime.engine import Engine
from bigtime.wire import Item, Request, Response, read_units
from bigtime.wire.values import item_size

TABLE = "things"
BASE_KEY = ("pk", "sk")
# Each index's key, its type, and the attributes it shows: None for all of them.
INDEXES: dict[str, tuple[str, list[str], list[str], list[str] | None]] = {
    "whole": ("Global", ["g"], ["n"], None),
    "keys": ("Global", ["n"], [], []),
    "wide": ("Global", ["g", "h"], ["n", "sk"], ["x"]),
    "local": ("Local", ["pk"], ["n"], ["x"]),
}
TYPES = {"pk": "S", "sk": "N", "g": "S", "h": "B", "n": "N"}


def schema(hash_key: list[str], range_key: list[str]) -> list[dict[str, str]]:
    hashes = [{"AttributeName": name, "KeyType": "HASH"} for name in hash_key]
    return hashes + [{"AttributeName": name, "KeyType": "RANGE"} for name in range_key]


def projection(included: list[str] | None) -> dict[str, Any]:
    if included is None:
        return {"ProjectionType": "ALL"}
    if not included:
        return {"ProjectionType": "KEYS_ONLY"}
    return {"ProjectionType": "INCLUDE", "NonKeyAttributes": included}


def declare(engine: Engine) -> None:
    params: dict[str, Any] = {
        "TableName": TABLE,
        "AttributeDefinitions": [
            {"AttributeName": name, "AttributeType": kind} for name, kind in TYPES.items()
        ],
        "KeySchema": schema(["pk"], ["sk"]),
        "BillingMode": "PAY_PER_REQUEST",
    }
    for name, (scope, hash_key, range_key, included) in INDEXES.items():
        params.setdefault(f"{scope}SecondaryIndexes", []).append(
            {
                "IndexName": name,
                "KeySchema": schema(hash_key, range_key),
                "Projection": projection(included),
            }
        )
    engine(Request("CreateTable", params))


def view(index: str, item: Item) -> Item | None:
    """What an index must show of an item; None when the item is not in it."""
    _, hash_key, range_key, included = INDEXES[index]
    key = hash_key + range_key
    if any(name not in item for name in key):
        return None
    if included is None:
        return item
    return {name: item[name] for name in (*BASE_KEY, *key, *included) if name in item}


# --- Random writes --------------------------------------------------------------------------

KEYS = st.fixed_dictionaries(
    {
        "pk": st.sampled_from([{"S": "a"}, {"S": "b"}]),
        "sk": st.sampled_from([{"N": "1"}, {"N": "2"}, {"N": "1.0"}]),
    }
)
ATTRIBUTES: dict[str, st.SearchStrategy[Any]] = {
    "g": st.sampled_from([{"S": "u"}, {"S": "v"}]),
    "h": st.sampled_from([{"B": "AA=="}, {"B": "AAE="}]),
    "n": st.sampled_from([{"N": "0"}, {"N": "-1.5"}]),
    "x": st.sampled_from([{"S": ""}, {"SS": ["a", "b"]}, {"SS": ["b", "a"]}, {"S": "x" * 5000}]),
    "y": st.sampled_from([{"BOOL": True}, {"N": "1e10"}]),
}
PUTS = st.tuples(
    st.just("Put"),
    st.tuples(KEYS, st.fixed_dictionaries({}, optional=ATTRIBUTES)).map(
        lambda two: two[0] | two[1]
    ),
)
DELETES = st.tuples(st.just("Delete"), KEYS)
UPDATES = st.tuples(
    st.just("Update"),
    KEYS,
    st.fixed_dictionaries({}, optional=ATTRIBUTES),
    st.sets(st.sampled_from(list(ATTRIBUTES))),
)
SINGLES = st.one_of(PUTS, DELETES, UPDATES).map(lambda write: ("one", [write]))
BATCHES = st.lists(st.one_of(PUTS, DELETES), min_size=1, max_size=4).map(lambda all: ("batch", all))
TRANSACTIONS = st.lists(st.one_of(PUTS, DELETES, UPDATES), min_size=1, max_size=4).map(
    lambda all: ("transaction", all)
)
STEPS = st.lists(st.one_of(SINGLES, SINGLES, BATCHES, TRANSACTIONS), min_size=5, max_size=25)


def params_of(write: tuple[Any, ...]) -> dict[str, Any]:
    match write:
        case ("Put", item):
            return {"Item": item}
        case ("Delete", key):
            return {"Key": key}
    _, key, assigned, removed = write
    sets = [f"{name} = :{name}" for name in assigned]
    removes = sorted(removed - set(assigned))
    parts = ["SET " + ", ".join(sets)] * bool(sets) + ["REMOVE " + ", ".join(removes)] * bool(
        removes
    )
    params: dict[str, Any] = {"Key": key, "UpdateExpression": " ".join(parts or ["REMOVE y"])}
    if assigned:
        params["ExpressionAttributeValues"] = {f":{name}": v for name, v in assigned.items()}
    return params


def distinct(writes: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """No request may write to one item twice."""
    found = {(write[1]["pk"]["S"], float(write[1]["sk"]["N"])): write for write in writes}
    return list(found.values())


def perform(engine: Engine, kind: str, writes: list[tuple[Any, ...]]) -> Response:
    writes = distinct(writes)
    if kind == "one":
        ((name, *_),) = writes
        return engine(Request(f"{name}Item", {"TableName": TABLE, **params_of(writes[0])}))
    if kind == "batch":
        requests = [{f"{write[0]}Request": params_of(write)} for write in writes]
        return engine(Request("BatchWriteItem", {"RequestItems": {TABLE: requests}}))
    actions = [{write[0]: {"TableName": TABLE, **params_of(write)}} for write in writes]
    return engine(Request("TransactWriteItems", {"TransactItems": actions}))


def scan(engine: Engine, **params: Any) -> tuple[list[Item], float]:
    """All items, and what it cost to read them."""
    asked = {"TableName": TABLE, "ReturnConsumedCapacity": "TOTAL", **params}
    answer = engine(Request("Scan", asked))
    return answer["Items"], answer["ConsumedCapacity"]["CapacityUnits"]


def in_some_order(items: list[Item]) -> list[str]:
    return sorted(json.dumps(item, sort_keys=True) for item in items)


# An entry that keeps its key and changes its size, in both directions.
ENTERED: Item = {"g": {"S": "u"}, "n": {"N": "0"}}
AT_ONE: Item = {"pk": {"S": "a"}, "sk": {"N": "1"}}
GROWN: tuple[Any, ...] = ("Update", AT_ONE, {"x": {"S": "x" * 5000}}, set())
SHRUNK: tuple[Any, ...] = ("Update", AT_ONE, {}, {"x"})


@given(STEPS)
@example([("one", [("Put", AT_ONE | ENTERED)]), ("one", [GROWN])])
@example([("one", [("Put", AT_ONE | ENTERED | GROWN[2])]), ("transaction", [SHRUNK])])
def test_indexes_and_counts_follow_the_table(
    steps: list[tuple[str, list[tuple[Any, ...]]]],
) -> None:
    with Engine.memory(housekeeping=False) as engine:
        declare(engine)
        for kind, writes in steps:
            perform(engine, kind, writes)
        table = engine(Request("DescribeTable", {"TableName": TABLE}))["Table"]
        base, _ = scan(engine)
        assert (table["ItemCount"], table["TableSizeBytes"]) == totals(base)
        for index in table["LocalSecondaryIndexes"] + table["GlobalSecondaryIndexes"]:
            name = index["IndexName"]
            views = [shown for item in base if (shown := view(name, item)) is not None]
            found, units = scan(engine, IndexName=name)
            assert in_some_order(found) == in_some_order(views)
            assert (index["ItemCount"], index["IndexSizeBytes"]) == totals(views)
            assert units == read_units(totals(views)[1], consistent=False)


def totals(items: list[Item]) -> tuple[int, int]:
    return len(items), sum(map(item_size, items))


# --- The stream -----------------------------------------------------------------------------


@pytest.fixture
def streaming_engine(engine: Engine) -> Engine:
    declare(engine)
    specification = {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}
    engine(Request("UpdateTable", {"TableName": TABLE, "StreamSpecification": specification}))
    return engine


def write(engine: Engine, operation: str, **params: Any) -> None:
    engine(Request(operation, {"TableName": TABLE, **params}))


def records(engine: Engine) -> list[str]:
    table = engine(Request("DescribeTable", {"TableName": TABLE}))["Table"]
    arn = table["LatestStreamArn"]
    stream = engine(Request("DescribeStream", {"StreamArn": arn}))["StreamDescription"]
    names = []
    for shard in stream["Shards"]:
        start = {"StreamArn": arn, "ShardId": shard["ShardId"], "ShardIteratorType": "TRIM_HORIZON"}
        found = engine(Request("GetRecords", engine(Request("GetShardIterator", start))))
        names += [record["eventName"] for record in found["Records"]]
    return names


def test_a_write_that_changes_nothing_makes_no_record(streaming_engine: Engine) -> None:
    key: Item = {"pk": {"S": "a"}, "sk": {"N": "1"}}
    write(streaming_engine, "PutItem", Item={**key, "x": {"SS": ["a", "b"]}})
    write(streaming_engine, "PutItem", Item={**key, "x": {"SS": ["a", "b"]}})
    write(streaming_engine, "PutItem", Item={"x": {"SS": ["b", "a"]}, **key})
    write(streaming_engine, "UpdateItem", Key=key, UpdateExpression="SET x = x")
    write(streaming_engine, "UpdateItem", Key=key, UpdateExpression="REMOVE y")
    write(streaming_engine, "UpdateItem", Key=key)
    write(streaming_engine, "DeleteItem", Key={**key, "sk": {"N": "2"}})
    write(
        streaming_engine, "UpdateItem", Key={**key, "sk": {"N": "2"}}, UpdateExpression="REMOVE y"
    )
    assert records(streaming_engine) == ["INSERT"]
    write(streaming_engine, "UpdateItem", Key=key, UpdateExpression="REMOVE x")
    write(streaming_engine, "DeleteItem", Key=key)
    assert records(streaming_engine) == ["INSERT", "MODIFY", "REMOVE"]
