"""Deals: the front page, the editors' choice, the page of a deal and the redirect to its offer."""

from __future__ import annotations

from collections.abc import Collection
from http import HTTPStatus

from fastapi import Request, Response
from fastapi.responses import RedirectResponse

from bigtime import site
from bigtime.systems import deals
from bigtime.web.http import page_router
from bigtime.web.pages import HEAD, Page, context_of

router = page_router()


@router.get("/")
async def show_front_page(request: Request, after: str | None = None) -> Response:
    """Featured and latest deals; `after` is the cursor of a further page."""
    context = context_of(request)

    async def make() -> tuple[Page, Collection[str]]:
        if after is None:
            front, latest = await context.store.run(deals.fetch_front_page())
            featured = front.featured_deals
        else:
            latest = await context.deals.page(
                site.ALL_DEALS,
                after,
                lambda: deals.latest(deals.all_days(), after=context.cursors.read(after)),
            )
            featured = []
        page = context.templates.page(
            "shopper/front_page.html",
            featured=featured,
            latest=latest.items,
            after=context.cursors.write(latest.position),
            categories=[(name, deals.category_key(name)) for name in deals.CATEGORIES],
            is_first=after is None,
        )
        return page, (site.FRONT_PAGE, site.LATEST, *site.deal_tags(latest))

    return await context.cached_page(request, make, after=after)


@router.get("/editors-choice")
async def show_editors_choice(request: Request) -> Response:
    """The deals that the editors recommend."""
    context = context_of(request)

    async def make() -> tuple[Page, Collection[str]]:
        choice = await context.store.run(deals.fetch_editors_choice())
        page = context.templates.page("shopper/editors_choice.html", deals=choice.featured_deals)
        return page, (site.EDITORS_CHOICE,)

    return await context.cached_page(request, make)


@router.get("/deals/{deal_id}")
async def show_deal(request: Request, deal_id: str) -> Response:
    """One deal."""
    context = context_of(request)

    async def make() -> tuple[Page, Collection[str]]:
        deal = await context.store.run(deals.fetch_deal(deals.deal_id_of(deal_id)))
        page = context.templates.page("shopper/deal.html", deal=deal)
        return page, (site.deal_tag(deal.deal_id),)

    return await context.cached_page(request, make)


@router.get("/deals/{deal_id}/go")
async def go_to_offer(request: Request, deal_id: str) -> Response:
    """Redirects to the offer; not cached, so that every click is counted."""
    context = context_of(request)
    deal = await context.store.run(deals.fetch_deal(deals.deal_id_of(deal_id)))
    if HEAD not in request.scope:  # HEAD only checks where the link leads
        await context.engagement.click(deal, await context.visitor(request), request.scope)
    uncached = {"cache-control": "no-store"}
    return RedirectResponse(deal.link, status_code=HTTPStatus.SEE_OTHER, headers=uncached)
