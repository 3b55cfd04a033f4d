"""The page of whoever is signed in: who they are, where, and their password."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from pydantic import AfterValidator, BaseModel, SecretStr
from starlette.requests import Request
from starlette.responses import Response

from bigtime.model import together
from bigtime.site import Visitor
from bigtime.systems import accounts, deals
from bigtime.systems.accounts import a_new_password
from bigtime.systems.sessions import delete_sessions, view_sessions
from bigtime.web.http import TooManyTries
from bigtime.web.pages import (
    AppContext,
    SubmittedForm,
    context_of,
    empty_form,
    read_form,
    sign_in,
    with_retry_after,
)

me = APIRouter(include_in_schema=False)


class NewPassword(BaseModel):
    """The form that changes a password."""

    password: SecretStr
    new_password: Annotated[SecretStr, AfterValidator(a_new_password)]


class WrongPassword(accounts.WrongCredentials):
    """This is not your password; try again."""


@me.get("/me")
async def show_me(request: Request, changed: bool = False) -> Response:
    visitor = await context_of(request).signed_in(request)
    return await render_page(request, visitor, empty_form(), changed=changed)


@me.post("/me/password")
async def change(request: Request) -> Response:
    """Changes the password, which ends every session: somebody may have known the old one.

    Whoever changed it goes on in a new one.
    """
    context = context_of(request)
    visitor = await context.signed_in(request)
    form = await read_form(request, context, NewPassword)
    try:
        identity = await changed_by(context, visitor, form)
    except TooManyTries as error:
        form.refuse(error, "password")
        return with_retry_after(await render_page(request, visitor, form, status=429), error)
    if identity is None:
        return await render_page(request, visitor, form, status=422)
    context.visitors.forget_all()
    await context.store.run(delete_sessions(visitor.login))
    return await sign_in(context, request, identity, then="/me?changed=true")


async def changed_by(
    context: AppContext, visitor: Visitor, form: SubmittedForm[NewPassword]
) -> accounts.Identity | None:
    """Who has a new password now; None if there is something wrong with the form."""
    if form.value is None:
        return None
    context.limits.take("log in as", visitor.login)
    old, new = form.value.password.get_secret_value(), form.value.new_password.get_secret_value()
    try:
        return await context.cpu_pool.run(accounts.change_password(visitor.login, old, new))
    except accounts.WrongCredentials:
        form.refuse(WrongPassword(), "password")
    return None


async def render_page(
    request: Request,
    visitor: Visitor,
    form: SubmittedForm[NewPassword],
    *,
    status: int = 200,
    changed: bool = False,
) -> Response:
    context = context_of(request)
    sessions, unread = await context.store.run(
        together(view_sessions(visitor.login), deals.count_unread_messages(visitor.username))
    )
    return await context.form_page(
        request,
        "shopper/me.html",
        status=status,
        visitor=visitor,
        sessions=[session for session in sessions if session.began_with(visitor.password_version)],
        unread=unread,
        form=form,
        changed=changed,
    )
