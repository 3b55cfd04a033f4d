"""The page on which a customer opens an account."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import AfterValidator, BaseModel, SecretStr
from starlette.requests import Request
from starlette.responses import Response

from bigtime.model import Steps
from bigtime.systems.accounts.account import view_account
from bigtime.systems.accounts.errors import (
    LoginTaken,
    MailboxNotEnough,
    OtherTenant,
    PasswordChanged,
    UnknownLogin,
)
from bigtime.systems.deals.errors import UsernameTaken
from bigtime.systems.deals.values import Username
from bigtime.systems.portal.design import Tenant
from bigtime.systems.portal.errors import MoveRefused, TenantDeleted, TenantSuspended
from bigtime.systems.portal.values import Email, Name
from bigtime.systems.sessions.session import delete_sessions
from bigtime.systems.shop.errors import EmailTaken
from bigtime.web.forms import Filled, empty, read_form, waiting
from bigtime.web.limits import TooManyTries
from bigtime.web.portal.customer import (
    HOME,
    Customer,
    customer_of,
    tenant_of_customer,
    to_confirm,
)
from bigtime.web.portal.registering import Details, connect_account, open_account, regain_account
from bigtime.web.shopper.sign_up import a_new_password
from bigtime.web.signing_in import going_on, sign_in
from bigtime.web.site import site_of
from bigtime.web.statuses import status_of
from bigtime.web.visitor import Visitor

register = APIRouter(include_in_schema=False)

REFUSED = (
    LoginTaken,
    EmailTaken,
    MailboxNotEnough,
    OtherTenant,
    PasswordChanged,
    UnknownLogin,
    MoveRefused,
    TenantDeleted,
    TenantSuspended,
)


class Connecting(BaseModel):
    """The form of somebody who has an account."""

    organization_name: Name | None = None
    destination_email: Email | None = None

    @property
    def details(self) -> Details:
        return Details(self.organization_name, self.destination_email)


class Regaining(Connecting):
    """The form of somebody who has one, and not its password."""

    password: Annotated[SecretStr, AfterValidator(a_new_password)]


class Registering(Regaining):
    """The form of somebody who has none."""

    username: Username


@register.get("/portal/register")
async def show_register(request: Request) -> Response:
    customer = await customer_of(request)
    if customer is None:
        return to_confirm(request)
    if customer.has_account:
        return going_on(HOME)
    return await asked(request, customer, None)


@register.post("/portal/register")
async def open_one(request: Request) -> Response:
    """Makes an account for whoever has shown the mailbox, and signs them in."""
    site = site_of(request)
    form = await read_form(request, site, Registering)
    customer = await customer_of(request)
    if customer is None or customer.has_account:
        return going_on(HOME)
    if form.value is None:
        return await asked(request, customer, form, status=422)
    try:
        site.count_try("sign up", request)
    except TooManyTries as error:
        form.refuse(error)
        return waiting(await asked(request, customer, form, status=429), error)
    told, name = form.value, form.typed["username"].strip()
    password = told.password.get_secret_value()
    steps = open_account(customer.tenant_id, told.username, password, told.details, name=name)
    try:
        identity = await site.apart.run(steps)
    except UsernameTaken as error:
        form.refuse(error, "username")
        return await asked(request, customer, form, status=422)
    except REFUSED as error:
        form.refuse(error)
        return await asked(request, customer, form, status=status_of(error))
    return await sign_in(site, request, identity, then=f"{HOME}?welcome=yes")


@register.post("/portal/new-password")
async def regain(request: Request) -> Response:
    """Sets a new password for the account that has the address that was shown."""
    site = site_of(request)
    form = await read_form(request, site, Regaining)
    customer = await customer_of(request)
    if customer is None or customer.has_account:
        return going_on(HOME)
    if form.value is None:
        return await asked(request, customer, form, status=422)
    password = form.value.password.get_secret_value()
    steps = regain_account(customer.tenant_id, password, form.value.details)
    try:
        site.count_try("sign up", request)
        identity = await site.apart.run(steps)
    except TooManyTries as error:
        form.refuse(error)
        return waiting(await asked(request, customer, form, status=429), error)
    except REFUSED as error:
        form.refuse(error)
        return await asked(request, customer, form, status=status_of(error))
    site.visitors.forget_all()
    await site.store.run(delete_sessions(identity.login))
    return await sign_in(site, request, identity, then=f"{HOME}?welcome=yes")


@register.post("/portal/connect")
async def connect(request: Request) -> Response:
    """Connects the account that is signed in, if its login is the address that was shown."""
    site = site_of(request)
    form = await read_form(request, site, Connecting)
    customer = await customer_of(request)
    if customer is None or customer.has_account:
        return going_on(HOME)
    tenant = await tenant_of_customer(request, customer)
    visitor = await own_visitor(request, tenant)
    if form.value is None or visitor is None:
        return await asked(request, customer, form, status=422)
    steps = connect_account(customer.tenant_id, visitor, form.value.details)
    try:
        await site.store.run(steps)
    except REFUSED as error:
        form.refuse(error)
        return await asked(request, customer, form, status=status_of(error))
    site.visitors.forget_all()
    return going_on(f"{HOME}?welcome=yes")


async def own_visitor(request: Request, tenant: Tenant) -> Visitor | None:
    """Who is signed in, if their login is the tenant's address."""
    visitor = await site_of(request).visitor(request)
    return visitor if visitor and visitor.login == tenant.email else None


def is_login(address: str) -> Steps[bool]:
    """Whether there is an account with an address."""
    try:
        yield from view_account(address)
    except UnknownLogin:
        return False
    return True


async def asked(
    request: Request, customer: Customer, form: Filled[Any] | None, *, status: int = 200
) -> Response:
    tenant = await tenant_of_customer(request, customer)
    suggested = tenant.email.partition("@")[0]
    return await site_of(request).form_page(
        request,
        "portal/register.html",
        status=status,
        tenant=tenant,
        visitor=await own_visitor(request, tenant),
        is_taken=await site_of(request).store.run(is_login(tenant.email)),
        form=form or empty(username=suggested),
    )
