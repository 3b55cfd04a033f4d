"""Dead letters: a record that cannot be handled stops neither its shard nor the others."""

from __future__ import annotations

import asyncio
import os
import threading
from collections import Counter
from typing import Any

import pytest

from bigtime.engine import Engine
from bigtime.store import AsyncStore, DeadLetter, DeadLetters, NotConnected, Store, consume
from bigtime.wire import ResourceNotFoundException, Response, Steps
from tests.store.places import STREAM, Place, asking, create, put

LETTERS = DeadLetters()
ATTEMPTS = 5


class Handler:
    """Counts the attempts at each number, and raises `error` for those in `poison`."""

    def __init__(self, *poison: int, error: Exception | None = None) -> None:
        self.poison = set(poison)
        self.error = error or ValueError("poison")
        self.attempts: Counter[int] = Counter()

    def __call__(self, record: Response) -> Steps[None]:
        number = int(record["dynamodb"]["NewImage"]["n"]["N"])
        self.attempts[number] += 1
        if number in self.poison:
            raise self.error
        return
        yield


def write(place: Place, count: int) -> None:
    for number in range(count):
        place.run(put(f"k{number % 20}", n={"N": f"{number}"}))


def fail_until_quiet(run_once: Any) -> int:
    """How many rounds raised before one did not."""
    for failures in range(100):
        try:
            run_once()
        except ValueError:
            continue
        return failures
    raise AssertionError("it never ends")


def letters(place: Place, consumer: str = "test") -> list[DeadLetter]:
    return place.run(LETTERS.of(consumer))


def test_a_record_that_fails_is_set_aside_and_all_others_are_handled_once(
    streamed_place: Place,
) -> None:
    write(streamed_place, 200)
    handler = Handler(57)
    assert fail_until_quiet(streamed_place.consumer("Things", handler)) == ATTEMPTS - 1
    assert handler.attempts == Counter(dict.fromkeys(range(200), 1) | {57: ATTEMPTS})
    (letter,) = letters(streamed_place)
    assert letter.error == "ValueError: poison"
    assert letter.attempts == ATTEMPTS
    assert letter.failed_at == streamed_place.time.now.isoformat(timespec="seconds")
    assert letter.record["dynamodb"]["NewImage"]["n"] == {"N": "57"}
    assert letter.sequence == letter.record["dynamodb"]["SequenceNumber"]


def test_other_shards_go_on_at_once(streamed_place: Place) -> None:
    write(streamed_place, 200)
    poisoned = Handler(3)
    with pytest.raises(ValueError, match="poison"):
        streamed_place.consumer("Things", poisoned, page_size=1000)()
    # Four shards, and of the poisoned one what came before the poison.
    assert len(poisoned.attempts) > 100


def test_many_in_a_row_are_set_aside_each_with_its_error(streamed_place: Place) -> None:
    write(streamed_place, 40)
    handler = Handler(*range(10, 25))
    fail_until_quiet(streamed_place.consumer("Things", handler))
    found = {
        int(letter.record["dynamodb"]["NewImage"]["n"]["N"]) for letter in letters(streamed_place)
    }
    assert found == set(range(10, 25))
    assert set(handler.attempts) == set(range(40))


@pytest.mark.parametrize(
    "error", [NotConnected("away", uncertain=False), ResourceNotFoundException("no table")]
)
def test_what_is_no_fault_of_the_record_is_tried_until_it_is_over(
    streamed_place: Place, error: Exception
) -> None:
    write(streamed_place, 10)
    handler = Handler(4, error=error)
    run_once = streamed_place.consumer("Things", handler)
    for _ in range(3 * ATTEMPTS):
        with pytest.raises(type(error)):
            run_once()
    handler.poison = set()
    run_once()
    assert letters(streamed_place) == []
    assert handler.attempts[4] == 3 * ATTEMPTS + 1


def test_attempts_are_counted_anew_by_a_new_consumer(streamed_place: Place) -> None:
    write(streamed_place, 10)
    handler = Handler(4)
    for _ in range(ATTEMPTS):
        with pytest.raises(ValueError, match="poison"):
            streamed_place.consumer("Things", handler)()
    assert letters(streamed_place) == []


def test_one_that_starts_from_now_passes_a_record_over(streamed_place: Place) -> None:
    handler = Handler(4)
    run_once = streamed_place.consumer("Things", handler, from_now=True)
    run_once()
    write(streamed_place, 10)
    assert fail_until_quiet(run_once) == ATTEMPTS - 1
    assert handler.attempts == Counter(dict.fromkeys(range(10), 1) | {4: ATTEMPTS})
    assert letters(streamed_place) == []


def test_a_record_larger_than_an_item_is_stored_and_removed_whole(engine: Engine) -> None:
    store = Store(engine)
    store.run(LETTERS.ready())
    large = {"B": "".join(chr(65 + byte % 26) for byte in os.urandom(700_000))}
    letter = DeadLetter("test", "shard", "7", "ValueError: x", 5, "now", {"dynamodb": large})
    store.run(LETTERS.put(letter))
    store.run(LETTERS.put(letter))
    assert store.run(LETTERS.of("test")) == [letter]
    store.run(LETTERS.remove(letter))
    assert store.run(LETTERS.of("test")) == []
    assert store.run(asking("Scan", TableName="DeadLetters"))["Count"] == 0


def test_a_running_consumer_survives_what_its_handler_raises(engine: Engine) -> None:
    store, handler, stop = Store(engine), Handler(3), threading.Event()
    store.run(create(StreamSpecification=STREAM))
    for number in range(10):
        store.run(put(f"k{number}", n={"N": f"{number}"}))
    consumer = consume(store, "Things", handler, name="test", poll_seconds=0.01)
    thread = threading.Thread(target=consumer.run_forever, args=(stop,), daemon=True)
    thread.start()
    wait_for(lambda: store.run(LETTERS.of("test")))
    stop.set()
    thread.join(60)
    assert set(handler.attempts) == set(range(10))


def wait_for(found: Any) -> None:
    for _ in range(6_000):
        try:
            if found():
                return
        except ResourceNotFoundException:
            pass
        threading.Event().wait(0.01)
    raise AssertionError("nothing came")


def test_an_awaited_consumer_survives_what_its_handler_raises(engine: Engine) -> None:
    async def main() -> Handler:
        store, handler, stop = AsyncStore(engine), Handler(3), asyncio.Event()
        await store.run(create(StreamSpecification=STREAM))
        for number in range(10):
            await store.run(put(f"k{number}", n={"N": f"{number}"}))
        consumer = consume(store, "Things", handler, name="test", poll_seconds=0.01)
        running = asyncio.create_task(consumer.run_forever(stop))
        while len(handler.attempts) < 10 or handler.attempts[3] < ATTEMPTS:
            await asyncio.sleep(0.01)
        stop.set()
        await asyncio.wait_for(running, 60)
        assert len(await store.run(LETTERS.of("test"))) == 1
        return handler

    asyncio.run(asyncio.wait_for(main(), 120))
