"""The page cache: pages by address, a visitor's slots by visitor, deals and lists of their ids.

1. A value has tags for what it shows, such as `deal 2f...` or `latest`. Invalidating a tag deletes
   its values.
2. A value that was read before a change and stored after it would stay outdated. So a fill records
   when it begins to read, and its value is not stored if one of its tags was invalidated since.
3. When there are too many values, the oldest is evicted.
4. A hook of the store sees every request. So when a write returns, successful or not, the tags of
   its items are invalidated before its caller continues; the keys in the request say which.
5. Other processes write too. The engine has a number that changes with every write. It is read at
   least ten times a second, and when it has changed, the streams of the tables that pages show are
   read. Reading starts at the present, when the cache is empty. If it fails, or falls behind the
   oldest record of a stream, everything is deleted: an empty cache is slow, an outdated one is
   wrong. If there is an item cache, changed items are dropped from it first, so that a page is not
   rendered again from old ones.
6. On AWS no stream is followed: there values expire after a second (`seconds`).
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Collection, Hashable, Iterable, Sequence
from functools import partial
from typing import Any, Generic, TypeAlias, TypeVar

from bigtime.model import Page, Position
from bigtime.site import SHOWN, deal_tag, tags_of_item, tags_of_record
from bigtime.store import AsyncStore, Exchange, consume
from bigtime.systems.deals import Deal, fetch_deals
from bigtime.wire import Item, Response, Steps, changed_by

log = logging.getLogger("bigtime.web")

T = TypeVar("T")

Make: TypeAlias = Callable[[], Awaitable[tuple[T, Collection[str]]]]
"""Makes a value, and returns it with the tags of what it shows."""

DropItems: TypeAlias = Callable[[Collection[tuple[str, Item]]], Awaitable[None]]
"""Drops items from an item cache, by table and key."""

MOST_TAGS_REMEMBERED = 100_000
PAGE_SIZE = 1_000


class TaggedCache(Generic[T]):
    """Values by key. For one event loop."""

    def __init__(
        self,
        *,
        most: int = 20_000,
        seconds: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.most = most
        self.seconds = seconds
        self.clock = clock
        self.hits = 0
        self.misses = 0
        self.fills = 0
        self._values: dict[Hashable, tuple[T, float, Collection[str]]] = {}
        self._keys: dict[str, set[Hashable]] = {}
        self._moment = 0
        self._invalidated: dict[str, int] = {}
        self._all_invalidated = 0

    async def remember(self, key: Hashable, make: Make[T], *, seconds: float | None = None) -> T:
        """The value under a key; calls `make` if there is none.

        A value with `seconds` expires after that time, and needs no tag: its data changes all the
        time.
        """
        found = self.get(key)
        if found is not None:
            return found
        begun = self.begin()
        value, tags = await make()
        self.put(key, value, tags, begun=begun, seconds=seconds)
        return value

    async def remember_many(
        self,
        keys: Sequence[str],
        make: Callable[[list[str]], Awaitable[Iterable[tuple[str, T, Collection[str]]]]],
    ) -> dict[str, T]:
        """The values under keys, in their order; `make` makes the missing ones, where it can."""
        found = {key: self.get(key) for key in keys}
        missing = [key for key, value in found.items() if value is None]
        if missing:
            begun = self.begin()
            for key, value, tags in await make(missing):
                self.put(key, value, tags, begun=begun)
                found[key] = value
        return {key: value for key, value in found.items() if value is not None}

    def get(self, key: Hashable) -> T | None:
        found = self._values.get(key)
        if found is None:
            self.misses += 1
            return None
        value, until, _ = found
        if until and self.clock() >= until:
            self.forget(key)
            self.misses += 1
            return None
        self.hits += 1
        return value

    def begin(self) -> int:
        """The logical time at which a fill begins to read, for `put`."""
        return self._moment

    def put(
        self,
        key: Hashable,
        value: T,
        tags: Collection[str],
        *,
        begun: int,
        seconds: float | None = None,
    ) -> bool:
        """Stores a value, unless one of its tags was invalidated since its reading began."""
        self.fills += 1
        if begun < self._all_invalidated:
            return False
        for tag in tags:
            if self._invalidated.get(tag, 0) > begun:
                return False
        self.forget(key)
        while len(self._values) >= self.most:
            self.forget(next(iter(self._values)))
        lives = self.seconds if seconds is None else seconds
        until = self.clock() + lives if lives is not None else 0.0
        self._values[key] = value, until, tags
        for tag in tags:
            self._keys.setdefault(tag, set()).add(key)
        return True

    def invalidate(self, tags: Iterable[str]) -> None:
        """Deletes every value with one of these tags."""
        self._moment += 1
        for tag in tags:
            self._invalidated[tag] = self._moment
            for key in self._keys.pop(tag, ()):
                self.forget(key)
        if len(self._invalidated) > MOST_TAGS_REMEMBERED:
            self._invalidated.clear()
            self._all_invalidated = self._moment

    def clear(self) -> None:
        """Deletes everything, and refuses values that are being read now."""
        self._moment += 1
        self._all_invalidated = self._moment
        self._values.clear()
        self._keys.clear()
        self._invalidated.clear()

    def forget(self, key: Hashable) -> None:
        found = self._values.pop(key, None)
        if found is None:
            return
        for tag in found[2]:
            keys = self._keys.get(tag)
            if keys is not None:
                keys.discard(key)
                if not keys:
                    del self._keys[tag]

    def __len__(self) -> int:
        return len(self._values)


# --- Deals, cached apart from the lists that they are in ----------------------------------
# A list is cached as ids, until a deal is added or removed, and each deal until it changes. So a
# page that is rendered again because one of its deals has changed only reads that deal.


class DealLists:
    """Reads deals by their ids, and pages of lists."""

    def __init__(self, store: AsyncStore, cache: TaggedCache[Any]) -> None:
        self.store = store
        self.cache = cache

    async def by_ids(self, deal_ids: Sequence[str], *, unpublished: bool = False) -> list[Deal]:
        """The deals that exist, in the order of the ids; optionally also unpublished ones."""
        ids = {deal_tag(deal_id): deal_id for deal_id in deal_ids}

        async def make(missing: list[str]) -> list[tuple[str, Deal, tuple[str]]]:
            steps = fetch_deals([ids[key] for key in missing], unpublished=True)
            return [entry(deal) for deal in await self.store.run(steps)]

        found = (await self.cache.remember_many(list(ids), make)).values()
        return [deal for deal in found if unpublished or deal.is_listed]

    async def page(
        self, tag: str, after: str | None, steps: Callable[[], Steps[Page[Deal]]]
    ) -> Page[Deal]:
        """A page of the list with that tag; `after`, a cursor or an id, says where it begins."""
        begun = self.cache.begin()

        async def make() -> tuple[tuple[list[str], Position | None], tuple[str]]:
            page = await self.store.run(steps())
            for deal in page:
                self.cache.put(*entry(deal), begun=begun)
            return ([deal.deal_id for deal in page], page.position), (tag,)

        deal_ids, position = await self.cache.remember((tag, after), make)
        return Page(await self.by_ids(deal_ids), position)


def entry(deal: Deal) -> tuple[str, Deal, tuple[str]]:
    """The key, value and tags of a deal in the cache; its tag is its key."""
    tag = deal_tag(deal.deal_id)
    return tag, deal, (tag,)


# Invalidation


def invalidate_writes(cache: TaggedCache[Any], exchange: Exchange) -> None:
    """A store's hook: invalidates the tags of a write's items, even if it failed.

    A write without a response may have been carried out.
    """
    changed = changed_by(exchange.request)
    if changed:
        tags = {tag for table, item in changed for tag in tags_of_item(table, item)}
        if tags:
            cache.invalidate(tags)


class CacheFollower:
    """Reads the streams, and invalidates what other processes have changed."""

    def __init__(
        self,
        store: AsyncStore,
        cache: TaggedCache[Any],
        *,
        version: Callable[[], int],
        look_seconds: float = 0.1,
        drop_items: DropItems | None = None,
    ) -> None:
        self.cache = cache
        self.version = version
        self.look_seconds = look_seconds
        self.drop_items = drop_items
        self.seen: int | None = None
        self.changed: set[str] = set()
        self.changed_items: list[tuple[str, Item]] = []
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
        while True:
            try:
                if self.version() != self.seen:
                    await self.catch_up()
            except Exception:
                log.exception("the changes cannot be followed; the cache is emptied")
                self.cache.clear()
                self.seen = None
                await asyncio.sleep(1)
            await asyncio.sleep(self.look_seconds)

    async def catch_up(self) -> None:
        """Reads what has changed since the last time, and invalidates it."""
        version = self.version()
        for consumer in self.consumers:
            while any(reading.more for reading in await consumer.run_round()):
                pass
        if self.drop_items is not None and self.changed_items:
            items, self.changed_items = self.changed_items, []
            await self.drop_items(items)
        if self.changed:
            tags, self.changed = self.changed, set()
            self.cache.invalidate(tags)
        self.seen = version

    def note(self, table: str, record: Response) -> Steps[None]:
        self.changed |= tags_of_record(table, record)
        if self.drop_items is not None:
            self.changed_items.append((table, record["dynamodb"]["Keys"]))
        return
        yield
