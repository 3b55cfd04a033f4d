"""One setting chooses the store; a wrong one is told in a sentence."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from bigtime.engine import Engine
from bigtime.store import SettingError, Store, open_async_store, open_store
from bigtime.store.botocore_transport import BotocoreTransport
from bigtime.store.http_transport import HttpTransport
from bigtime.store.setting import VARIABLE, read_setting
from bigtime.testing import serve_in_thread
from tests.store.places import Time, create, get, put


def test_a_file_keeps_what_is_stored(tmp_path: Path) -> None:
    setting = f"file:{tmp_path}/data/shop.db"
    with open_store(setting) as store:
        store.run(create())
        store.run(put("a"))
    with open_store(setting) as store:
        assert store.run(get("a")) == {"pk": {"S": "a"}}


def test_blocking_and_awaited_stores_read_the_same_file(tmp_path: Path) -> None:
    setting = f"file:{tmp_path}/shop.db"
    with open_store(setting) as store:
        store.run(create())

    async def write() -> None:
        async with open_async_store(setting) as store:
            await store.run(put("a"))

    asyncio.run(write())
    with open_store(setting) as store:
        assert store.run(get("a")) == {"pk": {"S": "a"}}


def test_memory_keeps_nothing() -> None:
    for _ in range(2):
        with open_store("memory:") as store:
            store.run(create())


def test_an_endpoint_over_http(engine: Engine) -> None:
    async def read(url: str) -> object:
        async with open_async_store(url) as store:
            return await store.run(get("a"))

    with serve_in_thread(engine) as url:
        with open_store(f"{url}/") as store:
            store.run(create())
            store.run(put("a"))
        assert asyncio.run(read(url)) == {"pk": {"S": "a"}}


def test_a_region_of_aws() -> None:
    with open_store("dynamodb:af-south-1") as store:
        assert isinstance(store.transport, BotocoreTransport)
        assert store.transport.endpoint.url == "https://dynamodb.af-south-1.amazonaws.com/"
    awaited = open_async_store("dynamodb:af-south-1")
    assert isinstance(awaited.transport, HttpTransport)
    assert awaited.transport.endpoint.region == "af-south-1"


def test_a_region_of_another_partition() -> None:
    with open_store("dynamodb:eusc-de-east-1") as store:
        assert isinstance(store.transport, BotocoreTransport)
        assert store.transport.endpoint.url == "https://dynamodb.eusc-de-east-1.amazonaws.eu/"


def test_the_environment_is_asked_when_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, " memory: ")
    with open_store() as store:
        assert isinstance(store.transport, Engine)
    monkeypatch.setenv(VARIABLE, "nonsense")
    with open_store("memory:") as store:
        assert isinstance(store.transport, Engine)


def test_options_are_the_stores() -> None:
    time = Time()
    with open_store("memory:", clock=time.clock) as store:
        assert store.clock() == time.now


def test_closing_the_store_closes_the_engine_and_twice_is_once() -> None:
    store = open_store("memory:")
    store.close()
    store.close()
    with pytest.raises(RuntimeError) as caught:
        store.run(get("a"))
    assert "closed" in str(caught.value)


def test_a_store_leaves_open_what_it_did_not_open(engine: Engine) -> None:
    with Store(engine) as store:
        store.run(create())
    Store(engine).run(put("a"))


@pytest.mark.parametrize(
    ("setting", "word"),
    [
        ("", VARIABLE),
        ("   ", VARIABLE),
        ("shop.db", "names no store"),
        ("sqlite:shop.db", "names no store"),
        ("memory", "names no store"),
        ("file:", "needs a path"),
        ("file:///tmp/shop.db", "plain path"),
        ("file:/", "is a directory"),
        ("memory:shop", "file:shop"),
        ("dynamodb:", "dynamodb:af-south-1"),
        ("dynamodb:af-south", "names no region"),
        ("dynamodb:AF-SOUTH-1", "names no region"),
        ("http://", "no endpoint"),
        ("http:8000", "no endpoint"),
        ("http://127.0.0.1:port", "no endpoint"),
        ("http://127.0.0.1:8000/tables", "no endpoint"),
        ("http://key:secret@127.0.0.1:8000", "takes no name and password"),
        ("https://secret@127.0.0.1", "takes no name and password"),
        ("https://key:secret@[::1", "no endpoint"),
        ("https://[::1", "no endpoint"),
    ],
)
def test_a_wrong_setting_is_told_in_a_sentence(setting: str, word: str) -> None:
    for open_one in (open_store, open_async_store):
        with pytest.raises(SettingError) as caught:
            open_one(setting)
        assert word in str(caught.value)
        assert str(caught.value).endswith(".")
        assert "secret" not in f"{caught.value} {caught.value.__context__}"


def test_nothing_chosen_is_told_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    with pytest.raises(SettingError) as caught:
        open_store()
    assert f"set {VARIABLE} to file:shop.db" in str(caught.value)


def test_a_file_that_is_no_database_is_told_in_a_sentence(tmp_path: Path) -> None:
    letter = tmp_path / "letter.txt"
    letter.write_text("Dear friend, " * 100)
    with pytest.raises(SettingError) as caught:
        open_store(f"file:{letter}")
    assert f"file:{letter} cannot be opened" in str(caught.value)


def test_a_place_that_cannot_be_made_is_told_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SettingError) as caught:
        open_store(f"file:{tmp_path}/file/shop.db")
    assert "cannot be opened" in str(caught.value)


@pytest.mark.parametrize("text", ["FILE:shop.db", "Memory:", "HTTP://127.0.0.1:8000"])
def test_a_scheme_may_be_in_capitals(text: str) -> None:
    assert read_setting(text).kind in ("file", "memory", "endpoint")


def test_a_store_on_an_engine_does_not_load_what_only_a_network_needs() -> None:
    code = (
        "import sys; from bigtime.store import open_store; open_store('memory:').close(); "
        "print([name for name in ('aiohttp', 'botocore') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300
    )
    assert done.stdout.strip() == "[]"
