"""The engine's HTTP endpoint: what any AWS SDK can be pointed at.

`protocol` knows what a call means; this module moves the bytes, and is a careful host to
whoever connects:

1. A connection is an `asyncio.Protocol` on httptools' parser, not an ASGI application under
   uvicorn. Measured with boto3's headers and an answer of 1 KB, uvicorn takes 47 us of CPU a
   request before an application does anything; this takes 23, with the JSON read and written.
   And uvicorn with httptools bounds neither the size of a request's head nor the time that a
   request may take to arrive.
2. The calls of a connection are answered in order. A read is answered by the event loop itself;
   a write goes to the engine's group commit, and its answer comes back from the committing
   thread. While a call is out, later ones of its connection wait in line and the connection is
   not read: a client that will not take answers cannot make the server hold more of them.
3. Nothing is unbounded: head, body, connections, the time to send a call, to take an answer, to
   sit idle; and the bodies of all connections together. One tick a second looks at every
   deadline, so that no call pays for a timer. A connection that is lost lets go of its bytes at
   once: it and its parser refer to each other, and the garbage collector may take minutes.
   A body that is large, or compressed, is read and checked by a thread kept for them: 15 KB of
   gzip can be 16 MB of small lists, and the event loop would stand still for all.
4. Bytes that are no HTTP end their connection, once the calls before them are answered. The
   refusal is sent, and what still arrives is read and dropped for a moment: closing on unread
   bytes makes the kernel reset the connection, and then the client never sees the reason.
5. It listens on loopback only, unless it has users and a certificate. With users, every call is
   verified (`signature`) and goes to the engine as its user sees it.

On SIGTERM or SIGINT it stops listening, answers every call that has arrived, and closes the
engine.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import gc
import ipaddress
import logging
import signal
import socket
import ssl
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime
from email.utils import formatdate
from functools import partial
from math import inf
from typing import Protocol, TypeAlias, cast

from bigtime.engine.http.protocol import (
    HEAD_TOO_LARGE,
    LARGE_BODY,
    MAX_BODY,
    MAX_HEAD,
    NO_UPGRADE,
    NOT_HTTP,
    TOO_BUSY,
    TOO_LARGE,
    TOO_MANY,
    Call,
    Reply,
    TooLarge,
    failure,
    read,
    request_id,
    screen,
    signing_region,
    success,
)
from bigtime.engine.http.signature import verify
from bigtime.engine.iam import AccessKeys, Principal
from bigtime.extras import extra
from bigtime.wire import DynamoDBError, InternalServerError, Request, Response

with extra("server"):
    import httptools
    import uvloop

log = logging.getLogger("bigtime.endpoint")

MAX_ARRIVED = MAX_HEAD + 2 * MAX_BODY  # chunked bodies carry overhead, but not that much
MAX_CONNECTIONS = 1_000
BACKLOG = 1024
MAX_BODIES = 8 * MAX_BODY  # of all connections together; a small body is always taken
SMALL_BODY = 64 * 1024

M_MMAP_THRESHOLD = -3  # malloc.h

SECONDS_TO_SEND = 30.0  # a whole call, from its first byte
SECONDS_TO_TAKE = 30.0  # an answer
SECONDS_IDLE = 75.0
SECONDS_TO_LINGER = 5.0
SECONDS_TO_STOP = 10.0
SECONDS_TO_SHAKE_HANDS = 10.0

Done: TypeAlias = Callable[[Response | None, BaseException | None], None]


class NotLoopback(ValueError):
    """The address asked for would let other machines in."""


class Submitting(Protocol):
    """What the endpoint asks of an engine."""

    def submit(self, request: Request, done: Done, region: str | None = None) -> None: ...


class Serving(Submitting, Protocol):
    """What the server asks of an engine."""

    def as_user(
        self, principal: Principal, about: Mapping[str, str], region: str | None
    ) -> Submitting: ...

    def close(self) -> None: ...


class Connection(asyncio.Protocol):
    """One client: its bytes become calls, and the calls answers, in order."""

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
        self.choked = False  # the client does not take its answers
        self.paused = False  # nothing is read
        self.deaf = False  # what is read is dropped
        self.closing = False  # the answer to the last one waiting is the last
        self.deadline = inf

    # What the event loop reports.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self.deadline = self.endpoint.now + SECONDS_IDLE
        self.endpoint.connections.add(self)
        if len(self.endpoint.connections) > MAX_CONNECTIONS:
            self.refuse(TOO_MANY)
            self.answer_waiting()

    def data_received(self, data: bytes) -> None:
        if self.deaf:
            return
        self.arrived += len(data)
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self.waiting.pop()  # the parser left its body to the other protocol
            self.refuse(NO_UPGRADE)
        except httptools.HttpParserError:
            self.refuse(NOT_HTTP)
        if self.in_head and self.arrived > MAX_HEAD:
            self.refuse(HEAD_TOO_LARGE)
        elif self.in_call and self.arrived > MAX_ARRIVED:
            self.refuse(TOO_LARGE)
        self.answer_waiting()

    def eof_received(self) -> bool:
        """A client that only stops sending still gets the answers that it waits for."""
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

    # What the parser reports. It goes on to the end of what it was fed, deaf or not.

    def on_message_begin(self) -> None:
        self.headers = {}
        self.chunks = []
        self.arrived = self.body_size = 0
        self.in_head = self.in_call = True
        self.deadline = self.endpoint.now + SECONDS_TO_SEND

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self.in_head:
            return  # a trailer: it must not change a call that was already judged
        name = name.lower()
        if name in self.headers:
            value = self.headers[name] + b"," + value
        self.headers[name] = value

    def on_headers_complete(self) -> None:
        self.in_head = False
        length = self.headers.get(b"content-length", b"0")
        if len(length) > 15 or int(length) > MAX_BODY:
            self.refuse(TOO_LARGE)
        elif b"expect" in self.headers and not self.out and not self.waiting:
            self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    def on_body(self, chunk: bytes) -> None:
        self.body_size += len(chunk)
        if self.deaf:
            return
        if self.body_size > MAX_BODY:
            self.refuse(TOO_LARGE)
        elif self.body_size > SMALL_BODY and self.endpoint.body_bytes > MAX_BODIES:
            self.refuse(TOO_BUSY)
        else:
            self.chunks.append(chunk)
            self.endpoint.body_bytes += len(chunk)

    def on_message_complete(self) -> None:
        if self.deaf:
            return
        self.in_call = False
        body = b"".join(self.chunks)
        self.chunks = []  # an idle connection holds no body
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
        """Lets go of a body that has not arrived whole."""
        self.endpoint.body_bytes -= sum(map(len, self.chunks))
        self.chunks = []

    def drop_waiting(self) -> None:
        """Lets go of calls that nobody waits for any more."""
        self.endpoint.body_bytes -= sum(
            len(call.body) for call in self.waiting if isinstance(call, Call)
        )
        self.waiting.clear()

    def answer_waiting(self) -> None:
        while self.waiting and not self.out and not self.choked:
            first = self.waiting.popleft()
            if isinstance(first, Reply):
                self.part_with(first)
            elif len(first.body) > LARGE_BODY or b"content-encoding" in first.headers:
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
        """Reads a call and passes it on: a small one on the event loop, a large one beside it."""
        refusal = screen(call, any_host=self.endpoint.users is not None)
        if refusal is not None:
            self.reply(call, refusal)
            return
        try:
            engine = self.engine_for(call)
            request = read_apart(call) if self.out else read(call)
        except DynamoDBError as error:
            self.reply(call, failure(call, error))
        except TooLarge:
            self.reply(call, TOO_LARGE)
        else:
            self.submit(engine, call, request)

    def reply(self, call: Call, reply: Reply) -> None:
        """Sends what was known without the engine, from whichever thread."""
        send = partial(self.send, call, reply, request_id())
        if threading.get_ident() == self.endpoint.thread:
            send()
        else:
            self.endpoint.soon(self.resume, send)

    def submit(self, engine: Submitting, call: Call, request: Request) -> None:
        endpoint = self.endpoint
        finish = partial(self.finish, call, request)

        def done(response: Response | None, error: BaseException | None) -> None:
            if threading.get_ident() == endpoint.thread:
                finish(response, error)
            else:
                endpoint.soon(self.resume, partial(finish, response, error))

        self.out = True
        try:
            engine.submit(request, done, signing_region(call))
        except Exception as error:
            done(None, error)

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
        tag = request_id()
        # Nothing is raised here: a traceback would keep the whole request alive.
        if error is None:
            reply = success(call, response or {})
        elif isinstance(error, DynamoDBError):
            reply = failure(call, error)
        else:
            # The reason is for the log alone: it may quote what is in the table.
            log.error("request %s: %s failed", tag.decode(), request.operation, exc_info=error)
            reply = failure(call, InternalServerError())
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
            head = reply.head(request_id(), self.endpoint.date, keep_alive=False)
            self.transport.write(head + reply.body)
            if self.transport.can_write_eof():  # TLS cannot
                self.transport.write_eof()
            self.deadline = self.endpoint.now + SECONDS_TO_LINGER

    def is_idle(self) -> bool:
        return not (self.in_call or self.out or self.waiting)


class SignedConnection(Connection):
    """A client of a server with users: each call is signed, and is answered as its user may see."""

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__(endpoint)
        self.target = b"/"
        self.as_user: dict[tuple[int, str | None], Submitting] = {}

    def on_url(self, url: bytes) -> None:
        self.target += url  # which may come in parts

    def on_message_begin(self) -> None:
        self.target = b""
        super().on_message_begin()

    def call(self, body: bytes, keep_alive: bool) -> Call:
        return super().call(body, keep_alive)._replace(target=self.target)

    def engine_for(self, call: Call) -> Submitting:
        users = self.endpoint.users
        assert users is not None
        principal = verify(call, users, datetime.now(UTC)).principal
        region = signing_region(call)
        engine = self.as_user.get((id(principal), region))
        if engine is None:
            engine = self.endpoint.engine.as_user(principal, self.about(), region)
            self.as_user[id(principal), region] = engine
        return engine

    def about(self) -> dict[str, str]:
        """The condition keys of the connection."""
        secure = self.transport.get_extra_info("sslcontext") is not None
        return {
            "aws:SourceIp": str(self.transport.get_extra_info("peername")[0]),
            "aws:SecureTransport": "true" if secure else "false",
        }


class Endpoint:
    """The connections of one engine, on one event loop."""

    def __init__(self, engine: Serving, users: AccessKeys | None = None) -> None:
        self.engine = engine
        self.users = users
        self.connections: set[Connection] = set()
        self.body_bytes = 0  # of calls that arrive, wait, or are with the engine
        self.reader = ThreadPoolExecutor(1, "bigtime-reader")
        self.servers: list[asyncio.Server] = []
        self.empty = asyncio.Event()

    async def start(
        self, listeners: Sequence[socket.socket], certificate: ssl.SSLContext | None = None
    ) -> None:
        self.loop = asyncio.get_running_loop()
        self.thread = threading.get_ident()
        self.tick()
        kind = Connection if self.users is None else SignedConnection
        patience = SECONDS_TO_SHAKE_HANDS if certificate else None
        for listener in listeners:
            server = await self.loop.create_server(
                lambda: kind(self),
                sock=listener,
                ssl=certificate,
                ssl_handshake_timeout=patience,
            )
            self.servers.append(server)

    async def stop(self) -> None:
        """Answer what has arrived, then part with everyone."""
        for server in self.servers:
            server.close()
        for connection in self.connections:
            connection.closing = True
        await asyncio.sleep(0.1)  # for calls that are in the kernel's hands
        for connection in list(self.connections):
            if connection.is_idle():
                connection.transport.close()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.emptied(), SECONDS_TO_STOP)
        for connection in list(self.connections):
            connection.transport.abort()
        self.ticking.cancel()
        self.reader.shutdown(wait=False, cancel_futures=True)

    async def emptied(self) -> None:
        while self.connections:
            self.empty.clear()
            await self.empty.wait()

    def soon(self, callback: Callable[..., None], *arguments: object) -> None:
        """Call on the event loop, from any thread."""
        # A commit may end after the loop has: its client is gone, and the committing thread
        # must not hear of it.
        with contextlib.suppress(RuntimeError):
            self.loop.call_soon_threadsafe(callback, *arguments)

    def forget(self, connection: Connection) -> None:
        self.connections.discard(connection)
        self.empty.set()

    def tick(self) -> None:
        self.now = self.loop.time()
        self.date = formatdate(usegmt=True).encode()
        for connection in list(self.connections):
            if connection.deadline < self.now:
                connection.transport.abort()
        self.ticking = self.loop.call_later(1.0, self.tick)


def read_apart(call: Call) -> Request:
    with paused_garbage_collection():
        return read(call)


@contextlib.contextmanager
def paused_garbage_collection() -> Iterator[None]:
    """Keeps the garbage collector from walking a large call again and again while it is read.

    Sixteen megabytes of small lists take 1.5 s to read when it looks on, and 0.3 s when not.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def listen(
    host: str = "127.0.0.1", port: int = 8000, *, anywhere: bool = False
) -> list[socket.socket]:
    """Sockets for every address of a host, all on one port; it is loopback, unless `anywhere`."""
    listeners: list[socket.socket] = []
    with contextlib.ExitStack() as opened:
        for address, family in listening_addresses(host, anywhere=anywhere).items():
            listener = socket.create_server((address, port), family=family, backlog=BACKLOG)
            listeners.append(opened.enter_context(listener))
            port = listener.getsockname()[1]
        opened.pop_all()
    return listeners


