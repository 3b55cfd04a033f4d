"""The latest deals: of all, of a brand, of a category.

Deals lie in partitions of one UTC day. A page begins with the newest of today, or after the last
deal that its reader has seen: that deal's id tells its day. Only days that have deals are asked. A
page without a position is the last.
"""

from __future__ import annotations

from functools import lru_cache

from bigtime.model import Buckets, Page, Position, buckets, newest_first
from bigtime.systems.deals.design import PAGE, Deal
from bigtime.systems.deals.values import BrandName, CategoryName, DealId, deal_id_of
from bigtime.wire import Steps


@lru_cache(maxsize=1024)
def brand_days(brand_name: BrandName) -> Buckets[Deal]:
    """Remembered, for what is checked of a name and made of it is the same for every page."""
    return buckets(Deal, "GSI2", brand=brand_name)


@lru_cache(maxsize=64)
def category_days(category_name: CategoryName) -> Buckets[Deal]:
    return buckets(Deal, "GSI3", category=category_name)


def latest(
    days: Buckets[Deal], last_seen: DealId | None = None, *, after: Position | None = None
) -> Steps[Page[Deal]]:
    """A page of deals, newest first; `after` goes on from a page, `last_seen` from a deal."""
    if after is None and last_seen is not None:
        after = place_after(days, last_seen)
    return (yield from newest_first(days, limit=PAGE, after=after))


def place_after(days: Buckets[Deal], last_seen: DealId) -> Position:
    """Whether the deal is still there does not matter."""
    seen = deal_id_of(last_seen)
    return days.after(deal_id=seen, created_at=seen.at)
