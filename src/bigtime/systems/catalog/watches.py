"""Watches: which users want to be notified of which deals; and their notifications.

A watch's key says what is watched, so that nobody can watch it twice. A watch of a brand in a
category is in the indexes of both, but only matches deals of both: `matches` decides that for any
watch, including one whose key another program has chosen.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from bigtime import model as bt
from bigtime.systems.catalog import design, values
from bigtime.systems.catalog.design import Brand, Deal, UserActivity, UserWatch, WatchType
from bigtime.systems.catalog.errors import AlreadyWatching, NotWatching, UnknownBrand
from bigtime.systems.catalog.users import DEAL_NOTIFICATION

BRAND = "BRAND#"
CATEGORY = "CATEGORY#"


class BrandWatcher(bt.View, of=UserWatch, index="WatchesByBrand"):
    """What WatchesByBrand holds of a watch."""

    brand_id: values.BrandId
    user_id: values.UserId
    watch_key: values.WatchKey


class CategoryWatcher(bt.View, of=UserWatch, index="WatchesByCategory"):
    """What WatchesByCategory holds of a watch."""

    category_id: values.CategoryId
    user_id: values.UserId
    watch_key: values.WatchKey
    target_name: values.Name | None = None
    created_at: values.Moment


class WatchOfType(bt.View, of=UserWatch, index="WatchesByType"):
    """What WatchesByType holds of a watch."""

    watch_type: WatchType
    created_at: values.Moment
    user_id: values.UserId
    watch_key: values.WatchKey
    target_name: values.Name | None = None


# Keys


def brand_key(brand_id: str) -> str:
    return f"{BRAND}{values.an_id(brand_id)}"


def category_key(category_id: str) -> str:
    return f"{CATEGORY}{values.an_id(category_id)}"


def brand_in_category_key(brand_id: str, category_id: str) -> str:
    return f"{brand_key(brand_id)}#{category_key(category_id)}"


def matching_keys(deal: Deal) -> frozenset[str]:
    """The keys of the watches that match a deal."""
    return frozenset(
        (
            brand_key(deal.brand_id),
            category_key(deal.category_id),
            brand_in_category_key(deal.brand_id, deal.category_id),
        )
    )


def is_our_key(watch_key: str) -> bool:
    """Whether a key says what is watched, as those written here do."""
    return watch_key.startswith((BRAND, CATEGORY))


def matches(watch: UserWatch, deal: Deal) -> bool:
    """Whether a watch matches a deal: by its brand, its category, or both."""
    pairs = ((watch.brand_id, deal.brand_id), (watch.category_id, deal.category_id))
    named = [(wanted, found) for wanted, found in pairs if wanted is not None]
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


@bt.pattern("Pattern #10 get_user_watches", index="Main table")
def get_user_watches(
    user_id: values.UserId,
    *,
    limit: int = design.PAGE,
    after: bt.Position | None = None,
    consistent: bool = False,
) -> bt.Steps[bt.Page[UserWatch]]:
    """Get all watches for a user."""
    theirs = UserWatch.within("main", user_id=user_id)
    return (yield from bt.query(theirs, limit=limit, after=after, consistent=consistent))


@bt.pattern("Pattern #11 get_brand_watchers", index="WatchesByBrand")
def get_brand_watchers(
    brand_id: values.BrandId, *, limit: int = design.PAGE, after: bt.Position | None = None
) -> bt.Steps[bt.Page[BrandWatcher]]:
    """Get all users watching a specific brand.

    By user; a user who watches the brand in two categories is there twice.
    """
    watchers = BrandWatcher.within(brand_id=brand_id)
    return (yield from bt.query(watchers, limit=limit, after=after))


@bt.pattern("Pattern #12 get_category_watchers", index="WatchesByCategory")
def get_category_watchers(
    category_id: values.CategoryId, *, limit: int = design.PAGE, after: bt.Position | None = None
) -> bt.Steps[bt.Page[CategoryWatcher]]:
    """Get all users watching a specific category (partition key only)."""
    watchers = CategoryWatcher.within(category_id=category_id)
    return (yield from bt.query(watchers, limit=limit, after=after))


@bt.pattern("Pattern #18 get_watches_by_type", index="WatchesByType")
def get_watches_by_type(
    watch_type: WatchType,
    *,
    ascending: bool = False,
    limit: int = design.PAGE,
    after: bt.Position | None = None,
) -> bt.Steps[bt.Page[WatchOfType]]:
    """Get watches by target type."""
    alike = WatchOfType.within(watch_type=watch_type)
    return (yield from bt.query(alike, newest_first=not ascending, limit=limit, after=after))


@bt.pattern("Watch brand", index="Main table")
def watch_brand(user_id: values.UserId, brand_id: values.BrandId) -> bt.Steps[UserWatch]:
    """Hear of all deals of a brand."""
    brand = yield from bt.get(Brand.key(brand_id), missing=UnknownBrand, consistent=True)
    watch = brand_watch(user_id, brand, at=(yield from bt.now()))
    return (yield from bt.create(watch, unless_exists=AlreadyWatching))


@bt.pattern("Watch category", index="Main table")
def watch_category(
    user_id: values.UserId, category_id: values.CategoryId, *, category_name: str | None = None
) -> bt.Steps[UserWatch]:
    """Hear of all deals of a category."""
    watch = category_watch(user_id, category_id, category_name, at=(yield from bt.now()))
    return (yield from bt.create(watch, unless_exists=AlreadyWatching))


@bt.pattern("Watch brand in category", index="Main table")
def watch_brand_in_category(
    user_id: values.UserId, brand_id: values.BrandId, category_id: values.CategoryId
) -> bt.Steps[UserWatch]:
    """Hear of a brand's deals in one category."""
    brand = yield from bt.get(Brand.key(brand_id), missing=UnknownBrand, consistent=True)
    watch = brand_in_category_watch(user_id, brand, category_id, at=(yield from bt.now()))
    return (yield from bt.create(watch, unless_exists=AlreadyWatching))


