"""The engine's HTTP endpoint, for any AWS SDK.

`protocol` knows what a call means; this module moves the bytes, and defends itself against
misbehaving clients:

1. A connection is an `asyncio.Protocol` on httptools' parser, not an ASGI application under
   uvicorn. Measured with boto3's headers and an answer of 1 KB, uvicorn takes 47 us of CPU per
   request before an application does anything; this takes 23, including reading and writing the
   JSON. And uvicorn with httptools limits neither the size of a request's head nor the time that a
   request may take to arrive.
2. The calls of a connection are answered in order. A read is answered by the event loop itself; a
   write goes to the engine's group commit, and its answer comes back from the committing thread.
   While a call is in progress, later ones of its connection wait in line and the connection is not
   read: a client that does not read its answers cannot make the server hold more of them.
3. Nothing is unbounded: head, body, connections, the time to send a call, to receive an answer, to
   stay idle; and the bodies of all connections together. One tick per second checks every deadline,
   so that no call pays for a timer. A lost connection frees its bytes at once: it and its parser
   refer to each other, and the garbage collector may take minutes. A large or compressed body is
   read and checked on a separate thread: 15 KB of gzip can be 16 MB of small lists, which would
   block the event loop for everyone.
4. Bytes that are not HTTP end their connection, once the calls before them are answered. The error
   is sent, and what still arrives is read and discarded for a moment: closing with unread bytes
   makes the kernel reset the connection, and then the client never sees the error.
5. It listens on loopback only, unless it has users and a certificate. With users, every call is
   verified (`signature`) and made with its user's permissions.

On SIGTERM or SIGINT it stops listening, answers every call that has already arrived, and closes the
engine.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import ipaddress
import logging
import signal
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from email.utils import formatdate
from functools import partial

from bigtime.engine.http.connection import Connection, Serving, SignedConnection
from bigtime.engine.iam import AccessKeys
from bigtime.extras import extra

with extra("server"):
    import uvloop

log = logging.getLogger("bigtime.endpoint")

BACKLOG = 1024

M_MMAP_THRESHOLD = -3  # malloc.h

SECONDS_TO_STOP = 10.0
SECONDS_OF_GRACE = 0.1  # for calls that are still in the kernel's buffers
SECONDS_TO_SHAKE_HANDS = 10.0


class NotLoopback(ValueError):
    """The address asked for would let other machines in."""


class Endpoint:
    """The connections of one engine, on one event loop."""

    def __init__(self, engine: Serving, users: AccessKeys | None = None) -> None:
        self.engine = engine
        self.users = users
        self.connections: set[Connection] = set()
        self.body_bytes = 0  # of calls that are arriving, waiting, or with the engine
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

    async def stop(self, grace: float = SECONDS_OF_GRACE) -> None:
        """Answers what has arrived, then closes all connections."""
        for server in self.servers:
            server.close()
        for connection in self.connections:
            connection.closing = True
        await asyncio.sleep(grace)
        for connection in list(self.connections):
            if connection.is_idle():
                connection.transport.close()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.wait_until_empty(), SECONDS_TO_STOP)
        for connection in list(self.connections):
            connection.transport.abort()
        self.ticking.cancel()
        self.reader.shutdown(wait=False, cancel_futures=True)

    async def wait_until_empty(self) -> None:
        while self.connections:
            self.empty.clear()
            await self.empty.wait()

    def call_soon(self, callback: Callable[..., None], *arguments: object) -> None:
        """Schedules a call on the event loop, from any thread."""
        # A commit may end after the loop has: its client is gone, and the committing thread must
        # not fail because of it.
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


def listen(
    host: str = "127.0.0.1", port: int = 8000, *, anywhere: bool = False
) -> list[socket.socket]:
    """Sockets for every address of a host, all on one port; loopback only, unless `anywhere`."""
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
    """Serves until SIGTERM or SIGINT; `on_ready` gets the port, even if 0 was requested.

    With users, requests must be signed with one of their access keys; with a certificate, the
    server uses TLS. With both it can listen on any address.
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
    """Serves on listening sockets, as `serve`, or until the other end of `lifeline` is closed."""
    return_large_blocks()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        endpoint = Endpoint(engine, users)
        runner.run(serve_until_stopped(endpoint, listeners, on_ready, certificate, lifeline))


def return_large_blocks() -> None:
    """Makes glibc return the memory of large requests to the system.

    By default it raises its threshold to the largest block freed so far, and keeps such blocks.
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
    """Serves; `started` gets a function that stops it from any thread, or the error at start."""

    async def main() -> None:
        stop = asyncio.Event()
        endpoint = Endpoint(engine)
        await endpoint.start(listeners)
        started.set_result(partial(endpoint.call_soon, stop.set))
        await stop.wait()
        await endpoint.stop(grace=0.0)  # its clients are in this process and have finished

    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(main())
    except BaseException as error:
        if started.done():
            raise
        started.set_exception(error)
