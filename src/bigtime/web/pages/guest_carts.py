"""The cookie with the cart of a visitor who is not signed in.

It is signed and sealed like a cursor. One that was tampered with, is too long or too old is
ignored, and cleared by the next page that shows or changes the cart.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final

from bigtime.model import CursorError, Cursors, Position
from bigtime.site import GUEST_CART_LASTS, GuestCart
from bigtime.web.http import CART, Cookies, Header

LONGEST: Final = 3_800
"""Browsers store up to 4,096 bytes per cookie, including its name and attributes."""
QUERY: Final = "guest cart"
"""Replaces a query's fingerprint in the signed text; no fingerprint looks like this."""
MOST_CACHED: Final = 4_096


class GuestCarts:
    """Reads and writes the cookie."""

    def __init__(self, cursors: Cursors, cookies: Cookies, clock: Callable[[], datetime]) -> None:
        self.cursors = cursors
        self.cookies = cookies
        self.clock = clock
        self.parse = lru_cache(MOST_CACHED)(self._parse)

    def new(self) -> GuestCart:
        """An empty cart with a new id."""
        return GuestCart(secrets.token_hex(16), self.clock().replace(microsecond=0))

    def read(self, headers: Iterable[Header]) -> GuestCart | None:
        """The cart in a request's headers; None unless there is a valid one."""
        cookie = self.cookies.read(CART, headers)
        found = self.parse(cookie) if cookie and len(cookie) <= LONGEST else None
        is_old = found is not None and self.clock() - found.begun_at >= GUEST_CART_LASTS
        return None if is_old else found

    def count(self, headers: Iterable[Header]) -> int:
        """How many products are in the cart."""
        found = self.read(headers)
        return len(found.lines) if found else 0

    def _parse(self, cookie: str) -> GuestCart | None:
        place = signed_place(self.cursors, QUERY, cookie)
        return None if place is None else cart_in(place)

    def is_sent(self, headers: Iterable[Header]) -> bool:
        """Whether a request has the cookie, valid or not."""
        return self.cookies.read(CART, headers) is not None

    def set_header(self, guest: GuestCart) -> Header:
        """The header that stores a cart in the browser; an empty cart is cleared."""
        if not guest.lines:
            return self.clear_header()
        cookie = self.cursors.write(Position(QUERY, place_of(guest)))
        left = guest.begun_at + GUEST_CART_LASTS - self.clock()
        return self.cookies.set_header(CART, cookie, seconds=int(left.total_seconds()))

    def clear_header(self) -> Header:
        return self.cookies.clear_header(CART)


def signed_place(cursors: Cursors, name: str, text: str) -> Any:
    """The content of a text that was signed like a cursor, under a name; None if invalid."""
    try:
        found = cursors.read(text)
    except CursorError:
        return None
    return found.place if found.query == name else None


def place_of(guest: GuestCart) -> dict[str, Any]:
    return {
        "id": guest.cart_id,
        "at": int(guest.begun_at.timestamp()),
        "lines": [[line.item_sku, str(line.price), line.count] for line in guest.lines],
    }


def cart_in(place: Any) -> GuestCart:
    empty = GuestCart(place["id"], datetime.fromtimestamp(place["at"], UTC))
    return empty.replace_lines(
        empty.new_line(item_sku, Decimal(price), count) for item_sku, price, count in place["lines"]
    )
