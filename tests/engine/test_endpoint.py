"""The endpoint, byte by byte, before an engine that answers as it is told."""

from __future__ import annotations

import gc
import gzip
import json
import logging
import re
import socket
import threading
import time
import weakref
import zlib
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigtime.engine.http import connection as connection_module
from bigtime.engine.http import endpoint as endpoint_module
from bigtime.engine.http.connection import Connection
from bigtime.engine.http.endpoint import Endpoint, NotLoopback, listen
from bigtime.engine.http.protocol import MAX_BODY, Call, accepts_gzip
from bigtime.wire import (
    ConditionalCheckFailedException,
    DynamoDBError,
    InternalServerError,
    Request,
    Response,
)
from tests.engine.calls import until
from tests.engine.raw_http import JSON_1_0, Client, Served, StandIn, call, serving


@pytest.fixture
def stand_in() -> StandIn:
    return StandIn()


@pytest.fixture
def served(stand_in: StandIn) -> Iterator[Served]:
    with serving(stand_in) as served:
        yield served


@pytest.fixture
def client(served: Served) -> Iterator[Client]:
    with served.connect() as client:
        yield client


# The protocol.


def test_an_answer_carries_its_checksum_and_a_request_id(client: Client) -> None:
    reply = client.call("GetItem", {"TableName": "Orders"})
    assert reply.status == 200
    assert reply.json == {"Asked": {"TableName": "Orders"}}
    assert reply.headers["content-type"] == JSON_1_0
    assert int(reply.headers["x-amz-crc32"]) == zlib.crc32(reply.body)
    assert re.fullmatch("[0-9A-V]{52}", reply.headers["x-amzn-requestid"])


def test_no_two_requests_have_one_id(client: Client) -> None:
    ids = {client.call().headers["x-amzn-requestid"] for _ in range(50)}
    assert len(ids) == 50


def test_plain_json_is_answered_as_plain_json(client: Client) -> None:
    reply = client.call(content_type="application/json; charset=utf-8")
    assert (reply.status, reply.headers["content-type"]) == (200, "application/json")


def test_a_call_needs_no_signature_and_any_will_do(client: Client) -> None:
    assert client.call(authorization=None).status == 200
    assert client.call(authorization="AWS4-HMAC-SHA256 nonsense").status == 200


@pytest.mark.parametrize(
    ("service", "operation"),
    [
        ("DynamoDB_20120810", "GetRecords"),
        ("DynamoDBStreams_20120810", "GetItem"),
        ("DynamoDB_20111205", "GetItem"),
        ("DynamoDB_20120810", ""),
        ("", "GetItem"),
        ("\x80\xff", "GetItem"),
    ],
)
def test_a_target_that_names_no_operation_is_unknown(
    client: Client, service: str, operation: str
) -> None:
    assert client.call(operation, service=service).error == (400, "UnknownOperationException")


def test_a_missing_target_is_unknown(client: Client) -> None:
    reply = client.call(x_amz_target=None)
    assert reply.json == {"__type": "com.amazon.coral.service#UnknownOperationException"}


def test_the_streams_have_a_service_of_their_own(client: Client) -> None:
    assert client.call("GetRecords", service="DynamoDBStreams_20120810").status == 200


@pytest.mark.parametrize(
    "body",
    [b"{", b'{"a":}', b"[1,]", b"\xff", b'"\\ud800"', b"NaN", b"[" * 20_000],
)
def test_a_body_that_is_no_json_cannot_be_deserialised(client: Client, body: bytes) -> None:
    reply = client.call(body=body)
    assert reply.status == 400
    assert reply.json == {"__type": "com.amazon.coral.service#SerializationException"}


def test_the_json_is_judged_before_the_target_but_a_missing_body_after_it(client: Client) -> None:
    assert client.call("", body=b"{").error == (400, "SerializationException")
    assert client.call("", body=b"").error == (400, "UnknownOperationException")


