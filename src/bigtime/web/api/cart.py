"""The API of carts: each caller's own, and for admins who has a product, without whose it is.

Nobody says what a product costs but its deal. What is in a cart is bought by ordering it: see the
API of the shop.
"""

from __future__ import annotations

from datetime import date
from typing import Annotated, Final

from bigtime.model import Page, Position
from bigtime.site import NoUndo, PricedCart, Visitor, put_deal_in_cart, take_new_price, view_cart
from bigtime.systems import cart
from bigtime.web.api.cart_shapes import (
    CartLineShown,
    CartLinesShown,
    CartShown,
    CountWanted,
    LastPurchase,
    LineStatusWanted,
    ProductWanted,
    RemovedShown,
    SkuCartShown,
    UndoWanted,
)
from bigtime.web.api.endpoint import CREATED, Endpoint, May, Noting
from bigtime.web.api.showing import Showing, made_by, one, page_of
from bigtime.web.api.times import WRITTEN_DAY
from bigtime.web.api.v1_router import v1_router
from bigtime.web.pages import Site, line_in, undo_text
from bigtime.wire import Steps

Day = Annotated[date, WRITTEN_DAY]


def put(
    caller: Visitor, deal_id: str, count: int = 1, *, noting: Noting | None = None
) -> Steps[cart.CartLine]:
    """To put a product in a cart twice is to have two: it is noted as it is done."""
    return (yield from put_deal_in_cart(caller.username, deal_id, count, noting=noting))


def reprice(caller: Visitor, item_sku: str) -> Steps[cart.CartLine]:
    return (yield from take_new_price(caller.username, item_sku))


def put_back_removed(site: Site, caller: Visitor, undo: str) -> Steps[cart.CartLine]:
    line = line_in(site, caller, undo)
    if line is None:
        raise NoUndo
    return (yield from cart.put_back(line))


def review(account_id: str) -> Steps[PricedCart]:
    return (yield from view_cart(account_id))


def carts_of_sku(
    item_sku: str, status: cart.Status, *, limit: int = cart.PAGE, after: Position | None = None
) -> Steps[Page[cart.CartLine]]:
    return (yield from cart.view_carts(item_sku, status, limit=limit, after=after))


def carts_of_sku_on(
    item_sku: str,
    status: cart.Status,
    day: Day,
    *,
    limit: int = cart.PAGE,
    after: Position | None = None,
) -> Steps[Page[cart.CartLine]]:
    return (yield from cart.view_carts_of_day(item_sku, status, day, limit=limit, after=after))


def shown_removed(site: Site, line: cart.CartLine) -> RemovedShown:
    return RemovedShown(line=CartLineShown.model_validate(line), undo=undo_text(site, line))


CART: Final = (
    Endpoint(
        "GET",
        "/me/cart",
        cart.view_products,
        May.SIGNED_IN,
        made_by(CartShown, CartShown.of),
        runs=review,
        note="All that would be ordered now, beside the deals that it is of.",
    ),
    Endpoint(
        "POST",
        "/me/cart/products",
        cart.put_in_cart,
        May.SIGNED_IN,
        one(CartLineShown),
        runs=put,
        body=ProductWanted,
        status=CREATED,
        once=True,
    ),
    Endpoint(
        "PUT",
        "/me/cart/products/{itemSku}/count",
        cart.set_count,
        May.SIGNED_IN,
        one(CartLineShown),
        body=CountWanted,
    ),
    Endpoint(
        "PUT",
        "/me/cart/products/{itemSku}/price",
        cart.set_price,
        May.SIGNED_IN,
        one(CartLineShown),
        runs=reprice,
        note="The price that the deal has now.",
    ),
    Endpoint(
        "GET",
        "/me/cart/lines",
        cart.view_products,
        May.SIGNED_IN,
        page_of(CartLineShown),
        asks=("status", "consistent"),
    ),
    Endpoint(
        "POST",
        "/me/cart/lines/undo",
        cart.put_back,
        May.SIGNED_IN,
        one(CartLineShown),
        runs=put_back_removed,
        body=UndoWanted,
    ),
    Endpoint(
        "PUT",
        "/me/cart/lines/{sk:path}/status",
        cart.move_line,
        May.SIGNED_IN,
        one(CartLineShown),
        body=LineStatusWanted,
        note="The key of a line has `#` in it, which is written `%23` in an address.",
    ),
    Endpoint(
        "DELETE",
        "/me/cart/lines/{sk:path}",
        cart.remove_line,
        May.SIGNED_IN,
        Showing(RemovedShown, shown_removed),
        note="The key of a line has `#` in it, which is written `%23` in an address.",
    ),
    Endpoint(
        "POST",
        "/me/purchases/completion",
        cart.complete_purchase,
        May.SIGNED_IN,
        made_by(LastPurchase, LastPurchase.of),
    ),
    Endpoint(
        "GET",
        "/me/purchases/{orderId}",
        cart.view_purchase,
        May.SIGNED_IN,
        made_by(CartLinesShown, CartLinesShown.of),
    ),
    Endpoint(
        "GET",
        "/skus/{itemSku}/carts",
        cart.view_carts,
        May.ADMIN,
        page_of(SkuCartShown),
        runs=carts_of_sku,
        asks=("status",),
        note="In whose cart it is is not told.",
    ),
    Endpoint(
        "GET",
        "/skus/{itemSku}/carts-of-day",
        cart.view_carts_of_day,
        May.ADMIN,
        page_of(SkuCartShown),
        runs=carts_of_sku_on,
        asks=("status", "day"),
        note="In whose cart it is is not told.",
    ),
)

cart_api = v1_router("cart", CART)
