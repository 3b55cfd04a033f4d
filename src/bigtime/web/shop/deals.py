"""A deal: its page, and the way to its offer."""

from __future__ import annotations

from collections.abc import Collection
from http import HTTPStatus

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from bigtime.site import deal_tag
from bigtime.systems.deals import deal_id_of, fetch_deal
from bigtime.web.pages import HEAD, Page, context_of

deals = APIRouter(include_in_schema=False)


@deals.get("/deals/{deal_id}")
async def show_deal(request: Request, deal_id: str) -> Response:
    """One deal."""
    context = context_of(request)

    async def make() -> tuple[Page, Collection[str]]:
        deal = await context.store.run(fetch_deal(deal_id_of(deal_id)))
        return context.templates.page("shopper/deal.html", deal=deal), (deal_tag(deal.deal_id),)

    return await context.cached(request, make)


@deals.get("/deals/{deal_id}/go")
async def go_to_offer(request: Request, deal_id: str) -> Response:
    """On to where the deal is offered; each time anew, so that it can be counted."""
    context = context_of(request)
    deal = await context.store.run(fetch_deal(deal_id_of(deal_id)))
    if HEAD not in request.scope:  # whoever asks for that only looks where the link leads
        await context.engagement.click(deal, await context.visitor(request), request.scope)
    uncached = {"cache-control": "no-store"}
    return RedirectResponse(deal.link, status_code=HTTPStatus.SEE_OTHER, headers=uncached)
