"""Purchases: all active lines of a cart become PURCHASED, under one order.

A purchase is identified by its OrderId, a KSUID that the caller passes, so that the same purchase
can be requested again: it then returns what it has bought, and buys nothing.

1. Every purchase writes the account's `Purchases`, on condition that it has the version that was
   read before the cart. So of two purchases of one cart one comes first, and the other reads again.
2. Up to 33 lines are one transaction, which deletes each active line and its marker, and puts the
   purchased line.
3. A larger one begins by writing `Purchases` alone, with all that is bought: from then on that is
   decided, and no other purchase of the account can begin. Its lines move in chunks, each a
   transaction that checks the version; the last one closes the purchase.
4. Any request that finds an open purchase continues it, so a crash leaves nothing undone. The lines
   that have moved are found in the table by the time at which the purchase began: no other
   PURCHASED line of the account has that time.
5. What is bought is what `Purchases` says. If the cart has more of a product when its line is
   moved, the rest stays; if it has less, or none, the product is bought all the same.

Callers can combine a purchase with writes of their own, such as those of an order: `prepare` it,
add the result of `purchase_writes` to their transaction or, for a larger one, of `open_write`, and
then call `complete_purchase`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from bigtime import model as bt
from bigtime.systems.cart import design
from bigtime.systems.cart.design import Bought, CartLine, Purchases, Status
from bigtime.systems.cart.line import INSTANT, remove_write, until_seen

MOST_AT_ONCE = 33
"""A transaction has a hundred actions: three for each line, and one for the purchase."""


@dataclass(frozen=True, slots=True)
class PreparedPurchase:
    """A purchase that can be made now: of these lines, at this time, after that one.

    If it has already begun, it only needs to be completed.
    """

    account_id: str
    order_id: design.OrderId
    at: datetime
    lines: Sequence[CartLine]
    before: Purchases | None
    has_begun: bool


@bt.pattern("Purchase Cart", index="Main table", takes="AccountID, OrderId")
def purchase(account_id: design.AccountId, order_id: design.OrderId) -> bt.Steps[list[CartLine]]:
    """Assigns one OrderId; again, it gives the same lines."""
    bought = yield from until_seen(lambda: begin_purchase(account_id, order_id))
    if not bought:
        yield from complete_purchase(account_id)
        bought = yield from view_purchase(account_id, order_id)
    return bought


@bt.pattern("Complete Purchase", index="Main table", takes="AccountID")
def complete_purchase(account_id: design.AccountId) -> bt.Steps[Purchases | None]:
    """Finishes a purchase that was begun and not ended; gives the account's last purchase."""
    while True:
        last = yield from until_seen(lambda: continue_purchase(account_id))
        if last is None or not last.is_open:
            return last


# For a transaction with other writes


def prepare(account_id: design.AccountId, order_id: design.OrderId) -> bt.Steps[PreparedPurchase]:
    """A purchase of everything in the cart, or the error that says why it is not possible.

    The cart is read after the last purchase, whose version reveals a later one; and before the
    lines of this order, so that if another request buys them in between, they are found.
    """
    account_id, order_id = design.ACCOUNT(account_id), design.order_id_of(order_id)
    before = yield from complete_purchase(account_id)
    cart = CartLine.within("main", account_id=account_id, status=Status.ACTIVE)
    lines = yield from bt.all_of(cart, consistent=True)
    has_begun = bool((yield from view_purchase(account_id, order_id)))
    if not has_begun:
        check_size(lines)
    at = time_after(before, max((yield from bt.now()), order_id.at))
    return PreparedPurchase(account_id, order_id, at, lines, before, has_begun)


def purchase_writes(prepared: PreparedPurchase) -> tuple[bt.Write[Any], ...]:
    """The writes of a purchase: three actions for each line, and one for the purchase."""
    moves = [move for line in prepared.lines for move in whole_move_writes(line, prepared)]
    return (*moves, record_write(prepared))


def open_write(prepared: PreparedPurchase) -> bt.Write[Purchases]:
    """The write that begins a purchase of many lines; `complete_purchase` does the rest."""
    return record_write(prepared, buying=[as_bought(line) for line in prepared.lines])


# How purchases are written


def begin_purchase(account_id: str, order_id: design.OrderId) -> bt.Steps[list[CartLine]]:
    """Makes a small purchase and returns its lines. A large one is only begun, and returns none."""
    prepared = yield from prepare(account_id, order_id)
    if prepared.has_begun:
        return []
    if len(prepared.lines) > MOST_AT_ONCE:
        yield from open_write(prepared)
        return []
    yield from bt.transact(*purchase_writes(prepared))
    return [as_purchased(line, prepared) for line in prepared.lines]


def check_size(lines: Sequence[CartLine]) -> None:
    if not lines:
        raise design.EmptyCart
    if len(lines) > design.MOST_LINES:
        raise design.CartTooLarge


