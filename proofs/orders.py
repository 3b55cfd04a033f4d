"""What a shopper was promised about their orders, compared with what the store has.

An acknowledged order exists, once, with its items, its purchased lines and its e-mail, and what it
bought is no longer in the cart. Of a checkout that was sent and not answered there is either all of
that or nothing, and in the latter case the cart is as it was.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from bigtime.model import Position, all_of, get
from bigtime.site.design import Mail
from bigtime.systems.cart.design import CartLine, Status
from bigtime.systems.shop.customer import view_customer
from bigtime.systems.shop.design import Order, UnknownCustomer, UnknownOrder
from bigtime.systems.shop.order import view_order
from bigtime.wire import Steps

Lines = dict[str, int]
"""How many of each product."""


@dataclass(slots=True)
class Promised:
    """What a shopper knows: the acknowledged orders, and the contents of the cart.

    `sent` is what they have sent without getting a response; `putting` is a product that may or may
    not be in the cart, for the same reason.
    """

    username: str
    orders: dict[str, Lines] = field(default_factory=dict)
    cart: Lines = field(default_factory=dict)
    sent: Lines | None = None
    putting: str | None = None

    def carts(self) -> list[Lines]:
        """What the cart may hold if nothing was ordered beyond the acknowledged orders."""
        if self.putting is None:
            return [self.cart]
        more = {**self.cart, self.putting: self.cart.get(self.putting, 0) + 1}
        return [self.cart, more]


@dataclass(frozen=True, slots=True)
class Kept:
    """What the store has: the items of orders, the lines bought with each, e-mails, the cart."""

    orders: list[tuple[str, Lines]]
    bought: dict[str, Lines]
    letters: set[str]
    cart: Lines


def kept_of(username: str) -> Steps[Kept]:
    orders: list[tuple[str, Lines]] = []
    letters: set[str] = set()
    for order in (yield from orders_of(username)):
        order_id = str(order.order_id)
        orders.append((order_id, (yield from items_of(order))))
        if (yield from get(Mail.key(f"order-confirmation {order_id}"))) is not None:
            letters.add(order_id)
    bought: dict[str, Lines] = {}
    for line in (yield from lines_of(username, Status.PURCHASED)):
        bought.setdefault(str(line.order_id), {})[line.item_sku] = line.count
    active = yield from lines_of(username, Status.ACTIVE)
    return Kept(orders, bought, letters, {line.item_sku: line.count for line in active})


def lines_of(username: str, status: Status) -> Steps[list[CartLine]]:
    lines = CartLine.within("main", account_id=username, status=status)
    return (yield from all_of(lines, consistent=True))


def orders_of(username: str) -> Steps[list[Order]]:
    found: list[Order] = []
    position: Position | None = None
    while True:
        try:
            page = (yield from view_customer(username, after=position, consistent=True)).orders
        except UnknownCustomer:
            return []
        found += page
        position = page.position
        if position is None:
            return found


def items_of(order: Order) -> Steps[Lines]:
    try:
        items = (yield from view_order(order.order_id)).items
    except UnknownOrder:
        return {}
    return {item.item_id: item.count for item in items}


def order_faults(promised: Promised, kept: Kept) -> list[str]:
    """Orders and carts that are lost, doubled or half done."""
    who = promised.username
    counted = Counter(order_id for order_id, _ in kept.orders)
    faults = [f"{who}: order {each} is there {n} times" for each, n in counted.items() if n > 1]
    found = dict(kept.orders)
    for order_id, lines in promised.orders.items():
        if order_id not in found:
            faults.append(f"{who}: order {order_id} was acknowledged, and is not there")
        elif found[order_id] != lines:
            faults.append(f"{who}: order {order_id} has other items than were ordered")
    faults += half_done(who, found, kept)
    untold = [lines for order_id, lines in found.items() if order_id not in promised.orders]
    return faults + untold_faults(promised, kept, untold)


def half_done(who: str, found: dict[str, Lines], kept: Kept) -> list[str]:
    faults = [
        f"{who}: order {order_id} and its purchase are not of the same"
        for order_id in sorted(found.keys() | kept.bought.keys())
        if found.get(order_id) != kept.bought.get(order_id)
    ]
    unwritten = found.keys() - kept.letters
    return faults + [f"{who}: order {order_id} has no letter" for order_id in sorted(unwritten)]


def untold_faults(promised: Promised, kept: Kept, untold: list[Lines]) -> list[str]:
    """Faults unless an unanswered checkout was done at most once, and the cart holds the rest."""
    who = promised.username
    if not untold:
        carts = promised.carts() if promised.sent is None else [promised.sent]
        return [] if kept.cart in carts else [f"{who}: the cart holds {kept.cart}, not {carts[-1]}"]
    if untold != [promised.sent]:
        return [f"{who}: {len(untold)} orders that were not sent, or not so: {untold}"]
    return [f"{who}: what was ordered is still in the cart"] if kept.cart else []