@pytest.mark.parametrize("content_type", [None, "text/plain", "application/xml", ""])
def test_a_body_of_another_content_type_is_an_unknown_operation(
    client: Client, content_type: str | None
) -> None:
    reply = client.call(content_type=content_type)
    assert (reply.status, reply.body) == (404, b"<UnknownOperationException/>\n")
    assert reply.headers["x-amz-crc32"] == "3552371480"


def test_get_is_a_health_check(client: Client) -> None:
    reply = client.call(method="GET", body=b"")
    assert (reply.status, reply.body) == (200, b"healthy: 127.0.0.1:8000 ")
    assert reply.headers["x-amz-crc32"] == str(zlib.crc32(reply.body))


def test_the_endpoint_to_use_is_the_one_that_was_asked() -> None:
    amazons = {"Address": "dynamodb.us-east-1.amazonaws.com", "CachePeriodInMinutes": 1440}
    with (
        serving(StandIn(lambda request: {"Endpoints": [amazons]})) as served,
        served.connect() as client,
    ):
        reply = client.call("DescribeEndpoints", {}, host="127.0.0.1:8000")
        assert reply.json == {"Endpoints": [{**amazons, "Address": "127.0.0.1:8000"}]}


@pytest.mark.parametrize("operation", ["TagResource", "UntagResource"])
def test_a_change_of_tags_is_answered_without_a_body(client: Client, operation: str) -> None:
    reply = client.call(operation, {})
    assert (reply.status, reply.body) == (200, b"")
    assert reply.headers["x-amz-crc32"] == "0"


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "TRACE"])
def test_other_methods_are_unknown(client: Client, method: str) -> None:
    assert client.call(method=method, body=b"").status == 404


def test_head_has_no_body(client: Client) -> None:
    reply = client.send(call(method="HEAD", body=b"")).reply(has_body=False)
    assert reply.status == 404
    assert client.call().status == 200


# What goes wrong in the engine.


def failing_with(error: Exception) -> StandIn:
    def fail(request: Request) -> Response:
        raise error

    return StandIn(fail)


@pytest.mark.parametrize("operation", ["GetItem", "PutItem"])
@pytest.mark.parametrize(
    "error",
    [ConditionalCheckFailedException(item={"pk": {"S": "a"}}), InternalServerError("disk full")],
)
def test_an_error_of_dynamodb_crosses_as_it_is(operation: str, error: DynamoDBError) -> None:
    with serving(failing_with(error)) as served, served.connect() as client:
        reply = client.call(operation)
        assert (reply.status, reply.json) == (error.status, error.body())


@pytest.mark.parametrize("operation", ["GetItem", "PutItem"])
def test_any_other_error_is_logged_under_the_request_id_and_not_told(
    operation: str, caplog: pytest.LogCaptureFixture
) -> None:
    secret = RuntimeError("the secret in the table")
    with serving(failing_with(secret)) as served, served.connect() as client:
        reply = client.call(operation)
        assert reply.error == (500, "InternalServerError")
        assert b"secret" not in reply.body
        assert client.call("DescribeTable").status == 500  # and the connection lives
    assert caplog.records[0].levelno == logging.ERROR
    assert reply.headers["x-amzn-requestid"] in caplog.text
    assert "the secret in the table" in caplog.text


def test_an_answer_that_is_no_json_is_an_internal_error() -> None:
    with serving(StandIn(lambda request: {"Item": object()})) as served, served.connect() as client:
        assert client.call().error == (500, "InternalServerError")


# Order, and many at once.


def test_calls_sent_at_once_are_answered_in_order(client: Client) -> None:
    operations = ["GetItem", "PutItem", "GetItem", "PutItem", "PutItem", "GetItem"] * 5
    client.send(b"".join(call(name, {"N": n}) for n, name in enumerate(operations)))
    answers = [client.reply().json["Asked"]["N"] for _ in operations]
    assert answers == list(range(len(operations)))


def test_thousands_of_calls_in_one_packet_are_all_answered(client: Client) -> None:
    client.send(call() * 3_000)
    assert {client.reply().status for _ in range(3_000)} == {200}


