"""Faults on demand: each mode strikes as asked, and none of them loses a write."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from threading import Thread
from typing import Any

import pytest

from bigtime.engine import Engine
from bigtime.wire import (
    DynamoDBError,
    ProvisionedThroughputExceededException,
    TransactionCanceledException,
    TransactionConflictException,
)
from tests.engine.calls import call, index, key_schema, make_table, n, s


@pytest.fixture
def shop(engine: Engine) -> Engine:
    make_orders(engine)
    return engine


def make_orders(engine: Engine) -> None:
    """The table `orders`, with the global index `by-state` and the local one `by-day`."""
    make_table(
        engine,
        {"p": "S", "s": "N", "state": "S", "day": "S"},
        name="orders",
        local=(index("by-day", key_schema("p", "day")),),
        globally=(index("by-state", key_schema("state")),),
    )
    put(engine, 1)


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


class TestClock:
    """A clock that a test sets."""

    __test__ = False

    def __init__(self) -> None:
        self.now = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> TestClock:
    return TestClock()


@pytest.fixture
def timed_engine(clock: TestClock) -> Iterator[Engine]:
    """The tables of `shop`, in an engine whose clock the test sets."""
    with Engine.memory(clock=clock, housekeeping=False) as engine:
        make_orders(engine)
        yield engine


def test_a_lagging_index_catches_up_by_the_engines_clock(
    timed_engine: Engine, clock: TestClock
) -> None:
    timed_engine.faults.lag_indexes(seconds=0.2)
    put(timed_engine, 2)
    assert in_state(timed_engine, "open") == ["1"]
    clock.now += 0.25
    assert in_state(timed_engine, "open") == ["1", "2"]
    put(timed_engine, 3)
    assert in_state(timed_engine, "open") == ["1", "2"]


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


# --- Stale reads --------------------------------------------------------------------------------


def reads(engine: Engine, *, consistent: bool = False) -> dict[str, int]:
    """How many orders each kind of read finds, of those that the tests make."""
    mode = {"ConsistentRead": consistent}
    keys = [{"p": s("a"), "s": n(number)} for number in (1, 2, 3)]
    whole = {"TableName": "orders", "KeyConditionExpression": "p = :p"}
    values = {"ExpressionAttributeValues": {":p": s("a")}}
    gets = [call(engine, "GetItem", TableName="orders", Key=key, **mode) for key in keys]
    batch = call(engine, "BatchGetItem", RequestItems={"orders": {"Keys": keys, **mode}})
    by_day = {"IndexName": "by-day"}
    statement = {"Statement": "SELECT * FROM orders WHERE p = 'a'", **mode}
    return {
        "GetItem": sum("Item" in found for found in gets),
        "BatchGetItem": len(batch["Responses"]["orders"]),
        "Query": call(engine, "Query", **whole, **values, **mode)["Count"],
        "Query of a local index": call(engine, "Query", **whole, **values, **mode, **by_day)[
            "Count"
        ],
        "Scan": call(engine, "Scan", TableName="orders", **mode)["Count"],
        "ExecuteStatement": len(call(engine, "ExecuteStatement", **statement)["Items"]),
    }


def test_reads_that_need_not_be_consistent_show_what_was(
    timed_engine: Engine, clock: TestClock
) -> None:
    timed_engine.faults.stale_reads(seconds=0.5)
    put(timed_engine, 2)
    assert set(reads(timed_engine).values()) == {1}
    assert set(reads(timed_engine, consistent=True).values()) == {2}
    transact = [{"Get": {"TableName": "orders", "Key": {"p": s("a"), "s": n(2)}}}]
    found = call(timed_engine, "TransactGetItems", TransactItems=transact)["Responses"]
    assert found == [{"Item": order(2)}]
    clock.now += 0.6
    assert set(reads(timed_engine).values()) == {2}
    put(timed_engine, 3)
    assert set(reads(timed_engine).values()) == {2}
    timed_engine.faults.clear()
    assert set(reads(timed_engine).values()) == {3}


def test_conditions_and_new_tables_are_never_stale(timed_engine: Engine) -> None:
    timed_engine.faults.stale_reads(seconds=float("inf"))
    put(timed_engine, 2)
    with pytest.raises(DynamoDBError) as caught:
        call(
            timed_engine,
            "PutItem",
            TableName="orders",
            Item=order(2),
            ConditionExpression="attribute_not_exists(p)",
        )
    assert caught.value.code == "ConditionalCheckFailedException"
    make_table(timed_engine, {"p": "S"}, name="later", keys=("p",))
    assert call(timed_engine, "Scan", TableName="later")["Count"] == 0
    call(timed_engine, "PutItem", TableName="later", Item={"p": s("a")})
    assert call(timed_engine, "Scan", TableName="later")["Count"] == 0
    assert call(timed_engine, "Scan", TableName="later", ConsistentRead=True)["Count"] == 1


# --- Provisioned throughput ---------------------------------------------------------------------

TABLE_EXCEEDED = (
    "The level of configured provisioned throughput for the table was exceeded. "
    "Consider increasing your provisioning level with the UpdateTable API."
)
INDEX_EXCEEDED = (
    "The level of configured provisioned throughput for one or more global secondary indexes of "
    "the table was exceeded. Consider provisioning more throughput for the under-provisioned "
    "global secondary indexes with the UpdateTable API"
)


def units(read: int, write: int) -> Any:
    return {"ReadCapacityUnits": read, "WriteCapacityUnits": write}


@pytest.fixture
def narrow(clock: TestClock) -> Iterator[Engine]:
    """Tables `one` and `two` of one unit each, and an index of `one` with two; all enforced."""
    with Engine.memory(clock=clock, housekeeping=False) as engine:
        by_state = index("by-state", key_schema("state"))
        by_state["ProvisionedThroughput"] = units(2, 2)
        make_table(
            engine,
            {"p": "S", "state": "S"},
            name="one",
            keys=("p",),
            globally=(by_state,),
            BillingMode="PROVISIONED",
            ProvisionedThroughput=units(1, 1),
        )
        make_table(
            engine,
            {"p": "S"},
            name="two",
            keys=("p",),
            BillingMode="PROVISIONED",
            ProvisionedThroughput=units(1, 1),
        )
        make_table(engine, {"p": "S"}, name="free", keys=("p",), BillingMode="PAY_PER_REQUEST")
        engine.faults.enforce_throughput()
        yield engine


def put_in(engine: Engine, table: str, size: int = 10, **more: Any) -> str:
    item = {"p": s("a"), "text": s("x" * size), **more}
    return outcomes(lambda: call(engine, "PutItem", TableName=table, Item=item), 1)[0]


def reason_of(attempt: Callable[[], object], resource: str) -> str:
    """Why a table or an index is throttled, as the body of the answer says."""
    with pytest.raises(ProvisionedThroughputExceededException) as caught:
        attempt()
    (told,) = caught.value.body()["ThrottlingReasons"]
    assert told["resource"] == f"arn:aws:dynamodb:us-east-1:000000000000:table/{resource}"
    reason: str = told["reason"]
    return reason


def excess(attempt: Callable[[], object]) -> str:
    with pytest.raises(ProvisionedThroughputExceededException) as caught:
        attempt()
    return caught.value.message


def test_a_table_may_use_five_minutes_at_once(narrow: Engine, clock: TestClock) -> None:
    written = [put_in(narrow, "two") for _ in range(302)]
    assert written[:300] == ["done"] * 300
    assert written[300:] == ["ProvisionedThroughputExceededException"] * 2
    key = {"TableName": "two", "Key": {"p": s("a")}}
    assert "Item" in call(narrow, "GetItem", **key)  # reads have a bucket of their own
    clock.now += 3
    assert [put_in(narrow, "two") for _ in range(4)].count("done") == 3
    assert excess(lambda: call(narrow, "DeleteItem", **key)) == TABLE_EXCEEDED
    clock.now += 10_000
    assert [put_in(narrow, "two") for _ in range(302)].count("done") == 300


def test_what_a_large_request_overdraws_is_paid_back(narrow: Engine, clock: TestClock) -> None:
    for _ in range(299):
        assert put_in(narrow, "two") == "done"
    assert put_in(narrow, "two", size=20_000) == "done"  # 20 units, of which there was one
    clock.now += 19
    assert put_in(narrow, "two") != "done"
    clock.now += 1
    assert put_in(narrow, "two") == "done"


def test_reads_use_what_they_would_report(narrow: Engine, clock: TestClock) -> None:
    put_in(narrow, "two", size=39_000)
    read = {"TableName": "two", "Key": {"p": s("a")}}
    fresh = partial(call, narrow, "GetItem", **read, ConsistentRead=True)
    found = [outcomes(fresh, 1)[0] for _ in range(31)]
    assert found.count("done") == 30  # ten units each
    scan = partial(call, narrow, "Scan", TableName="two")
    assert excess(scan) == TABLE_EXCEEDED
    assert reason_of(scan, "two") == "TableReadProvisionedThroughputExceeded"
    select = {"Statement": "SELECT * FROM two WHERE p = 'a'"}
    assert excess(lambda: call(narrow, "ExecuteStatement", **select)) == TABLE_EXCEEDED
    clock.now += 1
    capacity = call(narrow, "GetItem", **read, ReturnConsumedCapacity="TOTAL")["ConsumedCapacity"]
    assert capacity == {"TableName": "two", "CapacityUnits": 5.0}


def test_an_index_has_a_throughput_of_its_own(narrow: Engine, clock: TestClock) -> None:
    clock.now += 1
    for number in range(300):  # each moves between partitions, which is two units of the index
        assert put_in(narrow, "one", state=s(str(number % 2))) == "done"
        clock.now += 0.001
    clock.now += 1
    assert put_in(narrow, "one") == "done"  # out of the index: one unit
    for _ in range(2):
        put_in(narrow, "one", state=s("x"))
        clock.now += 0.01
    query = {
        "TableName": "one",
        "IndexName": "by-state",
        "KeyConditionExpression": "#s = :s",
        "ExpressionAttributeNames": {"#s": "state"},
        "ExpressionAttributeValues": {":s": s("x")},
    }
    assert outcomes(lambda: call(narrow, "Query", **query), 1300).count("done") == 1200
    assert "Item" in call(narrow, "GetItem", TableName="one", Key={"p": s("a")})


def test_a_full_index_holds_up_the_writes_of_its_table(clock: TestClock) -> None:
    by_state = index("by-state", key_schema("state"))
    by_state["ProvisionedThroughput"] = units(1, 1)
    with Engine.memory(clock=clock, housekeeping=False) as engine:
        make_table(
            engine,
            {"p": "S", "state": "S"},
            name="one",
            keys=("p",),
            globally=(by_state,),
            BillingMode="PROVISIONED",
            ProvisionedThroughput=units(100, 100),
        )
        engine.faults.enforce_throughput()
        moves = [put_in(engine, "one", state=s(str(number))) for number in range(200)]
        assert moves.count("done") == 151  # one unit, and then two for each move
        item = {"p": s("a"), "state": s("new")}
        put = partial(call, engine, "PutItem", TableName="one", Item=item)
        assert excess(put) == INDEX_EXCEEDED
        assert reason_of(put, "one/index/by-state") == "IndexWriteProvisionedThroughputExceeded"
        same = {"p": s("a"), "state": s("150"), "text": s("x" * 10)}
        assert call(engine, "PutItem", TableName="one", Item=same) == {}  # the index sees nothing
        assert call(engine, "Scan", TableName="one")["Items"] == [same]


def test_a_batch_leaves_what_exceeds(narrow: Engine) -> None:
    for _ in range(300):
        put_in(narrow, "two")
    put = [{"PutRequest": {"Item": {"p": s("b")}}}]
    mixed = call(narrow, "BatchWriteItem", RequestItems={"one": put, "two": put, "free": put})
    assert mixed["UnprocessedItems"] == {"two": put}
    assert call(narrow, "Scan", TableName="one")["Count"] == 1
    assert call(narrow, "Scan", TableName="two")["Count"] == 1
    alone = partial(call, narrow, "BatchWriteItem", RequestItems={"two": put})
    assert excess(alone) == TABLE_EXCEEDED
    key = {"Keys": [{"p": s("b")}]}
    while outcomes(lambda: call(narrow, "Scan", TableName="two"), 1) == ["done"]:
        pass
    found = call(narrow, "BatchGetItem", RequestItems={"one": key, "two": key})
    assert found["Responses"] == {"one": [{"p": s("b")}], "two": []}
    assert found["UnprocessedKeys"] == {"two": key}


def test_a_transaction_says_which_action_exceeds(narrow: Engine) -> None:
    for _ in range(300):
        put_in(narrow, "two")
    puts = [{"Put": {"TableName": name, "Item": {"p": s("t")}}} for name in ("one", "two")]
    with pytest.raises(TransactionCanceledException) as caught:
        call(narrow, "TransactWriteItems", TransactItems=puts)
    assert caught.value.reasons == [
        {"Code": "None"},
        {"Code": "ProvisionedThroughputExceeded", "Message": TABLE_EXCEEDED},
    ]
    assert call(narrow, "Scan", TableName="one")["Count"] == 0


def test_statements_say_which_of_them_exceeds(narrow: Engine) -> None:
    put_in(narrow, "one")
    put_in(narrow, "two")
    while outcomes(lambda: call(narrow, "Scan", TableName="two"), 1) == ["done"]:
        pass
    reads = [{"Statement": f"SELECT p FROM {name} WHERE p = 'a'"} for name in ("one", "two")]
    exceeded = {"Code": "ProvisionedThroughputExceeded", "Message": TABLE_EXCEEDED}
    assert call(narrow, "BatchExecuteStatement", Statements=reads)["Responses"] == [
        {"TableName": "one", "Item": {"p": s("a")}},
        {"TableName": "two", "Error": exceeded},
    ]
    with pytest.raises(TransactionCanceledException) as caught:
        call(narrow, "ExecuteTransaction", TransactStatements=reads)
    assert caught.value.reasons == [{"Code": "None"}, exceeded]


def test_tables_on_demand_have_no_limit(narrow: Engine) -> None:
    assert [put_in(narrow, "free") for _ in range(1000)] == ["done"] * 1000
    narrow.faults.clear()
    assert [put_in(narrow, "two") for _ in range(400)] == ["done"] * 400
