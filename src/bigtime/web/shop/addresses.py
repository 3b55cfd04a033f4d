"""Addresses: where somebody has things sent, each under a name of their own."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel

from bigtime.model import Malformed, get
from bigtime.site import AddressNameTaken, Visitor, save_new_address
from bigtime.systems import shop
from bigtime.web.http import see_other
from bigtime.web.pages import SubmittedForm, context_of, empty_form, read_form

LIST = "/me/addresses"

router = APIRouter(include_in_schema=False)


class NamedAddress(shop.Address):
    """An address and what it is called."""

    name: shop.AddressName

    @property
    def address(self) -> shop.Address:
        return shop.Address(**self.model_dump(exclude={"name"}))


class Naming(BaseModel):
    """Which address."""

    name: shop.AddressName


@router.get(LIST)
async def show_addresses(request: Request) -> Response:
    """All addresses, and a form for another."""
    visitor = await context_of(request).signed_in(request)
    return await render_page(request, visitor, empty_form())


@router.post(LIST)
async def add_address(request: Request) -> Response:
    """Keeps an address under a new name."""
    context = context_of(request)
    visitor = await context.signed_in(request)
    form = await read_form(request, context, NamedAddress)
    if form.value is None:
        return await render_page(request, visitor, form, status=422)
    try:
        steps = save_new_address(
            visitor.username, visitor.login, form.value.name, form.value.address
        )
        await context.store.run(steps)
    except (AddressNameTaken, shop.TooManyAddresses, shop.EmailTaken) as error:
        form.refuse(error, "name" if isinstance(error, AddressNameTaken) else None)
        return await render_page(request, visitor, form, status=422)
    return see_other(LIST)


@router.get("/me/addresses/change")
async def show_change(request: Request, name: str = "") -> Response:
    """The form of one address."""
    visitor = await context_of(request).signed_in(request)
    found = (await kept_of(request, visitor)).get(name)
    if found is None:
        raise shop.UnknownAddress
    typed = {**found.model_dump(exclude_none=True), "name": name}
    return await changing(request, empty_form(**typed))


@router.post("/me/addresses/change")
async def change_address(request: Request) -> Response:
    """Writes over an address; its name stays."""
    context = context_of(request)
    visitor = await context.signed_in(request)
    form = await read_form(request, context, NamedAddress)
    if form.typed.get("name", "").strip() not in await kept_of(request, visitor):
        raise shop.UnknownAddress
    if form.value is None:
        return await changing(request, form, status=422)
    await context.store.run(
        shop.save_address(visitor.username, form.value.name, form.value.address)
    )
    return see_other(LIST)


@router.post("/me/addresses/remove")
async def take_away(request: Request) -> Response:
    """Removes an address; orders that were sent there keep it."""
    context = context_of(request)
    visitor = await context.signed_in(request)
    form = await read_form(request, context, Naming)
    if form.value is None:
        raise Malformed("Say which address.")
    try:
        await context.store.run(shop.remove_address(visitor.username, form.value.name))
    except shop.UnknownCustomer:
        raise shop.UnknownAddress from None
    return see_other(LIST)


# How


async def kept_of(request: Request, visitor: Visitor) -> dict[str, shop.Address]:
    steps = get(shop.Customer.key(visitor.username), consistent=True)
    customer = await context_of(request).store.run(steps)
    return customer.addresses if customer else {}


async def render_page(
    request: Request, visitor: Visitor, form: SubmittedForm[Any], *, status: int = 200
) -> Response:
    """All addresses; the form stays, with what is wrong, when somebody has sent it."""
    kept = await kept_of(request, visitor)
    has_room = len(kept) < shop.MOST_ADDRESSES
    return await context_of(request).form_page(
        request,
        "orders/addresses.html",
        status=status,
        addresses=dict(sorted(kept.items())),
        shows_form=has_room or bool(form.typed),
        form=form,
    )


async def changing(request: Request, form: SubmittedForm[Any], *, status: int = 200) -> Response:
    return await context_of(request).form_page(
        request, "orders/address.html", status=status, form=form
    )
