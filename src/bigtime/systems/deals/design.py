"""The table of Big Time Deals, its entities, and what must hold between them.

Every item has its entity's name in `Type`. Deals lie in three indexes by the UTC day they were
made on, so that no partition takes every write: all of them, those of a brand, those of a
category. A message is in GSI1 only while it is unread; UserIndex holds users and nothing else.

The names of brands and categories are in keys in one spelling, and beside them as people see them.
"""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field

from bigtime import model as bt
from bigtime.systems.deals import values
from bigtime.systems.deals.errors import UnknownBrand, UnknownCategory

PAGE: Final = 25
"""Deals to a page, and messages."""
MOST_FEATURED: Final = 25
CACHE_SHARDS: Final = 10
MOST_SEGMENTS: Final = 100

BIG_TIME_DEALS = bt.Table(
    "BigTimeDeals",
    "PK",
    "SK",
    indexes=[
        bt.global_index("GSI1", "GSI1PK", "GSI1SK"),
        bt.global_index("GSI2", "GSI2PK", "GSI2SK"),
        bt.global_index("GSI3", "GSI3PK", "GSI3SK"),
        bt.global_index("UserIndex", "UserIndex"),
    ],
    naming=bt.pascal_case,
    type_attribute="Type",
    stream="NEW_AND_OLD_IMAGES",
)

Second = Annotated[datetime, bt.Seconds]
Prices = [Decimal("19.99")]
Links = ["https://deals.example/1"]


# Deals


def second_of_id(fields: dict[str, Any]) -> datetime:
    """The time in a deal's id, to the second, so that its day follows from its id."""
    at: datetime = fields["deal_id"].at
    return at


class Deal(bt.Entity, table=BIG_TIME_DEALS):
    """A discounted product somewhere on the web."""

    keys = bt.Keys(
        main=("DEAL#{deal_id}", "DEAL#{deal_id}"),
        GSI1=("DEALS#{created_at:day}", "DEAL#{deal_id}"),
        GSI2=("BRAND#{brand}#{created_at:day}", "DEAL#{deal_id}"),
        GSI3=("CATEGORY#{category}#{created_at:day}", "DEAL#{deal_id}"),
    )
    deal_id: values.DealId
    title: values.Title
    link: values.Link = Field(examples=Links)
    price: values.Price = Field(examples=Prices)
    list_price: values.Price | None = None
    description: values.Description | None = None
    brand: values.BrandName
    brand_name: values.ShownName
    category: values.CategoryName
    category_name: values.ShownName
    created_at: Second = Field(default_factory=second_of_id)

    @property
    def discount(self) -> Decimal:
        """How many percent it is below its list price; 0 without one."""
        if self.list_price is None:
            return Decimal(0)
        return (self.list_price - self.price) * 100 / self.list_price


DEAL_SEARCH = bt.search(
    Deal,
    text=("title", "brand_name", "description"),
    facets=("category", "brand"),
    sort=("created_at", "price", "discount"),
)


class FeaturedDeal(BaseModel):
    """A deal as it was when an editor featured it."""

    model_config = ConfigDict(frozen=True)

    deal_id: values.DealId
    title: values.Title
    link: values.Link
    price: values.Price
    list_price: values.Price | None = None
    brand: values.BrandName
    brand_name: values.ShownName
    category: values.CategoryName
    category_name: values.ShownName


# Brands


class Brand(bt.Entity, table=BIG_TIME_DEALS, created="created_at"):
    """Someone whose products are on offer."""

    keys = bt.Keys(main=("BRAND#{brand}", "BRAND#{brand}"))
    brand: values.BrandName
    name: values.ShownName
    logo: values.Link | None = None
    like_count: int = 0
    watch_count: int = 0
    created_at: Second | None = None


class Brands(bt.Entity, table=BIG_TIME_DEALS):
    """The names of all brands, as people see them, for the page that lists them.

    One item holds them all. It ends at 400 KB: that is some 20,000 names of 20 letters.
    """

    keys = bt.Keys(main=("BRANDS", "BRANDS"))
    brands: set[values.ShownName] = set()


class BrandLike(bt.Entity, table=BIG_TIME_DEALS):
    """A user's like of a brand."""

    keys = bt.Keys(main=("BRANDLIKE#{brand}#{username}", "BRANDLIKE#{brand}#{username}"))
    brand: values.BrandName
    username: values.Username


class BrandWatch(bt.Entity, table=BIG_TIME_DEALS):
    """A user's wish to hear of a brand's deals."""

    keys = bt.Keys(main=("BRANDWATCH#{brand}", "USER#{username}"))
    brand: values.BrandName
    username: values.Username


# Categories


class Category(bt.Entity, table=BIG_TIME_DEALS):
    """One of the kinds of products; there are eight, and they do not change."""

    keys = bt.Keys(main=("CATEGORY#{category}", "CATEGORY#{category}"))
    category: values.CategoryName
    name: values.ShownName
    featured_deals: list[FeaturedDeal] = Field(default=[], max_length=MOST_FEATURED)
    like_count: int = 0
    watch_count: int = 0


