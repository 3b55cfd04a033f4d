"""Copies deals, brands and users of `deals` into `catalog` under the same ids; watches of both.

The two systems are two designs of one domain, and neither imports the other. This reaction copies a
deal, a brand (its id is its name, as spelled in keys) or a user from `deals` to `catalog`.

1. A stream record only says which item to read; the item is copied as it is now. So a stream that
   is read late or twice never brings an old state back, not even for a moment.
2. The catalogue has attributes of its own: whether an active deal is featured, when a user was last
   active. Copying leaves them as they are.
3. A deal that has expired, is unpublished or is deleted is expired in the catalogue; one that
   becomes active again is active there. The copy of a deleted brand or user is deleted. A user
   without an e-mail address is not copied: the catalogue requires one.

Watches are not copied: both systems' items are written in one transaction. A new deal sends a
watcher one message, from `deals`; the catalogue records an activity.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import datetime
from typing import Any, Final

from bigtime import model as bt
from bigtime.site.design import transact_once
from bigtime.systems import catalog, deals
from bigtime.wire import Steps


@bt.reaction(deals.BIG_TIME_DEALS, of=[deals.Deal, deals.Brand, deals.User])
def project_deals(change: bt.Change[Any]) -> Steps[None]:
    """Copies a changed deal, brand or user into the catalogue."""
    if change.of(deals.Deal):
        yield from project_deal(change)
    elif change.of(deals.Brand) and changes_copy(change, catalog_brand):
        yield from project_brand(change)
    elif change.of(deals.User):
        yield from project_user(change)


def changes_copy(change: bt.Change[Any], copy_of: Callable[[Any, datetime], Any]) -> bool:
    """Whether the copy would differ: every like changes a brand, but not its copy."""
    if change.before is None or change.after is None:
        return True
    return bool(copy_of(change.before, change.at) != copy_of(change.after, change.at))


# Deals


COPIED: Final = (
    *("title", "description", "price", "price_history"),
    *("brand_id", "brand_name", "category_id", "category_name"),
)


def project_deal(change: bt.Change[deals.Deal]) -> Steps[None]:
    deal = yield from bt.get(change.key, consistent=True)
    if deal is None:
        with suppress(catalog.UnknownDeal):
            yield from catalog.expire_deal(change.key.fields["deal_id"])
        return
    copy = catalog_deal(deal)
    try:
        yield from catalog.update_deal(
            copy.deal_id, **{each: getattr(copy, each) for each in COPIED}
        )
    except catalog.UnknownDeal:
        yield from catalog.create_deal(copy)
    else:
        if copy.status is catalog.DealStatus.EXPIRED or runs_again(change):
            yield from catalog.change_deal_status(copy.deal_id, copy.status)


def runs_again(change: bt.Change[deals.Deal]) -> bool:
    """Whether this change makes a deal active that was not."""
    before, after = change.before, change.after
    if before is None or after is None:
        return False
    return before.status is not deals.DealStatus.ACTIVE and after.status is deals.DealStatus.ACTIVE


def catalog_deal(deal: deals.Deal) -> catalog.Deal:
    """The copy of a deal; one that is not active is expired."""
    is_active = deal.status is deals.DealStatus.ACTIVE
    return catalog.Deal(
        deal_id=deal.deal_id,
        title=deal.title,
        description=deal.description or deal.title,
        price=deal.price,
        brand_id=deal.brand,
        brand_name=deal.brand_name,
        category_id=deal.category,
        category_name=deal.category_name,
        posted_at=deal.created_at,
        status=catalog.DealStatus.ACTIVE if is_active else catalog.DealStatus.EXPIRED,
        price_history=deal.price_history,
    )


# Brands


def project_brand(change: bt.Change[deals.Brand]) -> Steps[None]:
    brand = yield from bt.get(change.key, consistent=True)
    if brand is None:
        yield from bt.delete(catalog.Brand.key(change.key.fields["brand"]))
        return
    copy = catalog_brand(brand, change.at)
    steps = catalog.create_brand(copy)
    yield from write_copy(copy, ("brand_name", "description", "logo_url"), steps)


def catalog_brand(brand: deals.Brand, at: datetime) -> catalog.Brand:
    return catalog.Brand(
        brand_id=brand.brand,
        brand_name=brand.name,
        created_at=brand.created_at or at,
        description=brand.description,
        logo_url=brand.logo,
    )


# Users


def project_user(change: bt.Change[deals.User]) -> Steps[None]:
    user = yield from bt.get(change.key, consistent=True)
    if user is None or user.email is None:
        yield from bt.delete(catalog.User.key(change.key.fields["username"]))
        return
    copy = catalog_user(user, user.email, change.at)
    steps = catalog.create_user(copy)
    yield from write_copy(copy, ("username", "email", "display_name"), steps)


def catalog_user(user: deals.User, email: str, at: datetime) -> catalog.User:
    return catalog.User(
        user_id=user.username,
        username=user.username,
        email=email,
        display_name=user.name,
        created_at=user.created_at or at,
    )


def write_copy(copy: bt.Entity, names: Iterable[str], create: Steps[Any]) -> Steps[None]:
    """Updates those of these fields that are known, or creates the copy if there is none."""
    known = {name: getattr(copy, name) for name in names}
    fields: dict[str, Any] = {name: value for name, value in known.items() if value is not None}
    try:
        yield from bt.update(copy.own_key(), **fields, if_exists=bt.ItemMissing)
    except bt.ItemMissing:
        yield from create


# --- Watches: an item of each design, in one transaction -----------------------------------
# The watch of `deals` sends its user a message of each new deal; that of `catalog` is listed among
# the user's watches, and records an activity. Neither exists without the other. A watch that the
# user had created in the catalogue alone is replaced.


@bt.pattern("Watch Brand in both Designs", index="Main table")
def watch_brand(brand_name: deals.BrandName, username: deals.Username) -> Steps[None]:
    """One transaction: the watch of `deals` with its count, and that of `catalog`."""
    brand = yield from deals.fetch_brand(brand_name)
    at = yield from bt.now()
    yield from transact_once(
        bt.create(
            deals.BrandWatch(brand=brand.brand, username=username),
            unless_exists=deals.AlreadyWatched,
        ),
        bt.put(catalog.brand_watch(username, catalog_brand(brand, at), at=at)),
    )


@bt.pattern("Watch Category in both Designs", index="Main table")
def watch_category(category_name: deals.CategoryName, username: deals.Username) -> Steps[None]:
    """One transaction: the watch of `deals` with its count, and that of `catalog`."""
    key = deals.Category.key(category_name)
    category = yield from bt.get(key, missing=deals.UnknownCategory)
    watch = deals.CategoryWatch(category=category.category, username=username)
    at = yield from bt.now()
    yield from transact_once(
        bt.create(watch, unless_exists=deals.AlreadyWatched),
        bt.put(catalog.category_watch(username, category.category, category.name, at=at)),
    )


@bt.pattern("Unwatch Brand in both Designs", index="Main table")
def unwatch_brand(brand_name: deals.BrandName, username: deals.Username) -> Steps[None]:
    """One transaction: both watches go, and the count goes down."""
    watch = deals.BrandWatch(brand=brand_name, username=username)
    yield from unwatch(watch.own_key(), username, catalog.brand_key(watch.brand))


@bt.pattern("Unwatch Category in both Designs", index="Main table")
def unwatch_category(category_name: deals.CategoryName, username: deals.Username) -> Steps[None]:
    """One transaction: both watches go, and the count goes down."""
    watch = deals.CategoryWatch(category=category_name, username=username)
    yield from unwatch(watch.own_key(), username, catalog.category_key(watch.category))


def unwatch(watch: bt.Key[Any], username: str, watch_key: str) -> Steps[None]:
    yield from transact_once(
        bt.delete(watch, if_exists=deals.NotWatched),
        bt.delete(catalog.UserWatch.key(username, watch_key)),
    )
