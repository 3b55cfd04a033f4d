"""Users of the catalogue, what they watch and what they did, as the API has them.

Who watches is nobody's business but theirs: a watch of another is shown without its user.
"""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Final

from pydantic import Field, PlainSerializer, WithJsonSchema

from bigtime.systems import catalog
from bigtime.web.api.catalog_shapes import CREATED, GivenEmail, GivenName, Moment
from bigtime.web.api.errors import TOLD
from bigtime.web.api.shapes import UNSAID, Asked, Shown, example


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
    watch_type: catalog.WatchType
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

    watch_type: catalog.WatchType
    created_at: datetime
    watch_key: str
    target_name: str | None


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

    activity_id: Annotated[
        catalog.ActivityId, TOLD, Field(min_length=1, max_length=2 * catalog.MOST_ID)
    ]
    activity_type: GivenName
    timestamp: Moment | None = Field(default=None, description="Now, unless it is said.")
    details: Annotated[dict[DetailName, Detail], Field(max_length=50)] | None = None
