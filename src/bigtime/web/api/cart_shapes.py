"""Carts as the API has them.

A line that another account has is shown without whose it is.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Final, Self

from pydantic import Field

from bigtime.site import PricedCart, PricedLine
from bigtime.systems.cart import MOST_COUNT, CartLine, Count, Purchases, Status
from bigtime.web.api.errors import TOLD
from bigtime.web.api.shapes import Amount, Asked, Shown, example

DEAL_ID: Final = "3M8cT3vYiO0Op0N2BjBaiDdyiKk"
ENTERED: Final = "2026-11-15T10:30:00.000Z"
SK: Final = f"ACTIVE#{ENTERED}#{DEAL_ID}"

GivenCount = Annotated[Count, TOLD, Field(ge=1, le=MOST_COUNT, examples=[2])]


class CartLineShown(Shown):
    """So many of a product, in a status since some time."""

    model_config = example(
        sk=SK,
        status="ACTIVE",
        enteredAt=ENTERED,
        itemSku=DEAL_ID,
        price=19.99,
        count=2,
        createTimestamp=ENTERED,
        orderId=None,
    )

    sk: str = Field(description="What the line is called by; it changes with the status.")
    status: Status
    entered_at: datetime
    item_sku: str = Field(description="The id of the deal that the product is of.")
    price: Amount
    count: int
    create_timestamp: datetime
    order_id: str | None


class CartLinesShown(Shown):
    """Lines, all that there are."""

    items: list[CartLineShown]

    @classmethod
    def of(cls, lines: list[CartLine]) -> Self:
        return cls(items=[CartLineShown.model_validate(one) for one in lines])


class ReviewedLine(Shown):
    """A line beside its deal."""

    line: CartLineShown
    title: str
    amount: Amount = Field(description="Price times count.")
    new_price: Amount | None = Field(
        description="What the deal costs now, where that is something else."
    )

    @classmethod
    def of(cls, shown: PricedLine) -> Self:
        return cls(
            line=CartLineShown.model_validate(shown.line),
            title=shown.title,
            amount=shown.amount,
            new_price=shown.new_price,
        )


class CartShown(Shown):
    """What would be ordered now."""

    lines: list[ReviewedLine]
    total: Amount
    mark: str = Field(description="What an order has to bring, to show that this is what is meant.")

    @classmethod
    def of(cls, cart: PricedCart) -> Self:
        return cls(
            lines=[ReviewedLine.of(one) for one in cart.lines], total=cart.total, mark=cart.mark
        )


class RemovedShown(Shown):
    """A line that was removed, and the text that puts it back within an hour."""

    line: CartLineShown
    undo: str


class SkuCartShown(Shown):
    """That a product is in somebody's cart."""

    model_config = example(
        status="ACTIVE", enteredAt=ENTERED, itemSku=DEAL_ID, price=19.99, count=2
    )

    status: Status
    entered_at: datetime
    item_sku: str
    price: Amount
    count: int


class LastPurchase(Shown):
    """The caller's last purchase; nulls where there was none."""

    model_config = example(orderId="3M8cT3vYiO0Op0N2BjBaiDdyiKm", begunAt=ENTERED, isOpen=False)

    order_id: str | None
    begun_at: datetime | None
    is_open: bool

    @classmethod
    def of(cls, last: Purchases | None) -> Self:
        if last is None:
            return cls(order_id=None, begun_at=None, is_open=False)
        return cls.model_validate(last)


class ProductWanted(Asked):
    """Some of a deal's product; what it costs is the deal's to say."""

    model_config = example(dealId=DEAL_ID, count=2)

    deal_id: Annotated[str, Field(min_length=1, max_length=100)]
    count: GivenCount = 1


class CountWanted(Asked):
    """How many there are to be."""

    model_config = example(count=3)

    count: GivenCount


class LineStatusWanted(Asked):
    """Where a line goes: SAVED for later, or ACTIVE again."""

    model_config = example(status="SAVED")

    status: Status


class UndoWanted(Asked):
    """What the answer to a removal had."""

    model_config = example(undo="AUr3...")

    undo: Annotated[str, Field(min_length=1, max_length=2_000)]
