"""Designs that the tests of the model kit share: Big Time Deals, the shop, and smaller ones."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any

from bigtime.engine import Engine
from bigtime.model.operations.bucket_list import list_buckets
from bigtime.model.operations.put import put
from bigtime.model.schema.declaration import shard_field
from bigtime.model.schema.entity import Entity
from bigtime.model.schema.keys import Keys
from bigtime.model.schema.ksuid import Ksuid
from bigtime.model.schema.table import (
    Attribute,
    Index,
    Table,
    global_index,
    local_index,
    number,
    pascal_case,
)
from bigtime.model.schema.view import View
from bigtime.store import Store
from bigtime.wire import Request, Response

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)

# Big Time Deals

BIG_TIME_DEALS = Table(
    "BigTimeDeals",
    "PK",
    "SK",
    indexes=[
        global_index("GSI1", "GSI1PK", "GSI1SK"),
        global_index("GSI2", "GSI2PK", "GSI2SK"),
        global_index("GSI3", "GSI3PK", "GSI3SK"),
        global_index("UserIndex", "UserIndex"),
    ],
    naming=pascal_case,
    type_attribute="Type",
)


class Deal(Entity, table=BIG_TIME_DEALS):
    keys = Keys(
        main=("DEAL#{deal_id}", "DEAL#{deal_id}"),
        GSI1=("DEALS#{created_at:day}", "DEAL#{deal_id}"),
        GSI2=("BRAND#{brand}#{created_at:day}", "DEAL#{deal_id}"),
        GSI3=("CATEGORY#{category}#{created_at:day}", "DEAL#{deal_id}"),
    )
    deal_id: Ksuid
    title: str
    price: Decimal = Decimal(1)
    brand: str = "APPLE"
    category: str = "ELECTRONICS"
    created_at: datetime


list_buckets(Deal, "GSI1", "GSI2", "GSI3")


class Brand(Entity, table=BIG_TIME_DEALS):
    keys = Keys(main=("BRAND#{brand}", "BRAND#{brand}"))
    brand: str
    like_count: int = 0


class Brands(Entity, table=BIG_TIME_DEALS):
    keys = Keys(main=("BRANDS", "BRANDS"))
    names: set[str]


class BrandLike(Entity, table=BIG_TIME_DEALS):
    keys = Keys(main=("BRANDLIKE#{brand}#{username}", "BRANDLIKE#{brand}#{username}"))
    brand: str
    username: str


class BrandWatch(Entity, table=BIG_TIME_DEALS):
    keys = Keys(main=("BRANDWATCH#{brand}", "USER#{username}"))
    brand: str
    username: str


class Category(Entity, table=BIG_TIME_DEALS):
    keys = Keys(main=("CATEGORY#{category}", "CATEGORY#{category}"))
    category: str


class FrontPage(Entity, table=BIG_TIME_DEALS):
    keys = Keys(main=("FRONTPAGE", "FRONTPAGE"))
    deal_ids: list[Ksuid]


class DealsCache(Entity, table=BIG_TIME_DEALS):
    keys = Keys(main=("DEALSCACHE#{shard}", "DEALSCACHE#{shard:plain}"))
    shard: int


class User(Entity, table=BIG_TIME_DEALS):
    keys = Keys(main=("USER#{username}", "USER#{username}"), UserIndex="USER#{username}")
    username: str


class Message(Entity, table=BIG_TIME_DEALS):
    """In GSI1 while it is unread."""

    keys = Keys(
        main=("MESSAGES#{username}", "MESSAGE#{message_id}"),
        GSI1=("MESSAGES#{unread_by}", "MESSAGE#{message_id}"),
    )
    username: str
    message_id: Ksuid
    subject: str
    unread_by: str | None = None


class DealCard(View, of=Deal):
    deal_id: Ksuid
    title: str


# The shop

SHOP = Table(
    "EcommerceTable",
    "PK",
    "SK",
    indexes=[global_index("GSI1", "GSI1PK", "GSI1SK")],
    naming=pascal_case,
    type_attribute="Type",
)


class Customer(Entity, table=SHOP):
    keys = Keys(main=("CUSTOMER#{username}", "CUSTOMER#{username}"))
    username: str
    email: str


class CustomerEmail(Entity, table=SHOP):
    keys = Keys(main=("CUSTOMEREMAIL#{email}", "CUSTOMEREMAIL#{email}"))
    email: str
    username: str


class Order(Entity, table=SHOP):
    keys = Keys(
        main=("CUSTOMER#{username}", "#ORDER#{order_id}"),
        GSI1=("ORDER#{order_id}", "ORDER#{order_id}"),
    )
    username: str
    order_id: Ksuid
    status: str = "PLACED"


class OrderItem(Entity, table=SHOP):
    keys = Keys(
        main=("ORDER#{order_id}#ITEM#{item_id}", "ORDER#{order_id}#ITEM#{item_id}"),
        GSI1=("ORDER#{order_id}", "ITEM#{item_id}"),
    )
    order_id: Ksuid
    item_id: str
    count: int = 1


# The cart: a sort key of several fields, and markers between the lines, in a table without types

CART = Table(
    "CartTable",
    "AccountID",
    "SK",
    indexes=[global_index("GSI-SKU", "ItemSKU", "SK")],
    naming=lambda name: {"sku": "ItemSKU", "account_id": "AccountID"}.get(name, name),
)


class Status(StrEnum):
    ACTIVE = "ACTIVE"
    SAVED = "SAVED"
    PURCHASED = "PURCHASED"


class Line(Entity, table=CART):
    keys = Keys(
        main=("{account_id}", "{status}#{entered_at:millis}#{sku}"),
        **{"GSI-SKU": ("{sku}", "{status}#{entered_at:millis}#{sku}")},
    )
    account_id: str
    status: Status
    entered_at: datetime
    sku: str
    count: int = 1


class Marker(Entity, table=CART):
    keys = Keys(main=("{account_id}", "LINE#{item}"))
    account_id: str
    item: str
    line: str


# The catalogue: projections, numbers as keys, a local index

WATCHES = Table(
    "UserWatches",
    "user_id",
    "watch_key",
    indexes=[
        global_index("WatchesByBrand", "brand_id", "user_id", keys_only=True),
        global_index("WatchesByType", "watch_type", "created_at", include=["target_name"]),
        local_index("ByTarget", "target_name", keys_only=True),
    ],
)


class UserWatch(Entity, table=WATCHES):
    keys = Keys(
        main=("{user_id}", "{watch_key}"),
        WatchesByBrand=("{brand_id}", "{user_id}"),
        WatchesByType=("{watch_type}", "{created_at:seconds}"),
        ByTarget=("{user_id}", "{target_name}"),
    )
    user_id: str
    watch_key: str
    watch_type: str = "BRAND"
    created_at: datetime = NOON
    brand_id: str | None = None
    target_name: str | None = None


class BrandWatcher(View, of=UserWatch, index="WatchesByBrand"):
    user_id: str
    watch_key: str


class WatchOfType(View, of=UserWatch, index="WatchesByType"):
    user_id: str
    created_at: datetime
    target_name: str | None = None


TRENDING = Table(
    "TrendingDeals",
    "category_id",
    number("engagement_score"),
    indexes=[global_index("ByMaker", ["maker", "country"], ["model", number("year")])],
)


class TrendingDeal(Entity, table=TRENDING):
    keys = Keys(
        main=("{category_id}", "{engagement_score}"),
        ByMaker=(("MAKER#{maker}", "{country}"), ("{model}", "{year}")),
    )
    category_id: str
    engagement_score: int
    maker: str | None = None
    country: str | None = None
    model: str | None = None
    year: int | None = None


# A hierarchy, soft deletion, shards, hours

PLACES = Table("Places", "PK", "SK", type_attribute="kind")


class Shop(Entity, table=PLACES, deleted="closed_at"):
    """A shop somewhere, at any depth of its place."""

    keys = Keys(main=("COUNTRY#{country}", "SHOP#{state}#{city}#{zip_code}"))
    country: str
    state: str
    city: str
    zip_code: str
    closed_at: datetime | None = None


class Team(Entity, table=PLACES):
    keys = Keys(main=("ORG#{org}", "TEAM#{team}"))
    org: str
    team: str


class Member(Entity, table=PLACES):
    keys = Keys(main=("ORG#{org}", "TEAM#{team}#MEMBER#{name}"))
    org: str
    team: str
    name: str


POLLS = Table("Polls", "poll", "voter", indexes=[global_index("ByTime", "shard_key", "cast_at")])
SHARDS = 4


class Vote(Entity, table=POLLS):
    keys = Keys(main=("{poll}", "{voter}"), ByTime=("POLL#{poll}#{shard}", "{cast_at:seconds}"))
    poll: str
    voter: str
    cast_at: datetime
    shard: int = shard_field(SHARDS, by="voter")


READINGS = Table("Readings", "PK", "SK")


class Measurement(Entity, table=READINGS):
    """In buckets of hours, sorted by its own time in them."""

    keys = Keys(main=("SENSOR#{sensor}#{at:hour}", "{at}"))
    sensor: str
    at: datetime
    value: int = 0


list_buckets(Measurement, "main")


# Running them


class Recording:
    """An engine that remembers what it was asked."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.requests: list[Request] = []

    def __call__(self, request: Request) -> Response:
        self.requests.append(request)
        return self.engine(request)


