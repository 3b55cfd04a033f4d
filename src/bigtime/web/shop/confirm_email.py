"""Confirming an e-mail address with the code that was mailed to it; and a forgotten password.

A sign-up leads here, and the member is created when the code is right. Every page offers a code to
a visitor whose address is not confirmed. For a forgotten password, the page also asks for a new
one. The page looks the same, and is as fast, whether the address has an account or not; see
`mailbox_check`.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import Response
from pydantic import AfterValidator, BaseModel, Field, SecretStr
from starlette.background import BackgroundTask

from bigtime import site
from bigtime.model import DomainError
from bigtime.systems import accounts, deals, portal, sessions, shop
from bigtime.web import pages
from bigtime.web.http import TooManyTries, see_other
from bigtime.web.pages import AnyForm, AppRequest, page_router

CONFIRM = "/confirm-email"
RESET = "/reset-password"
FORGOT = "shopper/forgot_password.html"
TEMPLATES = {CONFIRM: "shopper/confirm_email.html", RESET: "shopper/reset_password.html"}
WRONG_CODE = (portal.CodeWrong, portal.CodeSpent, portal.UnknownCode)
TAKEN = (accounts.LoginTaken, shop.EmailTaken, deals.UsernameTaken)

router = page_router()


class Code(BaseModel):
    """The form that the code is typed into."""

    code: Annotated[str, Field(max_length=20)]


class CodeAndPassword(Code):
    """The same for a forgotten password, with the new one."""

    password: Annotated[SecretStr, AfterValidator(accounts.a_new_password)]


class Forgot(BaseModel):
    """The form of a user who forgot their password."""

    email: Annotated[accounts.Login, AfterValidator(deals.checked_email)]


# Asking for a code


@router.post("/me/confirm-email")
async def confirm_own_email(request: AppRequest) -> Response:
    """Mails a code to the address of the visitor."""
    visitor = await request.signed_in()
    await request.read_fields()
    if visitor.is_confirmed:
        return see_other("/me")
    await pages.count_code(request, visitor.login)
    pending = await request.run(site.begin_check(visitor.login, "/me"))
    return redirect_and_send(request, pending, CONFIRM)


@router.get("/forgot-password")
async def show_forgot(request: AppRequest) -> Response:
    if await request.visitor():
        return see_other("/me")
    return await request.form_page(FORGOT, form=pages.empty_form())


@router.post("/forgot-password")
async def forgot(request: AppRequest) -> Response:
    """Mails a code, if there is an account; the answer is the same if there is none."""
    form = await request.read_form(Forgot)
    if form.value is None:
        return await request.form_page(FORGOT, form=form)
    try:
        await pages.count_code(request, form.value.email)
    except TooManyTries as error:
        return await request.form_page(FORGOT, form=form.refuse(error))
    pending = await request.run(site.begin_check(form.value.email, "/me"))
    return redirect_and_send(request, pending, RESET)


def redirect_and_send(
    request: AppRequest, pending: site.PendingCheck, place: str, *, query: str = ""
) -> Response:
    """To the page that asks for the code; the address is looked up after the response."""
    response = see_other(f"{place}/{pending.check_id}{query}")
    steps = site.send_shopper_code(request.context.codes, pending)
    response.background = BackgroundTask(request.context.store.run, steps)
    return response


# Entering the code


@router.get("/confirm-email/{check_id}")
async def show_confirm(request: AppRequest, check_id: str) -> Response:
    pending = await request.run(site.fetch_check(check_id))
    return await code_page(request, pending, CONFIRM, pages.empty_form())


@router.get("/reset-password/{check_id}")
async def show_reset(request: AppRequest, check_id: str) -> Response:
    pending = await request.run(site.fetch_check(check_id))
    return await code_page(request, pending, RESET, pages.empty_form())


@router.post("/confirm-email/{check_id}")
async def confirm(request: AppRequest, check_id: str) -> Response:
    """Creates the member who signs up, and signs them in; or confirms the visitor's address."""
    form = await request.read_form(Code)
    pending = await request.run(site.fetch_check(check_id))
    if form.value is None:
        return await code_page(request, pending, CONFIRM, form)
    steps = site.confirm_email(request.context.codes, check_id, form.value.code)
    try:
        await request.count_try("try code")
        identity = await request.run(steps)
    except (TooManyTries, *WRONG_CODE, *TAKEN) as error:
        return await refused_page(request, pending, CONFIRM, form, error)
    request.context.visitors.forget_login(identity.login)
    if pending.username is None:
        return see_other(pending.next)
    return await pages.sign_in(request, identity, then=pending.next)


@router.post("/reset-password/{check_id}")
async def reset(request: AppRequest, check_id: str) -> Response:
    """Sets the new password, ends every session of the account, and signs in."""
    form = await request.read_form(CodeAndPassword)
    pending = await request.run(site.fetch_check(check_id))
    if form.value is None:
        return await code_page(request, pending, RESET, form)
    code, password = form.value.code, form.value.password.get_secret_value()
    steps = site.reset_password(request.context.codes, check_id, code, password)
    try:
        await request.count_try("try code")
        identity = await request.context.cpu_pool.run(steps)
    except (
        TooManyTries,
        *WRONG_CODE,
        accounts.MailboxNotEnough,
        accounts.PasswordChanged,
    ) as error:
        return await refused_page(request, pending, RESET, form, error)
    except accounts.PasswordTooWeak as error:
        return await code_page(request, pending, RESET, form.refuse(error, "password"))
    request.context.visitors.forget_login(identity.login)
    await request.run(sessions.delete_sessions(identity.login))
    return await pages.sign_in(request, identity, then="/me?changed=true")


@router.post("/confirm-email/{check_id}/again")
async def send_again(request: AppRequest, check_id: str) -> Response:
    return await send_another(request, check_id, CONFIRM)


@router.post("/reset-password/{check_id}/again")
async def send_reset_again(request: AppRequest, check_id: str) -> Response:
    return await send_another(request, check_id, RESET)


async def send_another(request: AppRequest, check_id: str, place: str) -> Response:
    """Mails another code."""
    await request.read_fields()
    pending = await request.run(site.fetch_check(check_id))
    try:
        await pages.count_code(request, pending.email)
    except TooManyTries as error:
        return await refused_page(request, pending, place, pages.empty_form(), error)
    pending = await request.run(site.restart_check(check_id))
    return redirect_and_send(request, pending, place, query="?sent=again")


async def refused_page(
    request: AppRequest, pending: site.PendingCheck, place: str, form: AnyForm, error: DomainError
) -> Response:
    form.refuse(error, "code" if isinstance(error, WRONG_CODE) else None)
    return await code_page(request, pending, place, form)


async def code_page(
    request: AppRequest, pending: site.PendingCheck, place: str, form: AnyForm
) -> Response:
    return await request.form_page(
        TEMPLATES[place],
        pending=pending,
        form=form,
        again=request.query_params.get("sent") == "again",
    )
