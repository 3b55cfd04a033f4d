"""Lines of a cart: add, count, move between statuses, remove, view and erase them.

A change reads the line first, and writes on condition that its key, price and count are still the
same. If another request was faster, it reads again.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Final, TypeAlias, TypeVar

from bigtime import model as bt
from bigtime.systems.cart import design
from bigtime.systems.cart.design import CartLine, LineMarker, Purchases, Status

T = TypeVar("T")
LineWrites: TypeAlias = Callable[[CartLine], tuple[bt.Write[Any], ...]]

TRIES = 16
INSTANT = timedelta(milliseconds=1)
SAMPLE_SK = "SAVED#2026-01-01T00:00:00.000Z#72f49"


@bt.pattern("Put Product in Cart", index="Main table", takes="AccountID, ItemSKU, Price, Count")
def put_in_cart(
    account_id: design.AccountId,
    item_sku: design.ItemSku,
    price: design.Price,
    count: design.Count = 1,
) -> bt.Steps[CartLine]:
    """Adding again adds to Count, at the price of the day."""
    line = yield from new_line(account_id, item_sku, price, count)
    return (yield from until_seen(lambda: enter_line(line)))


@bt.pattern("Update Count of Product", index="Main table", takes="AccountID, ItemSKU, Count")
def set_count(
    account_id: design.AccountId, item_sku: design.ItemSku, count: design.Count
) -> bt.Steps[CartLine]:
    """Of the product that is in the cart."""
    count = design.count_of(count)
    return (yield from until_seen(lambda: change_line(account_id, item_sku, count=count)))


@bt.pattern("Update Price of Product", index="Main table", takes="AccountID, ItemSKU, Price")
def set_price(
    account_id: design.AccountId, item_sku: design.ItemSku, price: design.Price
) -> bt.Steps[CartLine]:
    """Of the product that is in the cart, where it costs something else by now."""
    price = design.price_of(price)
    return (yield from until_seen(lambda: change_line(account_id, item_sku, price=price)))


@bt.pattern(
    "Move Product between Statuses",
    index="Main table",
    takes="AccountID, SK, Status",
    sample={"sk": SAMPLE_SK, "status": Status.ACTIVE},
)
def move_line(account_id: design.AccountId, sk: str, status: Status) -> bt.Steps[CartLine]:
    """One transaction.

    What goes back to a cart that holds the product already is added to that line. A line that
    has the status stays where it is.
    """
    target = Status(status)
    if target is Status.PURCHASED:
        raise design.NotPurchasedByMoving
    return (yield from until_seen(lambda: move_to_status(account_id, sk, target)))


@bt.pattern("Remove Product", index="Main table", takes="AccountID, SK", sample={"sk": SAMPLE_SK})
def remove_line(account_id: design.AccountId, sk: str) -> bt.Steps[CartLine]:
    """Not what was purchased.

    It gives the line as it was, for `put_back`.
    """
    check_open(design.line_key(account_id, sk).fields["status"])
    return (yield from until_seen(lambda: take_line(account_id, sk)))


@bt.pattern("Put Product back", index="Main table", takes="Line")
def put_back(line: CartLine) -> bt.Steps[CartLine]:
    """A line that was removed, as it was; twice is as good as once."""
    check_open(line.status)
    return (yield from until_seen(lambda: put_line_back(line)))


# How changes are written


def until_seen(steps: Callable[[], bt.Steps[T]]) -> bt.Steps[T]:
    """Retries reading and writing while other requests are faster."""
    for _ in range(TRIES - 1):
        try:
            return (yield from steps())
        except bt.Conflict:
            continue
    return (yield from steps())


def new_line(account_id: str, item_sku: str, price: Decimal, count: int) -> bt.Steps[CartLine]:
    moment = yield from bt.now()
    return CartLine(
        account_id=account_id,
        status=Status.ACTIVE,
        entered_at=moment,
        item_sku=item_sku,
        price=price,
        count=count,
        create_timestamp=moment,
    )


def put_in_cart_with(
    account_id: str, item_sku: str, price: Decimal, count: int, *, also: LineWrites
) -> bt.Steps[CartLine]:
    """Puts a product in the cart, in one transaction with writes that record the resulting line.

    A client that got no response can tell from these whether it was done.
    """
    line = yield from new_line(account_id, item_sku, price, count)
    return (yield from until_seen(lambda: enter_line_with(line, also)))


def enter_line_with(line: CartLine, also: LineWrites) -> bt.Steps[CartLine]:
    marker = yield from marker_of(line)
    if marker is None:
        entering: bt.Write[CartLine] = bt.create(line, unless_exists=design.CartChanged)
    else:
        there = yield from bt.get(marker.line, missing=design.CartChanged, consistent=True)
        line = there.replace(count=design.count_of(there.count + line.count), price=line.price)
        entering = bt.update(
            there.own_key(),
            count=line.count,
            price=line.price,
            if_exists=design.CartChanged,
            when=bt.unchanged(there, "count", "price"),
            otherwise=design.CartChanged,
        )
    yield from bt.transact(entering, *also(line))
    return line


def enter_line(line: CartLine) -> bt.Steps[CartLine]:
    """Adds a line to the cart, or its count to the line that is there."""
    marker = yield from marker_of(line)
    if marker is None:
        return (yield from bt.create(line, unless_exists=design.CartChanged))
    return (yield from more_of(marker, line))


def marker_of(line: CartLine) -> bt.Steps[LineMarker | None]:
    """The marker of the active line of the same product."""
    return (yield from bt.get(LineMarker.key(line.account_id, line.item_sku), consistent=True))


def line_at(account_id: str, sk: str) -> bt.Steps[CartLine]:
    key = design.line_key(account_id, sk)
    return (yield from bt.get(key, missing=design.UnknownLine, consistent=True))


def more_of(marker: LineMarker, line: CartLine) -> bt.Write[CartLine]:
    """Adds the count of a line to the one in the cart, which takes its price."""
    return bt.update(
        marker.line,
        count=bt.Add(line.count),
        price=line.price,
        if_exists=design.CartChanged,
        when=bt.attr("count") <= design.MOST_COUNT - line.count,
        otherwise=design.InvalidCount,
    )


def change_line(account_id: str, item_sku: str, **fields: Any) -> bt.Steps[CartLine]:
    marker = yield from bt.get(
        LineMarker.key(account_id, item_sku), missing=design.UnknownLine, consistent=True
    )
    return (yield from bt.update(marker.line, if_exists=design.CartChanged, **fields))


def take_line(account_id: str, sk: str) -> bt.Steps[CartLine]:
    line = yield from line_at(account_id, sk)
    yield from remove_write(line)
    return line


class BackAlready(bt.Conflict):
    """Another request has already restored this line."""


def put_line_back(line: CartLine) -> bt.Steps[CartLine]:
    there = yield from bt.get(line.own_key(), consistent=True)
    if there is not None:
        return there
    try:
        return (yield from bt.create(line, unless_exists=BackAlready))
    except design.CartChanged:
        raise design.InCartAgain from None


def move_to_status(account_id: str, sk: str, status: Status) -> bt.Steps[CartLine]:
    line = yield from line_at(account_id, sk)
    check_open(line.status)
    if line.status is status:
        return line
    there = line.replace(status=status, entered_at=(yield from bt.now()))
    if status is Status.ACTIVE:
        return (yield from activate_line(line, there))
    return (yield from save_for_later(line, there))


class SameInstant(bt.Conflict):
    """The same product was saved in the same millisecond."""


def save_for_later(line: CartLine, there: CartLine) -> bt.Steps[CartLine]:
    while True:
        try:
            yield from bt.transact(remove_write(line), bt.create(there, unless_exists=SameInstant))
            return there
        except SameInstant:
            there = there.replace(entered_at=there.entered_at + INSTANT)


def activate_line(line: CartLine, there: CartLine) -> bt.Steps[CartLine]:
    marker = yield from marker_of(line)
    if marker is None:
        yield from bt.transact(
            remove_write(line), bt.create(there, unless_exists=design.CartChanged)
        )
        return there
    yield from bt.transact(remove_write(line), more_of(marker, line))
    return (yield from bt.get(marker.line, missing=design.UnknownLine, consistent=True))


def remove_write(line: CartLine) -> bt.Write[CartLine | None]:
    """Deletes a line that is as it was seen; its marker goes with it."""
    as_seen = bt.unchanged(line, "count", "price")
    return bt.delete(line, if_exists=design.CartChanged, when=as_seen, otherwise=design.CartChanged)


def check_open(status: Status) -> None:
    if status is Status.PURCHASED:
        raise design.PurchasedStays


# Views: an account's products, and the carts that hold a product, by status, newest first

PAGE = 25
MOST_COUNTED = 100
DAY = timedelta(days=1) - timedelta(milliseconds=1)
"""From a day's first instant to its last; an instant is a millisecond."""