def test_a_write_that_waits_for_its_commit_holds_nobody_else_up(
    served: Served, stand_in: StandIn
) -> None:
    stand_in.may_commit.clear()
    with served.connect() as writer, served.connect() as reader:
        writer.send(call("PutItem", {"N": 1}))
        assert stand_in.committing.wait(60)
        assert reader.call("GetItem").status == 200
        stand_in.may_commit.set()
        assert writer.reply().json == {"Asked": {"N": 1}}


def test_a_client_that_leaves_before_its_answer_does_no_harm(
    served: Served, stand_in: StandIn
) -> None:
    stand_in.may_commit.clear()
    with served.connect() as client:
        client.send(call("PutItem") * 3)
        assert stand_in.committing.wait(60)
    stand_in.may_commit.set()
    with served.connect() as client:
        assert client.call("PutItem").status == 200


def test_a_client_that_stops_sending_still_gets_its_answer(
    served: Served, stand_in: StandIn
) -> None:
    stand_in.may_commit.clear()
    with served.connect() as client:
        client.send(call("PutItem"))
        client.socket.shutdown(socket.SHUT_WR)
        assert stand_in.committing.wait(60)
        stand_in.may_commit.set()
        assert client.reply().status == 200
        assert client.is_closed()


def test_a_connection_is_kept_or_closed_as_the_client_says(served: Served) -> None:
    with served.connect() as client:
        assert client.call().headers["connection"] == "keep-alive"
        assert client.call(connection="close").headers["connection"] == "close"
        assert client.is_closed()
    with served.connect() as client:
        client.send(call().replace(b"HTTP/1.1", b"HTTP/1.0"))
        assert client.reply().status == 200
        assert client.is_closed()


def test_a_call_may_arrive_one_byte_at_a_time(client: Client) -> None:
    for byte in call("GetItem", {"TableName": "Orders"}):
        client.send(bytes([byte]))
    assert client.reply().json == {"Asked": {"TableName": "Orders"}}


def test_a_client_that_asks_first_is_told_to_continue(client: Client) -> None:
    head, _, body = call(expect="100-continue").partition(b"\r\n\r\n")
    client.send(head + b"\r\n\r\n")
    assert client.file.readline() == b"HTTP/1.1 100 Continue\r\n"
    client.file.readline()
    assert client.send(body).reply().status == 200


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


def test_a_body_of_sixteen_megabytes_is_taken_and_one_byte_more_is_not(served: Served) -> None:
    with served.connect() as client:
        exact = b'{"A":"' + b"x" * (MAX_BODY - 8) + b'"}'
        assert len(exact) == MAX_BODY
        assert client.call("DescribeTable", body=exact).status == 200
        reply = client.call("DescribeTable", body=exact + b" ")
        assert (reply.status, reply.body) == (413, b"")
        assert client.is_closed()


def test_a_chunked_body_is_measured_as_it_comes(served: Served) -> None:
    head = call(content_length=None, transfer_encoding="chunked", body=b"")
    with served.connect() as client:
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
    served: Served, stand_in: StandIn, junk: bytes
) -> None:
    stand_in.may_commit.clear()
    with served.connect() as client:
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
def test_who_sends_too_slowly_or_nothing_is_cut_off(served: Served, sent: bytes) -> None:
    with served.connect() as client:
        client.send(sent)
        client.socket.settimeout(60)
        while chunk := client.socket.recv(65536):
            assert chunk.startswith(b"HTTP/1.1")


@pytest.mark.usefixtures("impatient")
def test_who_does_not_take_answers_is_cut_off(served: Served) -> None:
    greedy = call("GetItem", {"Text": "x" * 1_000_000}) * 1_000
    with served.connect() as client, pytest.raises(ConnectionError):
        client.send(greedy)


def test_one_connection_too_many_is_told_so(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_module, "MAX_CONNECTIONS", 1)
    with served.connect() as first, served.connect() as second:
        assert first.call().status == 200
        assert second.reply().status == 503
        assert first.call().status == 200


