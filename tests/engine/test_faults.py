"""Faults on demand: each mode strikes as asked, and none of them loses a write."""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread
from types import SimpleNamespace
from typing import Any

import pytest

from bigtime.engine import Engine
from bigtime.engine.storage import faults
from bigtime.wire import (
    DynamoDBError,
    ProvisionedThroughputExceededException,
    TransactionCanceledException,
    TransactionConflictException,
)
from tests.engine.calls import call, index, key_schema, make_table, n, s


@pytest.fixture
def shop(engine: Engine) -> Engine:
    """The table `orders`, with the global index `by-state` and the local one `by-day`."""
    make_table(
        engine,
        {"p": "S", "s": "N", "state": "S", "day": "S"},
        name="orders",
        local=(index("by-day", key_schema("p", "day")),),
        globally=(index("by-state", key_schema("state")),),
    )
    put(engine, 1)
    return engine


def order(number: int, state: str = "open") -> dict[str, Any]:
    return {"p": s("a"), "s": n(number), "state": s(state), "day": s("monday")}


def put(engine: Engine, number: int, state: str = "open") -> None:
    call(engine, "PutItem", TableName="orders", Item=order(number, state))


def get(engine: Engine, number: int) -> Any:
    key = {"p": s("a"), "s": n(number)}
    return call(engine, "GetItem", TableName="orders", Key=key).get("Item")


def in_state(engine: Engine, state: str) -> list[str]:
    found = call(
        engine,
        "Query",
        TableName="orders",
        IndexName="by-state",
        KeyConditionExpression="#state = :state",
        ExpressionAttributeNames={"#state": "state"},
        ExpressionAttributeValues={":state": s(state)},
    )
    return [item["s"]["N"] for item in found["Items"]]


def outcomes(attempt: Callable[[], object], times: int) -> list[str]:
    def once() -> str:
        try:
            attempt()
        except DynamoDBError as error:
            return error.code
        return "done"

    return [once() for _ in range(times)]


# --- Throttling ---------------------------------------------------------------------------------


def test_the_next_requests_are_throttled(shop: Engine) -> None:
    shop.faults.throttle(next=2)
    for number in (2, 3):
        with pytest.raises(ProvisionedThroughputExceededException) as caught:
            put(shop, number)
        assert caught.value.message == (
            "The level of configured provisioned throughput for the table was exceeded. "
            "Consider increasing your provisioning level with the UpdateTable API."
        )
    put(shop, 4)
    assert [get(shop, number) is not None for number in (2, 3, 4)] == [False, False, True]


@pytest.mark.parametrize(
    ("operation", "params"),
    [
        ("GetItem", {"TableName": "orders", "Key": {"p": s("a"), "s": n(1)}}),
        ("PutItem", {"TableName": "orders", "Item": order(9)}),
        ("UpdateItem", {"TableName": "orders", "Key": {"p": s("a"), "s": n(1)}}),
        ("DeleteItem", {"TableName": "orders", "Key": {"p": s("a"), "s": n(1)}}),
        ("Scan", {"TableName": "orders"}),
        ("BatchGetItem", {"RequestItems": {"orders": {"Keys": [{"p": s("a"), "s": n(1)}]}}}),
        ("BatchWriteItem", {"RequestItems": {"orders": [{"PutRequest": {"Item": order(9)}}]}}),
        (
            "TransactWriteItems",
            {"TransactItems": [{"Put": {"TableName": "orders", "Item": order(9)}}]},
        ),
        (
            "TransactGetItems",
            {"TransactItems": [{"Get": {"TableName": "orders", "Key": {"p": s("a"), "s": n(1)}}}]},
        ),
    ],
)
def test_every_data_request_can_be_throttled_and_then_retried(
    shop: Engine, operation: str, params: Any
) -> None:
    shop.faults.throttle(next=1)
    with pytest.raises(ProvisionedThroughputExceededException):
        call(shop, operation, **params)
    assert get(shop, 1) == order(1) and get(shop, 9) is None
    call(shop, operation, **params)


def test_requests_about_tables_are_never_throttled(shop: Engine) -> None:
    shop.faults.throttle(rate=1.0)
    call(shop, "DescribeTable", TableName="orders")
    call(shop, "ListTables")
    shop.faults.clear()
    assert get(shop, 1) == order(1)


def test_a_seeded_rate_strikes_the_same_way_again(shop: Engine) -> None:
    def run() -> list[str]:
        shop.faults.seed(7)
        shop.faults.throttle(rate=0.4)
        return outcomes(lambda: get(shop, 1), 100)

    first = run()
    assert first == run()
    assert 20 < first.count("ProvisionedThroughputExceededException") < 60


# --- Conflicts ----------------------------------------------------------------------------------


