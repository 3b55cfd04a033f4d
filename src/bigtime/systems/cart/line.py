"""Lines of a cart: put in, counted, moved between statuses, removed.

Whoever changes a line has seen it first, and writes only if it is still so: the line is where it
was, with the price and the count that it had. When somebody was faster, they look again.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any, TypeAlias, TypeVar

from bigtime.model import (
    Add,
    Condition,
    Conflict,
    Write,
    attr,
    create,
    delete,
    get,
    now,
    pattern,
    transact,
    update,
)
from bigtime.systems.cart.design import (
    MOST_COUNT,
    AccountId,
    CartLine,
    Count,
    ItemSku,
    LineMarker,
    Price,
    Status,
    count_of,
    line_key,
    price_of,
)
from bigtime.systems.cart.errors import (
    CartChanged,
    InCartAgain,
    InvalidCount,
    NotPurchasedByMoving,
    PurchasedStays,
    UnknownLine,
)
from bigtime.wire import Steps

T = TypeVar("T")
Noting: TypeAlias = Callable[[CartLine], tuple[Write[Any], ...]]

TRIES = 16
INSTANT = timedelta(milliseconds=1)
SAMPLE_SK = "SAVED#2026-01-01T00:00:00.000Z#72f49"


@pattern("Put Product in Cart", index="Main table", takes="AccountID, ItemSKU, Price, Count")
def put_in_cart(
    account_id: AccountId, item_sku: ItemSku, price: Price, count: Count = 1
) -> Steps[CartLine]:
    """Adding again adds to Count, at the price of the day."""
    line = yield from new_line(account_id, item_sku, price, count)
    return (yield from until_seen(lambda: enter_line(line)))


@pattern("Update Count of Product", index="Main table", takes="AccountID, ItemSKU, Count")
def set_count(account_id: AccountId, item_sku: ItemSku, count: Count) -> Steps[CartLine]:
    """Of the product that is in the cart."""
    count = count_of(count)
    return (yield from until_seen(lambda: change_line(account_id, item_sku, count=count)))


@pattern("Update Price of Product", index="Main table", takes="AccountID, ItemSKU, Price")
def set_price(account_id: AccountId, item_sku: ItemSku, price: Price) -> Steps[CartLine]:
    """Of the product that is in the cart, where it costs something else by now."""
    price = price_of(price)
    return (yield from until_seen(lambda: change_line(account_id, item_sku, price=price)))


@pattern(
    "Move Product between Statuses",
    index="Main table",
    takes="AccountID, SK, Status",
    sample={"sk": SAMPLE_SK, "status": Status.ACTIVE},
)
def move_line(account_id: AccountId, sk: str, status: Status) -> Steps[CartLine]:
    """One transaction.

    What goes back to a cart that holds the product already is added to that line. A line that
    has the status stays where it is.
    """
    target = Status(status)
    if target is Status.PURCHASED:
        raise NotPurchasedByMoving
    return (yield from until_seen(lambda: move_to_status(account_id, sk, target)))


@pattern("Remove Product", index="Main table", takes="AccountID, SK", sample={"sk": SAMPLE_SK})
def remove_line(account_id: AccountId, sk: str) -> Steps[CartLine]:
    """Not what was purchased.

    It gives the line as it was, for `put_back`.
    """
    check_open(line_key(account_id, sk).fields["status"])
    return (yield from until_seen(lambda: take_line(account_id, sk)))


@pattern("Put Product back", index="Main table", takes="Line")
def put_back(line: CartLine) -> Steps[CartLine]:
    """A line that was removed, as it was; twice is as good as once."""
    check_open(line.status)
    return (yield from until_seen(lambda: put_line_back(line)))


# How


def until_seen(steps: Callable[[], Steps[T]]) -> Steps[T]:
    """Looks and writes again while others are faster."""
    for _ in range(TRIES - 1):
        try:
            return (yield from steps())
        except Conflict:
            continue
    return (yield from steps())


def new_line(account_id: str, item_sku: str, price: Decimal, count: int) -> Steps[CartLine]:
    moment = yield from now()
    return CartLine(
        account_id=account_id,
        status=Status.ACTIVE,
        entered_at=moment,
        item_sku=item_sku,
        price=price,
        count=count,
        create_timestamp=moment,
    )


def put_in_cart_noting(
    account_id: str, item_sku: str, price: Decimal, count: int, *, noting: Noting
) -> Steps[CartLine]:
    """Puts a product in the cart, in one transaction with what notes the line that comes of it.

    Whoever got no answer finds in what was noted whether it was done.
    """
    line = yield from new_line(account_id, item_sku, price, count)
    return (yield from until_seen(lambda: entered_noting(line, noting)))


def entered_noting(line: CartLine, noting: Noting) -> Steps[CartLine]:
    marker = yield from get(LineMarker.key(line.account_id, line.item_sku), consistent=True)
    if marker is None:
        entering: Write[Any] = create(line, unless_exists=CartChanged)
    else:
        there = yield from get(marker.line, missing=CartChanged, consistent=True)
        line = there.replace(count=count_of(there.count + line.count), price=line.price)
        entering = update(
            there.own_key(),
            count=line.count,
            price=line.price,
            if_exists=CartChanged,
            when=as_seen(there),
            otherwise=CartChanged,
        )
    yield from transact(entering, *noting(line))
    return line


def enter_line(line: CartLine) -> Steps[CartLine]:
    """A line that is new in the cart, or more of the one that is there."""
    marker = yield from get(LineMarker.key(line.account_id, line.item_sku), consistent=True)
    if marker is None:
        return (yield from create(line, unless_exists=CartChanged))
    return (yield from more_of(marker, line))


def more_of(marker: LineMarker, line: CartLine) -> Write[CartLine]:
    """What is in the cart, with the count and the price of a line."""
    return update(
        marker.line,
        count=Add(line.count),
        price=line.price,
        if_exists=CartChanged,
        when=attr("count") <= MOST_COUNT - line.count,
        otherwise=InvalidCount,
    )


def change_line(account_id: str, item_sku: str, **fields: Any) -> Steps[CartLine]:
    marker = yield from get(
        LineMarker.key(account_id, item_sku), missing=UnknownLine, consistent=True
    )
    return (yield from update(marker.line, if_exists=CartChanged, **fields))


def take_line(account_id: str, sk: str) -> Steps[CartLine]:
    line = yield from get(line_key(account_id, sk), missing=UnknownLine, consistent=True)
    yield from remove_write(line)
    return line


class BackAlready(Conflict):
    """Somebody has put the same line back."""


def put_line_back(line: CartLine) -> Steps[CartLine]:
    there = yield from get(line.own_key(), consistent=True)
    if there is not None:
        return there
    try:
        return (yield from create(line, unless_exists=BackAlready))
    except CartChanged:
        raise InCartAgain from None


def move_to_status(account_id: str, sk: str, status: Status) -> Steps[CartLine]:
    line = yield from get(line_key(account_id, sk), missing=UnknownLine, consistent=True)
    check_open(line.status)
    if line.status is status:
        return line
    there = line.replace(status=status, entered_at=(yield from now()))
    if status is Status.ACTIVE:
        return (yield from activate_line(line, there))
    return (yield from save_for_later(line, there))


class SameInstant(Conflict):
    """The same product was saved in the same millisecond."""


def save_for_later(line: CartLine, there: CartLine) -> Steps[CartLine]:
    while True:
        try:
            yield from transact(remove_write(line), create(there, unless_exists=SameInstant))
            return there
        except SameInstant:
            there = there.replace(entered_at=there.entered_at + INSTANT)


def activate_line(line: CartLine, there: CartLine) -> Steps[CartLine]:
    marker = yield from get(LineMarker.key(line.account_id, line.item_sku), consistent=True)
    if marker is None:
        yield from transact(remove_write(line), create(there, unless_exists=CartChanged))
        return there
    yield from transact(remove_write(line), more_of(marker, line))
    return (yield from get(marker.line, missing=UnknownLine, consistent=True))


def remove_write(line: CartLine) -> Write[Any]:
    """Deletes a line that is as it was seen; its marker goes with it."""
    return delete(line, if_exists=CartChanged, when=as_seen(line), otherwise=CartChanged)


def as_seen(line: CartLine) -> Condition:
    return (attr("count") == line.count) & (attr("price") == line.price)


def check_open(status: Status) -> None:
    if status is Status.PURCHASED:
        raise PurchasedStays
