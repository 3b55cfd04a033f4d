"""Brands: all of them by name, and the page of each with what is new."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from bigtime.model import together
from bigtime.site import BRANDS, brand_deals_tag, brand_tag
from bigtime.systems import deals
from bigtime.web.http import behind_button, key_of, spelled_otherwise
from bigtime.web.pages import Page, going_on, site_of

NO_LETTER = "0-9"
"""What stands over brands whose names begin with no letter."""

brands = APIRouter(include_in_schema=False)


@brands.get("/brands")
async def list_brands(request: Request) -> Response:
    """All brands, under their first letters."""
    site = site_of(request)

    async def make() -> tuple[Page, Collection[str]]:
        names = await site.store.run(deals.fetch_all_brands())
        page = site.templates.page(
            "shopper/brands.html", letters=by_letter(names), count=len(names)
        )
        return page, (BRANDS,)

    return await site.cached(request, make)


@brands.get("/brands/{name:path}")
async def show_brand(request: Request, name: str, after: str | None = None) -> Response:
    """The latest deals of a brand; `after` goes on from there."""
    site, key = site_of(request), key_of(name, deals.brand_key, deals.UnknownBrand)
    if key != name:
        return spelled_otherwise("/brands/", key)

    async def make() -> tuple[Page, Collection[str]]:
        found = deals.fetch_brand_deals(key, after=site.cursors.read(after))
        brand, latest = await site.store.run(together(deals.fetch_brand(key), found))
        page = site.templates.page(
            "shopper/brand.html",
            brand=brand,
            latest=latest.items,
            after=site.cursors.write(latest.position),
            is_first=after is None,
        )
        return page, (brand_tag(key), brand_deals_tag(key))

    try:
        return await site.cached(request, make, after=after)
    except deals.UnknownBrand:
        if page := behind_button("/brands/", key):
            return going_on(page)
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
