"""Brands, which editors create, and the eight categories, which set-up creates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from bigtime import model as bt
from bigtime.systems.deals import errors, values
from bigtime.systems.deals.deals import category_days, latest
from bigtime.systems.deals.design import BRANDS, Brand, Brands, Category, Deal


@bt.pattern("Create Brand", index="N/A", takes="N/A")
def create_brand(
    name: values.GivenBrand, *, logo: values.GivenLink | None = None
) -> bt.Steps[Brand]:
    """Editor; Brand and BRANDS set in one transaction."""
    return (yield from make_brand(name, logo=logo))


def make_brand(name: str, *also: bt.Write[Any], logo: str | None = None) -> bt.Steps[Brand]:
    """Creates a brand, in one transaction with other writes."""
    try:
        brand: Brand
        brand, *_ = yield from bt.transact(
            bt.create(
                Brand(brand=name, name=name, **values.given_fields(logo=logo)),
                unless_exists=errors.BrandExists,
            ),
            BRANDS.update(brands=bt.Add({name})),
            *also,
        )
    except bt.ItemTooLarge as error:
        if error.entity is Brands:
            raise errors.TooManyBrands() from error
        raise
    return brand


@bt.pattern("Fetch all Brands", index="Main table")
def fetch_all_brands() -> bt.Steps[list[str]]:
    """BRANDS item.

    The names as people see them, in the order of their keys.
    """
    stored = yield from BRANDS.get()
    return sorted(stored.brands, key=values.brand_key)


@bt.pattern("Fetch Brand", index="Main table")
def fetch_brand(brand_name: values.BrandName) -> bt.Steps[Brand]:
    """GetItem."""
    return (yield from bt.get(Brand.key(brand_name), missing=errors.UnknownBrand))


# Categories

CATEGORIES: Final = (
    "Electronics", "Computers", "Home", "Kitchen", "Fashion", "Sports", "Toys", "Beauty",
)  # fmt: skip


@bt.pattern("Create Category", index="N/A", takes="N/A")
def create_categories(*, names: Sequence[str] = CATEGORIES) -> bt.Steps[list[Category]]:
    """The fixed eight, at set-up.

    Those that exist stay as they are; returns those that are new.
    """
    created: list[Category] = []
    for category in [Category(category=name, name=name) for name in names]:
        try:
            created.append((yield from bt.create(category, unless_exists=errors.CategoryExists)))
        except errors.CategoryExists:
            continue
    return created


@bt.pattern("Fetch all Categories", index="Main table")
def fetch_all_categories(*, names: Sequence[str] = CATEGORIES) -> bt.Steps[list[Category]]:
    """The fixed eight in one request."""
    found = yield from bt.get_many([Category.key(name) for name in names])
    return [category for category in found if category is not None]


@bt.pattern("Fetch Category & Latest Deals", index="Main table, GSI3")
def fetch_category(
    category_name: values.CategoryName,
    last_deal_id_seen: values.DealId | None = None,
    *,
    after: bt.Position | None = None,
) -> bt.Steps[tuple[Category, bt.Page[Deal]]]:
    """Category item; day partitions for up to 25 deals."""
    return (
        yield from bt.together(
            bt.get(Category.key(category_name), missing=errors.UnknownCategory),
            latest(category_days(category_name), last_deal_id_seen, after=after),
        )
    )
