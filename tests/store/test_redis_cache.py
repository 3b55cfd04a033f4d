"""The shared level of the item cache, on a real Redis: filled once, dropped everywhere, or away."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from bigtime.engine import Engine
from bigtime.store import (
    AsyncStore,
    CacheAway,
    NotConnected,
    RedisCache,
    SettingError,
    Store,
    consume,
    shared_cache,
)
from bigtime.store.shared_cache import Call, SharedCache
from bigtime.wire import Item, Request, Response, ValidationException
from tests.store.caching import item, key
from tests.store.places import STREAM, asking
from tests.store.redis_server import RedisServer

SECONDS = 30


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    opened = RedisServer(tmp_path_factory.mktemp("redis"))
    yield opened
    opened.stop()


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine.memory() as engine:
        engine(
            Request(
                "CreateTable",
                {
                    "TableName": "Things",
                    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
                    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
                    "BillingMode": "PAY_PER_REQUEST",
                    "StreamSpecification": STREAM,
                },
            )
        )
        yield engine


class Process:
    """What one process has: both levels, a store, and what reached the engine."""

    def __init__(self, engine: Engine, url: str, name: str) -> None:
        self.engine = engine
        self.reached: list[str] = []
        self.before: Callable[[Request], object] = lambda request: None
        self.cache = RedisCache(url, name)
        self.store = Store(self.cache.transport(self.transport))

    def transport(self, request: Request) -> Response:
        self.reached.append(request.operation)
        self.before(request)
        return self.engine(request)

    def ask(self, operation: str, **params: Any) -> Response:
        return self.store.run(asking(operation, **params))

    def get(self, pk: str, **more: Any) -> Item | None:
        return self.ask("GetItem", TableName="Things", Key=key(pk), **more).get("Item")

    def put(self, pk: str, number: int) -> None:
        self.ask("PutItem", TableName="Things", Item=item(pk, number))

    def get_many(self, *pks: str) -> list[str]:
        asked = {"Things": {"Keys": [key(pk) for pk in pks]}}
        found = self.ask("BatchGetItem", RequestItems=asked)["Responses"]["Things"]
        return sorted(each["pk"]["S"] for each in found)


@pytest.fixture
def start(engine: Engine, server: RedisServer, request: Any) -> Iterator[Callable[[], Process]]:
    """Starts a process whose first level hears of changes."""
    opened: list[Process] = []

    def open_process() -> Process:
        process = Process(engine, server.url, request.node.nodeid)
        opened.append(process)
        wait_for(lambda: not process.cache.items._is_suspended)
        return process

    yield open_process
    for process in opened:
        process.cache.close()


def wait_for(what: Callable[[], object]) -> None:
    deadline = time.monotonic() + SECONDS
    while not what():
        assert time.monotonic() < deadline, "it took too long"
        time.sleep(0.005)


def test_an_item_is_read_once_for_all_processes(start: Callable[[], Process]) -> None:
    one = start()
    one.put("a", 1)
    other = start()  # now, or it may hear of the put after it has read
    assert one.get("a") == other.get("a") == item("a", 1)
    assert one.get("none") is None and other.get("none") is None
    assert (one.reached.count("GetItem"), other.reached.count("GetItem")) == (2, 0)
    for _ in range(3):
        assert other.get("a") == item("a", 1) and other.get("none") is None
    assert other.cache.statistics.hits == 2  # and then from the first level
    assert other.cache.items.statistics.hits == 6


def test_a_write_shows_at_once_in_its_process_and_soon_in_all(
    start: Callable[[], Process],
) -> None:
    one, other = start(), start()
    for number in range(20):
        one.put("a", number)
        assert one.get("a") == item("a", number)
        wait_for(lambda: other.get("a") == item("a", number))  # noqa: B023
    one.ask("DeleteItem", TableName="Things", Key=key("a"))
    assert one.get("a") is None
    wait_for(lambda: other.get("a") is None)


def test_pages_are_dropped_by_writes_elsewhere(start: Callable[[], Process]) -> None:
    one, other = start(), start()

    def count() -> int:
        return len(other.ask("Scan", TableName="Things")["Items"])

    assert count() == 0 == count()
    assert other.reached.count("Scan") == 1
    one.put("a", 1)
    wait_for(lambda: count() == 1)


def test_consistent_reads_go_past_both_levels(start: Callable[[], Process]) -> None:
    process = start()
    process.put("a", 1)
    assert process.get("a") == process.get("a", ConsistentRead=True)
    assert process.get("a", ConsistentRead=True) is not None
    assert process.reached.count("GetItem") == 3


def test_what_was_being_read_while_it_changed_is_not_shared(start: Callable[[], Process]) -> None:
    """The read is sent before the write, and its old answer comes after it."""
    one, other = start(), start()
    one.put("a", 1)
    old = one.engine(Request("GetItem", {"TableName": "Things", "Key": key("a")}))
    reading = one.cache.shared.answer(Request("GetItem", {"TableName": "Things", "Key": key("a")}))
    wanted: Any = next(reading)
    while isinstance(wanted, Call):
        wanted = reading.send(one.cache.call(wanted))
    other.put("a", 2)
    wanted = reading.send(old)
    with suppress(StopIteration):  # it ends with the old answer
        while True:
            wanted = reading.send(one.cache.call(wanted))
    assert one.get("a") == other.get("a") == item("a", 2)


def test_a_cold_key_is_read_once_however_many_ask(
    start: Callable[[], Process], monkeypatch: pytest.MonkeyPatch
) -> None:
    # However long the one read takes on a busy machine, the others wait for it.
    monkeypatch.setattr(shared_cache, "WAITS", (0.02,) * 1_000)
    processes = [start() for _ in range(3)]
    monkeypatch.setattr(shared_cache, "LEASE_MILLISECONDS", SECONDS * 1_000)
    processes[0].put("a", 1)

    def slow(request: Request) -> None:
        if request.operation == "GetItem":
            time.sleep(0.02)

    for process in processes:
        process.before = slow
    with ThreadPoolExecutor(24) as threads:
        found = list(threads.map(lambda at: processes[at % 3].get("a"), range(24)))
    assert found == [item("a", 1)] * 24
    assert sum(process.reached.count("GetItem") for process in processes) == 1


def test_a_reader_that_died_keeps_others_waiting_for_a_moment_only(
    start: Callable[[], Process], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = start(), start()
    monkeypatch.setattr(shared_cache, "LEASE_MILLISECONDS", 20 * SECONDS * 1_000)
    one.put("a", 1)
    dying = one.cache.shared.answer(Request("GetItem", {"TableName": "Things", "Key": key("a")}))
    wanted: Any = next(dying)
    while isinstance(wanted, Call):
        wanted = dying.send(one.cache.call(wanted))
    began = time.monotonic()
    assert other.get("a") == item("a", 1)
    assert time.monotonic() - began < SECONDS


def test_a_read_that_fails_gives_its_lease_back(start: Callable[[], Process]) -> None:
    process = start()

    def fail(request: Request) -> None:
        if request.operation == "GetItem":
            raise ValidationException("no")

    process.before = fail
    with pytest.raises(ValidationException):
        process.get("a")
    process.before = lambda request: None
    process.engine(Request("PutItem", {"TableName": "Things", "Item": item("a", 3)}))
    assert process.get("a") == item("a", 3)
    process.cache.items.clear()
    assert process.get("a") == item("a", 3)
    assert process.reached.count("GetItem") == 2


def test_a_batch_asks_redis_once_and_the_store_for_the_rest(start: Callable[[], Process]) -> None:
    one, other = start(), start()
    for pk in "abc":
        one.put(pk, 1)
    one.get("a")
    assert other.get_many("a", "b", "c", "none") == ["a", "b", "c"]
    assert other.cache.statistics.hits == 1
    other.reached.clear()
    one.reached.clear()
    assert one.get_many("a", "b", "c", "none") == ["a", "b", "c"]
    assert one.reached == []
    assert other.get("b") == item("b", 1) and other.reached == []


def test_what_others_write_is_told_by_the_stream(
    start: Callable[[], Process], engine: Engine
) -> None:
    one, other = start(), start()
    one.put("a", 1)
    assert one.get("a") == other.get("a")
    engine(Request("PutItem", {"TableName": "Things", "Item": item("a", 2)}))
    consume(Store(engine), "Things", one.cache.follow("Things"), name="cache").run_once()
    wait_for(lambda: one.get("a") == other.get("a") == item("a", 2))


def test_a_table_that_is_deleted_empties_everything(start: Callable[[], Process]) -> None:
    one, other = start(), start()
    one.put("a", 1)
    assert other.get("a") is not None
    one.ask("DeleteTable", TableName="Things")
    wait_for(lambda: reads_nothing(other))


def reads_nothing(process: Process) -> bool:
    try:
        return process.get("a") is None
    except Exception as error:
        return type(error).__name__ == "ResourceNotFoundException"


def test_without_redis_the_store_answers_and_errors_are_counted(
    engine: Engine, tmp_path: Path
) -> None:
    server = RedisServer(tmp_path)
    process = Process(engine, server.url, "outage")
    try:
        process.put("a", 1)
        assert process.get("a") == item("a", 1)
        server.stop()
        for number in range(2, 6):
            process.put("a", number)
            assert process.get("a") == item("a", number)
        assert process.cache.statistics.errors >= 1
        wait_for(lambda: process.cache.items._is_suspended)

        server.start()  # as it was after the first write, if it had kept it
        process.cache.call(
            Call("SET", (process.cache.shared.key_of("Things", key("a")), b'{"Item":{}}'))
        )
        wait_for(lambda: not process.cache.shared._is_away())
        assert process.get("a") == item("a", 5)  # what could not be dropped is dropped first
        wait_for(lambda: not process.cache.items._is_suspended)
        assert process.get("a") == item("a", 5)
    finally:
        process.cache.close()
        server.stop()


def test_random_reads_after_own_writes_are_never_old(start: Callable[[], Process]) -> None:
    processes, draw = [start() for _ in range(2)], random.Random(0)
    for number in range(300):
        process, pk = draw.choice(processes), draw.choice("abc")
        if draw.random() < 0.4:
            process.put(pk, number)
            assert process.get(pk) == item(pk, number)
        elif draw.random() < 0.1:
            process.get_many("a", "b", "c")
        else:
            process.get(pk)
    for pk in "abc":
        now = processes[0].get(pk, ConsistentRead=True)
        wait_for(lambda: all(process.get(pk) == now for process in processes))  # noqa: B023


def test_an_async_store_uses_both_levels(engine: Engine, server: RedisServer) -> None:
    async def run() -> None:
        cache = RedisCache(server.url, "async")
        store = AsyncStore(cache.async_transport(engine))
        try:
            await store.run(asking("PutItem", TableName="Things", Item=item("a", 1)))
            for _ in range(3):
                found = await store.run(asking("GetItem", TableName="Things", Key=key("a")))
                assert found["Item"] == item("a", 1)
            await asyncio.gather(
                *(store.run(asking("GetItem", TableName="Things", Key=key("b"))) for _ in range(9))
            )
            assert cache.statistics.errors == 0
            assert cache.statistics.hits + cache.items.statistics.hits > 0
        finally:
            await cache.aclose()

    asyncio.run(run())


def test_tables_that_are_not_named_are_not_cached() -> None:
    shared = SharedCache("x", tables={"Deals"})
    request = Request("GetItem", {"TableName": "Things", "Key": key("a")})
    assert next(shared.answer(request)) is request
    write = Request("PutItem", {"TableName": "Things", "Item": item("a")})
    assert next(shared.answer(write)) is write


READ = Request("GetItem", {"TableName": "Things", "Key": key("a")})


def is_repeating_a_drop(wanted: object) -> bool:
    """Whether a reader first drops an item, for which it must know the table's key."""
    return isinstance(wanted, Request) and wanted.operation == "DescribeTable"


