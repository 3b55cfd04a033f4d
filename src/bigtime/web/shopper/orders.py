"""Orders: those of whoever asks, and each with its items."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from bigtime.model import Page, Position, Steps
from bigtime.systems.cart.design import Status
from bigtime.systems.cart.view import view_products
from bigtime.systems.deals.deals import fetch_deals
from bigtime.systems.shop.customer import view_customer
from bigtime.systems.shop.design import Order, OrderItem, OrderStatus, order_id_of
from bigtime.systems.shop.errors import InvalidOrderId, UnknownCustomer, UnknownOrder
from bigtime.systems.shop.order import view_order, view_order_of
from bigtime.web.site import Site, site_of
from bigtime.web.visitor import Visitor

WORDS = {
    OrderStatus.PLACED: "Placed",
    OrderStatus.PICKED: "Being packed",
    OrderStatus.SHIPPED: "On its way",
    OrderStatus.DELIVERED: "Delivered",
    OrderStatus.CANCELLED: "Cancelled",
}

orders = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class ShownOrder:
    """An order, its items as far as they are to be seen, and those that are still on offer."""

    order: Order
    items: tuple[OrderItem, ...]
    offered: frozenset[str]

    @property
    def is_complete(self) -> bool:
        return len(self.items) >= self.order.item_count


@orders.get("/orders")
async def show_orders(request: Request, after: str | None = None) -> Response:
    """Somebody's orders, newest first."""
    site = site_of(request)
    visitor = await site.signed_in(request)
    found = await site.store.run(orders_of(visitor.username, site.cursors.read(after)))
    page = site.templates.page(
        "orders/orders.html",
        orders=found.items,
        after=site.cursors.write(found.position),
        is_first=after is None,
        words=WORDS,
    )
    return await site.answer(request, page)


@orders.get("/orders/{order_id}")
async def show_order(request: Request, order_id: str, placed: str = "") -> Response:
    """One order; another's is as unknown as none.

    `placed` says how somebody comes here: from the page that ordered it, or from one that was sent
    after it had ordered something else.
    """
    site = site_of(request)
    visitor = await site.signed_in(request)
    try:
        found = await site.store.run(order_of(visitor.username, order_id))
    except InvalidOrderId:
        raise UnknownOrder from None
    page = site.templates.page(
        "orders/order.html",
        shown=found,
        placed=placed,
        has_more_to_buy=bool(placed) and await has_more_to_buy(site, visitor),
        words=WORDS,
    )
    return await site.answer(request, page)


async def has_more_to_buy(site: Site, visitor: Visitor) -> bool:
    left = await site.store.run(view_products(visitor.username, Status.ACTIVE, limit=1))
    return bool(left.items)


def orders_of(username: str, after: Position | None) -> Steps[Page[Order]]:
    """Whoever has never ordered is no customer, and has none."""
    try:
        return (yield from view_customer(username, after=after, consistent=True)).orders
    except UnknownCustomer:
        return Page([])


def order_of(username: str, order_id: str) -> Steps[ShownOrder]:
    """The order from the table, its items from the index, which may lag behind."""
    order = yield from view_order_of(username, order_id_of(order_id))
    items: tuple[OrderItem, ...] = ()
    with suppress(UnknownOrder):
        items = (yield from view_order(order.order_id)).items
    ids: list[Any] = [one.item_id for one in items]
    deals = yield from fetch_deals(ids)
    return ShownOrder(order, items, frozenset(deal.deal_id for deal in deals))
