"""Brands: all of them by name, and the page of each with what is new."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from bigtime.site import BRANDS, brand_deals_tag, brand_tag, deal_tags
from bigtime.systems import deals
from bigtime.web.http import key_of, page_of_button, redirect_to_canonical, see_other
from bigtime.web.pages import Page, context_of

NO_LETTER = "0-9"
"""What stands over brands whose names begin with no letter."""

brands = APIRouter(include_in_schema=False)


@brands.get("/brands")
async def list_brands(request: Request) -> Response:
    """All brands, under their first letters."""
    context = context_of(request)

    async def make() -> tuple[Page, Collection[str]]:
        names = await context.store.run(deals.fetch_all_brands())
        page = context.templates.page(
            "shopper/brands.html", letters=by_letter(names), count=len(names)
        )
        return page, (BRANDS,)

    return await context.cached(request, make)


@brands.get("/brands/{name:path}")
async def show_brand(request: Request, name: str, after: str | None = None) -> Response:
    """The latest deals of a brand; `after` goes on from there."""
    context, key = context_of(request), key_of(name, deals.brand_key, deals.UnknownBrand)
    if key != name:
        return redirect_to_canonical("/brands/", key)

    async def make() -> tuple[Page, Collection[str]]:
        brand = await context.store.run(deals.fetch_brand(key))
        latest = await context.deals.page(
            brand_deals_tag(key),
            after,
            lambda: deals.fetch_brand_deals(key, after=context.cursors.read(after)),
        )
        page = context.templates.page(
            "shopper/brand.html",
            brand=brand,
            latest=latest.items,
            after=context.cursors.write(latest.position),
            is_first=after is None,
        )
        return page, (brand_tag(key), brand_deals_tag(key), *deal_tags(latest))

    try:
        return await context.cached(request, make, after=after)
    except deals.UnknownBrand:
        if page := page_of_button("/brands/", key):
            return see_other(page)
        raise


def by_letter(names: Iterable[str]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Names in the order of their keys, each with its key, under the letters they begin with.

    Those that begin with none stand together, before all others.
    """
    letters: dict[str, list[tuple[str, str]]] = {NO_LETTER: []}
    for name in names:
        key = deals.brand_key(name)
        letters.setdefault(key[0] if key[0].isalpha() else NO_LETTER, []).append((name, key))
    return [(letter, some) for letter, some in letters.items() if some]