@bt.pattern("View Products of Account by Status", index="Main table", takes="AccountID, Status")
def view_products(
    account_id: design.AccountId,
    status: Status,
    *,
    limit: int = PAGE,
    after: bt.Position | None = None,
    consistent: bool = True,
) -> bt.Steps[bt.Page[CartLine]]:
    """Newest first."""
    lines = CartLine.within("main", account_id=design.ACCOUNT(account_id), status=status)
    return (
        yield from bt.query(
            lines, newest_first=True, limit=limit, after=after, consistent=consistent
        )
    )


@bt.pattern("Count Products of Account by Status", index="Main table", takes="AccountID, Status")
def count_products(account_id: design.AccountId, status: Status) -> bt.Steps[int]:
    """At most 100 are counted."""
    lines = CartLine.within("main", account_id=design.ACCOUNT(account_id), status=status)
    return (yield from bt.count(lines, most=MOST_COUNTED))


@bt.pattern("View Carts of SKU by Status", index="GSI-SKU", takes="ItemSKU, Status")
def view_carts(
    item_sku: design.ItemSku, status: Status, *, limit: int = PAGE, after: bt.Position | None = None
) -> bt.Steps[bt.Page[CartLine]]:
    """Across accounts, newest first.

    The index follows the table with a delay.
    """
    return (yield from of_sku(item_sku, limit, after, status=status))


