"""Dependencies of the routes: the caller and what they may do, rate limits, pages of lists.

A caller is identified by a session's token or an API token in the header, or by a browser's cookie.
An API token is for some areas of the APIs, and only reads unless it was created to write; it never
manages sessions. Each token has its own rate limit.

A browser sends its cookie with every request, including those that another site's page makes. So a
request that changes something and is authenticated by the cookie alone must also have the session's
form token, which only a page of this site can have read. A token in the header needs none, as no
browser adds it by itself.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Any, Final, TypeAlias, TypedDict

from fastapi import Depends, Header, Query, Security
from fastapi.security import APIKeyCookie, HTTPBearer

from bigtime.model import NotSignedIn, Page, Position
from bigtime.site import ApiArea, TokenScope, Visitor
from bigtime.systems import accounts
from bigtime.web.api.bodies import Items, S, T
from bigtime.web.api.routing import error_responses
from bigtime.web.http import SESSION, NotAllowed
from bigtime.web.pages import AppRequest
from bigtime.wire import Steps

READING: Final = ("GET", "HEAD", "OPTIONS")
BEARER: Final = HTTPBearer(
    auto_error=False,
    scheme_name="bearer",
    description="An API token from your account's page, or the token that `POST /api/v1/sessions`"
    " returns.",
)
COOKIE: Final = APIKeyCookie(
    name=SESSION,
    auto_error=False,
    scheme_name="cookie",
    description="The session of a browser; over TLS it is called `__Host-session`. Requests that"
    " change something also need the header `X-Form-Token`.",
)


OPEN: Final[dict[str, Any]] = {"security": [{}]}
"""The `openapi_extra` of a route that may be called without a session."""


AREAS: Final[dict[str, ApiArea]] = {
    "deals": ApiArea.DEALS,
    "catalog": ApiArea.DEALS,
    "cart": ApiArea.SHOP,
    "shop": ApiArea.SHOP,
    "tenants": ApiArea.PORTAL,
    "products": ApiArea.PORTAL,
    "campaigns": ApiArea.PORTAL,
    "checkout": ApiArea.PORTAL,
}
"""The area of the routes with each tag. Others, such as sessions, accept no API token."""


class OutOfScope(NotAllowed):
    """This API token is not for this; make one with the scope that it takes."""


class NoFormToken(NotAllowed):
    """With a cookie, send the session's form token in X-Form-Token; or use a bearer token."""


FormToken: TypeAlias = Annotated[
    str | None,
    Header(
        alias="X-Form-Token",
        description="The form token of the session, where a cookie lets in what changes something.",
    ),
]


async def find_caller(
    request: AppRequest,
    _bearer: Annotated[object, Security(BEARER)],
    _cookie: Annotated[object, Security(COOKIE)],
    form_token: FormToken = None,
) -> Visitor | None:
    """The caller, looked up once per request; counts one that changes something as a write."""
    given = request.headers.get("authorization")
    visitor = await (request.visitor() if given is None else find_bearer(request, given))
    if visitor is None or request.method in READING:
        return visitor
    if given is None and not request.context.form_tokens.fits(visitor.cookie, form_token):
        raise NoFormToken()
    request.count_write(visitor.login)
    return visitor


async def find_bearer(request: AppRequest, given: str) -> Visitor:
    """The user of a bearer token. A wrong token is an error, even with a valid cookie."""
    scheme, _, token = given.partition(" ")
    token = token.strip()
    known = scheme.lower() == "bearer" and token.isascii()
    visitor = await request.context.visitors.of_bearer(token) if known else None
    if visitor is None:
        raise NotSignedIn()
    if visitor.scope is not None:
        request.context.limits.take("API token", visitor.session)
        check_scope(request, visitor.scope)
    return visitor


def check_scope(request: AppRequest, scope: TokenScope) -> None:
    """Raises OutOfScope unless an API token may be used for the route of the request."""
    area = AREAS.get(request.scope["route"].tags[0])
    if not scope.allows(area, writes=request.method not in READING):
        raise OutOfScope()


AnyCaller: TypeAlias = Annotated[Visitor | None, Depends(find_caller)]
"""The caller of a public route; None without a session."""


