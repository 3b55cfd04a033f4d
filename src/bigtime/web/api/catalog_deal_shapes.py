"""Deals of the catalogue as the API has them, and those that trend."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from pydantic import Field

from bigtime.systems import catalog
from bigtime.web.api.catalog_shapes import (
    CREATED,
    GivenCount,
    GivenDescription,
    GivenId,
    GivenName,
    GivenPercentage,
    GivenPrice,
    Moment,
)
from bigtime.web.api.shapes import UNSAID, Amount, Asked, Shown, example

DEAL_ID: Final = "deal-12345"
HEADPHONES: Final[dict[str, Any]] = {
    "title": "Headphones",
    "description": "They keep the noise out.",
    "price": 149.99,
    "brandId": "brand-sony",
    "brandName": "Sony",
    "categoryId": "electronics",
    "categoryName": "Electronics",
}
"""What the examples tell of a deal."""


class CatalogDealShown(Shown):
    """Something for less than usual."""

    model_config = example(dealId=DEAL_ID, **HEADPHONES, postedAt=CREATED, status="active")

    deal_id: str
    title: str
    description: str
    price: Amount
    brand_id: str
    brand_name: str
    category_id: str
    category_name: str
    posted_at: datetime
    status: catalog.DealStatus


class CategoryDealShown(Shown):
    """What the index of a category tells of a deal."""

    model_config = example(
        dealId=DEAL_ID,
        categoryId="electronics",
        postedAt=CREATED,
        title="Headphones",
        price=149.99,
        brandName="Sony",
    )

    deal_id: str
    category_id: str
    posted_at: datetime
    title: str
    price: Amount
    brand_name: str


class CatalogDealPut(Asked):
    """All of a deal but its id."""

    model_config = example(**HEADPHONES)

    title: GivenName
    description: GivenDescription
    price: GivenPrice
    brand_id: GivenId
    brand_name: GivenName
    category_id: GivenId
    category_name: GivenName
    posted_at: Moment | None = Field(default=None, description="Now, unless it is said.")
    status: catalog.DealStatus = catalog.DealStatus.ACTIVE


class NewCatalogDeal(CatalogDealPut):
    """A deal to be made."""

    model_config = example(dealId=DEAL_ID, **HEADPHONES)

    deal_id: GivenId


class CatalogDealChange(Asked):
    """What is to change of a deal; the rest stays."""

    model_config = example(price=129.99)

    title: GivenName = UNSAID
    description: GivenDescription = UNSAID
    price: GivenPrice = UNSAID
    brand_name: GivenName = UNSAID
    category_name: GivenName = UNSAID


class StatusChange(Asked):
    """The status that a deal is to have; `seen` is the one that it must have had."""

    model_config = example(status="featured", seen="active")

    status: catalog.DealStatus
    seen: catalog.DealStatus | None = None


class TrendingShown(Shown):
    """A deal's place among those of its category that people engage with."""

    model_config = example(
        categoryId="electronics",
        engagementScore=1695,
        dealId=DEAL_ID,
        title="Headphones",
        brandId="brand-sony",
        discountPercentage=50,
        views=1250,
        clicks=89,
    )

    category_id: str
    engagement_score: int
    deal_id: str
    title: str
    brand_id: str
    discount_percentage: Amount
    views: int
    clicks: int


class TrendingStart(Asked):
    """What a deal begins with among the trending ones."""

    model_config = example(discountPercentage=50)

    discount_percentage: GivenPercentage
    views: GivenCount = 0
    clicks: GivenCount = 0


class Engagement(Asked):
    """How often people looked at a deal, and how often they went to it."""

    model_config = example(views=1, clicks=1)

    views: GivenCount = 0
    clicks: GivenCount = 0
