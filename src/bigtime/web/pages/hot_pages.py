"""The front: the outermost thing that answers, and the shortest way to an answer.

A page that is in the cache is answered right here, from bytes: no routing, no framework. All else
goes on to the application. Either way the answer gets the site's headers and a request id, and is
counted.

HEAD is answered as GET is, everywhere, and without the body. What is counted as looked at is what
somebody sees, so HEAD is not.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from time import perf_counter
from typing import Any, Protocol, TypeAlias

from bigtime.site import Visitor, Visitors
from bigtime.web.http import SESSION, Cookies, Header
from bigtime.web.pages.page import Page
from bigtime.web.pages.tagged_cache import TaggedCache

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
Application: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

PRIVATE: Header = (b"cache-control", b"no-cache, private")
"""Of pages that everybody reads, with something personal in them."""
NO_STORE: Header = (b"cache-control", b"no-store")
"""Of pages that are one visitor's: nobody finds them again in a browser, once they have left."""
HOT = "hot"
HEAD = "bigtime.head"
SORRY = Page((b"Something went wrong here. Please try again.",), (), 500, b"text/plain")

log = logging.getLogger("bigtime.web")


class Filling(Protocol):
    """What fills the gaps of a page."""

    async def fill(self, page: Page, visitor: Visitor | None) -> bytes: ...


class Meter(Protocol):
    """Whoever counts answers."""

    def count(self, route: str, status: int, seconds: float) -> None: ...


class Views(Protocol):
    """Whoever wants to know what is looked at, and by whom; it must cost next to nothing."""

    def note(self, scope: Scope, visitor: Visitor | None) -> None: ...


class Front:
    """The ASGI callable that a server calls."""

    def __init__(
        self,
        application: Application,
        *,
        pages: TaggedCache[Page],
        visitors: Visitors,
        filling: Filling,
        cookies: Cookies,
        headers: Iterable[Header],
        meter: Meter,
        views: Views,
    ) -> None:
        self.application = application
        self.pages = pages
        self.visitors = visitors
        self.filling = filling
        self.cookies = cookies
        self.headers = list(headers)
        self.meter = meter
        self.views = views

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.application(scope, receive, send)
            return
        started = perf_counter()
        if scope["method"] == "HEAD":
            scope, send = {**scope, "method": "GET", HEAD: True}, without_body(send)
        if scope["method"] == "GET":
            page = self.pages.get(address_of(scope))
            body = None if page is None else await self.filled(page, scope)
            if page is not None and body is not None:
                headers = [*page_headers(page, body), request_id(), *self.headers]
                start = {"type": "http.response.start", "status": page.status, "headers": headers}
                await send(start)
                await send({"type": "http.response.body", "body": body})
                self.meter.count(HOT, page.status, perf_counter() - started)
                return
        await self.hand_on(scope, receive, send, started)

    async def filled(self, page: Page, scope: Scope) -> bytes | None:
        """A page of the cache for whoever asks; None where what is theirs cannot be read.

        The application then answers, or says that it cannot.
        """
        if not page.slots:
            return page.segments[0]
        cookie = self.cookies.read(SESSION, scope["headers"])
        try:
            visitor = await self.visitors.of(cookie)
            body = await self.filling.fill(page, visitor)
        except Exception:
            log.exception("the gaps of %s cannot be filled", scope["path"])
            return None
        if HEAD not in scope:
            self.views.note(scope, visitor)
        return body

    async def hand_on(self, scope: Scope, receive: Receive, send: Send, started: float) -> None:
        """Lets the application answer; an error nobody caught is a 500 that tells nothing."""
        identity = request_id()
        scope.setdefault("state", {})["request_id"] = identity[1].decode()
        status, is_begun, is_done = 500, False, False

        async def sending(message: Message) -> None:
            nonlocal status, is_begun, is_done
            if message["type"] == "http.response.start":
                is_begun, status = True, message["status"]
                message["headers"] = [*message["headers"], identity, *self.headers]
            else:
                is_done = not message.get("more_body")
            await send(message)

        try:
            await self.application(scope, receive, sending)
        except Exception:
            log.exception("request %s failed", scope["state"]["request_id"])
            if is_begun and not is_done:
                raise  # the server has to break the connection off
            if not is_begun:
                await send_page(SORRY, sending)
        finally:
            if status == 200 and scope["method"] == "GET" and HEAD not in scope:
                self.views.note(scope, scope["state"].get("visitor"))
            route = scope.get("route")
            name = getattr(route, "path", "unknown")
            self.meter.count(name, status, perf_counter() - started)


async def send_page(page: Page, send: Send) -> None:
    """A page without gaps."""
    body = page.segments[0]
    headers = page_headers(page, body)
    await send({"type": "http.response.start", "status": page.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def without_body(send: Send) -> Send:
    """Sends what an answer says of itself, also how long it would be."""

    async def sending(message: Message) -> None:
        if message["type"] != "http.response.body":
            await send(message)
        elif not message.get("more_body"):
            await send({"type": "http.response.body", "body": b""})

    return sending


def address_of(scope: Scope) -> str:
    """The path and the query of a request, as pages are kept under."""
    query: bytes = scope["query_string"]
    path: str = scope["path"]
    return f"{path}?{query.decode('latin-1')}" if query else path


def page_headers(page: Page, body: bytes, keeping: Header = PRIVATE) -> list[Header]:
    return [
        (b"content-type", page.content_type),
        (b"content-length", str(len(body)).encode()),
        keeping,
    ]


def request_id() -> Header:
    return b"x-request-id", secrets.token_hex(8).encode()
