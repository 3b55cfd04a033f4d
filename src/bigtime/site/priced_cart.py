"""A cart with the deals behind its lines.

A line costs what its deal costs now. It keeps the price that the deal had when it was put in the
cart, so that the page can show it; if the deal is gone, the line has this price. A checkout uses
the prices that its page showed, or asks again: shoppers never pay a price they have not seen.
Adding more of a deal to the cart, or ordering it, stores the new price. A deal that has expired or
is unpublished stays in the cart, but cannot be ordered.

Pages may read deals from a cache; a checkout reads them from the table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from hashlib import sha256
from typing import Annotated, Final

from pydantic import BaseModel, BeforeValidator

from bigtime import model as bt
from bigtime.systems import cart, shop
from bigtime.systems.deals import (
    Deal,
    DealExpired,
    DealStatus,
    Picture,
    Username,
    deal_id_of,
    fetch_deal,
    fetch_deals,
)
from bigtime.wire import Steps


@dataclass(frozen=True, slots=True)
class PricedLine:
    """A line of the cart and its deal; None if the deal is gone."""

    line: cart.CartLine
    deal: Deal | None

    @property
    def title(self) -> str:
        return self.deal.title if self.deal else self.line.item_sku

    @property
    def category(self) -> str:
        """The deal's category; empty if the deal is gone."""
        return self.deal.category if self.deal else ""

    @property
    def picture(self) -> Picture | None:
        return self.deal.picture if self.deal else None

    @property
    def is_available(self) -> bool:
        """Whether it can be ordered."""
        return self.deal is None or self.deal.status is DealStatus.ACTIVE

    @property
    def is_shown(self) -> bool:
        """Whether the deal has a page."""
        return self.deal is not None and self.deal.is_listed

    @property
    def price(self) -> Decimal:
        """The current price."""
        return self.line.price if self.new_price is None else self.new_price

    @property
    def amount(self) -> Decimal:
        return self.price * self.line.count

    @property
    def new_price(self) -> Decimal | None:
        """The deal's current price, if it differs and is not above the cart's maximum."""
        if self.deal is None or self.deal.price == self.line.price:
            return None
        return self.deal.price if self.deal.price <= cart.MOST_PRICE else None


@dataclass(frozen=True, slots=True)
class PricedCart:
    """The lines to buy and the lines saved for later, newest first."""

    lines: Sequence[PricedLine]
    saved: Sequence[PricedLine] = ()
    more_saved: bt.Position | None = None

    @property
    def total(self) -> Decimal:
        """The total of the lines that can be ordered."""
        available = (line.amount for line in self.lines if line.is_available)
        return sum(available, start=Decimal(0))

    @property
    def is_available(self) -> bool:
        """Whether every line can be ordered."""
        return all(line.is_available for line in self.lines)

    def has(self, item_sku: str | None) -> bool:
        """Whether a product is among the lines to buy."""
        return any(priced.line.item_sku == item_sku for priced in self.lines)

    @property
    def mark(self) -> str:
        """A digest of the products, counts and prices that would be bought."""
        return digest_of_prices(self.lines)


@bt.pattern("View Cart with Deals", index="Main table")
def view_cart(username: Username, *, after: bt.Position | None = None) -> Steps[PricedCart]:
    """All lines to buy, and a page of the saved ones, each with its deal.

    A purchase that a crash left open is completed first.
    """
    active, saved = yield from all_lines(username, after=after)
    skus = [line.item_sku for line in (*active, *saved)]
    deals = yield from fetch_deals(skus, unpublished=True)
    return price_cart(active, saved, deals)


def all_lines(
    username: str, *, after: bt.Position | None = None
) -> Steps[tuple[bt.Page[cart.CartLine], bt.Page[cart.CartLine]]]:
    """The lines to buy, and a page of the saved ones."""
    active = yield from view_active_lines(username)
    return active, (yield from cart.view_products(username, cart.Status.SAVED, after=after))


def price_cart(
    active: Iterable[cart.CartLine], saved: bt.Page[cart.CartLine], deals: Iterable[Deal]
) -> PricedCart:
    """Lines with their deals."""
    known: dict[str, Deal] = {deal.deal_id: deal for deal in deals}
    return PricedCart(priced_lines(active, known), priced_lines(saved, known), saved.position)


