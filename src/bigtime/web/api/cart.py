"""`/api/v1/me/cart`: the caller's cart; for admins, the carts that hold a product.

The price of a product is its deal's, never the caller's. A cart is bought by ordering it: see the
API of the shop.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Final, Self

from fastapi import Path, Query
from pydantic import Field
from starlette.responses import Response

from bigtime.site import NoUndo, PricedCart, put_deal_in_cart, take_new_price, view_cart
from bigtime.systems import cart
from bigtime.web.api import bodies
from bigtime.web.api.dependencies import Admin, PagesOf25, SignedIn
from bigtime.web.api.idempotency import Idempotent
from bigtime.web.api.routing import OWN, STAFF, V1Router
from bigtime.web.pages import AppRequest, line_in, undo_text

cart_api = V1Router(cart.SYSTEM, reads=OWN)

DEAL_ID: Final = "3M8cT3vYiO0Op0N2BjBaiDdyiKk"
ENTERED: Final = "2026-11-15T10:30:00.000Z"
SK: Final = f"ACTIVE#{ENTERED}#{DEAL_ID}"

ItemSku = Annotated[str, Path(alias="itemSku", min_length=1)]
LineKey = Annotated[str, Path(alias="sk", min_length=1)]
CartStatus = Annotated[cart.Status, Query()]


# Bodies


class CartLineShown(bodies.ResponseBody):
    """A line of a cart: a product, its count and its status."""

    model_config = bodies.example(
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
    status: cart.Status
    entered_at: datetime
    item_sku: str = Field(description="The id of the deal that the product is of.")
    price: bodies.Amount
    count: int
    create_timestamp: datetime
    order_id: str | None


class CartLinesShown(bodies.ResponseBody):
    """Lines of a cart."""

    items: list[CartLineShown]


class ReviewedLine(bodies.ResponseBody):
    """A line of the cart with the present price of its deal."""

    line: CartLineShown
    title: str
    amount: bodies.Amount = Field(
        description="What the line costs now: `newPrice` or its price, times count."
    )
    new_price: bodies.Amount | None = Field(
        description="What the deal costs now, where that is something else."
    )


class CartShown(bodies.ResponseBody):
    """The cart as it would be ordered now."""

    lines: list[ReviewedLine]
    total: bodies.Amount
    mark: str = Field(
        description="To send with the order, so that only the cart as shown here is ordered."
    )


class RemovedShown(bodies.ResponseBody):
    """A line that was removed, and the text that puts it back within an hour."""

    line: CartLineShown
    undo: str


class SkuCartShown(bodies.ResponseBody):
    """A line of a cart, with the cart's owner."""

    model_config = bodies.example(
        accountId="alex",
        status="ACTIVE",
        enteredAt=ENTERED,
        itemSku=DEAL_ID,
        price=19.99,
        count=2,
    )

    account_id: str
    status: cart.Status
    entered_at: datetime
    item_sku: str
    price: bodies.Amount
    count: int


class LastPurchase(bodies.ResponseBody):
    """Your last purchase; nulls if there was none."""

    model_config = bodies.example(
        orderId="3M8cT3vYiO0Op0N2BjBaiDdyiKm", begunAt=ENTERED, isOpen=False
    )

    order_id: str | None
    begun_at: datetime | None
    is_open: bool

    @classmethod
    def of(cls, last: cart.Purchases | None) -> Self:
        if last is None:
            return cls(order_id=None, begun_at=None, is_open=False)
        return cls.model_validate(last)


class ProductWanted(bodies.RequestBody):
    """A deal's product for the cart, at the deal's price."""

    model_config = bodies.example(dealId=DEAL_ID, count=2)

    deal_id: Annotated[str, Field(min_length=1, max_length=100)]
    count: cart.Count = 1


class CountWanted(bodies.RequestBody):
    """The new count."""

    model_config = bodies.example(count=3)

    count: cart.Count


class LineStatusWanted(bodies.RequestBody):
    """The new status of a line: SAVED for later, or ACTIVE again."""

    model_config = bodies.example(status="SAVED")

    status: cart.Status


class UndoWanted(bodies.RequestBody):
    """The `undo` text of the response to a removal."""

    model_config = bodies.example(undo="AUr3...")

    undo: Annotated[str, Field(min_length=1, max_length=2_000)]


# The cart


@cart_api.get("/me/cart", response_model=CartShown)
async def view_products(request: AppRequest, caller: SignedIn) -> PricedCart:
    """Returns your cart as it would be ordered now: lines with their deals, and the total."""
    return await request.run(view_cart(caller.username))


