"""What holds when several write at once: threads on one engine, processes on one file."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path
from threading import Barrier
from typing import Any

from bigtime.engine import Engine
from bigtime.model import DomainError, scan_all, setup, verify
from bigtime.store import Store, open_store
from bigtime.systems.deals import SYSTEM
from bigtime.systems.deals.brands import (
    create_brand,
    create_categories,
    fetch_all_brands,
    fetch_brand,
)
from bigtime.systems.deals.deals import create_deal
from bigtime.systems.deals.design import Message, MessageKind
from bigtime.systems.deals.interests import like_brand, unlike_brand
from bigtime.systems.deals.notifications import deliver
from bigtime.systems.deals.users import create_user, mark_message_as_read, view_messages
from bigtime.wire import Steps
from tests.store.places import START
from tests.systems.deals.racing import USERS
from tests.systems.deals.scene import LINK, deal

ROOT = Path(__file__).parents[3]
THREADS = 6


def at_once(engine: Engine, make: Callable[[int], Steps[Any]]) -> Counter[str]:
    """Runs steps in threads that start together; how often each came of it: done, or a code."""
    ready = Barrier(THREADS)

    def run(number: int) -> str:
        ready.wait()
        try:
            Store(engine).run(make(number))
        except DomainError as error:
            return error.code
        return "done"

    with ThreadPoolExecutor(THREADS) as pool:
        return Counter(pool.map(run, range(THREADS)))


def prepare_store(engine: Engine) -> Store:
    store = Store(engine)
    store.run(setup(SYSTEM))
    store.run(create_categories())
    store.run(create_brand("Apple"))
    return store


def test_two_likes_of_one_user_count_once(engine: Engine) -> None:
    store = prepare_store(engine)

    for _ in range(5):
        liked = at_once(engine, lambda number: like_brand("Apple", "alex"))
        assert liked == {"done": 1, "already-liked": THREADS - 1}
        assert store.run(fetch_brand("Apple")).like_count == 1
        unliked = at_once(engine, lambda number: unlike_brand("Apple", "alex"))
        assert unliked == {"done": 1, "not-liked": THREADS - 1}
        assert store.run(fetch_brand("Apple")).like_count == 0

    assert store.run(verify(SYSTEM)) == []


def test_likes_of_many_users_are_all_counted(engine: Engine) -> None:
    store = prepare_store(engine)
    assert at_once(engine, lambda number: like_brand("Apple", f"user-{number}")) == {
        "done": THREADS
    }
    assert store.run(fetch_brand("Apple")).like_count == THREADS
    assert store.run(verify(SYSTEM)) == []


def test_one_of_several_gets_a_username(engine: Engine) -> None:
    store = prepare_store(engine)
    taken = at_once(engine, lambda number: create_user("alex", name=f"Alex {number}"))
    assert taken == {"done": 1, "username-taken": THREADS - 1}
    assert store.run(verify(SYSTEM)) == []


def test_one_of_several_makes_a_brand_and_others_are_listed_too(engine: Engine) -> None:
    store = prepare_store(engine)
    names = ("Sony", "SONY", "sony", "Bose", "Sonos", "bose")
    made = at_once(engine, lambda number: create_brand(names[number]))
    assert made == {"done": 3, "brand-exists": 3}
    assert [brand.upper() for brand in store.run(fetch_all_brands())] == [
        "APPLE", "BOSE", "SONOS", "SONY",
    ]  # fmt: skip


def test_a_message_that_is_read_while_it_is_sent_again_stays_read(engine: Engine) -> None:
    store = prepare_store(engine)
    about = deal(START)
    usernames = [f"user-{number}" for number in range(THREADS)]
    store.run(deliver(about, MessageKind.HOT, usernames))

    def read_or_send(number: int) -> Steps[Any]:
        if number % 2:
            yield from deliver(about, MessageKind.HOT, usernames)
            return
        for username in usernames:
            (message,) = yield from view_messages(username)
            yield from mark_message_as_read(username, message.message_id)

    assert at_once(engine, read_or_send) == {"done": THREADS}
    for username in usernames:
        assert [message.unread for message in store.run(view_messages(username))] == [False]


def test_processes_that_like_and_tell_at_once_count_and_tell_once(tmp_path: Path) -> None:
    file = tmp_path / "deals.db"
    with open_store(f"file:{file}") as store:
        store.run(setup(SYSTEM))
        store.run(create_categories())
        store.run(create_brand("Apple"))
        for number in range(USERS):
            store.run(create_user(f"user-{number}"))
        store.run(create_deal("A lamp", LINK, Decimal(5), "Apple", "Home"))

    command = [sys.executable, "-m", "tests.systems.deals.racing", str(file)]
    started = [
        subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(3)
    ]
    won = [int(each.communicate(timeout=300)[0]) for each in started]

    assert [each.returncode for each in started] == [0, 0, 0]
    assert sum(won) == USERS
    with open_store(f"file:{file}") as store:
        assert store.run(fetch_brand("Apple")).like_count == USERS
        told = Counter(message.username for message in store.run(scan_all(Message)))
        assert told == {f"user-{number}": 1 for number in range(USERS)}
        assert store.run(verify(SYSTEM)) == []
