"""Compression, limits and what the endpoint holds for others."""

from __future__ import annotations

import gc
import gzip
import json
import threading
import time
import weakref
import zlib
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigtime.engine.http import connection as connection_module
from bigtime.engine.http import protocol as protocol_module
from bigtime.engine.http.protocol import MAX_BODY, Call, accepts_gzip
from bigtime.wire import Request
from tests.engine.calls import until
from tests.engine.raw_http import Client, Served, StandIn, call, serving


@pytest.fixture
def stand_in() -> StandIn:
    return StandIn()


@pytest.fixture
def served_endpoint(stand_in: StandIn) -> Iterator[Served]:
    with serving(stand_in) as served:
        yield served


@pytest.fixture
def client(served_endpoint: Served) -> Iterator[Client]:
    with served_endpoint.connect() as client:
        yield client


# Compression.


def test_a_compressed_call_is_read(client: Client) -> None:
    body = gzip.compress(json.dumps({"TableName": "Orders"}).encode(), mtime=0)
    reply = client.call(body=body, content_encoding="gzip")
    assert reply.json == {"Asked": {"TableName": "Orders"}}


def test_a_call_may_be_deflated_or_come_in_several_members(client: Client) -> None:
    text = b'{"TableName":"Orders"}'
    deflated = client.call(body=zlib.compress(text), content_encoding="deflate")
    assert deflated.json == {"Asked": {"TableName": "Orders"}}
    members = gzip.compress(text[:9], mtime=0) + gzip.compress(text[9:], mtime=0)
    assert client.call(body=members, content_encoding="GZIP").json == deflated.json


@pytest.mark.parametrize(
    ("body", "encoding"),
    [
        (b"{}", "br"),
        (b"{}", "deflate"),
        (zlib.compress(b"{}") + b"more", "deflate"),
        (gzip.compress(b"{}", mtime=0) * 65, "gzip"),
    ],
)
def test_an_encoding_that_cannot_be_undone_is_refused(
    client: Client, body: bytes, encoding: str
) -> None:
    assert client.call(body=body, content_encoding=encoding).error == (
        400,
        "SerializationException",
    )


@pytest.mark.parametrize(
    "body",
    [
        b"{}",
        gzip.compress(b"{}", mtime=0)[:-4],
        gzip.compress(b"{}", mtime=0) + b"more",
        b"\x1f\x8b",
    ],
)
def test_a_call_that_is_not_the_gzip_it_says_cannot_be_read(client: Client, body: bytes) -> None:
    assert client.call(body=body, content_encoding="gzip").error == (400, "SerializationException")


def test_a_compression_bomb_is_too_large_and_takes_no_time(client: Client) -> None:
    bomb = gzip.compress(bytes(10 * MAX_BODY), mtime=0)
    started = time.process_time()  # of the endpoint too, which is a thread of this process
    assert client.call(body=bomb, content_encoding="gzip").status == 413
    assert time.process_time() - started < 1
    assert client.call().status == 200


@pytest.mark.parametrize("value", [b"[]", b"1", b'""', b'"1"'])
def test_a_few_bytes_do_not_become_millions_of_values(client: Client, value: bytes) -> None:
    many = b'{"Text":[' + b",".join([value] * 2_000_000) + b"]}"
    assert client.call(body=gzip.compress(many), content_encoding="gzip").status == 413
    long = b'{"Text":"' + b"abc, " * 2_000_000 + b'"}'
    assert client.call(body=long).status == 200


def test_a_large_answer_is_compressed_for_who_takes_it_and_summed_as_sent(client: Client) -> None:
    large = {"Text": "abc" * 20_000}
    reply = client.call("GetItem", large, accept_encoding="deflate, gzip;q=0.5")
    assert reply.headers["content-encoding"] == "gzip"
    assert int(reply.headers["x-amz-crc32"]) == zlib.crc32(reply.body)
    assert json.loads(gzip.decompress(reply.body)) == {"Asked": large}
    assert len(reply.body) < 2_000


@pytest.mark.parametrize("accepted", [None, "identity", "gzip;q=0", "deflate, br", "x-gzipped"])
def test_a_large_answer_stays_plain_for_who_does_not(client: Client, accepted: str | None) -> None:
    reply = client.call("GetItem", {"Text": "abc" * 20_000}, accept_encoding=accepted)
    assert "content-encoding" not in reply.headers
    assert len(reply.body) > 60_000