# Strangers.


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:8000", "127.0.0.1", "127.0.0.1:1", "[::1]", "[::1]:8000"]
)
def test_loopback_hosts_are_welcome(client: Client, host: str) -> None:
    assert client.call(host=host).status == 200


@pytest.mark.parametrize(
    "host",
    [
        None,
        "",
        "evil.example",
        "evil.example:8000",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "evil.example@127.0.0.1",
        "192.168.0.1:8000",
        "localhost\r\nHost: evil.example",
    ],
)
@pytest.mark.parametrize("method", ["POST", "GET"])
def test_a_name_rebound_to_loopback_is_refused(
    client: Client, method: str, host: str | None
) -> None:
    assert client.call(host=host, method=method).status == 403


def test_a_web_page_is_refused_and_no_answer_allows_one(client: Client) -> None:
    page = {"origin": "http://evil.example"}
    preflight = client.call(method="OPTIONS", access_control_request_method="POST", **page)
    simple = client.call(content_type="text/plain", **page)
    assert (preflight.status, simple.status) == (403, 404)
    for reply in (preflight, simple, client.call(**page)):
        assert not [name for name in reply.headers if name.startswith("access-control")]


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "192.0.2.1", "8.8.8.8"])
def test_it_listens_where_only_this_machine_can_reach_it(host: str) -> None:
    with pytest.raises(NotLoopback, match="loopback"):
        listen(host, 0)


def test_localhost_is_one_port_on_every_address_it_has() -> None:
    listeners = listen("localhost", 0)
    assert len({listener.getsockname()[1] for listener in listeners}) == 1
    for listener in listeners:
        listener.close()


# The end.


def test_a_stop_answers_what_has_arrived_and_takes_no_more(
    served: Served, stand_in: StandIn
) -> None:
    stand_in.may_commit.clear()
    with served.connect() as busy, served.connect() as idle:
        idle.call()
        busy.send(call("PutItem"))
        assert stand_in.committing.wait(60)
        served.stop()
        assert idle.is_closed()
        with pytest.raises(ConnectionRefusedError):
            served.connect()
        stand_in.may_commit.set()
        reply = busy.reply()
        assert (reply.status, reply.headers["connection"]) == (200, "close")
    served.thread.join(60)
    assert not served.thread.is_alive()


def test_a_commit_that_outlives_the_endpoint_does_no_harm(
    stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint_module, "SECONDS_TO_STOP", 0.1)
    stand_in.may_commit.clear()
    served = Served(stand_in)
    with served.connect() as client:
        client.send(call("PutItem"))
        assert stand_in.committing.wait(60)
        served.stop()
        served.thread.join(60)
        assert client.is_closed()
    failures: list[object] = []
    monkeypatch.setattr(threading, "excepthook", failures.append)
    stand_in.may_commit.set()
    stand_in.thread.join(60)
    assert not failures


# Whatever comes.


class Wire:
    """A transport that only remembers."""

    def __init__(self) -> None:
        self.sent = b""
        self.closed = False

    def write(self, data: bytes) -> None:
        self.sent += data

    def write_eof(self) -> None:
        self.closed = True

    close = write_eof

    def can_write_eof(self) -> bool:
        return True

    def is_closing(self) -> bool:
        return self.closed

    def pause_reading(self) -> None:
        pass

    resume_reading = pause_reading


def statuses(packets: list[bytes]) -> list[int]:
    endpoint = Endpoint(StandIn())
    endpoint.now, endpoint.date, endpoint.thread = 0.0, b"now", threading.get_ident()
    wire = Wire()
    connection = Connection(endpoint)
    connection.connection_made(wire)  # type: ignore[arg-type]
    for packet in packets:
        if not wire.closed:
            connection.data_received(packet)
    return [int(status) for status in re.findall(rb"HTTP/1\.1 (\d+) ", wire.sent)]


