"""An endpoint on a thread of the tests' own process."""

from __future__ import annotations

import socket
import threading

import pytest

from bigtime.engine import Engine, NotLoopback
from bigtime.store import open_store
from bigtime.testing import Server, serve_in_thread
from bigtime.wire import Request
from tests.store.places import create, get, put


def test_it_serves_and_leaves_the_engine_open(engine: Engine) -> None:
    with serve_in_thread(engine) as url, open_store(url) as store:
        store.run(create())
        store.run(put("a"))
    assert not [thread for thread in threading.enumerate() if thread.name == "bigtime-serve"]
    assert engine(Request("ListTables", {})) == {"TableNames": ["Things"]}


def test_two_serve_at_once_on_ports_of_their_own(engine: Engine) -> None:
    with serve_in_thread(engine) as first, serve_in_thread(engine) as second:
        assert first != second
        with open_store(first) as store:
            store.run(create())
        with open_store(second) as store:
            assert store.run(get("a")) is None


def test_an_address_of_version_6(engine: Engine) -> None:
    with serve_in_thread(engine, host="::1") as url, open_store(url) as store:
        assert url.startswith("http://[::1]:")
        store.run(create())


def test_what_cannot_be_served_is_told(engine: Engine) -> None:
    with pytest.raises(NotLoopback):
        serve_in_thread(engine, host="0.0.0.0").__enter__()
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(OSError):
        serve_in_thread(engine, port=taken.getsockname()[1]).__enter__()


def test_an_error_inside_ends_it(engine: Engine) -> None:
    def fail() -> None:
        with serve_in_thread(engine):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert not [thread for thread in threading.enumerate() if thread.name == "bigtime-serve"]


def test_a_server_is_emptied_while_it_serves() -> None:
    with Server() as server, open_store(server.url) as store:
        store.run(create())
        server.engine.faults.throttle(next=1_000)
        server.reset()
        store.run(create())
        store.run(put("a"))
        assert store.run(get("a")) == {"pk": {"S": "a"}}
