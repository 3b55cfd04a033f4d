"""Checkouts as tests make them, and what must hold after any of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from decimal import Decimal
from typing import Any

from bigtime.model import Ksuid, System, get, verify
from bigtime.site.checkout import Checkout
from bigtime.site.design import Mail
from bigtime.site.priced_cart import digest
from bigtime.store.driver import Runnable
from bigtime.systems import cart, shop
from bigtime.systems.cart.design import CartLine, Status
from bigtime.systems.cart.line import view_products
from bigtime.systems.shop.customer import view_customer
from bigtime.systems.shop.design import Address, Order, UnknownCustomer
from bigtime.systems.shop.order import view_order
from bigtime.wire import Steps
from tests.store.places import START

HOME = Address(
    recipient="Liz Moyo",
    street="1 Long Street",
    city="Cape Town",
    postal_code="8001",
    country="South Africa",
)
TYPED = {**HOME.model_dump(exclude_none=True), "ship_to": "new"}
TABLES = System("checkout", (*cart.SYSTEM.tables, *shop.SYSTEM.tables))

Run = Callable[[Runnable[Any]], Any]


def key(number: int = 1, at: datetime = START) -> Ksuid:
    return Ksuid.make(at, number.to_bytes(16))


def digest_of_lines(lines: Iterable[CartLine]) -> str:
    """The digest of lines at the prices that they keep."""
    return digest((line.item_sku, line.count, line.price) for line in lines)


def checkout(lines: list[CartLine], *, number: int = 1, at: datetime = START) -> Checkout:
    """As a page with these lines would send it."""
    return Checkout(
        username="liz",
        email="liz@example.com",
        key=key(number, at),
        ship_to=HOME,
        reviewed=digest_of_lines(lines),
        orders_url="http://site.example/orders",
        is_confirmed=True,
    )


def orders_of(username: str) -> Steps[list[Order]]:
    try:
        found = yield from view_customer(username, limit=100, consistent=True)
    except UnknownCustomer:
        return []
    return found.orders.items


def check_all_agrees(run: Run, username: str = "liz") -> None:
    """Nothing is half done: neither of one's orders, nor anywhere in the tables."""
    check_whole(run, username)
    assert run(verify(TABLES)) == []


def check_whole(run: Run, username: str) -> None:
    """Each order has its purchased lines, its items and one letter."""
    bought: dict[str, dict[str, tuple[int, Decimal]]] = {}
    for line in run(view_products(username, Status.PURCHASED, limit=1_000)):
        bought.setdefault(str(line.order_id), {})[line.item_sku] = line.count, line.price
    orders = run(orders_of(username))
    assert {str(order.order_id) for order in orders} == bought.keys()
    for order in orders:
        items = run(view_order(order.order_id)).items
        wanted = {item.item_id: (item.count, item.price) for item in items}
        assert wanted == bought[str(order.order_id)]
        assert order.item_count == len(items)
        assert order.total == sum(count * price for count, price in wanted.values())
        assert run(get(Mail.key(f"order-confirmation {order.order_id}"))) is not None
