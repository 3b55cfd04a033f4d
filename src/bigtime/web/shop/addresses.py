"""The visitor's addresses, each under a name."""

from __future__ import annotations

from fastapi import Request, Response
from pydantic import BaseModel

from bigtime.model import get
from bigtime.site import AddressNameTaken, Visitor, save_new_address
from bigtime.systems import shop
from bigtime.web.http import page_router, see_other
from bigtime.web.pages import AnyForm, context_of, empty_form, read_visitor_form

LIST = "/me/addresses"

router = page_router()


class NamedAddress(shop.Address):
    """An address and its name."""

    name: shop.AddressName

    @property
    def address(self) -> shop.Address:
        return shop.Address(**self.model_dump(exclude={"name"}))


class AddressChoice(BaseModel):
    """The name of an address."""

    name: shop.AddressName


@router.get(LIST)
async def show_addresses(request: Request) -> Response:
    """All addresses, and a form for another."""
    visitor = await context_of(request).signed_in(request)
    return await render_page(request, visitor, empty_form())


@router.post(LIST)
async def add_address(request: Request) -> Response:
    """Saves an address under a new name."""
    context, visitor, form = await read_visitor_form(request, NamedAddress)
    if form.value is None:
        return await render_page(request, visitor, form)
    try:
        steps = save_new_address(
            visitor.username, visitor.login, form.value.name, form.value.address
        )
        await context.store.run(steps)
    except (AddressNameTaken, shop.TooManyAddresses, shop.EmailTaken) as error:
        form.refuse(error, "name" if isinstance(error, AddressNameTaken) else None, status=422)
        return await render_page(request, visitor, form)
    return see_other(LIST)


@router.get("/me/addresses/change")
async def show_change(request: Request, name: str = "") -> Response:
    """The form of one address."""
    visitor = await context_of(request).signed_in(request)
    found = (await addresses_of(request, visitor)).get(name)
    if found is None:
        raise shop.UnknownAddress
    typed = {**found.model_dump(exclude_none=True), "name": name}
    return await render_address(request, empty_form(**typed))


@router.post("/me/addresses/change")
async def change_address(request: Request) -> Response:
    """Changes an address; its name stays."""
    context, visitor, form = await read_visitor_form(request, NamedAddress)
    if form.typed.get("name", "").strip() not in await addresses_of(request, visitor):
        raise shop.UnknownAddress
    if form.value is None:
        return await render_address(request, form)
    await context.store.run(
        shop.save_address(visitor.username, form.value.name, form.value.address)
    )
    return see_other(LIST)


@router.post("/me/addresses/remove")
async def remove_address(request: Request) -> Response:
    """Removes an address; orders that were sent there keep it."""
    context, visitor, form = await read_visitor_form(request, AddressChoice)
    name = form.require("Say which address.").name
    try:
        await context.store.run(shop.remove_address(visitor.username, name))
    except shop.UnknownCustomer:
        raise shop.UnknownAddress from None
    return see_other(LIST)


async def addresses_of(request: Request, visitor: Visitor) -> dict[str, shop.Address]:
    steps = get(shop.Customer.key(visitor.username), consistent=True)
    customer = await context_of(request).store.run(steps)
    return customer.addresses if customer else {}


async def render_page(request: Request, visitor: Visitor, form: AnyForm) -> Response:
    """All addresses; the form is shown if there is room for another, or to show its errors."""
    saved = await addresses_of(request, visitor)
    has_room = len(saved) < shop.MOST_ADDRESSES
    return await context_of(request).form_page(
        request,
        "orders/addresses.html",
        addresses=dict(sorted(saved.items())),
        shows_form=has_room or bool(form.typed),
        form=form,
    )


async def render_address(request: Request, form: AnyForm) -> Response:
    return await context_of(request).form_page(request, "orders/address.html", form=form)
