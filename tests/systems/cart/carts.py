"""Carts for the tests: filled, and looked into."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal

from bigtime.model import Ksuid, scan_all
from bigtime.systems.cart import SYSTEM
from bigtime.systems.cart.design import CartLine, LineMarker, Purchases, Status
from bigtime.systems.cart.line import put_in_cart, view_products
from bigtime.wire import Steps
from tests.store.places import START, Place
from tests.systems.cart.contents import check_sound

ACTIVE, SAVED, PURCHASED = Status
PRICE = Decimal("12.49")


def order_id(number: int, at: datetime = START) -> Ksuid:
    return Ksuid.make(at, number.to_bytes(16))


def fill(place: Place, count: int, account_id: str = "liz") -> None:
    """So many products, the first SKU first, one of the first, two of the second, ..."""
    for number in range(count):
        place.run(put_in_cart(account_id, sku(number), PRICE, number % 5 + 1))
        place.time.now += timedelta(milliseconds=1)


def sku(number: int) -> str:
    return f"SKU-{number:03}"


def skus(place: Place, status: Status = ACTIVE, account_id: str = "liz") -> dict[str, int]:
    """The products of a status, newest first, and how many of each."""
    page = place.run(view_products(account_id, status, limit=1_000))
    return {line.item_sku: line.count for line in page}


def lines(status: Status) -> Steps[list[CartLine]]:
    everything = yield from scan_all(CartLine, consistent=True)
    return [line for line in everything if line.status is status]


def check_markers(place: Place) -> None:
    """Every active line has its marker, every marker its line, and all is as declared."""
    active = place.run(lines(ACTIVE))
    markers = place.run(scan_all(LineMarker, consistent=True))
    assert sorted((marker.account_id, marker.sku, marker.line_sk) for marker in markers) == sorted(
        (line.account_id, line.item_sku, line.sk) for line in active
    )
    check_sound(place, SYSTEM)


def check_closed(place: Place) -> None:
    """No purchase is going on."""
    assert not any(purchase.is_open for purchase in place.run(scan_all(Purchases, consistent=True)))
