"""The catalogue's deals, brands, users, watches, activities and trending deals as the API has them.

Who watches is nobody's business but theirs: a watch of another is shown without its user.
"""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Any, Final

from pydantic import AwareDatetime, ConfigDict, Field, PlainSerializer, WithJsonSchema

from bigtime.systems.catalog.design import DealStatus, WatchType
from bigtime.systems.catalog.values import (
    MOST_DESCRIPTION,
    MOST_EMAIL,
    MOST_ID,
    MOST_LINK,
    MOST_NAME,
    ActivityId,
    Count,
    Description,
    Email,
    Id,
    Link,
    Name,
    Percentage,
    Price,
)
from bigtime.web.api.errors import TOLD
from bigtime.web.api.shapes import UNSAID, Amount, Asked, Shown

CREATED: Final = "2024-01-15T10:00:00Z"
FIRST_MOMENT: Final = datetime(1970, 1, 1, tzinfo=UTC)
LAST_MOMENT: Final = datetime(9000, 1, 1, tzinfo=UTC)


def example(**fields: Any) -> ConfigDict:
    return ConfigDict(json_schema_extra={"examples": [fields]})


Moment = Annotated[AwareDatetime, Field(ge=FIRST_MOMENT, le=LAST_MOMENT)]
"""A time with its time zone."""
GivenId = Annotated[Id, TOLD, Field(min_length=1, max_length=MOST_ID, examples=["deal-12345"])]
GivenName = Annotated[Name, TOLD, Field(min_length=1, max_length=MOST_NAME)]
GivenDescription = Annotated[Description, TOLD, Field(max_length=MOST_DESCRIPTION)]
GivenEmail = Annotated[
    Email, TOLD, Field(min_length=1, max_length=MOST_EMAIL, examples=["john.doe@example.com"])
]
GivenLink = Annotated[
    Link, TOLD, Field(min_length=1, max_length=MOST_LINK, examples=["https://shop.example/1.png"])
]
GivenPrice = Annotated[
    Price,
    TOLD,
    Field(max_digits=14, decimal_places=2),
    WithJsonSchema({"type": "number", "minimum": 0.01, "maximum": 10**11, "examples": [149.99]}),
]
GivenPercentage = Annotated[
    Percentage,
    TOLD,
    Field(max_digits=6, decimal_places=4),
    WithJsonSchema({"type": "number", "minimum": 0, "exclusiveMaximum": 100, "examples": [50]}),
]
MOST_COUNTED: Final = 10**9
GivenCount = Annotated[Count, TOLD, Field(ge=0, le=MOST_COUNTED)]


# Deals and brands


class CatalogDealShown(Shown):
    """Something for less than usual."""

    model_config = example(
        dealId="deal-12345",
        title="Headphones",
        description="They keep the noise out.",
        price=149.99,
        brandId="brand-sony",
        brandName="Sony",
        categoryId="electronics",
        categoryName="Electronics",
        postedAt=CREATED,
        status="active",
    )

    deal_id: str
    title: str
    description: str
    price: Amount
    brand_id: str
    brand_name: str
    category_id: str
    category_name: str
    posted_at: datetime
    status: DealStatus


