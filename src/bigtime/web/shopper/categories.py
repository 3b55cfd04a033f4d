"""Categories: all of them, and the page of each with what is featured and what is new."""

from __future__ import annotations

from collections.abc import Collection

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from bigtime.systems.deals.categories import CATEGORIES, fetch_all_categories, fetch_category
from bigtime.systems.deals.errors import UnknownCategory
from bigtime.systems.deals.values import category_key
from bigtime.web.page import Page
from bigtime.web.shopper.one_spelling import key_of, spelled_otherwise
from bigtime.web.site import site_of
from bigtime.web.tags import category_deals_tag, category_tag

categories = APIRouter(include_in_schema=False)


@categories.get("/categories")
async def list_categories(request: Request) -> Response:
    """All categories, and what is featured in each."""
    site = site_of(request)

    async def make() -> tuple[Page, Collection[str]]:
        found = await site.store.run(fetch_all_categories())
        page = site.templates.page("shopper/categories.html", categories=found)
        return page, [category_tag(category_key(name)) for name in CATEGORIES]

    return await site.cached(request, make)


@categories.get("/categories/{name:path}")
async def show_category(request: Request, name: str, after: str | None = None) -> Response:
    """Featured and latest deals of a category; `after` goes on from there."""
    site, key = site_of(request), key_of(name, category_key, UnknownCategory)
    if key != name:
        return spelled_otherwise("/categories/", key)

    async def make() -> tuple[Page, Collection[str]]:
        position = site.cursors.read(after)
        category, latest = await site.store.run(fetch_category(key, after=position))
        page = site.templates.page(
            "shopper/category.html",
            category=category,
            latest=latest.items,
            after=site.cursors.write(latest.position),
            is_first=after is None,
        )
        return page, (category_tag(key), category_deals_tag(key))

    return await site.cached(request, make, after=after)
