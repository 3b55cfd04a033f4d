"""A small deals site: two brands, the eight categories, and deals when they are wanted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from hashlib import sha256
from typing import Any

from bigtime.model import Ksuid, Reaction, load_many
from bigtime.systems.deals.brands import create_brand, create_categories
from bigtime.systems.deals.deals import create_deal
from bigtime.systems.deals.design import BIG_TIME_DEALS, Deal
from bigtime.wire import Item
from tests.store.places import START, Place

TABLE = BIG_TIME_DEALS.name
LINK = "https://shop.example/lamp?colour=red#top"


def open_site(place: Place, *brands: str) -> None:
    place.run(create_categories())
    for name in brands or ("Apple", "Sony"):
        place.run(create_brand(name))


def post_deal(place: Place, **told: Any) -> Deal:
    """A deal as an editor makes it, now."""
    facts: dict[str, Any] = {
        "title": "A lamp",
        "link": LINK,
        "price": Decimal("19.99"),
        "brand_name": "Apple",
        "category_name": "Home",
    }
    return place.run(create_deal(**{**facts, **told}))


def deal(at: datetime, number: int = 0, brand: str = "Apple", category: str = "Home") -> Deal:
    """A deal of a moment; the number tells it from others of the same second."""
    return Deal(
        deal_id=Ksuid.make(at, sha256(f"{number}".encode()).digest()[:16]),
        title=f"Lamp {number}",
        link=LINK,
        price=Decimal("19.99"),
        brand=brand,
        brand_name=brand,
        category=category,
        category_name=category,
    )


def deals_of_days(counts: Sequence[int], newest: datetime = START, **kind: str) -> list[Deal]:
    """So many deals today, yesterday and so on, newest first."""
    made = [
        deal(newest - timedelta(days=age, minutes=number), 1_000 * age + number, **kind)
        for age, count in enumerate(counts)
        for number in range(count)
    ]
    return sorted(made, key=lambda one: one.deal_id, reverse=True)


def load(place: Place, deals: Iterable[Deal]) -> None:
    place.run(load_many(deals))


def dump(place: Place) -> list[Item]:
    """Everything that the table holds."""
    items: list[Item] = []
    more: dict[str, Any] = {}
    while True:
        page = place.ask("Scan", TableName=TABLE, ConsistentRead=True, **more)
        items += page["Items"]
        if "LastEvaluatedKey" not in page:
            return sorted(items, key=lambda item: (item["PK"]["S"], item["SK"]["S"]))
        more = {"ExclusiveStartKey": page["LastEvaluatedKey"]}


def raw(place: Place, pk: str, sk: str) -> Item | None:
    key = {"PK": {"S": pk}, "SK": {"S": sk}}
    found: Item | None = place.ask("GetItem", TableName=TABLE, Key=key, ConsistentRead=True).get(
        "Item"
    )
    return found


def react(place: Place, *reactions: Reaction, name: str = "site") -> None:
    """Lets reactions see what is new in the stream; another name sees it all from the start."""
    for reaction in reactions:
        place.consumer(TABLE, reaction.handle, name=f"{name}-{reaction.name}")()
