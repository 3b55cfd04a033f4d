"""HTTP with limits: uvicorn's httptools protocol, which has none of its own.

Otherwise a client could send endless headers, or a byte now and then on as many connections as the
process may open, and lock everybody else out. So

1. headers and body have a maximum size, above which the response is 431 or 413;
2. a request, also the next one on a connection, has to arrive within some seconds, and a response
   to be read; one tick a second checks all connections, so that no request pays for a timer;
3. connections are counted, in total and by address. One too many gets 503.
"""

from __future__ import annotations

import asyncio
import resource
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from math import inf
from typing import Any, Final, cast

from uvicorn.protocols.http.httptools_impl import (
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)

SPARE_FILES: Final = 64
"""File descriptors for the store, the static files and the log."""
WANTED_FILES: Final = 4_096
SECONDS_TO_LINGER: Final = 5.0
UPLOADS: Final = ("/editor/deals", "/editor/brands")


@dataclass(slots=True)
class Bounds:
    """The limits, and the current connections."""

    head_bytes: int = 64 * 1024
    body_bytes: int = 2 * 1024 * 1024
    upload_bytes: int = 16 * 1024 * 1024
    """For a form with a picture. If the sender is not signed in, only the fields before the file
    are read, so that what was typed is kept until they sign in."""
    seconds_to_send: float = 20.0
    seconds_to_upload: float = 60.0
    seconds_to_take: float = 30.0
    connections: int = 1_000
    connections_per_address: int = 100
    open: Counter[str] = field(default_factory=Counter)
    """The connections of each address."""

    def take(self, address: str) -> bool:
        """Counts a connection; returns whether its address may have that many."""
        self.open[address] += 1
        return self.open[address] <= self.connections_per_address

    def give_back(self, address: str) -> None:
        self.open[address] -= 1
        if not self.open[address]:
            del self.open[address]


def bounds_here(*, behind_proxy: bool) -> Bounds:
    """As many connections as the process may open files; a proxy has them all from one address."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):
        wanted = WANTED_FILES if hard == resource.RLIM_INFINITY else min(WANTED_FILES, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
        soft = max(soft, wanted)
    most = min(1_000, max(soft - SPARE_FILES, 1))
    return Bounds(connections=most, connections_per_address=most if behind_proxy else most // 4 + 1)


class BoundedProtocol(HttpToolsProtocol):
    """One connection."""

    def __init__(self, bounds: Bounds, **settings: Any) -> None:
        super().__init__(**settings)
        self.bounds = bounds
        self.ws_protocol_class = None  # it would take over the connection, without limits
        self.address = ""
        self.is_refused = self.in_head = False
        self.head_size = self.body_size = 0
        self.arrive_by = self.take_by = inf

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(cast(asyncio.Transport, transport))
        self.address = self.client[0] if self.client else ""
        self.expect_by(self.bounds.seconds_to_send)
        is_within = self.bounds.take(self.address)
        if not is_within or len(self.connections) > self.bounds.connections:
            self.refuse(503, "Too many connections.")

    def connection_lost(self, exc: Exception | None) -> None:
        self.bounds.give_back(self.address)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.is_refused:
            return
        super().data_received(data)
        if self.in_head:
            self.head_size += len(data)
            if self.head_size > self.bounds.head_bytes:
                self.refuse(431, "The request line and headers are too large.")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.in_head = True
        self.head_size = self.body_size = 0
        self.expect_by(self.bounds.seconds_to_send)

    def on_headers_complete(self) -> None:
        self.in_head = False
        super().on_headers_complete()
        if self.is_upload:
            self.expect_by(self.bounds.seconds_to_upload)

    @property
    def is_upload(self) -> bool:
        """Whether the request is an editors' form that may have a picture."""
        path: str = self.scope["path"]
        return self.scope["method"] == "POST" and path.startswith(UPLOADS)

    def on_body(self, body: bytes) -> None:
        if self.is_refused:
            return
        self.body_size += len(body)
        if self.body_size > self.most_body_bytes:
            self.refuse(413, "The request is too large.")
        else:
            super().on_body(body)

    @property
    def most_body_bytes(self) -> int:
        return self.bounds.upload_bytes if self.is_upload else self.bounds.body_bytes

    def on_message_complete(self) -> None:
        if self.is_refused:
            return  # the part of the body that has arrived must not be taken for the whole
        self.arrive_by = inf
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Sets the next request's deadline: any byte ends uvicorn's own keep-alive timeout."""
        super().on_response_complete()
        if self.arrive_by == inf and self.cycle.response_complete:
            self.expect_by(self.bounds.seconds_to_send)

    def pause_writing(self) -> None:
        self.take_by = self.loop.time() + self.bounds.seconds_to_take
        super().pause_writing()

    def resume_writing(self) -> None:
        self.take_by = inf
        super().resume_writing()

    def expect_by(self, seconds: float) -> None:
        self.arrive_by = self.loop.time() + seconds

    def refuse(self, status: int, message: str) -> None:
        """Responds, unless a response has begun, and discards what still arrives for a moment.

        Closing with unread bytes resets the connection, and the client would never see the
        response.
        """
        if self.is_refused:
            return
        self.is_refused, self.in_head = True, False
        self.expect_by(SECONDS_TO_LINGER)
        cycle: RequestResponseCycle | None = self.cycle  # None before the first request
        if cycle is not None and not cycle.response_complete:
            cycle.disconnected = True  # so that no other response follows this one
            cycle.message_event.set()
            if cycle.response_started:
                self.transport.close()
                return
        text = message.encode()
        self.transport.write(
            STATUS_LINE[status]
            + b"content-type: text/plain; charset=utf-8\r\nconnection: close\r\n"
            + b"content-length: %d\r\n\r\n" % len(text)
            + text
        )
        self.transport.write_eof()

    def end_if_late(self, now: float) -> None:
        if min(self.arrive_by, self.take_by) < now:
            self.transport.abort()
