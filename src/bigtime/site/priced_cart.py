"""A cart as its pages show it: each line with the deal that it is of.

A line costs what the deal cost when it was put in the cart, and stays so, also when it is saved for
later, or removed and put back: nobody is asked for a price that they have not seen. Where the deal
costs something else by now, that is said beside the line, and whoever wants the new price takes it.
To put more of a product in the cart takes the new price for all of it.

Pages show deals as the site keeps them, which may be a moment old; whoever orders asks the store.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from hashlib import sha256

from bigtime.model import Page, Position
from bigtime.systems import cart, shop
from bigtime.systems.deals import Deal, fetch_deals
from bigtime.wire import Steps


@dataclass(frozen=True, slots=True)
class ShownLine:
    """A line, and its deal if there is one."""

    line: cart.CartLine
    deal: Deal | None

    @property
    def title(self) -> str:
        return self.deal.title if self.deal else self.line.item_sku

    @property
    def category(self) -> str:
        """That of the deal; what is no deal has none."""
        return self.deal.category if self.deal else ""

    @property
    def amount(self) -> Decimal:
        return self.line.price * self.line.count

    @property
    def new_price(self) -> Decimal | None:
        """What the deal costs now, where that is something else, and can be paid here."""
        if self.deal is None or self.deal.price == self.line.price:
            return None
        return self.deal.price if self.deal.price <= cart.MOST_PRICE else None


@dataclass(frozen=True, slots=True)
class ShownCart:
    """What somebody wants to buy, newest first, and what they saved for later."""

    lines: Sequence[ShownLine]
    saved: Sequence[ShownLine] = ()
    more_saved: Position | None = None

    @property
    def total(self) -> Decimal:
        return sum((one.amount for one in self.lines), start=Decimal(0))

    def has(self, item_sku: str | None) -> bool:
        """Whether a product is in the cart; what is saved for later is not."""
        return any(one.line.item_sku == item_sku for one in self.lines)

    @property
    def mark(self) -> str:
        return mark_of(one.line for one in self.lines)


def view_cart(username: str, *, after: Position | None = None) -> Steps[ShownCart]:
    """The cart; of what is saved a page, that after a position."""
    active, saved = yield from all_lines(username, after=after)
    deals = yield from fetch_deals([line.item_sku for line in (*active, *saved)])
    return priced_cart(active, saved, deals)


def all_lines(
    username: str, *, after: Position | None = None
) -> Steps[tuple[Page[cart.CartLine], Page[cart.CartLine]]]:
    """What is in the cart, and a page of what is saved."""
    active = yield from active_lines(username)
    return active, (yield from cart.view_products(username, cart.Status.SAVED, after=after))


def priced_cart(
    active: Iterable[cart.CartLine], saved: Page[cart.CartLine], deals: Iterable[Deal]
) -> ShownCart:
    """Lines, with those of the deals that they are of."""
    known: dict[str, Deal] = {deal.deal_id: deal for deal in deals}
    return ShownCart(beside(active, known), beside(saved, known), saved.position)


def active_lines(username: str) -> Steps[Page[cart.CartLine]]:
    """What is in the cart, after whatever a checkout has left undone is done."""
    yield from cart.complete_purchase(username)
    return (yield from cart.view_products(username, cart.Status.ACTIVE, limit=cart.MOST_LINES))


def deals_of(lines: Iterable[cart.CartLine]) -> Steps[dict[str, Deal]]:
    """The deals that lines are of, by SKU, which is the deal's id."""
    found = yield from fetch_deals([line.item_sku for line in lines])
    return {deal.deal_id: deal for deal in found}


def beside(lines: Iterable[cart.CartLine], deals: Mapping[str, Deal]) -> list[ShownLine]:
    return [ShownLine(one, deals.get(one.item_sku)) for one in lines]


def mark_of(lines: Iterable[cart.CartLine]) -> str:
    """A mark of what would be bought, and for how much: other lines have another mark."""
    return mark((line.item_sku, line.count, line.price) for line in lines)


def mark_of_order(items: Iterable[shop.OrderItem]) -> str:
    """The mark of the lines that an order was made of."""
    return mark((item.item_id, item.count, item.price) for item in items)


def mark(products: Iterable[tuple[str, int, Decimal]]) -> str:
    told = sorted(f"{sku}#{count}#{price.normalize():f}" for sku, count, price in products)
    return sha256("\n".join(told).encode()).hexdigest()[:32]
