"""Categories: all of them, and the page of each with what is featured and what is new."""

from __future__ import annotations

from collections.abc import Collection

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from bigtime.model import get
from bigtime.site import category_deals_tag, category_tag, deal_tags
from bigtime.systems import deals
from bigtime.web.http import key_of, page_of_button, redirect_to_canonical, see_other
from bigtime.web.pages import Page, context_of

categories = APIRouter(include_in_schema=False)


@categories.get("/categories")
async def list_categories(request: Request) -> Response:
    """All categories, and what is featured in each."""
    context = context_of(request)

    async def make() -> tuple[Page, Collection[str]]:
        found = await context.store.run(deals.fetch_all_categories())
        page = context.templates.page("shopper/categories.html", categories=found)
        return page, [category_tag(deals.category_key(name)) for name in deals.CATEGORIES]

    return await context.cached(request, make)


@categories.get("/categories/{name:path}")
async def show_category(request: Request, name: str, after: str | None = None) -> Response:
    """Featured and latest deals of a category; `after` goes on from there."""
    context, key = context_of(request), key_of(name, deals.category_key, deals.UnknownCategory)
    if key != name:
        return redirect_to_canonical("/categories/", key)

    async def make() -> tuple[Page, Collection[str]]:
        category = await context.store.run(
            get(deals.Category.key(key), missing=deals.UnknownCategory)
        )
        latest = await context.deals.page(
            category_deals_tag(key),
            after,
            lambda: deals.latest(deals.category_days(key), after=context.cursors.read(after)),
        )
        page = context.templates.page(
            "shopper/category.html",
            category=category,
            latest=latest.items,
            after=context.cursors.write(latest.position),
            is_first=after is None,
        )
        return page, (category_tag(key), category_deals_tag(key), *deal_tags(latest))

    try:
        return await context.cached(request, make, after=after)
    except deals.UnknownCategory:
        if page := page_of_button("/categories/", key):
            return see_other(page)
        raise