class CategoryLike(bt.Entity, table=BIG_TIME_DEALS):
    """A user's like of a category."""

    keys = bt.Keys(
        main=("CATEGORYLIKE#{category}#{username}", "CATEGORYLIKE#{category}#{username}")
    )
    category: values.CategoryName
    username: values.Username


class CategoryWatch(bt.Entity, table=BIG_TIME_DEALS):
    """A user's wish to hear of a category's deals."""

    keys = bt.Keys(main=("CATEGORYWATCH#{category}", "USER#{username}"))
    category: values.CategoryName
    username: values.Username


# Pages


class FrontPage(bt.Entity, table=BIG_TIME_DEALS):
    """What everyone sees first."""

    keys = bt.Keys(main=("FRONTPAGE", "FRONTPAGE"))
    featured_deals: list[FeaturedDeal] = Field(default=[], max_length=MOST_FEATURED)


class EditorsChoice(bt.Entity, table=BIG_TIME_DEALS):
    """What the editors think is worth it."""

    keys = bt.Keys(main=("EDITORSCHOICE", "EDITORSCHOICE"))
    featured_deals: list[FeaturedDeal] = Field(default=[], max_length=MOST_FEATURED)


class DealsCache(bt.Entity, table=BIG_TIME_DEALS):
    """The latest deals, in several copies, so that no partition takes every read."""

    keys = bt.Keys(main=("DEALSCACHE#{n:plain}", "DEALSCACHE#{n:plain}"))
    n: int = Field(ge=1, le=CACHE_SHARDS)
    deals: list[Deal] = Field(max_length=PAGE)
    more_follow: bool = True
    written_at: datetime


# Users


class User(bt.Entity, table=BIG_TIME_DEALS, created="created_at"):
    """A user, who likes, watches and gets messages."""

    keys = bt.Keys(main=("USER#{username}", "USER#{username}"), UserIndex="USER#{username}")
    username: values.Username
    name: values.ShownName
    email: values.Email | None = None
    created_at: Second | None = None


class MessageKind(StrEnum):
    """Why a user got a message."""

    HOT = "hot"
    BRAND = "brand"
    CATEGORY = "category"
    WATCHED = "watched"
    """They watch the brand, the category or both: one message for all of these."""


class Message(bt.Entity, table=BIG_TIME_DEALS):
    """News for one user; in GSI1 while it is unread."""

    keys = bt.Keys(
        main=("MESSAGES#{username}", "MESSAGE#{message_id}"),
        GSI1=bt.when(("MESSAGES#{username}", "MESSAGE#{message_id}"), unread=True),
    )
    username: values.Username
    message_id: values.MessageId
    kind: MessageKind
    deal_id: values.DealId
    subject: str = Field(max_length=400)
    unread: bool = True


class Announcement(bt.Entity, table=BIG_TIME_DEALS):
    """When the watchers of a new deal were told of it; their messages carry this moment."""

    keys = bt.Keys(main=("ANNOUNCEMENT#{deal_id}", "ANNOUNCEMENT#{deal_id}"))
    deal_id: values.DealId
    at: Second


class HotDealSegment(bt.Entity, table=BIG_TIME_DEALS):
    """How far a hot deal's message has come in one segment of all users.

    `told` counts those who have it; `place` is where `reading` goes on. Its messages carry the
    moment `begun_at`.
    """

    keys = bt.Keys(main=("HOTDEAL#{deal_id}", "SEGMENT#{segment:03}"))
    deal_id: values.DealId
    segment: int = Field(ge=1, le=MOST_SEGMENTS)
    told: int = 0
    done: bool = False
    begun_at: Second | None = None
    reading: str | None = None
    place: Any = None

    @property
    def position(self) -> bt.Position | None:
        return None if self.reading is None else bt.Position(self.reading, self.place)


# What holds between them

bt.list_buckets(Deal, "GSI1", "GSI2", "GSI3")

BRANDS = bt.singleton(Brands)
FRONT_PAGE = bt.singleton(FrontPage)
EDITORS_CHOICE = bt.singleton(EditorsChoice)

BRAND_LIKES = bt.counted(BrandLike, Brand, "like_count", missing=UnknownBrand)
BRAND_WATCHES = bt.counted(BrandWatch, Brand, "watch_count", missing=UnknownBrand)
CATEGORY_LIKES = bt.counted(CategoryLike, Category, "like_count", missing=UnknownCategory)
CATEGORY_WATCHES = bt.counted(CategoryWatch, Category, "watch_count", missing=UnknownCategory)

LAKES = (
    bt.lake(Deal, name="deals", without=("link", "description")),
    bt.lake(User, name="users", without=("name", "email")),
)
