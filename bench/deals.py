"""The deal that all clients read and write: ten fields, two keys, 25 to a page."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from bigtime.model import Entity, Keys, Table
from bigtime.wire import Item, Response

BRAND = "APPLE"
PAGE = 25
NOON = datetime(2026, 3, 10, 12, 30, 15, 250_000, tzinfo=UTC)

DEALS = Table("Deals", "PK", "SK")


class Deal(Entity, table=DEALS):
    """A discounted product somewhere on the web."""

    keys = Keys(main=("BRAND#{brand}", "DEAL#{deal_id}"))
    brand: str
    deal_id: str
    title: str
    link: str
    category: str
    price: Decimal
    likes: int
    featured: bool
    created_at: datetime
    tags: set[str]


def fields(number: int) -> dict[str, Any]:
    return {
        "brand": BRAND,
        "deal_id": f"{number:08}",
        "title": f"A keyboard with {number} keys, some of them silent",
        "link": f"https://deals.example/keyboards/{number:08}",
        "category": "ELECTRONICS",
        "price": Decimal(number) + Decimal("0.5"),
        "likes": 1_000 + number,
        "featured": number % 2 == 0,
        "created_at": NOON + timedelta(minutes=number),
        "tags": {"keyboard", "silent", "wireless"},
    }


def deal(number: int) -> Deal:
    return Deal(**fields(number))


def key(number: int) -> dict[str, str]:
    """The keys, as a program without templates writes them."""
    return {"PK": f"BRAND#{BRAND}", "SK": f"DEAL#{number:08}"}


def item(number: int) -> Item:
    return Deal.layout.to_item(deal(number))


def responses(items: list[Item]) -> dict[str, Response]:
    """DynamoDB's answers: the first of the items, an empty answer, and a page, which is the last.

    Because it is the last, a client that looks one item ahead sends no second request.
    """
    return {
        "GetItem": {"Item": items[0]},
        "PutItem": {},
        "Query": {
            "Items": items,
            "Count": len(items),
            "ScannedCount": len(items),
        },
    }
