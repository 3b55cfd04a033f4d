"""Categories: eight, named in the configuration, made once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from bigtime.model import Page, Position, create, get, get_many, pattern, together
from bigtime.systems.deals.day_lists import category_days, latest
from bigtime.systems.deals.design import Category, Deal
from bigtime.systems.deals.errors import CategoryExists, UnknownCategory
from bigtime.systems.deals.values import CategoryName, DealId
from bigtime.wire import Steps

CATEGORIES: Final = (
    "Electronics",
    "Computers",
    "Home",
    "Kitchen",
    "Fashion",
    "Sports",
    "Toys",
    "Beauty",
)


@pattern("Create Category", index="N/A", takes="N/A")
def create_categories(*, names: Sequence[str] = CATEGORIES) -> Steps[list[Category]]:
    """The fixed eight, at set-up.

    Those that are there stay as they are; what is made now is told.
    """
    made: list[Category] = []
    for category in [Category(category=name, name=name) for name in names]:
        try:
            made.append((yield from create(category, unless_exists=CategoryExists)))
        except CategoryExists:
            continue
    return made


@pattern("Fetch all Categories", index="Main table")
def fetch_all_categories(*, names: Sequence[str] = CATEGORIES) -> Steps[list[Category]]:
    """The fixed eight in one request."""
    found = yield from get_many([Category.key(name) for name in names])
    return [category for category in found if category is not None]


@pattern("Fetch Category & Latest Deals", index="Main table, GSI3")
def fetch_category(
    category_name: CategoryName,
    last_deal_id_seen: DealId | None = None,
    *,
    after: Position | None = None,
) -> Steps[tuple[Category, Page[Deal]]]:
    """Category item; day partitions for up to 25 deals."""
    return (
        yield from together(
            get(Category.key(category_name), missing=UnknownCategory),
            latest(category_days(category_name), last_deal_id_seen, after=after),
        )
    )
