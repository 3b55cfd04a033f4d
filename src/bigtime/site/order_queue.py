"""The order queue: all orders of the shop, for the staff who pack and send them.

1. The shop lists the orders of one customer. For the list of all orders, the reaction
   `follow_orders` keeps a `QueuedOrder` of each. Its partition is the day on which the order was
   placed, in the table for all orders, and the month, in GSI1 by status, so that no partition takes
   every write. Orders leave a status again, and each emptied partition costs a list one request:
   hence months, and the worker removes the empty ones from their list.
2. An order's status only moves forward. So an entry only overwrites one of an earlier status:
   stream records that are read twice, late or concurrently leave the latest. When an order moves to
   another customer, as it moves to a pseudonym when an account is deleted, its entry follows, in
   whatever order its deletion and its creation are read.
3. An entry has the order's key, its status and its total, so that the sales of a day are one query.
   Everything else is read from the orders themselves, so that a list shows them as they are now; an
   order that has just left the listed status is left out.
4. A move is one transaction: the order's new status, the `OrderMove` that says who moved it, and
   the mail to the customer. An order moves to each status at most once.

`bigtime verify site` finds missing entries, and `bigtime repair site` writes them again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal
from functools import lru_cache
from typing import Annotated, Any, Final

from pydantic import Field

from bigtime import model as bt
from bigtime.site.design import SITE_TABLE, Mail, transact_once
from bigtime.site.letters import Letter, letter
from bigtime.site.mail import draft_mail
from bigtime.site.notifications import (
    MailKind,
    Unsubscribing,
    confirmed_address,
    fetch_settings,
    with_link,
)
from bigtime.systems import shop
from bigtime.systems.deals import Username
from bigtime.systems.shop import Order, OrderStatus
from bigtime.wire import Steps

STATUS_LABELS: Final = {
    OrderStatus.PLACED: "Placed",
    OrderStatus.PICKED: "Being packed",
    OrderStatus.SHIPPED: "On its way",
    OrderStatus.DELIVERED: "Delivered",
    OrderStatus.CANCELLED: "Cancelled",
}
PAGE: Final = 25
MOST_MOVED: Final = 100
"""Orders in one packing list, or moved at once."""
SHORT: Final = 8
"""Characters of an order's number that lists show: few orders of one second share them."""
KSUID_LENGTH: Final = 27


class QueuedOrder(bt.Entity, table=SITE_TABLE):
    """That an order is there: whose it is, its status and its total.

    An entry from before there was a total gets it by `bigtime repair site`.
    """

    keys = bt.Keys(
        main=("QUEUE#{created_at:day}", "{order_id}"),
        GSI1=("QUEUE#{status}#{created_at:month}", "{order_id}"),
    )
    order_id: bt.Ksuid
    created_at: Annotated[datetime, bt.Seconds] = Field(
        default_factory=lambda fields: fields["order_id"].at
    )
    status: OrderStatus
    username: str = Field(max_length=64)
    total: Decimal | None = None

    @property
    def source(self) -> bt.Key[Order]:
        return Order.key(self.username, self.order_id)


bt.list_buckets(QueuedOrder, "main", "GSI1")


class OrderMove(bt.Entity, table=SITE_TABLE):
    """Who has moved an order to a status, and when; nobody is named if it was the customer."""

    keys = bt.Keys(main=("ORDERMOVES#{order_id}", "{status}"))
    order_id: bt.Ksuid
    status: OrderStatus
    who: str | None = Field(default=None, max_length=64)
    at: datetime


def queue_entry(order: Order) -> QueuedOrder:
    return QueuedOrder(
        order_id=order.order_id,
        status=order.status,
        username=order.username,
        total=order.total,
    )


QUEUE: Final = bt.copies(Order, QueuedOrder, queue_entry, lambda entry: entry.source)


# --- Following the orders -----------------------------------------------------------------


def statuses_before(status: OrderStatus) -> frozenset[OrderStatus]:
    """The statuses from which an order can reach this one."""
    direct = frozenset(other for other in OrderStatus if status in shop.NEXT[other])
    return direct.union(*map(statuses_before, direct))


