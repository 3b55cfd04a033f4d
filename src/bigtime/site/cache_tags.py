"""Cache tags: what a cached page shows, and so which pages to invalidate when an item is written.

A page has the tags of the items and lists that it shows. An item's tags are computed from its key
and, where the whole item is known, also from the item. So the process that writes has them in its
request, and other processes get them from the stream.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import lru_cache
from typing import Any, Final, TypeAlias

from bigtime import model as bt
from bigtime.systems import cart, catalog, deals, portal
from bigtime.wire import Item, Response

LATEST = "latest"
"""The first of the latest deals, from an index or from their copies."""
ALL_DEALS = "all deals"
"""The list of all deals in their index."""
FRONT_PAGE = "front page"
EDITORS_CHOICE = "editors choice"
BRANDS = "brands"
PRICING = "pricing"
TENANTS = "tenants"
CAMPAIGNS = "campaigns"


Tag: TypeAlias = Callable[[str], str]
"""Makes the tag of an item, or of a list, from its key."""

deal_tag: Final[Tag] = "deal {}".format
brand_tag: Final[Tag] = "brand {}".format
"""A brand's own item: its name and its counts."""
brand_deals_tag: Final[Tag] = "brand deals {}".format
category_tag: Final[Tag] = "category {}".format
category_deals_tag: Final[Tag] = "category deals {}".format
trending_tag: Final[Tag] = "trending {}".format
"""The trending deals of a category, and their ranks."""
brand_trending_tag: Final[Tag] = "trending of brand {}".format
catalog_deal_tag: Final[Tag] = "catalogue deal {}".format
catalog_brand_tag: Final[Tag] = "catalogue brand {}".format
catalog_brand_deals_tag: Final[Tag] = "catalogue brand deals {}".format
catalog_category_deals_tag: Final[Tag] = "catalogue category deals {}".format
product_tag: Final[Tag] = "product {}".format
campaign_tag: Final[Tag] = "campaign {}".format
inbox_tag: Final[Tag] = "inbox of {}".format
cart_tag: Final[Tag] = "cart of {}".format
interests_tag: Final[Tag] = "interests of {}".format
"""What a user likes and watches."""
saved_tag: Final[Tag] = "saved deals of {}".format

Fields: TypeAlias = Mapping[str, Any]

INTERESTS: Final = deals.BrandLike, deals.BrandWatch, deals.CategoryLike, deals.CategoryWatch
TAGS: Final[Mapping[type[bt.Entity], Callable[[Fields], Iterable[str]]]] = {
    deals.Deal: lambda key: [deal_tag(key["deal_id"])],
    deals.Brand: lambda key: [brand_tag(key["brand"])],
    deals.Category: lambda key: [category_tag(key["category"])],
    deals.Brands: lambda key: [BRANDS],
    # A page that was read from a copy of the deals may lack the newest.
    deals.DealsCache: lambda key: [LATEST],
    deals.EditorsChoice: lambda key: [EDITORS_CHOICE],
    deals.FrontPage: lambda key: [FRONT_PAGE],
    catalog.Deal: lambda key: [catalog_deal_tag(key["deal_id"])],
    catalog.Brand: lambda key: [catalog_brand_tag(key["brand_id"])],
    catalog.TrendingDeal: lambda key: [trending_tag(key["category_id"])],
    portal.Tenant: lambda key: [TENANTS],
    portal.Product: lambda key: [PRICING, product_tag(key["id"])],
    portal.Campaign: lambda key: [CAMPAIGNS, campaign_tag(key["code"])],
    cart.CartLine: lambda key: [cart_tag(key["account_id"])],
    deals.Message: lambda key: [inbox_tag(key["username"])],
    deals.SavedDeals: lambda key: [saved_tag(key["username"])],
    **dict.fromkeys(INTERESTS, lambda key: [interests_tag(key["username"])]),
}
"""The tags of an item, from the fields of its key."""

