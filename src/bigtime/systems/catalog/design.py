"""The six tables of the catalogue and what they hold.

Deals, users and brands are read by id alone, so their tables have no sort key. Attributes are
stored under the names of the fields, with two exceptions.

A deal is browsed by brand and by category while it is listed, that is, active or featured. Both
indexes sort by `created_at`, and a deal has that attribute only while it is listed: without it, it
is in neither. `posted_at` has the same time, and is always stored.

A trending deal has a place in its category: the number `engagement_score`, by which the table
sorts. Two deals with one score would have one key, and the second would overwrite the first; so the
stored number is the score plus a fraction that is derived from the deal's id. In Python that number
is the deal's `rank`, and `engagement_score` is its integer part.
"""

from __future__ import annotations

from decimal import Decimal
from enum import StrEnum
from hashlib import sha256
from typing import Annotated, Any, Final

from pydantic import Field, computed_field

from bigtime import model as bt
from bigtime.systems.catalog import values
from bigtime.systems.catalog.errors import ScoreOutOfRange

# Deals

PAGE = 25
"""How many items a page has unless a caller asks for fewer."""

DEALS = bt.Table(
    "Deals",
    "deal_id",
    indexes=[
        bt.global_index("DealsByBrand", "brand_id", "created_at"),
        bt.global_index(
            "DealsByCategory", "category_id", "created_at", include=["title", "price", "brand_name"]
        ),
    ],
    stream="NEW_AND_OLD_IMAGES",
)


class DealStatus(StrEnum):
    ACTIVE = "active"
    FEATURED = "featured"
    EXPIRED = "expired"


MOST_PRICES: Final = 20
LISTED: Final = (DealStatus.ACTIVE, DealStatus.FEATURED)
"""The statuses with which a deal can be browsed."""


class Deal(bt.Entity, table=DEALS):
    """Something for less than usual. The names of its brand and category are as they were then."""

    keys = bt.Keys(
        main="{deal_id}",
        DealsByBrand=bt.when(("{brand_id}", "{posted_at:seconds}"), status=LISTED),
        DealsByCategory=bt.when(("{category_id}", "{posted_at:seconds}"), status=LISTED),
    )
    deal_id: values.DealId
    title: values.Name
    description: values.Description
    price: values.Price
    brand_id: values.BrandId
    brand_name: values.Name
    category_id: values.CategoryId
    category_name: values.Name
    posted_at: values.Moment
    status: DealStatus
    price_history: list[str] | None = Field(default=None, max_length=MOST_PRICES)
    """The last prices, each as a time and a price (`2024-01-15T10:00:00Z 149.99`), as they were
    copied with the deal; None while there was only one."""

    @property
    def prices(self) -> list[str]:
        """The last known prices; for a deal without a history, the current one."""
        return self.price_history or [f"{self.posted_at:%Y-%m-%dT%H:%M:%SZ} {self.price:f}"]

    @property
    def is_listed(self) -> bool:
        return self.status in LISTED


# Users and brands

USERS = bt.Table("Users", "user_id", stream="NEW_AND_OLD_IMAGES")
BRANDS = bt.Table("Brands", "brand_id", stream="NEW_AND_OLD_IMAGES")


class User(bt.Entity, table=USERS):
    """A user of the catalogue."""

    keys = bt.Keys(main="{user_id}")
    user_id: values.UserId
    username: values.Name
    email: values.Email
    display_name: values.Name
    created_at: values.Moment
    last_login: values.Moment | None = None


class Brand(bt.Entity, table=BRANDS):
    """Someone whose things are on offer."""

    keys = bt.Keys(main="{brand_id}")
    brand_id: values.BrandId
    brand_name: values.Name
    created_at: values.Moment
    description: values.Description | None = None
    logo_url: values.Link | None = None


# Watches

USER_WATCHES = bt.Table(
    "UserWatches",
    "user_id",
    "watch_key",
    indexes=[
        bt.global_index("WatchesByBrand", "brand_id", "user_id", keys_only=True),
        bt.global_index("WatchesByCategory", "category_id", include=["target_name", "created_at"]),
        bt.global_index("WatchesByType", "watch_type", "created_at", include=["target_name"]),
    ],
    stream="NEW_AND_OLD_IMAGES",
)


class WatchType(StrEnum):
    BRAND = "brand"
    CATEGORY = "category"
    BRAND_CATEGORY = "brand_category"


class UserWatch(bt.Entity, table=USER_WATCHES):
    """That a user wants to hear of a brand's deals, of a category's, or of a brand's in one."""

    keys = bt.Keys(
        main=("{user_id}", "{watch_key}"),
        WatchesByBrand=("{brand_id}", "{user_id}"),
        WatchesByCategory="{category_id}",
        WatchesByType=("{watch_type}", "{created_at:seconds}"),
    )
    user_id: values.UserId
    watch_key: values.WatchKey
    watch_type: WatchType
    created_at: values.Moment
    target_id: str | None = None
    target_name: values.Name | None = None
    brand_id: values.BrandId | None = None
    category_id: values.CategoryId | None = None


# Activities

USER_ACTIVITIES = bt.Table("UserActivities", "user_id", "sk", stream="NEW_AND_OLD_IMAGES")


class UserActivity(bt.Entity, table=USER_ACTIVITIES):
    """What a user did, or was told."""

    keys = bt.Keys(main=("{user_id}", "{timestamp:seconds}#{activity_id}"))
    user_id: values.UserId
    timestamp: values.Moment
    activity_id: values.ActivityId
    activity_type: values.Name
    details: Annotated[dict[str, Any], Field(max_length=50)] | None = None


# Trending deals


def stored_name(field: str) -> str:
    return "engagement_score" if field == "rank" else bt.snake_case(field)


TRENDING_DEALS = bt.Table(
    "TrendingDeals",
    "category_id",
    bt.number("engagement_score"),
    indexes=[bt.global_index("TrendingByDiscount", "brand_id", bt.number("discount_percentage"))],
    naming=stored_name,
    stream="NEW_AND_OLD_IMAGES",
)

SCORE_DIGITS: Final = 10
FRACTION_DIGITS: Final = 38 - SCORE_DIGITS


def rank_of(score: int, deal_id: str) -> Decimal:
    """A score plus the deal's own fraction: two deals with one score differ after the point.

    It is built from text, because arithmetic would round it to the precision of the decimal
    context.
    """
    if not 0 <= score < 10**SCORE_DIGITS:
        raise ScoreOutOfRange
    drawn = int.from_bytes(sha256(deal_id.encode()).digest()) % 10**FRACTION_DIGITS
    return Decimal(f"{score}.{drawn:0{FRACTION_DIGITS}}")


class TrendingDeal(bt.Entity, table=TRENDING_DEALS):
    """A deal's place among those of its category that people engage with."""

    keys = bt.Keys(
        main=("{category_id}", "{rank}"), TrendingByDiscount=("{brand_id}", "{discount_percentage}")
    )
    category_id: values.CategoryId
    rank: values.Exact
    deal_id: values.DealId
    title: values.Name
    brand_id: values.BrandId
    discount_percentage: values.Percentage
    views: values.Count
    clicks: values.Count

    @computed_field  # type: ignore[prop-decorator]
    @property
    def engagement_score(self) -> int:
        return int(self.rank)


LAKES = (bt.lake(TrendingDeal, name="trending_deals", without=("rank",)),)
