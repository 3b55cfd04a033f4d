"""Changing an account's e-mail address, with one code to the current and one to the new address.

The page for the codes looks the same, and is as fast, whether the new address has an account or
not: it is looked up after the response; see `email_change`.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import Response
from pydantic import AfterValidator, BaseModel, Field, SecretStr
from starlette.background import BackgroundTask

from bigtime import site
from bigtime.model import DomainError
from bigtime.site import Visitor
from bigtime.systems import accounts, deals, portal, shop
from bigtime.web import pages
from bigtime.web.http import TooManyTries, see_other
from bigtime.web.pages import AnyForm, AppRequest, SubmittedForm, page_router
from bigtime.web.shop.me import WrongPassword

ASK = "shopper/change_email.html"
CODES = "shopper/change_email_codes.html"
REFUSED = (
    TooManyTries,
    portal.CodeSpent,
    portal.UnknownCode,
    accounts.LoginTaken,
    accounts.PasswordChanged,
    accounts.AccountChanged,
    shop.EmailTaken,
    site.HostingClosed,
)

router = page_router()


class NewEmail(BaseModel):
    """The form that asks for the codes."""

    email: Annotated[accounts.Login, AfterValidator(deals.checked_email)]
    password: SecretStr


class BothCodes(BaseModel):
    """The form that the codes are typed into."""

    login_code: Annotated[str, Field(max_length=20)]
    email_code: Annotated[str, Field(max_length=20)]


@router.get("/me/email")
async def show_change(request: AppRequest) -> Response:
    visitor = await request.signed_in()
    return await change_page(request, visitor, pages.empty_form())


@router.post("/me/email")
async def begin_change(request: AppRequest) -> Response:
    """Mails both codes, if the password is right."""
    visitor, form = await request.read_visitor_form(NewEmail)
    change = await begin(request, visitor, form)
    if change is None:
        return await change_page(request, visitor, form)
    return redirect_and_send(request, change)


async def begin(
    request: AppRequest, visitor: Visitor, form: SubmittedForm[NewEmail]
) -> site.EmailChange | None:
    """The change; None if the form is wrong. A wrong password is a try, as where it is changed."""
    if form.value is None:
        return None
    context, email = request.context, form.value.email
    steps = site.begin_email_change(visitor.login, form.value.password.get_secret_value(), email)
    try:
        await context.count_try_of("change password", visitor.login)
        change = await context.cpu_pool.run(steps)
        await pages.count_code(request, visitor.login, email)
    except accounts.WrongCredentials:
        form.refuse(WrongPassword(), "password")
    except site.SameEmail as error:
        form.refuse(error, "email")
    except (TooManyTries, site.HostingClosed) as error:
        form.refuse(error)
    else:
        return change
    return None


def redirect_and_send(
    request: AppRequest, change: site.EmailChange, *, query: str = ""
) -> Response:
    """To the page that asks for the codes; the new address is looked up after the response."""
    response = see_other(f"/me/email/{change.change_id}{query}")
    steps = site.send_change_codes(request.context.codes, change)
    response.background = BackgroundTask(request.context.store.run, steps)
    return response


@router.get("/me/email/{change_id}")
async def show_codes(request: AppRequest, change_id: str) -> Response:
    visitor = await request.signed_in()
    change = await request.run(site.fetch_email_change(change_id, visitor.login))
    return await codes_page(request, change, pages.empty_form())


@router.post("/me/email/{change_id}")
async def move(request: AppRequest, change_id: str) -> Response:
    """Moves the account, which ends all its sessions, and begins a new one."""
    visitor, form = await request.read_visitor_form(BothCodes)
    change = await request.run(site.fetch_email_change(change_id, visitor.login))
    if form.value is None:
        return await codes_page(request, change, form)
    steps = site.move_account(
        request.context.codes,
        change_id,
        visitor.login,
        form.value.login_code,
        form.value.email_code,
    )
    try:
        await request.count_try("try code")
        identity, rest = await request.run(steps)
    except site.WrongCodes as error:
        for name in error.fields:
            form.refuse(error, name)
        return await codes_page(request, change, form)
    except REFUSED as error:
        return await refused_page(request, change, form, error)
    request.context.visitors.forget_login(visitor.login)
    response = await pages.sign_in(request, identity, then="/me?moved=true")
    response.background = BackgroundTask(request.context.store.run, site.finish_move(rest))
    return response


@router.post("/me/email/{change_id}/again")
async def send_again(request: AppRequest, change_id: str) -> Response:
    """Mails two other codes."""
    visitor = await request.signed_in()
    await request.read_fields()
    change = await request.run(site.fetch_email_change(change_id, visitor.login))
    try:
        await pages.count_code(request, visitor.login, change.email)
    except TooManyTries as error:
        return await refused_page(request, change, pages.empty_form(), error)
    change = await request.run(site.restart_email_change(change_id, visitor.login))
    return redirect_and_send(request, change, query="?sent=again")


async def change_page(request: AppRequest, visitor: Visitor, form: AnyForm) -> Response:
    return await request.form_page(ASK, visitor=visitor, form=form)


async def codes_page(request: AppRequest, change: site.EmailChange, form: AnyForm) -> Response:
    return await request.form_page(
        CODES,
        change=change,
        form=form,
        again=request.query_params.get("sent") == "again",
    )


async def refused_page(
    request: AppRequest, change: site.EmailChange, form: AnyForm, error: DomainError
) -> Response:
    form.refuse(error, status=422 if isinstance(error, portal.CodeSpent) else None)
    return await codes_page(request, change, form)
