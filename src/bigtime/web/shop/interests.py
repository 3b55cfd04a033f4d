"""Brands and categories: their lists, their pages, and the buttons to like and watch them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeAlias
from urllib.parse import quote

from fastapi import Response

from bigtime import model as bt
from bigtime import site
from bigtime.systems import deals
from bigtime.web import http
from bigtime.web.pages import AppContext, AppRequest, Back, Page, page_router
from bigtime.wire import Steps

InterestVerb: TypeAlias = Callable[[str, str], Steps[None]]
Latest: TypeAlias = Callable[[str, bt.Position | None], Steps[bt.Page[deals.Deal]]]

INTERESTS = "/me/interests"
BRANDS_ASKED = 250
"""Brands per page of the list. No key leads to what a user likes, so each brand is
looked up: all in one batch, fifty per request."""
NO_LETTER = "0-9"
"""The heading of brands whose names begin with no letter."""

router = page_router()


@dataclass(frozen=True, slots=True)
class Subject:
    """What can be liked and watched, brands or categories: pages, keys, steps and cache tags."""

    kind: str
    folder: str
    spell: Callable[[str], str]
    unknown: type[bt.DomainError]
    fetch: Callable[[str], Steps[Any]]
    latest: Latest
    tag: Callable[[str], str]
    deals_tag: Callable[[str], str]
    verbs: Mapping[str, InterestVerb]

    def key(self, name: str) -> str:
        return http.key_of(name, self.spell, self.unknown)


def fetch_category(key: str) -> Steps[deals.Category]:
    return (yield from bt.get(deals.Category.key(key), missing=deals.UnknownCategory))


BRAND = Subject(
    kind="brand",
    folder="/brands/",
    spell=deals.brand_key,
    unknown=deals.UnknownBrand,
    fetch=deals.fetch_brand,
    latest=lambda key, after: deals.fetch_brand_deals(key, after=after),
    tag=site.brand_tag,
    deals_tag=site.brand_deals_tag,
    verbs={
        "like": deals.like_brand,
        "unlike": deals.unlike_brand,
        "watch": site.watch_brand,
        "unwatch": site.unwatch_brand,
    },
)
CATEGORY = Subject(
    kind="category",
    folder="/categories/",
    spell=deals.category_key,
    unknown=deals.UnknownCategory,
    fetch=fetch_category,
    latest=lambda key, after: deals.latest(deals.category_days(key), after=after),
    tag=site.category_tag,
    deals_tag=site.category_deals_tag,
    verbs={
        "like": deals.like_category,
        "unlike": deals.unlike_category,
        "watch": site.watch_category,
        "unwatch": site.unwatch_category,
    },
)


# Pages


@router.get("/categories")
async def list_categories(request: AppRequest) -> Response:
    """All categories, and what is featured in each."""

    async def make() -> tuple[Page, Collection[str]]:
        found = await request.run(deals.fetch_all_categories())
        page = request.context.templates.page("shopper/categories.html", categories=found)
        return page, [site.category_tag(deals.category_key(name)) for name in deals.CATEGORIES]

    return await request.cached_page(make)


@router.get("/brands")
async def list_brands(request: AppRequest) -> Response:
    """All brands, under their first letters."""

    async def make() -> tuple[Page, Collection[str]]:
        names = await request.run(deals.fetch_all_brands())
        letters = by_letter(names)
        page = request.context.templates.page(
            "shopper/brands.html", letters=letters, count=len(names)
        )
        return page, (site.BRANDS,)

    return await request.cached_page(make)


def by_letter(names: Iterable[str]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Names with their keys by first letter; those without a letter come first."""
    letters: dict[str, list[tuple[str, str]]] = {NO_LETTER: []}
    for name in names:
        key = deals.brand_key(name)
        letters.setdefault(key[0] if key[0].isalpha() else NO_LETTER, []).append((name, key))
    return [(letter, listed) for letter, listed in letters.items() if listed]


@router.get("/categories/{name:path}")
async def show_category(request: AppRequest, name: str, after: str | None = None) -> Response:
    """Featured and latest deals of a category; `after` is the cursor of a further page."""
    return await show_subject(request, CATEGORY, name, after)


@router.get("/brands/{name:path}")
async def show_brand(request: AppRequest, name: str, after: str | None = None) -> Response:
    """The latest deals of a brand; `after` is the cursor of a further page."""
    return await show_subject(request, BRAND, name, after)