def test_a_write_meets_a_transaction(shop: Engine) -> None:
    shop.faults.conflict(next=1)
    assert get(shop, 1) == order(1)
    with pytest.raises(TransactionConflictException) as caught:
        put(shop, 1, "paid")
    assert caught.value.message == "Transaction is ongoing for the item"
    assert get(shop, 1) == order(1)
    put(shop, 1, "paid")
    assert get(shop, 1) == order(1, "paid")


def test_a_transaction_meets_another(shop: Engine) -> None:
    actions = [{"Put": {"TableName": "orders", "Item": order(number)}} for number in (2, 3, 4)]
    shop.faults.conflict(next=1)
    with pytest.raises(TransactionCanceledException) as caught:
        call(shop, "TransactWriteItems", TransactItems=actions, ClientRequestToken="token")
    codes = [reason["Code"] for reason in caught.value.reasons]
    assert sorted(codes) == ["None", "None", "TransactionConflict"]
    assert get(shop, 2) is None
    # The token was not used up by an attempt that did nothing.
    call(shop, "TransactWriteItems", TransactItems=actions, ClientRequestToken="token")
    assert get(shop, 4) == order(4)


# --- Unprocessed items --------------------------------------------------------------------------


def test_what_a_batch_leaves_can_be_sent_again(shop: Engine) -> None:
    shop.faults.seed(3)
    shop.faults.leave_unprocessed(rate=0.5)
    requests: Any = {"orders": [{"PutRequest": {"Item": order(number)}} for number in range(2, 20)]}
    rounds = 0
    while requests:
        requests = call(shop, "BatchWriteItem", RequestItems=requests)["UnprocessedItems"]
        rounds += 1
    assert rounds > 1
    keys: Any = {"orders": {"Keys": [{"p": s("a"), "s": n(number)} for number in range(2, 20)]}}
    found: list[str] = []
    while keys:
        answer = call(shop, "BatchGetItem", RequestItems=keys)
        found += [item["s"]["N"] for item in answer["Responses"].get("orders", [])]
        keys = answer["UnprocessedKeys"]
    assert sorted(map(int, found)) == list(range(2, 20))


# --- Index lag ----------------------------------------------------------------------------------


def test_a_global_index_shows_what_was(shop: Engine) -> None:
    shop.faults.lag_indexes(seconds=float("inf"))
    put(shop, 1, "paid")
    put(shop, 2)
    assert (in_state(shop, "open"), in_state(shop, "paid")) == (["1"], [])
    # The table and its local indexes do not lag.
    assert get(shop, 1) == order(1, "paid")
    assert call(shop, "Scan", TableName="orders")["Count"] == 2
    assert call(shop, "Scan", TableName="orders", IndexName="by-day")["Count"] == 2
    assert call(shop, "Scan", TableName="orders", IndexName="by-state")["Items"] == [order(1)]
    shop.faults.clear()
    assert (in_state(shop, "open"), in_state(shop, "paid")) == (["2"], ["1"])


def test_a_lagging_index_catches_up(shop: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    moment = 0.0
    monkeypatch.setattr(faults, "time", SimpleNamespace(monotonic=lambda: moment))
    shop.faults.lag_indexes(seconds=0.2)
    put(shop, 2)
    assert in_state(shop, "open") == ["1"]
    moment = 0.25
    assert in_state(shop, "open") == ["1", "2"]
    put(shop, 3)
    assert in_state(shop, "open") == ["1", "2"]


def test_indexes_made_while_others_lag_can_be_read(shop: Engine) -> None:
    shop.faults.lag_indexes(seconds=float("inf"))
    make_table(
        shop,
        {"p": "S", "g": "S"},
        name="later",
        keys=("p",),
        globally=(index("global", key_schema("g")),),
    )
    assert call(shop, "Scan", TableName="later", IndexName="global")["Count"] == 0
    call(shop, "PutItem", TableName="later", Item={"p": s("a"), "g": s("b")})
    assert call(shop, "Scan", TableName="later", IndexName="global")["Count"] == 0
    call(shop, "DeleteTable", TableName="later")
    with pytest.raises(DynamoDBError):
        call(shop, "Scan", TableName="later", IndexName="global")
    assert in_state(shop, "open") == ["1"]


def test_lag_is_switched_while_others_read(shop: Engine) -> None:
    failures: list[BaseException] = []

    def read() -> None:
        try:
            for _ in range(150):
                in_state(shop, "open")
        except BaseException as error:
            failures.append(error)

    readers = [Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    while any(reader.is_alive() for reader in readers):
        shop.faults.lag_indexes(seconds=0.001)
        shop.faults.clear()
    assert failures == []
    put(shop, 2)
    assert in_state(shop, "open") == ["1", "2"]


def test_everything_is_off_until_asked_for(engine: Engine) -> None:
    assert not engine.faults.active
    assert not engine.faults.index_lag_is_on
