"""Deals: the front page, the editors' choice, the page of a deal and the redirect to its offer."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from http import HTTPStatus
from operator import attrgetter
from typing import Final

from fastapi import Response
from fastapi.responses import RedirectResponse

from bigtime import site
from bigtime.systems import deals
from bigtime.web import pages
from bigtime.web.pages import AppRequest, page_router
from bigtime.web.shop.interests import BRAND, CATEGORY, without_featured

ACTIVE: Final = deals.DealStatus.ACTIVE
RELATED: Final = 4
"""Other deals on the page of one."""
RELATED_SECONDS: Final = 300.0
"""How long a deal's page may show others than the latest of its brand."""

router = page_router()


@router.get("/")
async def show_front_page(request: AppRequest, after: str | None = None) -> Response:
    """Featured and latest deals; `after` is the cursor of a further page."""

    async def make() -> tuple[pages.Page, Collection[str]]:
        featured: list[deals.FeaturedDeal] = []
        if after is None:
            front = await request.run(site.fetch_featuring(site.FRONT_SLOT))
            featured = front.featured_deals
        latest = await request.context.deals.page(
            site.ALL_DEALS,
            after,
            lambda: deals.latest(deals.all_days(), after=request.read_cursor(after)),
        )
        latest = await without_featured(
            request.context, latest, featured, site.ALL_DEALS, deals.all_days()
        )
        page = request.context.templates.page(
            "shopper/front_page.html",
            featured=featured,
            latest=latest.items,
            after=request.write_cursor(latest.position),
            categories=[(name, deals.category_key(name)) for name in deals.CATEGORIES],
            is_first=after is None,
        )
        return page, (site.FRONT_PAGE, site.ALL_DEALS, *site.deal_tags(latest))

    return await request.cached_page(make, after=after)


@router.get("/editors-choice")
async def show_editors_choice(request: AppRequest) -> Response:
    """The deals that the editors recommend."""

    async def make() -> tuple[pages.Page, Collection[str]]:
        choice = await request.run(deals.fetch_editors_choice())
        page = request.context.templates.page(
            "shopper/editors_choice.html", deals=choice.featured_deals
        )
        return page, (site.EDITORS_CHOICE,)

    return await request.cached_page(make)


@router.get("/deals/{deal_id}")
async def show_deal(request: AppRequest, deal_id: str) -> Response:
    """One deal."""

    async def make() -> tuple[pages.Page, Collection[str]]:
        deal = await request.run(deals.fetch_deal(deals.deal_id_of(deal_id)))
        related, tags = await related_deals(request.context, deal)
        page = request.context.templates.page(
            "shopper/deal.html",
            deal=deal,
            related=related,
            chart=price_history(deal),
            lowest=min(deal.prices, key=attrgetter("price")),
            most_prices=deals.MOST_PRICES,
        )
        return page, (site.deal_tag(deal.deal_id), *tags, *site.deal_tags(related))

    seconds = min(RELATED_SECONDS, request.context.cache.seconds or RELATED_SECONDS)
    return await request.cached_page(make, seconds=seconds)


async def related_deals(
    context: pages.AppContext, deal: deals.Deal
) -> tuple[list[deals.Deal], list[str]]:
    """Other active deals of the brand, then of the category, and the tags of their lists.

    The lists are those of the pages of the brand and the category, in the same cache. The page only
    gets their tags while it has room for another deal: otherwise a new deal of a brand would drop
    the pages of all its deals.
    """
    found: dict[str, deals.Deal] = {}
    tags = []
    for subject, key in ((BRAND, deal.brand), (CATEGORY, deal.category)):
        tags.append(subject.deals_tag(key))
        latest = await context.deals.page(tags[-1], None, partial(subject.latest, key, None))
        found |= {other.deal_id: other for other in latest if other.status == ACTIVE}
        found.pop(deal.deal_id, None)
        if len(found) >= RELATED:
            return list(found.values())[:RELATED], []
    return list(found.values()), tags


def price_history(deal: deals.Deal) -> pages.LineChart | None:
    """None for a deal that has only had one price."""
    if len(deal.prices) == 1:
        return None
    return pages.price_chart("Price history", [(change.at, change.price) for change in deal.prices])


@router.get("/deals/{deal_id}/go")
async def go_to_offer(request: AppRequest, deal_id: str) -> Response:
    """Redirects to the offer; not cached, so that every click is counted."""
    deal = await request.run(deals.fetch_deal(deals.deal_id_of(deal_id)))
    if pages.HEAD not in request.scope:  # HEAD only checks where the link leads
        await request.context.engagement.click(deal, await request.visitor(), request.scope)
    uncached = {"cache-control": "no-store"}
    return RedirectResponse(deal.link, status_code=HTTPStatus.SEE_OTHER, headers=uncached)
