"""Signing up, in and out.

A sign-up leads to the page that asks for the code mailed to its address; see `confirm_email`. It
looks the same whether the address has an account or not.

A login that does not exist gets the same response, after the same work, as a wrong password. Tries
are counted by address and by login, so that neither many logins from one address nor one login from
many addresses get far.
"""

from __future__ import annotations

from typing import Annotated
from urllib.parse import quote

from fastapi import Response
from pydantic import AfterValidator, BaseModel, Field, SecretStr

from bigtime import site
from bigtime.systems import accounts, deals, sessions
from bigtime.web import pages
from bigtime.web.http import TooManyTries, local_path, see_other
from bigtime.web.pages import AnyForm, AppRequest, SubmittedForm, page_router
from bigtime.web.shop.confirm_email import CONFIRM, redirect_and_send

LOG_IN = "shopper/log_in.html"
SIGN_UP = "shopper/sign_up.html"

router = page_router()


class LogIn(BaseModel):
    """The form to sign in."""

    email: str = Field(max_length=254)
    password: SecretStr


class SignUp(BaseModel):
    """The form to sign up."""

    username: deals.Username
    email: Annotated[accounts.Login, AfterValidator(deals.checked_email)]
    password: Annotated[SecretStr, AfterValidator(accounts.a_new_password)]


@router.get("/log-in")
async def show_log_in(request: AppRequest, next: str | None = None, ended: str = "") -> Response:
    """The form; `ended` is set when a session had ended before a form was sent."""
    return await show_form(request, LOG_IN, next, ended=bool(ended))


@router.get("/sign-up")
async def show_sign_up(request: AppRequest, next: str | None = None) -> Response:
    return await show_form(request, SIGN_UP, next)


@router.post("/log-in")
async def log_in(request: AppRequest) -> Response:
    """Begins a session, if the password is right; a wrong field is no try."""
    form = await request.read_form(LogIn)
    identity = await verify_credentials(request, form, form.value) if form.value else None
    if identity is None:
        return await request.form_page(LOG_IN, form=form, ended=False)
    return await pages.sign_in(request, identity, then=local_path(form.typed.get("next")))


@router.post("/sign-up")
async def sign_up(request: AppRequest) -> Response:
    """Mails a code; the member is created when it is typed in."""
    form = await request.read_form(SignUp)
    pending = await begin_sign_up(request, form, form.value) if form.value else None
    if pending is None:
        return await request.form_page(SIGN_UP, form=form)
    return redirect_and_send(request, pending, CONFIRM)


@router.post("/log-out")
async def log_out(request: AppRequest) -> Response:
    """Ends this session; with `next`, leads over the sign-in page to that page."""
    page = (await request.read_fields()).get("next")
    then = "/" if page is None else f"/log-in?next={quote(local_path(page))}"
    return await pages.sign_out(request, then=then)


@router.post("/log-out-everywhere")
async def log_out_everywhere(request: AppRequest) -> Response:
    """Ends every session of the visitor."""
    visitor = await request.signed_in()
    await request.read_fields()
    await request.run(sessions.delete_sessions(visitor.login))
    request.context.visitors.forget_login(visitor.login)
    return await pages.sign_out(request)


async def show_form(
    request: AppRequest, template: str, next: str | None, *, ended: bool = False
) -> Response:
    if await request.visitor():
        return see_other(local_path(next))
    form: AnyForm = pages.empty_form(next=local_path(next))
    return await request.form_page(template, form=form, ended=ended)


async def verify_credentials(
    request: AppRequest, form: SubmittedForm[LogIn], value: LogIn
) -> accounts.Identity | None:
    """The identity for the credentials; None if they are wrong, or were tried too often."""
    try:
        login = await pages.count_log_in(request, value.email)
        steps = accounts.verify_password(login, value.password.get_secret_value())
        return await request.context.cpu_pool.run(steps)
    except (TooManyTries, accounts.WrongCredentials) as error:
        form.refuse(error)
    return None


async def begin_sign_up(
    request: AppRequest, form: SubmittedForm[SignUp], value: SignUp
) -> site.PendingCheck | None:
    """The page that asks for the code; None if the form is wrong."""
    password, name = value.password.get_secret_value(), form.typed["username"].strip()
    then = local_path(form.typed.get("next"))
    steps = site.begin_sign_up(value.email, password, value.username, name=name, then=then)
    try:
        await request.count_try("sign up")
        pending = await request.context.cpu_pool.run(steps)
        await pages.count_code(request, value.email)
    except deals.UsernameTaken as error:
        form.refuse(error, "username")
    except accounts.PasswordTooWeak as error:
        form.refuse(error, "password")
    except TooManyTries as error:
        form.refuse(error)
    else:
        return pending
    return None
