"""Hot pages: the outermost ASGI callable answers a cached page from bytes, without the framework.

All other requests go to the application. Either way the response gets the site's headers and a
request id, and is counted. HEAD is answered like GET, without the body, and is not a view of a
deal.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from time import perf_counter
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bigtime.site import Visitors
from bigtime.web.http import SESSION, Cookies, Header, Meters
from bigtime.web.pages.guest_carts import GuestCarts
from bigtime.web.pages.page import Page, SlotRenderer
from bigtime.web.pages.page_cache import TaggedCache
from bigtime.web.pages.view_counter import Engagement

PRIVATE: Header = (b"cache-control", b"no-cache, private")
"""For public pages with personal slots."""
NO_STORE: Header = (b"cache-control", b"no-store")
"""For one visitor's pages: they cannot be shown again after signing out."""
HOT = "hot"
HEAD = "bigtime.head"
SORRY = Page((b"Something went wrong here. Please try again.",), (), 500, b"text/plain")

log = logging.getLogger("bigtime.web")


@dataclass(slots=True, eq=False, repr=False)
class HotPages:
    """The ASGI callable that a server calls."""

    application: ASGIApp
    _: KW_ONLY
    cache: TaggedCache[Any]
    visitors: Visitors
    slots: SlotRenderer
    cookies: Cookies
    guest_carts: GuestCarts
    headers: Sequence[Header]
    meter: Meters
    views: Engagement

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
                await send_response(send, page.status, headers, body)
                self.meter.count(HOT, page.status, perf_counter() - started)
                return
        await self.run_application(scope, receive, send, started)

    async def body_of(self, page: Page, scope: Scope) -> bytes | None:
        """A cached page for one visitor; None if its slots cannot be filled.

        The application then handles the request, perhaps with an error.
        """
        if not page.slots:
            return page.segments[0]
        cookie = self.cookies.read(SESSION, scope["headers"])
        try:
            visitor = await self.visitors.of(cookie)
            in_cart = 0 if visitor else self.guest_carts.count(scope["headers"])
            body = await self.slots.fill(page, visitor, in_cart)
        except Exception:
            log.exception("the slots of %s cannot be filled", scope["path"])
            return None
        if HEAD not in scope:
            self.views.note(scope, visitor)
        return body

    async def run_application(
        self, scope: Scope, receive: Receive, send: Send, started: float
    ) -> None:
        """Lets the application handle the request; an uncaught error is a 500 without details."""
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
                raise  # the server has to close the connection
            if not is_begun:
                headers = page_headers(SORRY, SORRY.segments[0])
                await send_response(send_with_headers, 500, headers, SORRY.segments[0])
        finally:
            if status == 200 and scope["method"] == "GET" and HEAD not in scope:
                self.views.note(scope, scope["state"].get("visitor"))
            route = scope.get("route")
            name = getattr(route, "path", "unknown")
            self.meter.count(name, status, perf_counter() - started)


async def send_response(send: Send, status: int, headers: list[Header], body: bytes) -> None:
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def without_body(send: Send) -> Send:
    """Sends the headers of a response, with the length of the body that is left out."""

    async def send_head(message: Message) -> None:
        if message["type"] != "http.response.body":
            await send(message)
        elif not message.get("more_body"):
            await send({"type": "http.response.body", "body": b""})

    return send_head


def address_of(scope: Scope) -> str:
    """The path and the query of a request: the key of its page in the cache."""
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
