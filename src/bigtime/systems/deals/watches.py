"""Watches: who wants to hear of a brand's deals, or of a category's."""

from __future__ import annotations

from bigtime.model import create, delete, pattern
from bigtime.systems.deals.design import BrandWatch, CategoryWatch
from bigtime.systems.deals.errors import AlreadyWatched, NotWatched
from bigtime.systems.deals.values import BrandName, CategoryName, Username
from bigtime.wire import Steps


@pattern("Watch Brand for User", index="Main table")
def watch_brand(brand_name: BrandName, username: Username) -> Steps[None]:
    """Transaction with WatchCount."""
    watch = BrandWatch(brand=brand_name, username=username)
    yield from create(watch, unless_exists=AlreadyWatched)


@pattern("Unwatch Brand", index="Main table")
def unwatch_brand(brand_name: BrandName, username: Username) -> Steps[None]:
    """Transaction with WatchCount."""
    yield from delete(BrandWatch.key(brand_name, username), if_exists=NotWatched)


@pattern("Watch Category for User", index="Main table")
def watch_category(category_name: CategoryName, username: Username) -> Steps[None]:
    """Transaction with WatchCount."""
    watch = CategoryWatch(category=category_name, username=username)
    yield from create(watch, unless_exists=AlreadyWatched)


@pattern("Unwatch Category", index="Main table")
def unwatch_category(category_name: CategoryName, username: Username) -> Steps[None]:
    """Transaction with WatchCount."""
    yield from delete(CategoryWatch.key(category_name, username), if_exists=NotWatched)
