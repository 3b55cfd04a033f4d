"""The cart: products to buy, their counts, products saved for later.

Every form changes the account's cart, or for guests the one in their browser, and uses the deal's
own price. One form has the counts of all lines, so that typed counts are also saved when "Check
out" is pressed; a guest signs in there. The form says which count the page showed for each line:
counts that were not touched are not changed.

A removed line can be put back as it was, at its price. The page after a removal has the line in the
text of its undo button, signed like a cursor, so that no other line can be put in. The text is
valid for an hour.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Final
from urllib.parse import quote

from fastapi import Response
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from bigtime import site
from bigtime.model import DomainError, Position
from bigtime.systems import cart
from bigtime.web import pages
from bigtime.web.http import field_message, see_other, status_of
from bigtime.web.pages import AppContext, AppRequest, page_router
from bigtime.web.shop.visitor_cart import AccountCart, AnyCart, cart_of

CART = "/cart"

router = page_router()


# Forms


COUNT: Final = "count "
"""The prefix of a count's field name; the count that was shown and the SKU follow."""
COUNTS: Final = TypeAdapter(site.WholeCount)


class LineForm(BaseModel):
    """A line, in the cart or saved for later."""

    sk: Annotated[str, Field(max_length=1_024)]


class UndoForm(BaseModel):
    """The text of an undo button."""

    undo: Annotated[str, Field(max_length=2_000)] = ""


@dataclass(slots=True)
class TypedCounts:
    """The counts of a form, by SKU: as typed, those that changed, and the errors."""

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
    """An error of the whole cart, or errors of lines by SKU, with the counts as typed."""

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
    request: AppRequest,
    undo: str | None = None,
    saved: str | None = None,
    merged: str | None = None,
) -> Response:
    """The cart; `undo` is the text of a line just removed, `saved` the cursor of saved lines.

    `merged` is the text that says what a sign-in could not put in it.
    """
    shown = await cart_of(request)
    return await render_page(
        request,
        shown,
        removed=await removed_line(request.context, shown, undo or ""),
        merged=pages.merged_in(request, merged or ""),
        after=request.read_cursor(saved),
    )


@router.post("/cart/add")
async def add_deal(request: AppRequest) -> Response:
    """Puts a deal in the cart, at its present price."""
    typed = await request.read_open_fields()
    form = pages.check_form(site.CartAddition, typed)
    changed = await cart_of(request)
    if form.value is None:
        return await render_page(request, changed, wrong=CartError(next(iter(form.wrong.values()))))
    try:
        await changed.add(form.value)
    except DomainError as error:
        return await render_error(request, changed, error)
    return changed.redirect(CART)


@router.post("/cart/count")
async def set_counts(request: AppRequest) -> Response:
    """Sets the counts that were typed, of one product or several, and may go on to the checkout."""
    fields = await request.read_fields()
    changed = await cart_of(request)
    typed = TypedCounts()
    for name, text in fields.items():
        if name.startswith(COUNT):
            typed.add(name, text)
    if typed.faults:
        wrong = CartError(faults=typed.faults, typed=typed.typed)
        return await render_page(request, changed, wrong=wrong)
    try:
        await changed.set_counts(typed.counts)
    except DomainError as error:
        return await render_error(request, changed, error)
    return changed.redirect("/checkout" if fields.get("then") == "checkout" else CART)


@router.post("/cart/save")
async def save_for_later(request: AppRequest) -> Response:
    """Saves a product for later."""
    return await move_line(request, cart.Status.SAVED)


@router.post("/cart/back")
async def move_to_cart(request: AppRequest) -> Response:
    """Puts a saved product back in the cart."""
    return await move_line(request, cart.Status.ACTIVE)


@router.post("/cart/remove")
async def remove_line(request: AppRequest) -> Response:
    """Removes a product; the page after it has an undo button."""
    form = await request.read_form(LineForm)
    changed = await cart_of(request)
    try:
        line = await changed.remove(form.require("Say which line.").sk)
    except DomainError as error:
        return await render_error(request, changed, error)
    return changed.redirect(f"{CART}?undo={quote(pages.undo_text(request.context, line))}")


@router.post("/cart/undo")
async def undo_removal(request: AppRequest) -> Response:
    """Puts a removed line back."""
    form = await request.read_form(UndoForm)
    changed = await cart_of(request)
    line = pages.line_in(request.context, changed.account_id, form.value.undo if form.value else "")
    try:
        if line is None:
            raise site.NoUndo
        await changed.put_back(line)
    except DomainError as error:
        return await render_error(request, changed, error)
    return changed.redirect(CART)


async def move_line(request: AppRequest, status: cart.Status) -> Response:
    visitor, form = await request.read_visitor_form(LineForm)
    sk = form.require("Say which line.").sk
    try:
        await request.run(cart.move_line(visitor.username, sk, status))
    except DomainError as error:
        return await render_error(request, AccountCart(request.context, visitor), error)
    return see_other(CART)


async def render_error(request: AppRequest, shown: AnyCart, error: DomainError) -> Response:
    return await render_page(request, shown, wrong=CartError(str(error), status_of(error)))


async def render_page(
    request: AppRequest,
    shown: AnyCart,
    *,
    wrong: CartError | None = None,
    removed: RemovedLine | None = None,
    merged: pages.MergeNotice | None = None,
    after: Position | None = None,
) -> Response:
    found = await shown.view(after)
    if wrong is not None and not any(map(found.has, wrong.faults)):
        wrong = replace(wrong, fault=wrong.fault or next(iter(wrong.faults.values())))
    response = await request.form_page(
        "cart/cart.html",
        status=wrong.status if wrong else 200,
        cart=found,
        is_guest=shown.is_guest,
        more_saved=request.write_cursor(found.more_saved),
        wrong=wrong,
        removed=removed,
        merged=merged,
        most=site.MOST_PRODUCTS,
    )
    response.raw_headers.extend(shown.clearing_headers(request))
    return response


async def removed_line(context: AppContext, shown: AnyCart, text: str) -> RemovedLine | None:
    line = pages.line_in(context, shown.account_id, text) if text else None
    if line is None:
        return None
    deals = await context.deals.by_ids([line.item_sku], unpublished=True)
    return RemovedLine(deals[0].title if deals else line.item_sku, text)
