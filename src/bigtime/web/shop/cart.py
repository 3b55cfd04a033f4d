"""The cart: products to buy, their counts, products saved for later.

Every form changes the cart of the visitor who is signed in, and takes the deal's own price. One
form has the counts of all lines, so that those that were typed count also when "Check out" is
pressed. Of each it says which count the page showed: one that was not touched is not changed.

A line that was removed can be put back as it was, at its price. The page after a removal has the
line in the text of its undo button, signed as a cursor is, so that no other line can be put in.
The text is valid for an hour.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Final
from urllib.parse import quote

from fastapi import Request, Response
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from bigtime import site
from bigtime.model import DomainError, Position
from bigtime.site import Visitor
from bigtime.systems import cart
from bigtime.web import pages
from bigtime.web.http import field_message, page_router, see_other, status_of
from bigtime.web.pages import AppContext, context_of, read_visitor_form
from bigtime.wire import Steps

CART = "/cart"

router = page_router()


# Forms


COUNT: Final = "count "
"""The name of a count's field begins with this; the count that was shown and the SKU follow."""
COUNTS: Final = TypeAdapter(site.WholeCount)


class LineForm(BaseModel):
    """A line, in the cart or saved for later."""

    sk: Annotated[str, Field(max_length=1_024)]


class UndoForm(BaseModel):
    """The text of an undo button."""

    undo: Annotated[str, Field(max_length=2_000)] = ""


@dataclass(slots=True)
class TypedCounts:
    """The counts of a form, by SKU: as they were typed, those that are new, and what is wrong."""

    typed: dict[str, str] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    faults: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, text: str) -> None:
        shown, _, item_sku = name.removeprefix(COUNT).partition(" ")
        self.typed[item_sku] = text
        if text.strip() == shown:
            return
        try:
            self.counts[item_sku] = COUNTS.validate_python(text.strip())
        except ValidationError as error:
            self.faults[item_sku] = field_message(error.errors()[0])
        except DomainError as error:
            self.faults[item_sku] = str(error)


@dataclass(frozen=True, slots=True)
class CartError:
    """An error of the whole, or errors of lines by SKU, with the counts as they were typed."""

    fault: str = ""
    status: int = 422
    faults: Mapping[str, str] = field(default_factory=dict)
    typed: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RemovedLine:
    """A line that can be put back, and the text of its undo button."""

    title: str
    undo: str = field(repr=False)


# Pages


@router.get(CART)
async def show_cart(
    request: Request, undo: str | None = None, saved: str | None = None
) -> Response:
    """The cart; `undo` is the text of a line just removed, `saved` the cursor of saved lines."""
    context = context_of(request)
    visitor = await context.signed_in(request)
    removed = await removed_line(context, visitor, undo or "")
    return await render_page(request, visitor, removed=removed, after=context.cursors.read(saved))


@router.post("/cart/add")
async def add_deal(request: Request) -> Response:
    """Puts a deal in the cart, at its present price."""
    context, visitor, form = await read_visitor_form(request, site.CartAddition)
    if form.value is None:
        return await render_page(request, visitor, wrong=CartError(next(iter(form.wrong.values()))))
    steps = site.put_deal_in_cart(visitor.username, form.value.deal_id, form.value.count)
    try:
        line = await context.store.run(steps)
    except DomainError as error:
        return await render_error(request, visitor, error)
    deals = await context.deals.by_ids([line.item_sku])
    if deals and deals[0].price != line.price:  # its change is not known here yet
        context.cache.invalidate({site.deal_tag(line.item_sku)})
    return see_other(CART)


@router.post("/cart/count")
async def set_counts(request: Request) -> Response:
    """Sets the counts that were typed, of one product or several, and may go on to the checkout."""
    context = context_of(request)
    visitor = await context.signed_in(request)
    fields = pages.typed_fields(await pages.read_fields(request, context))
    typed = TypedCounts()
    for name, text in fields.items():
        if name.startswith(COUNT):
            typed.add(name, text)
    if typed.faults:
        wrong = CartError(faults=typed.faults, typed=typed.typed)
        return await render_page(request, visitor, wrong=wrong)
    try:
        await context.store.run(site.set_counts(visitor.username, typed.counts))
    except DomainError as error:
        return await render_error(request, visitor, error)
    return see_other("/checkout" if fields.get("then") == "checkout" else CART)


@router.post("/cart/save")
async def save_for_later(request: Request) -> Response:
    """Saves a product for later."""
    return await move_line(request, cart.Status.SAVED)


@router.post("/cart/back")
async def move_to_cart(request: Request) -> Response:
    """Puts a saved product back in the cart."""
    return await move_line(request, cart.Status.ACTIVE)


@router.post("/cart/remove")
async def remove_line(request: Request) -> Response:
    """Removes a product; the page after it has an undo button."""
    context, visitor, form = await read_visitor_form(request, LineForm)
    sk = form.require("Say which line.").sk
    try:
        line = await context.store.run(cart.remove_line(visitor.username, sk))
    except DomainError as error:
        return await render_error(request, visitor, error)
    return see_other(f"{CART}?undo={quote(pages.undo_text(context, line))}")


@router.post("/cart/undo")
async def undo_removal(request: Request) -> Response:
    """Puts a removed line back."""
    context, visitor, form = await read_visitor_form(request, UndoForm)
    line = pages.line_in(context, visitor, form.value.undo if form.value else "")
    if line is None:
        return await render_error(request, visitor, site.NoUndo())
    return await change_cart(request, visitor, cart.put_back(line))


async def move_line(request: Request, status: cart.Status) -> Response:
    _, visitor, form = await read_visitor_form(request, LineForm)
    sk = form.require("Say which line.").sk
    return await change_cart(request, visitor, cart.move_line(visitor.username, sk, status))


async def change_cart(request: Request, visitor: Visitor, steps: Steps[cart.CartLine]) -> Response:
    """Runs steps and redirects to the cart, or shows the cart with the error."""
    try:
        await context_of(request).store.run(steps)
    except DomainError as error:
        return await render_error(request, visitor, error)
    return see_other(CART)


async def render_error(request: Request, visitor: Visitor, error: DomainError) -> Response:
    return await render_page(request, visitor, wrong=CartError(str(error), status_of(error)))


async def render_page(
    request: Request,
    visitor: Visitor,
    *,
    wrong: CartError | None = None,
    removed: RemovedLine | None = None,
    after: Position | None = None,
) -> Response:
    context = context_of(request)
    active, saved = await context.store.run(site.all_lines(visitor.username, after=after))
    skus = [line.item_sku for line in (*active, *saved)]
    found = site.price_cart(active, saved, await context.deals.by_ids(skus))
    if wrong is not None and not any(map(found.has, wrong.faults)):
        wrong = replace(wrong, fault=wrong.fault or next(iter(wrong.faults.values())))
    return await context.form_page(
        request,
        "cart/cart.html",
        status=wrong.status if wrong else 200,
        cart=found,
        more_saved=context.cursors.write(found.more_saved),
        wrong=wrong,
        removed=removed,
        most=site.MOST_PRODUCTS,
    )


async def removed_line(context: AppContext, visitor: Visitor, text: str) -> RemovedLine | None:
    line = pages.line_in(context, visitor, text) if text else None
    if line is None:
        return None
    deals = await context.deals.by_ids([line.item_sku])
    return RemovedLine(deals[0].title if deals else line.item_sku, text)
