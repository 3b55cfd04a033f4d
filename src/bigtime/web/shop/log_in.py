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
from bigtime.web.http import TooManyTries, local_path
from bigtime.web.pages import (
    Filled,
    count_log_in,
    empty,
    going_on,
    read_fields,
    read_form,
    sign_in,
    sign_out,
    site_of,
    waiting,
)

log_in = APIRouter(include_in_schema=False)


class LogIn(BaseModel):
    """The form of somebody who has an account."""

    email: str = Field(max_length=254)
    password: SecretStr


@log_in.get("/log-in")
async def show_log_in(request: Request, next: str | None = None) -> Response:
    site = site_of(request)
    if await site.visitor(request):
        return going_on(local_path(next))
    return await asked(request, empty(next=local_path(next)))


@log_in.post("/log-in")
async def begin(request: Request) -> Response:
    """Begins a session for whoever knows the password."""
    site = site_of(request)
    form = await read_form(request, site, LogIn)
    try:
        identity = await known(request, form)
    except TooManyTries as error:
        form.refuse(error)
        return waiting(await asked(request, form, status=429), error)
    if identity is None:
        return await asked(request, form, status=422)
    return await sign_in(site, request, identity, then=local_path(form.typed.get("next")))


async def known(request: Request, form: Filled[LogIn]) -> accounts.Identity | None:
    """Who it is; None if there is something wrong with the form, which is no try yet."""
    if form.value is None:
        return None
    site = site_of(request)
    login = count_log_in(site, request, form.value.email)
    password = form.value.password.get_secret_value()
    try:
        return await site.apart.run(accounts.verify_password(login, password))
    except accounts.WrongCredentials as error:
        form.refuse(error)
    return None


@log_in.post("/log-out")
async def end_here(request: Request) -> Response:
    """Ends this session."""
    site = site_of(request)
    await read_fields(request, site)
    return await sign_out(site, request)


@log_in.post("/log-out-everywhere")
async def end_everywhere(request: Request) -> Response:
    """Ends every session of whoever asks."""
    site = site_of(request)
    visitor = await site.signed_in(request)
    await read_fields(request, site)
    await site.store.run(sessions.delete_sessions(visitor.login))
    site.visitors.forget_all()
    return await sign_out(site, request)


async def asked(request: Request, form: Filled[LogIn], *, status: int = 200) -> Response:
    return await site_of(request).form_page(
        request, "shopper/log_in.html", form=form, status=status
    )
