"""Signing in and out.

A new session token is drawn at every sign-in, and the request's cookie is not reused: so a cookie
that was planted in a browser never becomes a session (session fixation). Only the token's hash is
stored.
"""

from __future__ import annotations

import secrets

from fastapi import Request, Response

from bigtime.site import move_to_session
from bigtime.systems import accounts, sessions
from bigtime.web.http import SESSION, VISIT, see_other
from bigtime.web.pages.app_context import AppContext, context_of

TOKEN_BYTES = 32


def count_log_in(context: AppContext, request: Request, email: str) -> str:
    """Counts a try to sign in by address and by login; returns the login as its account has it.

    Other spellings of a login share its tries.
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
    """Begins a session, ends the browser's former one, and redirects to the page `then`."""
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
    """Creates a session; returns its token and the session."""
    token = secrets.token_urlsafe(TOKEN_BYTES)
    version = identity.password_version
    steps = sessions.create_session(
        sessions.hash_token(token), identity.login, password_version=version
    )
    return token, await context.store.run(steps)


async def sign_out(context: AppContext, request: Request, *, then: str = "/") -> Response:
    """Ends the session of this browser, and redirects to the page `then`."""
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
    """Counts a one-time code by the client's address and by mailbox; raises TooManyTries."""
    context = context_of(request)
    context.count_try("one-time code", request)
    context.limits.take("one-time code to", email)
