"""Trending deals: the most viewed and opened of each category.

The catalogue has a deal's rank, views and clicks; its title and price are read from `deals`. A deal
that is gone is left out. Views are written every few seconds, and move deals to other ranks; so
ranks are cached by category, and a page that is rendered again only reads categories that have
changed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Annotated, TypeAlias

from fastapi import Query, Response

from bigtime.model import Page as Found
from bigtime.model import Position, together
from bigtime.site import CATEGORY_NAMES, deal_tag, trending_tag
from bigtime.store import AsyncStore
from bigtime.systems import catalog
from bigtime.systems.deals import Deal, UnknownCategory, category_key
from bigtime.web.http import key_of, redirect_to_canonical
from bigtime.web.pages import AppRequest, Page, page_router
from bigtime.wire import Steps

SHOWN_OF_EACH = 4
LEASTS = (100, 1_000)
"""The minimum scores to choose from."""
KEYS = {trending_tag(key): key for key in CATEGORY_NAMES}
"""The keys of categories by the tags of their trends."""
FirstRanks: TypeAlias = tuple[str, Found[catalog.TrendingDeal], tuple[str]]
"""For the cache: the tag of a trend as its key, its ranks, and its tags."""

router = page_router()


@dataclass(frozen=True, slots=True)
class Trend:
    """The trending deals of a category, the highest first, and their ranks."""

    category: str
    name: str
    deals: list[Deal]
    ranks: dict[str, catalog.TrendingDeal]

    @property
    def notes(self) -> dict[str, str]:
        return {
            deal_id: engagement(rank.views, rank.clicks) for deal_id, rank in self.ranks.items()
        }


@router.get("/trending")
async def show_trending(request: AppRequest) -> Response:
    """The first few of each category."""

    async def make() -> tuple[Page, Collection[str]]:
        ranked = await request.context.cache.remember_many(
            list(KEYS), partial(first_ranks, request.context.store)
        )
        ids = [rank.deal_id for ranks in ranked.values() for rank in ranks]
        deals = await request.context.deals.by_ids(ids)
        found = [new_trend(KEYS[tag], ranks, deals) for tag, ranks in ranked.items()]
        trends = [trend for trend in found if trend.deals]
        page = request.context.templates.page("shopper/trending.html", trends=trends)
        return page, [*KEYS, *map(deal_tag, ids)]

    return await request.cached_page(make)


async def first_ranks(store: AsyncStore, tags: list[str]) -> list[FirstRanks]:
    """The first few deals of categories, by the tags of their trends."""
    ranks = (catalog.get_trending_by_category(KEYS[tag], limit=SHOWN_OF_EACH) for tag in tags)
    found = await store.run(together(*ranks))
    return [(tag, page, (tag,)) for tag, page in zip(tags, found, strict=True)]


@router.get("/trending/{category:path}")
async def show_trend(
    request: AppRequest,
    category: str,
    after: str | None = None,
    least: Annotated[int, Query(ge=0, lt=10**10)] = 0,
) -> Response:
    """The trending deals of a category, or those with a score of `least` or more."""
    context, key = request.context, key_of(category, category_key, UnknownCategory)
    if key not in CATEGORY_NAMES:
        raise UnknownCategory()
    if key != category:
        return redirect_to_canonical("/trending/", key)

    async def make() -> tuple[Page, Collection[str]]:
        ranks = await request.run(ranks_of(key, least, request.read_cursor(after)))
        ids = [rank.deal_id for rank in ranks]
        page = context.templates.page(
            "shopper/trend.html",
            trend=new_trend(key, ranks, await context.deals.by_ids(ids)),
            after=request.write_cursor(ranks.position),
            least=least,
            leasts=LEASTS,
        )
        return page, [trending_tag(key), *map(deal_tag, ids)]

    if least:
        page, _ = await make()
        return await request.answer(page)
    return await request.cached_page(make, after=after)


@lru_cache(maxsize=1_024)
def engagement(views: int, clicks: int) -> str:
    return f"{plural(views, 'view')}, {plural(clicks, 'click')}"


def plural(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def ranks_of(key: str, least: int, after: Position | None) -> Steps[Found[catalog.TrendingDeal]]:
    if least:
        return (yield from catalog.get_highly_engaged_deals(key, least, after=after))
    return (yield from catalog.get_trending_by_category(key, after=after))


def new_trend(key: str, ranks: Iterable[catalog.TrendingDeal], deals: Iterable[Deal]) -> Trend:
    known: dict[str, Deal] = {deal.deal_id: deal for deal in deals}
    there = {rank.deal_id: rank for rank in ranks if rank.deal_id in known}
    return Trend(key, CATEGORY_NAMES[key], [known[deal_id] for deal_id in there], there)