def test_a_small_answer_is_never_compressed(client: Client) -> None:
    assert "content-encoding" not in client.call(accept_encoding="gzip").headers


@given(st.sampled_from(["gzip", "GZIP", " gzip "]), st.sampled_from(["", ";q=0.001", "; q=1"]))
def test_gzip_is_found_anywhere_in_the_list(name: str, quality: str) -> None:
    header = f"br,{name}{quality},identity"
    assert accepts_gzip(header.encode())


# Limits.


def test_a_body_of_sixteen_megabytes_is_taken_and_one_byte_more_is_not(
    served_endpoint: Served,
) -> None:
    with served_endpoint.connect() as client:
        exact = b'{"A":"' + b"x" * (MAX_BODY - 8) + b'"}'
        assert len(exact) == MAX_BODY
        assert client.call("DescribeTable", body=exact).status == 200
        reply = client.call("DescribeTable", body=exact + b" ")
        assert (reply.status, reply.body) == (413, b"")
        assert client.is_closed()


def test_a_chunked_body_is_measured_as_it_comes(served_endpoint: Served) -> None:
    head = call(content_length=None, transfer_encoding="chunked", body=b"")
    with served_endpoint.connect() as client:
        assert client.send(head + b"2\r\n{}\r\n0\r\n\r\n").reply().status == 200
        chunk = b"100000\r\n" + bytes(0x100000) + b"\r\n"
        assert client.send(head + chunk * 17).reply().status == 413


def test_a_trailer_changes_nothing(client: Client) -> None:
    head = call(content_length=None, transfer_encoding="chunked", body=b"", x_amz_target=None)
    trailer = b"2\r\n{}\r\n0\r\nX-Amz-Target: DynamoDB_20120810.GetItem\r\n\r\n"
    assert client.send(head + trailer).reply().error == (400, "UnknownOperationException")


@pytest.mark.parametrize("endless", [b"X-Pad: " + b"x" * 100 + b"\r\n", b"x" * 100])
def test_a_head_without_end_is_refused(client: Client, endless: bytes) -> None:
    client.send(b"POST / HTTP/1.1\r\nHost: localhost\r\n" + endless * 10_000)
    assert client.reply().status == 431
    assert client.is_closed()


@pytest.mark.parametrize(
    "junk",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(40),  # a TLS hello
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        call(content_length="5, 6"),
        call(content_length="-1"),
        call(transfer_encoding="chunked"),  # beside a Content-Length: smuggling
        call().replace(b"Content-Length: 2", b"Content-Length: 2\r\nContent-Length: 3"),
        call().replace(b"\r\nX-Amz", b"\r\n X-Amz"),
    ],
)
def test_what_is_no_http_is_refused_after_the_calls_before_it(
    served_endpoint: Served, stand_in: StandIn, junk: bytes
) -> None:
    stand_in.may_commit.clear()
    with served_endpoint.connect() as client:
        client.send(call("PutItem") + junk)
        stand_in.may_commit.set()
        assert client.reply().status == 200
        assert client.reply().status == 400
        assert client.is_closed()


@pytest.mark.parametrize("method", ["POST", "CONNECT"])
def test_a_change_of_protocol_is_refused_in_plain_words(client: Client, method: str) -> None:
    reply = client.call(method=method, connection="Upgrade, HTTP2-Settings", upgrade="h2c")
    assert (reply.status, reply.headers["connection"]) == (400, "close")
    assert b"HTTP/1.1" in reply.body
    assert client.is_closed()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SECONDS_TO_SEND", "SECONDS_TO_TAKE", "SECONDS_IDLE", "SECONDS_TO_LINGER"):
        monkeypatch.setattr(connection_module, name, 0.1)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("sent", [b"", b"\r\n", call()[:30], call()[:-1], call(), b"\x00"])
def test_who_sends_too_slowly_or_nothing_is_cut_off(served_endpoint: Served, sent: bytes) -> None:
    with served_endpoint.connect() as client:
        client.send(sent)
        client.socket.settimeout(60)
        while chunk := client.socket.recv(65536):
            assert chunk.startswith(b"HTTP/1.1")


@pytest.mark.usefixtures("impatient")
def test_who_does_not_take_answers_is_cut_off(served_endpoint: Served) -> None:
    greedy = call("GetItem", {"Text": "x" * 1_000_000}) * 1_000
    with served_endpoint.connect() as client, pytest.raises(ConnectionError):
        client.send(greedy)


