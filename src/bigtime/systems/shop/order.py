"""Orders: saved whole, updated in status, viewed with their items.

An order is created at most once. The caller passes its id: `order_id_for` derives it from the
customer and an idempotency key, a KSUID in the order form, so that a form that is sent twice orders
once. Saving an existing order again, with the same items at the same prices, returns that order.

`save_writes` returns an order's writes, for a transaction with writes to other tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from hashlib import sha256
from typing import Any

from pydantic import BaseModel, ConfigDict

from bigtime import model as bt
from bigtime.systems.shop import design
from bigtime.systems.shop.design import Address, Customer, Order, OrderItem, OrderStatus

NEXT: Mapping[OrderStatus, frozenset[OrderStatus]] = {
    OrderStatus.PLACED: frozenset({OrderStatus.PICKED, OrderStatus.CANCELLED}),
    OrderStatus.PICKED: frozenset({OrderStatus.SHIPPED, OrderStatus.CANCELLED}),
    OrderStatus.SHIPPED: frozenset({OrderStatus.DELIVERED}),
    OrderStatus.DELIVERED: frozenset(),
    OrderStatus.CANCELLED: frozenset(),
}


class OrderedItem(BaseModel):
    """What is to be ordered: a number of an item, at a price."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    item_id: design.ItemId
    price: design.Price
    count: design.Count = 1
    title: design.Title | None = None


@dataclass(frozen=True, slots=True)
class WholeOrder:
    """An order and its items."""

    order: Order
    items: tuple[OrderItem, ...]


def order_id_for(username: design.Username, key: bt.Ksuid) -> bt.Ksuid:
    """The id of the order that a customer places with an idempotency key."""
    payload = sha256(f"{design.USERNAME(username)}\0{key}".encode()).digest()
    return bt.Ksuid.make(key.at, payload[:16])


def new_order(
    username: design.Username,
    order_id: design.OrderId,
    wanted: Sequence[OrderedItem],
    *,
    ship_to: Address | None = None,
) -> WholeOrder:
    """An order as it will be saved; raises an error if it cannot be."""
    if not wanted:
        raise design.EmptyOrder
    if len(wanted) > design.MOST_ITEMS:
        raise design.TooManyItems
    if len({item.item_id for item in wanted}) < len(wanted):
        raise design.DuplicateItem
    order = Order(
        username=username,
        order_id=order_id,
        item_count=len(wanted),
        total=sum((item.price * item.count for item in wanted), start=Decimal(0)),
        ship_to=ship_to,
    )
    items = (OrderItem(order_id=order.order_id, **dict(item)) for item in wanted)
    return WholeOrder(order, tuple(sorted(items, key=lambda item: item.item_id)))


def save_writes(whole: WholeOrder) -> tuple[bt.Write[Any], ...]:
    """The writes of an order and each of its items; they raise OrderExists unless all are new."""
    entities = (whole.order, *whole.items)
    return tuple(bt.create(entity, unless_exists=design.OrderExists) for entity in entities)


@bt.pattern("Save Order", index="N/A", takes="N/A")
def save_order(
    username: design.Username,
    order_id: design.OrderId,
    wanted: Sequence[OrderedItem],
    *,
    ship_to: Address | None = None,
) -> bt.Steps[Order]:
    """Transaction with its items."""
    whole = new_order(username, order_id, wanted, ship_to=ship_to)
    yield from bt.get(Customer.key(username), missing=design.UnknownCustomer, consistent=True)
    try:
        yield from bt.transact(*save_writes(whole))
    except design.OrderExists:
        return (yield from require_same_order(whole))
    return whole.order


def require_same_order(whole: WholeOrder) -> bt.Steps[Order]:
    """The stored order, if it is the same; OrderExists, if it is another."""
    order = yield from bt.get(whole.order.own_key(), missing=design.OrderExists, consistent=True)
    items = yield from bt.get_many((item.own_key() for item in whole.items), consistent=True)
    as_it_began = order.model_copy(update={"status": whole.order.status})
    if as_it_began != whole.order or items != list(whole.items):
        raise design.OrderExists
    return order


@bt.pattern(
    "Update Order Status",
    index="N/A",
    takes="N/A",
    sample={"seen": OrderStatus.PLACED, "status": OrderStatus.PICKED},
)
def update_order_status(
    username: design.Username, order_id: design.OrderId, seen: OrderStatus, status: OrderStatus
) -> bt.Steps[Order]:
    """Only from the status it was seen in, to one that comes next."""
    return (yield from status_write(username, order_id, seen, status))


def status_write(
    username: design.Username, order_id: design.OrderId, seen: OrderStatus, status: OrderStatus
) -> bt.Write[Order]:
    """The write that moves an order to its next status, alone or in a transaction."""
    if status not in NEXT[seen]:
        raise design.StatusOutOfOrder
    return bt.update(
        Order.key(username, order_id),
        status=status,
        if_exists=design.UnknownOrder,
        when=bt.attr("status") == seen,
        otherwise=design.OrderMovedOn,
    )


@bt.pattern("View Order of Customer", index="Main table")
def view_order_of(username: design.Username, order_id: design.OrderId) -> bt.Steps[Order]:
    """Without its items; another's is as unknown as none."""
    key = Order.key(username, design.order_id_of(order_id))
    return (yield from bt.get(key, missing=design.UnknownOrder, consistent=True))


@bt.pattern("View Order and its Items", index="GSI1")
def view_order(order_id: design.OrderId) -> bt.Steps[WholeOrder]:
    """The order, then its items: read backwards.

    GSI1 follows the table with a delay, and item by item: while it has fewer than the order's
    `item_count`, the order is not complete yet.
    """
    everything = bt.partition(Order, "GSI1", order_id=design.order_id_of(order_id))
    found: list[Order | OrderItem] = []
    position: bt.Position | None = None
    while True:
        page = yield from bt.collection(
            Order, OrderItem, within=everything, newest_first=True, after=position
        )
        found += page.items
        position = page.position
        if position is None:
            return whole_of(found)


def whole_of(found: Sequence[Order | OrderItem]) -> WholeOrder:
    order = next((item for item in found if isinstance(item, Order)), None)
    if order is None:
        raise design.UnknownOrder
    return WholeOrder(order, tuple(item for item in reversed(found) if isinstance(item, OrderItem)))
