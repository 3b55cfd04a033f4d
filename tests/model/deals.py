"""The brands of Big Time Deals as a system, for the tests of charts, checks and costs."""

from __future__ import annotations

import sys
from datetime import datetime
from decimal import Decimal
from typing import Annotated

from pydantic import Field

from bigtime.model.errors import DomainError
from bigtime.model.operations.bucket_list import list_buckets
from bigtime.model.operations.bucket_query import buckets, newest_first
from bigtime.model.operations.delete import delete
from bigtime.model.operations.get import get
from bigtime.model.operations.op import together
from bigtime.model.operations.page import Page, Position
from bigtime.model.operations.put import create, put
from bigtime.model.operations.query import all_of, query
from bigtime.model.operations.scan import each_page
from bigtime.model.operations.transact import transact
from bigtime.model.operations.update import add, update
from bigtime.model.pattern import pattern
from bigtime.model.schema.entity import Entity
from bigtime.model.schema.keys import Keys
from bigtime.model.schema.ksuid import Ksuid
from bigtime.model.schema.table import Table, global_index, pascal_case
from bigtime.model.system import System
from bigtime.wire.requests import Steps

BrandName = Annotated[str, Field(pattern="^[A-Z0-9 ]+$", max_length=20)]
Username = Annotated[str, Field(pattern="^[a-z0-9]+$", max_length=20)]

BIG_TIME_DEALS = Table(
    "BigTimeDeals",
    "PK",
    "SK",
    indexes=[
        global_index("GSI1", "GSI1PK", "GSI1SK"),
        global_index("GSI2", "GSI2PK", "GSI2SK"),
        global_index("UserIndex", "UserIndex"),
    ],
    naming=pascal_case,
    type_attribute="Type",
    stream="NEW_AND_OLD_IMAGES",
    tags={"Project": "deals"},
)


class AlreadyLiked(DomainError):
    """You like this brand already."""


class UnknownBrand(DomainError):
    """There is no such brand."""


class Deal(Entity, table=BIG_TIME_DEALS):
    """A discounted product somewhere on the web."""

    keys = Keys(
        main=("DEAL#{deal_id}", "DEAL#{deal_id}"),
        GSI1=("DEALS#{created_at:day}", "DEAL#{deal_id}"),
        GSI2=("BRAND#{brand}#{created_at:day}", "DEAL#{deal_id}"),
    )
    deal_id: Ksuid
    title: str = Field(max_length=200)
    price: Decimal = Field(ge=0, examples=[Decimal("19.99")])
    brand: BrandName
    created_at: datetime


list_buckets(Deal, "GSI1", "GSI2")


class Brand(Entity, table=BIG_TIME_DEALS):
    keys = Keys(main=("BRAND#{brand}", "BRAND#{brand}"))
    brand: BrandName
    logo: bytes = b""
    like_count: int = 0


class Brands(Entity, table=BIG_TIME_DEALS):
    keys = Keys(main=("BRANDS", "BRANDS"))
    names: set[BrandName] = Field(max_length=1000)


class BrandLike(Entity, table=BIG_TIME_DEALS):
    keys = Keys(main=("BRANDLIKE#{brand}#{username}", "BRANDLIKE#{brand}#{username}"))
    brand: BrandName
    username: Username


class BrandWatch(Entity, table=BIG_TIME_DEALS):
    keys = Keys(main=("BRANDWATCH#{brand}", "USER#{username}"))
    brand: BrandName
    username: Username


class User(Entity, table=BIG_TIME_DEALS):
    keys = Keys(main=("USER#{username}", "USER#{username}"), UserIndex="USER#{username}")
    username: Username


class Message(Entity, table=BIG_TIME_DEALS):
    """In GSI1 while it is unread."""

    keys = Keys(
        main=("MESSAGES#{username}", "MESSAGE#{message_id}"),
        GSI1=("MESSAGES#{unread_by}", "MESSAGE#{message_id}"),
    )
    username: Username
    message_id: Ksuid
    subject: str = Field(max_length=100)
    unread_by: Username | None = None


@pattern("Create Deal", index="N/A")
def create_deal(deal: Deal) -> Steps[Deal]:
    """By an editor, in the CMS."""
    return (yield from create(deal))


@pattern("Fetch Deal", index="Main table")
def fetch_deal(deal_id: Ksuid) -> Steps[Deal | None]:
    """GetItem on the deal's id."""
    return (yield from get(Deal.key(deal_id)))


@pattern("Fetch Latest Deals for Brand", index="GSI2")
def latest_deals_for_brand(brand: BrandName, after: Position | None = None) -> Steps[Page[Deal]]:
    """Day partitions for up to 25 deals."""
    walked = buckets(Deal, "GSI2", brand=brand)
    return (yield from newest_first(walked, limit=25, after=after))


@pattern("Fetch Brand & Latest Deals", index="Main table, GSI2")
def fetch_brand(brand: BrandName) -> Steps[tuple[Brand, Page[Deal]]]:
    return (
        yield from together(
            get(Brand.key(brand), missing=UnknownBrand), latest_deals_for_brand(brand)
        )
    )


@pattern("Like Brand for User", index="Main table")
def like_brand(brand: BrandName, username: Username) -> Steps[None]:
    """Transaction with LikeCount."""
    yield from transact(
        put(BrandLike(brand=brand, username=username), unless_exists=AlreadyLiked),
        add(Brand.key(brand), like_count=1, if_exists=UnknownBrand),
    )


@pattern("View Unread Messages for User", index="GSI1", sample={"username": "alex"})
def unread_messages(username: Username) -> Steps[list[Message]]:
    return (yield from all_of(Message.within("GSI1", unread_by=username), newest_first=True))


@pattern("Mark Message as Read", index="Main table")
def mark_as_read(username: Username, message_id: Ksuid) -> Steps[Message]:
    """SET Unread, REMOVE GSI1 keys."""
    return (yield from update(Message.key(username, message_id), unread_by=None))


@pattern("Forget a Brand's Watchers", index="Main table")
def forget_watchers(brand: BrandName) -> Steps[int]:
    """Deletes until none is found."""
    forgotten = 0
    while page := (yield from query(BrandWatch.within("main", brand=brand), limit=5)):
        for watch in page:
            yield from delete(watch.own_key())
            forgotten += 1
    return forgotten


@pattern(
    "Send Hot New Deal Message to all Users",
    index="UserIndex, then Main table",
    accepted={"scan": "it is for every user there is"},
)
def send_to_all(deal_id: Ksuid) -> Steps[int]:
    """Scan of UserIndex; a message each."""

    def tell(page: Page[User]) -> Steps[None]:
        for user in page:
            name = user.username
            yield from put(
                Message(username=name, message_id=deal_id, subject="Hot!", unread_by=name)
            )

    return (yield from each_page(User, tell, index="UserIndex"))


SYSTEM = System(
    "deals",
    (BIG_TIME_DEALS,),
    (sys.modules[__name__],),
    accepted={"hot-partition Brands": "a single item, read through a cache"},
)
