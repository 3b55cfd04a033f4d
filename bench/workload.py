"""The work that every contender is given: one table of orders, and requests on it.

An order is 1,024 bytes by DynamoDB's count, with numbers, a list and a map among its attributes.
Ten orders share a partition. Two indexes find them in groups of 25: `by_day` in the order in
which they were written, and `by_chance` in groups scattered over the table.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from bigtime.wire import Item, Params, Request
from bigtime.wire.values import item_size

TABLE = "Orders"
GROUP = 25
ITEM_BYTES = 1024

ATTRIBUTES = {"customer": "S", "order": "S", "day": "S", "minute": "N", "chance": "S", "rank": "N"}
INDEXES = {"by_day": ("day", "minute"), "by_chance": ("chance", "rank")}


def create_table(*indexes: str, name: str = TABLE) -> Request:
    keys = [("customer", "order"), *(INDEXES[index] for index in indexes)]
    used = {attribute for key in keys for attribute in key}
    params: dict[str, Any] = {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": key_schema(*keys[0]),
        "AttributeDefinitions": [
            {"AttributeName": attribute, "AttributeType": kind}
            for attribute, kind in ATTRIBUTES.items()
            if attribute in used
        ],
    }
    if indexes:
        params["GlobalSecondaryIndexes"] = [
            {
                "IndexName": index,
                "KeySchema": key_schema(*INDEXES[index]),
                "Projection": {"ProjectionType": "ALL"},
            }
            for index in indexes
        ]
    return Request("CreateTable", params)


def key_schema(partition: str, sort: str) -> list[dict[str, str]]:
    return [
        {"AttributeName": partition, "KeyType": "HASH"},
        {"AttributeName": sort, "KeyType": "RANGE"},
    ]


def key(number: int) -> Item:
    return {
        "customer": {"S": f"customer#{number // 10:07}"},
        "order": {"S": f"order#{number % 10:02}"},
    }


def order(number: int, place: int | None = None) -> Item:
    """The order with that number; `place` is its position in the index `by_chance`."""
    place = number if place is None else place
    item: Item = {
        **key(number),
        "day": {"S": f"day#{number // GROUP:06}"},
        "minute": {"N": str(number % GROUP)},
        "chance": {"S": f"chance#{place // GROUP:06}"},
        "rank": {"N": str(place % GROUP)},
        "status": {"S": "shipped"},
        "paid": {"BOOL": True},
        "total": {"N": f"{number % 997}.95"},
        "labels": {"L": [{"S": "fragile"}, {"S": "gift"}]},
        "address": {"M": {"street": {"S": "12 Long Street"}, "city": {"S": "Cape Town"}}},
        "note": {"S": ""},
    }
    item["note"] = {"S": "n" * (ITEM_BYTES - item_size(item))}
    return item


def orders(count: int, *, seed: int = 0) -> Iterator[Item]:
    """So many orders by number, at random positions in the index `by_chance`."""
    places = list(range(count))
    random.Random(seed).shuffle(places)
    return (order(number, place) for number, place in enumerate(places))


def some(count: int, operations: int, *, seed: int = 0) -> list[int]:
    """Random numbers below `count`."""
    return random.Random(seed).choices(range(count), k=operations)


def fill_requests(items: Iterator[Item]) -> Iterator[Request]:
    while batch := list(islice(items, GROUP)):
        yield batch_write(batch)


def get(number: int) -> Request:
    return Request("GetItem", {"TableName": TABLE, "Key": key(number)})


def select(number: int) -> Request:
    text = f'SELECT * FROM "{TABLE}" WHERE customer = ? AND "order" = ?'
    return Request("ExecuteStatement", {"Statement": text, "Parameters": [*key(number).values()]})


def put(number: int, table: str = TABLE) -> Request:
    return Request("PutItem", {"TableName": table, "Item": order(number)})


def update(number: int) -> Request:
    params: Params = {
        "TableName": TABLE,
        "Key": key(number),
        "UpdateExpression": "SET #status = :status ADD changes :one",
        "ExpressionAttributeNames": {"#status": "status"},
        "ExpressionAttributeValues": {":status": {"S": "packed"}, ":one": {"N": "1"}},
    }
    return Request("UpdateItem", params)


def delete(number: int) -> Request:
    return Request("DeleteItem", {"TableName": TABLE, "Key": key(number)})


def query(group: int, index: str = "by_day") -> Request:
    partition = INDEXES[index][0]
    params: Params = {
        "TableName": TABLE,
        "IndexName": index,
        "KeyConditionExpression": "#group = :group",
        "ExpressionAttributeNames": {"#group": partition},
        "ExpressionAttributeValues": {":group": {"S": f"{partition}#{group:06}"}},
    }
    return Request("Query", params)


def scan(limit: int) -> Request:
    return Request("Scan", {"TableName": TABLE, "Limit": limit})


def batch_get(numbers: Sequence[int]) -> Request:
    keys = [key(number) for number in numbers]
    return Request("BatchGetItem", {"RequestItems": {TABLE: {"Keys": keys}}})


def batch_write(items: Sequence[Item]) -> Request:
    puts = [{"PutRequest": {"Item": item}} for item in items]
    return Request("BatchWriteItem", {"RequestItems": {TABLE: puts}})


def buy(number: int, counter: int) -> Request:
    """A transaction of two: an order that must be new, and a counter of orders."""
    new: Params = {
        "TableName": TABLE,
        "Item": order(number),
        "ConditionExpression": "attribute_not_exists(customer)",
    }
    counted: Params = {
        "TableName": TABLE,
        "Key": key(counter),
        "UpdateExpression": "ADD orders :one",
        "ExpressionAttributeValues": {":one": {"N": "1"}},
    }
    params: Params = {
        "TransactItems": [{"Put": new}, {"Update": counted}],
        "ClientRequestToken": f"{number:036}",  # every AWS SDK sends one
    }
    return Request("TransactWriteItems", params)