@cart_api.post("/me/cart/products", status_code=201, response_model=CartLineShown)
async def put_in_cart(caller: SignedIn, idempotent: Idempotent, body: ProductWanted) -> Response:
    """Adds a deal's product to your cart. Without an `Idempotency-Key`, twice makes two of it."""
    return await idempotent.run_recorded(
        lambda writes: put_deal_in_cart(caller.username, body.deal_id, body.count, also=writes),
        CartLineShown.model_validate,
    )


@cart_api.put("/me/cart/products/{itemSku}/count", response_model=CartLineShown)
async def set_count(
    request: AppRequest, caller: SignedIn, item_sku: ItemSku, body: CountWanted
) -> cart.CartLine:
    """Sets how many of a product are in your cart."""
    return await request.run(cart.set_count(caller.username, item_sku, body.count))


@cart_api.put("/me/cart/products/{itemSku}/price", response_model=CartLineShown)
async def set_price(request: AppRequest, caller: SignedIn, item_sku: ItemSku) -> cart.CartLine:
    """Gives a product in your cart the price that its deal has now."""
    return await request.run(take_new_price(caller.username, item_sku))


# Lines


@cart_api.get(
    "/me/cart/lines", response_model=bodies.Listed[CartLineShown], summary=cart.view_products.title
)
async def view_lines(
    caller: SignedIn, paging: PagesOf25, status: CartStatus, consistent: bool = True
) -> bodies.Items[cart.CartLine]:
    """Lists the lines of your cart that have a status."""
    steps = cart.view_products(caller.username, status, consistent=consistent, **paging.query)
    return await paging.run(steps)


@cart_api.post("/me/cart/lines/undo", response_model=CartLineShown)
async def put_back(request: AppRequest, caller: SignedIn, body: UndoWanted) -> cart.CartLine:
    """Puts a line back that was removed within the last hour."""
    line = line_in(request.context, caller.username, body.undo)
    if line is None:
        raise NoUndo
    return await request.run(cart.put_back(line))


@cart_api.put("/me/cart/lines/{sk:path}/status", response_model=CartLineShown)
async def move_line(
    request: AppRequest, caller: SignedIn, sk: LineKey, body: LineStatusWanted
) -> cart.CartLine:
    """Saves a line for later, or makes it active again. Write the `#` in its key as `%23`."""
    return await request.run(cart.move_line(caller.username, sk, body.status))


@cart_api.delete("/me/cart/lines/{sk:path}", response_model=RemovedShown)
async def remove_line(request: AppRequest, caller: SignedIn, sk: LineKey) -> RemovedShown:
    """Removes a line, and returns what puts it back. Write the `#` in its key as `%23`."""
    line = await request.run(cart.remove_line(caller.username, sk))
    return RemovedShown(
        line=CartLineShown.model_validate(line), undo=undo_text(request.context, line)
    )


# Purchases


@cart_api.post("/me/purchases/completion", response_model=LastPurchase)
async def complete_purchase(request: AppRequest, caller: SignedIn) -> LastPurchase:
    """Completes your last purchase, if it was interrupted, and returns it."""
    return LastPurchase.of(await request.run(cart.complete_purchase(caller.username)))


@cart_api.get("/me/purchases/{orderId}", response_model=CartLinesShown)
async def view_purchase(
    request: AppRequest,
    caller: SignedIn,
    order_id: Annotated[str, Path(alias="orderId", min_length=1)],
) -> CartLinesShown:
    """Returns the lines that were bought with an order of yours."""
    lines = await request.run(cart.view_purchase(caller.username, cart.order_id_of(order_id)))
    return CartLinesShown(items=[CartLineShown.model_validate(line) for line in lines])


# Carts of a product


@cart_api.get("/skus/{itemSku}/carts", response_model=bodies.Listed[SkuCartShown], responses=STAFF)
async def view_carts(
    _: Admin, paging: PagesOf25, item_sku: ItemSku, status: CartStatus
) -> bodies.Items[cart.CartLine]:
    """Lists the carts that a product is in, and whose they are. Admins only."""
    return await paging.run(cart.view_carts(item_sku, status, **paging.query))


@cart_api.get(
    "/skus/{itemSku}/carts-of-day", response_model=bodies.Listed[SkuCartShown], responses=STAFF
)
async def view_carts_of_day(
    _: Admin,
    paging: PagesOf25,
    item_sku: ItemSku,
    status: CartStatus,
    day: Annotated[date, bodies.WrittenDay, Query()],
) -> bodies.Items[cart.CartLine]:
    """Lists the carts that a product was put in on a day, and whose they are. Admins only."""
    return await paging.run(cart.view_carts_of_day(item_sku, status, day, **paging.query))
