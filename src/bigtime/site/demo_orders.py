"""Demo orders for the queue of the staff: a few customers, some orders in each status."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Final

from bigtime import model as bt
from bigtime.site.order_queue import OrderMove, queue_entry
from bigtime.systems import shop
from bigtime.systems.deals import Deal
from bigtime.systems.shop import OrderStatus

STAFF: Final = "admin"
ADDRESSES: Final = (
    ("nadia", "Nadia Okafor", "4 Harbour View", "Lagos", "101233", "NG"),
    ("omar", "عمر حداد", "12 شارع النيل", "القاهرة", "11511", "EG"),
    ("priya", "Priya Tanaka", "88 Station Road", "Leeds", "LS1 4AP", "GB"),
    ("hugo", "Hugo Larsen", "3 Oak Avenue", "Graz", "8010", "AT"),
    ("mei", "Mei Silva", "21 Long Street", "Porto", "4000-069", "PT"),
)
STATUSES: Final = (
    *(OrderStatus.PLACED,) * 6,
    *(OrderStatus.PICKED,) * 3,
    *(OrderStatus.SHIPPED,) * 3,
    *(OrderStatus.DELIVERED,) * 4,
    *(OrderStatus.CANCELLED,) * 2,
)
PATHS: Final = {
    OrderStatus.PLACED: (),
    OrderStatus.PICKED: (OrderStatus.PICKED,),
    OrderStatus.SHIPPED: (OrderStatus.PICKED, OrderStatus.SHIPPED),
    OrderStatus.DELIVERED: (OrderStatus.PICKED, OrderStatus.SHIPPED, OrderStatus.DELIVERED),
    OrderStatus.CANCELLED: (OrderStatus.CANCELLED,),
}
"""The moves that lead to a status."""
APART: Final = timedelta(hours=7)
FIRST: Final = timedelta(minutes=25)
MOVED_AFTER: Final = timedelta(minutes=20)


def other_orders(goods: Sequence[Deal], until: datetime) -> Iterator[bt.Entity]:
    """The customers and their orders of the newest deals, the newest order first."""
    customers = [customer_of(*facts) for facts in ADDRESSES]
    for customer in customers:
        yield customer
        yield shop.CustomerEmail(email=customer.email, username=customer.username)
    for number, status in enumerate(STATUSES):
        customer = customers[number % len(customers)]
        at = until - FIRST - number * APART
        order_id = bt.Ksuid.make(at, sha256(f"queued {number}".encode()).digest()[:16])
        bought = [goods[(number * 3 + place) % len(goods)] for place in range(1 + number % 3)]
        items = [
            shop.OrderedItem(
                item_id=deal.deal_id, price=deal.price, title=deal.title, count=1 + number % 2
            )
            for deal in bought
        ]
        home = customer.addresses["home"]
        whole = shop.new_order(customer.username, order_id, items, ship_to=home)
        yield from order_history(whole, status, until)


def customer_of(
    username: str, name: str, street: str, city: str, postal_code: str, country: str
) -> shop.Customer:
    home = shop.Address(
        recipient=name, street=street, city=city, postal_code=postal_code, country=country
    )
    email = f"{username}@example.com"
    return shop.Customer(username=username, email=email, name=name, addresses={"home": home})


def order_history(
    whole: shop.WholeOrder, status: OrderStatus, until: datetime
) -> Iterator[bt.Entity]:
    """An order in a status, its items, its entry in the queue, and who has moved it there."""
    order = whole.order.model_copy(update={"status": status})
    yield order
    yield from whole.items
    yield queue_entry(order)
    for number, reached in enumerate(PATHS[status], start=1):
        who = None if reached is OrderStatus.CANCELLED else STAFF
        at = min(order.created_at + number * MOVED_AFTER, until)
        yield OrderMove(order_id=order.order_id, status=reached, who=who, at=at)
