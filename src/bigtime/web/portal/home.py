"""A customer's own page: who they are, and what they tell of themselves."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from bigtime.site import forget_mailbox, form_values
from bigtime.systems import portal
from bigtime.web.http import VISIT, see_other, status_of
from bigtime.web.pages import SubmittedForm, context_of, empty_form, read_fields, read_form
from bigtime.web.portal.customer import (
    HOME,
    Customer,
    customer_of,
    proof_holder,
    redirect_to_confirm,
)
from bigtime.web.portal.register import ConnectForm
from bigtime.wire import Steps

NEWEST = 3

home = APIRouter(include_in_schema=False)


class DetailsForm(ConnectForm):
    """What a customer tells of itself, and the mark of what was told before."""

    seen: str = ""


@home.get(HOME)
async def show_home(request: Request, welcome: str = "", changed: str = "") -> Response:
    customer = await customer_of(request)
    if customer is None:
        return redirect_to_confirm(request)
    told = "welcome" if welcome else "changed" if changed else ""
    return await home_page(request, customer, None, told=told)


@home.post(f"{HOME}/details")
async def save_details(request: Request) -> Response:
    """Changes what a customer tells of itself."""
    context = context_of(request)
    form = await read_form(request, context, DetailsForm)
    customer = await customer_of(request)
    if customer is None:
        return redirect_to_confirm(request)
    if form.value is None:
        return await home_page(request, customer, form, status=422)
    try:
        await context.store.run(change_details(customer.tenant_id, form.value))
    except portal.RecordMoved as error:
        form.refuse(error)
        return await home_page(request, customer, form, status=status_of(error))
    return see_other(f"{HOME}?changed=yes")


@home.post(f"{HOME}/leave")
async def leave(request: Request) -> Response:
    """Forgets who somebody has shown to be, for whoever uses this browser next."""
    context = context_of(request)
    await read_fields(request, context)
    response = see_other("/pricing")
    holder = await proof_holder(request)
    if holder is not None:
        await context.store.run(forget_mailbox(holder))
        response.raw_headers.append(context.cookies.clearing(VISIT))
    return response


def change_details(tenant_id: str, told: DetailsForm) -> Steps[portal.Tenant]:
    portal.orderly((yield from portal.get_tenant(tenant_id, include_inactive=True)))
    changes = {
        "organization_name": told.organization_name,
        "destination_email": told.destination_email,
    }
    return (yield from portal.update_tenant(tenant_id, changes, by=tenant_id, seen=told.seen))


def read_home(tenant_id: str) -> Steps[tuple[portal.Tenant, list[portal.Order]]]:
    tenant = yield from portal.get_tenant(tenant_id, include_inactive=True)
    newest = yield from portal.list_orders(tenant_id, limit=NEWEST)
    return tenant, newest.items


async def home_page(
    request: Request,
    customer: Customer,
    form: SubmittedForm[Any] | None,
    *,
    status: int = 200,
    told: str = "",
) -> Response:
    context = context_of(request)
    tenant, newest = await context.store.run(read_home(customer.tenant_id))
    return await context.form_page(
        request,
        "portal/home.html",
        status=status,
        tenant=tenant,
        newest=newest,
        has_account=customer.has_account,
        told=told,
        form=form or empty_form(**form_values(tenant)),
        seen=portal.mark_of(tenant),
    )


# --- A customer's orders, also those from before there was an account ---------------------


PAGE = 25


orders = APIRouter(include_in_schema=False)


@orders.get("/portal/orders")
async def show_orders(request: Request, after: str | None = None) -> Response:
    """A customer's orders, newest first."""
    context = context_of(request)
    customer = await customer_of(request)
    if customer is None:
        return redirect_to_confirm(request)
    steps = portal.list_orders(customer.tenant_id, limit=PAGE, after=context.cursors.read(after))
    found = await context.store.run(steps)
    page = context.templates.page(
        "portal/orders.html",
        orders=found.items,
        after=context.cursors.write(found.position),
        is_first=after is None,
    )
    return await context.answer(request, page)


@orders.get("/portal/orders/{order_id}")
async def show_order(request: Request, order_id: str, placed: str = "") -> Response:
    """One order; another's is as unknown as none."""
    context = context_of(request)
    customer = await customer_of(request)
    if customer is None:
        return redirect_to_confirm(request)
    order = await context.store.run(portal.get_order(customer.tenant_id, order_id))
    page = context.templates.page(
        "portal/order.html",
        order=order,
        is_new=placed == "yes",
        has_account=customer.has_account,
    )
    return await context.answer(request, page)