def listening_addresses(host: str, *, anywhere: bool) -> dict[str, socket.AddressFamily]:
    addresses = addresses_of(host)
    if addresses and (
        anywhere or all(ipaddress.ip_address(each).is_loopback for each in addresses)
    ):
        return addresses
    if anywhere:
        raise NotLoopback(f"{host!r} is no address of this machine.")
    raise NotLoopback(
        f"{host!r} is not a loopback address. The endpoint listens only where this machine alone "
        "can reach it: 127.0.0.1, ::1 or localhost. With users who sign their requests (--users) "
        "and a certificate (--certificate, --key) it may listen on any address."
    )


def addresses_of(host: str) -> dict[str, socket.AddressFamily]:
    with contextlib.suppress(socket.gaierror):
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        return {str(address[0]): family for family, _, _, _, address in found}
    return {}


def serve(
    engine: Serving,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    on_ready: Callable[[int], None] = lambda port: None,
    users: AccessKeys | None = None,
    certificate: ssl.SSLContext | None = None,
) -> None:
    """Serve until SIGTERM or SIGINT; `on_ready` hears the port, also when 0 was asked for.

    With users, requests are signed with one of their access keys; with a certificate, the server
    speaks TLS. With both it may listen on any address.
    """
    anywhere = users is not None and certificate is not None
    with contextlib.closing(engine):
        serve_on(engine, listen(host, port, anywhere=anywhere), on_ready, users, certificate)