@bt.pattern("View Carts of SKU by Status for a Day", index="GSI-SKU", takes="ItemSKU, Status, Day")
def view_carts_of_day(
    item_sku: design.ItemSku,
    status: Status,
    day: date,
    *,
    limit: int = PAGE,
    after: bt.Position | None = None,
) -> bt.Steps[bt.Page[CartLine]]:
    """Across accounts, newest first, from the day's first instant to the last before the next."""
    start = datetime.combine(day, time(), tzinfo=UTC)
    entered = bt.between(start, start + DAY)
    return (yield from of_sku(item_sku, limit, after, status=status, entered_at=entered))


def of_sku(
    item_sku: str, limit: int, after: bt.Position | None, **stretch: object
) -> bt.Steps[bt.Page[CartLine]]:
    """A page of the index, merged from all partitions of a SKU."""
    fields = {"item_sku": design.SKU(item_sku), **stretch}
    if design.IS_SHARDED:
        spread = bt.shards(CartLine, "GSI-SKU", **fields)
        return (yield from bt.gather(spread, newest_first=True, limit=limit, after=after))
    lines = CartLine.within("GSI-SKU", **fields)
    return (yield from bt.query(lines, newest_first=True, limit=limit, after=after))


# What belongs to an account: the lines of its cart, and its last purchase


def erase_line(line: CartLine, pseudonym: str) -> bt.Steps[None]:
    """Moves a purchased line to the pseudonym, like its order; deletes any other."""
    if line.status is not Status.PURCHASED:
        yield from bt.delete(line)
        return
    yield from bt.transact(bt.delete(line), bt.create(line.replace(account_id=pseudonym)))


PERSONAL: Final = (
    bt.personal(
        CartLine,
        "account_id",
        erase=erase_line,
        kept="Your orders, for our books: under a random name, and without your address.",
    ),
    bt.personal(LineMarker, "account_id", goes_with=CartLine),
    bt.personal(Purchases, "account_id"),
)
