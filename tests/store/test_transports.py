"""The transports over a network, before servers that misbehave."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from botocore.credentials import Credentials
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from bigtime.store import (
    AsyncStore,
    ConnectionLost,
    GarbledAnswer,
    NoCredentials,
    NotConnected,
    Retries,
    ServerFailure,
    Store,
    TimedOut,
    TransportError,
)
from bigtime.store.botocore_transport import BotocoreTransport
from bigtime.store.endpoint import Endpoint
from bigtime.store.http_transport import HttpTransport
from bigtime.store.retries import STREAM_READS
from bigtime.wire import DynamoDBError, Request, Response, ValidationException
from tests.store.places import asking
from tests.store.scripted import HANG, HANG_UP, Heard, Scripted, answer, scripted_server

READ = Request("GetItem", {"TableName": "Things", "Key": {"pk": {"S": "é"}}})
ADD = Request("UpdateItem", {"TableName": "Things", "UpdateExpression": "ADD n :one"})
FOUND = answer(b'{"Item":{"pk":{"S":"a"}}}')
FAILED = answer(b'{"__type":"x#InternalServerError","message":"Oh"}', status=500)
QUICK: dict[str, Any] = {"connect_seconds": 0.3, "read_seconds": 0.3}

Asker = Callable[[Request], Response]
Opener = Callable[..., Any]


@contextmanager
def blocking_asker(url: str, *, retries: Retries, **options: Any) -> Iterator[Asker]:
    transport = BotocoreTransport(url=url, **{**QUICK, **options})
    with Store(transport, retries=retries, closes=[transport.close]) as store:
        yield store.send


@contextmanager
def awaiting_asker(url: str, *, retries: Retries, **options: Any) -> Iterator[Asker]:
    transport = HttpTransport(url=url, **{**QUICK, **options})
    store = AsyncStore(transport, retries=retries, closes=[transport.close])
    with asyncio.Runner() as runner:
        yield lambda request: runner.run(store.send(request))
        runner.run(store.close())


@pytest.fixture(params=[blocking_asker, awaiting_asker], ids=["blocking", "awaited"])
def opener(request: pytest.FixtureRequest) -> Opener:
    opener: Opener = request.param
    return opener


ONCE = Retries(attempts=1)
THRICE = Retries(attempts=3, first_seconds=0.001)


def failure(opener: Opener, request: Request, *answers: bytes) -> Exception:
    with scripted_server(*answers) as server, opener(server.url, retries=ONCE) as ask:
        with pytest.raises((TransportError, DynamoDBError)) as caught:
            ask(request)
        return caught.value


# What is sent.


def test_a_request_goes_out_as_it_is(opener: Opener) -> None:
    with scripted_server(FOUND) as server, opener(server.url, retries=ONCE) as ask:
        assert ask(READ) == {"Item": {"pk": {"S": "a"}}}
    (heard,) = server.heard
    assert heard.line == "POST / HTTP/1.1"
    assert heard.headers["x-amz-target"] == "DynamoDB_20120810.GetItem"
    assert heard.headers["content-type"] == "application/x-amz-json-1.0"
    assert heard.headers["accept-encoding"] == "identity"
    assert heard.headers["user-agent"].startswith("bigtime/")
    assert heard.body.decode() == '{"TableName":"Things","Key":{"pk":{"S":"é"}}}'


@pytest.mark.parametrize("operation", sorted(STREAM_READS))
def test_streams_are_a_service_of_their_own(opener: Opener, operation: str) -> None:
    with scripted_server(answer(b"{}")) as server, opener(server.url, retries=ONCE) as ask:
        ask(Request(operation, {}))
    assert server.heard[0].headers["x-amz-target"] == f"DynamoDBStreams_20120810.{operation}"


@pytest.mark.parametrize("operation", ["TagResource", "UntagResource"])
def test_tags_are_answered_without_a_body(opener: Opener, operation: str) -> None:
    with scripted_server(answer(b"")) as server, opener(server.url, retries=ONCE) as ask:
        assert ask(Request(operation, {})) == {}
    assert isinstance(failure(opener, READ, answer(b"")), GarbledAnswer)


def test_one_connection_serves_many_requests(opener: Opener) -> None:
    with scripted_server(FOUND) as server, opener(server.url, retries=ONCE) as ask:
        for _ in range(5):
            ask(READ)
        assert len(server.heard) == 5
        assert len(server.held) == 1


def signature(heard: Heard, secret: str) -> str:
    """Signature Version 4, worked out afresh from what arrived."""
    _, _, rest = heard.headers["authorization"].partition(" ")
    parts = dict(part.split("=", 1) for part in rest.split(", "))
    scope = parts["Credential"].partition("/")[2]
    signed = parts["SignedHeaders"]
    lines = [f"{name}:{heard.headers[name]}" for name in signed.split(";")]
    digest = hashlib.sha256(heard.body).hexdigest()
    canonical = "\n".join(["POST", "/", "", *lines, "", signed, digest])
    hashed = hashlib.sha256(canonical.encode()).hexdigest()
    text = "\n".join(["AWS4-HMAC-SHA256", heard.headers["x-amz-date"], scope, hashed])
    key = f"AWS4{secret}".encode()
    for word in scope.split("/"):
        key = hmac.digest(key, word.encode(), "sha256")
    return hmac.digest(key, text.encode(), "sha256").hex()


def test_what_arrives_is_what_was_signed(opener: Opener) -> None:
    who = Credentials("AKIDEXAMPLE", "s3cret", "t0ken")
    options = {"region": "af-south-1", "credentials": who, "retries": ONCE}
    with scripted_server(FOUND) as server, opener(server.url, **options) as ask:
        ask(READ)
    (heard,) = server.heard
    sent = heard.headers["authorization"]
    assert "Credential=AKIDEXAMPLE/" in sent and "/af-south-1/dynamodb/aws4_request" in sent
    signed = "SignedHeaders=content-type;host;x-amz-date;x-amz-security-token;x-amz-target"
    assert signed in sent
    assert heard.headers["x-amz-security-token"] == "t0ken"
    assert sent.endswith(f"Signature={signature(heard, 's3cret')}")


def test_an_open_wire_never_sees_real_credentials(
    opener: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDREAL")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "real")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "real")
    with scripted_server(FOUND) as server, opener(server.url, retries=ONCE) as ask:
        ask(READ)
    (heard,) = server.heard
    assert "Credential=local/" in heard.headers["authorization"]
    assert "x-amz-security-token" not in heard.headers


# What comes back.


def test_an_error_of_dynamodb_is_raised_as_itself(opener: Opener) -> None:
    refusal = answer(b'{"__type":"x#ValidationException","message":"No."}', status=400)
    error = failure(opener, READ, refusal)
    assert isinstance(error, ValidationException) and str(error) == "No."


def test_a_server_that_never_answers_is_a_time_out(opener: Opener) -> None:
    error = failure(opener, ADD, HANG)
    assert isinstance(error, TimedOut) and isinstance(error, TimeoutError)
    assert error.uncertain
    assert "did not answer UpdateItem in 0.3 s" in str(error)
    assert "may have been carried out" in str(error)


def test_an_answer_that_stops_half_way_is_no_answer(opener: Opener) -> None:
    error = failure(opener, READ, FOUND[:-5] + b"", HANG_UP)
    assert isinstance(error, TimedOut) and error.uncertain


def test_a_server_that_takes_no_connection_is_a_time_out(opener: Opener) -> None:
    with (
        crowded_listener() as url,
        opener(url, retries=ONCE) as ask,
        pytest.raises(TimedOut) as caught,
    ):
        ask(ADD)
    assert not caught.value.uncertain
    assert "took no connection in 0.3 s" in str(caught.value)


@contextmanager
def crowded_listener() -> Iterator[str]:
    """A listener whose queue is full: the kernel lets no one else in."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        waiting = []
        for _ in range(4):
            each = socket.socket()
            each.setblocking(False)
            each.connect_ex(listener.getsockname())
            waiting.append(each)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        for each in waiting:
            each.close()


