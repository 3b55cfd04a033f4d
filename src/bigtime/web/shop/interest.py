"""Liking and watching: the buttons on the pages of brands and categories, and a list of it all."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeAlias
from urllib.parse import quote

from fastapi import APIRouter
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

from bigtime.model import DomainError
from bigtime.site import BRANDS, brand_tag, category_tag, user_tag
from bigtime.systems import deals
from bigtime.web.http import NoSuchPage, key_of, local_path
from bigtime.web.pages import Site, going_on, read_form, site_of
from bigtime.wire import Steps

Deed: TypeAlias = Callable[[str, str], Steps[None]]

INTERESTS = "/me/interests"
BRANDS_ASKED = 250
"""Brands to a page of the list. No key leads to what a user likes, so each is looked up: all in one
batch, of which a request takes fifty."""

interest = APIRouter(include_in_schema=False)


class Back(BaseModel):
    """Where somebody pressed the button."""

    back: str = ""


@dataclass(frozen=True, slots=True)
class Kind:
    """What can be liked and watched, and how."""

    folder: str
    spell: Callable[[str], str]
    tag: Callable[[str], str]
    unknown: type[DomainError]
    deeds: Mapping[str, Deed]


BRAND = Kind(
    "/brands/",
    deals.brand_key,
    brand_tag,
    deals.UnknownBrand,
    {
        "like": deals.like_brand,
        "unlike": deals.unlike_brand,
        "watch": deals.watch_brand,
        "unwatch": deals.unwatch_brand,
    },
)
CATEGORY = Kind(
    "/categories/",
    deals.category_key,
    category_tag,
    deals.UnknownCategory,
    {
        "like": deals.like_category,
        "unlike": deals.unlike_category,
        "watch": deals.watch_category,
        "unwatch": deals.unwatch_category,
    },
)


@interest.post("/brands/{name:path}/{deed}")
async def do_to_brand(request: Request, name: str, deed: str) -> Response:
    """Likes or watches a brand, or no more."""
    return await do(request, BRAND, name, deed)


@interest.post("/categories/{name:path}/{deed}")
async def do_to_category(request: Request, name: str, deed: str) -> Response:
    """Likes or watches a category, or no more."""
    return await do(request, CATEGORY, name, deed)


async def do(request: Request, kind: Kind, name: str, deed: str) -> Response:
    """What was done already is as good as done: the button was pressed twice."""
    site = site_of(request)
    visitor = await site.signed_in(request)
    form = await read_form(request, site, Back)
    if deed not in kind.deeds:
        raise NoSuchPage()
    site.limits.take("like", visitor.username)
    key = key_of(name, kind.spell, kind.unknown)
    with suppress(deals.AlreadyLiked, deals.NotLiked, deals.AlreadyWatched, deals.NotWatched):
        await site.store.run(kind.deeds[deed](key, visitor.username))
    site.drop((user_tag(visitor.username), kind.tag(key)))
    return going_on(local_path(form.typed.get("back"), default=kind.folder + quote(key, safe="")))


@interest.get(INTERESTS)
async def show_interests(request: Request, after: str | None = None) -> Response:
    """What somebody likes and watches; `after` is the brand that the last page ended with."""
    site = site_of(request)
    visitor = await site.signed_in(request)
    found = await kept_interests(site, visitor.username, after)
    return await site.form_page(
        request,
        "shopper/interests.html",
        brands=found.brands,
        categories=found.categories,
        after=found.after,
        is_first=after is None,
        back=INTERESTS if after is None else f"{INTERESTS}?{request.url.query}",
    )


@dataclass(frozen=True, slots=True)
class Liked:
    """Something that somebody likes, or watches, or both."""

    name: str
    key: str
    interest: deals.Interest


@dataclass(frozen=True, slots=True)
class Interests:
    """What somebody likes and watches, by name; `after` is where to go on."""

    brands: list[Liked]
    categories: list[Liked]
    after: str | None


async def kept_interests(site: Site, username: str, after: str | None) -> Interests:
    """The first page is kept as what the buttons show is: until something of this user changes.

    For many it is the only one. Of the others there are as many as anybody makes up places to go
    on from.
    """
    if after is not None:
        return await site.store.run(interests_of(username, after))
    key = f"{username}\ninterests"
    known: Interests | None = site.facts.get(key)
    if known is None:
        begun = site.facts.begin()
        known = await site.store.run(interests_of(username, after))
        site.facts.put(key, known, (user_tag(username), BRANDS), begun=begun)
    return known


def interests_of(username: str, after: str | None) -> Steps[Interests]:
    names = yield from deals.fetch_all_brands()
    begin = 0 if after is None else bisect_right(names, after, key=deals.brand_key)
    asked = names[begin : begin + BRANDS_ASKED]
    brands, categories = yield from deals.interests_in_both(
        asked, () if begin else tuple(deals.CATEGORIES), username
    )
    has_more = begin + BRANDS_ASKED < len(names)
    return Interests(
        [Liked(name, deals.brand_key(name), one) for name, one in brands.items()],
        [Liked(name, deals.category_key(name), one) for name, one in categories.items()],
        deals.brand_key(asked[-1]) if has_more else None,
    )
