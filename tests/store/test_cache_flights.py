"""Reads and writes of the item cache at once: one read for all, and no stale answer kept."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from bigtime.engine import Engine
from bigtime.store import (
    AsyncCachedTransport,
    AsyncStore,
    CachedTransport,
    ItemCache,
    Retries,
    Store,
    open_async_store,
    open_store,
)
from bigtime.wire import InternalServerError, Request, Response, Steps, ValidationException
from tests.store.caching import item, key, put_steps
from tests.store.places import asking, create

READERS = 10


class Slow:
    """A transport whose reads wait until they are told what they bring."""

    def __init__(self) -> None:
        self.cache = ItemCache()
        self.store = Store(CachedTransport(self, self.cache), retries=Retries(attempts=1))
        self.asked: list[Request] = []
        self.answers: list[Future[Response]] = []
        self.threads = ThreadPoolExecutor(READERS * 2)

    def __call__(self, request: Request) -> Response:
        self.asked.append(request)
        if request.operation == "PutItem":
            return {}
        answer: Future[Response] = Future()
        self.answers.append(answer)
        return answer.result(60)

    def start(self, steps: Steps[Response]) -> Future[Response]:
        """Runs steps on a thread of their own, until they wait for something."""
        before = len(self.answers), self.cache.statistics.joined
        running = self.threads.submit(self.store.run, steps)
        eventually(lambda: (len(self.answers), self.cache.statistics.joined) != before)
        return running


def eventually(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.001)


def get_steps(pk: str = "a") -> Steps[Response]:
    return asking("GetItem", TableName="Things", Key=key(pk))


def getting_many(*pks: str) -> Steps[Response]:
    asked = {"Things": {"Keys": [key(pk) for pk in pks]}}
    return asking("BatchGetItem", RequestItems=asked)


def scan_steps() -> Steps[Response]:
    return asking("Scan", TableName="Things")


@pytest.fixture
def slow() -> Iterator[Slow]:
    slow = Slow()
    yield slow
    slow.threads.shutdown(wait=False)


@pytest.mark.parametrize("reading", [get_steps, scan_steps])
def test_ten_readers_of_what_is_cold_make_one_read(
    slow: Slow, reading: Callable[[], Steps[Response]]
) -> None:
    readers = [slow.start(reading()) for _ in range(READERS)]
    slow.answers[0].set_result({"Item": item("a")})
    assert [reader.result(20) for reader in readers] == [{"Item": item("a")}] * READERS
    assert len(slow.asked) == 1
    assert slow.cache.statistics.joined == READERS - 1


def test_batches_and_gets_wait_for_each_other(slow: Slow) -> None:
    first = slow.start(get_steps("a"))
    batch = slow.start(getting_many("a", "b"))
    last = slow.start(get_steps("b"))
    slow.answers[1].set_result({"Responses": {"Things": [item("b")]}, "UnprocessedKeys": {}})
    assert last.result(20) == {"Item": item("b")}
    slow.answers[0].set_result({})
    assert first.result(20) == {}
    assert batch.result(20) == {"Responses": {"Things": [item("b")]}, "UnprocessedKeys": {}}
    assert [request.params for request in slow.asked[1:]] == [
        {"RequestItems": {"Things": {"Keys": [key("b")]}}}
    ]


def test_a_read_that_fails_has_failed_for_all_who_wait(slow: Slow) -> None:
    readers = [slow.start(get_steps()) for _ in range(3)]
    batch = slow.start(getting_many("a"))
    slow.answers[0].set_exception(ValidationException("no"))
    assert [type(reader.exception(20)) for reader in readers] == [ValidationException] * 3
    unprocessed = {"Things": {"Keys": [key("a")]}}
    assert batch.result(20) == {"Responses": {"Things": []}, "UnprocessedKeys": unprocessed}
    assert len(slow.asked) == 1


def test_a_failure_is_not_kept_and_is_retried(engine: Engine) -> None:
    failures = [InternalServerError(), InternalServerError()]
    engine(Request("CreateTable", asked_of(create())))

    def failing(request: Request) -> Response:
        if failures:
            raise failures.pop()
        return engine(request)

    store = Store(CachedTransport(failing, ItemCache()), sleep=lambda seconds: None)
    assert store.run(get_steps()) == {}


def asked_of(steps: Steps[Any]) -> Any:
    request = next(steps)
    assert isinstance(request, Request)
    return request.params


def test_when_a_reader_is_interrupted_another_one_reads(slow: Slow) -> None:
    first, second, third = (slow.start(get_steps()) for _ in range(3))
    slow.answers[0].set_exception(KeyboardInterrupt())
    eventually(lambda: len(slow.asked) == 2)
    slow.answers[1].set_result({"Item": item("a")})
    assert [each.result(20) for each in (second, third)] == [{"Item": item("a")}] * 2
    assert isinstance(first.exception(20), KeyboardInterrupt)


def test_what_was_read_before_a_write_is_not_kept(slow: Slow) -> None:
    reading, scan = slow.start(get_steps()), slow.start(scan_steps())
    slow.store.run(put_steps("a", 2))
    slow.answers[0].set_result({"Item": item("a", 1)})
    slow.answers[1].set_result({"Items": [item("a", 1)]})
    assert reading.result(20) == {"Item": item("a", 1)}
    assert scan.result(20)["Items"] == [item("a", 1)]
    again, scan = slow.start(get_steps()), slow.start(scan_steps())
    slow.answers[2].set_result({"Item": item("a", 2)})
    slow.answers[3].set_result({"Items": [item("a", 2)]})
    assert again.result(20) == {"Item": item("a", 2)}
    assert scan.result(20)["Items"] == [item("a", 2)]
    assert slow.store.run(get_steps()) == {"Item": item("a", 2)}


def test_who_reads_after_a_write_does_not_wait_for_who_read_before_it(slow: Slow) -> None:
    early = slow.start(get_steps())
    batch = slow.start(getting_many("b"))
    slow.store.run(put_steps("a", 2))
    slow.store.run(put_steps("b", 2))
    late = [slow.start(get_steps("a")), slow.start(get_steps("b"))]
    for answer in slow.answers[2:]:
        answer.set_result({"Item": item("x", 2)})
    assert [each.result(20) for each in late] == [{"Item": item("x", 2)}] * 2
    slow.answers[0].set_result({"Item": item("a", 1)})
    slow.answers[1].set_result({"Responses": {"Things": [item("b", 1)]}})
    early.result(20)
    batch.result(20)
    assert slow.store.run(get_steps("a")) == {"Item": item("x", 2)}
    assert slow.store.run(get_steps("b")) == {"Item": item("x", 2)}


def test_what_was_read_while_it_was_written_is_not_kept() -> None:
    """A read that begins after the write has begun may still find what was there before."""
    stored = {"a": 1}
    asked: list[str] = []

    def transport(request: Request) -> Response:
        asked.append(request.operation)
        if request.operation == "PutItem":
            assert store.run(get_steps()) == {"Item": item("a", 1)}
            stored["a"] = 2
            return {}
        return {"Item": item("a", stored["a"])}

    store = Store(CachedTransport(transport, ItemCache()))
    store.run(get_steps())
    store.run(put_steps("a", 2))
    assert store.run(get_steps()) == {"Item": item("a", 2)}
    assert asked == ["GetItem", "PutItem", "GetItem", "GetItem"]


def test_what_the_stream_told_meanwhile_is_not_kept(slow: Slow) -> None:
    reading = slow.start(get_steps())
    slow.cache.invalidate("Things", key("a"))
    slow.answers[0].set_result({"Item": item("a", 1)})
    reading.result(20)
    again = slow.start(get_steps())
    slow.answers[1].set_result({"Item": item("a", 2)})
    assert again.result(20) == {"Item": item("a", 2)}


def test_nobody_reads_less_than_was_acknowledged_before() -> None:
    """Readers on three threads, while two count up: each sees what was written before it asked."""
    acknowledged = [0]
    wrong: list[tuple[int, int]] = []
    done = threading.Event()

    with open_store("memory:", cache=ItemCache()) as store:
        store.run(create())
        store.run(put_steps("a", 0))

        def count_up() -> None:
            for _ in range(150):
                answer = store.run(counting())
                acknowledged[0] = max(acknowledged[0], int(answer["Attributes"]["n"]["N"]))

        def read(reading: Callable[[], Steps[Response]], found: Callable[[Response], Any]) -> None:
            while not done.is_set():
                known = acknowledged[0]
                seen = int(found(store.run(reading()))["n"]["N"])
                if seen < known:
                    wrong.append((seen, known))

        with ThreadPoolExecutor(5) as threads:
            readers = [
                threads.submit(read, get_steps, lambda answer: answer["Item"]),
                threads.submit(read, scan_steps, lambda answer: answer["Items"][0]),
                threads.submit(
                    read,
                    lambda: getting_many("a"),
                    lambda answer: answer["Responses"]["Things"][0],
                ),
            ]
            writers = [threads.submit(count_up) for _ in range(2)]
            for writer in writers:
                writer.result(60)
            done.set()
            for reader in readers:
                reader.result(60)
    assert wrong == []


def counting() -> Steps[Response]:
    return asking(
        "UpdateItem",
        TableName="Things",
        Key=key("a"),
        UpdateExpression="ADD n :one",
        ExpressionAttributeValues={":one": {"N": "1"}},
        ReturnValues="UPDATED_NEW",
    )


# Awaited


class SlowAwaited:
    """A transport whose reads wait until they are told what they bring."""

    def __init__(self) -> None:
        self.cache = ItemCache()
        self.asked: list[Request] = []
        self.answers: list[asyncio.Future[Response]] = []
        self.store = AsyncStore(AsyncCachedTransport(self, self.cache), retries=Retries(attempts=1))

    async def __call__(self, request: Request) -> Response:
        self.asked.append(request)
        if request.operation == "PutItem":
            return {}
        self.answers.append(asyncio.get_running_loop().create_future())
        return await self.answers[-1]

    async def start(self, steps: Steps[Response]) -> asyncio.Task[Response]:
        task = asyncio.create_task(self.store.run(steps))
        await asyncio.sleep(0)
        return task


def test_ten_awaiting_readers_make_one_read() -> None:
    async def run() -> None:
        slow = SlowAwaited()
        readers = [await slow.start(get_steps()) for _ in range(READERS)]
        slow.answers[0].set_result({"Item": item("a")})
        assert await asyncio.gather(*readers) == [{"Item": item("a")}] * READERS
        assert len(slow.asked) == 1

    asyncio.run(run())


def test_when_an_awaiting_reader_is_cancelled_another_one_reads() -> None:
    async def run() -> None:
        slow = SlowAwaited()
        first, second, third = [await slow.start(get_steps()) for _ in range(3)]
        first.cancel()
        while len(slow.answers) < 2:
            await asyncio.sleep(0)
        slow.answers[1].set_result({"Item": item("a")})
        assert [await second, await third] == [{"Item": item("a")}] * 2
        assert first.cancelled()

    asyncio.run(run())


def test_a_waiting_reader_that_is_cancelled_leaves_the_others_alone() -> None:
    async def run() -> None:
        slow = SlowAwaited()
        first, second, third = [await slow.start(get_steps()) for _ in range(3)]
        second.cancel()
        await asyncio.sleep(0)
        slow.answers[0].set_result({"Item": item("a")})
        assert [await first, await third] == [{"Item": item("a")}] * 2
        assert len(slow.asked) == 1

    asyncio.run(run())


def test_what_was_awaited_before_a_write_is_not_kept() -> None:
    async def run() -> None:
        slow = SlowAwaited()
        early = await slow.start(get_steps())
        await slow.store.run(put_steps("a", 2))
        slow.answers[0].set_result({"Item": item("a", 1)})
        await early
        late = await slow.start(get_steps())
        slow.answers[1].set_result({"Item": item("a", 2)})
        assert await late == {"Item": item("a", 2)}
        assert len(slow.asked) == 3

    asyncio.run(run())


def test_many_answers_in_a_row_let_the_loop_turn() -> None:
    async def run() -> int:
        turns = 0

        async def turn() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        async with open_async_store("memory:", cache=ItemCache()) as store:
            await store.run(create())
            await store.run(get_steps())
            turning = asyncio.create_task(turn())
            await asyncio.sleep(0)
            before = turns
            for _ in range(2_000):
                await store.run(get_steps())
            turning.cancel()
            return turns - before

    assert asyncio.run(run()) >= 5
