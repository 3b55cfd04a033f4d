"""Following the data: what changes, in this process or another, is dropped from the caches.

On the engine, one number tells whether anything has changed; it is looked at ten times a second.
When it has, the streams of the tables that pages show tell what. Reading starts at the present:
the caches are empty then. If it fails, or falls behind by more than the streams keep, everything
is dropped: an empty cache is slow, an old one is wrong.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from bigtime.model import Change, Table, decode
from bigtime.store import AsyncStore, consume
from bigtime.web.pages.tagged_cache import TaggedCache
from bigtime.wire import Response, Steps

log = logging.getLogger("bigtime.web")

LOOK_SECONDS = 0.1
PAGE_SIZE = 1_000


class Following:
    """Drops what has changed from caches."""

    def __init__(
        self,
        store: AsyncStore,
        tables: Sequence[Table],
        caches: Sequence[TaggedCache[Any]],
        *,
        version: Callable[[], int],
        tags: Callable[[Change[Any]], Iterable[str]],
    ) -> None:
        self.caches = caches
        self.version = version
        self.tags = tags
        self.dropping: set[str] = set()
        self.consumers = [
            consume(
                store,
                table.name,
                partial(self.note, table),
                name="pages",
                from_now=True,
                page_size=PAGE_SIZE,
            )
            for table in tables
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
                log.exception("the changes cannot be followed; the caches are emptied")
                self.clear()
                seen = None
                await asyncio.sleep(1)
            await asyncio.sleep(LOOK_SECONDS)

    async def catch_up(self) -> None:
        """Reads what has changed since the last time, and drops it."""
        for consumer in self.consumers:
            while any(reading.more for reading in await consumer.run_round()):
                pass
        if self.dropping:
            tags, self.dropping = self.dropping, set()
            for cache in self.caches:
                cache.drop(tags)

    def note(self, table: Table, record: Response) -> Steps[None]:
        self.dropping.update(self.tags(decode(record, (table,))))
        return
        yield

    def clear(self) -> None:
        for cache in self.caches:
            cache.clear()
