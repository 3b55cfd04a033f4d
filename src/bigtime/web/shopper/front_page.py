"""The front page, and the editors' choice."""

from __future__ import annotations

from collections.abc import Collection

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from bigtime.model import Page as Deals
from bigtime.model import Position, Steps
from bigtime.systems.deals.categories import CATEGORIES
from bigtime.systems.deals.design import Deal, FrontPage
from bigtime.systems.deals.featured import fetch_editors_choice
from bigtime.systems.deals.first_deal import ALL_DEALS, fetch_first_deal
from bigtime.systems.deals.front_page import fetch_front_page
from bigtime.systems.deals.values import category_key
from bigtime.web.kept_days import KeptDays
from bigtime.web.page import Page
from bigtime.web.site import site_of
from bigtime.web.tags import EDITORS_CHOICE, FRONT_PAGE, LATEST

front_page = APIRouter(include_in_schema=False)


@front_page.get("/")
async def show_front_page(request: Request, after: str | None = None) -> Response:
    """Featured and latest deals; `after` goes on from there."""
    site = site_of(request)

    async def make() -> tuple[Page, Collection[str]]:
        kept = site.kept_days(LATEST)
        front, latest = await site.store.run(what_to_show(site.cursors.read(after), kept))
        page = site.templates.page(
            "shopper/front_page.html",
            featured=front.featured_deals,
            latest=latest.items,
            after=site.cursors.write(latest.position),
            categories=[(name, category_key(name)) for name in CATEGORIES],
            is_first=after is None,
        )
        return page, (FRONT_PAGE, LATEST)

    return await site.cached(request, make, after=after)


def what_to_show(after: Position | None, kept: KeptDays) -> Steps[tuple[FrontPage, Deals[Deal]]]:
    """One page, which has a deal if there is any more of them."""
    first = yield from fetch_first_deal(ALL_DEALS)
    return (yield from fetch_front_page(after=after, kept=kept, first=first))


@front_page.get("/editors-choice")
async def show_editors_choice(request: Request) -> Response:
    """What the editors think is worth it."""
    site = site_of(request)

    async def make() -> tuple[Page, Collection[str]]:
        choice = await site.store.run(fetch_editors_choice())
        page = site.templates.page("shopper/editors_choice.html", deals=choice.featured_deals)
        return page, (EDITORS_CHOICE,)

    return await site.cached(request, make)
