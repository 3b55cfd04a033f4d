"""`bigtime engine serve --workers`: one port and one file, and workers that come and go."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import threading
import time
from functools import partial
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config

from tests.cli.program import Server, run, server
from tests.engine.calls import until

ORDERS: Any = {
    "TableName": "Orders",
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "BillingMode": "PAY_PER_REQUEST",
    "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"},
}


def client(url: str, service: str = "dynamodb") -> Any:
    make: Any = boto3.client
    return make(
        service,
        endpoint_url=url,
        region_name="us-east-1",
        aws_access_key_id="local",
        aws_secret_access_key="local",
        config=Config(retries={"total_max_attempts": 10, "mode": "standard"}),
    )


def workers_of(running: Server) -> list[int]:
    found = subprocess.run(
        ["pgrep", "-P", str(running.process.pid)], capture_output=True, text=True, check=False
    )
    return [int(pid) for pid in found.stdout.split()]


def has_successor(running: Server, before: set[int]) -> bool:
    return len(set(workers_of(running)) - before) == 1


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_what_one_worker_writes_the_others_read(tmp_path: Path) -> None:
    with server("--data", tmp_path / "shop.db", "--workers", 3) as running:
        assert len(workers_of(running)) == 3
        client(running.url).create_table(**ORDERS)
        for number in range(24):  # each over a connection of its own, so over some worker
            client(running.url).put_item(TableName="Orders", Item={"pk": {"S": str(number)}})
        assert {client(running.url).scan(TableName="Orders")["Count"] for _ in range(8)} == {24}
        said = running.stop()
    assert said.count("The engine listens on") == 1
    assert running.process.returncode == 0


def test_a_worker_that_is_killed_is_started_again_and_no_write_is_lost(tmp_path: Path) -> None:
    with server("--data", tmp_path / "shop.db", "--workers", 2) as running:
        client(running.url).create_table(**ORDERS)
        acknowledged: list[str] = []
        ended = threading.Event()

        def write() -> None:
            orders = client(running.url)
            number = 0
            while not ended.is_set():
                orders.put_item(TableName="Orders", Item={"pk": {"S": str(number)}})
                acknowledged.append(str(number))
                number += 1

        writer = threading.Thread(target=write)
        writer.start()
        for _ in range(4):
            before = set(workers_of(running))
            os.kill(min(before), signal.SIGKILL)
            assert until(partial(has_successor, running, before))
            time.sleep(0.2)
        ended.set()
        writer.join(60)
        items = client(running.url).scan(TableName="Orders")["Items"]
        assert {item["pk"]["S"] for item in items} >= set(acknowledged)
        assert len(acknowledged) > 20
        said = running.stop()
    assert said.count("ended: SIGKILL") == 4


def test_items_expire_whichever_worker_keeps_house(tmp_path: Path) -> None:
    with server("--data", tmp_path / "shop.db", "--workers", 2) as running:
        orders = client(running.url)
        orders.create_table(**ORDERS)
        orders.update_time_to_live(
            TableName="Orders",
            TimeToLiveSpecification={"Enabled": True, "AttributeName": "expires"},
        )
        past = {"N": str(int(time.time()) - 60)}
        for number in range(3):
            orders.put_item(TableName="Orders", Item={"pk": {"S": str(number)}, "expires": past})
            assert until(lambda: orders.scan(TableName="Orders", Select="COUNT")["Count"] == 0)
            if number == 0:
                os.kill(workers_of(running)[0], signal.SIGKILL)
        assert removals(client(running.url, "dynamodbstreams")) == ["0", "1", "2"]


def removals(streams: Any) -> list[str]:
    """The keys of the items that the stream says were removed."""
    arn = streams.list_streams()["Streams"][0]["StreamArn"]
    found = []
    for shard in streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"]:
        iterator = streams.get_shard_iterator(
            StreamArn=arn, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON"
        )["ShardIterator"]
        records = streams.get_records(ShardIterator=iterator)["Records"]
        found += [
            record["dynamodb"]["Keys"]["pk"]["S"]
            for record in records
            if record["eventName"] == "REMOVE"
        ]
    return sorted(found)


def test_without_its_supervisor_no_worker_goes_on(tmp_path: Path) -> None:
    with server("--data", tmp_path / "shop.db", "--workers", 2) as running:
        workers = workers_of(running)
        running.process.kill()
        running.process.wait(60)
        assert until(lambda: not any(is_alive(pid) for pid in workers))


def test_sigterm_answers_what_has_arrived(tmp_path: Path) -> None:
    with server("--data", tmp_path / "shop.db", "--workers", 2) as running:
        client(running.url).create_table(**ORDERS)
        workers = workers_of(running)
        port = int(running.url.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port), timeout=60):
            start = time.monotonic()
            running.process.terminate()
            assert running.process.wait(60) == 0
        assert time.monotonic() - start < 30
        assert not any(is_alive(pid) for pid in workers)
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port), timeout=60)


def test_what_cannot_be_served_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "no.db").write_text("this is no database" * 100)
    done = run("engine", "serve", "--data", tmp_path / "no.db", "--port", 0, "--workers", 3)
    assert done.returncode == 1
    assert done.stderr.count("no.db") == 1
    assert done.stdout == ""


def test_a_port_that_is_taken_is_told(tmp_path: Path) -> None:
    with server("--data", tmp_path / "one.db", "--workers", 2) as running:
        port = running.url.rpartition(":")[2]
        done = run("engine", "serve", "--data", tmp_path / "two.db", "--port", port, "--workers", 2)
    assert done.returncode == 1
    assert f"Port {port} is taken" in done.stderr


def test_memory_is_for_one_process() -> None:
    done = run("engine", "serve", "--memory", "--workers", 2)
    assert (done.returncode, done.stderr) == (
        2,
        "--memory is for one process: choose --data PATH for --workers.\n",
    )
