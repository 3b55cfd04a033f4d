"""Checkout: the lines to buy, the address, and the button that places the order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from fastapi import Response
from pydantic import BaseModel, Field

from bigtime import site
from bigtime.model import Ksuid, Page
from bigtime.site import Checkout, Visitor
from bigtime.systems import shop
from bigtime.systems.cart import CartLine, EmptyCart
from bigtime.systems.deals import fetch_deals
from bigtime.web import pages
from bigtime.web.http import TooManyTries, see_other
from bigtime.web.pages import AnyForm, AppRequest, SubmittedForm, check_form, page_router
from bigtime.wire import Steps

NEW = "new"
SAVED = "saved "
"""The prefix of the choice of a saved address."""

router = page_router()


class CheckoutKey(BaseModel):
    """The key of a checkout, and the digest of the lines on its page."""

    key: Ksuid
    reviewed: Annotated[str, Field(max_length=100)]


class CheckoutForm(CheckoutKey):
    """A checkout with the choice of its address."""

    ship_to: Annotated[str, Field(max_length=100)]


@router.get("/checkout")
async def show_checkout(request: AppRequest) -> Response:
    visitor = await request.signed_in()
    return await render_page(request, visitor, pages.empty_form())


@router.post("/checkout")
async def place_order(request: AppRequest) -> Response:
    """Places the order; the same form sent again shows the same order."""
    visitor = await request.signed_in()
    typed = await request.read_fields()
    key = check_form(CheckoutKey, typed).value
    if key is not None:
        steps = site.find_placed_order(visitor.username, key.key, key.reviewed)
        before = await request.run(steps)
        if before is not None:
            placed = "yes" if before.is_as_reviewed else "before"
            return see_other(f"/orders/{before.order_id}?placed={placed}")
    sent = check_form(CheckoutForm, typed)
    address = await address_in(request, visitor, sent)
    if not sent.wrong.keys().isdisjoint({"key", "reviewed"}):
        sent.refuse(site.OldCheckout())
    if sent.value is None or address is None:
        return await render_page(request, visitor, sent)
    checkout = new_checkout(request, visitor, sent.value, address, name_for(typed))
    try:
        await request.count_order(visitor.login)
        return await check_out(request, visitor, sent, checkout)
    except TooManyTries as error:
        return await render_page(request, visitor, sent.refuse(error))


async def check_out(
    request: AppRequest, visitor: Visitor, sent: SubmittedForm[CheckoutForm], checkout: Checkout
) -> Response:
    """A redirect to the new order, or the form again with its errors."""
    try:
        order_id = await request.run(site.check_out(checkout))
    except (shop.InvalidAddressName, site.AddressNameTaken, shop.TooManyAddresses) as error:
        return await render_page(request, visitor, sent.refuse(error, "save_as"))
    except (site.NotAsReviewed, site.OldCheckout, site.TooManyProducts, shop.EmailTaken) as error:
        return await render_page(request, visitor, sent.refuse(error), fresh=True)
    except EmptyCart:
        return see_other("/cart")
    return see_other(f"/orders/{order_id}?placed=yes")


async def address_in(
    request: AppRequest, visitor: Visitor, sent: SubmittedForm[CheckoutForm]
) -> shop.Address | None:
    """The address that was chosen or typed; adds its errors to the form."""
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
    request: AppRequest, visitor: Visitor, sent: SubmittedForm[CheckoutForm], name: str
) -> shop.Address | None:
    customer = await request.run(site.ensure_customer(visitor.username, visitor.login))
    found = customer.addresses.get(name)
    if found is None:
        sent.refuse(shop.UnknownAddress(), "ship_to")
    return found


def name_for(typed: Mapping[str, str]) -> str | None:
    """The name to save a new address under, if one was typed."""
    name = typed.get("save_as", "").strip()
    return name if name and typed.get("ship_to") == NEW else None


def new_checkout(
    request: AppRequest,
    visitor: Visitor,
    sent: CheckoutForm,
    address: shop.Address,
    keep_as: str | None,
) -> Checkout:
    return Checkout(
        username=visitor.username,
        email=visitor.login,
        key=sent.key,
        ship_to=address,
        reviewed=sent.reviewed,
        orders_url=f"{request.context.settings.base_url}/orders",
        keep_as=keep_as,
        is_confirmed=visitor.is_confirmed,
    )


def fetch_checkout(
    visitor: Visitor,
) -> Steps[tuple[Page[CartLine], dict[str, shop.Address], Ksuid]]:
    """The lines to buy, the saved addresses, and a new key."""
    customer = yield from site.ensure_customer(visitor.username, visitor.login)
    lines = yield from site.view_active_lines(visitor.username)
    return lines, customer.addresses, (yield from site.draw_checkout_key())


async def render_page(
    request: AppRequest, visitor: Visitor, form: AnyForm, *, fresh: bool = False
) -> Response:
    """The page of a checkout, with a new key each time; `fresh` reads deals from the table."""
    lines, addresses, key = await request.run(fetch_checkout(visitor))
    skus = [line.item_sku for line in lines]
    if fresh:
        deals = await request.run(fetch_deals(skus, unpublished=True))
    else:
        deals = await request.context.deals.by_ids(skus, unpublished=True)
    cart = site.price_cart(lines, Page([]), deals)
    if not cart.lines:
        return see_other("/cart")
    return await request.form_page(
        "cart/checkout.html",
        cart=cart,
        addresses=addresses,
        chosen=form.typed.get("ship_to") or first_choice(addresses),
        key=key,
        form=form,
        most=site.MOST_PRODUCTS,
    )


def first_choice(addresses: dict[str, shop.Address]) -> str:
    return SAVED + min(addresses) if addresses else NEW
