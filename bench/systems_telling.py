"""A process that notifies all users of one deal, and reports what that cost.

Run as a program of its own (`python -m bench.systems_telling watchers|everyone|catalog PATH`),
which prints one JSON object. The consumers read a stream to its end. That of `deals` therefore
meets every message that it wrote, because these are in the table whose stream it reads; that is in
the figure, and so is the engine's own housekeeping meanwhile.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Final

import orjson

from bench.fresh import peak_megabytes
from bigtime.engine import Engine
from bigtime.model import Reaction, Table
from bigtime.store import Consumer, Store, consume
from bigtime.systems.catalog.deals import create_deal as create_in_catalog
from bigtime.systems.catalog.design import USER_ACTIVITIES, DealStatus
from bigtime.systems.catalog.design import Deal as CatalogDeal
from bigtime.systems.catalog.watches import notify_watchers
from bigtime.systems.deals.deals import create_deal
from bigtime.systems.deals.design import BIG_TIME_DEALS, Deal
from bigtime.systems.deals.notifications import announce_deal, send_hot_deal_message
from bigtime.wire import Request

BRAND: Final = "Lumora"
CATEGORY: Final = "Electronics"


@dataclass(frozen=True, slots=True)
class Told:
    """How many were notified, the CPU time, and the process's peak memory."""

    messages: int
    microseconds: float
    peak_mb: float


def in_fresh_process(task: str, path: Path) -> Told:
    command = [sys.executable, "-m", "bench.systems_telling", task, str(path)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return Told(**orjson.loads(done.stdout))


def follower(store: Store, reaction: Reaction) -> Consumer:
    return consume(store, reaction.table.name, reaction.handle, name=reaction.name)


# Tasks


def tell_watchers(store: Store) -> int:
    new_deal(store)
    before = items_in(store, BIG_TIME_DEALS)
    follower(store, announce_deal).run_once()
    announcement = 1  # an item besides the messages: when they were sent
    return items_in(store, BIG_TIME_DEALS) - before - announcement


def tell_everyone(store: Store) -> int:
    return store.run(send_hot_deal_message(new_deal(store).deal_id)).told


def tell_in_catalog(store: Store) -> int:
    deal = CatalogDeal(
        deal_id=f"deal-{time.time_ns()}",
        title="Quiet headphones, half price",
        description="Quiet headphones by Lumora: today only.",
        price=Decimal("99.99"),
        brand_id=BRAND,
        brand_name=BRAND,
        category_id=CATEGORY,
        category_name=CATEGORY,
        posted_at=datetime.now(UTC),
        status=DealStatus.ACTIVE,
    )
    before = items_in(store, USER_ACTIVITIES)
    store.run(create_in_catalog(deal))
    follower(store, notify_watchers).run_once()
    return items_in(store, USER_ACTIVITIES) - before


def items_in(store: Store, table: Table) -> int:
    described = store.send(Request("DescribeTable", {"TableName": table.name}))
    count: int = described["Table"]["ItemCount"]
    return count


def new_deal(store: Store) -> Deal:
    price, link = Decimal("99.99"), "https://shop.example/headphones"
    return store.run(create_deal("Quiet headphones, half price", link, price, BRAND, CATEGORY))


TASKS: Final[dict[str, Callable[[Store], int]]] = {
    "watchers": tell_watchers,
    "everyone": tell_everyone,
    "catalog": tell_in_catalog,
}


def measure_task(task: Callable[[Store], int], path: str) -> Told:
    with Engine.open(path, durability="relaxed") as engine:
        start = time.process_time()
        messages = task(Store(engine))
        seconds = time.process_time() - start
        return Told(messages, seconds / messages * 1e6, peak_megabytes())


if __name__ == "__main__":
    print(orjson.dumps(asdict(measure_task(TASKS[sys.argv[1]], sys.argv[2]))).decode())
