"""One client connection of the endpoint: parses its calls and answers them in order.

Everything is bounded: the head, the body, the time to send a call and to receive an answer (see the
essay in `endpoint`).
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Protocol, TypeAlias, cast

from bigtime.engine.http import protocol
from bigtime.engine.http.protocol import Call, Reply
from bigtime.engine.http.signature import verify
from bigtime.engine.iam import Principal
from bigtime.extras import extra
from bigtime.wire import DynamoDBError, InternalServerError, Request, Response

if TYPE_CHECKING:
    from bigtime.engine.http.endpoint import Endpoint

with extra("server"):
    import httptools

log = logging.getLogger("bigtime.endpoint")

MAX_ARRIVED = protocol.MAX_HEAD + 2 * protocol.MAX_BODY  # chunks have overhead, but less than this
MAX_CONNECTIONS = 1_000
MAX_BODIES = 8 * protocol.MAX_BODY  # of all connections together; small bodies always pass
SMALL_BODY = 64 * 1024

MOST_TRANSPORTS = 64  # of a connection with users: any region may be signed for

SECONDS_TO_SEND = 30.0  # a whole call, from its first byte
SECONDS_TO_TAKE = 30.0  # an answer
SECONDS_IDLE = 75.0
SECONDS_TO_LINGER = 5.0

Done: TypeAlias = Callable[[Response | None, BaseException | None], None]


class Submitting(Protocol):
    """The interface of an engine that the endpoint needs."""

    def submit(self, request: Request, done: Done, region: str | None = None) -> None: ...


class Serving(Submitting, Protocol):
    """The interface of an engine that the server needs."""

    def as_user(
        self, principal: Principal, about: Mapping[str, str], region: str | None
    ) -> Submitting: ...

    def close(self) -> None: ...


class Connection(asyncio.Protocol):
    """One client: its bytes are parsed into calls, which are answered in order."""

    transport: asyncio.Transport

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.parser = httptools.HttpRequestParser(self)
        self.headers: dict[bytes, bytes] = {}
        self.chunks: list[bytes] = []
        self.arrived = 0  # bytes since the call began
        self.body_size = 0
        self.in_head = self.in_call = False
        self.waiting: deque[Call | Reply] = deque()
        self.out = False  # a call is with the engine
        self.choked = False  # the client does not read its answers
        self.paused = False  # reading is paused
        self.deaf = False  # incoming bytes are discarded
        self.closing = False  # close after answering the calls that wait
        self.deadline = inf

    # Callbacks of the event loop.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self.deadline = self.endpoint.now + SECONDS_IDLE
        self.endpoint.connections.add(self)
        if len(self.endpoint.connections) > MAX_CONNECTIONS:
            self.refuse(protocol.TOO_MANY)
            self.answer_waiting()

    def data_received(self, data: bytes) -> None:
        if self.deaf:
            return
        self.arrived += len(data)
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self.waiting.pop()  # the parser leaves an upgrade's body to the other protocol
            self.refuse(protocol.NO_UPGRADE)
        except httptools.HttpParserError:
            self.refuse(protocol.NOT_HTTP)
        if self.in_head and self.arrived > protocol.MAX_HEAD:
            self.refuse(protocol.HEAD_TOO_LARGE)
        elif self.in_call and self.arrived > MAX_ARRIVED:
            self.refuse(protocol.TOO_LARGE)
        self.answer_waiting()

    def eof_received(self) -> bool:
        """A client that has only stopped sending still gets the answers that it waits for."""
        self.closing = self.out or bool(self.waiting)
        return self.closing

    def pause_writing(self) -> None:
        self.choked = True
        self.deadline = self.endpoint.now + SECONDS_TO_TAKE

    def resume_writing(self) -> None:
        self.choked = False
        self.rest()
        self.answer_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        self.drop_waiting()
        self.drop_chunks()
        self.headers = {}
        del self.parser  # which refers to us
        self.endpoint.forget(self)

    # Callbacks of the parser, which continues to the end of its input, `deaf` or not.

    def on_message_begin(self) -> None:
        self.headers = {}
        self.chunks = []
        self.arrived = self.body_size = 0
        self.in_head = self.in_call = True
        self.deadline = self.endpoint.now + SECONDS_TO_SEND

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self.in_head:
            return  # a trailer, which must not change a call whose headers were already checked
        name = name.lower()
        if name in self.headers:
            # The parser leaves the blanks after a value.
            value = self.headers[name].rstrip() + b"," + value.strip()
        self.headers[name] = value

    def on_headers_complete(self) -> None:
        self.in_head = False
        length = self.headers.get(b"content-length", b"0")
        if len(length) > 15 or int(length) > protocol.MAX_BODY:
            self.refuse(protocol.TOO_LARGE)
        elif b"expect" in self.headers and not self.out and not self.waiting:
            self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    def on_body(self, chunk: bytes) -> None:
        self.body_size += len(chunk)
        if self.deaf:
            return
        if self.body_size > protocol.MAX_BODY:
            self.refuse(protocol.TOO_LARGE)
        elif self.body_size > SMALL_BODY and self.endpoint.body_bytes > MAX_BODIES:
            self.refuse(protocol.TOO_BUSY)
        else:
            self.chunks.append(chunk)
            self.endpoint.body_bytes += len(chunk)

    def on_message_complete(self) -> None:
        if self.deaf:
            return
        self.in_call = False
        body = b"".join(self.chunks)
        self.chunks = []  # so that an idle connection holds no body
        self.waiting.append(self.call(body, self.parser.should_keep_alive()))
        self.deadline = inf

    def call(self, body: bytes, keep_alive: bool) -> Call:
        return Call(self.parser.get_method(), self.headers, body, keep_alive)

    # Answers.

    def engine_for(self, call: Call) -> Submitting:
        return self.endpoint.engine

    def refuse(self, reply: Reply) -> None:
        if not self.deaf:
            self.deaf = True
            self.in_head = self.in_call = False
            self.drop_chunks()
            self.waiting.append(reply)

    def drop_chunks(self) -> None:
        """Frees a body that has not arrived completely."""
        self.endpoint.body_bytes -= sum(map(len, self.chunks))
        self.chunks = []

    def drop_waiting(self) -> None:
        """Frees calls that nobody waits for any more."""
        self.endpoint.body_bytes -= sum(
            len(call.body) for call in self.waiting if isinstance(call, Call)
        )
        self.waiting.clear()

    def answer_waiting(self) -> None:
        while self.waiting and not self.out and not self.choked:
            first = self.waiting.popleft()
            if isinstance(first, Reply):
                self.part_with(first)
            elif len(first.body) > protocol.LARGE_BODY or b"content-encoding" in first.headers:
                self.out = True
                self.endpoint.reader.submit(self.answer, first)
            else:
                self.answer(first)
        if self.paused != bool(self.waiting):
            self.pause(not self.paused)

    def pause(self, pause: bool) -> None:
        self.paused = pause
        if not self.transport.is_closing():
            self.transport.pause_reading() if pause else self.transport.resume_reading()

    def answer(self, call: Call) -> None:
        """Reads a call and passes it on: a small one on the event loop, a large one on a thread."""
        refusal = protocol.screen(call, any_host=self.endpoint.users is not None)
        if refusal is not None:
            self.reply(call, refusal)
            return
        try:
            engine = self.engine_for(call)
            request = read_apart(call) if self.out else protocol.read(call)
        except DynamoDBError as error:
            self.reply(call, protocol.failure(call, error))
        except protocol.TooLarge:
            self.reply(call, protocol.TOO_LARGE)
        except Exception as error:
            # A fault of ours, which would otherwise be lost with the thread's result.
            log.error("a request cannot be read", exc_info=error)
            self.reply(call, protocol.failure(call, InternalServerError()))
        else:
            self.submit(engine, call, request)

    def reply(self, call: Call, reply: Reply) -> None:
        """Sends a reply that did not need the engine; called from any thread."""
        send = partial(self.send, call, reply, protocol.request_id())
        if threading.get_ident() == self.endpoint.thread:
            send()
        else:
            self.endpoint.call_soon(self.resume, send)

    def submit(self, engine: Submitting, call: Call, request: Request) -> None:
        endpoint = self.endpoint
        finish = partial(self.finish, call, request)

        def finish_on_loop(response: Response | None, error: BaseException | None) -> None:
            if threading.get_ident() == endpoint.thread:
                finish(response, error)
            else:
                endpoint.call_soon(self.resume, partial(finish, response, error))

        self.out = True
        try:
            engine.submit(request, finish_on_loop, protocol.signing_region(call))
        except Exception as error:
            finish_on_loop(None, error)

    def resume(self, finish: Callable[[], None]) -> None:
        finish()
        self.answer_waiting()

    def finish(
        self,
        call: Call,
        request: Request,
        response: Response | None,
        error: BaseException | None,
    ) -> None:
        tag = protocol.request_id()
        # Nothing is raised here: a traceback would keep the whole request alive.
        if error is None:
            reply = protocol.success(call, response or {})
        elif isinstance(error, DynamoDBError):
            reply = protocol.failure(call, error)
        else:
            # The reason goes only to the log: it may quote data from the table.
            log.error("request %s: %s failed", tag.decode(), request.operation, exc_info=error)
            reply = protocol.failure(call, InternalServerError())
        self.send(call, reply, tag)

    def send(self, call: Call, reply: Reply, tag: bytes) -> None:
        self.out = False
        self.endpoint.body_bytes -= len(call.body)
        if self.transport.is_closing():
            return
        keep_alive = call.keep_alive and not (self.closing and not self.waiting)
        head = reply.head(tag, self.endpoint.date, keep_alive=keep_alive)
        self.transport.write(head if call.method == b"HEAD" else head + reply.body)
        if keep_alive:
            self.rest()
        else:
            self.drop_waiting()
            self.transport.close()

    def rest(self) -> None:
        if not self.in_call and not self.choked:
            self.deadline = self.endpoint.now + SECONDS_IDLE

    def part_with(self, reply: Reply) -> None:
        if not self.transport.is_closing():
            head = reply.head(protocol.request_id(), self.endpoint.date, keep_alive=False)
            self.transport.write(head + reply.body)
            if self.transport.can_write_eof():  # not over TLS
                self.transport.write_eof()
            self.deadline = self.endpoint.now + SECONDS_TO_LINGER

    def is_idle(self) -> bool:
        return not (self.in_call or self.out or self.waiting)


class SignedConnection(Connection):
    """A client of a server with users: each call must be signed, and is made as that user."""

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__(endpoint)
        self.target = b"/"
        self.as_user: dict[tuple[int, str | None], Submitting] = {}

    def on_url(self, url: bytes) -> None:
        self.target += url  # which may arrive in parts

    def on_message_begin(self) -> None:
        self.target = b""
        super().on_message_begin()

    def call(self, body: bytes, keep_alive: bool) -> Call:
        return super().call(body, keep_alive)._replace(target=self.target)

    def engine_for(self, call: Call) -> Submitting:
        users = self.endpoint.users
        assert users is not None
        principal = verify(call, users, datetime.now(UTC)).principal
        region = protocol.signing_region(call)
        engine = self.as_user.get((id(principal), region))
        if engine is None:
            if len(self.as_user) >= MOST_TRANSPORTS:
                self.as_user.clear()
            engine = self.endpoint.engine.as_user(principal, self.condition_keys(), region)
            self.as_user[id(principal), region] = engine
        return engine

    def condition_keys(self) -> dict[str, str]:
        """The condition keys of the connection."""
        secure = self.transport.get_extra_info("sslcontext") is not None
        return {
            "aws:SourceIp": str(self.transport.get_extra_info("peername")[0]),
            "aws:SecureTransport": "true" if secure else "false",
        }


def read_apart(call: Call) -> Request:
    with paused_garbage_collection():
        return protocol.read(call)


@contextlib.contextmanager
def paused_garbage_collection() -> Iterator[None]:
    """Keeps the garbage collector from repeatedly traversing a large call while it is parsed.

    Sixteen megabytes of small lists take 1.5 s to parse with the collector on, 0.3 s without.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
