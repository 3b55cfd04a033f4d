"""A customer of the portal: identification, its own page, and its orders.

It is identified by the signed-in account, or by the mailbox that was confirmed.
"""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from typing import Final
from urllib.parse import quote

from pydantic import BaseModel
from starlette.responses import RedirectResponse, Response

from bigtime import site
from bigtime.systems import portal
from bigtime.web.http import VISIT, see_other
from bigtime.web.pages import AnyForm, AppRequest, address_of, empty_form, page_router
from bigtime.wire import Steps

HOME: Final = "/portal"
NEWEST: Final = 3
PAGE: Final = 25

customer_pages = page_router()


@dataclass(frozen=True, slots=True)
class Customer:
    """The tenant of a request; `visitor` is its account, if it is signed in."""

    tenant_id: str
    visitor: site.Visitor | None = None

    @property
    def has_account(self) -> bool:
        return self.visitor is not None


async def customer_of(request: AppRequest) -> Customer | None:
    """The tenant of a request, if it is identified."""
    visitor = await request.visitor()
    if visitor is not None and visitor.tenant_id is not None:
        return Customer(visitor.tenant_id, visitor)
    holder = await proof_holder(request)
    tenant_id = await request.run(site.fetch_verified_tenant(holder)) if holder else None
    return None if tenant_id is None else Customer(tenant_id)


async def proof_holder(request: AppRequest) -> str | None:
    """What a verified mailbox belongs to: the session, if there is one, or the visit."""
    visitor = await request.visitor()
    if visitor is not None:
        return site.session_holder(visitor.cookie)
    visit = request.cookie(VISIT)
    return site.visit_holder(visit) if visit else None


async def tenant_of_customer(request: AppRequest, customer: Customer) -> portal.Tenant:
    """The tenant, even if it was deleted: its page says so."""
    steps = portal.get_tenant(customer.tenant_id, include_inactive=True)
    return await request.run(steps)


def redirect_to_confirm(request: AppRequest) -> Response:
    """To the page where a customer confirms their mailbox, which leads back to this one."""
    then = quote(address_of(request.scope) if request.method == "GET" else HOME)
    return RedirectResponse(f"/portal/confirm?next={then}", status_code=HTTPStatus.SEE_OTHER)


# A customer's own page


class ConnectForm(BaseModel):
    """What a customer says of itself; also the form that connects an account."""

    organization_name: portal.Name | None = None
    destination_email: portal.Email | None = None

    @property
    def details(self) -> site.Details:
        return site.Details(self.organization_name, self.destination_email)


class DetailsForm(ConnectForm):
    """What a customer says of itself, and the mark of what it said before."""

    seen: str = ""


@customer_pages.get(HOME)
async def show_home(request: AppRequest, welcome: str = "", changed: str = "") -> Response:
    customer = await customer_of(request)
    if customer is None:
        return redirect_to_confirm(request)
    notice = "welcome" if welcome else "changed" if changed else ""
    return await home_page(request, customer, None, notice=notice)


@customer_pages.post(f"{HOME}/details")
async def save_details(request: AppRequest) -> Response:
    """Changes what a customer says of itself."""
    form = await request.read_form(DetailsForm)
    customer = await customer_of(request)
    if customer is None:
        return redirect_to_confirm(request)
    if form.value is None:
        return await home_page(request, customer, form)
    try:
        await request.run(change_details(customer.tenant_id, form.value))
    except portal.RecordMoved as error:
        return await home_page(request, customer, form.refuse(error))
    return see_other(f"{HOME}?changed=yes")


@customer_pages.post(f"{HOME}/leave")
async def leave(request: AppRequest) -> Response:
    """Forgets which mailbox was confirmed in this browser."""
    await request.read_fields()
    response = see_other("/pricing")
    holder = await proof_holder(request)
    if holder is not None:
        await request.run(site.forget_mailbox(holder))
        response.raw_headers.append(request.context.cookies.clear_header(VISIT))
    return response


def change_details(tenant_id: str, sent: DetailsForm) -> Steps[portal.Tenant]:
    portal.orderly((yield from portal.get_tenant(tenant_id, include_inactive=True)))
    changes = sent.model_dump(exclude={"seen"})
    return (yield from portal.update_tenant(tenant_id, changes, by=tenant_id, seen=sent.seen))


def read_home(tenant_id: str) -> Steps[tuple[portal.Tenant, list[portal.Order], portal.Plans]]:
    tenant = yield from portal.get_tenant(tenant_id, include_inactive=True)
    newest = yield from portal.list_orders(tenant_id, limit=NEWEST)
    plans = yield from portal.list_plans(tenant_id)
    return tenant, newest.items, plans


async def home_page(
    request: AppRequest, customer: Customer, form: AnyForm | None, *, notice: str = ""
) -> Response:
    tenant, newest, plans = await request.run(read_home(customer.tenant_id))
    return await request.form_page(
        "portal/home.html",
        tenant=tenant,
        newest=newest,
        plans=plans,
        has_account=customer.has_account,
        notice=notice,
        form=form or empty_form(**site.form_values(tenant)),
        seen=portal.mark_of(tenant),
    )


# A customer's orders, including those from before it had an account


@customer_pages.get("/portal/orders")
async def show_orders(request: AppRequest) -> Response:
    """A customer's orders, newest first."""
    customer = await customer_of(request)
    if customer is None:
        return redirect_to_confirm(request)
    steps = portal.list_orders(customer.tenant_id, limit=PAGE, after=request.page_start)
    found = await request.run(steps)
    return await request.list_page("portal/orders.html", found, orders=found.items)


@customer_pages.get("/portal/orders/{order_id}")
async def show_order(request: AppRequest, order_id: str, placed: str = "") -> Response:
    """One order; another's is as unknown as none.

    An order that came with the account from another e-mail address has a new number; its old one,
    which is in the mail that confirmed it, leads to it.
    """
    customer = await customer_of(request)
    if customer is None:
        return redirect_to_confirm(request)
    try:
        order = await request.run(portal.get_order(customer.tenant_id, order_id))
    except portal.UnknownOrder:
        order_id = portal.copied_id(order_id, customer.tenant_id)
        order = await request.run(portal.get_order(customer.tenant_id, order_id))
    return await request.page(
        "portal/order.html",
        order=order,
        is_new=placed == "yes",
        has_account=customer.has_account,
    )
