"""The demo's shopper: an address, two orders, and a cart, all of the newest deals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Final

from bigtime.model import Entity, Ksuid
from bigtime.systems import accounts, shop
from bigtime.systems.cart import LINES, CartLine, Purchases, Status
from bigtime.systems.deals import Deal

USERNAME: Final = "shopper"
HOME: Final = shop.Address(
    recipient="Sam Shopper",
    street="17 Mill Lane",
    city="Cape Town",
    postal_code="8001",
    country="ZA",
)
IN_CART: Final = ((Status.ACTIVE, 1), (Status.ACTIVE, 2), (Status.ACTIVE, 1), (Status.SAVED, 1))
ORDERS: Final = (
    (timedelta(days=9), shop.OrderStatus.DELIVERED),
    (timedelta(days=2), shop.OrderStatus.SHIPPED),
)
ITEMS_EACH: Final = 2
GOODS: Final = len(IN_CART) + len(ORDERS) * ITEMS_EACH


def shopper_entities(goods: Sequence[Deal], until: datetime) -> Iterator[Entity]:
    """The shopper's customer, cart and orders, of `GOODS` deals."""
    email = accounts.login_of(USERNAME)
    yield shop.Customer(
        username=USERNAME, email=email, name=HOME.recipient, addresses={"home": HOME}
    )
    yield shop.CustomerEmail(email=email, username=USERNAME)
    yield from cart(goods[: len(IN_CART)], until)
    yield from orders(goods[len(IN_CART) :], until)


def cart(goods: Sequence[Deal], until: datetime) -> Iterator[Entity]:
    for number, (deal, (status, count)) in enumerate(zip(goods, IN_CART, strict=True)):
        line = line_of(deal, status, count, until - timedelta(minutes=number + 1))
        yield line
        if marker := LINES.marker_of(line.__dict__):
            yield marker


def orders(goods: Sequence[Deal], until: datetime) -> Iterator[Entity]:
    """The orders, oldest first, and the lines that were bought with them."""
    for number, (age, status) in enumerate(ORDERS):
        deals, at = goods[number * ITEMS_EACH :][:ITEMS_EACH], until - age
        order_id = Ksuid.make(at, sha256(f"order {number}".encode()).digest()[:16])
        whole = shop.new_order(
            USERNAME, order_id, [order_item(deal) for deal in deals], ship_to=HOME
        )
        yield whole.order.model_copy(update={"status": status})
        yield from whole.items
        for deal in deals:
            yield line_of(deal, Status.PURCHASED, 1, at, order_id)
    yield Purchases(account_id=USERNAME, order_id=order_id, begun_at=at, version=len(ORDERS))


def line_of(
    deal: Deal, status: Status, count: int, at: datetime, order_id: Ksuid | None = None
) -> CartLine:
    return CartLine(
        account_id=USERNAME,
        status=status,
        entered_at=at,
        item_sku=deal.deal_id,
        price=deal.price,
        count=count,
        create_timestamp=at,
        order_id=order_id,
    )


def order_item(deal: Deal) -> shop.Ordered:
    return shop.Ordered(item_id=deal.deal_id, price=deal.price, title=deal.title)