def serve_on(
    engine: Serving,
    listeners: Sequence[socket.socket],
    on_ready: Callable[[int], None],
    users: AccessKeys | None = None,
    certificate: ssl.SSLContext | None = None,
    lifeline: int | None = None,
) -> None:
    """Serve on sockets that listen; also until the file `lifeline` is closed at its other end."""
    return_large_blocks()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        endpoint = Endpoint(engine, users)
        runner.run(serve_until_stopped(endpoint, listeners, on_ready, certificate, lifeline))


def return_large_blocks() -> None:
    """Tells glibc to give back to the system what a large request took.

    Left alone it raises its threshold to the largest block freed so far, and keeps them all.
    """
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, 256 * 1024)


async def serve_until_stopped(
    endpoint: Endpoint,
    listeners: Sequence[socket.socket],
    on_ready: Callable[[int], None],
    certificate: ssl.SSLContext | None,
    lifeline: int | None,
) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    if lifeline is not None:
        loop.add_reader(lifeline, stop.set)
    await endpoint.start(listeners, certificate)
    on_ready(listeners[0].getsockname()[1])
    await stop.wait()
    if lifeline is not None:
        loop.remove_reader(lifeline)
    await endpoint.stop()


@contextlib.contextmanager
def serve_in_thread(engine: Serving, *, host: str = "127.0.0.1", port: int = 0) -> Iterator[str]:
    """Serves on a thread of this process, on a free port unless one is given; yields the URL.

    The engine is left open at the end: its owner closes it.
    """
    listeners = listen(host, port)
    number = listeners[0].getsockname()[1]
    started: Future[Callable[[], None]] = Future()
    thread = threading.Thread(
        target=run_until_asked, args=(engine, listeners, started), name="bigtime-serve", daemon=True
    )
    thread.start()
    stop = started.result()
    try:
        yield f"http://{f'[{host}]' if ':' in host else host}:{number}"
    finally:
        stop()
        thread.join()


def run_until_asked(
    engine: Serving,
    listeners: Sequence[socket.socket],
    started: Future[Callable[[], None]],
) -> None:
    """Serves; `started` gets what ends it, to be called from any thread, or why it did not."""

    async def main() -> None:
        stop = asyncio.Event()
        endpoint = Endpoint(engine)
        await endpoint.start(listeners)
        started.set_result(partial(endpoint.soon, stop.set))
        await stop.wait()
        await endpoint.stop()

    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(main())
    except BaseException as error:
        if started.done():
            raise
        started.set_exception(error)
