"""The bounds of a connection: sizes, times, and how many there may be."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import Any, cast

import pytest
import uvicorn

from bigtime.web.bounded_protocol import BoundedProtocol, Bounds
from bigtime.web.server import Server

BOUNDS = Bounds(head_bytes=8_192, body_bytes=10_000, seconds_to_send=1.0, seconds_to_take=1.0)
SECONDS = 60.0
"""Longer than anything takes on a busy machine."""


class Quiet(Server):
    """Stopped by the test, not by a signal."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def answer(scope: Any, receive: Callable[[], Any], send: Callable[[Any], Any]) -> None:
    """The length of the body; of `/large` a megabyte more than a client's buffers hold."""
    assert scope["type"] == "http"
    body, more = b"", True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        body += message["body"]
        more = message["more_body"]
    text = b"x" * 50_000_000 if scope["path"] == "/large" else str(len(body)).encode()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": text})


def make_bounds(**changes: Any) -> Bounds:
    """Bounds with a count of connections of their own."""
    return replace(BOUNDS, open=Counter(), **changes)


def wait_for(what: Callable[[], object]) -> None:
    deadline = time.monotonic() + SECONDS
    while not what():
        assert time.monotonic() < deadline, "it took too long"
        time.sleep(0.01)


@contextmanager
def serve_bounded(
    bounds: Bounds, *, websockets: type[asyncio.Protocol] | None = None
) -> Iterator[int]:
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(
        answer,
        http=cast(type[asyncio.Protocol], partial(BoundedProtocol, bounds)),
        ws=websockets or "none",
        lifespan="off",
        log_level="critical",
    )
    server = Quiet(config)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listener])))
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(SECONDS)


@pytest.fixture
def port() -> Iterator[int]:
    with serve_bounded(make_bounds()) as port:
        yield port


def connect(port: int) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port))
    connection.settimeout(SECONDS)
    return connection


def rest(connection: socket.socket) -> bytes:
    """What arrives until the server closes the connection."""
    arrived = b""
    try:
        while data := connection.recv(65_536):
            arrived += data
    except ConnectionError:
        pass
    return arrived


def ask(port: int, request: bytes) -> bytes:
    with connect(port) as connection:
        with suppress(ConnectionError):
            connection.sendall(request)
        return rest(connection)


def post(length: int, *, sent: bytes) -> bytes:
    head = f"POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n"
    return head.encode() + sent


def test_an_ordinary_request_is_answered(port: int) -> None:
    assert ask(port, post(10_000, sent=b"x" * 10_000)).endswith(b"10000\r\n0\r\n\r\n")


def test_headers_without_end_are_cut_off(port: int) -> None:
    endless = b"GET / HTTP/1.1\r\n" + b"X-Header: " + b"x" * 100_000
    assert ask(port, endless).startswith(b"HTTP/1.1 431 ")


def test_many_headers_count_together(port: int) -> None:
    many = b"".join(b"X-%d: %s\r\n" % (number, b"x" * 100) for number in range(1_000))
    assert ask(port, b"GET / HTTP/1.1\r\n" + many).startswith(b"HTTP/1.1 431 ")


@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_that_is_too_large_is_cut_off(port: int, chunked: bool) -> None:
    if chunked:
        head = b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
        request = head + b"1000\r\n" + b"x" * 4_096 + b"\r\n"
        request += (b"1000\r\n" + b"x" * 4_096 + b"\r\n") * 3 + b"0\r\n\r\n"
    else:
        request = post(20_000, sent=b"x" * 20_000)
    assert ask(port, request).startswith(b"HTTP/1.1 413 ")


@pytest.mark.parametrize(
    "begun", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nX-A: 1\r\n", post(100, sent=b"half")]
)
def test_a_request_that_does_not_arrive_is_given_up(port: int, begun: bytes) -> None:
    with connect(port) as connection:
        connection.sendall(begun)
        started = time.monotonic()
        assert rest(connection) == b""
        assert time.monotonic() - started < SECONDS


def test_a_byte_now_and_then_is_not_enough(port: int) -> None:
    with connect(port) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nX-Slow: ")
        with pytest.raises(ConnectionError):
            trickle(connection)


@pytest.mark.parametrize("sent", [b"\r\n", b"G"])
def test_what_follows_an_answer_and_begins_no_request_is_given_up(port: int, sent: bytes) -> None:
    with connect(port) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert connection.recv(65_536).startswith(b"HTTP/1.1 200 ")
        time.sleep(0.2)  # uvicorn waits for the next request from a moment after the answer
        connection.sendall(sent)
        rest(connection)


def test_half_a_request_sent_while_an_answer_is_taken_is_given_up(port: int) -> None:
    with connect(port) as connection:
        connection.sendall(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
        time.sleep(0.2)  # until the answer waits for us
        connection.sendall(b"GET / HT")
        rest(connection)


class NoBounds(asyncio.Protocol):
    """Stands for a library of WebSockets that someone has installed."""

    def __init__(self, **settings: Any) -> None:
        raise AssertionError("the connection was given away")


def test_no_connection_leaves_its_bounds_for_a_websocket() -> None:
    bounds = make_bounds()
    upgrade = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
    with serve_bounded(bounds, websockets=NoBounds) as port:
        assert ask(port, upgrade).startswith(b"HTTP/1.1 200 ")
        wait_for(lambda: not bounds.open)


def trickle(connection: socket.socket) -> None:
    for _ in range(int(SECONDS * 10)):
        connection.sendall(b"x")
        time.sleep(0.1)


def test_an_answer_that_is_not_taken_is_given_up() -> None:
    bounds = make_bounds()
    with serve_bounded(bounds) as port, connect(port) as connection:
        wait_for(lambda: bounds.open)
        connection.sendall(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
        wait_for(lambda: not bounds.open)
        assert len(rest(connection)) < 50_000_000


def test_one_address_cannot_have_all_connections() -> None:
    bounds = make_bounds(connections_per_address=5, seconds_to_send=SECONDS)
    with serve_bounded(bounds) as port, ExitStack() as held:
        for _ in range(5):
            held.enter_context(connect(port)).sendall(b"GET / HTTP/1.1\r\n")
        assert rest(held.enter_context(connect(port))).startswith(b"HTTP/1.1 503 ")
        elsewhere = socket.socket()
        elsewhere.bind(("127.0.0.2", 0))
        elsewhere.connect(("127.0.0.1", port))
        held.enter_context(elsewhere).settimeout(SECONDS)
        elsewhere.sendall(post(0, sent=b""))
        assert rest(elsewhere).startswith(b"HTTP/1.1 200 ")


def test_all_addresses_together_cannot_have_too_many() -> None:
    bounds = make_bounds(connections=5, seconds_to_send=SECONDS)
    with serve_bounded(bounds) as port, ExitStack() as held:
        for _ in range(5):
            held.enter_context(connect(port)).sendall(b"GET / HTTP/1.1\r\n")
        assert rest(held.enter_context(connect(port))).startswith(b"HTTP/1.1 503 ")


def test_connections_that_ended_are_not_counted() -> None:
    bounds = make_bounds(connections_per_address=5)
    with serve_bounded(bounds) as port:
        for _ in range(20):
            assert ask(port, post(0, sent=b"")).startswith(b"HTTP/1.1 200 ")
        wait_for(lambda: not bounds.open)
