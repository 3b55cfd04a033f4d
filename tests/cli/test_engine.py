"""`bigtime engine serve`: where it keeps things, what it refuses, how it ends."""

from __future__ import annotations

import signal
import socket
import stat
import threading
import time
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.exceptions import BotoCoreError

from bigtime.engine import Engine
from tests.cli.program import ask, run, server
from tests.engine.damage import change

ORDERS: Any = {
    "TableName": "Orders",
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "BillingMode": "PAY_PER_REQUEST",
}


def client(url: str) -> Any:
    return boto3.client(
        "dynamodb",
        endpoint_url=url,
        region_name="us-east-1",
        aws_access_key_id="local",
        aws_secret_access_key="local",
    )


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_it_says_where_it_listens_and_how_to_get_there(tmp_path: Path) -> None:
    with server("--data", tmp_path / "shop.db") as running:
        said = running.stop()
    assert running.said == f"The engine listens on {running.url}\n"
    assert f'endpoint_url="{running.url}"' in said
    assert f"--endpoint-url {running.url}" in said
    assert str(tmp_path / "shop.db") in said


def test_what_is_stored_is_there_after_a_restart(tmp_path: Path) -> None:
    file = tmp_path / "shop.db"
    with server("--data", file) as running:
        client(running.url).create_table(**ORDERS)
        client(running.url).put_item(TableName="Orders", Item={"pk": {"S": "a"}})
    with server("--data", file, "--durability", "relaxed") as running:
        assert client(running.url).scan(TableName="Orders")["Items"] == [{"pk": {"S": "a"}}]


def test_without_a_word_it_keeps_its_data_here_for_its_owner_alone(tmp_path: Path) -> None:
    with server(cwd=tmp_path) as running:
        client(running.url).create_table(**ORDERS)
        files = list((tmp_path / "data").iterdir())
        assert tmp_path / "data" / "bigtime.db" in files
        assert mode(tmp_path / "data") == 0o700
        assert {mode(file) for file in files} == {0o600}


def test_memory_leaves_nothing_behind(tmp_path: Path) -> None:
    with server("--memory", cwd=tmp_path) as running:
        client(running.url).create_table(**ORDERS)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("host", ["localhost", "::1"])
def test_it_listens_on_any_loopback_address(host: str) -> None:
    with server("--memory", "--host", host) as running:
        assert client(running.url).list_tables()["TableNames"] == []


# What it refuses.


def test_data_and_memory_at_once_is_refused() -> None:
    done = ask("engine", "serve", "--data", "x.db", "--memory")
    assert done.returncode == 2
    assert done.stderr == "Choose --data PATH or --memory, not both.\n"


def test_a_taken_port_is_told_in_a_sentence() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run("engine", "serve", "--memory", "--port", port)
    assert done.returncode == 1
    assert done.stderr == (
        f"Port {port} is taken: another program listens there. Choose another with --port.\n"
    )


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "nowhere.invalid"])
def test_an_address_that_others_can_reach_is_refused(host: str) -> None:
    done = ask("engine", "serve", "--memory", "--host", host)
    assert done.returncode == 2
    assert f"'{host}' is not a loopback address" in done.stderr


@pytest.mark.parametrize("port", ["-1", "65536", "http"])
def test_a_port_that_is_none_is_refused(port: str) -> None:
    done = ask("engine", "serve", "--memory", "--port", port)
    assert done.returncode == 2
    assert "--port" in done.stderr


def test_a_durability_that_is_none_is_refused() -> None:
    done = ask("engine", "serve", "--memory", "--durability", "none")
    assert done.returncode == 2
    assert "full" in done.stderr and "relaxed" in done.stderr


def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("milk, eggs, tea\n" * 1000)
    done = ask("engine", "serve", "--data", file)
    assert done.returncode == 1
    assert str(file) in done.stderr and "Traceback" not in done.stderr
    assert file.read_text() == "milk, eggs, tea\n" * 1000