def open_tables(engine: Engine, *tables: Table, now: datetime = NOON) -> Store:
    """A store with these tables, at a time of the test's own."""
    for table in tables:
        engine(Request("CreateTable", table_request(table)))
    return Store(Recording(engine), clock=lambda: now)


def requests(store: Store) -> list[Request]:
    """What the store has asked since the last time."""
    assert isinstance(store.transport, Recording)
    made, store.transport.requests = store.transport.requests, []
    return made


def fill(store: Store, entities: Iterable[Entity]) -> None:
    for entity in entities:
        store.run(put(entity))
    requests(store)


def table_request(table: Table) -> dict[str, Any]:
    attributes = {
        attribute.name: attribute
        for index in (table.main, *table.indexes)
        for attribute in index.attributes
    }
    request: dict[str, Any] = {
        "TableName": table.name,
        "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": key_schema(table.main),
        "AttributeDefinitions": [
            attribute_definition(attribute) for attribute in attributes.values()
        ],
    }
    for kind, is_global in (("GlobalSecondaryIndexes", True), ("LocalSecondaryIndexes", False)):
        indexes = [index_request(index) for index in table.indexes if index.is_global == is_global]
        if indexes:
            request[kind] = indexes
    return request


def index_request(index: Index) -> dict[str, Any]:
    projection: dict[str, Any] = {"ProjectionType": index.projection}
    if index.include:
        projection["NonKeyAttributes"] = list(index.include)
    return {"IndexName": index.name, "KeySchema": key_schema(index), "Projection": projection}


def key_schema(index: Index) -> list[dict[str, str]]:
    return [
        *({"AttributeName": each.name, "KeyType": "HASH"} for each in index.hash),
        *({"AttributeName": each.name, "KeyType": "RANGE"} for each in index.range),
    ]


def attribute_definition(attribute: Attribute) -> dict[str, str]:
    return {"AttributeName": attribute.name, "AttributeType": attribute.type}


def ksuid(at: datetime, number: int) -> Ksuid:
    """The id of a moment, the same each time."""
    return Ksuid.make(at, number.to_bytes(16))


def deal(at: datetime, n: int = 0, **fields: Any) -> Deal:
    return Deal(deal_id=ksuid(at, n), title=f"deal {n}", created_at=at, **fields)
