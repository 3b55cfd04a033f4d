"""The endpoint, byte by byte, before an engine that answers as it is told."""

from __future__ import annotations

import logging
import re
import socket
import threading
import zlib
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigtime.engine.http import endpoint as endpoint_module
from bigtime.engine.http.connection import Connection
from bigtime.engine.http.endpoint import Endpoint, NotLoopback, listen
from bigtime.wire import (
    ConditionalCheckFailedException,
    DynamoDBError,
    InternalServerError,
    Request,
    Response,
)
from tests.engine.raw_http import JSON_1_0, Client, Served, StandIn, call, serving


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
    reply = client.call(operation, service=service)
    assert reply.error == (400, "UnknownOperationException")
    sent = f"{service}.{operation}".encode().decode("latin-1")
    assert reply.json["message"] == f"There is no operation {sent}"


def test_blanks_after_a_header_are_no_part_of_it(client: Client) -> None:
    """RFC 9110, 5.5: "A field value does not include leading or trailing whitespace"."""
    assert client.call("GetItem \t").status == 200
    assert client.call("GetRecords  ", service="DynamoDBStreams_20120810").status == 200
    assert client.call(host="127.0.0.1:8000 ").status == 200


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


@pytest.mark.parametrize("parameter", ["", "; charset=utf-8"])
def test_a_body_in_the_json_of_other_services_finds_no_page(client: Client, parameter: str) -> None:
    reply = client.call(content_type=f"application/x-amz-json-1.1{parameter}")
    assert (reply.status, reply.headers["content-type"]) == (404, "text/html")
    assert b"<title>Page Not Found</title>" in reply.body


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
    served_endpoint: Served, stand_in: StandIn
) -> None:
    stand_in.may_commit.clear()
    with served_endpoint.connect() as writer, served_endpoint.connect() as reader:
        writer.send(call("PutItem", {"N": 1}))
        assert stand_in.committing.wait(60)
        assert reader.call("GetItem").status == 200
        stand_in.may_commit.set()
        assert writer.reply().json == {"Asked": {"N": 1}}


def test_a_client_that_leaves_before_its_answer_does_no_harm(
    served_endpoint: Served, stand_in: StandIn
) -> None:
    stand_in.may_commit.clear()
    with served_endpoint.connect() as client:
        client.send(call("PutItem") * 3)
        assert stand_in.committing.wait(60)
    stand_in.may_commit.set()
    with served_endpoint.connect() as client:
        assert client.call("PutItem").status == 200


def test_a_client_that_stops_sending_still_gets_its_answer(
    served_endpoint: Served, stand_in: StandIn
) -> None:
    stand_in.may_commit.clear()
    with served_endpoint.connect() as client:
        client.send(call("PutItem"))
        client.socket.shutdown(socket.SHUT_WR)
        assert stand_in.committing.wait(60)
        stand_in.may_commit.set()
        assert client.reply().status == 200
        assert client.is_closed()


def test_a_connection_is_kept_or_closed_as_the_client_says(served_endpoint: Served) -> None:
    with served_endpoint.connect() as client:
        assert client.call().headers["connection"] == "keep-alive"
        assert client.call(connection="close").headers["connection"] == "close"
        assert client.is_closed()
    with served_endpoint.connect() as client:
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
    served_endpoint: Served, stand_in: StandIn
) -> None:
    stand_in.may_commit.clear()
    with served_endpoint.connect() as busy, served_endpoint.connect() as idle:
        idle.call()
        busy.send(call("PutItem"))
        assert stand_in.committing.wait(60)
        served_endpoint.stop()
        assert idle.is_closed()
        with pytest.raises(ConnectionRefusedError):
            served_endpoint.connect()
        stand_in.may_commit.set()
        reply = busy.reply()
        assert (reply.status, reply.headers["connection"]) == (200, "close")
    served_endpoint.thread.join(60)
    assert not served_endpoint.thread.is_alive()


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
