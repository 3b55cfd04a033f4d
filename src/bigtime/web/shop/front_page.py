"""The front page, and the editors' choice."""

from __future__ import annotations

from collections.abc import Collection

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from bigtime.site import ALL_DEALS, EDITORS_CHOICE, FRONT_PAGE, LATEST, deal_tags
from bigtime.systems import deals
from bigtime.web.pages import Page, context_of

front_page = APIRouter(include_in_schema=False)


@front_page.get("/")
async def show_front_page(request: Request, after: str | None = None) -> Response:
    """Featured and latest deals; `after` goes on from there."""
    context = context_of(request)

    async def make() -> tuple[Page, Collection[str]]:
        if after is None:
            front, latest = await context.store.run(deals.fetch_front_page())
            featured = front.featured_deals
        else:
            latest = await context.deals.page(
                ALL_DEALS,
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
        return page, (FRONT_PAGE, LATEST, *deal_tags(latest))

    return await context.cached(request, make, after=after)


@front_page.get("/editors-choice")
async def show_editors_choice(request: Request) -> Response:
    """What the editors think is worth it."""
    context = context_of(request)

    async def make() -> tuple[Page, Collection[str]]:
        choice = await context.store.run(deals.fetch_editors_choice())
        page = context.templates.page("shopper/editors_choice.html", deals=choice.featured_deals)
        return page, (EDITORS_CHOICE,)

    return await context.cached(request, make)
