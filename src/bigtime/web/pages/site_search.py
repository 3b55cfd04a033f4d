"""Search beside the event loop: a query takes a millisecond of CPU, or a call of OpenSearch."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import ParamSpec, TypeVar

from pydantic import BaseModel, Field

from bigtime.model import Position
from bigtime.projections.search import SearchPage
from bigtime.site import DealFilters, DealSort, Searches

P = ParamSpec("P")
T = TypeVar("T")

THREADS = 2
MOST_TEXT = 200
MOST_PRICE = 10**12


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
    """Asks the indexes on threads of its own."""

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