def test_a_write_whose_table_cannot_be_described_is_acknowledged_and_dropped_later() -> None:
    shared = SharedCache("x")
    writing = shared.answer(Request("PutItem", {"TableName": "Things", "Item": item("a")}))
    next(writing)
    assert is_repeating_a_drop(writing.send({}))
    with pytest.raises(StopIteration) as end:
        writing.throw(NotConnected("It is away.", uncertain=False))
    assert end.value.value == {}
    assert next(shared.answer(READ)) is READ
    shared._away_until = 0.0
    assert is_repeating_a_drop(next(shared.answer(READ)))


def test_a_drop_is_still_due_when_the_reader_that_repeats_it_is_cancelled() -> None:
    shared = SharedCache("x")
    shared.drop_later([("Things", key("a"))])
    shared._away_until = 0.0
    reading = shared.answer(READ)
    assert is_repeating_a_drop(next(reading))
    reading.close()
    assert is_repeating_a_drop(next(shared.answer(READ)))


def test_a_drop_is_still_due_when_the_writer_is_cancelled_during_it() -> None:
    shared = SharedCache("x")
    writing = shared.answer(Request("PutItem", {"TableName": "Things", "Item": item("a")}))
    next(writing)
    assert is_repeating_a_drop(writing.send({}))
    writing.close()
    assert is_repeating_a_drop(next(shared.answer(READ)))


def test_while_a_drop_is_repeated_the_store_answers_the_others() -> None:
    shared = SharedCache("x")
    shared.drop_later([("Things", key("a"))])
    shared._away_until = 0.0
    first, second = shared.answer(READ), shared.answer(READ)
    assert is_repeating_a_drop(next(first))
    assert next(second) is READ


def test_a_setting_that_names_no_redis_says_so() -> None:
    with pytest.raises(SettingError, match="redis://"):
        RedisCache("http://127.0.0.1", "x")


def test_an_outage_is_an_error_of_its_own(engine: Engine, tmp_path: Path) -> None:
    server = RedisServer(tmp_path)
    cache = RedisCache(server.url, "x")
    server.stop()
    with pytest.raises(CacheAway):
        cache.invalidate("Things", key("a"))
    cache.close()