BEFORE: Final = {status: statuses_before(status) for status in OrderStatus}


class FurtherOn(bt.Conflict):
    """The queue has this order in this status or a later one, or under another customer."""


@bt.reaction(shop.ECOMMERCE, of=[Order])
def follow_orders(change: bt.Change[Any]) -> Steps[None]:
    """Keeps the entry of a changed order in the queue of the staff."""
    if change.of(Order) is None:
        return
    order = yield from bt.get(change.key, consistent=True)
    with suppress(FurtherOn):
        if order is None:
            yield from unqueue_write(**change.key.fields)
        else:
            yield from queue_write(queue_entry(order))


def entry_key(order_id: bt.Ksuid) -> bt.Key[QueuedOrder]:
    return QueuedOrder.key(created_at=order_id.at, order_id=order_id)


def queue_write(entry: QueuedOrder) -> bt.Write[QueuedOrder]:
    """Puts an entry if there is none, or one of an earlier status or another customer."""
    before = BEFORE[entry.status]
    is_new = bt.attr("status").missing() | (bt.attr("username") != entry.username)
    if before:
        is_new |= bt.attr("status").one_of(*sorted(before))
    return bt.put(entry, when=is_new, otherwise=FurtherOn)


def unqueue_write(username: str, order_id: bt.Ksuid) -> bt.Write[QueuedOrder | None]:
    """Deletes an entry, if it is still this customer's."""
    is_theirs = bt.attr("username").missing() | (bt.attr("username") == username)
    return bt.delete(entry_key(order_id), when=is_theirs, otherwise=FurtherOn)


# --- Lists --------------------------------------------------------------------------------


class DatesReversed(bt.RuleBroken):
    """The last day is before the first; swap them."""


FIRST_DAY: Final = date(2014, 5, 14)
LAST_DAY: Final = date(2150, 6, 18)
"""The first and the last whole day that a KSUID can express."""


@lru_cache(maxsize=64)
def buckets_of(status: OrderStatus | None, since: date, until: date) -> bt.Buckets[QueuedOrder]:
    """The daily partitions of all orders, or the monthly ones of a status, between two days."""
    order_ids = bt.between(start_of(since), end_of(until))
    if status is None:
        return bt.buckets(QueuedOrder, "main", order_id=order_ids)
    return bt.buckets(QueuedOrder, "GSI1", status=status, order_id=order_ids)


def start_of(day: date) -> bt.Ksuid:
    """The smallest order id of a day."""
    moment = datetime.combine(max(FIRST_DAY, min(day, LAST_DAY)), time(), UTC)
    return bt.Ksuid.make(moment, bytes(bt.PAYLOAD_BYTES))


def end_of(day: date) -> bt.Ksuid:
    """The largest order id of a day."""
    moment = datetime.combine(max(FIRST_DAY, min(day, LAST_DAY)), time(23, 59, 59), UTC)
    return bt.Ksuid.make(moment, b"\xff" * bt.PAYLOAD_BYTES)


@bt.pattern("View Order Queue", index="Main table, GSI1", sample={"status": OrderStatus.PLACED})
def view_order_queue(
    status: OrderStatus | None = None,
    *,
    oldest_first: bool = False,
    since: date | None = None,
    until: date | None = None,
    after: bt.Position | None = None,
    limit: int = PAGE,
) -> Steps[bt.Page[Order]]:
    """A query for each day that has orders, or month of a status; then the orders themselves."""
    if since is not None and until is not None and until < since:
        raise DatesReversed
    walk = bt.oldest_first if oldest_first else bt.newest_first
    walked = buckets_of(status, since or FIRST_DAY, until or LAST_DAY)
    found = yield from walk(walked, limit=limit, after=after, since=since, until=until)
    orders = yield from bt.get_many((entry.source for entry in found), consistent=True)
    now = [order for order in orders if order is not None and status in (None, order.status)]
    return bt.Page(now, found.position)


