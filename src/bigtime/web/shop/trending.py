"""Trending deals: the most viewed and opened of each category.

The catalogue has a deal's rank, views and clicks; its title and price are read from `deals`. A deal
that is gone is left out. Ranks change with every view, so these pages are cached for half a second.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from bigtime.model import Page as Found
from bigtime.model import Position, together
from bigtime.systems import catalog
from bigtime.systems.deals import CATEGORIES, Deal, UnknownCategory, category_key
from bigtime.web.http import key_of, redirect_to_canonical
from bigtime.web.pages import Page, context_of
from bigtime.wire import Steps

SECONDS_KEPT = 0.5
SHOWN_OF_EACH = 4
LEASTS = (100, 1_000)
"""The least scores to choose from."""
SHOWN_NAMES = {category_key(name): name for name in CATEGORIES}

router = APIRouter(include_in_schema=False)


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
async def show_trending(request: Request) -> Response:
    """The first few of each category."""
    context = context_of(request)

    async def make() -> tuple[Page, Collection[str]]:
        ranked = await context.store.run(
            together(
                *(catalog.get_trending_by_category(key, limit=SHOWN_OF_EACH) for key in SHOWN_NAMES)
            )
        )
        by_id = await context.deals.by_ids([rank.deal_id for ranks in ranked for rank in ranks])
        found = [
            new_trend(key, ranks, by_id) for key, ranks in zip(SHOWN_NAMES, ranked, strict=True)
        ]
        trends = [trend for trend in found if trend.deals]
        return context.templates.page("shopper/trending.html", trends=trends), ()

    return await context.cached(request, make, seconds=SECONDS_KEPT)


@router.get("/trending/{category:path}")
async def show_trend(
    request: Request,
    category: str,
    after: str | None = None,
    least: Annotated[int, Query(ge=0, lt=10**10)] = 0,
) -> Response:
    """The trending deals of a category, or those with a score of `least` or more."""
    context, key = context_of(request), key_of(category, category_key, UnknownCategory)
    if key not in SHOWN_NAMES:
        raise UnknownCategory()
    if key != category:
        return redirect_to_canonical("/trending/", key)

    async def make() -> tuple[Page, Collection[str]]:
        ranks = await context.store.run(ranks_of(key, least, context.cursors.read(after)))
        by_id = await context.deals.by_ids([rank.deal_id for rank in ranks])
        page = context.templates.page(
            "shopper/trend.html",
            trend=new_trend(key, ranks, by_id),
            after=context.cursors.write(ranks.position),
            least=least,
            leasts=LEASTS,
        )
        return page, ()

    if least:
        page, _ = await make()
        return await context.answer(request, page)
    return await context.cached(request, make, after=after, seconds=SECONDS_KEPT)


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
    return Trend(key, SHOWN_NAMES[key], [known[deal_id] for deal_id in there], there)
