"""The latest deals: of all, of a brand, of a category.

Deals lie in partitions of one UTC day. A page begins with the newest of today, or after the last
deal that its reader has seen: that deal's id tells its day. After five empty days in a row a page
ends early, with a position to go on from; a page without a position is the last. Nothing is older
than ids are, so every walk ends.

Whoever knows the `first` deal of the list, the oldest one, comes to its end with that: no page goes
on from there, and none is empty before it, however many days lie between two deals.
"""

from __future__ import annotations

from datetime import date
from functools import lru_cache
from typing import Final

from bigtime.model import Buckets, Kept, Page, Position, buckets, newest_first
from bigtime.systems.deals.design import PAGE, Deal
from bigtime.systems.deals.values import BrandName, CategoryName, DealId, deal_id_of
from bigtime.wire import Steps

PATIENCE: Final = 5
FIRST_DAY: Final = date(2014, 5, 13)
"""The first day that a KSUID can tell."""


@lru_cache(maxsize=1024)
def brand_days(brand_name: BrandName) -> Buckets[Deal]:
    """Remembered, for what is checked of a name and made of it is the same for every page."""
    return buckets(Deal, "GSI2", brand=brand_name)


@lru_cache(maxsize=64)
def category_days(category_name: CategoryName) -> Buckets[Deal]:
    return buckets(Deal, "GSI3", category=category_name)


def latest(
    days: Buckets[Deal],
    last_seen: DealId | None,
    *,
    after: Position | None,
    patience: int = PATIENCE,
    most_days: int | None = None,
    kept: Kept[Deal] | None = None,
    first: DealId | None = None,
) -> Steps[Page[Deal]]:
    """A page of deals, newest first; `after` goes on from a page, `last_seen` from a deal.

    Whoever shows many pages may have days `kept` that were read before.
    """
    if after is None and last_seen is not None:
        after = place_after(days, last_seen)
    while True:
        page = yield from newest_first(
            days,
            limit=PAGE,
            after=after,
            since=FIRST_DAY if first is None else first.at.date(),
            patience=patience,
            most=most_days,
            kept=kept,
        )
        after = page.position
        if first is None or page.items or after is None:
            return up_to(first, page)


def up_to(first: DealId | None, page: Page[Deal]) -> Page[Deal]:
    """A page, which is the last one if it has the first deal of its list."""
    is_last = first is not None and page.items and page.items[-1].deal_id <= first
    return Page(page.items) if is_last else page


def place_after(days: Buckets[Deal], last_seen: DealId) -> Position:
    """Whether the deal is still there does not matter."""
    seen = deal_id_of(last_seen)
    return days.after(deal_id=seen, created_at=seen.at)
