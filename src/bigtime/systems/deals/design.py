"""The table of Big Time Deals, its entities, and what must hold between them.

Every item has its entity's name in `Type`. Deals are in three indexes (of all deals, by brand, by
category), partitioned by the UTC day of their creation so that no partition takes every write. An
unpublished deal is in none of them. A message is in GSI1 only while it is unread; UserIndex holds
only users. The ends of active deals are one partition, in order of time.

Names of brands and categories have one spelling in keys; other attributes have them as displayed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from bigtime import model as bt
from bigtime.systems.deals import values
from bigtime.systems.deals.errors import UnknownBrand, UnknownCategory

PAGE: Final = 25
"""Deals on a page, and messages."""
MOST_FEATURED: Final = 25
CACHE_SHARDS: Final = 10
MOST_SEGMENTS: Final = 100
MOST_PRICES: Final = 20
"""Prices that a deal keeps, including the current one."""
MOST_SAVED: Final = 100
"""Deals that a user can save."""

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


# Pictures


class Picture(str):
    """A picture in several widths: `<digest> <height> <widths>`, such as `0f... 480 320,640`.

    The widths are ascending, the height is that of the largest. The files are stored elsewhere,
    under the digest, which is a hash of their content. It is text because a page reads some thirty
    of them: as maps they took as long to read as the rest of their deals.
    """

    __slots__ = ()

    @classmethod
    def make(cls, digest: str, widths: Sequence[int], height: int) -> Picture:
        return cls(f"{digest} {height} {','.join(map(str, widths))}")

    @property
    def digest(self) -> str:
        return self.partition(" ")[0]

    @property
    def height(self) -> int:
        return int(self.split(" ")[1])

    @property
    def widths(self) -> tuple[int, ...]:
        return tuple(map(int, self.split(" ")[2].split(",")))

    @property
    def width(self) -> int:
        return self.widths[-1]

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: type[Any], handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        text = core_schema.str_schema(pattern=r"^[0-9a-f]{32} \d{1,5} \d{1,5}(,\d{1,5}){0,7}$")
        return core_schema.no_info_after_validator_function(
            cls, text, serialization=core_schema.to_string_ser_schema()
        )


PICTURE: Final = Picture.make("0123456789abcdef" * 2, (320, 640), 480)
StoredPicture = Annotated[Picture, Field(examples=[PICTURE])]


# Deals


def second_of_id(fields: dict[str, Any]) -> datetime:
    """The time in a deal's id, to the second, so that the id tells the day."""
    at: datetime = fields["deal_id"].at
    return at


class DealStatus(StrEnum):
    """Whether a deal can be had; one that is unpublished is shown to editors alone."""

    ACTIVE = "active"
    EXPIRED = "expired"
    UNPUBLISHED = "unpublished"


LISTED: Final = (DealStatus.ACTIVE, DealStatus.EXPIRED)


@dataclass(frozen=True, slots=True)
class PriceChange:
    """A price of a deal, and the time since which it has it.

    It is stored as text, `2026-11-15T10:30:00Z 19.99`: reading twenty maps takes five times as long
    as reading the rest of a deal, and a page lists 25 deals.
    """

    at: datetime
    price: Decimal

    @classmethod
    def from_text(cls, text: str) -> PriceChange:
        at, _, price = text.partition(" ")
        return cls(datetime.fromisoformat(at), Decimal(price))

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%dT%H:%M:%SZ} {self.price:f}"


