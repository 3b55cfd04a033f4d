"""The site with an item cache in Redis: pages follow every write, and go on without Redis."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from bigtime.engine import Engine
from bigtime.model import setup
from bigtime.site import SHOWN, SYSTEMS
from bigtime.store import AsyncStore, Store, open_store
from bigtime.systems import catalog
from bigtime.systems.deals.deals import update_deal
from bigtime.systems.deals.values import deal_id_of
from bigtime.web.http import Settings
from bigtime.web.item_cache import TABLES, name_of_store, open_cache
from bigtime.web.pages import CacheFollower, TaggedCache
from bigtime.wire import Item
from tests.store.redis_server import RedisServer
from tests.web.core.test_serve import Site, start_site, wait_for

SONY = catalog.Brand(
    brand_id="SONY", brand_name="Sony", created_at=datetime(2026, 1, 1, tzinfo=UTC)
)


def test_without_the_setting_there_is_no_item_cache() -> None:
    assert open_cache(Settings()) is None


def test_a_setting_that_is_no_redis_is_refused() -> None:
    with pytest.raises(ValueError, match="BIGTIME_CACHE must name a Redis"):
        Settings.model_validate({"cache": "memcached://127.0.0.1"})


def test_processes_in_several_folders_mean_one_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert name_of_store("file:a.db") == name_of_store(f"file:{tmp_path}/a.db")
    assert name_of_store("dynamodb:af-south-1") == "dynamodb:af-south-1"


def test_every_cached_table_has_a_stream_that_is_followed() -> None:
    assert {table.name for table in SHOWN} == TABLES
    assert all(table.stream for table in SHOWN)


def test_items_are_dropped_before_the_pages_that_show_them() -> None:
    """Else a page would be made anew from the old item, and never be dropped again."""
    told: list[str] = []
    cache: TaggedCache[Any] = TaggedCache()
    cache.invalidate = told.extend  # type: ignore[assignment, method-assign]

    async def drop_items(changed: Collection[tuple[str, Item]]) -> None:
        told.extend(f"item {key['brand_id']['S']} of {table}" for table, key in changed)

    async def follow(engine: Engine) -> None:
        store = AsyncStore(engine)
        follower = CacheFollower(store, cache, version=engine.version, drop_items=drop_items)
        await follower.catch_up()
        await store.run(catalog.put_brand(SONY))
        await follower.catch_up()

    with Engine.memory() as engine:
        Store(engine).run(setup(*SYSTEMS))
        asyncio.run(follow(engine))
    assert told == ["item SONY of Brands", "catalogue brand SONY"]


@pytest.mark.proof
def test_pages_follow_every_write_and_go_on_without_redis(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = RedisServer(tmp_path)
    monkeypatch.setenv("BIGTIME_CACHE", server.url)
    try:
        with start_site(tmp_path, "--workers", "2") as process:
            site = Site(process, tmp_path)
            found = re.search(r"/deals/(\w{27})", site.get("/")[1])
            assert found is not None
            for number in range(1, 6):
                site.get(found[0])
                if number == 4:
                    server.stop()
                price = Decimal(number) / 100
                with open_store(site.store) as store:
                    store.run(update_deal(deal_id_of(found[1]), price=price))
                for _ in range(4):
                    wait_for(lambda: f"${price:.2f}" in site.get(found[0])[1])  # noqa: B023
            metrics = site.get("/metrics")[1]
            assert re.search(r"bigtime_item_cache_misses_total [1-9]", metrics)
            wait_for(
                lambda: re.search(
                    r"bigtime_shared_item_cache_errors_total [1-9]", site.get("/metrics")[1]
                )
            )
    finally:
        server.stop()