@bt.pattern("Unlist empty Months of Order Queue", index="GSI1")
def unlist_empty_months() -> Steps[int]:
    """Of each status that orders leave again; a query for each listed month, every hour."""
    left = [status for status in OrderStatus if shop.NEXT[status]]
    lists = (buckets_of(status, FIRST_DAY, LAST_DAY) for status in left)
    counts = yield from bt.together(*map(bt.unlist_empty_buckets, lists))
    return sum(counts)


@bt.pattern("View Orders of E-mail", index="Main table")
def view_orders_of_email(
    email: shop.Email, *, after: bt.Position | None = None
) -> Steps[bt.Page[Order]]:
    """The customer of an e-mail address, then their orders, newest first."""
    marker = yield from bt.get(shop.CustomerEmail.key(email), missing=shop.UnknownCustomer)
    found = yield from shop.view_customer(marker.username, limit=PAGE, after=after, consistent=True)
    return found.orders


def short_number(order_id: str) -> str:
    """The beginning of an order's number, as lists show it; all of it is on the order's page.

    It tells the second, or two at the most, so that the queue finds an order by it.
    """
    return f"#{order_id[:SHORT]}"


@bt.pattern("View Orders of Number", index="Main table", sample={"number": "#" + "0" * SHORT})
def view_orders_of_number(number: str) -> Steps[list[Order]]:
    """A query of the day that the beginning of an id tells, then the orders: most often one."""
    start = number.removeprefix("#")
    if len(start) < SHORT:
        raise shop.InvalidOrderId
    first, last = (shop.order_id_of(start.ljust(KSUID_LENGTH, digit)) for digit in "0z")
    found: list[QueuedOrder] = []
    for day in sorted({first.at.date(), last.at.date()}):
        at = datetime.combine(day, time(), UTC)
        alike = QueuedOrder.within("main", created_at=at, order_id=bt.between(first, last))
        found += yield from bt.all_of(alike)
    orders = yield from bt.get_many((entry.source for entry in found), consistent=True)
    return [order for order in orders if order is not None]


@dataclass(frozen=True, slots=True)
class Sales:
    """How many orders there are, and their total; cancelled orders are not counted."""

    orders: int = 0
    revenue: Decimal = Decimal(0)

    def __add__(self, other: Sales) -> Sales:
        return Sales(self.orders + other.orders, self.revenue + other.revenue)


@bt.pattern("View Sales of Day", index="Main table", sample={"day": date(2026, 1, 1)})
def view_sales(day: date) -> Steps[Sales]:
    """A query of the queue's entries of that day, in UTC."""
    start = datetime.combine(day, time(), UTC)
    entries = yield from bt.all_of(QueuedOrder.within("main", created_at=start))
    sold = [entry for entry in entries if entry.status != OrderStatus.CANCELLED]
    return Sales(len(sold), sum((entry.total or Decimal(0) for entry in sold), Decimal(0)))


# --- An order -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StaffOrder:
    """An order, its items in the index, its customer, and its moves, earliest first."""

    order: Order
    items: tuple[shop.OrderItem, ...]
    customer: shop.Customer | None
    moves: Sequence[OrderMove]

    @property
    def is_complete(self) -> bool:
        return len(self.items) >= self.order.item_count

    @property
    def last_move(self) -> OrderMove | None:
        return self.moves[-1] if self.moves else None


@bt.pattern("View Order for Staff", index="Main table, GSI1")
def view_staff_order(order_id: bt.Ksuid) -> Steps[StaffOrder]:
    """The order and its items by GSI1, the order again from the table, customer and moves."""
    whole = yield from shop.view_order(order_id)
    username = whole.order.username
    order = yield from shop.view_order_of(username, order_id)
    customer = yield from bt.get(shop.Customer.key(username))
    moves = yield from bt.query(OrderMove.within("main", order_id=order_id), consistent=True)
    return StaffOrder(order, whole.items, customer, sorted(moves, key=lambda move: move.at))


@bt.pattern("View Orders to pack", index="GSI1")
def view_orders_to_pack(order_ids: Sequence[bt.Ksuid]) -> Steps[list[shop.WholeOrder]]:
    """Each with its items, in the order of the ids; those that are not there are left out."""
    found: list[shop.WholeOrder] = []
    for order_id in order_ids[:MOST_MOVED]:
        with suppress(shop.UnknownOrder):
            found.append((yield from shop.view_order(order_id)))
    return found


