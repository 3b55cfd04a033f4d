"""What holds when several write at once: threads on one engine, processes on one file."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path
from threading import Barrier
from typing import TypeVar

from bigtime.engine import Engine
from bigtime.model import DomainError, put_many, setup, verify
from bigtime.store import Store, consume, open_store
from bigtime.systems.catalog import SYSTEM
from bigtime.systems.catalog.deals import change_deal_status, create_brand, create_deal
from bigtime.systems.catalog.design import DealStatus
from bigtime.systems.catalog.trending import get_trending_by_category, start_trending
from bigtime.systems.catalog.watches import (
    brand_watch,
    category_watch,
    notify_watchers,
    watch_brand,
)
from bigtime.wire import Request, Steps
from tests.systems.catalog.racing import engage
from tests.systems.catalog.samples import SONY, TEN, brand, deal, new_deal

T = TypeVar("T")

ROOT = Path(__file__).parents[3]
THREADS = 6


def at_once(engine: Engine, make: Callable[[int], Steps[T]], threads: int = THREADS) -> list[str]:
    """Runs steps in threads that start together; what came of each: `done`, or the error's code."""
    ready = Barrier(threads)

    def run(number: int) -> str:
        ready.wait()
        try:
            Store(engine).run(make(number))
        except DomainError as error:
            return error.code
        return "done"

    with ThreadPoolExecutor(threads) as pool:
        return sorted(pool.map(run, range(threads)))


def test_one_of_several_creators_makes_the_deal(engine: Engine) -> None:
    Store(engine).run(setup(SYSTEM))

    outcomes = at_once(engine, lambda number: create_deal(deal(title=f"Title {number}")))

    assert outcomes == ["deal-exists"] * (THREADS - 1) + ["done"]


def test_one_of_several_watches_goes_through(engine: Engine) -> None:
    store = Store(engine)
    store.run(setup(SYSTEM))
    store.run(create_brand(brand()))

    outcomes = at_once(engine, lambda number: watch_brand("ann", SONY))

    assert outcomes == ["already-watching"] * (THREADS - 1) + ["done"]


def test_a_status_that_several_have_seen_moves_once(engine: Engine) -> None:
    store = Store(engine)
    store.run(setup(SYSTEM))
    store.run(create_deal(deal()))
    wanted = (DealStatus.FEATURED, DealStatus.EXPIRED)

    outcomes = at_once(
        engine,
        lambda number: change_deal_status("deal-12345", wanted[number % 2], seen=DealStatus.ACTIVE),
    )

    assert outcomes == ["deal-moved"] * (THREADS - 1) + ["done"]
    assert store.run(verify(SYSTEM)) == []


def test_engagement_from_several_threads_is_all_counted(engine: Engine) -> None:
    """And the deal has one place when they are done."""
    store = Store(engine)
    store.run(setup(SYSTEM))
    store.run(create_deal(deal()))
    store.run(start_trending("deal-12345", Decimal(50)))

    assert at_once(engine, lambda number: engage(8), 4) == ["done"] * 4

    (last,) = store.run(get_trending_by_category("electronics", consistent=True))
    assert (last.views, last.engagement_score) == (32, 32)


def test_two_consumers_at_once_tell_everyone_once(engine: Engine) -> None:
    store = Store(engine)
    store.run(setup(SYSTEM))
    names = [f"user-{number:03}" for number in range(60)]
    store.run(put_many(brand_watch(name, brand(), at=TEN) for name in names))
    store.run(put_many(category_watch(name, "electronics", None, at=TEN) for name in names))
    for number in range(3):
        store.run(create_deal(new_deal(f"deal-{number}")))

    def run(name: str) -> int:
        return consume(Store(engine), "Deals", notify_watchers.handle, name=name).run_once()

    with ThreadPoolExecutor(2) as pool:
        assert [*pool.map(run, ("one", "two"))] == [3, 3]

    items = engine(Request("Scan", {"TableName": "UserActivities"}))["Items"]
    assert len(items) == 3 * len(names)


def test_processes_on_one_file_lose_nothing(tmp_path: Path) -> None:
    """Three count 10 views each, and then want the same 10 watches."""
    file = tmp_path / "catalog.db"
    with open_store(f"file:{file}") as store:
        store.run(setup(SYSTEM))
        store.run(create_deal(deal()))
        store.run(start_trending("deal-12345", Decimal(50)))
        command = [sys.executable, "-m", "tests.systems.catalog.racing", str(file), "10"]
        children = [
            subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) for _ in range(3)
        ]
        heard = [child.communicate()[0] for child in children]
        assert [child.returncode for child in children] == [0, 0, 0]
        assert sum(map(int, heard)) == 10
        (last,) = store.run(get_trending_by_category("electronics", consistent=True))
        assert last.views == 30
        assert store.run(verify(SYSTEM)) == []
