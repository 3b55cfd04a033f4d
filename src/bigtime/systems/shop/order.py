"""Orders: saved whole, moved on, and seen with their items.

An order is made at most once. Its id comes from whoever wants it: `order_id_for` makes it of the
customer and a key, a KSUID that the customer's page was given before anything was ordered, so that
a page that is sent again orders nothing again. Saving an order that is there, the same items at
the same prices, gives that order.

`save_writes` are an order's writes as operations, for whoever puts them into a transaction of their
own, beside writes of other tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from hashlib import sha256
from typing import Any

from pydantic import BaseModel, ConfigDict

from bigtime.model import (
    Ksuid,
    Position,
    Write,
    attr,
    collection,
    create,
    get,
    get_many,
    partition,
    pattern,
    transact,
    update,
)
from bigtime.systems.shop.design import (
    MOST_ITEMS,
    USERNAME,
    Address,
    Count,
    Customer,
    ItemId,
    Order,
    OrderId,
    OrderItem,
    OrderStatus,
    Price,
    Title,
    Username,
    order_id_of,
)
from bigtime.systems.shop.errors import (
    DuplicateItem,
    EmptyOrder,
    OrderExists,
    OrderMovedOn,
    StatusOutOfOrder,
    TooManyItems,
    UnknownCustomer,
    UnknownOrder,
)
from bigtime.wire import Steps

NEXT: Mapping[OrderStatus, frozenset[OrderStatus]] = {
    OrderStatus.PLACED: frozenset({OrderStatus.PICKED, OrderStatus.CANCELLED}),
    OrderStatus.PICKED: frozenset({OrderStatus.SHIPPED, OrderStatus.CANCELLED}),
    OrderStatus.SHIPPED: frozenset({OrderStatus.DELIVERED}),
    OrderStatus.DELIVERED: frozenset(),
    OrderStatus.CANCELLED: frozenset(),
}


class Ordered(BaseModel):
    """What somebody wants: so many of an item, at a price."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    item_id: ItemId
    price: Price
    count: Count = 1
    title: Title | None = None


@dataclass(frozen=True, slots=True)
class WholeOrder:
    """An order and its items."""

    order: Order
    items: tuple[OrderItem, ...]


def order_id_for(username: Username, key: Ksuid) -> Ksuid:
    """The id of the order that a customer makes with a key: the same one, however often."""
    payload = sha256(f"{USERNAME(username)}\0{key}".encode()).digest()
    return Ksuid.make(key.at, payload[:16])


def new_order(
    username: Username,
    order_id: OrderId,
    wanted: Sequence[Ordered],
    *,
    ship_to: Address | None = None,
) -> WholeOrder:
    """An order as it will be saved, or the error that says why it cannot be."""
    if not wanted:
        raise EmptyOrder
    if len(wanted) > MOST_ITEMS:
        raise TooManyItems
    if len({one.item_id for one in wanted}) < len(wanted):
        raise DuplicateItem
    order = Order(
        username=username,
        order_id=order_id,
        item_count=len(wanted),
        total=sum((one.price * one.count for one in wanted), start=Decimal(0)),
        ship_to=ship_to,
    )
    items = (OrderItem(order_id=order.order_id, **dict(one)) for one in wanted)
    return WholeOrder(order, tuple(sorted(items, key=lambda one: one.item_id)))


def save_writes(whole: WholeOrder) -> tuple[Write[Any], ...]:
    """The writes of an order: itself and each item, all of them new, or else OrderExists."""
    entities = (whole.order, *whole.items)
    return tuple(create(entity, unless_exists=OrderExists) for entity in entities)


@pattern("Save Order", index="N/A", takes="N/A")
def save_order(
    username: Username,
    order_id: OrderId,
    wanted: Sequence[Ordered],
    *,
    ship_to: Address | None = None,
) -> Steps[Order]:
    """Transaction with its items."""
    whole = new_order(username, order_id, wanted, ship_to=ship_to)
    yield from get(Customer.key(username), missing=UnknownCustomer, consistent=True)
    try:
        yield from transact(*save_writes(whole))
    except OrderExists:
        return (yield from saved_before(whole))
    return whole.order


def saved_before(whole: WholeOrder) -> Steps[Order]:
    """The order as it is by now, if it is this one; OrderExists, if it is another."""
    order = yield from get(whole.order.own_key(), missing=OrderExists, consistent=True)
    items = yield from get_many((item.own_key() for item in whole.items), consistent=True)
    as_it_began = order.model_copy(update={"status": whole.order.status})
    if as_it_began != whole.order or items != list(whole.items):
        raise OrderExists
    return order


@pattern(
    "Update Order Status",
    index="N/A",
    takes="N/A",
    sample={"seen": OrderStatus.PLACED, "status": OrderStatus.PICKED},
)
def update_order_status(
    username: Username, order_id: OrderId, seen: OrderStatus, status: OrderStatus
) -> Steps[Order]:
    """Only from the status it was seen in, to one that comes next."""
    if status not in NEXT[seen]:
        raise StatusOutOfOrder
    return (
        yield from update(
            Order.key(username, order_id),
            status=status,
            if_exists=UnknownOrder,
            when=attr("status") == seen,
            otherwise=OrderMovedOn,
        )
    )


@pattern("View Order of Customer", index="Main table")
def view_order_of(username: Username, order_id: OrderId) -> Steps[Order]:
    """Without its items; another's is as unknown as none."""
    order_id = order_id_of(order_id)
    return (yield from get(Order.key(username, order_id), missing=UnknownOrder, consistent=True))


@pattern("View Order and its Items", index="GSI1")
def view_order(order_id: OrderId) -> Steps[WholeOrder]:
    """The order, then its items: read backwards.

    GSI1 follows the table with a delay, and item by item: while it has fewer than the order's
    `item_count`, the order is not complete yet.
    """
    everything = partition(Order, "GSI1", order_id=order_id_of(order_id))
    found: list[Order | OrderItem] = []
    position: Position | None = None
    while True:
        page = yield from collection(
            Order, OrderItem, within=everything, newest_first=True, after=position
        )
        found += page.items
        position = page.position
        if position is None:
            break
    return whole_of(found)


def whole_of(found: Sequence[Order | OrderItem]) -> WholeOrder:
    order = next((one for one in found if isinstance(one, Order)), None)
    if order is None:
        raise UnknownOrder
    return WholeOrder(order, tuple(one for one in reversed(found) if isinstance(one, OrderItem)))