def test_nobody_there_is_certain(opener: Opener) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    with opener(url, retries=ONCE) as ask, pytest.raises(NotConnected) as caught:
        ask(ADD)
    assert not caught.value.uncertain
    assert f"{url}/ cannot be reached" in str(caught.value)


def test_a_connection_that_ends_early_is_uncertain(opener: Opener) -> None:
    error = failure(opener, ADD, HANG_UP)
    assert isinstance(error, ConnectionLost) and error.uncertain


def test_a_wrong_checksum_is_not_believed(opener: Opener) -> None:
    error = failure(opener, READ, answer(b'{"Item":{}}', checksum=1))
    assert isinstance(error, GarbledAnswer) and error.uncertain


def test_an_answer_that_is_no_json_is_not_believed(opener: Opener) -> None:
    error = failure(opener, READ, answer(b"<html>Welcome to the airport</html>"))
    assert isinstance(error, GarbledAnswer)


# What is tried again.


@pytest.mark.parametrize("trouble", [HANG_UP, HANG, FAILED, answer(b"{}", checksum=1)])
def test_a_read_is_tried_again_after_any_trouble(opener: Opener, trouble: bytes) -> None:
    with scripted_server(trouble, FOUND) as server, opener(server.url, retries=THRICE) as ask:
        assert ask(READ) == {"Item": {"pk": {"S": "a"}}}
        assert len(server.heard) == 2


