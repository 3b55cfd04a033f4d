"""Invalidates what has changed: after each write of this process, and as the streams tell.

1. A store shows every request to its hooks. So when a write comes back, whatever came of it, what
   shows its items is invalidated before whoever asked for the write goes on, and long before they
   are answered. The keys in the request tell what that is.
2. Other processes write too. On the engine, one number tells whether anything has changed; it is
   looked at ten times a second, and when it has, the streams of the tables that pages show tell
   what. Reading starts at the present: the cache is empty then. If it fails, or falls behind by
   more than the streams keep, everything is forgotten: an empty cache is slow, an old one is wrong.
3. On AWS no stream is followed: there, values live for a second.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from typing import Any

from bigtime.site import SHOWN, tags_of_item, tags_of_record
from bigtime.store import AsyncStore, Exchange, changed_by, consume
from bigtime.web.pages.tagged_cache import TaggedCache
from bigtime.wire import Response, Steps

log = logging.getLogger("bigtime.web")

LOOK_SECONDS = 0.1
PAGE_SIZE = 1_000


def invalidate_writes(cache: TaggedCache[Any], exchange: Exchange) -> None:
    """A store's hook: invalidates what shows the items of a write, also of one that failed.

    Nobody knows whether a write took place that got no answer.
    """
    changed = changed_by(exchange.request)
    if changed:
        tags = {tag for table, item in changed for tag in tags_of_item(table, item)}
        if tags:
            cache.invalidate(tags)


class CacheFollower:
    """Invalidates what other processes have changed, as the streams tell."""

    def __init__(
        self, store: AsyncStore, cache: TaggedCache[Any], *, version: Callable[[], int]
    ) -> None:
        self.cache = cache
        self.version = version
        self.changed: set[str] = set()
        self.consumers = [
            consume(
                store,
                table.name,
                partial(self.note, table.name),
                name="pages",
                from_now=True,
                page_size=PAGE_SIZE,
            )
            for table in SHOWN
        ]

    async def run(self) -> None:
        """Follows until it is cancelled."""
        seen: int | None = None
        while True:
            try:
                now = self.version()
                if now != seen:
                    await self.catch_up()
                seen = now
            except Exception:
                log.exception("the changes cannot be followed; the cache is emptied")
                self.cache.clear()
                seen = None
                await asyncio.sleep(1)
            await asyncio.sleep(LOOK_SECONDS)

    async def catch_up(self) -> None:
        """Reads what has changed since the last time, and invalidates it."""
        for consumer in self.consumers:
            while any(reading.more for reading in await consumer.run_round()):
                pass
        if self.changed:
            tags, self.changed = self.changed, set()
            self.cache.invalidate(tags)

    def note(self, table: str, record: Response) -> Steps[None]:
        self.changed |= tags_of_record(table, record)
        return
        yield
