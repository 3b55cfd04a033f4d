"""`/api/v1/me`: each caller's own customer, addresses and orders.

An order is created from the cart, in one transaction with the purchase: see
`bigtime.site.checkout`. With an `Idempotency-Key` its id is derived from that, so a repeated
request gets the same order.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Final

from fastapi import Depends, Path
from pydantic import Field
from starlette.responses import Response

from bigtime import site
from bigtime.model import RuleBroken
from bigtime.systems import shop
from bigtime.web.api.bodies import Amount, Listed, RequestBody, ResponseBody, example
from bigtime.web.api.dependencies import Admin, PagesOf10, SignedIn, count_order
from bigtime.web.api.idempotency import Idempotent
from bigtime.web.api.routing import OWN, V1Router
from bigtime.web.http import NotAllowed
from bigtime.web.pages import AppContext, AppRequest
from bigtime.wire import Steps

shop_api = V1Router(shop.SYSTEM, reads=OWN)

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

AddressName = Annotated[str, Path(alias="addressName", min_length=1)]
OrderId = Annotated[str, Path(alias="orderId", min_length=1)]


class NoAddress(RuleBroken):
    """Say where it goes: either an addressName, or shipTo."""


class OnlyCancelled(NotAllowed):
    """You can cancel your order; how it goes on otherwise is for the shop to say."""


# Bodies


class AddressShown(ResponseBody):
    """A shipping address."""

    model_config = example(**HOME)

    recipient: str
    street: str
    city: str
    region: str | None
    postal_code: str
    country: str


class AddressWanted(RequestBody):
    """A shipping address to save or to ship to."""

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


class CustomerShown(ResponseBody):
    """You as a customer of the shop."""

    model_config = example(
        username="alex", email="alex@example.com", name="Alex Doe", addresses={"home": HOME}
    )

    username: str
    email: str
    name: str
    addresses: dict[str, AddressShown]


class NewCustomer(RequestBody):
    """Your name as a customer; username and e-mail are those of your account."""

    model_config = example(name="Alex Doe")

    name: shop.CustomerName


class ShopOrderShown(ResponseBody):
    """An order without its items."""

    model_config = example(
        orderId=ORDER_ID, createdAt=CREATED, status="PLACED", itemCount=2, total=59.97, shipTo=HOME
    )

    order_id: str
    created_at: datetime
    status: shop.OrderStatus
    item_count: int
    total: Amount
    ship_to: AddressShown | None


class ShopItemShown(ResponseBody):
    """An item of an order, at the price of then."""

    model_config = example(
        itemId="3M8cT3vYiO0Op0N2BjBaiDdyiKk", title="A lamp", price=19.99, count=3
    )

    item_id: str
    title: str | None
    price: Amount
    count: int


class WholeShopOrder(ResponseBody):
    """An order and its items."""

    order: ShopOrderShown
    items: list[ShopItemShown]


class CustomerPage(ResponseBody):
    """A page of your orders, newest first; the first page has the customer too."""

    customer: CustomerShown | None
    orders: Listed[ShopOrderShown]


class OrderWanted(RequestBody):
    """An order of the cart as it was shown, to a saved address or to another."""

    model_config = example(mark="5f2c...", addressName="home")

    mark: Annotated[str, Field(max_length=100, description="The `mark` of `GET /me/cart`.")]
    address_name: Annotated[
        str | None, Field(max_length=100, description="The name of an address that is kept.")
    ] = None
    ship_to: AddressWanted | None = None


class OrderStatusWanted(RequestBody):
    """The new status of an order; `seen` is the one that it must have now."""

    model_config = example(seen="PLACED", status="CANCELLED")

    seen: shop.OrderStatus
    status: shop.OrderStatus


# Customers


@shop_api.post("/me/customer", status_code=201, response_model=CustomerShown)
async def create_customer(caller: SignedIn, idempotent: Idempotent, body: NewCustomer) -> Response:
    """Makes you a customer. Your first order does so by itself."""
    return await idempotent.run(
        lambda: shop.create_customer(caller.username, caller.login, body.name),
        CustomerShown.model_validate,
    )


@shop_api.get("/me/customer", response_model=CustomerPage)
async def view_customer(
    request: AppRequest, caller: SignedIn, paging: PagesOf10, consistent: bool = False
) -> CustomerPage:
    """Returns you as a customer, and a page of your orders, newest first."""
    steps = shop.view_customer(caller.username, consistent=consistent, **paging.query)
    found = await request.run(steps)
    fields = {"customer": found.customer, "orders": paging.items(found.orders)}
    return CustomerPage.model_validate(fields)


@shop_api.put("/me/addresses/{addressName:path}", response_model=CustomerShown)
async def save_address(
    request: AppRequest, caller: SignedIn, address_name: AddressName, body: AddressWanted
) -> shop.Customer:
    """Saves an address under a name; the first one makes you a customer."""

    def save() -> Steps[shop.Customer]:
        yield from site.ensure_customer(caller.username, caller.login)
        return (yield from shop.save_address(caller.username, address_name, body.address))

    return await request.run(save())


@shop_api.delete("/me/addresses/{addressName:path}", status_code=204)
async def remove_address(request: AppRequest, caller: SignedIn, address_name: AddressName) -> None:
    """Removes an address."""
    await request.run(shop.remove_address(caller.username, address_name))


# Orders


@shop_api.post(
    "/me/orders",
    status_code=201,
    response_model=ShopOrderShown,
    dependencies=[Depends(count_order)],
)
async def save_order(
    request: AppRequest, caller: SignedIn, idempotent: Idempotent, body: OrderWanted
) -> Response:
    """Orders all that is in your cart, as you saw it there, at the prices of the cart."""
    return await idempotent.run(
        lambda: order_cart(request.context, caller, body), ShopOrderShown.model_validate
    )


def order_cart(context: AppContext, caller: site.Visitor, wanted: OrderWanted) -> Steps[shop.Order]:
    customer = yield from site.ensure_customer(caller.username, caller.login)
    order_id = yield from site.check_out(
        site.Checkout(
            username=caller.username,
            email=caller.login,
            key=(yield from site.draw_checkout_key()),
            ship_to=address_in(wanted, customer),
            reviewed=wanted.mark,
            orders_url=f"{context.settings.base_url}/orders",
            is_confirmed=caller.is_confirmed,
        )
    )
    return (yield from shop.view_order_of(caller.username, order_id))


def address_in(wanted: OrderWanted, customer: shop.Customer) -> shop.Address:
    if (wanted.address_name is None) == (wanted.ship_to is None):
        raise NoAddress
    if wanted.ship_to is not None:
        return wanted.ship_to.address
    found = customer.addresses.get(wanted.address_name or "")
    if found is None:
        raise shop.UnknownAddress
    return found


@shop_api.get("/me/orders/{orderId}/items", response_model=WholeShopOrder)
async def view_order(request: AppRequest, caller: SignedIn, order_id: OrderId) -> shop.WholeOrder:
    """Returns an order of yours and its items."""

    def read() -> Steps[shop.WholeOrder]:
        order = yield from read_order(caller.username, order_id)
        return (yield from shop.view_order(order.order_id))

    return await request.run(read())


@shop_api.put(
    "/me/orders/{orderId}/status",
    response_model=ShopOrderShown,
    summary=shop.update_order_status.title,
)
async def cancel_order(
    request: AppRequest, caller: SignedIn, order_id: OrderId, body: OrderStatusWanted
) -> shop.Order:
    """Cancels an order of yours; no other status can be set here."""
    if body.status is not shop.OrderStatus.CANCELLED:
        raise OnlyCancelled
    return await request.run(set_status(request.context, caller, caller.username, order_id, body))


@shop_api.get("/me/orders/{orderId}", response_model=ShopOrderShown)
async def view_order_of(request: AppRequest, caller: SignedIn, order_id: OrderId) -> shop.Order:
    """Returns an order of yours, without its items."""
    return await request.run(read_order(caller.username, order_id))


@shop_api.put("/customers/{customer}/orders/{orderId}/status", status_code=204)
async def update_order_status(
    request: AppRequest,
    caller: Admin,
    customer: Annotated[str, Path(min_length=1)],
    order_id: OrderId,
    body: OrderStatusWanted,
) -> None:
    """Sets the status of an order, for those who pack and send it. Admins only."""
    await request.run(set_status(request.context, caller, customer, order_id, body))


def read_order(username: str, order_id: str) -> Steps[shop.Order]:
    """A customer's order; another customer's is UnknownOrder."""
    return (yield from shop.view_order_of(username, order_id))  # type: ignore[arg-type]


def set_status(
    context: AppContext,
    caller: site.Visitor,
    username: str,
    order_id: str,
    wanted: OrderStatusWanted,
) -> Steps[shop.Order]:
    order = yield from read_order(username, order_id)
    mover = context.mover(caller)
    steps = site.move_order(mover, order.username, order.order_id, wanted.seen, wanted.status)
    return (yield from steps)