@pytest.mark.parametrize("trouble", [HANG_UP, HANG, FAILED])
@pytest.mark.parametrize(
    "request_", [ADD, Request("TransactWriteItems", {"TransactItems": []})], ids=["add", "transact"]
)
def test_a_write_that_may_have_been_carried_out_is_sent_once(
    opener: Opener, request_: Request, trouble: bytes
) -> None:
    with scripted_server(trouble, FOUND) as server, opener(server.url, retries=THRICE) as ask:
        with pytest.raises((TransportError, ServerFailure)):
            ask(request_)
        assert len(server.heard) == 1


def test_it_is_sent_again_for_those_who_ask(opener: Opener) -> None:
    bold = Retries(attempts=3, first_seconds=0.001, repeat_uncertain_writes=True)
    with scripted_server(HANG_UP, FAILED, FOUND) as server, opener(server.url, retries=bold) as ask:
        ask(ADD)
        assert len(server.heard) == 3


def test_a_transaction_with_a_token_is_sent_again(opener: Opener) -> None:
    once = Request("TransactWriteItems", {"TransactItems": [], "ClientRequestToken": "once"})
    with scripted_server(HANG_UP, FOUND) as server, opener(server.url, retries=THRICE) as ask:
        ask(once)
        first, second = server.heard
        assert first.body == second.body


def test_a_cancelled_request_leaves_the_transport_whole() -> None:
    async def main(server: Scripted) -> Response:
        transport = HttpTransport(url=server.url)
        async with AsyncStore(transport, retries=ONCE, closes=[transport.close]) as store:
            hanging = asyncio.create_task(store.run(asking("GetItem")))
            async with asyncio.timeout(60):
                while not server.heard:
                    await asyncio.sleep(0.01)
            hanging.cancel()
            with pytest.raises(asyncio.CancelledError):
                await hanging
            return await store.run(asking("GetItem"))

    with scripted_server(HANG, FOUND) as server:
        assert asyncio.run(main(server)) == {"Item": {"pk": {"S": "a"}}}


# Where AWS is.


@pytest.mark.parametrize(
    ("region", "host"),
    [
        ("af-south-1", "af-south-1.amazonaws.com"),
        ("cn-north-1", "cn-north-1.amazonaws.com.cn"),
    ],
)
def test_a_region_has_an_address_for_tables_and_one_for_streams(
    region: str, host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_CONFIG_FILE", "/dev/null")
    endpoint = Endpoint(region, credentials=Credentials("a", "b"))
    assert endpoint.call(READ).url == f"https://dynamodb.{host}/"
    assert endpoint.call(Request("ListStreams", {})).url == f"https://streams.dynamodb.{host}/"


@pytest.fixture
def stranger(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing of AWS is set up."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_PROFILE", "AWS_DEFAULT_REGION", "AWS_REGION"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "missing"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


@pytest.mark.usefixtures("stranger")
def test_without_credentials_nothing_is_sent_and_the_reason_is_said() -> None:
    with pytest.raises(NoCredentials) as caught, Store(BotocoreTransport("af-south-1")) as store:
        store.send(READ)
    assert "no AWS credentials" in str(caught.value)


@pytest.mark.usefixtures("stranger")
def test_without_a_region_there_is_no_endpoint() -> None:
    with pytest.raises(ValueError) as caught:
        Endpoint()
    assert "region" in str(caught.value)


# Proxies.


def test_the_environments_proxy_is_used(opener: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    with scripted_server(FOUND) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url.removeprefix("http://"))
        with opener("http://dynamodb.example:8000", retries=ONCE) as ask:
            ask(READ)
    assert proxy.heard[0].line == "POST http://dynamodb.example:8000/ HTTP/1.1"


def test_no_proxy_means_none(opener: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with scripted_server(FOUND) as server, opener(server.url, retries=ONCE) as ask:
        ask(READ)
    assert server.heard[0].line == "POST / HTTP/1.1"


# TLS.


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for 127.0.0.1 that vouches for itself, and its key, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    address = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(address, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = tmp_path_factory.mktemp("tls") / "certificate.pem"
    file.write_bytes(
        made.public_bytes(Encoding.PEM)
        + key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    )
    return file


@pytest.fixture
def tls(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


SOMEBODY: dict[str, Any] = {"credentials": Credentials("a", "b"), "retries": ONCE}


def test_a_certificate_of_a_trusted_authority_is_taken(
    opener: Opener, tls: ssl.SSLContext, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_CA_BUNDLE", str(certificate))
    with scripted_server(FOUND, tls=tls) as server, opener(server.url, **SOMEBODY) as ask:
        assert ask(READ) == {"Item": {"pk": {"S": "a"}}}


def test_a_certificate_of_nobody_known_is_not(opener: Opener, tls: ssl.SSLContext) -> None:
    with scripted_server(FOUND, tls=tls) as server, opener(server.url, **SOMEBODY) as ask:
        with pytest.raises(NotConnected) as caught:
            ask(READ)
        assert "CERTIFICATE_VERIFY_FAILED" in str(caught.value)
        assert server.heard == []
