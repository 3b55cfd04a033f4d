"""Brands: made by editors, listed on one page."""

from __future__ import annotations

from typing import Any

from bigtime.model import Add, Write, create, get, pattern, transact
from bigtime.systems.deals.design import BRANDS, Brand
from bigtime.systems.deals.errors import BrandExists, TooManyBrands, UnknownBrand
from bigtime.systems.deals.values import BrandName, GivenBrand, GivenLink, brand_key, given_fields
from bigtime.wire import Steps, TransactionCanceledException


@pattern("Create Brand", index="N/A", takes="N/A")
def create_brand(name: GivenBrand, *, logo: GivenLink | None = None) -> Steps[Brand]:
    """Editor; Brand and BRANDS set in one transaction."""
    return (yield from make_brand(name, logo=logo))


def make_brand(name: str, *also: Write[Any], logo: str | None = None) -> Steps[Brand]:
    """Makes a brand, and in the same transaction whatever else is to be written."""
    try:
        brand, *_ = yield from transact(
            create(
                Brand(brand=name, name=name, **given_fields(logo=logo)), unless_exists=BrandExists
            ),
            BRANDS.update(brands=Add({name})),
            *also,
        )
    except TransactionCanceledException as error:
        if error.reasons[1]["Code"] == "ValidationError":
            raise TooManyBrands() from error
        raise
    made: Brand = brand
    return made


@pattern("Fetch all Brands", index="Main table")
def fetch_all_brands() -> Steps[list[str]]:
    """BRANDS item.

    The names as people see them, in the order of their keys.
    """
    stored = yield from BRANDS.get()
    return sorted(stored.brands, key=brand_key)


@pattern("Fetch Brand", index="Main table")
def fetch_brand(brand_name: BrandName) -> Steps[Brand]:
    """GetItem."""
    return (yield from get(Brand.key(brand_name), missing=UnknownBrand))
