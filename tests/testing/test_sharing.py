"""What clients made inside `intercept()` share, and what stays each client's own."""

from __future__ import annotations

import ssl
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from shutil import which
from threading import Barrier
from types import SimpleNamespace
from typing import Any

import boto3
import botocore.hooks
import botocore.session
import pytest
from botocore.config import Config
from botocore.exceptions import ConnectionError as BotocoreConnectionError
from botocore.exceptions import SSLError

from bigtime.testing import intercept, sharing
from tests.store.scripted import answer, scripted_server

TABLES = answer(b'{"TableNames": ["Far away"]}')
OFF = Config(retries={"total_max_attempts": 1}, connect_timeout=5)
KEYS = {"aws_access_key_id": "a", "aws_secret_access_key": "b"}
MAKE = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext"


@pytest.fixture(autouse=True)
def _own_session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if which("openssl") is None:
        pytest.skip("a certificate is made with openssl: install it")
    file = tmp_path_factory.mktemp("tls") / "certificate.pem"
    options = ("subjectAltName=IP:127.0.0.1", "-keyout", file, "-out", file)
    subprocess.run([*MAKE.split(), *options], check=True, capture_output=True)
    return file


@pytest.fixture
def tls(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


def client_of(url: str, **more: Any) -> Any:
    make: Any = boto3.Session(region_name="us-east-1").client
    return make("dynamodb", endpoint_url=url, config=OFF, **KEYS, **more)


# --- The network --------------------------------------------------------------------------------


def test_a_client_made_inside_speaks_tls_afterwards(tls: ssl.SSLContext, certificate: Path) -> None:
    with scripted_server(TABLES, tls=tls) as server:
        with intercept():
            made = client_of(server.url, verify=str(certificate))
            assert made.list_tables()["TableNames"] == []
        for _ in range(2):
            assert made.list_tables()["TableNames"] == ["Far away"]


def test_it_trusts_no_certificate_of_nobody_known(tls: ssl.SSLContext) -> None:
    with scripted_server(TABLES, tls=tls) as server:
        with intercept():
            made = client_of(server.url)
        with pytest.raises(SSLError, match="CERTIFICATE_VERIFY_FAILED"):
            made.list_tables()
        assert server.heard == []


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy"])
def test_a_proxy_of_the_environment_is_asked(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with scripted_server(TABLES) as proxy:
        with intercept():
            direct = client_of("http://127.0.0.1:1")
            monkeypatch.setenv(name, proxy.url)
            made = client_of("http://far-away.invalid")
            monkeypatch.setenv("no_proxy", "far-away.invalid")
            passing_by = client_of("http://far-away.invalid")
        assert made.list_tables()["TableNames"] == ["Far away"]
        for other in (direct, passing_by):
            with pytest.raises(BotocoreConnectionError):
                other.list_tables()
        assert [heard.line.split()[1] for heard in proxy.heard] == ["http://far-away.invalid/"]


# --- Classes, handlers, profiles ----------------------------------------------------------------


@pytest.fixture
def two() -> Iterator[tuple[Any, Any]]:
    """Two clients of one session."""
    with intercept():
        yield boto3.client("dynamodb"), boto3.client("dynamodb")


def test_what_is_set_on_the_class_of_a_client_is_its_own(two: tuple[Any, Any]) -> None:
    changed, other = two
    type(changed).list_tables = lambda self: {"TableNames": ["changed"]}
    assert changed.list_tables()["TableNames"] == ["changed"]
    assert other.list_tables()["TableNames"] == []


def test_a_session_adds_to_the_classes_of_its_clients_alone() -> None:
    def add(class_attributes: dict[str, Any], **_: Any) -> None:
        class_attributes["greet"] = lambda self: "hello"

    with intercept():
        session: Any = boto3.Session()
        before = session.client("dynamodb")
        session.events.register("creating-client-class.dynamodb", add)
        assert session.client("dynamodb").greet() == "hello"
        for other in (before, boto3.client("dynamodb")):
            assert not hasattr(other, "greet")


def test_operations_keep_their_names_and_help(two: tuple[Any, Any]) -> None:
    one, _ = two
    assert one.put_item.__name__ == "put_item"
    assert "Creates a new item" in str(one.put_item.__doc__)
    with pytest.raises(TypeError, match=r"put_item\(\) only accepts keyword arguments"):
        one.put_item("Things")


class Handler:
    def take(self, **_: Any) -> None: ...

    def take_model(self, model: Any) -> None: ...

    def __call__(self, **_: Any) -> None: ...


def test_handlers_must_take_any_keyword(two: tuple[Any, Any]) -> None:
    register = two[0].meta.events.register
    for good in (Handler().take, Handler(), partial(Handler.take, Handler()), lambda **_: None):
        register("before-call.dynamodb", good)
    for bad in (Handler().take_model, partial(Handler().take_model), lambda model: None):
        with pytest.raises(ValueError, match="must accept keyword arguments"):
            register("before-call.dynamodb", bad)


def test_handlers_of_one_client_come_and_go_without_another(two: tuple[Any, Any]) -> None:
    called: list[str] = []

    def note_call(**_: Any) -> None:
        called.append("noted")

    watched, other = two
    session: Any = boto3.DEFAULT_SESSION
    for event in ("before-call", "before-call.dynamodb", "before-call.dynamodb.ListTables"):
        for register in (watched.meta.events.register_first, watched.meta.events.register_last):
            register(event, note_call)
    other.list_tables()
    session.client("dynamodb").list_tables()
    assert called == []
    watched.list_tables()
    assert len(called) == 6
    watched.meta.events.unregister("before-call", note_call)
    watched.list_tables()
    assert len(called) == 6 + 5


def test_each_client_is_made_with_the_profile_of_its_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "config"
    regions = {"one": "eu-west-1", "two": "ap-south-1"}
    file.write_text("".join(f"[profile {n}]\nregion = {r}\n" for n, r in regions.items()))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(file))
    for name in ("AWS_DEFAULT_REGION", "AWS_REGION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_PROFILE", "one")
    with intercept():
        monkeypatch.delenv("AWS_DEFAULT_REGION")
        session: Any = boto3.Session()
        for name in (*regions, "one"):
            monkeypatch.setenv("AWS_PROFILE", name)
            assert session.client("dynamodb").meta.region_name == regions[name]
            assert session._session.get_scoped_config() == {"region": regions[name]}


def test_two_threads_make_clients_of_one_session(monkeypatch: pytest.MonkeyPatch) -> None:
    both = Barrier(2, timeout=10)

    def wait_and(function: Any) -> Any:
        def wait_and_call(*arguments: Any, **named: Any) -> Any:
            both.wait()
            return function(*arguments, **named)

        return wait_and_call

    with intercept(), ThreadPoolExecutor(2) as threads:
        session: Any = boto3.Session()
        session.client("dynamodb")
        together = SimpleNamespace(cache=wait_and(cache), partial=partial)
        monkeypatch.setattr(sharing, "functools", together)
        monkeypatch.setattr(sharing, "botocore_create", wait_and(sharing.botocore_create))
        for made in [threads.submit(session._session.create_client, "dynamodb") for _ in range(2)]:
            assert made.result().list_tables()["TableNames"] == []
        assert "get_scoped_config" not in vars(session._session)


def test_what_a_test_has_replaced_in_botocore_stays_so(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    create: Any = botocore.session.Session.create_client

    def note_client(self: Any, name: str, **options: Any) -> Any:
        made.append(name)
        return create(self, name, **options)

    monkeypatch.setattr(botocore.session.Session, "create_client", note_client)
    with intercept():
        assert client_of("http://far-away.invalid").list_tables()["TableNames"] == []
    assert made == ["dynamodb"]
    assert vars(botocore.session.Session)["create_client"] is note_client


def test_a_botocore_without_what_is_shared_is_intercepted_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(sys.modules, "bigtime.testing.sharing", raising=False)
    monkeypatch.delattr(vars(botocore.hooks)["_PrefixTrie"], "_recursive_copy")
    with pytest.raises(AttributeError):
        import_module("bigtime.testing.sharing")
    create = botocore.session.Session.create_client
    with intercept():
        assert botocore.session.Session.create_client is create


def test_the_user_agent_is_that_of_each_client(two: tuple[Any, Any]) -> None:
    seen: list[str] = []

    def note_agent(params: Any, **_: Any) -> None:
        seen.append(params["headers"]["User-Agent"])

    named_config: Any = Config
    named = boto3.client(
        "dynamodb", config=named_config(user_agent_appid="shop", user_agent_extra="more/1")
    )
    for one in (named, two[0]):
        one.meta.events.register("before-call.dynamodb", note_agent)
        one.list_tables()
    assert "app/shop" in seen[0] and seen[0].endswith("more/1")
    assert "app/shop" not in seen[1] and "more/1" not in seen[1]