async def find_checkout_caller(
    request: AppRequest,
    _bearer: Annotated[object, Security(BEARER)],
    _cookie: Annotated[object, Security(COOKIE)],
    form_token: FormToken = None,
) -> Visitor | None:
    """The caller of a route that also works without a session; a cookie alone is ignored."""
    try:
        return await find_caller(request, _bearer, _cookie, form_token)
    except NoFormToken:
        return None


CheckoutCaller: TypeAlias = Annotated[Visitor | None, Depends(find_checkout_caller)]


async def require_caller(caller: AnyCaller) -> Visitor:
    if caller is None:
        raise NotSignedIn()
    return caller


SignedIn: TypeAlias = Annotated[Visitor, Depends(require_caller)]


def caller_with(*roles: accounts.Role) -> Callable[..., Awaitable[Visitor]]:
    async def require_role(caller: SignedIn) -> Visitor:
        if caller.roles.isdisjoint(roles):
            raise NotAllowed()
        return caller

    return require_role


Editor: TypeAlias = Annotated[Visitor, Depends(caller_with(accounts.Role.EDITOR))]
Admin: TypeAlias = Annotated[Visitor, Depends(caller_with(accounts.Role.ADMIN))]
EITHER: Final = caller_with(accounts.Role.EDITOR, accounts.Role.ADMIN)
Staff: TypeAlias = Annotated[Visitor, Depends(EITHER)]
"""An editor or an admin."""


def is_admin(caller: Visitor | None) -> bool:
    return caller is not None and caller.has(accounts.Role.ADMIN)


async def check_admin(caller: Visitor | None) -> None:
    """Raises an error unless the caller is an admin, for a route that sometimes requires it."""
    if not is_admin(await require_caller(caller)):
        raise NotAllowed()


async def count_like(request: AppRequest, caller: SignedIn) -> None:
    """Counts a like or a watch of the caller; raises TooManyTries above the limit."""
    request.context.limits.take("like", caller.username)


async def count_order(request: AppRequest, caller: SignedIn) -> None:
    """Counts an order of the caller; raises TooManyTries above the limit."""
    await request.count_order(caller.login)


LIKE_LIMITED: Final[dict[str, Any]] = {
    "dependencies": [Depends(count_like)],
    "responses": error_responses(400, 401, 403, 404, 409, 429),
}
"""Arguments of a route that likes or watches something."""


# Lists, page by page

PageSize: TypeAlias = Annotated[
    int, Query(alias="pageSize", ge=1, le=100, description="How many items a page has at most.")
]
StartAt: TypeAlias = Annotated[
    str | None,
    Query(
        alias="startAt",
        max_length=4_000,
        description="Where the page begins: `startAt` of the page before it.",
    ),
]


class PageQuery(TypedDict):
    """The arguments of a pattern that lists."""

    limit: int
    after: Position | None


@dataclass(frozen=True, slots=True)
class Paging:
    """The requested page of a list."""

    limit: int
    after: Position | None
    request: AppRequest

    @property
    def query(self) -> PageQuery:
        return {"limit": self.limit, "after": self.after}

    async def run(self, steps: Steps[Page[T]]) -> Items[T]:
        """Runs a pattern that returns a list."""
        return self.items(await self.request.run(steps))

    async def run_and_show(self, steps: Steps[Page[T]], show: Callable[[T], S]) -> Items[S]:
        page = await self.request.run(steps)
        return self.items(Page([show(item) for item in page], page.position))

    def items(self, page: Page[T]) -> Items[T]:
        return Items([*page], self.request.write_cursor(page.position))


def paging_by(usual: int) -> Callable[..., Awaitable[Paging]]:
    async def read_paging(
        request: AppRequest, page_size: PageSize = usual, start_at: StartAt = None
    ) -> Paging:
        return Paging(page_size, request.read_cursor(start_at), request)

    return read_paging


PagesOf10: TypeAlias = Annotated[Paging, Depends(paging_by(10))]
PagesOf25: TypeAlias = Annotated[Paging, Depends(paging_by(25))]
PagesOf50: TypeAlias = Annotated[Paging, Depends(paging_by(50))]


async def read_start(request: AppRequest, start_at: StartAt = None) -> Paging:
    return Paging(0, request.read_cursor(start_at), request)


FixedPages: TypeAlias = Annotated[Paging, Depends(read_start)]
"""For lists whose page size the system sets."""