async def show_subject(
    request: AppRequest, subject: Subject, name: str, after: str | None
) -> Response:
    context, key = request.context, subject.key(name)
    if key != name:
        return http.redirect_to_canonical(subject.folder, key)

    async def make() -> tuple[Page, Collection[str]]:
        found = await request.run(subject.fetch(key))
        latest = await context.deals.page(
            subject.deals_tag(key), after, lambda: subject.latest(key, request.read_cursor(after))
        )
        if after is None and isinstance(found, deals.Category):
            latest = await without_featured(
                context,
                latest,
                found.featured_deals,
                subject.deals_tag(key),
                deals.category_days(key),
            )
        page = context.templates.page(
            f"shopper/{subject.kind}.html",
            **{subject.kind: found},
            latest=latest.items,
            after=request.write_cursor(latest.position),
            is_first=after is None,
        )
        return page, (subject.tag(key), subject.deals_tag(key), *site.deal_tags(latest))

    try:
        return await request.cached_page(make, after=after)
    except subject.unknown:
        if page := http.page_of_button(subject.folder, key):
            return http.see_other(page)
        raise


async def without_featured(
    context: AppContext,
    latest: bt.Page[deals.Deal],
    featured: Iterable[deals.FeaturedDeal],
    tag: str,
    days: bt.Buckets[deals.Deal],
) -> bt.Page[deals.Deal]:
    """The first page of a list without the deals featured above it, filled up with the next ones.

    The list is the one with that tag, in those days. Its next page begins after the last deal that
    is shown here.
    """
    hidden = {deal.deal_id for deal in featured}
    shown = [deal for deal in latest if deal.deal_id not in hidden]
    if len(shown) == len(latest.items) or latest.position is None:
        return bt.Page(shown, latest.position)
    position = latest.position
    following = await context.deals.page(
        tag, latest.items[-1].deal_id, lambda: deals.latest(days, after=position)
    )
    shown += [deal for deal in following if deal.deal_id not in hidden]
    if len(shown) <= deals.PAGE:
        return bt.Page(shown, following.position)
    shown = shown[: deals.PAGE]
    return bt.Page(shown, deals.place_after(days, shown[-1].deal_id))


# Likes and watches


@router.post("/brands/{name:path}/{verb}")
async def change_interest_in_brand(request: AppRequest, name: str, verb: str) -> Response:
    """Likes or watches a brand, or no longer."""
    return await change_interest(request, BRAND, name, verb)


@router.post("/categories/{name:path}/{verb}")
async def change_interest_in_category(request: AppRequest, name: str, verb: str) -> Response:
    """Likes or watches a category, or no longer."""
    return await change_interest(request, CATEGORY, name, verb)


async def change_interest(request: AppRequest, subject: Subject, name: str, verb: str) -> Response:
    """A second press of the same button changes nothing, and is no error."""
    visitor, form = await request.read_visitor_form(Back)
    if verb not in subject.verbs:
        raise http.NoSuchPage()
    request.context.limits.take("like", visitor.username)
    key = subject.key(name)
    with suppress(deals.AlreadyLiked, deals.NotLiked, deals.AlreadyWatched, deals.NotWatched):
        await request.run(subject.verbs[verb](key, visitor.username))
    page = subject.folder + quote(key, safe="")
    return http.see_other(http.local_path(form.typed.get("back"), default=page))


@router.get(INTERESTS)
async def show_interests(request: AppRequest, after: str | None = None) -> Response:
    """What the visitor likes and watches; `after` is the last brand of the page before."""
    visitor = await request.signed_in()
    found = await cached_interests(request.context, visitor.username, after)
    return await request.form_page(
        "shopper/interests.html",
        brands=found.brands,
        categories=found.categories,
        after=found.after,
        is_first=after is None,
        back=INTERESTS if after is None else f"{INTERESTS}?{request.url.query}",
    )


@dataclass(frozen=True, slots=True)
class LikedSubject:
    """A brand or category that a user likes, or watches, or both."""

    name: str
    key: str
    interest: deals.Interest


@dataclass(frozen=True, slots=True)
class Interests:
    """What a user likes and watches, by name; `after` is the last brand, if more follow."""

    brands: list[LikedSubject]
    categories: list[LikedSubject]
    after: str | None


async def cached_interests(context: AppContext, username: str, after: str | None) -> Interests:
    """Only the first page is cached: `after` of another can be any text."""
    if after is not None:
        return await context.store.run(interests_of(username, after))
    return await context.remember(
        ("interests", username),
        (site.interests_tag(username), site.BRANDS),
        lambda: interests_of(username, after),
    )


def interests_of(username: str, after: str | None) -> Steps[Interests]:
    names = yield from deals.fetch_all_brands()
    begin = 0 if after is None else bisect_right(names, after, key=deals.brand_key)
    listed = names[begin : begin + BRANDS_ASKED]
    brands, categories = yield from deals.interests_in_both(
        listed, () if begin else tuple(deals.CATEGORIES), username
    )
    has_more = begin + BRANDS_ASKED < len(names)
    return Interests(
        [LikedSubject(name, deals.brand_key(name), interest) for name, interest in brands.items()],
        [
            LikedSubject(name, deals.category_key(name), interest)
            for name, interest in categories.items()
        ],
        deals.brand_key(listed[-1]) if has_more else None,
    )
