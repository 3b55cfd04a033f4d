"""The visitor's addresses, each under a name."""

from __future__ import annotations

from fastapi import Response
from pydantic import BaseModel

from bigtime.model import get
from bigtime.site import AddressNameTaken, Visitor, save_new_address
from bigtime.systems import shop
from bigtime.web.http import see_other
from bigtime.web.pages import AnyForm, AppRequest, empty_form, page_router

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
async def show_addresses(request: AppRequest) -> Response:
    """All addresses, and a form for another."""
    visitor = await request.signed_in()
    return await render_page(request, visitor, empty_form())


@router.post(LIST)
async def add_address(request: AppRequest) -> Response:
    """Saves an address under a new name."""
    visitor, form = await request.read_visitor_form(NamedAddress)
    if form.value is None:
        return await render_page(request, visitor, form)
    try:
        steps = save_new_address(
            visitor.username, visitor.login, form.value.name, form.value.address
        )
        await request.run(steps)
    except (AddressNameTaken, shop.TooManyAddresses, shop.EmailTaken) as error:
        form.refuse(error, "name" if isinstance(error, AddressNameTaken) else None, status=422)
        return await render_page(request, visitor, form)
    return see_other(LIST)


@router.get("/me/addresses/change")
async def show_change(request: AppRequest, name: str = "") -> Response:
    """The form of one address."""
    visitor = await request.signed_in()
    found = (await addresses_of(request, visitor)).get(name)
    if found is None:
        raise shop.UnknownAddress
    typed = {**found.model_dump(exclude_none=True), "name": name}
    return await render_address(request, empty_form(**typed))


@router.post("/me/addresses/change")
async def change_address(request: AppRequest) -> Response:
    """Changes an address; its name stays."""
    visitor, form = await request.read_visitor_form(NamedAddress)
    if form.typed.get("name", "").strip() not in await addresses_of(request, visitor):
        raise shop.UnknownAddress
    if form.value is None:
        return await render_address(request, form)
    await request.run(shop.save_address(visitor.username, form.value.name, form.value.address))
    return see_other(LIST)


@router.post("/me/addresses/remove")
async def remove_address(request: AppRequest) -> Response:
    """Removes an address; orders that were sent there keep it."""
    visitor, form = await request.read_visitor_form(AddressChoice)
    name = form.require("Say which address.").name
    try:
        await request.run(shop.remove_address(visitor.username, name))
    except shop.UnknownCustomer:
        raise shop.UnknownAddress from None
    return see_other(LIST)


async def addresses_of(request: AppRequest, visitor: Visitor) -> dict[str, shop.Address]:
    steps = get(shop.Customer.key(visitor.username), consistent=True)
    customer = await request.run(steps)
    return customer.addresses if customer else {}


async def render_page(request: AppRequest, visitor: Visitor, form: AnyForm) -> Response:
    """All addresses; the form is shown if there is room for another, or to show its errors."""
    saved = await addresses_of(request, visitor)
    has_room = len(saved) < shop.MOST_ADDRESSES
    return await request.form_page(
        "orders/addresses.html",
        addresses=dict(sorted(saved.items())),
        shows_form=has_room or bool(form.typed),
        form=form,
    )


async def render_address(request: AppRequest, form: AnyForm) -> Response:
    return await request.form_page("orders/address.html", form=form)