class Deal(bt.Entity, table=BIG_TIME_DEALS):
    """A discounted product somewhere on the web.

    `ends_at` is when it expires. `unpublished_why` is what editors say of one that they took off.
    """

    keys = bt.Keys(
        main=("DEAL#{deal_id}", "DEAL#{deal_id}"),
        GSI1=bt.when(("DEALS#{created_at:day}", "DEAL#{deal_id}"), status=LISTED),
        GSI2=bt.when(("BRAND#{brand}#{created_at:day}", "DEAL#{deal_id}"), status=LISTED),
        GSI3=bt.when(("CATEGORY#{category}#{created_at:day}", "DEAL#{deal_id}"), status=LISTED),
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
    picture: StoredPicture | None = None
    status: DealStatus = DealStatus.ACTIVE
    ends_at: Second | None = None
    unpublished_why: values.Why | None = None
    price_history: list[str] | None = Field(default=None, max_length=MOST_PRICES)
    """The last prices as text, the present one last; None while there was only one."""

    @property
    def is_listed(self) -> bool:
        return self.status in LISTED

    @property
    def prices(self) -> list[PriceChange]:
        """The last known prices, the current one last."""
        if self.price_history is None:
            return [PriceChange(self.created_at, self.price)]
        return list(map(PriceChange.from_text, self.price_history))

    @property
    def discount(self) -> Decimal:
        """The percentage below its list price; 0 without one."""
        if self.list_price is None:
            return Decimal(0)
        return (self.list_price - self.price) * 100 / self.list_price


DEAL_SEARCH = bt.search(
    Deal,
    text=("title", "brand_name", "description"),
    facets=("category", "brand"),
    sort=("created_at", "price", "discount"),
    only="is_listed",
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
    picture: StoredPicture | None = None
    status: DealStatus | None = None
    """None while it is active: a copy from before there was an end has none either."""


# Brands


class Brand(bt.Entity, table=BIG_TIME_DEALS, created="created_at"):
    """Someone whose products are on offer."""

    keys = bt.Keys(main=("BRAND#{brand}", "BRAND#{brand}"))
    brand: values.BrandName
    name: values.ShownName
    logo: values.Link | None = None
    description: values.Description | None = None
    like_count: int = 0
    watch_count: int = 0
    created_at: Second | None = None
    picture: StoredPicture | None = None


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
    TEST = "test"
    """An editor has sent it to themselves, to see what a hot deal's message looks like."""


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

    @property
    def sent_at(self) -> datetime:
        return self.message_id.at


class SavedDeal(BaseModel):
    """A deal as it was when a user saved it."""

    model_config = ConfigDict(frozen=True)

    title: values.Title
    price: values.Price
    saved_at: Second


class SavedDeals(bt.Entity, table=BIG_TIME_DEALS):
    """The deals that a user has saved, by their ids.

    One item holds them all: so whether there is room for another is the condition of the write
    that saves it.
    """

    keys = bt.Keys(main=("SAVEDDEALS#{username}", "SAVEDDEALS#{username}"))
    username: values.Username
    deals: dict[str, SavedDeal] = Field(default={}, max_length=MOST_SAVED)


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


class DealEnd(bt.Entity, table=BIG_TIME_DEALS):
    """When a running deal ends; all of them are one partition, the next to end first."""

    keys = bt.Keys(main=("DEALENDS", "{ends_at:seconds}#{deal_id}"))
    ends_at: Second
    deal_id: values.DealId


class UnpublishedDeal(bt.Entity, table=BIG_TIME_DEALS):
    """That editors took a deal off; all of them are one partition, the latest deal last."""

    keys = bt.Keys(main=("UNPUBLISHED", "{deal_id}"))
    deal_id: values.DealId


# Invariants between entities

bt.list_buckets(Deal, "GSI1", "GSI2", "GSI3")

BRANDS = bt.singleton(Brands)
FRONT_PAGE = bt.singleton(FrontPage)
EDITORS_CHOICE = bt.singleton(EditorsChoice)

# The id makes each unique; the marker is there for its place in the order of time.
DEAL_ENDS = bt.unique(
    Deal, "ends_at", "deal_id", marker=DealEnd, only={"status": DealStatus.ACTIVE}
)
UNPUBLISHED_DEALS = bt.unique(
    Deal, "deal_id", marker=UnpublishedDeal, only={"status": DealStatus.UNPUBLISHED}
)
BRAND_LIKES = bt.reference_count(BrandLike, Brand, "like_count", missing=UnknownBrand)
BRAND_WATCHES = bt.reference_count(BrandWatch, Brand, "watch_count", missing=UnknownBrand)
CATEGORY_LIKES = bt.reference_count(CategoryLike, Category, "like_count", missing=UnknownCategory)
CATEGORY_WATCHES = bt.reference_count(
    CategoryWatch, Category, "watch_count", missing=UnknownCategory
)

LAKES = (
    # For earlier prices the lake has versions of the deal.
    bt.lake(
        Deal,
        name="deals",
        without=("link", "description", "unpublished_why", "price_history", "picture"),
    ),
    bt.lake(User, name="users", without=("name", "email")),
)
