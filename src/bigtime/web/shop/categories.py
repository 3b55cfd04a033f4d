"""Categories: all of them, and the page of each with what is featured and what is new."""

from __future__ import annotations

from collections.abc import Collection

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from bigtime.site import category_deals_tag, category_tag
from bigtime.systems import deals
from bigtime.web.http import behind_button, key_of, spelled_otherwise
from bigtime.web.pages import Page, going_on, site_of

categories = APIRouter(include_in_schema=False)


@categories.get("/categories")
async def list_categories(request: Request) -> Response:
    """All categories, and what is featured in each."""
    site = site_of(request)

    async def make() -> tuple[Page, Collection[str]]:
        found = await site.store.run(deals.fetch_all_categories())
        page = site.templates.page("shopper/categories.html", categories=found)
        return page, [category_tag(deals.category_key(name)) for name in deals.CATEGORIES]

    return await site.cached(request, make)


@categories.get("/categories/{name:path}")
async def show_category(request: Request, name: str, after: str | None = None) -> Response:
    """Featured and latest deals of a category; `after` goes on from there."""
    site, key = site_of(request), key_of(name, deals.category_key, deals.UnknownCategory)
    if key != name:
        return spelled_otherwise("/categories/", key)

    async def make() -> tuple[Page, Collection[str]]:
        shown = deals.fetch_category(key, after=site.cursors.read(after))
        category, latest = await site.store.run(shown)
        page = site.templates.page(
            "shopper/category.html",
            category=category,
            latest=latest.items,
            after=site.cursors.write(latest.position),
            is_first=after is None,
        )
        return page, (category_tag(key), category_deals_tag(key))

    try:
        return await site.cached(request, make, after=after)
    except deals.UnknownCategory:
        if page := behind_button("/categories/", key):
            return going_on(page)
        raise
