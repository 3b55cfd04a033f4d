"""Checkout: what is bought, where it goes, and the button that orders it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from bigtime.model import Ksuid, Page
from bigtime.site import (
    MOST_PRODUCTS,
    AddressNameTaken,
    Checkout,
    NotAsReviewed,
    OldCheckout,
    PlacedOrder,
    TooManyProducts,
    Visitor,
    check_out,
    draw_checkout_key,
    ensure_customer,
    find_placed_order,
    price_cart,
    view_active_lines,
)
from bigtime.systems import shop
from bigtime.systems.cart import CartLine, EmptyCart
from bigtime.web.http import see_other, status_of
from bigtime.web.pages import (
    SubmittedForm,
    check_form,
    context_of,
    empty_form,
    read_fields,
    typed_fields,
)
from bigtime.wire import Steps

NEW = "new"
SAVED = "saved "
"""What the choice of an address begins with, where it is one that is kept."""

router = APIRouter(include_in_schema=False)


class Marked(BaseModel):
    """What tells a checkout from others: its key, and what was seen."""

    key: Ksuid
    reviewed: Annotated[str, Field(max_length=100)]


class Sent(Marked):
    """What every checkout says; also which address it is."""

    ship_to: Annotated[str, Field(max_length=100)]


@router.get("/checkout")
async def show_checkout(request: Request) -> Response:
    visitor = await context_of(request).signed_in(request)
    return await render_page(request, visitor, empty_form())


@router.post("/checkout")
async def place_order(request: Request) -> Response:
    """Places the order; the same page sent again shows the same order."""
    context = context_of(request)
    visitor = await context.signed_in(request)
    typed = typed_fields(await read_fields(request, context))
    before = await sent_before(request, visitor, check_form(Marked, typed))
    if before is not None:
        told = "yes" if before.is_as_reviewed else "before"
        return see_other(f"/orders/{before.order_id}?placed={told}")
    sent = check_form(Sent, typed)
    address = await address_in(request, visitor, sent)
    if not sent.wrong.keys().isdisjoint({"key", "reviewed"}):
        sent.refuse(OldCheckout())
    if sent.value is None or address is None:
        return await render_page(request, visitor, sent, status=422)
    try:
        steps = check_out(asked(request, visitor, sent.value, address, name_for(typed)))
        order_id = await context.store.run(steps)
    except (shop.InvalidAddressName, AddressNameTaken, shop.TooManyAddresses) as error:
        sent.refuse(error, "save_as")
        return await render_page(request, visitor, sent, status=422)
    except (NotAsReviewed, OldCheckout, TooManyProducts, shop.EmailTaken) as error:
        sent.refuse(error)
        return await render_page(request, visitor, sent, status=status_of(error))
    except EmptyCart:
        return see_other("/cart")
    return see_other(f"/orders/{order_id}?placed=yes")


# How


async def address_in(
    request: Request, visitor: Visitor, sent: SubmittedForm[Sent]
) -> shop.Address | None:
    """The address that was chosen or typed; what is wrong with it is noted in the form."""
    chosen = sent.typed.get("ship_to", "")
    if chosen.startswith(SAVED):
        return await saved_address(request, visitor, sent, chosen.removeprefix(SAVED))
    if chosen != NEW:
        sent.wrong["ship_to"] = "Choose an address, or type one."
        return None
    typed = check_form(shop.Address, sent.typed)
    sent.wrong |= typed.wrong
    return typed.value


async def saved_address(
    request: Request, visitor: Visitor, sent: SubmittedForm[Sent], name: str
) -> shop.Address | None:
    customer = await context_of(request).store.run(ensure_customer(visitor.username, visitor.login))
    found = customer.addresses.get(name)
    if found is None:
        sent.refuse(shop.UnknownAddress(), "ship_to")
    return found


async def sent_before(
    request: Request, visitor: Visitor, marked: SubmittedForm[Marked]
) -> PlacedOrder | None:
    """The order that came of this very page, whatever else is wrong with what it says now."""
    if marked.value is None:
        return None
    told = marked.value
    steps = find_placed_order(visitor.username, told.key, told.reviewed)
    return await context_of(request).store.run(steps)


def name_for(typed: Mapping[str, str]) -> str | None:
    """What an address that was typed is to be kept as, where it was given a name."""
    name = typed.get("save_as", "").strip()
    return name if name and typed.get("ship_to") == NEW else None


def asked(
    request: Request, visitor: Visitor, sent: Sent, address: shop.Address, keep_as: str | None
) -> Checkout:
    return Checkout(
        username=visitor.username,
        email=visitor.login,
        key=sent.key,
        ship_to=address,
        reviewed=sent.reviewed,
        orders_url=f"{context_of(request).settings.base_url}/orders",
        keep_as=keep_as,
    )


def what_to_show(
    visitor: Visitor,
) -> Steps[tuple[Page[CartLine], dict[str, shop.Address], Ksuid]]:
    customer = yield from ensure_customer(visitor.username, visitor.login)
    lines = yield from view_active_lines(visitor.username)
    return lines, customer.addresses, (yield from draw_checkout_key())


async def render_page(
    request: Request, visitor: Visitor, form: SubmittedForm[Any], *, status: int = 200
) -> Response:
    """The page of a checkout, which has a key of its own, also when it is shown again."""
    context = context_of(request)
    lines, addresses, key = await context.store.run(what_to_show(visitor))
    deals = await context.deals.by_ids([line.item_sku for line in lines])
    cart = price_cart(lines, Page([]), deals)
    if not cart.lines:
        return see_other("/cart")
    return await context.form_page(
        request,
        "cart/checkout.html",
        status=status,
        cart=cart,
        addresses=addresses,
        chosen=form.typed.get("ship_to") or first_choice(addresses),
        key=key,
        form=form,
        most=MOST_PRODUCTS,
    )


def first_choice(addresses: dict[str, shop.Address]) -> str:
    return SAVED + min(addresses) if addresses else NEW