# --- Moves --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Mover:
    """Who moves orders; for the mail, the customer's orders page, and its unsubscribe links."""

    username: str
    orders_url: str
    links: Unsubscribing | None = None


SAMPLE: Final = Mover("ada", "https://example.com/orders")


@bt.pattern(
    "Move Order",
    index="Main table",
    sample={"mover": SAMPLE, "seen": OrderStatus.PLACED, "status": OrderStatus.PICKED},
)
def move_order(
    mover: Mover,
    customer: Username,
    order_id: bt.Ksuid,
    seen: OrderStatus,
    status: OrderStatus,
) -> Steps[Order]:
    """One transaction: the status, if it is still the one seen, who moved it, and the mail."""
    order = yield from shop.view_order_of(customer, order_id)
    write = shop.status_write(order.username, order.order_id, seen, status)
    moment = yield from bt.now()
    who = None if mover.username == order.username else mover.username
    move = OrderMove(order_id=order.order_id, status=status, who=who, at=moment)
    mails = yield from status_mails(order, status, mover)
    yield from transact_once(
        write,
        bt.create(move, unless_exists=shop.OrderMovedOn),
        *(bt.create(mail, unless_exists=shop.OrderMovedOn) for mail in mails),
        at=moment,
    )
    return order.model_copy(update={"status": status})


@dataclass(frozen=True, slots=True)
class Moves:
    """The orders that were moved, and the ids of those that were not."""

    moved: Sequence[bt.Ksuid]
    refused: Sequence[bt.Ksuid]


@bt.pattern(
    "Move Orders",
    index="Main table",
    sample={
        "mover": SAMPLE,
        "seen": {bt.Ksuid.make(datetime(2026, 1, 1, tzinfo=UTC)): OrderStatus.PLACED},
        "status": OrderStatus.PICKED,
    },
)
def move_orders(
    mover: Mover, seen: Mapping[bt.Ksuid, OrderStatus], status: OrderStatus
) -> Steps[Moves]:
    """Each in its own transaction; one that cannot be moved, or has been, stays as it is."""
    entries = yield from bt.get_many(map(entry_key, seen), consistent=True)
    moved: list[bt.Ksuid] = []
    for entry in filter(None, entries):
        with suppress(shop.StatusOutOfOrder, shop.OrderMovedOn, shop.UnknownOrder):
            before = seen[entry.order_id]
            yield from move_order(mover, entry.username, entry.order_id, before, status)
            moved.append(entry.order_id)
    return Moves(moved, [order_id for order_id in seen if order_id not in moved])


def status_mails(order: Order, status: OrderStatus, mover: Mover) -> Steps[tuple[Mail, ...]]:
    """The mail to the customer; none if their address is not confirmed, as at checkout.

    A customer who wants no mails of orders gets that of a cancellation.
    """
    is_necessary = status == OrderStatus.CANCELLED
    settings = yield from fetch_settings(order.username)
    to = (yield from confirmed_address(order.username)) if settings.orders or is_necessary else None
    if to is None:
        return ()
    text, link = status_letter(order, status, mover.orders_url), None
    if mover.links is not None and not is_necessary:
        link = mover.links.link(order.username, MailKind.ORDERS)
        text = with_link(text, link)
    mail_id = f"order-status {order.order_id} {status}"
    return ((yield from draft_mail(mail_id, to, *text, unsubscribe=link)),)


SENTENCES: Final = {
    OrderStatus.PLACED: "was placed",
    OrderStatus.PICKED: "is being packed",
    OrderStatus.SHIPPED: "is on its way",
    OrderStatus.DELIVERED: "was delivered",
    OrderStatus.CANCELLED: "was cancelled",
}


def status_letter(order: Order, status: OrderStatus, orders_url: str) -> Letter:
    return letter(
        f"Your order {SENTENCES[status]}",
        f"Your order {order.order_id} {SENTENCES[status]}.",
        f"See it at {orders_url}/{order.order_id}",
    )
