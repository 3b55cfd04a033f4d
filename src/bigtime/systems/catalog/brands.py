"""Brands, by id."""

from __future__ import annotations

from bigtime.model import create, get, pattern, put, update
from bigtime.systems.catalog.design import Brand
from bigtime.systems.catalog.errors import BrandExists, UnknownBrand
from bigtime.systems.catalog.values import BrandId, given_fields
from bigtime.wire import Steps


@pattern("Pattern #8 get_brand_by_id", index="Main table")
def get_brand_by_id(brand_id: BrandId, *, consistent: bool = False) -> Steps[Brand]:
    """Get brand details by brand_id."""
    return (yield from get(Brand.key(brand_id), missing=UnknownBrand, consistent=consistent))


@pattern("Pattern #9 create_brand", index="Main table")
def create_brand(brand: Brand) -> Steps[Brand]:
    """Create a new brand."""
    return (yield from create(brand, unless_exists=BrandExists))


@pattern("Put brand", index="Main table")
def put_brand(brand: Brand) -> Steps[Brand]:
    """Create a brand, or write over the one with that id."""
    return (yield from put(brand))


@pattern("Update brand", index="Main table", sample={"brand_name": "A name"})
def update_brand(
    brand_id: BrandId,
    *,
    brand_name: str | None = None,
    description: str | None = None,
    logo_url: str | None = None,
) -> Steps[Brand]:
    """Change what a brand says of itself.

    Deals and watches keep the name that they were made with.
    """
    changed = given_fields(brand_name=brand_name, description=description, logo_url=logo_url)
    return (yield from update(Brand.key(brand_id), if_exists=UnknownBrand, **changed))
