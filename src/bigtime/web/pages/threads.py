"""Threads for what would block the event loop: password hashes, search, stored pictures."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Final, ParamSpec, TypeVar

from cachetools import LRUCache
from pydantic import BaseModel, Field

from bigtime import site, wire
from bigtime.model import Position
from bigtime.pictures import PicturePlace
from bigtime.projections.search import SearchPage
from bigtime.site import DealFilters, DealSort, Pictured, Searches
from bigtime.store import AsyncStore, Retries, Runnable, Store

P = ParamSpec("P")
T = TypeVar("T")

THREADS: Final = 2
"""Of each kind."""


# A password's hash takes 30 ms, during which an event loop can do nothing else. So such steps run
# on a few threads, and only their requests are sent by the loop, which has the store. The number of
# threads also limits the memory that hashing takes: 19 MiB each.


def leave_to_loop(pattern: str | None, units: float) -> None:
    """Counts nothing, but gives requests their patterns' names; the loop's store counts them."""


class CpuPool:
    """Runs steps on threads, with the event loop's store."""

    def __init__(self, store: AsyncStore) -> None:
        self.store = store
        self._threads = ThreadPoolExecutor(THREADS, "bigtime-cpu")

    async def run(self, steps: Runnable[T]) -> T:
        loop = asyncio.get_running_loop()

        def ask(request: wire.Request) -> wire.Response:
            return asyncio.run_coroutine_threadsafe(self.store.send(request), loop).result()

        # The loop's store retries failed requests; retrying here too would multiply the tries.
        blocking = Store(
            ask,
            clock=self.store.clock,
            randomness=self.store.randomness,
            meter=leave_to_loop,
            retries=Retries(attempts=1),
        )
        return await loop.run_in_executor(self._threads, blocking.run, steps)


# --- Search: a query takes a millisecond of CPU, or a call of OpenSearch -------------------


MOST_TEXT: Final = 200
MOST_PRICE: Final = 10**12


class DealQuery(BaseModel):
    """What is asked of the deals, by a page or an API."""

    q: str = Field(default="", max_length=MOST_TEXT)
    category: str = Field(default="", max_length=100)
    brand: str = Field(default="", max_length=100)
    min_price: Decimal | None = Field(default=None, ge=0, lt=MOST_PRICE, allow_inf_nan=False)
    max_price: Decimal | None = Field(default=None, ge=0, lt=MOST_PRICE, allow_inf_nan=False)
    sort: DealSort = DealSort.RELEVANCE

    @property
    def filters(self) -> DealFilters:
        return DealFilters(
            self.category or None, self.brand or None, self.min_price, self.max_price
        )


class SiteSearch:
    """Searches the indexes on its own threads."""

    def __init__(self, searches: Searches) -> None:
        self.searches = searches
        self._threads = ThreadPoolExecutor(THREADS, "bigtime-search")

    async def deals(self, query: DealQuery, after: Position | None) -> SearchPage:
        search = self.searches.search_deals
        return await self._run(search, query.q, query.filters, query.sort, after)

    async def suggestions(self, text: str) -> list[str]:
        return await self._run(self.searches.suggest_deals, text[:MOST_TEXT])

    async def tenants(self, text: str, after: Position | None) -> SearchPage:
        return await self._run(self.searches.search_tenants, text[:MOST_TEXT], after)

    async def _run(self, question: Callable[P, T], *args: P.args, **named: P.kwargs) -> T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, lambda: question(*args, **named))


# --- Pictures: uploads are kept for the worker, and files are served -----------------------
# Picture files never change, so the most recently requested ones stay in memory, also where they
# are stored in an S3 bucket: browsers only get them from this site.


MOST_CACHED_BYTES: Final = 32 * 1024 * 1024


class PictureFiles:
    """The place for pictures, read and written on threads."""

    def __init__(self, place: PicturePlace) -> None:
        self.place = place
        self._cache: LRUCache[str, bytes] = LRUCache(MOST_CACHED_BYTES, getsizeof=len)

    def find_cached(self, digest: str, width: int) -> bytes | None:
        """The file, if it is in memory."""
        return self._cache.get(site.file_name(digest, width))

    async def read(self, digest: str, width: int) -> bytes | None:
        """A WebP file, read from its place; None if there is none."""
        name = site.file_name(digest, width)
        found = await asyncio.to_thread(self.place.read, name)
        if found is not None and len(found) < MOST_CACHED_BYTES:
            self._cache[name] = found
        return found

    async def keep_upload(self, of: Pictured, content: bytes) -> str:
        """Stores a picture for the worker; returns the id of the upload."""
        upload_id = site.draw_upload_id(of)
        await asyncio.to_thread(self.place.write, site.incoming_name(upload_id), content)
        return upload_id

    async def drop_upload(self, upload_id: str) -> None:
        await asyncio.to_thread(self.place.remove, site.incoming_name(upload_id))
