"""What a user has to do with a brand or a category: what its page shows as pressed.

No key leads from a user to all that they like and watch. Whoever wants to know asks of the brands
that there are, some hundreds at a time: each request tells of fifty.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from bigtime.model import Key, get_many, pattern
from bigtime.systems.deals.design import BrandLike, BrandWatch, CategoryLike, CategoryWatch
from bigtime.systems.deals.values import (
    BrandName,
    CategoryName,
    Username,
    brand_key,
    category_key,
    username_key,
)
from bigtime.wire import Steps

Pair: TypeAlias = tuple[Key[Any], Key[Any]]
"""Of a like and of a watch."""


@dataclass(frozen=True, slots=True)
class Interest:
    """Whether somebody likes something, and whether they watch it."""

    liked: bool
    watched: bool


@pattern("Fetch User's Interest in Brand", index="Main table")
def fetch_brand_interest(brand_name: BrandName, username: Username) -> Steps[Interest]:
    """Like and watch in one request."""
    like, watch = BrandLike.key(brand_name, username), BrandWatch.key(brand_name, username)
    return (yield from interest_in(like, watch))


@pattern("Fetch User's Interest in Category", index="Main table")
def fetch_category_interest(category_name: CategoryName, username: Username) -> Steps[Interest]:
    """Like and watch in one request."""
    like = CategoryLike.key(category_name, username)
    return (yield from interest_in(like, CategoryWatch.key(category_name, username)))


@pattern("Fetch User's Interest in several Brands", index="Main table")
def fetch_brand_interests(
    brand_names: list[BrandName], username: Username
) -> Steps[dict[str, Interest]]:
    """Like and watch of fifty in one request; those by name that there is one of."""
    interests = yield from interests_at(brand_keys(brand_names, username))
    return interests_by_name(brand_names, interests)


@pattern("Fetch User's Interest in several Categories", index="Main table")
def fetch_category_interests(
    category_names: list[CategoryName], username: Username
) -> Steps[dict[str, Interest]]:
    """Like and watch of fifty in one request; those by name that there is one of."""
    interests = yield from interests_at(category_keys(category_names, username))
    return interests_by_name(category_names, interests)


def interests_in_both(
    brand_names: Sequence[str], category_names: Sequence[str], username: str
) -> Steps[tuple[dict[str, Interest], dict[str, Interest]]]:
    """What a user likes and watches of some brands and of some categories, in one batch."""
    keys = brand_keys(brand_names, username) + category_keys(category_names, username)
    interests = yield from interests_at(keys)
    brands, categories = interests[: len(brand_names)], interests[len(brand_names) :]
    return interests_by_name(brand_names, brands), interests_by_name(category_names, categories)


def brand_keys(names: Iterable[str], username: str) -> list[Pair]:
    """Each name is spelled once for both, and the user's once for all: they may be hundreds."""
    who = username_key(username)
    told = [{"brand": brand_key(name), "username": who} for name in names]
    return [(Key(BrandLike, one), Key(BrandWatch, one)) for one in told]


def category_keys(names: Iterable[str], username: str) -> list[Pair]:
    who = username_key(username)
    told = [{"category": category_key(name), "username": who} for name in names]
    return [(Key(CategoryLike, one), Key(CategoryWatch, one)) for one in told]


def interests_at(keys: list[Pair]) -> Steps[list[Interest]]:
    found = yield from get_many([key for pair in keys for key in pair], consistent=True)
    told = [one is not None for one in found]
    return list(map(Interest, told[::2], told[1::2]))


def interests_by_name(names: Sequence[str], interests: Sequence[Interest]) -> dict[str, Interest]:
    """Those that there are."""
    named = zip(names, interests, strict=True)
    return {name: one for name, one in named if one.liked or one.watched}


def interest_in(like: Key[Any], watch: Key[Any]) -> Steps[Interest]:
    """Consistent: who has just pressed a button sees it pressed."""
    liked, watched = yield from get_many((like, watch), consistent=True)
    return Interest(liked is not None, watched is not None)
