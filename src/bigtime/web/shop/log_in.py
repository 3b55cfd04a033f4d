"""Logging in and out.

Whoever guesses is told nothing: a login that nobody has is answered in the same words, after the
same work, as a wrong password. Tries are counted by address and by login, so that neither many
logins from one address nor one login from many get far.
"""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import BaseModel, Field, SecretStr
from starlette.requests import Request
from starlette.responses import Response

from bigtime.systems import accounts, sessions
from bigtime.web.http import TooManyTries, local_path, see_other
from bigtime.web.pages import (
    SubmittedForm,
    context_of,
    count_log_in,
    empty_form,
    read_fields,
    read_form,
    sign_in,
    sign_out,
    with_retry_after,
)

log_in = APIRouter(include_in_schema=False)


class LogIn(BaseModel):
    """The form of somebody who has an account."""

    email: str = Field(max_length=254)
    password: SecretStr


@log_in.get("/log-in")
async def show_log_in(request: Request, next: str | None = None) -> Response:
    context = context_of(request)
    if await context.visitor(request):
        return see_other(local_path(next))
    return await render_log_in(request, empty_form(next=local_path(next)))


@log_in.post("/log-in")
async def begin(request: Request) -> Response:
    """Begins a session for whoever knows the password."""
    context = context_of(request)
    form = await read_form(request, context, LogIn)
    try:
        identity = await verify_credentials(request, form)
    except TooManyTries as error:
        form.refuse(error)
        return with_retry_after(await render_log_in(request, form, status=429), error)
    if identity is None:
        return await render_log_in(request, form, status=422)
    return await sign_in(context, request, identity, then=local_path(form.typed.get("next")))


async def verify_credentials(
    request: Request, form: SubmittedForm[LogIn]
) -> accounts.Identity | None:
    """Who it is; None if there is something wrong with the form, which is no try yet."""
    if form.value is None:
        return None
    context = context_of(request)
    login = count_log_in(context, request, form.value.email)
    password = form.value.password.get_secret_value()
    try:
        return await context.cpu_pool.run(accounts.verify_password(login, password))
    except accounts.WrongCredentials as error:
        form.refuse(error)
    return None


@log_in.post("/log-out")
async def end_here(request: Request) -> Response:
    """Ends this session."""
    context = context_of(request)
    await read_fields(request, context)
    return await sign_out(context, request)


@log_in.post("/log-out-everywhere")
async def end_everywhere(request: Request) -> Response:
    """Ends every session of whoever asks."""
    context = context_of(request)
    visitor = await context.signed_in(request)
    await read_fields(request, context)
    await context.store.run(sessions.delete_sessions(visitor.login))
    context.visitors.forget_all()
    return await sign_out(context, request)


async def render_log_in(
    request: Request, form: SubmittedForm[LogIn], *, status: int = 200
) -> Response:
    return await context_of(request).form_page(
        request, "shopper/log_in.html", form=form, status=status
    )
