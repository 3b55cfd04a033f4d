"""Likes and watches: a user likes or watches a brand or category at most once, and it counts them.

No index lists what a user likes and watches. A page that shows it reads the like and the watch of
every brand by key, some hundreds of brands at a time: a BatchGetItem takes fifty brands.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from bigtime import model as bt
from bigtime.systems.deals import values
from bigtime.systems.deals.design import BrandLike, BrandWatch, CategoryLike, CategoryWatch
from bigtime.systems.deals.errors import AlreadyLiked, AlreadyWatched, NotLiked, NotWatched


@bt.pattern("Like Brand for User", index="Main table")
def like_brand(brand_name: values.BrandName, username: values.Username) -> bt.Steps[None]:
    """Transaction with LikeCount."""
    like = BrandLike(brand=brand_name, username=username)
    yield from bt.create(like, unless_exists=AlreadyLiked)


@bt.pattern("Unlike Brand", index="Main table")
def unlike_brand(brand_name: values.BrandName, username: values.Username) -> bt.Steps[None]:
    """Transaction with LikeCount."""
    yield from bt.delete(BrandLike.key(brand_name, username), if_exists=NotLiked)


@bt.pattern("Like Category for User", index="Main table")
def like_category(category_name: values.CategoryName, username: values.Username) -> bt.Steps[None]:
    """Transaction with LikeCount."""
    like = CategoryLike(category=category_name, username=username)
    yield from bt.create(like, unless_exists=AlreadyLiked)


@bt.pattern("Unlike Category", index="Main table")
def unlike_category(
    category_name: values.CategoryName, username: values.Username
) -> bt.Steps[None]:
    """Transaction with LikeCount."""
    yield from bt.delete(CategoryLike.key(category_name, username), if_exists=NotLiked)


@bt.pattern("Watch Brand for User", index="Main table")
def watch_brand(brand_name: values.BrandName, username: values.Username) -> bt.Steps[None]:
    """Transaction with WatchCount."""
    watch = BrandWatch(brand=brand_name, username=username)
    yield from bt.create(watch, unless_exists=AlreadyWatched)


@bt.pattern("Unwatch Brand", index="Main table")
def unwatch_brand(brand_name: values.BrandName, username: values.Username) -> bt.Steps[None]:
    """Transaction with WatchCount."""
    yield from bt.delete(BrandWatch.key(brand_name, username), if_exists=NotWatched)


@bt.pattern("Watch Category for User", index="Main table")
def watch_category(category_name: values.CategoryName, username: values.Username) -> bt.Steps[None]:
    """Transaction with WatchCount."""
    watch = CategoryWatch(category=category_name, username=username)
    yield from bt.create(watch, unless_exists=AlreadyWatched)


@bt.pattern("Unwatch Category", index="Main table")
def unwatch_category(
    category_name: values.CategoryName, username: values.Username
) -> bt.Steps[None]:
    """Transaction with WatchCount."""
    yield from bt.delete(CategoryWatch.key(category_name, username), if_exists=NotWatched)


Pair: TypeAlias = tuple[bt.Key[Any], bt.Key[Any]]
"""The keys of a like and of a watch."""


@dataclass(frozen=True, slots=True)
class Interest:
    """Whether a user likes a brand or category, and whether they watch it."""

    liked: bool
    watched: bool


@bt.pattern("Fetch User's Interest in Brand", index="Main table")
def fetch_brand_interest(
    brand_name: values.BrandName, username: values.Username
) -> bt.Steps[Interest]:
    """Like and watch in one request."""
    [interest] = yield from interests_at(brand_keys([brand_name], username))
    return interest


@bt.pattern("Fetch User's Interest in Category", index="Main table")
def fetch_category_interest(
    category_name: values.CategoryName, username: values.Username
) -> bt.Steps[Interest]:
    """Like and watch in one request."""
    [interest] = yield from interests_at(category_keys([category_name], username))
    return interest


@bt.pattern("Fetch User's Interest in several Brands", index="Main table")
def fetch_brand_interests(
    brand_names: list[values.BrandName], username: values.Username
) -> bt.Steps[dict[str, Interest]]:
    """Like and watch of fifty in one request; those by name that there is one of."""
    interests = yield from interests_at(brand_keys(brand_names, username))
    return interests_by_name(brand_names, interests)


@bt.pattern("Fetch User's Interest in several Categories", index="Main table")
def fetch_category_interests(
    category_names: list[values.CategoryName], username: values.Username
) -> bt.Steps[dict[str, Interest]]:
    """Like and watch of fifty in one request; those by name that there is one of."""
    interests = yield from interests_at(category_keys(category_names, username))
    return interests_by_name(category_names, interests)


def interests_in_both(
    brand_names: Sequence[str], category_names: Sequence[str], username: str
) -> bt.Steps[tuple[dict[str, Interest], dict[str, Interest]]]:
    """What a user likes and watches of some brands and of some categories, in one batch."""
    keys = brand_keys(brand_names, username) + category_keys(category_names, username)
    interests = yield from interests_at(keys)
    brands, categories = interests[: len(brand_names)], interests[len(brand_names) :]
    return interests_by_name(brand_names, brands), interests_by_name(category_names, categories)


def brand_keys(names: Iterable[str], username: str) -> list[Pair]:
    """The keys of the like and the watch of each brand; names are normalised once for both."""
    who = values.username_key(username)
    fields = [{"brand": values.brand_key(name), "username": who} for name in names]
    return [(bt.Key(BrandLike, key), bt.Key(BrandWatch, key)) for key in fields]


def category_keys(names: Iterable[str], username: str) -> list[Pair]:
    who = values.username_key(username)
    fields = [{"category": values.category_key(name), "username": who} for name in names]
    return [(bt.Key(CategoryLike, key), bt.Key(CategoryWatch, key)) for key in fields]


def interests_at(keys: list[Pair]) -> bt.Steps[list[Interest]]:
    """Strongly consistent: after a click on a button, the page shows its effect."""
    found = yield from bt.get_many([key for pair in keys for key in pair], consistent=True)
    exists = [item is not None for item in found]
    return list(map(Interest, exists[::2], exists[1::2]))


def interests_by_name(names: Sequence[str], interests: Sequence[Interest]) -> dict[str, Interest]:
    """The interests that are a like or a watch, by name."""
    named = zip(names, interests, strict=True)
    return {name: interest for name, interest in named if interest.liked or interest.watched}
