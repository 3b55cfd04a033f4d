"""Brands of the catalogue as the API has them."""

from __future__ import annotations

from datetime import datetime

from bigtime.web.api.catalog_shapes import CREATED, GivenDescription, GivenId, GivenLink, GivenName
from bigtime.web.api.shapes import UNSAID, Asked, Shown, example


class CatalogBrandShown(Shown):
    """Someone whose things are on offer."""

    model_config = example(
        brandId="brand-sony",
        brandName="Sony",
        createdAt=CREATED,
        description=None,
        logoUrl=None,
    )

    brand_id: str
    brand_name: str
    created_at: datetime
    description: str | None
    logo_url: str | None


class CatalogBrandPut(Asked):
    """All of a brand but its id."""

    model_config = example(brandName="Sony")

    brand_name: GivenName
    description: GivenDescription | None = None
    logo_url: GivenLink | None = None


class NewCatalogBrand(CatalogBrandPut):
    """A brand to be made."""

    model_config = example(brandId="brand-sony", brandName="Sony")

    brand_id: GivenId


class CatalogBrandChange(Asked):
    """What is to change of a brand; the rest stays."""

    model_config = example(description="Since 1946.")

    brand_name: GivenName = UNSAID
    description: GivenDescription = UNSAID
    logo_url: GivenLink = UNSAID
