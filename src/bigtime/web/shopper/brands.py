"""Brands: all of them by name, and the page of each with what is new."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import groupby

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from bigtime.model import together
from bigtime.systems.deals.brands import fetch_all_brands, fetch_brand
from bigtime.systems.deals.deals import fetch_brand_deals
from bigtime.systems.deals.errors import UnknownBrand
from bigtime.systems.deals.values import brand_key
from bigtime.web.page import Page
from bigtime.web.shopper.one_spelling import key_of, spelled_otherwise
from bigtime.web.site import site_of
from bigtime.web.tags import BRANDS, brand_deals_tag, brand_tag

DAYS_PATIENT = 14
"""A brand has a new deal now and then, so its page looks further back than others."""

brands = APIRouter(include_in_schema=False)


@brands.get("/brands")
async def list_brands(request: Request) -> Response:
    """All brands, under their first letters."""
    site = site_of(request)

    async def make() -> tuple[Page, Collection[str]]:
        names = await site.store.run(fetch_all_brands())
        page = site.templates.page(
            "shopper/brands.html", letters=by_letter(names), count=len(names)
        )
        return page, (BRANDS,)

    return await site.cached(request, make)


@brands.get("/brands/{name:path}")
async def show_brand(request: Request, name: str, after: str | None = None) -> Response:
    """The latest deals of a brand; `after` goes on from there."""
    site, key = site_of(request), key_of(name, brand_key, UnknownBrand)
    if key != name:
        return spelled_otherwise("/brands/", key)

    async def make() -> tuple[Page, Collection[str]]:
        position = site.cursors.read(after)
        brand, latest = await site.store.run(
            together(
                fetch_brand(key), fetch_brand_deals(key, after=position, patience=DAYS_PATIENT)
            )
        )
        page = site.templates.page(
            "shopper/brand.html",
            brand=brand,
            latest=latest.items,
            after=site.cursors.write(latest.position),
            is_first=after is None,
        )
        return page, (brand_tag(key), brand_deals_tag(key))

    return await site.cached(request, make, after=after)


def by_letter(names: Iterable[str]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Names in the order of their keys, each with its key, under the letters they begin with."""
    keyed = [(name, brand_key(name)) for name in names]
    return [(letter, list(some)) for letter, some in groupby(keyed, lambda one: letter_of(one[1]))]


def letter_of(key: str) -> str:
    return key[0] if key[0].isalpha() else "0-9"
