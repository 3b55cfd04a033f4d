"""Signing up: an account, a user and a session."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from pydantic import AfterValidator, BaseModel, SecretStr
from starlette.requests import Request
from starlette.responses import Response

from bigtime.site import join
from bigtime.systems import accounts, deals, shop
from bigtime.systems.accounts import a_new_password
from bigtime.web.http import TooManyTries, local_path, see_other
from bigtime.web.pages import (
    SubmittedForm,
    context_of,
    empty_form,
    read_form,
    sign_in,
    with_retry_after,
)

sign_up = APIRouter(include_in_schema=False)


class SignUp(BaseModel):
    """The form of somebody new."""

    username: deals.Username
    email: Annotated[accounts.Login, AfterValidator(deals.checked_email)]
    password: Annotated[SecretStr, AfterValidator(a_new_password)]


@sign_up.get("/sign-up")
async def show_sign_up(request: Request, next: str | None = None) -> Response:
    context = context_of(request)
    if await context.visitor(request):
        return see_other(local_path(next))
    return await render_sign_up(request, empty_form(next=local_path(next)))


@sign_up.post("/sign-up")
async def join_in(request: Request) -> Response:
    """Makes a member of somebody, and signs them in."""
    context = context_of(request)
    form = await read_form(request, context, SignUp)
    try:
        identity = await create_member(request, form)
    except TooManyTries as error:
        form.refuse(error)
        return with_retry_after(await render_sign_up(request, form, status=429), error)
    if identity is None:
        return await render_sign_up(request, form, status=422)
    return await sign_in(context, request, identity, then=local_path(form.typed.get("next")))


async def create_member(request: Request, form: SubmittedForm[SignUp]) -> accounts.Identity | None:
    """The new member; None if there is something wrong with the form, which is no try yet."""
    if form.value is None:
        return None
    context = context_of(request)
    context.count_try("sign up", request)
    wanted, name = form.value, form.typed["username"].strip()
    password = wanted.password.get_secret_value()
    try:
        return await context.cpu_pool.run(join(wanted.email, password, wanted.username, name=name))
    except (accounts.LoginTaken, shop.EmailTaken) as error:
        form.refuse(error, "email")
    except deals.UsernameTaken as error:
        form.refuse(error, "username")
    return None


async def render_sign_up(
    request: Request, form: SubmittedForm[SignUp], *, status: int = 200
) -> Response:
    return await context_of(request).form_page(
        request, "shopper/sign_up.html", form=form, status=status
    )
