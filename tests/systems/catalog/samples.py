"""The catalogue's own sample data, and what its tables hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, TypeVar

from bigtime.model import Page, Position
from bigtime.systems.catalog import SYSTEM
from bigtime.systems.catalog.deals import create_brand
from bigtime.systems.catalog.design import Brand, Deal, TrendingDeal, User, UserActivity, rank_of
from bigtime.wire import Item, Steps
from tests.store.places import START, Place

T = TypeVar("T")

TEN = datetime(2024, 1, 15, 10, tzinfo=UTC)
SONY, ASUS = "brand-sony", "brand-asus"
NAMES = {SONY: "Sony", ASUS: "Asus"}


def minutes(number: int) -> datetime:
    return TEN + timedelta(minutes=number)


def deal(deal_id: str = "deal-12345", **changed: Any) -> Deal:
    fields = {
        "title": "Noise-cancelling headphones",
        "description": "Over the ear, thirty hours",
        "price": Decimal("149.99"),
        "brand_id": SONY,
        "brand_name": "Sony",
        "category_id": "electronics",
        "category_name": "Electronics",
        "posted_at": TEN,
        "status": "active",
    }
    return Deal.model_validate({"deal_id": deal_id, **fields, **changed})


def new_deal(deal_id: str = "deal-12345", **changed: Any) -> Deal:
    """One that is posted as the test begins."""
    return deal(deal_id, **{"posted_at": START, **changed})


def user(user_id: str = "user-67890") -> User:
    return User(
        user_id=user_id,
        username="dealseeker123",
        email="john.doe@example.com",
        display_name="John Doe",
        created_at=TEN,
    )


def brand(brand_id: str = SONY) -> Brand:
    return Brand(brand_id=brand_id, brand_name=NAMES.get(brand_id, brand_id), created_at=TEN)


def activity(activity_id: str, at: datetime = TEN, **changed: Any) -> UserActivity:
    fields = {
        "user_id": "user-67890",
        "activity_type": "deal_view",
        "details": {"deal_id": "deal-12345", "duration_seconds": 45, "source": "homepage"},
    }
    return UserActivity.model_validate(
        {"activity_id": activity_id, "timestamp": at, **fields, **changed}
    )


def trending_deal(deal_id: str = "deal-12345", score: int = 850, **changed: Any) -> TrendingDeal:
    fields = {
        "category_id": "electronics",
        "title": "Noise-cancelling headphones",
        "brand_id": SONY,
        "discount_percentage": Decimal("50.0"),
        "views": 1250,
        "clicks": 89,
    }
    told = {"deal_id": deal_id, "rank": rank_of(score, deal_id), **fields, **changed}
    return TrendingDeal.model_validate(told)


def with_brands(place: Place) -> None:
    for brand_id in NAMES:
        place.run(create_brand(brand(brand_id)))


def pages(place: Place, ask: Callable[[Position | None], Steps[Page[T]]]) -> Iterator[list[T]]:
    """All pages of a pattern, one after the other."""
    position = None
    while True:
        page = place.run(ask(position))
        yield page.items
        position = page.position
        if position is None:
            return


def join_lists(lists: Iterable[list[T]]) -> list[T]:
    return [item for items in lists for item in items]


def stored_items(place: Place, table: str, **asked: Any) -> list[Item]:
    """All items of a table, in the order of their text."""
    found: list[Item] = []
    start: dict[str, Any] = {}
    while True:
        answer = place.ask("Scan", TableName=table, **asked, **start)
        found += answer["Items"]
        if "LastEvaluatedKey" not in answer:
            return sorted(found, key=repr_of)
        start = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}


def repr_of(item: Item) -> str:
    return repr(sorted(item.items()))


def all_items(place: Place) -> dict[str, list[Item]]:
    return {table.name: stored_items(place, table.name) for table in SYSTEM.tables}
