"""The front page, and the editors' choice."""

from __future__ import annotations

from collections.abc import Collection

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from bigtime.site import EDITORS_CHOICE, FRONT_PAGE, LATEST
from bigtime.systems import deals
from bigtime.web.pages import Page, site_of

front_page = APIRouter(include_in_schema=False)


@front_page.get("/")
async def show_front_page(request: Request, after: str | None = None) -> Response:
    """Featured and latest deals; `after` goes on from there."""
    site = site_of(request)

    async def make() -> tuple[Page, Collection[str]]:
        shown = deals.fetch_front_page(after=site.cursors.read(after))
        front, latest = await site.store.run(shown)
        page = site.templates.page(
            "shopper/front_page.html",
            featured=front.featured_deals,
            latest=latest.items,
            after=site.cursors.write(latest.position),
            categories=[(name, deals.category_key(name)) for name in deals.CATEGORIES],
            is_first=after is None,
        )
        return page, (FRONT_PAGE, LATEST)

    return await site.cached(request, make, after=after)


@front_page.get("/editors-choice")
async def show_editors_choice(request: Request) -> Response:
    """What the editors think is worth it."""
    site = site_of(request)

    async def make() -> tuple[Page, Collection[str]]:
        choice = await site.store.run(deals.fetch_editors_choice())
        page = site.templates.page("shopper/editors_choice.html", deals=choice.featured_deals)
        return page, (EDITORS_CHOICE,)

    return await site.cached(request, make)
