"""Views of carts: an account's products, and a product's carts, by status and newest first."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from bigtime.model import (
    KeyRange,
    Page,
    Position,
    all_of,
    at_least,
    attr,
    between,
    count,
    gather,
    pattern,
    query,
    shards,
)
from bigtime.systems.cart.design import (
    ACCOUNT,
    IS_SHARDED,
    SKU,
    AccountId,
    CartLine,
    ItemSku,
    OrderId,
    Status,
    order_id_of,
)
from bigtime.wire import Steps

PAGE = 25
MOST_COUNTED = 100
DAY = timedelta(days=1) - timedelta(milliseconds=1)
"""From its first instant to its last; an instant is a millisecond."""


@pattern("View Products of Account by Status", index="Main table", takes="AccountID, Status")
def view_products(
    account_id: AccountId,
    status: Status,
    *,
    limit: int = PAGE,
    after: Position | None = None,
    consistent: bool = True,
) -> Steps[Page[CartLine]]:
    """Newest first."""
    lines = CartLine.within("main", account_id=ACCOUNT(account_id), status=status)
    return (
        yield from query(lines, newest_first=True, limit=limit, after=after, consistent=consistent)
    )


@pattern("Count Products of Account by Status", index="Main table", takes="AccountID, Status")
def count_products(account_id: AccountId, status: Status) -> Steps[int]:
    """At most 100 are counted: who has that many sees that there are many."""
    lines = CartLine.within("main", account_id=ACCOUNT(account_id), status=status)
    return (yield from count(lines, most=MOST_COUNTED))


@pattern("View Carts of SKU by Status", index="GSI-SKU", takes="ItemSKU, Status")
def view_carts(
    item_sku: ItemSku, status: Status, *, limit: int = PAGE, after: Position | None = None
) -> Steps[Page[CartLine]]:
    """Across accounts, newest first.

    The index follows the table with a delay.
    """
    return (yield from of_sku(item_sku, limit, after, status=status))


@pattern("View Carts of SKU by Status for a Day", index="GSI-SKU", takes="ItemSKU, Status, Day")
def view_carts_of_day(
    item_sku: ItemSku,
    status: Status,
    day: date,
    *,
    limit: int = PAGE,
    after: Position | None = None,
) -> Steps[Page[CartLine]]:
    """Across accounts, newest first, from the day's first instant to the last before the next."""
    start = datetime.combine(day, time(), tzinfo=UTC)
    entered = between(start, start + DAY)
    return (yield from of_sku(item_sku, limit, after, status=status, entered_at=entered))


@pattern("View Products of Purchase", index="Main table", takes="AccountID, OrderId")
def view_purchase(account_id: AccountId, order_id: OrderId) -> Steps[list[CartLine]]:
    """All lines of an order have one time, at or after that of its id."""
    account_id, order_id = ACCOUNT(account_id), order_id_of(order_id)
    ours = attr("order_id") == order_id
    since = purchased_range(account_id, at_least(order_id.at))
    position: Position | None = None
    while True:
        page = yield from query(since, limit=1, filter=ours, after=position, consistent=True)
        if page:
            together = purchased_range(account_id, page.items[0].entered_at)
            return (yield from all_of(together, filter=ours, consistent=True))
        position = page.position
        if position is None:
            return []


def purchased_range(account_id: str, entered_at: Any) -> KeyRange[CartLine]:
    return CartLine.within(
        "main", account_id=account_id, status=Status.PURCHASED, entered_at=entered_at
    )


def of_sku(
    item_sku: str, limit: int, after: Position | None, **stretch: Any
) -> Steps[Page[CartLine]]:
    """A page of the index, from as many partitions as a SKU has there."""
    asked = {"item_sku": SKU(item_sku), **stretch}
    if IS_SHARDED:
        spread = shards(CartLine, "GSI-SKU", **asked)
        return (yield from gather(spread, newest_first=True, limit=limit, after=after))
    lines = CartLine.within("GSI-SKU", **asked)
    return (yield from query(lines, newest_first=True, limit=limit, after=after))