PIECES = st.one_of(
    st.binary(max_size=40),
    st.sampled_from([call(), call(body=b"{"), call(host="evil.example"), b"POST / HTTP/1.1\r\n"]),
    st.builds(lambda text: call(body=text.encode("utf-8", "replace")), st.text(max_size=40)),
)


@given(st.lists(PIECES, max_size=6))
def test_no_bytes_make_it_fail(packets: list[bytes]) -> None:
    assert set(statuses(packets)) <= {200, 400, 403, 404, 413, 431}


@given(st.lists(PIECES, max_size=6), st.data())
def test_how_the_bytes_are_cut_does_not_matter(packets: list[bytes], data: st.DataObject) -> None:
    whole = b"".join(packets)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=5)))
    parts = [whole[a:b] for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    assert statuses([part for part in parts if part]) == statuses([whole] if whole else [])


# What is held for others.


def half_a_call(size: int, share: float = 0.9) -> bytes:
    """A call of so many bytes that breaks off."""
    whole = call("PutItem", {"TableName": "Orders", "Text": "x" * size})
    return whole[: int(len(whole) * share)]


def test_an_upload_that_breaks_off_is_let_go_at_once(served: Served) -> None:
    gc.disable()
    try:
        clients = [served.connect() for _ in range(4)]
        for client in clients:
            client.send(half_a_call(4_000_000))
        assert until(lambda: served.endpoint.body_bytes > 14_000_000)
        lost = [weakref.ref(connection) for connection in served.endpoint.connections]
        for client in clients:
            client.close()
        assert until(lambda: not served.endpoint.connections)
        assert until(lambda: not any(connection() for connection in lost))
        assert served.endpoint.body_bytes == 0
    finally:
        gc.enable()


def test_bodies_have_one_limit_together_and_small_calls_pass(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served.connect() as slow, served.connect() as large, served.connect() as small:
        slow.send(half_a_call(1_200_000))
        assert until(lambda: served.endpoint.body_bytes > 1_070_000)
        monkeypatch.setattr(connection_module, "MAX_BODIES", 900_000)  # of what arrives from now on
        large.send(half_a_call(500_000, 1.0))
        refusal = large.reply()
        assert refusal.status == 503 and int(refusal.headers["retry-after"]) > 0
        assert small.call("GetItem", {"TableName": "Orders"}).status == 200
        slow.close()
        assert until(lambda: served.endpoint.body_bytes == 0)
    with served.connect() as again:
        text = {"TableName": "Orders", "Text": "x" * 500_000}
        assert again.call("PutItem", text).status == 200
    assert until(lambda: served.endpoint.body_bytes == 0)


def test_what_was_answered_is_held_no_longer(served: Served) -> None:
    with served.connect() as client:
        for size in (10, 100_000, 2_000_000):
            client.call("PutItem", {"TableName": "Orders", "Text": "x" * size})
            client.send(call("PutItem", body=b"-" * size))
            assert client.reply().status == 400
            assert until(lambda: served.endpoint.body_bytes == 0)


def test_a_small_gzip_of_many_lists_is_refused_beside_the_event_loop(served: Served) -> None:
    lists = gzip.compress(b"[" + b"[]," * 5_000_000 + b"[]]")
    assert len(lists) < 20_000
    with served.connect() as hostile, served.connect() as other:
        hostile.send(call("PutItem", body=lists, content_encoding="gzip"))
        assert other.call("GetItem", {"TableName": "Orders"}).status == 200
        assert hostile.reply().status == 413


def test_a_large_call_is_read_by_another_thread(served: Served, stand_in: StandIn) -> None:
    threads: set[str] = set()
    read = connection_module.read  # type: ignore[attr-defined]

    def noted(given: Call) -> Request:
        threads.add(threading.current_thread().name)
        return read(given)

    with pytest.MonkeyPatch.context() as patch, served.connect() as client:
        patch.setattr(connection_module, "read", noted)
        assert client.call("PutItem", {"TableName": "Orders", "Text": "x" * 300_000}).status == 200
        assert threads == {"bigtime-reader_0"}
