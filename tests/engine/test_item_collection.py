"""Item collections: what tables with local indexes say of them, and their limits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from bigtime.engine import Engine
from bigtime.wire import (
    Item,
    ItemCollectionSizeLimitExceededException,
    Request,
    Response,
    TransactionCanceledException,
    ValidationException,
)

LIMIT = 10_000
SIZE = {"ReturnItemCollectionMetrics": "SIZE"}
METRICS = {"ItemCollectionKey": {"pk": {"S": "a"}}, "SizeEstimateRangeGB": [0.0, 1.0]}


@pytest.fixture
def small() -> Iterator[Engine]:
    """An engine whose item collections are full at 10,000 bytes."""
    with Engine.memory(collection_limit=LIMIT) as engine:
        declare(engine)
        yield engine


def declare(engine: Engine, *, local: bool = True, name: str = "things") -> None:
    attributes = ("pk", "sk", "l") if local else ("pk", "sk")
    indexes = [
        {
            "IndexName": "local",
            "KeySchema": schema("l"),
            "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["x"]},
        }
    ]
    params = {
        "TableName": name,
        "AttributeDefinitions": [
            {"AttributeName": attribute, "AttributeType": "S"} for attribute in attributes
        ],
        "KeySchema": schema("sk"),
        "BillingMode": "PAY_PER_REQUEST",
        **({"LocalSecondaryIndexes": indexes} if local else {}),
    }
    engine(Request("CreateTable", params))


def schema(range_key: str) -> list[dict[str, str]]:
    return [
        {"AttributeName": "pk", "KeyType": "HASH"},
        {"AttributeName": range_key, "KeyType": "RANGE"},
    ]


def key(sort: str, partition: str = "a") -> Item:
    return {"pk": {"S": partition}, "sk": {"S": sort}}


def item_of_size(size: int, sort: str = "1") -> Item:
    """An item of that many bytes, which the local index does not hold."""
    names = len("pk") + len("a") + len("sk") + len(sort) + len("x")
    return {**key(sort), "x": {"S": "x" * (size - names)}}


def in_local_index(item: Item) -> Item:
    """The same item, 2 bytes larger, in the local index."""
    return {**item, "l": {"S": "l"}}


def call(engine: Engine, operation: str, **params: Any) -> Response:
    return engine(Request(operation, {"TableName": "things", **params}))


def put_all(items: list[Item]) -> Response:
    return {"RequestItems": {"things": [{"PutRequest": {"Item": item}} for item in items]}}


def transact_all(items: list[Item]) -> Response:
    return {"TransactItems": [{"Put": {"TableName": "things", "Item": item}} for item in items]}


# --- Metrics --------------------------------------------------------------------------------


def test_every_write_can_tell_the_size_of_its_collection(small: Engine) -> None:
    for operation, target in (
        ("PutItem", {"Item": item_of_size(20)}),
        ("UpdateItem", {"Key": key("1")}),
        ("DeleteItem", {"Key": key("1")}),
        ("DeleteItem", {"Key": key("nothing")}),
    ):
        assert call(small, operation, **target, **SIZE)["ItemCollectionMetrics"] == METRICS
        assert "ItemCollectionMetrics" not in call(small, operation, **target)


def test_a_table_without_local_indexes_has_no_collections(engine: Engine) -> None:
    declare(engine, local=False)
    item = {"TableName": "things", "Item": key("1")}
    assert engine(Request("PutItem", {**item, **SIZE})) == {}
    request = {**put_all([key("1")]), **SIZE}
    assert engine(Request("BatchWriteItem", request)) == {"UnprocessedItems": {}}


def test_a_batch_names_each_collection_once(small: Engine) -> None:
    items = [key("1"), key("2"), key("1", "b")]
    answer = small(Request("BatchWriteItem", {**put_all(items), **SIZE}))
    other = {**METRICS, "ItemCollectionKey": {"pk": {"S": "b"}}}
    assert answer["ItemCollectionMetrics"] == {"things": [METRICS, other]}


def test_a_transaction_names_the_collections_that_it_writes_to(small: Engine) -> None:
    check = {
        "TableName": "things",
        "Key": key("1", "b"),
        "ConditionExpression": "attribute_not_exists(pk)",
    }
    request = transact_all([key("1")])
    request["TransactItems"].append({"ConditionCheck": check})
    answer = small(Request("TransactWriteItems", {**request, **SIZE}))
    assert answer == {"ItemCollectionMetrics": {"things": [METRICS]}}


# --- The limit of a collection --------------------------------------------------------------


def test_a_full_collection_takes_no_more_but_may_shrink(small: Engine) -> None:
    call(small, "PutItem", Item=item_of_size(LIMIT))
    with pytest.raises(ItemCollectionSizeLimitExceededException) as caught:
        call(small, "PutItem", Item=key("2"))
    assert caught.value.message == "Collection size exceeded."
    with pytest.raises(ItemCollectionSizeLimitExceededException):
        call(small, "UpdateItem", Key=key("1"), UpdateExpression="SET y = pk")
    call(small, "PutItem", Item=key("2", "b"))
    call(small, "UpdateItem", Key=key("1"), UpdateExpression="SET x = pk")
    call(small, "PutItem", Item=key("2"))
    call(small, "DeleteItem", Key=key("1"))
    assert len(call(small, "Scan")["Items"]) == 2


def test_what_the_local_indexes_show_counts_too(small: Engine) -> None:
    shown_twice = in_local_index(item_of_size(LIMIT // 2 - 10))
    call(small, "PutItem", Item=shown_twice)
    with pytest.raises(ItemCollectionSizeLimitExceededException):
        call(small, "PutItem", Item=item_of_size(100, "2"))
    call(small, "UpdateItem", Key=key("1"), UpdateExpression="REMOVE l")
    call(small, "PutItem", Item=item_of_size(LIMIT // 2, "2"))


def test_the_writes_of_one_request_fill_a_collection_together(small: Engine) -> None:
    items = [item_of_size(4_000, "1"), item_of_size(4_000, "2"), item_of_size(4_000, "3")]
    with pytest.raises(ItemCollectionSizeLimitExceededException):
        small(Request("BatchWriteItem", put_all(items)))
    with pytest.raises(TransactionCanceledException) as caught:
        small(Request("TransactWriteItems", transact_all(items)))
    assert caught.value.reasons == [
        {"Code": "None"},
        {"Code": "None"},
        {"Code": "ItemCollectionSizeLimitExceeded", "Message": "Collection size exceeded."},
    ]
    assert call(small, "Scan")["Items"] == []
    small(Request("BatchWriteItem", put_all(items[:2])))


# --- The limit of an item -------------------------------------------------------------------


def test_an_item_and_its_local_entries_fit_in_400_kb(engine: Engine) -> None:
    declare(engine)
    half = 409_600 // 2 - 2
    call(engine, "PutItem", Item=in_local_index(item_of_size(half)))
    with pytest.raises(ValidationException) as caught:
        call(engine, "PutItem", Item=in_local_index(item_of_size(half + 1)))
    assert caught.value.message == "Item size has exceeded the maximum allowed size"
    call(engine, "PutItem", Item=item_of_size(half + 1))
    with pytest.raises(ValidationException) as caught:
        call(engine, "UpdateItem", Key=key("1"), UpdateExpression="SET l = pk")
    assert caught.value.message == "Item size to update has exceeded the maximum allowed size"
    call(engine, "DeleteItem", Key=key("1"))
