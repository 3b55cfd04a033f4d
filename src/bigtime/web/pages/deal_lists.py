"""Deals for pages, cached apart from the lists that they are in.

A deal that changes is one of many on its pages, and stays where it is in their lists. So a list is
cached as ids, until a deal comes or goes, and each deal by its id, until it changes: a page that is
made anew reads what has changed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bigtime.model import Page, Position
from bigtime.site import deal_tag
from bigtime.store import AsyncStore
from bigtime.systems.deals import Deal, fetch_deals
from bigtime.web.pages.tagged_cache import TaggedCache
from bigtime.wire import Steps


class DealLists:
    """Reads deals by their ids, and pages of lists."""

    def __init__(self, store: AsyncStore, cache: TaggedCache[Any]) -> None:
        self.store = store
        self.cache = cache

    async def by_ids(self, deal_ids: Sequence[str]) -> list[Deal]:
        """Those that are there, in that order."""

        async def make(missing: list[str]) -> list[tuple[str, Deal, tuple[str]]]:
            return [entry(deal) for deal in await self.store.run(fetch_deals(missing))]

        return list((await self.cache.remember_many(deal_ids, make)).values())

    async def page(
        self, tag: str, after: str | None, steps: Callable[[], Steps[Page[Deal]]]
    ) -> Page[Deal]:
        """A page of the list with that tag; `after` is the cursor that it begins at."""
        begun = self.cache.begin()

        async def make() -> tuple[tuple[list[str], Position | None], tuple[str]]:
            page = await self.store.run(steps())
            for deal in page:
                self.cache.put(*entry(deal), begun=begun)
            return ([deal.deal_id for deal in page], page.position), (tag,)

        deal_ids, position = await self.cache.remember((tag, after), make)
        return Page(await self.by_ids(deal_ids), position)


def entry(deal: Deal) -> tuple[str, Deal, tuple[str]]:
    """The key, the value and the tags of a deal in the cache."""
    return deal.deal_id, deal, (deal_tag(deal.deal_id),)
