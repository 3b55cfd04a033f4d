"""The cart: what somebody wants to buy, how many of it, what they keep for later.

Everything here is done to the cart of whoever is signed in: no form says whose it is. Nor does a
form say what something costs; that is the deal's to say.

What was removed can be put back as it was, at the price that it had, for a line keeps its price.
The page after a removal has all that takes: the line, sealed like a cursor, so that nobody can put
back what never was there, nor somebody else's. It is offered for an hour: a page that somebody
finds in their history next year is about nothing that they did just now.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from bigtime.model import DomainError, Malformed, Position
from bigtime.site import (
    MOST_PRODUCTS,
    CartAddition,
    NoUndo,
    Visitor,
    WholeCount,
    all_lines,
    price_cart,
    put_deal_in_cart,
    take_new_price,
)
from bigtime.systems.cart import (
    CartLine,
    ItemSku,
    Status,
    move_line,
    put_back,
    remove_line,
    set_count,
)
from bigtime.web.http import see_other, status_of
from bigtime.web.pages import AppContext, context_of, line_in, read_form, undo_text
from bigtime.wire import Steps

CART = "/cart"
router = APIRouter(include_in_schema=False)


# Forms


class Counting(BaseModel):
    """How many of a product."""

    item_sku: ItemSku
    count: WholeCount


class OfProduct(BaseModel):
    """A product in the cart."""

    item_sku: ItemSku


class OfLine(BaseModel):
    """A line, in the cart or saved for later."""

    sk: Annotated[str, Field(max_length=1_024)]


class Undoing(BaseModel):
    """A line that was removed."""

    undo: Annotated[str, Field(max_length=2_000)]


@dataclass(frozen=True, slots=True)
class Wrong:
    """What could not be done, and to which line, if that is there; `typed` is the count meant."""

    fault: str
    status: int
    item_sku: str | None = None
    typed: str = ""


@dataclass(frozen=True, slots=True)
class Removed:
    """A line that can be put back, and the text that does it."""

    title: str
    undo: str = field(repr=False)


# Pages


@router.get(CART)
async def show_cart(
    request: Request, undo: str | None = None, saved: str | None = None
) -> Response:
    """The cart; `undo` is what was removed just now, `saved` where what is saved goes on."""
    context = context_of(request)
    visitor = await context.signed_in(request)
    removed = await what_was_removed(context, visitor, undo)
    return await render_page(request, visitor, removed=removed, after=context.cursors.read(saved))


@router.post("/cart/add")
async def add(request: Request) -> Response:
    """Puts a deal in the cart, at what it costs now."""
    context = context_of(request)
    visitor = await context.signed_in(request)
    form = await read_form(request, context, CartAddition)
    if form.value is None:
        fault = next(iter(form.wrong.values()))
        return await render_page(request, visitor, wrong=Wrong(fault, 422))
    return await change_cart(
        request, visitor, put_deal_in_cart(visitor.username, form.value.deal_id, form.value.count)
    )


@router.post("/cart/count")
async def count(request: Request) -> Response:
    """Says how many of a product."""
    context = context_of(request)
    visitor = await context.signed_in(request)
    form = await read_form(request, context, Counting)
    if form.value is None:
        fault = form.wrong.get("count") or form.wrong["item_sku"]
        sku, typed = form.typed.get("item_sku", "").strip(), form.typed.get("count", "")
        return await render_page(request, visitor, wrong=Wrong(fault, 422, sku, typed))
    wanted = form.value
    return await change_cart(
        request, visitor, set_count(visitor.username, wanted.item_sku, wanted.count)
    )


@router.post("/cart/price")
async def price(request: Request) -> Response:
    """Takes what the deal costs now for what it cost before."""
    context = context_of(request)
    visitor = await context.signed_in(request)
    wanted = (await read_form(request, context, OfProduct)).value
    if wanted is None:
        raise Malformed("Say which product.")
    return await change_cart(request, visitor, take_new_price(visitor.username, wanted.item_sku))


@router.post("/cart/save")
async def save(request: Request) -> Response:
    """Keeps a product for later."""
    return await move(request, Status.SAVED)


@router.post("/cart/back")
async def back(request: Request) -> Response:
    """Puts what was saved back in the cart."""
    return await move(request, Status.ACTIVE)


@router.post("/cart/remove")
async def remove(request: Request) -> Response:
    """Removes a product; the page that follows offers to put it back."""
    context = context_of(request)
    visitor = await context.signed_in(request)
    sk = await line_named(request)
    try:
        line = await context.store.run(remove_line(visitor.username, sk))
    except DomainError as error:
        return await render_page(request, visitor, wrong=Wrong(str(error), status_of(error)))
    return see_other(f"{CART}?undo={quote(undo_text(context, line))}")


@router.post("/cart/undo")
async def undo(request: Request) -> Response:
    """Puts back what was removed."""
    context = context_of(request)
    visitor = await context.signed_in(request)
    form = await read_form(request, context, Undoing)
    line = line_in(context, visitor, form.value.undo if form.value else "")
    if line is None:
        return await render_page(request, visitor, wrong=Wrong(str(NoUndo()), status_of(NoUndo())))
    return await change_cart(request, visitor, put_back(line))


# How


async def move(request: Request, status: Status) -> Response:
    visitor = await context_of(request).signed_in(request)
    sk = await line_named(request)
    return await change_cart(request, visitor, move_line(visitor.username, sk, status))


async def line_named(request: Request) -> str:
    form = await read_form(request, context_of(request), OfLine)
    if form.value is None:
        raise Malformed("Say which line.")
    return form.value.sk


async def change_cart(request: Request, visitor: Visitor, steps: Steps[CartLine]) -> Response:
    """On to the cart when it went well; or the cart, and what is wrong."""
    try:
        await context_of(request).store.run(steps)
    except DomainError as error:
        return await render_page(request, visitor, wrong=Wrong(str(error), status_of(error)))
    return see_other(CART)


async def render_page(
    request: Request,
    visitor: Visitor,
    *,
    wrong: Wrong | None = None,
    removed: Removed | None = None,
    after: Position | None = None,
) -> Response:
    context = context_of(request)
    active, saved = await context.store.run(all_lines(visitor.username, after=after))
    skus = [line.item_sku for line in (*active, *saved)]
    found = price_cart(active, saved, await context.deals.by_ids(skus))
    if wrong is not None and not found.has(wrong.item_sku):
        wrong = replace(wrong, item_sku=None)
    return await context.form_page(
        request,
        "cart/cart.html",
        status=wrong.status if wrong else 200,
        cart=found,
        more_saved=context.cursors.write(found.more_saved),
        wrong=wrong,
        removed=removed,
        most=MOST_PRODUCTS,
    )


# Undo


async def what_was_removed(
    context: AppContext, visitor: Visitor, text: str | None
) -> Removed | None:
    line = line_in(context, visitor, text) if text else None
    if line is None or text is None:
        return None
    deals = await context.deals.by_ids([line.item_sku])
    return Removed(deals[0].title if deals else line.item_sku, text)