def view_active_lines(username: str) -> Steps[bt.Page[cart.CartLine]]:
    """The lines to buy, after an open purchase is completed."""
    yield from cart.complete_purchase(username)
    return (yield from cart.view_products(username, cart.Status.ACTIVE, limit=cart.MOST_LINES))


def fetch_deals_of(lines: Iterable[cart.CartLine]) -> Steps[dict[str, Deal]]:
    """The deals of lines, by SKU, which is the deal's id."""
    found = yield from fetch_deals([line.item_sku for line in lines], unpublished=True)
    return {deal.deal_id: deal for deal in found}


def priced_lines(lines: Iterable[cart.CartLine], deals: Mapping[str, Deal]) -> list[PricedLine]:
    return [PricedLine(line, deals.get(line.item_sku)) for line in lines]


def digest_of_prices(lines: Iterable[PricedLine]) -> str:
    """A digest of SKUs, counts and present prices, in any order."""
    return digest((line.line.item_sku, line.line.count, line.price) for line in lines)


def digest_of_order(items: Iterable[shop.OrderItem]) -> str:
    """The digest of the lines that an order was made from."""
    return digest((item.item_id, item.count, item.price) for item in items)


def digest(products: Iterable[tuple[str, int, Decimal]]) -> str:
    texts = sorted(f"{sku}#{count}#{price.normalize():f}" for sku, count, price in products)
    return sha256("\n".join(texts).encode()).hexdigest()[:32]


# ------------------------------------------------------------------------------------------
# Changing the cart: a deal's id is the SKU, and the deal sets the price.


MOST_DIGITS: Final = 9
SAMPLE_SKU: Final = "0" * 27


class NotForSale(bt.RuleBroken):
    """This deal is too expensive for the cart; see it at the store instead."""


class NotAvailable(bt.RuleBroken):
    """A deal in your cart is no longer available; remove it or save it for later."""


class NoUndo(bt.RuleBroken):
    """This can no longer be undone; find the deal and add it to your cart again."""


def whole_number(text: object) -> object:
    if isinstance(text, str) and not (
        text.isascii() and text.isdigit() and len(text) < MOST_DIGITS
    ):
        raise cart.InvalidCount
    return text


WholeCount = Annotated[cart.Count, BeforeValidator(whole_number)]


class CartAddition(BaseModel):
    """A deal to put in the cart, and how many of it."""

    deal_id: str
    count: WholeCount = 1


def check_running(deal: Deal) -> None:
    if deal.status is DealStatus.EXPIRED:
        raise DealExpired("This deal has expired, and cannot be put in the cart.")


@bt.pattern("Put Deal in Cart", index="Main table", sample={"deal_id": SAMPLE_SKU})
def put_deal_in_cart(
    username: Username, deal_id: str, count: cart.Count = 1, *, also: cart.LineWrites | None = None
) -> Steps[cart.CartLine]:
    """At the deal's price; more of the same deal is added to its line.

    `also` gives writes that go into the same transaction as the line.
    """
    deal = yield from fetch_deal(deal_id_of(deal_id))
    check_running(deal)
    try:
        if also is None:
            return (yield from cart.put_in_cart(username, deal.deal_id, deal.price, count))
        return (
            yield from cart.put_in_cart_with(username, deal.deal_id, deal.price, count, also=also)
        )
    except cart.InvalidPrice:
        raise NotForSale from None


@bt.pattern("Set Counts of Cart", index="Main table", sample={"counts": {SAMPLE_SKU: 2}})
def set_counts(username: Username, counts: Mapping[str, cart.Count]) -> Steps[None]:
    """Sets the counts of several products; none, if one of them is not in the cart."""
    lines = {line.item_sku: line.count for line in (yield from view_active_lines(username))}
    if counts.keys() - lines.keys():
        raise cart.UnknownLine
    for item_sku, count in counts.items():
        if lines[item_sku] != count:
            yield from cart.set_count(username, item_sku, count)


@bt.pattern("Take new Price of Deal in Cart", index="Main table", sample={"item_sku": SAMPLE_SKU})
def take_new_price(username: Username, item_sku: str) -> Steps[cart.CartLine]:
    """Gives a line the price that its deal has now."""
    deal = yield from fetch_deal(deal_id_of(item_sku))
    return (yield from cart.set_price(username, deal.deal_id, deal.price))
