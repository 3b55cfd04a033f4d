"""Who calls an API: by a session token in the header, or by the cookie of a browser.

A browser sends its cookie along with whatever a page anywhere makes it send. So a request that
changes something and is let in by the cookie alone also brings the session's form token, which
only a page of ours can have read. A token in the header is sent by nobody but its bearer.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, TypeAlias

from fastapi import Depends, Header, Security
from fastapi.security import APIKeyCookie, HTTPBearer
from starlette.requests import Request

from bigtime.model import NotSignedIn
from bigtime.site import Visitor
from bigtime.systems import accounts
from bigtime.web.http import SESSION, NotAllowed
from bigtime.web.pages import Site, site_of

READING: Final = ("GET", "HEAD", "OPTIONS")
BEARER: Final = HTTPBearer(
    auto_error=False, scheme_name="bearer", description="The token of a session."
)
COOKIE: Final = APIKeyCookie(
    name=SESSION,
    auto_error=False,
    scheme_name="cookie",
    description="The session of a browser; over TLS it is called `__Host-session`. Requests that"
    " change something also need the header `X-Form-Token`.",
)


FOR_EVERYBODY: Final[dict[str, Any]] = {"security": [{}]}
"""For `openapi_extra` of a route that needs nobody to be signed in."""


class NoFormToken(NotAllowed):
    """With a cookie, send the session's form token in X-Form-Token; or use a bearer token."""


FormToken: TypeAlias = Annotated[
    str | None,
    Header(
        alias="X-Form-Token",
        description="The form token of the session, where a cookie lets in what changes something.",
    ),
]


async def whoever(
    request: Request,
    _bearer: Annotated[Any, Security(BEARER)],
    _cookie: Annotated[Any, Security(COOKIE)],
    form_token: FormToken = None,
) -> Visitor | None:
    """Who calls; None if nobody is signed in."""
    site = site_of(request)
    given = request.headers.get("authorization")
    if given is not None:
        return await bearer_of(site, given)
    visitor = await site.visitor(request)
    if visitor is None or request.method in READING:
        return visitor
    if not site.form_tokens.fits(visitor.cookie, form_token):
        raise NoFormToken()
    return visitor


async def bearer_of(site: Site, given: str) -> Visitor:
    """Whose a token is. A wrong one is an error, whatever cookie there may be."""
    scheme, _, token = given.partition(" ")
    token = token.strip()
    known = scheme.lower() == "bearer" and token.isascii()
    visitor = await site.visitors.of(token) if known else None
    if visitor is None:
        raise NotSignedIn()
    return visitor


Whoever: TypeAlias = Annotated[Visitor | None, Depends(whoever)]
"""Who calls a route that is open to everybody."""


async def perhaps(
    request: Request,
    _bearer: Annotated[Any, Security(BEARER)],
    _cookie: Annotated[Any, Security(COOKIE)],
    form_token: FormToken = None,
) -> Visitor | None:
    """Who calls something that is open to everybody; a cookie alone counts for nothing."""
    try:
        return await whoever(request, _bearer, _cookie, form_token)
    except NoFormToken:
        return None


Perhaps: TypeAlias = Annotated[Visitor | None, Depends(perhaps)]


async def signed_in(caller: Whoever) -> Visitor:
    if caller is None:
        raise NotSignedIn()
    return caller


SignedIn: TypeAlias = Annotated[Visitor, Depends(signed_in)]


def is_admin(caller: Visitor | None) -> bool:
    return caller is not None and caller.has(accounts.Role.ADMIN)


def check_admin(caller: Visitor | None) -> Visitor:
    """Who calls, if it is an admin."""
    if caller is None:
        raise NotSignedIn()
    if not is_admin(caller):
        raise NotAllowed()
    return caller


async def admin(caller: SignedIn) -> Visitor:
    return check_admin(caller)


Admin: TypeAlias = Annotated[Visitor, Depends(admin)]
