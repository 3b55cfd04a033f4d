"""The page on which a customer opens an account."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, SecretStr
from starlette.responses import Response

from bigtime.model import DomainError
from bigtime.site import Visitor, connect_account, open_account, regain_account
from bigtime.systems import accounts, deals, portal, sessions, shop
from bigtime.web import pages
from bigtime.web.http import TooManyTries, see_other, status_of
from bigtime.web.pages import AppRequest, page_router
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
async def show_register(request: AppRequest) -> Response:
    customer = await customer_of(request)
    if customer is None:
        return redirect_to_confirm(request)
    if customer.has_account:
        return see_other(HOME)
    return await register_page(request, customer, None)


@register.post("/portal/register")
async def register_customer(request: AppRequest) -> Response:
    """Opens an account for the tenant whose mailbox was confirmed, and signs them in."""
    form = await request.read_form(RegisterForm)
    customer = await customer_of(request)
    if customer is None or customer.has_account:
        return see_other(HOME)
    if form.value is None:
        return await register_page(request, customer, form)
    sent, name = form.value, form.typed["username"].strip()
    password = sent.password.get_secret_value()
    steps = open_account(customer.tenant_id, sent.username, password, sent.details, name=name)
    return await run_and_sign_in(request, customer, form, steps)


@register.post("/portal/new-password")
async def set_new_password(request: AppRequest) -> Response:
    """Sets a new password for the account that has the address that was shown."""
    form = await request.read_form(NewPasswordForm)
    customer = await customer_of(request)
    if customer is None or customer.has_account:
        return see_other(HOME)
    if form.value is None:
        return await register_page(request, customer, form)
    password = form.value.password.get_secret_value()
    steps = regain_account(customer.tenant_id, password, form.value.details)
    return await run_and_sign_in(request, customer, form, steps)


async def run_and_sign_in(
    request: AppRequest, customer: Customer, form: pages.AnyForm, steps: Steps[accounts.Identity]
) -> Response:
    """Runs steps that open an account or set its password, and signs in; or shows the error."""
    try:
        await request.count_try("sign up")
        identity = await request.context.cpu_pool.run(steps)
    except accounts.PasswordTooWeak as error:
        return await register_page(request, customer, form.refuse(error, "password"))
    except deals.UsernameTaken as error:
        return await register_page(request, customer, form.refuse(error, "username"))
    except REFUSED as error:
        return await refused_page(request, customer, form, error)
    request.context.visitors.forget_login(identity.login)
    await request.run(sessions.delete_sessions(identity.login))
    return await pages.sign_in(request, identity, then=f"{HOME}?welcome=yes")


@register.post("/portal/connect")
async def connect(request: AppRequest) -> Response:
    """Connects the account that is signed in, if its login is the address that was shown."""
    form = await request.read_form(ConnectForm)
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
        await request.run(steps)
    except REFUSED as error:
        return await refused_page(request, customer, form, error)
    request.context.visitors.forget_login(visitor.login)
    return see_other(f"{HOME}?welcome=yes")


async def refused_page(
    request: AppRequest, customer: Customer, form: pages.AnyForm, error: DomainError
) -> Response:
    return await register_page(request, customer, form.refuse(error, status=status_of(error)))


async def own_visitor(request: AppRequest, tenant: portal.Tenant) -> Visitor | None:
    """The signed-in visitor, if their login is the tenant's address."""
    visitor = await request.visitor()
    return visitor if visitor and visitor.login == tenant.email else None


def is_login(address: str) -> Steps[bool]:
    """Whether there is an account with an address."""
    try:
        yield from accounts.view_account(address)
    except accounts.UnknownLogin:
        return False
    return True


async def register_page(
    request: AppRequest, customer: Customer, form: pages.AnyForm | None
) -> Response:
    tenant = await tenant_of_customer(request, customer)
    suggested = tenant.email.partition("@")[0]
    return await request.form_page(
        "portal/register.html",
        tenant=tenant,
        visitor=await own_visitor(request, tenant),
        is_taken=await request.run(is_login(tenant.email)),
        form=form or pages.empty_form(username=suggested),
    )
