"""Signing in and out: a session begins with a token nobody knew before, and ends for good.

The token is drawn here, at every sign-in, whatever cookie came along: whoever plants a cookie in
somebody's browser does not know the one that they sign in to. Only its hash is stored.
"""

from __future__ import annotations

import secrets

from starlette.requests import Request
from starlette.responses import Response

from bigtime.site import move_to_session
from bigtime.systems import accounts, sessions
from bigtime.web.http import SESSION, VISIT, see_other
from bigtime.web.pages.app_context import AppContext, context_of

TOKEN_BYTES = 32


def count_log_in(context: AppContext, request: Request, email: str) -> str:
    """Counts a try to log in by address and by login; gives the login, as its account has it.

    One that is spelled otherwise is the same one, and has no tries of its own.
    """
    context.count_try("log in", request)
    try:
        login = accounts.LOGIN(email)
    except accounts.InvalidLogin:
        login = ""
    context.limits.take("log in as", login)
    return login


async def sign_in(
    context: AppContext, request: Request, identity: accounts.Identity, *, then: str
) -> Response:
    """Begins a session, ends the one that this browser had, and goes on to a page."""
    token, _ = await begin_session(context, identity)
    visit = context.cookies.read(VISIT, request.scope["headers"])
    if visit is not None:
        await context.store.run(move_to_session(visit, token, identity.login))
    await end_session(context, request)
    response = see_other(then)
    response.raw_headers.append(context.cookies.setting(SESSION, token))
    response.raw_headers.append(context.cookies.clearing(VISIT))
    return response


async def begin_session(
    context: AppContext, identity: accounts.Identity
) -> tuple[str, sessions.Session]:
    """A session of whoever has just shown who they are, and its token."""
    token = secrets.token_urlsafe(TOKEN_BYTES)
    version = identity.password_version
    steps = sessions.create_session(
        sessions.hash_token(token), identity.login, password_version=version
    )
    return token, await context.store.run(steps)


async def sign_out(context: AppContext, request: Request, *, then: str = "/") -> Response:
    """Ends the session of this browser, and goes on to a page."""
    await end_session(context, request)
    response = see_other(then)
    response.raw_headers.append(context.cookies.clearing(SESSION))
    return response


async def end_session(context: AppContext, request: Request) -> None:
    cookie = context.cookies.read(SESSION, request.scope["headers"])
    if cookie is not None:
        await context.store.run(sessions.delete_session(sessions.hash_token(cookie)))
        context.visitors.forget(cookie)


def count_code(request: Request, email: str) -> None:
    """Refuses too many codes: asked for from one address, or sent to one mailbox."""
    context = context_of(request)
    context.count_try("one-time code", request)
    context.limits.take("one-time code to", email)
