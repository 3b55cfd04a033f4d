"""A shopper's cart over the deals: a deal's id is the SKU, and the deal says the price."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import BaseModel, BeforeValidator

from bigtime.model import RuleBroken, pattern
from bigtime.systems.cart import (
    CartLine,
    Count,
    InvalidCount,
    InvalidPrice,
    Noting,
    put_in_cart,
    put_in_cart_noting,
    set_price,
)
from bigtime.systems.deals import Username, deal_id_of, fetch_deal
from bigtime.wire import Steps

MOST_DIGITS: Final = 9
SAMPLE_SKU: Final = "0" * 27


class NotForSale(RuleBroken):
    """This deal costs more than can be paid here; go to the offer instead."""


class NoUndo(RuleBroken):
    """This cannot be put back any more; look for the deal, and put it in the cart again."""


def whole_number(text: Any) -> Any:
    if isinstance(text, str) and not (
        text.isascii() and text.isdigit() and len(text) < MOST_DIGITS
    ):
        raise InvalidCount
    return text


WholeCount = Annotated[Count, BeforeValidator(whole_number)]


class CartAddition(BaseModel):
    """A deal to put in the cart, and how many of it."""

    deal_id: str
    count: WholeCount = 1


@pattern("Put Deal in Cart", index="Main table", sample={"deal_id": SAMPLE_SKU})
def put_deal_in_cart(
    username: Username, deal_id: str, count: Count = 1, *, noting: Noting | None = None
) -> Steps[CartLine]:
    """At the deal's price; more of the same deal is added to its line.

    `noting` gives writes that go into the same transaction as the line.
    """
    deal = yield from fetch_deal(deal_id_of(deal_id))
    try:
        if noting is None:
            return (yield from put_in_cart(username, deal.deal_id, deal.price, count))
        return (
            yield from put_in_cart_noting(username, deal.deal_id, deal.price, count, noting=noting)
        )
    except InvalidPrice:
        raise NotForSale from None


@pattern("Take new Price of Deal in Cart", index="Main table", sample={"item_sku": SAMPLE_SKU})
def take_new_price(username: Username, item_sku: str) -> Steps[CartLine]:
    """Gives a line the price that its deal has now."""
    deal = yield from fetch_deal(deal_id_of(item_sku))
    return (yield from set_price(username, deal.deal_id, deal.price))
