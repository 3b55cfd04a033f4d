"""The visitor's orders, and the page of each with its items."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from fastapi import Response

from bigtime.model import Page, Position
from bigtime.site import STATUS_LABELS, Mover, Visitor, move_order
from bigtime.systems import cart, deals, shop
from bigtime.web.http import key_of, see_other
from bigtime.web.pages import AppContext, AppRequest, page_router
from bigtime.wire import Steps

CANCELLABLE = (shop.OrderStatus.PLACED, shop.OrderStatus.PICKED)

router = page_router()


@dataclass(frozen=True, slots=True)
class ShownOrder:
    """An order, the items that the index has, and the ids of those that are still on offer."""

    order: shop.Order
    items: tuple[shop.OrderItem, ...]
    offered: frozenset[str]

    @property
    def is_complete(self) -> bool:
        return len(self.items) >= self.order.item_count


@router.get("/orders")
async def show_orders(request: AppRequest) -> Response:
    """The visitor's orders, newest first."""
    visitor = await request.signed_in()
    found = await request.run(orders_of(visitor.username, request.page_start))
    return await request.list_page(
        "orders/orders.html", found, orders=found.items, words=STATUS_LABELS
    )


@router.get("/orders/{order_id}")
async def show_order(
    request: AppRequest, order_id: str, placed: str = "", cancelled: str = ""
) -> Response:
    """An order of the visitor; another user's is unknown.

    `placed` is "yes" after the checkout that placed it, and "before" after a checkout form that had
    placed it with other lines.
    """
    visitor = await request.signed_in()
    found = await request.run(order_of(visitor.username, order_id))
    return await request.form_page(
        "orders/order.html",
        whole=found,
        placed=placed,
        cancelled=cancelled == "yes" and found.order.status is shop.OrderStatus.CANCELLED,
        is_mailed=visitor.is_confirmed,
        has_more_to_buy=bool(placed) and await has_more_to_buy(request.context, visitor),
        words=STATUS_LABELS,
        may_cancel=found.order.status in CANCELLABLE,
    )


@router.post("/orders/{order_id}/cancel")
async def cancel_order(request: AppRequest, order_id: str) -> Response:
    """Cancels an order that is not on its way yet."""
    visitor = await request.signed_in()
    await request.read_fields()
    order = await request.run(cancel(request.context.mover(visitor), order_id))
    return see_other(f"/orders/{order.order_id}?cancelled=yes")


def cancel(customer: Mover, order_id: str) -> Steps[shop.Order]:
    username = customer.username
    order = yield from read_order(username, order_id)
    if order.status is shop.OrderStatus.CANCELLED:
        return order
    return (
        yield from move_order(
            customer, username, order.order_id, order.status, shop.OrderStatus.CANCELLED
        )
    )


async def has_more_to_buy(context: AppContext, visitor: Visitor) -> bool:
    steps = cart.view_products(visitor.username, cart.Status.ACTIVE, limit=1)
    return bool((await context.store.run(steps)).items)


def orders_of(username: str, after: Position | None) -> Steps[Page[shop.Order]]:
    """A page of orders; empty for a user who is not a customer, as they never ordered."""
    try:
        return (yield from shop.view_customer(username, after=after, consistent=True)).orders
    except shop.UnknownCustomer:
        return Page([])


def read_order(username: str, order_id: str) -> Steps[shop.Order]:
    """The order of a path; an invalid id raises the same error as another customer's order."""
    wanted = key_of(order_id, shop.order_id_of, shop.UnknownOrder)
    return (yield from shop.view_order_of(username, wanted))


def order_of(username: str, order_id: str) -> Steps[ShownOrder]:
    """The order from the table, its items from the index, which may lag behind."""
    order = yield from read_order(username, order_id)
    items: tuple[shop.OrderItem, ...] = ()
    with suppress(shop.UnknownOrder):
        items = (yield from shop.view_order(order.order_id)).items
    ids: list[Any] = [item.item_id for item in items]
    offered = yield from deals.fetch_deals(ids)
    return ShownOrder(order, items, frozenset(deal.deal_id for deal in offered))
