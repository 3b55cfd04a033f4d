"""The second process: no consumer waits for another, and told to stop it stops."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import pytest

from bigtime.engine import Engine
from bigtime.model import load_many, setup
from bigtime.site.design import WORKER
from bigtime.site.editing import request_hot_deal
from bigtime.site.systems import SYSTEMS
from bigtime.store import (
    WRITERS,
    Exchange,
    Fence,
    FencedTransport,
    Retries,
    Store,
    Writer,
    write_epoch,
)
from bigtime.store.errors import unreachable
from bigtime.systems.deals.brands import create_brand, create_categories
from bigtime.systems.deals.deals import create_deal
from bigtime.systems.deals.design import Deal, User
from bigtime.systems.deals.interests import watch_brand
from bigtime.systems.deals.notifications import view_hot_deal_progress
from bigtime.systems.deals.users import view_messages
from bigtime.web.http.settings import Settings
from bigtime.web.worker import UnitCounter, Worker, stopping_at
from bigtime.wire import Request, Response

SECONDS = 60
LINK = "https://shop.example/1"


class Held:
    """A hook that holds whoever tells everybody of a hot deal, until it is let go."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.go = threading.Event()

    def __call__(self, exchange: Exchange) -> None:
        if exchange.request.operation == "Scan" and "Segment" in exchange.request.params:
            self.reached.set()
            self.go.wait(SECONDS)


def wait_for(what: Callable[[], object]) -> None:
    until = time.monotonic() + SECONDS
    while not what():
        assert time.monotonic() < until, "it took too long"
        time.sleep(0.02)


@pytest.fixture
def store() -> Iterator[Store]:
    with Engine.memory() as engine:
        store = Store(engine)
        store.run(setup(*SYSTEMS))
        store.run(create_categories())
        yield store


def post(store: Store, title: str) -> Deal:
    return store.run(create_deal(title, LINK, 5, "Voltaic", "Electronics"))  # type: ignore[arg-type]


def test_what_takes_long_holds_up_no_other_and_is_left_when_told_to_stop(store: Store) -> None:
    store.run(load_many(User(username=f"user{number}", name="U") for number in range(30)))
    store.run(create_brand("Voltaic"))
    store.run(watch_brand("Voltaic", "user1"))
    held, stop = Held(), threading.Event()
    working = Store(store.transport, hooks=[held, stopping_at(stop)])
    thread = threading.Thread(target=Worker(working, Settings()).run, args=(stop,))
    thread.start()
    try:
        hot = post(store, "A hot radio")
        store.run(request_hot_deal("erin", hot.deal_id))
        assert held.reached.wait(SECONDS)

        another = post(store, "Another radio")
        wait_for(lambda: another.deal_id in deals_told_of(store, "user1"))
    finally:
        stop.set()
        held.go.set()
        thread.join(SECONDS)
    assert not thread.is_alive()
    assert not store.run(view_hot_deal_progress(hot.deal_id)).is_done

    go_on(store)
    assert store.run(view_hot_deal_progress(hot.deal_id)).is_done


def deals_told_of(store: Store, username: str) -> set[str]:
    """The deals that somebody has messages of."""
    return {message.deal_id for message in store.run(view_messages(username))}


def go_on(store: Store) -> None:
    """Another worker takes up what the last one left."""
    for each in Worker(store, Settings()).consuming:
        while each.take_turn():
            pass


def test_it_tells_how_it_is_doing(store: Store) -> None:
    stop = threading.Event()
    thread = threading.Thread(target=Worker(store, Settings()).run, args=(stop,))
    thread.start()
    try:
        wait_for(lambda: store.run(WORKER.get()).seen_at)
    finally:
        stop.set()
        thread.join(SECONDS)
    assert "site.send_hot_deals" in store.run(WORKER.get()).lag_seconds


def test_while_one_is_stuck_its_lag_grows_and_the_signs_of_life_go_on(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bigtime.web.worker.TELL_SECONDS", 0.05)
    held, stop = Held(), threading.Event()
    working = Store(store.transport, hooks=[held, stopping_at(stop)])
    store.run(load_many(User(username=f"user{number}", name="U") for number in range(30)))
    store.run(create_brand("Voltaic"))
    thread = threading.Thread(target=Worker(working, Settings()).run, args=(stop,))
    thread.start()
    try:
        store.run(request_hot_deal("erin", post(store, "A hot radio").deal_id))
        assert held.reached.wait(SECONDS)
        wait_for(lambda: store.run(WORKER.get()).lag_seconds.get("site.send_hot_deals", 0) > 2)
        told = store.run(WORKER.get())
        assert told.lag_seconds["site.send_hot_deals"] > told.lag_seconds["deals.keep_deals_cache"]
    finally:
        stop.set()
        held.go.set()
        thread.join(SECONDS)


def test_it_outlives_a_store_that_is_away(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bigtime.web.worker.TELL_SECONDS", 0.05)
    store.run(create_brand("Voltaic"))
    store.run(watch_brand("Voltaic", "user1"))
    away, stop = threading.Event(), threading.Event()
    refused: list[str] = []

    def ask(request: Request) -> Response:
        if away.is_set():
            refused.append(request.operation)
            raise unreachable("http://127.0.0.1:1", OSError("refused"))
        return store.transport(request)

    away.set()
    worker = Worker(Store(ask, retries=Retries(attempts=1)), Settings())
    thread = threading.Thread(target=worker.run, args=(stop,))
    thread.start()
    try:
        wait_for(lambda: "UpdateItem" in refused and all(each.pause for each in worker.consuming))
        away.clear()
        made = post(store, "A radio")
        wait_for(lambda: made.deal_id in deals_told_of(store, "user1"))
    finally:
        stop.set()
        thread.join(SECONDS)


def test_it_tells_what_its_patterns_spent(store: Store) -> None:
    spending = UnitCounter()
    working = Store(store.transport, meter=spending.spend)
    store.run(create_brand("Voltaic"))
    store.run(watch_brand("Voltaic", "user1"))
    post(store, "A radio")
    worker = Worker(working, Settings(), spending)
    for each in worker.consuming:
        while each.take_turn():
            pass
    working.run(worker.tell())
    spent = store.run(WORKER.get()).spent
    assert spent["deals.keep_deals_cache"] > 0
    assert all(units >= 0 for units in spent.values())


def test_it_rests_while_another_region_writes(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bigtime.store.fence.LOOK_EVERY_SECONDS", 0.0)
    store.run(WRITERS.ready())
    store.run(write_epoch("site", Writer(1, "eu-west-1", datetime.now(UTC))))
    fenced = Store(FencedTransport(store.transport, Fence("site", "us-east-1")))
    worker = Worker(fenced, Settings())
    assert not any(consumer.take_turn() for consumer in worker.consuming)
    for chore in worker.chores:
        chore.try_once()
    assert store.run(WORKER.get()).seen_at is None
    store.run(write_epoch("site", Writer(2, "us-east-1", datetime.now(UTC))))
    for chore in worker.chores:
        chore.try_once()
    assert store.run(WORKER.get()).seen_at is not None
