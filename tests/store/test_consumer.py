"""Consumers: at least once, in order per key, whatever happens to them."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigtime.engine import Engine
from bigtime.store import (
    AsyncStore,
    Checkpoint,
    NoStream,
    Retries,
    ShardTurn,
    Store,
    TableCheckpoints,
    consume,
)
from bigtime.store.consumption import Handler
from bigtime.wire import Request, ResourceNotFoundException, Response, Steps
from tests.store import places
from tests.store.places import STREAM, Place, Time, create, get, put

HOUR = timedelta(hours=1)
PATIENT = Retries(attempts=20, draw=lambda: 1.0)


class Crash(BaseException):
    """What nobody catches, as when a process dies."""


class Log:
    """A handler that notes the number in each record, and fails when it is told to."""

    def __init__(self) -> None:
        self.seen: dict[str, list[int]] = {}
        self.count = 0
        self.fail_at: int | None = None
        self.failure: BaseException = ValueError("poison")
        self.lock = threading.Lock()

    def __call__(self, record: Response) -> Steps[None]:
        with self.lock:
            self.count += 1
            if self.count == self.fail_at:
                raise self.failure
        image = record["dynamodb"]["NewImage"]
        self.seen.setdefault(image["pk"]["S"], []).append(int(image["n"]["N"]))
        yield from get("anything")

    def firsts(self) -> dict[str, list[int]]:
        """The numbers by key, each where it came first."""
        return {key: list(dict.fromkeys(numbers)) for key, numbers in self.seen.items()}


def write(place: Place, first: int, last: int, keys: int = 7) -> None:
    for number in range(first, last):
        place.run(put(f"k{number % keys}", n={"N": f"{number}"}))


def expected_records(last: int, keys: int = 7) -> dict[str, list[int]]:
    return {f"k{key}": list(range(key, last, keys)) for key in range(min(keys, last))}


def hours_pass(time: Time, engine: Engine, hours: float = 1.5) -> None:
    """Long enough for the open shards to be closed."""
    time.now += HOUR * hours
    engine.tidy()


def checkpoints(place: Place, consumer: str = "test") -> dict[str, Checkpoint]:
    return place.run(TableCheckpoints().load(consumer))


# In order, once, when nothing happens.


def test_one_that_starts_from_now_sees_what_comes_and_nothing_before(
    streamed_place: Place, engine: Engine, time: Time
) -> None:
    write(streamed_place, 0, 20)
    hours_pass(time, engine)
    write(streamed_place, 20, 30)
    log = Log()
    run_once = streamed_place.consumer("Things", log, from_now=True)
    assert run_once() == 0
    write(streamed_place, 30, 40)
    assert run_once() == 10
    hours_pass(time, engine)
    write(streamed_place, 40, 50)
    assert run_once() == 10
    assert sorted(number for seen in log.seen.values() for number in seen) == [*range(30, 50)]
    with pytest.raises(ResourceNotFoundException):
        checkpoints(streamed_place)


def test_one_that_started_from_now_misses_nothing_however_long_it_rests(
    streamed_place: Place, time: Time
) -> None:
    log = Log()
    run_once = streamed_place.consumer("Things", log, from_now=True)
    run_once()
    write(streamed_place, 0, 7)
    time.now += timedelta(minutes=20)
    run_once()
    assert log.seen == expected_records(7)


def test_records_come_once_in_order_per_key(streamed_place: Place) -> None:
    log = Log()
    run_once = streamed_place.consumer("Things", log)
    write(streamed_place, 0, 40)
    assert run_once() == 40
    assert log.seen == expected_records(40)
    assert run_once() == 0
    write(streamed_place, 40, 60)
    assert run_once() == 20
    assert log.seen == expected_records(60)


def test_a_stream_can_be_named_by_its_arn(streamed_place: Place) -> None:
    arn = streamed_place.ask("DescribeTable", TableName="Things")["Table"]["LatestStreamArn"]
    write(streamed_place, 0, 5)
    log = Log()
    assert streamed_place.consume_once(arn, log) == 5
    assert log.seen == expected_records(5)


def test_what_a_handler_asks_for_is_done(streamed_place: Place) -> None:
    def copy(record: Response) -> Steps[None]:
        image = record["dynamodb"]["NewImage"]
        yield Request("PutItem", {"TableName": "Copies", "Item": image})

    streamed_place.run(create("Copies"))
    write(streamed_place, 0, 10, keys=10)
    streamed_place.consume_once("Things", copy)
    copies = streamed_place.ask("Scan", TableName="Copies")["Items"]
    assert sorted(int(item["n"]["N"]) for item in copies) == list(range(10))


def test_consumers_of_different_names_each_see_everything(streamed_place: Place) -> None:
    write(streamed_place, 0, 9)
    logs = Log(), Log()
    for name, log in zip(("mailer", "searcher"), logs, strict=True):
        assert streamed_place.consumer("Things", log, name=name)() == 9
    assert logs[0].seen == logs[1].seen == expected_records(9)


def test_consumers_of_one_name_on_two_tables_leave_each_other_alone(
    streamed_place: Place, engine: Engine, time: Time
) -> None:
    streamed_place.run(create("Others", StreamSpecification=STREAM))
    write(streamed_place, 0, 9)
    log, other = Log(), Log()
    streamed_place.consume_once("Things", log)
    streamed_place.consume_once("Others", other)
    assert streamed_place.consume_once("Things", log) == 0
    assert other.seen == {}


def test_pages_join_up(streamed_place: Place) -> None:
    write(streamed_place, 0, 30)
    log = Log()
    assert streamed_place.consumer("Things", log, page_size=4)() == 30
    assert log.seen == expected_records(30)


def test_a_stream_that_is_missing_is_named(things: Place) -> None:
    with pytest.raises(NoStream) as caught:
        things.consume_once("Things", Log())
    assert "'Things' has no stream" in str(caught.value)


# Resuming.


def test_a_new_consumer_resumes_where_the_last_one_stopped(streamed_place: Place) -> None:
    write(streamed_place, 0, 20)
    streamed_place.consume_once("Things", Log())
    write(streamed_place, 20, 30)
    log = Log()
    assert streamed_place.consume_once("Things", log) == 10
    numbers = sorted(number for seen in log.seen.values() for number in seen)
    assert numbers == list(range(20, 30))


def test_a_handler_that_raises_is_given_the_record_again(streamed_place: Place) -> None:
    write(streamed_place, 0, 20)
    log = Log()
    log.fail_at = 8
    run_once = streamed_place.consumer("Things", log)
    with pytest.raises(ValueError) as caught:
        run_once()
    assert str(caught.value) == "poison"
    run_once()
    assert log.firsts() == expected_records(20)


@pytest.mark.parametrize("fail_at", [1, 2, 9, 25])
def test_after_a_crash_nothing_is_lost_and_order_is_kept(
    streamed_place: Place, fail_at: int
) -> None:
    write(streamed_place, 0, 25)
    log = Log()
    log.fail_at, log.failure = fail_at, Crash()
    with pytest.raises(Crash):
        streamed_place.consumer("Things", log, page_size=3)()
    write(streamed_place, 25, 40)
    streamed_place.consumer("Things", log, page_size=3)()
    assert log.firsts() == expected_records(40)


@given(
    batches=st.lists(st.integers(0, 12), min_size=1, max_size=5),
    crashes=st.lists(st.integers(1, 15), max_size=4),
    page_size=st.integers(1, 5),
    rotations=st.sets(st.integers(0, 4)),
)
def test_whatever_happens_each_record_comes_and_in_order(
    batches: list[int], crashes: list[int], page_size: int, rotations: set[int]
) -> None:
    log = Log()
    total = 0
    with alone() as (place, engine, time):
        for number, batch in enumerate(batches):
            write(place, total, total + batch)
            total += batch
            if number in rotations:
                hours_pass(time, engine)
            log.count, log.fail_at = 0, crashes.pop() if crashes else None
            log.failure = Crash()
            with suppress(Crash):
                place.consumer("Things", log, page_size=page_size)()
        log.fail_at = None
        place.consumer("Things", log, page_size=page_size)()
    assert log.firsts() == expected_records(total)


@contextmanager
def alone() -> Iterator[tuple[Place, Engine, Time]]:
    """A store and an engine for one example."""
    time = Time()
    with (
        Engine.memory(clock=time.seconds, shard_seconds=3600.0, housekeeping=False) as engine,
        places.place("blocking engine", engine, time) as place,
    ):
        place.run(create(StreamSpecification=STREAM))
        yield place, engine, time


# Shards that come and go.


def test_children_are_read_after_their_parents(
    streamed_place: Place, engine: Engine, time: Time
) -> None:
    for generation in range(3):
        write(streamed_place, generation * 20, generation * 20 + 20)
        hours_pass(time, engine)
    log = Log()
    assert streamed_place.consume_once("Things", log) == 60
    assert log.seen == expected_records(60)
    shards = checkpoints(streamed_place)
    assert sum(checkpoint.done for checkpoint in shards.values()) == 12


def test_a_running_consumer_follows_its_shards(
    streamed_place: Place, engine: Engine, time: Time
) -> None:
    log = Log()
    run_once = streamed_place.consumer("Things", log)
    for generation in range(4):
        write(streamed_place, generation * 10, generation * 10 + 10)
        run_once()
        hours_pass(time, engine)
    run_once()
    assert log.seen == expected_records(40)


def test_checkpoints_of_shards_that_are_gone_are_forgotten(
    streamed_place: Place, engine: Engine, time: Time
) -> None:
    write(streamed_place, 0, 20)
    streamed_place.consume_once("Things", Log())
    hours_pass(time, engine)
    streamed_place.consume_once("Things", Log())
    before = set(checkpoints(streamed_place))
    hours_pass(time, engine, 30)
    hours_pass(time, engine, 30)
    write(streamed_place, 20, 40)
    streamed_place.consume_once("Things", Log())
    assert not before & set(checkpoints(streamed_place))


def test_a_stream_that_was_switched_off_and_on_is_read_whole_and_first(
    streamed_place: Place, time: Time
) -> None:
    write(streamed_place, 0, 20)
    streamed_place.ask(
        "UpdateTable", TableName="Things", StreamSpecification={"StreamEnabled": False}
    )
    time.now += timedelta(minutes=1)
    streamed_place.ask("UpdateTable", TableName="Things", StreamSpecification=STREAM)
    write(streamed_place, 20, 40)
    log = Log()
    assert streamed_place.consume_once("Things", log) == 40
    assert log.seen == expected_records(40)


def test_an_expired_iterator_is_renewed(streamed_place: Place, time: Time) -> None:
    log = Log()
    run_once = streamed_place.consumer("Things", log)
    write(streamed_place, 0, 10)
    run_once()
    time.now += timedelta(minutes=20)
    write(streamed_place, 10, 20)
    assert run_once() == 10
    assert log.seen == expected_records(20)
    failed = [exchange.error for exchange in streamed_place.exchanges if exchange.error]
    assert "ExpiredIteratorException" in {type(error).__name__ for error in failed}


def test_records_that_were_trimmed_are_missed_with_a_warning(
    streamed_place: Place, time: Time, caplog: pytest.LogCaptureFixture
) -> None:
    write(streamed_place, 0, 20)
    streamed_place.consume_once("Things", Log())
    write(streamed_place, 20, 40)
    time.now += timedelta(hours=25)
    write(streamed_place, 40, 60)
    log = Log()
    with caplog.at_level(logging.WARNING, "bigtime.store"):
        assert streamed_place.consume_once("Things", log) == 20
    assert sorted(number for seen in log.seen.values() for number in seen) == list(range(40, 60))
    assert "consumer test: shard shardId-" in caplog.text
    assert "records are lost" in caplog.text


def test_faults_change_nothing(streamed_place: Place, engine: Engine) -> None:
    write(streamed_place, 0, 30)
    engine.faults.seed(7)
    engine.faults.throttle(rate=0.2)
    streamed_place.store.retries = PATIENT
    log = Log()
    streamed_place.consumer("Things", log, page_size=5)()
    assert log.seen == expected_records(30)


# Lag, and running on.


def test_lag_is_told(streamed_place: Place, time: Time) -> None:
    readings: list[ShardTurn] = []
    write(streamed_place, 0, 10)
    time.now += timedelta(seconds=90)
    streamed_place.consumer("Things", Log(), hooks=[readings.append])()
    busy = [reading for reading in readings if reading.records]
    assert sum(reading.records for reading in busy) == 10
    assert {reading.lag_seconds for reading in busy} == {90.0}
    assert {reading.lag_seconds for reading in readings if not reading.records} == {0.0}
    assert {reading.consumer for reading in readings} == {"test"}


def run_until(stop_at: int, log: Log, stop: Callable[[], None]) -> Handler:
    def handle(record: Response) -> Steps[None]:
        yield from log(record)
        if log.count == stop_at:
            stop()

    return handle


def test_a_consumer_runs_until_it_is_stopped(engine: Engine) -> None:
    store, log, stop = Store(engine), Log(), threading.Event()
    store.run(create(StreamSpecification=STREAM))
    handle = run_until(30, log, stop.set)
    consumer = consume(store, "Things", handle, name="test", poll_seconds=0.01)
    thread = threading.Thread(target=consumer.run_forever, args=(stop,), daemon=True)
    thread.start()
    for number in range(30):
        store.run(put(f"k{number % 7}", n={"N": f"{number}"}))
    thread.join(20)
    assert not thread.is_alive()
    assert log.seen == expected_records(30)


def test_an_awaited_consumer_runs_until_it_is_stopped(engine: Engine) -> None:
    async def main() -> Log:
        store, log, stop = AsyncStore(engine), Log(), asyncio.Event()
        await store.run(create(StreamSpecification=STREAM))
        handle = run_until(30, log, stop.set)
        consumer = consume(store, "Things", handle, name="test", poll_seconds=0.01)
        running = asyncio.create_task(consumer.run_forever(stop))
        for number in range(30):
            await store.run(put(f"k{number % 7}", n={"N": f"{number}"}))
            await asyncio.sleep(0)
        await asyncio.wait_for(running, 20)
        return log

    assert asyncio.run(main()).seen == expected_records(30)


def test_a_dropped_table_of_the_same_name_is_not_read_again() -> None:
    table = {
        "TableName": "Again",
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        "BillingMode": "PAY_PER_REQUEST",
        "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"},
    }
    handled: list[str] = []

    def handle(record: Response) -> Steps[None]:
        handled.append(record["dynamodb"]["NewImage"]["pk"]["S"])
        return
        yield

    with Store(Engine.memory()) as store:
        for name in ("old", "new"):
            store.send(Request("CreateTable", table))
            put = {"TableName": "Again", "Item": {"pk": {"S": name}}}
            store.send(Request("PutItem", put))
            if name == "old":
                store.send(Request("DeleteTable", {"TableName": "Again"}))
        assert consume(store, "Again", handle, name="c").run_once() == 1
    assert handled == ["new"]