def test_a_directory_is_refused(tmp_path: Path) -> None:
    done = ask("engine", "serve", "--data", tmp_path)
    assert (done.returncode, done.stderr) == (
        1,
        f"{tmp_path} is a directory; name a file in it.\n",
    )


def test_a_path_under_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = ask("engine", "serve", "--data", tmp_path / "file" / "shop.db")
    assert done.returncode == 1
    assert "cannot be opened" in done.stderr and "Traceback" not in done.stderr


# The end.


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly_under_load(tmp_path: Path, number: signal.Signals) -> None:
    file = tmp_path / "shop.db"
    acknowledged: list[str] = []
    with server("--data", file) as running:
        client(running.url).create_table(**ORDERS)
        writers = [
            threading.Thread(target=write, args=(running.url, name, acknowledged))
            for name in "abcd"
        ]
        for writer in writers:
            writer.start()
        while len(acknowledged) < 100:
            time.sleep(0.001)
        running.process.send_signal(number)
        assert running.process.wait(60) == 0
        for writer in writers:
            writer.join()
        assert running.process.stdout is not None
        assert "Traceback" not in running.process.stdout.read()
    with Engine.open(file) as engine:
        stored = engine.boto3_client().scan(TableName="Orders")["Items"]
    assert set(acknowledged) <= {item["pk"]["S"] for item in stored}


def write(url: str, name: str, acknowledged: list[str]) -> None:
    """Writes until the server is gone."""
    writer = client(url)
    for number in range(100_000):
        try:
            writer.put_item(TableName="Orders", Item={"pk": {"S": f"{name}{number}"}})
        except BotoCoreError:
            return
        acknowledged.append(f"{name}{number}")


# Scrub and compact.


def fill_file(path: Path) -> Path:
    with Engine.open(path, durability="relaxed", housekeeping=False) as engine:
        orders = engine.boto3_client()
        orders.create_table(**ORDERS)
        for number in range(20):
            orders.put_item(TableName="Orders", Item={"pk": {"S": str(number)}})
    return path


def test_a_sound_file_is_scrubbed_and_compacted(tmp_path: Path) -> None:
    file = fill_file(tmp_path / "shop.db")
    scrubbed = ask("engine", "scrub", file)
    assert scrubbed.returncode == 0
    assert "1 tables, 20 items" in scrubbed.stdout and "0 wrong, 0 repaired" in scrubbed.stdout
    compacted = ask("engine", "compact", file)
    assert compacted.returncode == 0 and "with checksums" in compacted.stdout
    assert ask("engine", "scrub", file).returncode == 0


def test_a_wrong_count_is_shown_and_repaired(tmp_path: Path) -> None:
    file = fill_file(tmp_path / "shop.db")
    change(file, "UPDATE counts SET items = 7")
    wrong = ask("engine", "scrub", file)
    assert wrong.returncode == 1 and "wrong: Orders: the table has 20 items" in wrong.stdout
    repaired = ask("engine", "scrub", file, "--repair")
    assert repaired.returncode == 0 and "0 wrong, 1 repaired" in repaired.stdout


@pytest.mark.parametrize("verb", ["scrub", "compact"])
def test_a_missing_file_is_a_sentence_and_is_not_made(tmp_path: Path, verb: str) -> None:
    done = ask("engine", verb, tmp_path / "missing.db")
    assert done.returncode == 1 and "is not there." in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_file_in_use_is_not_compacted(tmp_path: Path) -> None:
    with server("--data", tmp_path / "shop.db") as running:
        client(running.url).create_table(**ORDERS)
        done = ask("engine", "compact", tmp_path / "shop.db")
        assert done.returncode == 1 and "open in another process" in done.stderr
        assert ask("engine", "scrub", tmp_path / "shop.db").returncode == 0
        assert client(running.url).list_tables()["TableNames"] == ["Orders"]
