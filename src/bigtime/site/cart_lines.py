"""A shopper's cart over the deals: what may be put in it, and at which price."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator

from bigtime.model import RuleBroken
from bigtime.site.visitor import Visitor
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
from bigtime.systems.deals import deal_id_of, fetch_deal
from bigtime.wire import Steps

MOST_DIGITS = 9


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


class Adding(BaseModel):
    """Some of a deal's product."""

    deal_id: str
    count: WholeCount = 1


def adding(visitor: Visitor, wanted: Adding, noting: Noting | None = None) -> Steps[CartLine]:
    """Puts a deal's product in the cart, with what notes it in the same transaction."""
    deal = yield from fetch_deal(deal_id_of(wanted.deal_id))
    told = (visitor.username, deal.deal_id, deal.price, wanted.count)
    try:
        if noting is None:
            return (yield from put_in_cart(*told))
        return (yield from put_in_cart_noting(*told, noting=noting))
    except InvalidPrice:
        raise NotForSale from None


def repricing(visitor: Visitor, item_sku: str) -> Steps[CartLine]:
    deal = yield from fetch_deal(deal_id_of(item_sku))
    return (yield from set_price(visitor.username, deal.deal_id, deal.price))