def continue_purchase(account_id: str) -> bt.Steps[Purchases | None]:
    """The last purchase as it was read; if it was open, a chunk of its lines has moved since."""
    last = yield from bt.get(Purchases.key(account_id), consistent=True)
    if last is not None and last.is_open:
        yield from move_chunk(last)
    return last


def time_after(before: Purchases | None, moment: datetime) -> datetime:
    """A time after the last purchase: no two purchases of an account have the same time."""
    return moment if before is None else max(moment, before.begun_at + INSTANT)


def record_write(
    prepared: PreparedPurchase, *, buying: Sequence[Bought] = ()
) -> bt.Write[Purchases]:
    """Writes this purchase over the previous one."""
    return bt.put(
        Purchases(
            account_id=prepared.account_id,
            order_id=prepared.order_id,
            begun_at=prepared.at,
            buying=list(buying),
            version=prepared.before.version if prepared.before else None,
        )
    )


def whole_move_writes(line: CartLine, prepared: PreparedPurchase) -> Iterator[bt.Write[Any]]:
    yield remove_write(line)
    yield bt.create(as_purchased(line, prepared), unless_exists=design.CartChanged)


def as_purchased(line: CartLine, prepared: PreparedPurchase) -> CartLine:
    return line.replace(status=Status.PURCHASED, entered_at=prepared.at, order_id=prepared.order_id)


def as_bought(line: CartLine) -> Bought:
    return Bought(
        item_sku=line.item_sku,
        price=line.price,
        count=line.count,
        create_timestamp=line.create_timestamp,
    )


def move_chunk(last: Purchases) -> bt.Steps[None]:
    """Moves some lines of an open purchase, and closes it with the last of them."""
    there = yield from bt.all_of(purchased_range(last.account_id, last.begun_at), consistent=True)
    moved = {line.item_sku for line in there if line.order_id == last.order_id}
    left = [bought for bought in last.buying if bought.item_sku not in moved]
    chunk = left[:MOST_AT_ONCE]
    active = yield from lines_of(last.account_id, chunk)
    moves = [
        write
        for bought, line in zip(chunk, active, strict=True)
        for write in move_writes(last, bought, line)
    ]
    yield from bt.transact(
        *moves, unchanged_check(last) if left[MOST_AT_ONCE:] else close_write(last)
    )


def lines_of(account_id: str, bought: Iterable[Bought]) -> bt.Steps[list[CartLine | None]]:
    """The active line of each product, or None."""
    keys = [design.LineMarker.key(account_id, product.item_sku) for product in bought]
    markers = yield from bt.get_many(keys, consistent=True)
    there = [marker.line for marker in markers if marker is not None]
    lines = yield from bt.get_many(there, consistent=True)
    found = {line.item_sku: line for line in lines if line is not None}
    return [found.get(key.fields["sku"]) for key in keys]


def move_writes(last: Purchases, bought: Bought, line: CartLine | None) -> Iterator[bt.Write[Any]]:
    """The writes that purchase a line; a line that was added to the cart later stays there."""
    if line is not None and line.entered_at <= last.begun_at:
        yield remove_write(line) if line.count <= bought.count else reduce_write(line, bought.count)
    there = CartLine(
        account_id=last.account_id,
        status=Status.PURCHASED,
        entered_at=last.begun_at,
        order_id=last.order_id,
        **dict(bought),
    )
    yield bt.create(there, unless_exists=design.CartChanged)


def reduce_write(line: CartLine, count: int) -> bt.Write[CartLine]:
    return bt.update(
        line.own_key(),
        count=bt.Add(-count),
        if_exists=design.CartChanged,
        when=bt.unchanged(line, "count", "price"),
        otherwise=design.CartChanged,
    )


def unchanged_check(last: Purchases) -> bt.Write[Any]:
    same = bt.unchanged(last, "version")
    return bt.check(
        last.own_key(), if_exists=design.CartChanged, when=same, otherwise=design.CartChanged
    )


def close_write(last: Purchases) -> bt.Write[Purchases]:
    return bt.put(last.model_copy(update={"buying": []}))


@bt.pattern("View Products of Purchase", index="Main table", takes="AccountID, OrderId")
def view_purchase(
    account_id: design.AccountId, order_id: design.OrderId
) -> bt.Steps[list[CartLine]]:
    """All lines of an order have one time, at or after that of its id."""
    account_id, order_id = design.ACCOUNT(account_id), design.order_id_of(order_id)
    ours = bt.attr("order_id") == order_id
    since = purchased_range(account_id, bt.at_least(order_id.at))
    position: bt.Position | None = None
    while True:
        page = yield from bt.query(since, limit=1, filter=ours, after=position, consistent=True)
        if page:
            together = purchased_range(account_id, page.items[0].entered_at)
            return (yield from bt.all_of(together, filter=ours, consistent=True))
        position = page.position
        if position is None:
            return []


def purchased_range(account_id: str, entered_at: object) -> bt.KeyRange[CartLine]:
    return CartLine.within(
        "main", account_id=account_id, status=Status.PURCHASED, entered_at=entered_at
    )
