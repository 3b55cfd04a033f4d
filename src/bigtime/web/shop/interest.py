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
from bigtime.site import BRANDS, interests_tag
from bigtime.systems import deals
from bigtime.web.http import NoSuchPage, key_of, local_path, see_other
from bigtime.web.pages import AppContext, context_of, read_form
from bigtime.wire import Steps

InterestVerb: TypeAlias = Callable[[str, str], Steps[None]]

INTERESTS = "/me/interests"
BRANDS_ASKED = 250
"""Brands to a page of the list. No key leads to what a user likes, so each is looked up: all in one
batch, of which a request takes fifty."""

interest = APIRouter(include_in_schema=False)


class Back(BaseModel):
    """Where somebody pressed the button."""

    back: str = ""


@dataclass(frozen=True, slots=True)
class Subject:
    """What can be liked and watched, and how."""

    folder: str
    spell: Callable[[str], str]
    unknown: type[DomainError]
    verbs: Mapping[str, InterestVerb]


BRAND = Subject(
    "/brands/",
    deals.brand_key,
    deals.UnknownBrand,
    {
        "like": deals.like_brand,
        "unlike": deals.unlike_brand,
        "watch": deals.watch_brand,
        "unwatch": deals.unwatch_brand,
    },
)
CATEGORY = Subject(
    "/categories/",
    deals.category_key,
    deals.UnknownCategory,
    {
        "like": deals.like_category,
        "unlike": deals.unlike_category,
        "watch": deals.watch_category,
        "unwatch": deals.unwatch_category,
    },
)


@interest.post("/brands/{name:path}/{verb}")
async def change_interest_in_brand(request: Request, name: str, verb: str) -> Response:
    """Likes or watches a brand, or no more."""
    return await change_interest(request, BRAND, name, verb)


@interest.post("/categories/{name:path}/{verb}")
async def change_interest_in_category(request: Request, name: str, verb: str) -> Response:
    """Likes or watches a category, or no more."""
    return await change_interest(request, CATEGORY, name, verb)


async def change_interest(request: Request, subject: Subject, name: str, verb: str) -> Response:
    """What was done already is as good as done: the button was pressed twice."""
    context = context_of(request)
    visitor = await context.signed_in(request)
    form = await read_form(request, context, Back)
    if verb not in subject.verbs:
        raise NoSuchPage()
    context.limits.take("like", visitor.username)
    key = key_of(name, subject.spell, subject.unknown)
    with suppress(deals.AlreadyLiked, deals.NotLiked, deals.AlreadyWatched, deals.NotWatched):
        await context.store.run(subject.verbs[verb](key, visitor.username))
    page = subject.folder + quote(key, safe="")
    return see_other(local_path(form.typed.get("back"), default=page))


@interest.get(INTERESTS)
async def show_interests(request: Request, after: str | None = None) -> Response:
    """What somebody likes and watches; `after` is the brand that the last page ended with."""
    context = context_of(request)
    visitor = await context.signed_in(request)
    found = await cached_interests(context, visitor.username, after)
    return await context.form_page(
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


async def cached_interests(context: AppContext, username: str, after: str | None) -> Interests:
    """The first page is cached, which for many is the only one.

    Of the others there are as many as anybody makes up places to go on from.
    """
    if after is not None:
        return await context.store.run(interests_of(username, after))
    return await context.remember(
        ("interests", username),
        lambda found: (interests_tag(username), BRANDS),
        lambda: interests_of(username, after),
    )


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
