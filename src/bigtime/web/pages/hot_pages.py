"""Hot pages: the outermost ASGI callable answers a cached page from bytes, without the framework.

All else goes on to the application. Either way the answer gets the site's headers and a request id,
and is counted.

HEAD is answered as GET is, everywhere, and without the body. What is counted as looked at is what
somebody sees, so HEAD is not.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Iterable
from time import perf_counter
from typing import Any, Protocol

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bigtime.site import Visitor, Visitors
from bigtime.web.http import SESSION, Cookies, Header
from bigtime.web.pages.page import Page
from bigtime.web.pages.tagged_cache import TaggedCache

PRIVATE: Header = (b"cache-control", b"no-cache, private")
"""Of pages that everybody reads, with something personal in them."""
NO_STORE: Header = (b"cache-control", b"no-store")
"""Of pages that are one visitor's: nobody finds them again in a browser, once they have left."""
HOT = "hot"
HEAD = "bigtime.head"
SORRY = Page((b"Something went wrong here. Please try again.",), (), 500, b"text/plain")

log = logging.getLogger("bigtime.web")


class Slot(Protocol):
    """Fills the slots of a page."""

    async def fill(self, page: Page, visitor: Visitor | None) -> bytes: ...


class AnswerMeter(Protocol):
    """Counts answers."""

    def count(self, route: str, status: int, seconds: float) -> None: ...


class Views(Protocol):
    """Counts what is looked at, and by whom; it must cost next to nothing."""

    def note(self, scope: Scope, visitor: Visitor | None) -> None: ...


class HotPages:
    """The ASGI callable that a server calls."""

    def __init__(
        self,
        application: ASGIApp,
        *,
        cache: TaggedCache[Any],
        visitors: Visitors,
        slots: Slot,
        cookies: Cookies,
        headers: Iterable[Header],
        meter: AnswerMeter,
        views: Views,
    ) -> None:
        self.application = application
        self.cache = cache
        self.visitors = visitors
        self.slots = slots
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
            page: Page | None = self.cache.get(address_of(scope))
            body = None if page is None else await self.body_of(page, scope)
            if page is not None and body is not None:
                headers = [*page_headers(page, body), request_id(), *self.headers]
                start = {"type": "http.response.start", "status": page.status, "headers": headers}
                await send(start)
                await send({"type": "http.response.body", "body": body})
                self.meter.count(HOT, page.status, perf_counter() - started)
                return
        await self.run_application(scope, receive, send, started)

    async def body_of(self, page: Page, scope: Scope) -> bytes | None:
        """A page of the cache for one visitor; None where what is theirs cannot be read.

        The application then answers, or says that it cannot.
        """
        if not page.slots:
            return page.segments[0]
        cookie = self.cookies.read(SESSION, scope["headers"])
        try:
            visitor = await self.visitors.of(cookie)
            body = await self.slots.fill(page, visitor)
        except Exception:
            log.exception("the slots of %s cannot be filled", scope["path"])
            return None
        if HEAD not in scope:
            self.views.note(scope, visitor)
        return body

    async def run_application(
        self, scope: Scope, receive: Receive, send: Send, started: float
    ) -> None:
        """Lets the application answer; an error nobody caught is a 500 that tells nothing."""
        identity = request_id()
        scope.setdefault("state", {})["request_id"] = identity[1].decode()
        status, is_begun, is_done = 500, False, False

        async def send_with_headers(message: Message) -> None:
            nonlocal status, is_begun, is_done
            if message["type"] == "http.response.start":
                is_begun, status = True, message["status"]
                message["headers"] = [*message["headers"], identity, *self.headers]
            else:
                is_done = not message.get("more_body")
            await send(message)

        try:
            await self.application(scope, receive, send_with_headers)
        except Exception:
            log.exception("request %s failed", scope["state"]["request_id"])
            if is_begun and not is_done:
                raise  # the server has to break the connection off
            if not is_begun:
                await send_page(SORRY, send_with_headers)
        finally:
            if status == 200 and scope["method"] == "GET" and HEAD not in scope:
                self.views.note(scope, scope["state"].get("visitor"))
            route = scope.get("route")
            name = getattr(route, "path", "unknown")
            self.meter.count(name, status, perf_counter() - started)


async def send_page(page: Page, send: Send) -> None:
    """A page without slots."""
    body = page.segments[0]
    headers = page_headers(page, body)
    await send({"type": "http.response.start", "status": page.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def without_body(send: Send) -> Send:
    """Sends what an answer says of itself, also how long it would be."""

    async def send_head(message: Message) -> None:
        if message["type"] != "http.response.body":
            await send(message)
        elif not message.get("more_body"):
            await send({"type": "http.response.body", "body": b""})

    return send_head


def address_of(scope: Scope) -> str:
    """The path and the query of a request: what its page is cached under."""
    query: bytes = scope["query_string"]
    path: str = scope["path"]
    return f"{path}?{query.decode('latin-1')}" if query else path


def page_headers(page: Page, body: bytes, cache_control: Header = PRIVATE) -> list[Header]:
    return [
        (b"content-type", page.content_type),
        (b"content-length", str(len(body)).encode()),
        cache_control,
    ]


def request_id() -> Header:
    return b"x-request-id", secrets.token_hex(8).encode()
