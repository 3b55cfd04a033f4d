"""The item cache: what it answers, what goes past it, and what it forgets."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from bigtime.engine import Engine
from bigtime.store import (
    AsyncCachedTransport,
    CachedTransport,
    CacheStatistics,
    ItemCache,
    Store,
    open_async_store,
    open_store,
)
from bigtime.wire import DynamoDBError, Request, Response
from tests.store.caching import Cached, item, key, put_steps
from tests.store.places import Place, asking, create


@pytest.fixture
def cached_things(things: Place) -> Cached:
    things.run(put_steps("a", 1))
    return Cached(things)


def test_an_item_is_read_once(cached_things: Cached) -> None:
    assert [cached_things.get("a") for _ in range(3)] == [item("a", 1)] * 3
    assert cached_things.reached == ["GetItem"]
    assert cached_things.cache.statistics == CacheStatistics(2, 1, 0, 0)


def test_that_there_is_no_item_is_read_once(cached_things: Cached) -> None:
    assert [cached_things.get("b") for _ in range(3)] == [None] * 3
    assert cached_things.reached == ["GetItem"]


def test_a_consistent_read_goes_past_it_and_sees_what_others_wrote(cached_things: Cached) -> None:
    cached_things.get("a")
    cached_things.behind_its_back(put_steps("a", 2))
    assert cached_things.get("a") == item("a", 1)
    assert cached_things.get("a", ConsistentRead=True) == item("a", 2)
    assert cached_things.get("a", ConsistentRead=False) == item("a", 1)
    assert cached_things.reached == ["GetItem"] * 2


@pytest.mark.parametrize(
    "more",
    [
        {"ProjectionExpression": "n"},
        {"ReturnConsumedCapacity": "TOTAL"},
        {"AttributesToGet": ["n"]},
    ],
    ids=lambda more: next(iter(more)),
)
def test_parts_of_items_and_metered_reads_go_past_it(cached_things: Cached, more: Any) -> None:
    whole = cached_things.get("a")
    for _ in range(2):
        answer = cached_things.ask("GetItem", TableName="Things", Key=key("a"), **more)
        assert ("ConsumedCapacity" in answer) == ("ReturnConsumedCapacity" in more)
    assert cached_things.get("a") == whole == item("a", 1)
    assert cached_things.reached == ["GetItem"] * 3


def test_a_store_with_a_meter_is_answered_too() -> None:
    """And what is answered from the cache has consumed nothing."""
    units: list[float] = []
    with Engine.memory() as engine:
        Store(engine).run(create("Things"))
        Store(engine).run(put_steps("a", 1))
        transport = CachedTransport(engine, ItemCache())
        read_metered(Store(transport, meter=lambda _, used: units.append(used)))
    assert units == [0.5, 0.5, 1.0, 0.5]


def test_a_store_with_a_meter_and_other_names_of_tables_is_answered_too() -> None:
    cache, units = ItemCache(), []
    names = {"*": "staging-*"}
    with open_store(
        "memory:", cache=cache, tables=names, meter=lambda _, used: units.append(used)
    ) as store:
        store.run(create("Things"))
        store.run(put_steps("a", 1))
        units.clear()
        read_metered(store)
    assert units == [0.5, 0.5, 1.0, 0.5]


def read_metered(store: Store) -> None:
    """An item and a page are read once each, and a changed item again."""
    batch = {"Things": {"Keys": [key("a")]}}
    for _ in range(3):
        store.run(asking("GetItem", TableName="Things", Key=key("a")))
        store.run(asking("Scan", TableName="Things"))
        store.run(asking("BatchGetItem", RequestItems=batch))
    store.run(asking("PutItem", TableName="Things", Item=item("a", 2)))
    found = store.run(asking("BatchGetItem", RequestItems=batch))
    assert found["Responses"]["Things"] == [item("a", 2)]


def test_a_transaction_reads_past_it(cached_things: Cached) -> None:
    cached_things.get("a")
    cached_things.behind_its_back(put_steps("a", 2))
    gets = [{"Get": {"TableName": "Things", "Key": key("a")}}]
    assert cached_things.ask("TransactGetItems", TransactItems=gets)["Responses"] == [
        {"Item": item("a", 2)}
    ]


def test_a_table_by_its_arn_goes_past_it_and_a_write_by_arn_is_noticed(
    cached_things: Cached,
) -> None:
    cached_things.get("a")
    arn = cached_things.ask("DescribeTable", TableName="Things")["Table"]["TableArn"]
    for _ in range(2):
        cached_things.ask("GetItem", TableName=arn, Key=key("a"))
    cached_things.ask("PutItem", TableName=arn, Item=item("a", 2))
    assert cached_things.get("a") == item("a", 2)
    assert cached_things.reached.count("GetItem") == 4


WRITES: dict[str, dict[str, Any]] = {
    "PutItem": {"TableName": "Things", "Item": item("a", 2)},
    "UpdateItem": {
        "TableName": "Things",
        "Key": key("a"),
        "UpdateExpression": "SET n = :n",
        "ExpressionAttributeValues": {":n": {"N": "2"}},
    },
    "DeleteItem": {"TableName": "Things", "Key": key("a")},
    "BatchWriteItem, put": {"RequestItems": {"Things": [{"PutRequest": {"Item": item("a", 2)}}]}},
    "BatchWriteItem, delete": {"RequestItems": {"Things": [{"DeleteRequest": {"Key": key("a")}}]}},
    "TransactWriteItems, put": {
        "TransactItems": [
            {
                "ConditionCheck": {
                    "TableName": "Things",
                    "Key": key("b"),
                    "ConditionExpression": "attribute_exists(pk)",
                }
            },
            {"Put": {"TableName": "Things", "Item": item("a", 2)}},
        ]
    },
    "TransactWriteItems, update": {
        "TransactItems": [
            {
                "Update": {
                    "TableName": "Things",
                    "Key": key("a"),
                    "UpdateExpression": "SET n = :n",
                    "ExpressionAttributeValues": {":n": {"N": "2"}},
                }
            }
        ]
    },
    "TransactWriteItems, delete": {
        "TransactItems": [{"Delete": {"TableName": "Things", "Key": key("a")}}]
    },
}


@pytest.mark.parametrize("write", WRITES)
def test_a_write_is_seen_and_other_items_stay(cached_things: Cached, write: str) -> None:
    cached_things.put("b")
    for pk in "ab":
        cached_things.get(pk)
    cached_things.ask(write.partition(",")[0], **WRITES[write])
    cached_things.reached.clear()
    expected = None if "elete" in write else item("a", 2)
    assert cached_things.get("a") == expected
    assert cached_things.get("b") == item("b")
    assert cached_things.reached == ["GetItem"]
    assert cached_things.cache.statistics.invalidations == 2


def test_a_missing_item_is_found_once_it_is_put(cached_things: Cached) -> None:
    assert cached_things.get("b") is None
    cached_things.put("b", 7)
    assert cached_things.get("b") == item("b", 7)


def test_a_write_that_fails_may_have_seen_what_the_cache_has_not(cached_things: Cached) -> None:
    """Whoever reads again after a failed condition must not be shown the same again."""
    cached_things.get("a")
    cached_things.behind_its_back(put_steps("a", 2))
    with pytest.raises(DynamoDBError):
        cached_things.ask(
            "PutItem",
            TableName="Things",
            Item=item("a", 3),
            ConditionExpression="n = :one",
            ExpressionAttributeValues={":one": {"N": "1"}},
        )
    assert cached_things.get("a") == item("a", 2)


def test_what_others_write_is_seen_when_the_seconds_are_over(things: Place) -> None:
    cached = Cached(things, item_seconds=30, missing_seconds=10, page_seconds=20)
    things.run(put_steps("a", 1))
    everything = [cached.get("a"), cached.get("b"), cached.scan()]
    cached.behind_its_back(put_steps("a", 2))
    cached.behind_its_back(put_steps("b", 2))
    for seconds, seen in [
        (9, everything),
        (2, [item("a", 1), item("b", 2), ["a"]]),
        (10, [item("a", 1), item("b", 2), ["a", "b"]]),
        (10, [item("a", 2), item("b", 2), ["a", "b"]]),
    ]:
        cached.time.sleep(seconds)
        assert [cached.get("a"), cached.get("b"), cached.scan()] == seen


def test_a_page_is_kept_by_all_that_it_asks(cached_things: Cached) -> None:
    asked: dict[str, Any] = {
        "TableName": "Things",
        "KeyConditionExpression": "pk = :pk",
        "ExpressionAttributeValues": {":pk": {"S": "a"}},
    }
    for _ in range(2):
        assert cached_things.ask("Query", **asked)["Items"] == [item("a", 1)]
        assert cached_things.ask("Query", **asked, ProjectionExpression="pk")["Items"] == [key("a")]
        assert cached_things.ask("Query", **asked, Select="COUNT")["Count"] == 1
        assert cached_things.scan(Limit=5) == cached_things.scan() == ["a"]
    assert cached_things.reached == ["Query"] * 3 + ["Scan"] * 2


@pytest.mark.parametrize("more", [{"ConsistentRead": True}, {"ReturnConsumedCapacity": "INDEXES"}])
def test_a_consistent_or_metered_page_goes_past_it(cached_things: Cached, more: Any) -> None:
    for _ in range(2):
        cached_things.scan(**more)
    assert cached_things.reached == ["Scan"] * 2


def test_a_write_drops_the_pages_of_its_table_and_no_others(cached_things: Cached) -> None:
    cached_things.ask("Scan", TableName="Things")
    cached_things.place.run(create("Others"))
    for table in ("Things", "Others"):
        cached_things.ask("Scan", TableName=table)
    cached_things.put("b")
    cached_things.reached.clear()
    cached_things.ask("Scan", TableName="Others")
    assert cached_things.scan() == ["a", "b"]
    assert cached_things.reached == ["Scan"]


def test_batches_and_gets_share_entries(cached_things: Cached) -> None:
    cached_things.put("b")
    cached_things.put("c")
    cached_things.get("a")
    cached_things.reached.clear()
    assert cached_things.get_many("a", "b", "missing") == ["a", "b"]
    assert cached_things.get_many("b", "a", "missing") == ["a", "b"]
    assert (cached_things.get("b"), cached_things.get("missing")) == (item("b"), None)
    assert cached_things.reached == ["BatchGetItem"]
    assert cached_things.get_many("a", "c") == ["a", "c"]
    assert cached_things.reached == ["BatchGetItem"] * 2


def test_a_consistent_batch_and_a_part_of_one_go_past_it(cached_things: Cached) -> None:
    cached_things.place.run(create("Others"))
    cached_things.get("a")
    cached_things.behind_its_back(put_steps("a", 2))
    mixed = {
        "Things": {"Keys": [key("a")]},
        "Others": {"Keys": [key("a")], "ConsistentRead": True},
    }
    for _ in range(2):
        answer = cached_things.ask("BatchGetItem", RequestItems=mixed)
        assert answer["Responses"] == {"Things": [item("a", 1)], "Others": []}
    parts = {"Things": {"Keys": [key("a")], "ProjectionExpression": "n"}}
    answer = cached_things.ask("BatchGetItem", RequestItems=parts)
    assert answer["Responses"] == {"Things": [{"n": {"N": "2"}}]}
    assert cached_things.reached.count("BatchGetItem") == 3


def test_what_a_batch_left_unprocessed_is_asked_again(
    cached_things: Cached, engine: Engine
) -> None:
    for pk in "bcd":
        cached_things.put(pk)
    engine.faults.seed(3)
    engine.faults.leave_unprocessed(rate=0.6)
    found: dict[str, Any] = {}
    asked: Any = {"Things": {"Keys": [key(pk) for pk in "abcd"]}}
    while asked:
        answer = cached_things.ask("BatchGetItem", RequestItems=asked)
        found |= {thing["pk"]["S"]: thing for thing in answer["Responses"]["Things"]}
        asked = answer["UnprocessedKeys"]
    assert sorted(found) == ["a", "b", "c", "d"]
    assert cached_things.reached.count("BatchGetItem") > 1
    cached_things.reached.clear()
    assert cached_things.get_many(*"abcd") == ["a", "b", "c", "d"]
    assert cached_things.reached == []


@pytest.mark.parametrize(
    ("type", "spellings"), [("N", ["10", "1.0E+1"]), ("B", ["YQ=="]), ("S", ["a"])]
)
def test_a_key_is_one_key_however_it_is_spelt(
    things: Place, type: str, spellings: list[str]
) -> None:
    cached = Cached(things)
    cached.ask(
        "CreateTable",
        TableName="Ranked",
        AttributeDefinitions=[
            {"AttributeName": "pk", "AttributeType": "S"},
            {"AttributeName": "rank", "AttributeType": type},
        ],
        KeySchema=[
            {"AttributeName": "pk", "KeyType": "HASH"},
            {"AttributeName": "rank", "KeyType": "RANGE"},
        ],
        BillingMode="PAY_PER_REQUEST",
    )
    written = {"rank": {type: spellings[-1]}, "pk": {"S": "a"}}
    cached.reached.clear()
    assert cached.ask("GetItem", TableName="Ranked", Key=written) == {}
    cached.ask("PutItem", TableName="Ranked", Item={**key("a"), "rank": {type: spellings[0]}})
    for spelt in spellings:
        for each in ({**key("a"), "rank": {type: spelt}}, {"rank": {type: spelt}, **key("a")}):
            assert "Item" in cached.ask("GetItem", TableName="Ranked", Key=each)
    assert cached.reached == ["GetItem", "PutItem", "GetItem"]
    other = {**key("a"), "rank": {"N" if type == "S" else "S": spellings[0]}}
    with pytest.raises(DynamoDBError):
        cached.ask("GetItem", TableName="Ranked", Key=other)


MALFORMED: dict[str, dict[str, Any]] = {
    "GetItem": {"TableName": "Things", "Key": {"pk": "a"}},
    "GetItem, no key": {"TableName": "Things"},
    "GetItem, a map": {"TableName": "Things", "Key": {"pk": {"M": {}}}},
    "GetItem, no number": {"TableName": "Things", "Key": {"pk": {"N": "one"}}},
    "GetItem, no base64": {"TableName": "Things", "Key": {"pk": {"B": "?"}}},
    "GetItem, another key": {"TableName": "Things", "Key": {"id": {"S": "a"}}},
    "BatchGetItem, twice": {"RequestItems": {"Things": {"Keys": [key("a"), key("a")]}}},
    "BatchGetItem, too many": {
        "RequestItems": {"Things": {"Keys": [key(f"a{number}") for number in range(101)]}}
    },
    "BatchGetItem, none": {"RequestItems": {}},
    "BatchGetItem, no keys": {"RequestItems": {"Things": {}}},
    "Query": {"TableName": "Things"},
    "PutItem": {"TableName": "Things", "Item": {"n": {"N": "1"}}},
    "PutItem, no map": {"TableName": "Things", "Item": 5},
    "BatchWriteItem": {"RequestItems": {"Things": [{}]}},
    "TransactWriteItems": {"TransactItems": [{"Put": {}}]},
}


@pytest.mark.parametrize("asked", MALFORMED)
def test_what_dynamodb_refuses_it_refuses_in_its_own_words(
    cached_things: Cached, asked: str
) -> None:
    operation = asked.partition(",")[0]
    cached_things.get("a")
    with pytest.raises(DynamoDBError) as bare:
        cached_things.behind_its_back(asking(operation, **MALFORMED[asked]))
    with pytest.raises(type(bare.value)) as told:
        cached_things.ask(operation, **MALFORMED[asked])
    assert str(told.value) == str(bare.value)
    assert cached_things.get("a") == item("a", 1)


def test_a_vector_search_forgets_nothing(cached_things: Cached) -> None:
    cached_things.get("a")
    with pytest.raises(DynamoDBError):
        cached_things.ask("SearchVectors", TableName="Things", IndexName="near")
    assert cached_things.get("a") == item("a", 1)
    assert cached_things.reached == ["GetItem", "SearchVectors"]


def test_a_table_that_is_deleted_is_forgotten(cached_things: Cached) -> None:
    cached_things.get("a")
    cached_things.ask("DeleteTable", TableName="Things")
    with pytest.raises(DynamoDBError):
        cached_things.get("a")
    cached_things.place.run(create())
    assert cached_things.get("a") is None


def test_an_item_is_forgotten_by_hand(cached_things: Cached) -> None:
    seen = cached_things.get("a"), cached_things.scan()
    cached_things.behind_its_back(put_steps("a", 2))
    cached_things.behind_its_back(put_steps("b", 2))
    assert (cached_things.get("a"), cached_things.scan()) == seen
    cached_things.cache.invalidate("Things", key("a"))
    assert (cached_things.get("a"), cached_things.scan()) == (item("a", 2), ["a", "b"])
    assert cached_things.cache.statistics.invalidations == 1


def test_everything_is_forgotten_by_hand(cached_things: Cached) -> None:
    cached_things.get("a")
    cached_things.scan()
    cached_things.cache.clear()
    cached_things.reached.clear()
    cached_things.get("a")
    cached_things.scan()
    assert cached_things.reached == ["GetItem", "Scan"]


def test_what_is_no_key_cannot_be_forgotten() -> None:
    for wrong in ({"pk": "a"}, {"pk": {"N": "one"}}, {"pk": {"BOOL": True}}):
        with pytest.raises(ValueError) as caught:
            ItemCache().invalidate("Things", wrong)  # type: ignore[arg-type]
        assert "is no key; one looks like {'pk': {'S': 'a'}}" in str(caught.value)


def test_what_others_write_is_seen_when_the_stream_tells(streamed_place: Place) -> None:
    cached = Cached(streamed_place)
    cached.put("a", 1)
    consume = streamed_place.consumer("Things", cached.cache.follow("Things"), from_now=True)
    assert consume() == 0
    seen = cached.get("a"), cached.scan()
    cached.behind_its_back(put_steps("a", 2))
    cached.behind_its_back(put_steps("b", 1))
    assert (cached.get("a"), cached.scan()) == seen
    assert consume() == 2
    assert (cached.get("a"), cached.scan()) == (item("a", 2), ["a", "b"])


@pytest.mark.parametrize("transport", [CachedTransport, AsyncCachedTransport])
def test_as_many_requests_go_at_once_as_without_it(transport: Any) -> None:
    class Networked:
        concurrency = 16

        def __call__(self, request: Request) -> Response:
            return {}

    assert transport(Networked(), ItemCache()).concurrency == 16
    assert transport(lambda request: {}, ItemCache()).concurrency == 1


@pytest.mark.parametrize(
    "setting", ["items", "paged_items", "item_seconds", "missing_seconds", "page_seconds"]
)
def test_a_negative_setting_is_refused(setting: str) -> None:
    with pytest.raises(ValueError) as caught:
        ItemCache(**{setting: -1})  # type: ignore[arg-type]
    assert "0 keeps nothing" in str(caught.value)


def test_without_room_or_seconds_nothing_is_kept(things: Place) -> None:
    cached = Cached(things, items=0, page_seconds=0)
    for _ in range(2):
        cached.get("a")
        cached.scan()
    assert cached.reached == ["GetItem", "Scan"] * 2


def test_one_argument_puts_a_cache_before_any_store(tmp_path: Path) -> None:
    cache = ItemCache()
    for setting in ("memory:", f"file:{tmp_path}/shop.db", "http://127.0.0.1:9"):
        with open_store(setting, cache=cache) as store:
            assert isinstance(store.transport, CachedTransport)
            assert store.transport.middleware is cache

    async def open_each() -> None:
        for setting in ("memory:", "http://127.0.0.1:9"):
            async with open_async_store(setting, cache=cache) as store:
                assert isinstance(store.transport, AsyncCachedTransport)
                assert store.transport.middleware is cache

    asyncio.run(open_each())
