"""The API of the shop: each caller's own customer, addresses and orders.

An order is made of the cart, in one transaction with the purchase: see `bigtime.site.checkout`.
With an `Idempotency-Key` its id follows from that, so to order again gives the same order.
"""

from __future__ import annotations

from typing import Final

from bigtime.model import RuleBroken
from bigtime.site import Checkout, Visitor, check_out, customer_of, draw_key
from bigtime.systems import cart, shop
from bigtime.web.api.endpoint import CREATED, Endpoint, May
from bigtime.web.api.paging import listed
from bigtime.web.api.shop_shapes import (
    AddressWanted,
    CustomerPage,
    CustomerShown,
    NewCustomer,
    OrderStatusWanted,
    OrderWanted,
    ShopOrderShown,
    WholeShopOrder,
)
from bigtime.web.api.showing import Showing, one
from bigtime.web.api.v1_router import v1_router
from bigtime.web.http import NotAllowed
from bigtime.web.pages import Site
from bigtime.wire import Steps


class NoAddress(RuleBroken):
    """Say where it goes: either an addressName, or shipTo."""


class OnlyCancelled(NotAllowed):
    """You can cancel your order; how it goes on otherwise is for the shop to say."""


# Customers


def new_customer(caller: Visitor, name: str) -> Steps[shop.Customer]:
    return (yield from shop.create_customer(caller.username, caller.login, name))


def kept_address(caller: Visitor, address_name: str, **told: str) -> Steps[shop.Customer]:
    """Whoever never needed to be a customer becomes one."""
    yield from customer_of(caller.username, caller.login)
    return (yield from shop.save_address(caller.username, address_name, shop.Address(**told)))


def removed_address(username: str, address_name: str) -> Steps[None]:
    yield from shop.remove_address(username, address_name)


def shown_customer(site: Site, found: shop.CustomerOrders) -> CustomerPage:
    return CustomerPage(
        customer=CustomerShown.model_validate(found.customer) if found.customer else None,
        orders=listed(site, found.orders, ShopOrderShown.model_validate),
    )


# Orders


def order_cart(
    site: Site,
    caller: Visitor,
    mark: str,
    address_name: str | None = None,
    ship_to: AddressWanted | None = None,
) -> Steps[shop.Order]:
    customer = yield from customer_of(caller.username, caller.login)
    asked = Checkout(
        username=caller.username,
        email=caller.login,
        key=(yield from draw_key()),
        ship_to=address_of(customer, address_name, ship_to),
        reviewed=mark,
        orders_url=f"{site.settings.base_url}/orders",
    )
    order_id = yield from check_out(asked)
    return (yield from shop.view_order_of(caller.username, order_id))


def address_of(
    customer: shop.Customer, name: str | None, given: AddressWanted | None
) -> shop.Address:
    if (name is None) == (given is None):
        raise NoAddress
    if given is not None:
        return given.address
    found = customer.addresses.get(name or "")
    if found is None:
        raise shop.UnknownAddress
    return found


def order_and_items(username: str, order_id: str) -> Steps[shop.WholeOrder]:
    """The caller's own: another's is as unknown as none."""
    order = yield from shop.view_order_of(username, order_id)  # type: ignore[arg-type]
    return (yield from shop.view_order(order.order_id))


def own_status(
    username: str, order_id: str, seen: shop.OrderStatus, status: shop.OrderStatus
) -> Steps[shop.Order]:
    if status is not shop.OrderStatus.CANCELLED:
        raise OnlyCancelled
    order = yield from shop.view_order_of(username, order_id)  # type: ignore[arg-type]
    return (yield from shop.update_order_status(username, order.order_id, seen, status))


def any_status(
    customer: str, order_id: str, seen: shop.OrderStatus, status: shop.OrderStatus
) -> Steps[None]:
    order = yield from shop.view_order_of(customer, order_id)  # type: ignore[arg-type]
    yield from shop.update_order_status(order.username, order.order_id, seen, status)


SHOP: Final = (
    Endpoint(
        "POST",
        "/me/customer",
        shop.create_customer,
        May.SIGNED_IN,
        one(CustomerShown),
        runs=new_customer,
        body=NewCustomer,
        status=CREATED,
        once=True,
    ),
    Endpoint(
        "GET",
        "/me/customer",
        shop.view_customer,
        May.SIGNED_IN,
        Showing(CustomerPage, shown_customer),
        asks=("consistent",),
    ),
    Endpoint(
        "PUT",
        "/me/addresses/{addressName:path}",
        shop.save_address,
        May.SIGNED_IN,
        one(CustomerShown),
        runs=kept_address,
        body=AddressWanted,
    ),
    Endpoint(
        "DELETE",
        "/me/addresses/{addressName:path}",
        shop.remove_address,
        May.SIGNED_IN,
        runs=removed_address,
    ),
    Endpoint(
        "POST",
        "/me/orders",
        shop.save_order,
        May.SIGNED_IN,
        one(ShopOrderShown),
        runs=order_cart,
        body=OrderWanted,
        status=CREATED,
        once=True,
        also=(cart.purchase,),
        note="All that is in the cart, as it was seen there; what it costs is in the cart.",
    ),
    Endpoint(
        "GET",
        "/me/orders/{orderId}/items",
        shop.view_order,
        May.SIGNED_IN,
        one(WholeShopOrder),
        runs=order_and_items,
    ),
    Endpoint(
        "PUT",
        "/me/orders/{orderId}/status",
        shop.update_order_status,
        May.SIGNED_IN,
        one(ShopOrderShown),
        runs=own_status,
        body=OrderStatusWanted,
        note="Callers can cancel an order of theirs, and nothing else.",
    ),
    Endpoint("GET", "/me/orders/{orderId}", shop.view_order_of, May.SIGNED_IN, one(ShopOrderShown)),
    Endpoint(
        "PUT",
        "/customers/{customer}/orders/{orderId}/status",
        shop.update_order_status,
        May.ADMIN,
        runs=any_status,
        body=OrderStatusWanted,
        note="For those who pack and send. The order itself is not shown.",
    ),
)

shop_api = v1_router("shop", SHOP)
