"""The cart of a visitor who is not signed in.

It is a value in a signed cookie: each change creates a new one. It has the lines of an ordinary
cart, though they are in no table, so that pages show it like any other.

At sign-in its lines are added to the account's cart, each in one transaction with a `MergedLine`: a
sign-in that is sent again, or continues after a crash, adds no line twice. Products that are no
longer sold, and counts above a cart's maximum, are left out, and the visitor is told.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Final

from pydantic import Field

from bigtime import model as bt
from bigtime.site.design import SITE_TABLE, Expiry
from bigtime.site.priced_cart import SAMPLE_SKU, NotForSale, check_running, fetch_deals_of
from bigtime.systems import cart
from bigtime.systems.deals import Deal, DealStatus, Username
from bigtime.wire import Steps

MOST_GUEST_LINES: Final = 20
GUEST_CART_LASTS: Final = timedelta(days=30)


class GuestCartFull(bt.RuleBroken):
    """Without an account a cart holds up to 20 products; sign in to add more."""


class AlreadyMerged(bt.Clash):
    """This line was already added to the account's cart."""


class MergedLine(bt.Entity, table=SITE_TABLE):
    """That a line of a guest's cart was put in the cart of an account."""

    keys = bt.Keys(main=("GUESTCART#{cart_id}", "{item_sku}"))
    cart_id: str = Field(max_length=40)
    item_sku: str = Field(max_length=64)
    expires_at: Expiry


@dataclass(frozen=True, slots=True)
class GuestCart:
    """The lines of a guest, newest first; `cart_id` is generated with the first of them."""

    cart_id: str
    begun_at: datetime
    lines: tuple[cart.CartLine, ...] = ()

    @property
    def account_id(self) -> str:
        """The account id in its lines; it is random, so it is no account's."""
        return f"guest {self.cart_id}"

    def new_line(self, item_sku: str, price: Decimal, count: int) -> cart.CartLine:
        return cart.CartLine(
            account_id=self.account_id,
            status=cart.Status.ACTIVE,
            entered_at=self.begun_at,
            item_sku=item_sku,
            price=price,
            count=count,
            create_timestamp=self.begun_at,
        )

    def add_deal(self, deal: Deal, count: int) -> GuestCart:
        """The cart with a deal, at its price; more of the same deal is added to its line."""
        found = next((line for line in self.lines if line.item_sku == deal.deal_id), None)
        check_running(deal)
        if deal.price > cart.MOST_PRICE:
            raise NotForSale
        if found is not None:
            more = self.new_line(deal.deal_id, deal.price, found.count + count)
            return self.replace_lines(more if line is found else line for line in self.lines)
        return self.add_line(self.new_line(deal.deal_id, deal.price, count))

    def add_line(self, line: cart.CartLine) -> GuestCart:
        """The cart with a line, unless its product has one; to undo a removal."""
        if any(other.item_sku == line.item_sku for other in self.lines):
            raise cart.InCartAgain
        if len(self.lines) >= MOST_GUEST_LINES:
            raise GuestCartFull
        return self.replace_lines((line, *self.lines))

    def set_counts(self, counts: Mapping[str, int]) -> GuestCart:
        if counts.keys() - {line.item_sku for line in self.lines}:
            raise cart.UnknownLine
        return self.replace_lines(
            line.replace(count=counts.get(line.item_sku, line.count)) for line in self.lines
        )

    def find(self, sk: str) -> cart.CartLine:
        found = next((line for line in self.lines if line.sk == sk), None)
        if found is None:
            raise cart.UnknownLine
        return found

    def remove(self, line: cart.CartLine) -> GuestCart:
        return self.replace_lines(other for other in self.lines if other is not line)

    def replace_lines(self, lines: Iterable[cart.CartLine]) -> GuestCart:
        return replace(self, lines=tuple(lines))


# --- Merging it into the cart of an account -----------------------------------------------


@dataclass(frozen=True, slots=True)
class MergedCart:
    """What was left out: how many products are no longer sold, and the titles of those too many."""

    gone: int = 0
    too_many: Sequence[str] = ()

    @property
    def is_whole(self) -> bool:
        return not self.gone and not self.too_many


SAMPLE_BEGUN: Final = datetime(2026, 1, 1, 12, tzinfo=UTC)
SAMPLE: Final = GuestCart("0" * 32, SAMPLE_BEGUN)
SAMPLE_CART: Final = SAMPLE.add_line(SAMPLE.new_line(SAMPLE_SKU, Decimal(5), 2))


@bt.pattern("Merge Guest Cart", index="Main table", sample={"guest": SAMPLE_CART})
def merge_guest_cart(username: Username, guest: GuestCart) -> Steps[MergedCart]:
    """A transaction for each line: the line and the mark that it was merged. Repeatable."""
    keys = [MergedLine.key(guest.cart_id, line.item_sku) for line in guest.lines]
    merged = yield from bt.get_many(keys, consistent=True)
    lines = [line for line, mark in zip(guest.lines, merged, strict=True) if mark is None]
    found = yield from fetch_deals_of(lines)
    deals = {sku: deal for sku, deal in found.items() if deal.status is DealStatus.ACTIVE}
    there = yield from cart.view_products(username, cart.Status.ACTIVE, limit=cart.MOST_LINES)
    counts = {line.item_sku: line.count for line in there}
    too_many: list[str] = []
    for line in reversed(lines):  # so the newest of them becomes the newest in the cart
        if deal := deals.get(line.item_sku):
            count = min(line.count, cart.MOST_COUNT - counts.get(line.item_sku, 0))
            if count < line.count:
                too_many.append(deal.title)
            if count:
                yield from merge_line(username, guest, line.replace(count=count))
    return MergedCart(sum(line.item_sku not in deals for line in lines), too_many)


def merge_line(username: str, guest: GuestCart, line: cart.CartLine) -> Steps[None]:
    """Puts a line in an account's cart, at the price that the guest was shown, once."""
    mark = MergedLine(
        cart_id=guest.cart_id,
        item_sku=line.item_sku,
        # Twice as long as the browser keeps the cart, so that the mark outlives it.
        expires_at=guest.begun_at + 2 * GUEST_CART_LASTS,
    )
    try:
        yield from cart.put_in_cart_with(
            username,
            line.item_sku,
            line.price,
            line.count,
            also=lambda _: (bt.create(mark, unless_exists=AlreadyMerged),),
        )
    except AlreadyMerged:
        return
