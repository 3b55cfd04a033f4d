"""Signing in and out: a session begins with a token nobody knew before, and ends for good.

The token is drawn here, at every sign-in, whatever cookie came along: whoever plants a cookie in
somebody's browser does not know the one that they sign in to. Only its hash is stored.
"""

from __future__ import annotations

import secrets
from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from bigtime.site import move_to_session
from bigtime.systems import accounts, sessions
from bigtime.web.http import SESSION, VISIT
from bigtime.web.pages.site import Site, site_of

TOKEN_BYTES = 32


def count_log_in(site: Site, request: Request, email: str) -> str:
    """Counts a try to log in by address and by login; gives the login, as its account has it.

    One that is spelled otherwise is the same one, and has no tries of its own.
    """
    site.count_try("log in", request)
    try:
        login = accounts.LOGIN(email)
    except accounts.InvalidLogin:
        login = ""
    site.limits.take("log in as", login)
    return login


async def sign_in(
    site: Site, request: Request, identity: accounts.Identity, *, then: str
) -> Response:
    """Begins a session, ends the one that this browser had, and goes on to a page."""
    token, _ = await begin_session(site, identity)
    visit = site.cookies.read(VISIT, request.scope["headers"])
    if visit is not None:
        await site.store.run(move_to_session(visit, token, identity.login))
    await end_session(site, request)
    response = going_on(then)
    response.raw_headers.append(site.cookies.setting(SESSION, token))
    response.raw_headers.append(site.cookies.clearing(VISIT))
    return response


async def begin_session(site: Site, identity: accounts.Identity) -> tuple[str, sessions.Session]:
    """A session of whoever has just shown who they are, and its token."""
    token = secrets.token_urlsafe(TOKEN_BYTES)
    version = identity.password_version
    steps = sessions.create_session(
        sessions.hash_token(token), identity.login, password_version=version
    )
    return token, await site.store.run(steps)


async def sign_out(site: Site, request: Request, *, then: str = "/") -> Response:
    """Ends the session of this browser, and goes on to a page."""
    await end_session(site, request)
    response = going_on(then)
    response.raw_headers.append(site.cookies.clearing(SESSION))
    return response


async def end_session(site: Site, request: Request) -> None:
    cookie = site.cookies.read(SESSION, request.scope["headers"])
    if cookie is not None:
        await site.store.run(sessions.delete_session(sessions.hash_token(cookie)))
        site.visitors.forget(cookie)


def going_on(then: str) -> Response:
    """To the page after a form that went well."""
    return RedirectResponse(then, status_code=HTTPStatus.SEE_OTHER)


def count_code(request: Request, email: str) -> None:
    """Refuses too many codes: asked for from one address, or sent to one mailbox."""
    site = site_of(request)
    site.count_try("one-time code", request)
    site.limits.take("one-time code to", email)
