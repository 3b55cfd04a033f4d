"""Customers, addresses and orders as the API has them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Final

from pydantic import Field

from bigtime.systems import shop
from bigtime.web.api.errors import TOLD
from bigtime.web.api.paging import Listed
from bigtime.web.api.shapes import Amount, Asked, Shown, example

ORDER_ID: Final = "3M8cT3vYiO0Op0N2BjBaiDdyiKm"
CREATED: Final = "2026-11-15T10:30:00Z"
HOME: Final = {
    "recipient": "Alex Doe",
    "street": "1 Main Street",
    "city": "Omaha",
    "region": "NE",
    "postalCode": "68102",
    "country": "USA",
}


class AddressShown(Shown):
    """Where something is sent."""

    model_config = example(**HOME)

    recipient: str
    street: str
    city: str
    region: str | None
    postal_code: str
    country: str


class AddressWanted(Asked):
    """Where something is to be sent."""

    model_config = example(**HOME)

    recipient: shop.Line
    street: shop.Line
    city: shop.Line
    region: shop.Line | None = None
    postal_code: shop.Line
    country: shop.Line

    @property
    def address(self) -> shop.Address:
        return shop.Address(**{name: getattr(self, name) for name in type(self).model_fields})


class CustomerShown(Shown):
    """The caller, as somebody who orders."""

    model_config = example(
        username="alex", email="alex@example.com", name="Alex Doe", addresses={"home": HOME}
    )

    username: str
    email: str
    name: str
    addresses: dict[str, AddressShown]


class NewCustomer(Asked):
    """What the caller is called; username and e-mail are those of their account."""

    model_config = example(name="Alex Doe")

    name: Annotated[shop.CustomerName, TOLD, Field(min_length=1, max_length=100)]


class ShopOrderShown(Shown):
    """What was ordered at once, without its items."""

    model_config = example(
        orderId=ORDER_ID,
        createdAt=CREATED,
        status="PLACED",
        itemCount=2,
        total=59.97,
        shipTo=HOME,
    )

    order_id: str
    created_at: datetime
    status: shop.OrderStatus
    item_count: int
    total: Amount
    ship_to: AddressShown | None


class ShopItemShown(Shown):
    """So many of something, at the price it had then."""

    model_config = example(
        itemId="3M8cT3vYiO0Op0N2BjBaiDdyiKk", title="A lamp", price=19.99, count=3
    )

    item_id: str
    title: str | None
    price: Amount
    count: int


class WholeShopOrder(Shown):
    """An order and its items."""

    order: ShopOrderShown
    items: list[ShopItemShown]


class CustomerPage(Shown):
    """A page of the caller's orders, newest first; the first page has the caller too."""

    customer: CustomerShown | None
    orders: Listed[ShopOrderShown]


class OrderWanted(Asked):
    """That what is in the cart is ordered, as it was seen; it goes to one of two addresses."""

    model_config = example(mark="5f2c...", addressName="home")

    mark: Annotated[str, Field(max_length=100, description="The `mark` of `GET /me/cart`.")]
    address_name: Annotated[
        str | None, Field(max_length=100, description="The name of an address that is kept.")
    ] = None
    ship_to: AddressWanted | None = None


class OrderStatusWanted(Asked):
    """The status that an order is to have; `seen` is the one that it must have had."""

    model_config = example(seen="PLACED", status="CANCELLED")

    seen: shop.OrderStatus
    status: shop.OrderStatus
