"""The store behind the site: its requests are counted, fenced and cached, where that is set."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bigtime.engine import Engine
from bigtime.store import (
    AsyncFencedTransport,
    AsyncStore,
    Fence,
    destination,
    read_setting,
    read_table_names,
)
from bigtime.web.app import Version
from bigtime.web.http import Meters, Settings
from bigtime.web.item_cache import open_cache

if TYPE_CHECKING:
    from bigtime.store import HttpTransport, RedisCache


@dataclass(frozen=True, slots=True)
class SiteStore:
    """The store and, if any, the engine's number that changes with its data and the item cache."""

    store: AsyncStore
    version: Version | None
    cache: RedisCache | None


@contextlib.asynccontextmanager
async def site_store(settings: Settings, meters: Meters) -> AsyncIterator[SiteStore]:
    """A store whose requests are counted; with a fence and an item cache, where they are set."""
    async with contextlib.AsyncExitStack() as opened:
        transport, region = open_transport(settings, opened)
        version = None
        if isinstance(transport, Engine):
            version = transport.version
            meters.watch_file(transport.file_figures)
            meters.watch_replication(transport.replication)
        fence = Fence(settings.fence, region, read_table_names(None))
        fenced = AsyncFencedTransport(transport, fence) if settings.fence else transport
        cache = open_cache(settings)
        if cache is not None:
            opened.push_async_callback(cache.aclose)
            watch_item_cache(meters, cache)
        store = AsyncStore(
            fenced if cache is None else cache.async_transport(fenced),
            meter=meters.count_units,
            hooks=[meters.tables.observe],
        )
        yield SiteStore(store, version, cache)


def open_transport(
    settings: Settings, opened: contextlib.AsyncExitStack
) -> tuple[Engine | HttpTransport, str]:
    """The engine or the transport to DynamoDB, and its region; `opened` closes it."""
    kind, place = read_setting(settings.store)
    if kind == "file":
        engine = Engine.open(place)
        opened.push_async_callback(asyncio.to_thread, engine.close)
        return engine, engine.region
    from bigtime.store import HttpTransport

    transport = HttpTransport(**destination(kind, place))
    opened.push_async_callback(transport.close)
    return transport, transport.endpoint.region


def watch_item_cache(meters: Meters, cache: RedisCache) -> None:
    def first_level() -> dict[str, int]:
        found = cache.items.statistics
        return {"hits": found.hits + found.joined, "misses": found.misses}

    def second_level() -> dict[str, int]:
        found = cache.statistics
        return {"hits": found.hits, "misses": found.misses, "errors": found.errors}

    meters.watch_cache("item", first_level)
    meters.watch_cache("shared_item", second_level)