SHOWN: Final = (
    deals.BIG_TIME_DEALS,
    catalog.DEALS,
    catalog.BRANDS,
    catalog.TRENDING_DEALS,
    cart.CART,
    portal.TENANTS,
    portal.PRODUCTS,
    portal.CAMPAIGNS,
)
"""The tables that cached pages show."""

TABLES: Final = {table.name: table for table in SHOWN}
KEYS: Final = {
    table.name: {attribute.name: attribute.type for attribute in table.main.attributes}
    for table in SHOWN
}


def tags_of_item(table: str, item: Item) -> Collection[str]:
    """The tags of an item or a key; for a whole item, also those of the lists that it is in.

    A key does not say which lists its item is in. So a page also has the tags of the items that it
    lists (`deal_tags`), and only an item that is new to a list needs the list's own tag.
    """
    kinds = KEYS.get(table)
    if kinds is None:
        return ()
    tags = tags_of_key(table, *[item[name][kind] for name, kind in kinds.items()])
    return [*tags, *list_places(table, item)] if len(item) > len(kinds) else tags


DEAL: Final = {"S": deals.Deal.__name__}

Places: TypeAlias = Mapping[str, str]
"""The tags of the lists that an item is in, and what each sorts it by."""


def list_places(table: str, item: Item) -> Places:
    """The lists that a whole item is in."""
    find = LISTS.get(table)
    return {} if find is None else find(item)


def deal_places(item: Item) -> Places:
    if item.get("Type") != DEAL:
        return {}
    deal = deals.Deal.layout.from_item(item)
    return dict.fromkeys(list_tags(deal), deal.deal_id) if deal.is_listed else {}


CATALOG_LISTS: Final = {
    "brand_id": catalog_brand_deals_tag,
    "category_id": catalog_category_deals_tag,
}


def catalog_deal_places(item: Item) -> Places:
    """An expired deal is in no index: it lacks their sort key, `created_at`."""
    if "created_at" not in item:
        return {}
    listed = (name for name in CATALOG_LISTS if name in item)
    return {CATALOG_LISTS[name](item[name]["S"]): item["created_at"]["S"] for name in listed}


def trending_places(item: Item) -> Places:
    if not {"brand_id", "discount_percentage"} <= item.keys():
        return {}
    return {brand_trending_tag(item["brand_id"]["S"]): item["discount_percentage"]["N"]}


LISTS: Final[Mapping[str, Callable[[Item], Places]]] = {
    deals.BIG_TIME_DEALS.name: deal_places,
    catalog.DEALS.name: catalog_deal_places,
    catalog.TRENDING_DEALS.name: trending_places,
}


@lru_cache(maxsize=10_000)
def tags_of_key(table: str, *values: str) -> tuple[str, ...]:
    kinds = KEYS[table].items()
    item: Item = {name: {kind: value} for (name, kind), value in zip(kinds, values, strict=True)}
    key = bt.key_of_item(TABLES[table], item)
    tell = None if key is None else TAGS.get(key.entity)
    return () if key is None or tell is None else tuple(tell(key.fields))


def tags_of_record(table: str, record: Response) -> set[str]:
    """The tags to invalidate after a change, from its stream record."""
    changed = record["dynamodb"]
    old, new = changed.get("OldImage"), changed.get("NewImage")
    if not (old and new):
        return {*tags_of_item(table, old or new or changed["Keys"])}
    # A list in which it keeps its place has not changed.
    moved = list_places(table, old).items() ^ list_places(table, new).items()
    return {tag for tag, _ in moved} | {*tags_of_item(table, changed["Keys"])}


def deal_tags(found: Iterable[deals.Deal]) -> list[str]:
    """The tags of a page that lists deals, besides the list's own."""
    return [f"deal {deal.deal_id}" for deal in found]  # `deal_tag` inlined: saves 25 calls a page


def list_tags(deal: deals.Deal) -> tuple[str, ...]:
    """The tags of the lists that a deal is in."""
    return LATEST, ALL_DEALS, brand_deals_tag(deal.brand), category_deals_tag(deal.category)
