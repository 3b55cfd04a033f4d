"""What is on offer: the pricing page, and the page of each campaign."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, time, timedelta, tzinfo

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from bigtime.site import PRICING, campaign_tag, product_tag
from bigtime.systems import portal
from bigtime.web.http import redirect_to_canonical
from bigtime.web.pages import AppContext, Page, context_of, ordering_of

pricing = APIRouter(include_in_schema=False)


@pricing.get("/pricing")
async def show_pricing(request: Request, after: str | None = None) -> Response:
    """The products that can be ordered."""
    context = context_of(request)

    async def make() -> tuple[Page, Collection[str]]:
        found = await context.store.run(portal.list_products(after=context.cursors.read(after)))
        page = context.templates.page(
            "portal/pricing.html",
            products=found.items,
            after=context.cursors.write(found.position),
            is_first=after is None,
        )
        return page, (PRICING,)

    return await context.cached(request, make, after=after)


@pricing.get("/campaigns/{code}")
async def show_campaign(request: Request, code: str) -> Response:
    """A campaign, and what its product costs with it; or that it is over, or still to come.

    One that was archived is like one that never was: it cannot be had.
    """
    context = context_of(request)
    zone = ordering_of(context).zone

    async def make() -> tuple[Page, Collection[str]]:
        offer = await context.store.run(portal.get_campaign(code, zone=zone))
        is_to_come = context.store.clock().astimezone(zone).date() < offer.campaign.from_date
        page = context.templates.page("portal/campaign.html", offer=offer, is_to_come=is_to_come)
        return page, (campaign_tag(code), product_tag(offer.campaign.product_id))

    try:
        key = portal.asked_campaign_code(code)
        if key != code:
            return redirect_to_canonical("/campaigns/", key)
        return await context.cached(request, make, seconds=seconds_of_today(context, zone))
    except portal.UnknownCampaign:
        page = context.templates.page("portal/campaign.html", status=404, offer=None)
        return await context.answer(request, page)


def seconds_of_today(context: AppContext, zone: tzinfo) -> float:
    """How long a page may be kept that is another tomorrow, and no longer than any."""
    now = context.store.clock().astimezone(zone)
    midnight = datetime.combine(now.date() + timedelta(days=1), time(), zone)
    left = (midnight - now).total_seconds()
    return left if context.cache.seconds is None else min(left, context.cache.seconds)
