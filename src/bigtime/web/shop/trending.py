"""Trending deals: what people look at and go to, by category.

The catalogue knows a deal's place and what brought it there; what it costs is read where deals
are. A deal that is not there any more is left out. Places change with every look, so these pages
are not kept until something changes, but for half a second. Where the first deals of each category
stand is kept until a deal of it moves.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from bigtime.model import Page as Found
from bigtime.model import Position
from bigtime.site import DealsById
from bigtime.systems import catalog
from bigtime.systems.deals import CATEGORIES, Deal, UnknownCategory, category_key
from bigtime.web.http import key_of, spelled_otherwise
from bigtime.web.pages import FirstPlaces, Page, site_of
from bigtime.wire import Steps

SECONDS_KEPT = 0.5
SHOWN_OF_EACH = 4
LEASTS = (100, 1_000)
"""The scores that a reader can ask for at least."""
SHOWN_NAMES = {category_key(name): name for name in CATEGORIES}

trending = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class Trend:
    """The trending deals of a category, the highest first, and what their places tell."""

    category: str
    name: str
    deals: list[Deal]
    places: dict[str, catalog.TrendingDeal]

    @property
    def notes(self) -> dict[str, str]:
        return {
            deal_id: engagement(place.views, place.clicks) for deal_id, place in self.places.items()
        }


@trending.get("/trending")
async def show_trending(request: Request) -> Response:
    """The first few of each category."""
    site = site_of(request)

    async def make() -> tuple[Page, Collection[str]]:
        found = await site.store.run(trends_of_all(site.first_places, site.deals_by_id))
        trends = [one for one in found if one.deals]
        return site.templates.page("shopper/trending.html", trends=trends), ()

    return await site.cached(request, make, seconds=SECONDS_KEPT)


@trending.get("/trending/{category:path}")
async def show_trend(
    request: Request,
    category: str,
    after: str | None = None,
    least: Annotated[int, Query(ge=0, lt=10**10)] = 0,
) -> Response:
    """The trending deals of a category, perhaps only those with at least a score."""
    site, key = site_of(request), key_of(category, category_key, UnknownCategory)
    if key not in SHOWN_NAMES:
        raise UnknownCategory()
    if key != category:
        return spelled_otherwise("/trending/", key)

    async def make() -> tuple[Page, Collection[str]]:
        steps = trend_of(key, least, site.cursors.read(after), site.deals_by_id)
        trend, position = await site.store.run(steps)
        page = site.templates.page(
            "shopper/trend.html",
            trend=trend,
            after=site.cursors.write(position),
            least=least,
            leasts=LEASTS,
        )
        return page, ()

    return await site.cached(request, make, after=after, seconds=SECONDS_KEPT)


@lru_cache(maxsize=1_024)
def engagement(views: int, clicks: int) -> str:
    return f"{counted(views, 'view')}, {counted(clicks, 'click')}"


def counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def trends_of_all(first_places: FirstPlaces, deals_by_id: DealsById) -> Steps[list[Trend]]:
    found = yield from first_places(tuple(SHOWN_NAMES), SHOWN_OF_EACH)
    deals = yield from deals_by_id([place.deal_id for places in found.values() for place in places])
    return [shown(key, places, deals) for key, places in found.items()]


def trend_of(
    key: str, least: int, after: Position | None, deals_by_id: DealsById
) -> Steps[tuple[Trend, Position | None]]:
    found: Found[catalog.TrendingDeal]
    if least:
        found = yield from catalog.get_highly_engaged_deals(key, least, after=after)
    else:
        found = yield from catalog.get_trending_by_category(key, after=after)
    deals = yield from deals_by_id([place.deal_id for place in found])
    return shown(key, found, deals), found.position


def shown(key: str, places: Iterable[catalog.TrendingDeal], deals: Iterable[Deal]) -> Trend:
    known: dict[str, Deal] = {deal.deal_id: deal for deal in deals}
    there = {place.deal_id: place for place in places if place.deal_id in known}
    return Trend(key, SHOWN_NAMES[key], [known[deal_id] for deal_id in there], there)