class CategoryDealShown(Shown):
    """What the index of a category tells of a deal."""

    model_config = example(
        dealId="deal-12345",
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

    model_config = example(
        title="Headphones",
        description="They keep the noise out.",
        price=149.99,
        brandId="brand-sony",
        brandName="Sony",
        categoryId="electronics",
        categoryName="Electronics",
    )

    title: GivenName
    description: GivenDescription
    price: GivenPrice
    brand_id: GivenId
    brand_name: GivenName
    category_id: GivenId
    category_name: GivenName
    posted_at: Moment | None = Field(default=None, description="Now, unless it is said.")
    status: DealStatus = DealStatus.ACTIVE


class NewCatalogDeal(CatalogDealPut):
    """A deal to be made."""

    model_config = example(
        dealId="deal-12345",
        title="Headphones",
        description="They keep the noise out.",
        price=149.99,
        brandId="brand-sony",
        brandName="Sony",
        categoryId="electronics",
        categoryName="Electronics",
    )

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

    status: DealStatus
    seen: DealStatus | None = None


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


# Users


class CatalogUserShown(Shown):
    """Someone who looks for deals."""

    model_config = example(
        userId="alex",
        username="alex",
        email="alex@example.com",
        displayName="Alex",
        createdAt=CREATED,
        lastLogin=None,
    )

    user_id: str
    username: str
    email: str
    display_name: str
    created_at: datetime
    last_login: datetime | None


class CatalogUserPut(Asked):
    """Who the caller is to be; their id and username are those of their account."""

    model_config = example(email="alex@example.com", displayName="Alex")

    email: GivenEmail
    display_name: GivenName


class CatalogUserChange(Asked):
    """What is to change of the caller; the rest stays."""

    model_config = example(displayName="Alexandra")

    email: GivenEmail = UNSAID
    display_name: GivenName = UNSAID
    last_login: Moment = UNSAID


# Watches


class WatchShown(Shown):
    """That the caller wants to hear of deals."""

    model_config = example(
        watchKey="BRAND#brand-sony",
        watchType="brand",
        createdAt=CREATED,
        targetId="brand-sony",
        targetName="Sony",
        brandId="brand-sony",
        categoryId=None,
    )

    watch_key: str
    watch_type: WatchType
    created_at: datetime
    target_id: str | None
    target_name: str | None
    brand_id: str | None
    category_id: str | None


class BrandWatcherShown(Shown):
    """That somebody watches a brand."""

    model_config = example(brandId="brand-sony", watchKey="BRAND#brand-sony")

    brand_id: str
    watch_key: str


class CategoryWatcherShown(Shown):
    """That somebody watches a category."""

    model_config = example(
        categoryId="electronics",
        watchKey="CATEGORY#electronics",
        targetName="Electronics",
        createdAt=CREATED,
    )

    category_id: str
    watch_key: str
    target_name: str | None
    created_at: datetime


class WatchOfTypeShown(Shown):
    """That somebody watches something of a type."""

    model_config = example(
        watchType="brand", createdAt=CREATED, watchKey="BRAND#brand-sony", targetName="Sony"
    )

    watch_type: WatchType
    created_at: datetime
    watch_key: str
    target_name: str | None


# Activities

MOST_DETAIL: Final = 1_000
DetailName = Annotated[str, Field(min_length=1, max_length=100)]
DetailNumber = Annotated[
    Decimal,
    Field(max_digits=20, decimal_places=6),
    WithJsonSchema({"type": "number", "minimum": -(10**13), "maximum": 10**13}),
]
Detail = bool | Annotated[str, Field(max_length=MOST_DETAIL)] | DetailNumber


def plain(value: Any) -> Any:
    """Numbers as JSON has them."""
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(one) for one in value]
    return value


class ActivityShown(Shown):
    """What the caller did, or was told."""

    model_config = example(
        timestamp=CREATED,
        activityId="activity-view-deal-12345",
        activityType="deal_view",
        details={"deal_id": "deal-12345", "duration_seconds": 45},
    )

    timestamp: datetime
    activity_id: str
    activity_type: str
    details: Annotated[dict[str, Any] | None, PlainSerializer(plain, when_used="json")]


class NewActivity(Asked):
    """What the caller did."""

    model_config = example(
        activityId="activity-view-deal-12345",
        activityType="deal_view",
        details={"deal_id": "deal-12345", "duration_seconds": 45},
    )

    activity_id: Annotated[ActivityId, TOLD, Field(min_length=1, max_length=2 * MOST_ID)]
    activity_type: GivenName
    timestamp: Moment | None = Field(default=None, description="Now, unless it is said.")
    details: Annotated[dict[DetailName, Detail], Field(max_length=50)] | None = None


# Trending deals


class TrendingShown(Shown):
    """A deal's place among those of its category that people engage with."""

    model_config = example(
        categoryId="electronics",
        engagementScore=1695,
        dealId="deal-12345",
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
