"""Who asks DynamoDB: a session, a profile, a role; and inside moto nothing leaves the machine."""

from __future__ import annotations

import asyncio
import json
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import botocore.session
import pytest
from moto import mock_aws

from bigtime.engine import Engine
from bigtime.store import NotConnected, SettingError, Store, open_async_store, open_store
from bigtime.store.botocore_transport import BotocoreTransport
from bigtime.store.endpoint import LOCAL, Endpoint
from bigtime.testing import serve_in_thread
from bigtime.wire import Item, Request, ResourceNotFoundException
from tests.store.places import asking, create, get, put

REGION = "dynamodb:eu-west-1"
ROLE = "arn:aws:iam::123456789012:role/shop"
PROFILES = """
[profile staging]
region = ap-south-1
aws_access_key_id = STAGING
aws_secret_access_key = secret
"""


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    (tmp_path / "config").write_text(PROFILES)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", os.devnull)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


@pytest.fixture
def mock_without_network(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """moto, on a machine without a network."""

    def refuse(*arguments: object, **named: object) -> None:
        raise AssertionError(f"a socket was opened: {arguments}")

    for name in ("create_connection", "getaddrinfo"):
        monkeypatch.setattr(socket, name, refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    with mock_aws():
        yield


def endpoint_of(store: Store) -> Endpoint:
    assert isinstance(store.transport, BotocoreTransport)
    return store.transport.endpoint


@pytest.mark.usefixtures("mock_without_network")
def test_moto_answers_the_blocking_store() -> None:
    with open_store(REGION) as store:
        store.run(create())
        store.run(put("a"))
        assert store.run(get("a")) == {"pk": {"S": "a"}}
        with pytest.raises(ResourceNotFoundException):
            store.run(asking("DescribeTable", TableName="Nothing"))
        assert store.run(asking("ListStreams", TableName="Things"))["Streams"] == []
    client = boto3.client("dynamodb", region_name="eu-west-1")
    assert client.list_tables()["TableNames"] == ["Things"]


@pytest.mark.usefixtures("mock_without_network")
def test_moto_answers_the_awaited_store() -> None:
    async def main() -> Item | None:
        async with open_async_store(REGION) as store:
            await store.run(create())
            await store.run(put("a"))
            return await store.run(get("a"))

    assert asyncio.run(main()) == {"pk": {"S": "a"}}


def test_a_handler_of_before_send_gets_what_would_be_sent() -> None:
    seen: list[Any] = []
    session: Any = botocore.session.Session()
    session.set_credentials("key", "secret")
    session.register("before-send.dynamodb", lambda request, **_: seen.append(request))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("botocore.httpsession.URLLib3Session.send", lambda *_: Answer())
        with open_store(REGION, session=session) as store:
            assert store.run(get("a")) is None
    assert seen[0].url == "https://dynamodb.eu-west-1.amazonaws.com/"
    assert json.loads(seen[0].body)["TableName"] == "Things"
    assert "Credential=key/" in seen[0].headers["Authorization"]


class Answer:
    status_code = 200
    headers: dict[str, str] = {}
    content = b"{}"


def test_a_session_of_boto3() -> None:
    session = boto3.Session("KEY", "secret", "token", region_name="ap-south-1")
    with open_store(REGION, session=session) as store:
        endpoint = endpoint_of(store)
        assert endpoint.credentials.access_key == "KEY"
        assert endpoint.region == "eu-west-1"


def test_a_profile() -> None:
    with open_store(REGION, profile="staging") as store:
        assert endpoint_of(store).credentials.access_key == "STAGING"
    assert BotocoreTransport(profile="staging").endpoint.region == "ap-south-1"
    with pytest.raises(ValueError) as caught:
        open_store(REGION, profile="stagin")
    assert str(caught.value) == (
        "AWS's configuration files have no profile 'stagin'; they have staging."
    )


@pytest.mark.usefixtures("mock_without_network")
@pytest.mark.parametrize(
    "identity", [{}, {"profile": "staging"}, {"session": boto3.Session("K", "s")}]
)
def test_a_role_is_assumed(identity: dict[str, Any]) -> None:
    with open_store(REGION, role=ROLE, **identity) as store:
        store.run(create())
        credentials = endpoint_of(store).credentials
        assert credentials.method == "assume-role"
        frozen = credentials.get_frozen_credentials()
        assert f"{frozen.access_key}".startswith("ASIA") and frozen.token


@pytest.mark.usefixtures("mock_without_network")
def test_a_role_is_assumed_beside_the_event_loop() -> None:
    async def main() -> Item | None:
        async with open_async_store(REGION, role=ROLE) as store:
            await store.run(create())
            return await store.run(get("a"))

    assert asyncio.run(main()) is None


def test_a_role_that_is_refused_is_told() -> None:
    session: Any = botocore.session.Session()
    session.set_credentials("key", "secret")
    session.register("before-send.sts", lambda request, **_: Refusal(request))
    store = open_store(REGION, session=session, role=ROLE)
    with store, pytest.raises(NotConnected) as caught:
        store.run(get("a"))
    assert "cannot be renewed" in str(caught.value) and "AccessDenied" in str(caught.value)


class Refusal:
    status_code = 403
    headers: dict[str, str] = {}
    content = (
        b"<ErrorResponse><Error><Code>AccessDenied</Code><Message>no</Message></Error>"
        b"</ErrorResponse>"
    )

    def __init__(self, request: Any) -> None:
        self.request = request


def test_over_plain_http_no_credentials_are_used(engine: Engine) -> None:
    with serve_in_thread(engine) as url, open_store(url, profile="staging", role=ROLE) as store:
        store.run(create())
        assert endpoint_of(store).credentials is LOCAL


@pytest.mark.parametrize("setting", ["memory:", "file:shop.db"])
def test_a_local_store_takes_no_identity(setting: str) -> None:
    for opens in (open_store, open_async_store):
        with pytest.raises(SettingError) as caught:
            opens(setting, profile="staging", role=ROLE)
        assert "A profile and a role is for a store on AWS" in str(caught.value)


def test_a_session_has_its_profile() -> None:
    with pytest.raises(SettingError) as caught:
        open_store(REGION, session=boto3.Session(), profile="staging")
    assert "the one or the other" in str(caught.value)


def test_a_request_of_streams_is_announced_as_theirs(engine: Engine) -> None:
    events: list[str] = []
    session: Any = botocore.session.Session()
    session.register("before-send", lambda event_name, **_: events.append(event_name))
    with serve_in_thread(engine) as url:
        transport = BotocoreTransport(url=url, session=session)
        transport(Request("ListStreams", {}))
        transport(Request("ListTables", {}))
    assert events == ["before-send.dynamodb-streams.ListStreams", "before-send.dynamodb.ListTables"]
