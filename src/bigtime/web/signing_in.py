"""Signing in and out: a session begins with a token nobody knew before, and ends for good.

The token is drawn here, at every sign-in, whatever cookie came along: whoever plants a cookie in
somebody's browser does not know the one that they sign in to. Only its hash is stored.
"""

from __future__ import annotations

import secrets
from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from bigtime.systems.sessions.design import hash_token
from bigtime.systems.sessions.session import create_session, delete_session
from bigtime.web.cookies import SESSION, VISIT
from bigtime.web.site import Site

TOKEN_BYTES = 32


async def sign_in(site: Site, request: Request, login: str, *, then: str) -> Response:
    """Begins a session, ends the one that this browser had, and goes on to a page."""
    token = secrets.token_urlsafe(TOKEN_BYTES)
    await site.store.run(create_session(hash_token(token), login))
    await end_session(site, request)
    response = going_on(then)
    response.raw_headers.append(site.cookies.setting(SESSION, token))
    response.raw_headers.append(site.cookies.clearing(VISIT))
    return response


async def sign_out(site: Site, request: Request, *, then: str = "/") -> Response:
    """Ends the session of this browser, and goes on to a page."""
    await end_session(site, request)
    response = going_on(then)
    response.raw_headers.append(site.cookies.clearing(SESSION))
    return response


async def end_session(site: Site, request: Request) -> None:
    cookie = site.cookies.read(SESSION, request.scope["headers"])
    if cookie is not None:
        await site.store.run(delete_session(hash_token(cookie)))
        site.visitors.forget(cookie)


def going_on(then: str) -> Response:
    """To the page after a form that went well."""
    return RedirectResponse(then, status_code=HTTPStatus.SEE_OTHER)