@bt.pattern("Unwatch", index="Main table")
def unwatch(user_id: values.UserId, watch_key: values.WatchKey) -> bt.Steps[None]:
    """Hear no more of what a watch is for; its key is among the user's watches."""
    yield from bt.delete(UserWatch.key(user_id, watch_key), if_exists=NotWatching)


# Notifications: when a deal appears, each user whose watch matches it is notified, once
#
# The schema has no table of notifications: they are activities, of type `deal_notification`. A
# notification's time is the deal's, and its id is derived from the deal's id; so a user has one key
# for a deal, however often the stream delivers it, and whether the brand is watched, the category,
# or both.
#
# 1. A deal appears when it is put already listed, or when it becomes listed. One that is put more
#    than an hour after it was posted is history: imported, restored, or generated for a
#    demonstration. It is not announced.
# 2. The watchers of the brand and then of the category are read a page at a time, so memory does
#    not grow with their number. The key of a watch written here says what it is for; a watch under
#    any other key is read as a whole.
# 3. Of a page, only users without the notification get one. So a page that was partly handled can
#    be handled again, and a notification that exists stays as it is.
#
# A watch that is created at the moment a deal appears may miss it: indexes follow their table with
# a delay.

USERS_AT_ONCE = 100
"""As many as one request can look up."""
NEWS = timedelta(hours=1)


@bt.reaction(design.DEALS)
def notify_watchers(change: bt.Change[bt.Entity]) -> bt.Steps[None]:
    """Tells everyone who watches the brand of a new deal, its category, or both, once."""
    deal = deal_to_announce(change)
    if deal is not None:
        yield from notify_each(BrandWatcher.within(brand_id=deal.brand_id), deal)
        yield from notify_each(CategoryWatcher.within(category_id=deal.category_id), deal)


def deal_to_announce(change: bt.Change[bt.Entity]) -> Deal | None:
    """The deal, if it can be browsed now and could not be before."""
    deal = change.of(Deal)
    if deal is None or deal.after is None or not deal.after.is_listed:
        return None
    if deal.before is None:
        return deal.after if change.at - deal.after.posted_at <= NEWS else None
    return None if deal.before.is_listed else deal.after


def notify_each(
    watchers: bt.KeyRange[BrandWatcher] | bt.KeyRange[CategoryWatcher], deal: Deal
) -> bt.Steps[None]:
    position: bt.Position | None = None
    while True:
        page = yield from bt.query(watchers, limit=USERS_AT_ONCE, after=position)
        users = yield from users_meant(page.items, deal)
        yield from notify(users, deal)
        position = page.position
        if position is None:
            return


def users_meant(
    watchers: Iterable[BrandWatcher | CategoryWatcher], deal: Deal
) -> bt.Steps[list[str]]:
    """The users whose watches match the deal, each once."""
    meant = matching_keys(deal)
    direct = [watcher.user_id for watcher in watchers if watcher.watch_key in meant]
    unclear = [
        UserWatch.key(watcher.user_id, watcher.watch_key)
        for watcher in watchers
        if not is_our_key(watcher.watch_key)
    ]
    watches = yield from bt.get_many(unclear)
    found = [watch.user_id for watch in watches if watch is not None and matches(watch, deal)]
    return list(dict.fromkeys([*direct, *found]))


def notify(users: Iterable[str], deal: Deal) -> bt.Steps[None]:
    """Writes the notifications that do not exist yet."""
    notifications = [notification(user_id, deal) for user_id in users]
    keys = (activity.own_key() for activity in notifications)
    known = yield from bt.get_many(keys, consistent=True)
    pairs = zip(notifications, known, strict=True)
    yield from bt.put_many(activity for activity, stored in pairs if stored is None)


def notification(user_id: str, deal: Deal) -> UserActivity:
    return UserActivity(
        user_id=user_id,
        timestamp=deal.posted_at,
        activity_id=f"notification-{deal.deal_id}",
        activity_type=DEAL_NOTIFICATION,
        details={
            "deal_id": deal.deal_id,
            "title": deal.title,
            "brand_id": deal.brand_id,
            "category_id": deal.category_id,
        },
    )
