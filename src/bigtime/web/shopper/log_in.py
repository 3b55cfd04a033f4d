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

from bigtime.systems.accounts.account import verify_password
from bigtime.systems.accounts.design import Identity
from bigtime.systems.accounts.errors import WrongCredentials
from bigtime.systems.sessions.session import delete_sessions
from bigtime.web.forms import Filled, empty, read_fields, read_form, waiting
from bigtime.web.limits import TooManyTries
from bigtime.web.local_path import local_path
from bigtime.web.signing_in import count_log_in, going_on, sign_in, sign_out
from bigtime.web.site import site_of

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


async def known(request: Request, form: Filled[LogIn]) -> Identity | None:
    """Who it is; None if there is something wrong with the form, which is no try yet."""
    if form.value is None:
        return None
    site = site_of(request)
    login = count_log_in(site, request, form.value.email)
    password = form.value.password.get_secret_value()
    try:
        return await site.apart.run(verify_password(login, password))
    except WrongCredentials as error:
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
    await site.store.run(delete_sessions(visitor.login))
    site.visitors.forget_all()
    return await sign_out(site, request)


async def asked(request: Request, form: Filled[LogIn], *, status: int = 200) -> Response:
    return await site_of(request).form_page(
        request, "shopper/log_in.html", form=form, status=status
    )
