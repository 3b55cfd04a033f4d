"""Watches: who wants to hear of which deals.

A watch's key says what is watched, so that nobody can watch it twice. One of a brand in a category
is in the indexes of both, and is meant only where both are: `matches` says so of any watch, also
of one whose key somebody else has chosen.
"""

from __future__ import annotations

from datetime import datetime

from bigtime.model import Page, Position, View, create, delete, get, now, pattern, query
from bigtime.systems.catalog.design import PAGE, Brand, Deal, UserWatch, WatchType
from bigtime.systems.catalog.errors import AlreadyWatching, NotWatching, UnknownBrand
from bigtime.systems.catalog.values import (
    BrandId,
    CategoryId,
    Moment,
    Name,
    UserId,
    WatchKey,
    an_id,
)
from bigtime.wire import Steps

BRAND = "BRAND#"
CATEGORY = "CATEGORY#"


class BrandWatcher(View, of=UserWatch, index="WatchesByBrand"):
    """What the index of a brand tells of a watch."""

    brand_id: BrandId
    user_id: UserId
    watch_key: WatchKey


class CategoryWatcher(View, of=UserWatch, index="WatchesByCategory"):
    """What the index of a category tells of a watch."""

    category_id: CategoryId
    user_id: UserId
    watch_key: WatchKey
    target_name: Name | None = None
    created_at: Moment


class WatchOfType(View, of=UserWatch, index="WatchesByType"):
    """What the index of a type tells of a watch."""

    watch_type: WatchType
    created_at: Moment
    user_id: UserId
    watch_key: WatchKey
    target_name: Name | None = None


# Keys


def brand_key(brand_id: str) -> str:
    return f"{BRAND}{an_id(brand_id)}"


def category_key(category_id: str) -> str:
    return f"{CATEGORY}{an_id(category_id)}"


def brand_in_category_key(brand_id: str, category_id: str) -> str:
    return f"{brand_key(brand_id)}#{category_key(category_id)}"


def matching_keys(deal: Deal) -> frozenset[str]:
    """The keys of the watches that a deal is meant for."""
    return frozenset(
        (
            brand_key(deal.brand_id),
            category_key(deal.category_id),
            brand_in_category_key(deal.brand_id, deal.category_id),
        )
    )


def is_telling(watch_key: str) -> bool:
    """Whether a key says what is watched."""
    return watch_key.startswith((BRAND, CATEGORY))


def matches(watch: UserWatch, deal: Deal) -> bool:
    """Whether a deal is what a watch is for: of its brand, of its category, or of both."""
    asked = [
        (watch.brand_id, deal.brand_id),
        (watch.category_id, deal.category_id),
    ]
    named = [(wanted, found) for wanted, found in asked if wanted is not None]
    return bool(named) and all(wanted == found for wanted, found in named)


# Watches


def brand_watch(user_id: str, brand: Brand, *, at: datetime) -> UserWatch:
    return UserWatch(
        user_id=user_id,
        watch_key=brand_key(brand.brand_id),
        watch_type=WatchType.BRAND,
        created_at=at,
        target_id=brand.brand_id,
        target_name=brand.brand_name,
        brand_id=brand.brand_id,
    )


def category_watch(
    user_id: str, category_id: str, category_name: str | None, *, at: datetime
) -> UserWatch:
    return UserWatch(
        user_id=user_id,
        watch_key=category_key(category_id),
        watch_type=WatchType.CATEGORY,
        created_at=at,
        target_id=category_id,
        target_name=category_name,
        category_id=category_id,
    )


def brand_in_category_watch(
    user_id: str, brand: Brand, category_id: str, *, at: datetime
) -> UserWatch:
    return UserWatch(
        user_id=user_id,
        watch_key=brand_in_category_key(brand.brand_id, category_id),
        watch_type=WatchType.BRAND_CATEGORY,
        created_at=at,
        target_id=brand.brand_id,
        target_name=brand.brand_name,
        brand_id=brand.brand_id,
        category_id=category_id,
    )


# Patterns


@pattern("Pattern #10 get_user_watches", index="Main table")
def get_user_watches(
    user_id: UserId,
    *,
    limit: int = PAGE,
    after: Position | None = None,
    consistent: bool = False,
) -> Steps[Page[UserWatch]]:
    """Get all watches for a user."""
    theirs = UserWatch.within("main", user_id=user_id)
    return (yield from query(theirs, limit=limit, after=after, consistent=consistent))


@pattern("Pattern #11 get_brand_watchers", index="WatchesByBrand")
def get_brand_watchers(
    brand_id: BrandId, *, limit: int = PAGE, after: Position | None = None
) -> Steps[Page[BrandWatcher]]:
    """Get all users watching a specific brand.

    By user; who watches the brand in two categories is there twice.
    """
    watchers = BrandWatcher.within(brand_id=brand_id)
    return (yield from query(watchers, limit=limit, after=after))


@pattern("Pattern #12 get_category_watchers", index="WatchesByCategory")
def get_category_watchers(
    category_id: CategoryId, *, limit: int = PAGE, after: Position | None = None
) -> Steps[Page[CategoryWatcher]]:
    """Get all users watching a specific category (partition key only)."""
    watchers = CategoryWatcher.within(category_id=category_id)
    return (yield from query(watchers, limit=limit, after=after))


@pattern("Pattern #18 get_watches_by_type", index="WatchesByType")
def get_watches_by_type(
    watch_type: WatchType,
    *,
    ascending: bool = False,
    limit: int = PAGE,
    after: Position | None = None,
) -> Steps[Page[WatchOfType]]:
    """Get watches by target type."""
    alike = WatchOfType.within(watch_type=watch_type)
    return (yield from query(alike, newest_first=not ascending, limit=limit, after=after))


@pattern("Watch brand", index="Main table")
def watch_brand(user_id: UserId, brand_id: BrandId) -> Steps[UserWatch]:
    """Hear of all deals of a brand."""
    brand = yield from get(Brand.key(brand_id), missing=UnknownBrand, consistent=True)
    watch = brand_watch(user_id, brand, at=(yield from now()))
    return (yield from create(watch, unless_exists=AlreadyWatching))


@pattern("Watch category", index="Main table")
def watch_category(
    user_id: UserId, category_id: CategoryId, *, category_name: str | None = None
) -> Steps[UserWatch]:
    """Hear of all deals of a category."""
    watch = category_watch(user_id, category_id, category_name, at=(yield from now()))
    return (yield from create(watch, unless_exists=AlreadyWatching))


@pattern("Watch brand in category", index="Main table")
def watch_brand_in_category(
    user_id: UserId, brand_id: BrandId, category_id: CategoryId
) -> Steps[UserWatch]:
    """Hear of a brand's deals in one category."""
    brand = yield from get(Brand.key(brand_id), missing=UnknownBrand, consistent=True)
    watch = brand_in_category_watch(user_id, brand, category_id, at=(yield from now()))
    return (yield from create(watch, unless_exists=AlreadyWatching))


@pattern("Unwatch", index="Main table")
def unwatch(user_id: UserId, watch_key: WatchKey) -> Steps[None]:
    """Hear no more of what a watch is for; its key is among the user's watches."""
    yield from delete(UserWatch.key(user_id, watch_key), if_exists=NotWatching)