def test_one_connection_too_many_is_told_so(
    served_endpoint: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_module, "MAX_CONNECTIONS", 1)
    with served_endpoint.connect() as first, served_endpoint.connect() as second:
        assert first.call().status == 200
        assert second.reply().status == 503
        assert first.call().status == 200


# What is held for others.


def half_a_call(size: int, share: float = 0.9) -> bytes:
    """A call of so many bytes that breaks off."""
    whole = call("PutItem", {"TableName": "Orders", "Text": "x" * size})
    return whole[: int(len(whole) * share)]


def test_an_upload_that_breaks_off_is_let_go_at_once(served_endpoint: Served) -> None:
    gc.disable()
    try:
        clients = [served_endpoint.connect() for _ in range(4)]
        for client in clients:
            client.send(half_a_call(4_000_000))
        assert until(lambda: served_endpoint.endpoint.body_bytes > 14_000_000)
        lost = [weakref.ref(connection) for connection in served_endpoint.endpoint.connections]
        for client in clients:
            client.close()
        assert until(lambda: not served_endpoint.endpoint.connections)
        assert until(lambda: not any(connection() for connection in lost))
        assert served_endpoint.endpoint.body_bytes == 0
    finally:
        gc.enable()


def test_bodies_have_one_limit_together_and_small_calls_pass(
    served_endpoint: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        served_endpoint.connect() as slow,
        served_endpoint.connect() as large,
        served_endpoint.connect() as small,
    ):
        slow.send(half_a_call(1_200_000))
        assert until(lambda: served_endpoint.endpoint.body_bytes > 1_070_000)
        monkeypatch.setattr(connection_module, "MAX_BODIES", 900_000)  # of what arrives from now on
        large.send(half_a_call(500_000, 1.0))
        refusal = large.reply()
        assert refusal.status == 503 and int(refusal.headers["retry-after"]) > 0
        assert small.call("GetItem", {"TableName": "Orders"}).status == 200
        slow.close()
        assert until(lambda: served_endpoint.endpoint.body_bytes == 0)
    with served_endpoint.connect() as again:
        text = {"TableName": "Orders", "Text": "x" * 500_000}
        assert again.call("PutItem", text).status == 200
    assert until(lambda: served_endpoint.endpoint.body_bytes == 0)


def test_what_was_answered_is_held_no_longer(served_endpoint: Served) -> None:
    with served_endpoint.connect() as client:
        for size in (10, 100_000, 2_000_000):
            client.call("PutItem", {"TableName": "Orders", "Text": "x" * size})
            client.send(call("PutItem", body=b"-" * size))
            assert client.reply().status == 400
            assert until(lambda: served_endpoint.endpoint.body_bytes == 0)


def test_a_small_gzip_of_many_lists_is_refused_beside_the_event_loop(
    served_endpoint: Served,
) -> None:
    lists = gzip.compress(b"[" + b"[]," * 5_000_000 + b"[]]")
    assert len(lists) < 20_000
    with served_endpoint.connect() as hostile, served_endpoint.connect() as other:
        hostile.send(call("PutItem", body=lists, content_encoding="gzip"))
        assert other.call("GetItem", {"TableName": "Orders"}).status == 200
        assert hostile.reply().status == 413


def test_a_large_call_is_read_by_another_thread(served_endpoint: Served, stand_in: StandIn) -> None:
    threads: set[str] = set()
    read = protocol_module.read

    def read_and_note(given: Call) -> Request:
        threads.add(threading.current_thread().name)
        return read(given)

    with pytest.MonkeyPatch.context() as patch, served_endpoint.connect() as client:
        patch.setattr(protocol_module, "read", read_and_note)
        assert client.call("PutItem", {"TableName": "Orders", "Text": "x" * 300_000}).status == 200
        assert threads == {"bigtime-reader_0"}


@pytest.mark.parametrize("size", [1, 300_000])
def test_a_fault_in_reading_a_call_is_answered_and_logged(
    client: Client, caplog: pytest.LogCaptureFixture, size: int
) -> None:
    def fail(given: Call) -> Request:
        raise ZeroDivisionError

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(protocol_module, "read", fail)
        assert client.call("PutItem", {"Text": "x" * size}).error == (500, "InternalServerError")
    assert "a request cannot be read" in caplog.text
    assert client.call("PutItem", {"Text": "x" * size}).status == 200
