"""Watches of brands and categories, in both designs of the catalogue.

A watch is an item of `deals`, which sends its user a message of each new deal, and one of
`catalog`, which lists it among the user's watches and writes an activity. Both are written in one
transaction, so that neither is there without the other. A watch that the user has made in the
catalogue alone is replaced.
"""

from __future__ import annotations

from typing import Any

from bigtime import model as bt
from bigtime.site.catalog_projection import catalog_brand
from bigtime.site.design import transact_once
from bigtime.systems import catalog, deals
from bigtime.systems.deals import BrandName, BrandWatch, CategoryName, CategoryWatch, Username
from bigtime.wire import Steps


@bt.pattern("Watch Brand in both Designs", index="Main table")
def watch_brand(brand_name: BrandName, username: Username) -> Steps[None]:
    """One transaction: the watch of `deals` with its count, and that of `catalog`."""
    brand = yield from deals.fetch_brand(brand_name)
    at = yield from bt.now()
    yield from transact_once(
        bt.create(
            BrandWatch(brand=brand.brand, username=username), unless_exists=deals.AlreadyWatched
        ),
        bt.put(catalog.brand_watch(username, catalog_brand(brand, at), at=at)),
    )


@bt.pattern("Watch Category in both Designs", index="Main table")
def watch_category(category_name: CategoryName, username: Username) -> Steps[None]:
    """One transaction: the watch of `deals` with its count, and that of `catalog`."""
    key = deals.Category.key(category_name)
    category = yield from bt.get(key, missing=deals.UnknownCategory)
    watch = CategoryWatch(category=category.category, username=username)
    at = yield from bt.now()
    yield from transact_once(
        bt.create(watch, unless_exists=deals.AlreadyWatched),
        bt.put(catalog.category_watch(username, category.category, category.name, at=at)),
    )


@bt.pattern("Unwatch Brand in both Designs", index="Main table")
def unwatch_brand(brand_name: BrandName, username: Username) -> Steps[None]:
    """One transaction: both watches go, and the count goes down."""
    watch = BrandWatch(brand=brand_name, username=username)
    yield from unwatch(watch.own_key(), username, catalog.brand_key(watch.brand))


@bt.pattern("Unwatch Category in both Designs", index="Main table")
def unwatch_category(category_name: CategoryName, username: Username) -> Steps[None]:
    """One transaction: both watches go, and the count goes down."""
    watch = CategoryWatch(category=category_name, username=username)
    yield from unwatch(watch.own_key(), username, catalog.category_key(watch.category))


def unwatch(watch: bt.Key[Any], username: str, watch_key: str) -> Steps[None]:
    yield from transact_once(
        bt.delete(watch, if_exists=deals.NotWatched),
        bt.delete(catalog.UserWatch.key(username, watch_key)),
    )
