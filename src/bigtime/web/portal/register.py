"""The page on which a customer opens an account."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, SecretStr
from starlette.requests import Request
from starlette.responses import Response

from bigtime.model import DomainError
from bigtime.site import Visitor, connect_account, open_account, regain_account
from bigtime.systems import accounts, deals, portal, sessions, shop
from bigtime.web import pages
from bigtime.web.http import TooManyTries, page_router, see_other, status_of
from bigtime.web.portal.customer import (
    HOME,
    ConnectForm,
    Customer,
    customer_of,
    redirect_to_confirm,
    tenant_of_customer,
)
from bigtime.wire import Steps

register = page_router()

REFUSED: tuple[type[DomainError], ...] = (
    TooManyTries,
    accounts.LoginTaken,
    shop.EmailTaken,
    accounts.MailboxNotEnough,
    accounts.OtherTenant,
    accounts.PasswordChanged,
    accounts.UnknownLogin,
    portal.MoveRefused,
    portal.TenantDeleted,
    portal.TenantSuspended,
)


class NewPasswordForm(ConnectForm):
    """The form of a customer who has an account but not its password."""

    password: Annotated[SecretStr, AfterValidator(accounts.a_new_password)]


class RegisterForm(NewPasswordForm):
    """The form of a customer who has no account."""

    username: deals.Username


@register.get("/portal/register")
async def show_register(request: Request) -> Response:
    customer = await customer_of(request)
    if customer is None:
        return redirect_to_confirm(request)
    if customer.has_account:
        return see_other(HOME)
    return await register_page(request, customer, None)


@register.post("/portal/register")
async def register_customer(request: Request) -> Response:
    """Opens an account for the tenant whose mailbox was confirmed, and signs them in."""
    context = pages.context_of(request)
    form = await pages.read_form(request, context, RegisterForm)
    customer = await customer_of(request)
    if customer is None or customer.has_account:
        return see_other(HOME)
    if form.value is None:
        return await register_page(request, customer, form)
    sent, name = form.value, form.typed["username"].strip()
    password = sent.password.get_secret_value()
    steps = open_account(customer.tenant_id, sent.username, password, sent.details, name=name)
    try:
        await context.count_try("sign up", request)
        identity = await context.cpu_pool.run(steps)
    except (deals.UsernameTaken, accounts.PasswordTooWeak) as error:
        form.refuse(error, "username" if isinstance(error, deals.UsernameTaken) else "password")
        return await register_page(request, customer, form)
    except REFUSED as error:
        return await refused_page(request, customer, form, error)
    return await pages.sign_in(context, request, identity, then=f"{HOME}?welcome=yes")


@register.post("/portal/new-password")
async def set_new_password(request: Request) -> Response:
    """Sets a new password for the account that has the address that was shown."""
    context = pages.context_of(request)
    form = await pages.read_form(request, context, NewPasswordForm)
    customer = await customer_of(request)
    if customer is None or customer.has_account:
        return see_other(HOME)
    if form.value is None:
        return await register_page(request, customer, form)
    password = form.value.password.get_secret_value()
    steps = regain_account(customer.tenant_id, password, form.value.details)
    try:
        await context.count_try("sign up", request)
        identity = await context.cpu_pool.run(steps)
    except accounts.PasswordTooWeak as error:
        form.refuse(error, "password")
        return await register_page(request, customer, form)
    except REFUSED as error:
        return await refused_page(request, customer, form, error)
    context.visitors.forget_login(identity.login)
    await context.store.run(sessions.delete_sessions(identity.login))
    return await pages.sign_in(context, request, identity, then=f"{HOME}?welcome=yes")


@register.post("/portal/connect")
async def connect(request: Request) -> Response:
    """Connects the account that is signed in, if its login is the address that was shown."""
    context = pages.context_of(request)
    form = await pages.read_form(request, context, ConnectForm)
    customer = await customer_of(request)
    if customer is None or customer.has_account:
        return see_other(HOME)
    tenant = await tenant_of_customer(request, customer)
    visitor = await own_visitor(request, tenant)
    if form.value is None or visitor is None:
        form.shown_as = 422
        return await register_page(request, customer, form)
    steps = connect_account(customer.tenant_id, visitor.login, form.value.details)
    try:
        await context.store.run(steps)
    except REFUSED as error:
        return await refused_page(request, customer, form, error)
    context.visitors.forget_login(visitor.login)
    return see_other(f"{HOME}?welcome=yes")


async def refused_page(
    request: Request, customer: Customer, form: pages.AnyForm, error: DomainError
) -> Response:
    form.refuse(error, status=status_of(error))
    return await register_page(request, customer, form)


async def own_visitor(request: Request, tenant: portal.Tenant) -> Visitor | None:
    """Who is signed in, if their login is the tenant's address."""
    visitor = await pages.context_of(request).visitor(request)
    return visitor if visitor and visitor.login == tenant.email else None


def is_login(address: str) -> Steps[bool]:
    """Whether there is an account with an address."""
    try:
        yield from accounts.view_account(address)
    except accounts.UnknownLogin:
        return False
    return True


async def register_page(
    request: Request, customer: Customer, form: pages.AnyForm | None
) -> Response:
    tenant = await tenant_of_customer(request, customer)
    suggested = tenant.email.partition("@")[0]
    return await pages.context_of(request).form_page(
        request,
        "portal/register.html",
        tenant=tenant,
        visitor=await own_visitor(request, tenant),
        is_taken=await pages.context_of(request).store.run(is_login(tenant.email)),
        form=form or pages.empty_form(username=suggested),
    )
