"""`bigtime migrate`: from a file to an endpoint, under writes, killed again and again."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bigtime.ops import CannotGoOn, migration
from bigtime.ops.migration_end import copy_policies, make_replicas, replica_settings
from bigtime.store import Store, open_store
from bigtime.wire import Item, Request, Response
from tests.cli.program import BIGTIME, INTERRUPTIBLE, WIDE, Server, invoke, server

KEYS = [
    {"AttributeName": "pk", "KeyType": "HASH"},
    {"AttributeName": "sk", "KeyType": "RANGE"},
]
THINGS: dict[str, Any] = {
    "TableName": "Things",
    "AttributeDefinitions": [
        {"AttributeName": "pk", "AttributeType": "S"},
        {"AttributeName": "sk", "AttributeType": "N"},
        {"AttributeName": "colour", "AttributeType": "S"},
    ],
    "KeySchema": KEYS,
    "BillingMode": "PAY_PER_REQUEST",
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "ByColour",
            "KeySchema": [{"AttributeName": "colour", "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["count"]},
        }
    ],
    "Tags": [{"Key": "team", "Value": "shop"}],
}
COLOURS = ("red", "green", "blue")


def thing(number: int, count: int = 0) -> Item:
    return {
        "pk": {"S": f"p{number % 7}"},
        "sk": {"N": str(number)},
        "count": {"N": str(count)},
        "colour": {"S": COLOURS[count % 3]},
        "blob": {"B": "AAEC"},
        "tags": {"SS": ["a", f"t{count}"]},
    }


def put(store: Store, item: Item, table: str = "Things") -> None:
    store.send(Request("PutItem", {"TableName": table, "Item": item}))


def delete(store: Store, number: int) -> None:
    key = {name: thing(number)[name] for name in ("pk", "sk")}
    store.send(Request("DeleteItem", {"TableName": "Things", "Key": key}))


def fill(setting: str, count: int, **changes: Any) -> None:
    with open_store(setting) as store:
        store.send(Request("CreateTable", {**THINGS, **changes}))
        for start in range(0, count, 25):
            puts = [
                {"PutRequest": {"Item": thing(number)}}
                for number in range(start, min(start + 25, count))
            ]
            store.send(Request("BatchWriteItem", {"RequestItems": {"Things": puts}}))


def contents(setting: str) -> dict[tuple[str, str], Item]:
    found: dict[tuple[str, str], Item] = {}
    with open_store(setting) as store:
        params: dict[str, Any] = {"TableName": "Things", "ConsistentRead": True}
        while True:
            page = store.send(Request("Scan", params))
            for item in page["Items"]:
                item["tags"]["SS"].sort()
                found[item["pk"]["S"], item["sk"]["N"]] = item
            if "LastEvaluatedKey" not in page:
                return found
            params["ExclusiveStartKey"] = page["LastEvaluatedKey"]


def describe_things(setting: str) -> dict[str, Any]:
    with open_store(setting) as store:
        table: dict[str, Any] = store.send(Request("DescribeTable", {"TableName": "Things"}))[
            "Table"
        ]
        return table


class Writer:
    """An application that writes to the source all the time: puts, updates, deletes."""

    def __init__(self, setting: str, items: int, seed: int) -> None:
        self.setting = setting
        self.items = items
        self.random = random.Random(seed)
        self.writes = 0
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def run(self) -> None:
        with open_store(self.setting) as store:
            while not self.stop.is_set():
                number = self.random.randrange(self.items + 200)
                if self.random.random() < 0.3:
                    delete(store, number)
                else:
                    put(store, thing(number, self.writes))
                self.writes += 1
                time.sleep(0.001)

    def __enter__(self) -> Writer:
        self.thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self.stop.set()
        self.thread.join()


@pytest.fixture
def source(tmp_path: Path) -> str:
    return f"file:{tmp_path / 'shop.db'}"


@pytest.fixture
def target(tmp_path: Path) -> Iterator[Server]:
    with server("--data", tmp_path / "target.db") as running:
        yield running


def command(source: str, target: str, state: Path, *more: str) -> list[str]:
    return ["migrate", "--from", source, "--to", target, "--state", str(state), *more]


def run_and_kill(arguments: list[str], state: Path, seconds: float) -> int:
    """Its exit code: it is killed so long after it has saved its state for the first time."""
    before = saved_at(state)
    with subprocess.Popen(
        [*BIGTIME, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=WIDE
    ) as child:
        while child.poll() is None and saved_at(state) in (before, None):
            time.sleep(0.005)
        try:
            return child.wait(seconds)
        except subprocess.TimeoutExpired:
            child.send_signal(signal.SIGKILL)
            return child.wait()


def saved_at(state: Path) -> int | None:
    return state.stat().st_mtime_ns if state.exists() else None


def migrate_under_kills(
    source: str, target: str, state: Path, *, items: int, kills: int, seed: int
) -> tuple[int, int]:
    """How many of the runs were killed, and how many writes there were meanwhile."""
    fill(source, items)
    chance = random.Random(seed)
    longest = min(2.0, items / 5_000)
    killed = 0
    with Writer(source, items, seed) as writer:
        for _ in range(kills):
            code = run_and_kill(command(source, target, state), state, chance.uniform(0, longest))
            killed += code == -signal.SIGKILL
        done = invoke(*command(source, target, state))
        assert done.exit_code == 0, done.output
        assert "all are the same" in done.stdout
    done = invoke(*command(source, target, state, "--finish"))
    assert done.exit_code == 0, done.output
    assert contents(target) == contents(source)
    return killed, writer.writes


@pytest.mark.proof
def test_a_killed_migration_loses_nothing_and_revives_nothing(
    source: str, target: Server, tmp_path: Path
) -> None:
    state = tmp_path / "state.json"
    killed, writes = migrate_under_kills(source, target.url, state, items=1_500, kills=3, seed=1)
    assert killed and writes
    assert [path.name for path in tmp_path.iterdir() if "state" in path.name] == []


@pytest.mark.proof
@pytest.mark.parametrize("seed", range(3))
def test_many_kills_lose_nothing(source: str, target: Server, tmp_path: Path, seed: int) -> None:
    killed, _ = migrate_under_kills(
        source, target.url, tmp_path / "state.json", items=20_000, kills=10, seed=seed
    )
    assert killed >= 5


def test_the_copy_is_made_like_the_source(source: str, target: Server, tmp_path: Path) -> None:
    stream = {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}
    fill(source, 10, StreamSpecification=stream, DeletionProtectionEnabled=True)
    with open_store(source) as store:
        ttl = {"AttributeName": "ends", "Enabled": True}
        store.send(
            Request("UpdateTimeToLive", {"TableName": "Things", "TimeToLiveSpecification": ttl})
        )
    state = tmp_path / "state.json"
    done = invoke(*command(source, target.url, state))
    assert done.exit_code == 0, done.output
    assert "created table Things in the target" in done.stdout
    assert "switched on" not in done.stdout
    assert not describe_things(target.url).get(
        "StreamSpecification"
    )  # its consumers would see copies
    with open_store(source) as store:  # a stream of keys has the item read from the source
        put(store, thing(3, count=9))
        delete(store, 4)
    done = invoke(*command(source, target.url, state, "--finish"))
    assert done.exit_code == 0, done.output
    assert f"BIGTIME_STORE={target.url}" in done.stdout
    assert contents(target.url) == contents(source)
    there, here = describe_things(target.url), describe_things(source)
    for part in ("KeySchema", "AttributeDefinitions", "StreamSpecification"):
        assert there[part] == here[part]
    assert there["DeletionProtectionEnabled"]
    (index,) = there["GlobalSecondaryIndexes"]
    assert index["Projection"] == {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["count"]}
    with open_store(target.url) as store:
        arn = {"ResourceArn": there["TableArn"]}
        assert store.send(Request("ListTagsOfResource", arn))["Tags"] == THINGS["Tags"]
        expiry = store.send(Request("DescribeTimeToLive", {"TableName": "Things"}))
        assert expiry["TimeToLiveDescription"]["AttributeName"] == "ends"


def policy_of(resource: str, principal: str = "arn:aws:iam::000000000000:user/al") -> str:
    return json.dumps(
        {
            "Version": "2012-10-17",
            "Statement": [
                {
                    "Effect": "Allow",
                    "Principal": {"AWS": principal},
                    "Action": "dynamodb:Get*",
                    "Resource": [resource, f"{resource}/index/*", f"{resource}2"],
                }
            ],
        }
    )


def read_policy(store: Store, arn: str) -> Any:
    answer = store.send(Request("GetResourcePolicy", {"ResourceArn": arn}))
    return json.loads(answer["Policy"])["Statement"][0]["Resource"]


def test_policies_are_copied_and_replicas_are_made(
    source: str, target: Server, tmp_path: Path
) -> None:
    stream = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
    fill(source, 3, StreamSpecification=stream)
    here = describe_things(source)
    with open_store(source) as store:
        for arn in (here["TableArn"], here["LatestStreamArn"]):
            store.send(Request("PutResourcePolicy", {"ResourceArn": arn, "Policy": policy_of(arn)}))
        add_replica(store, "eu-west-1", OnDemandThroughputOverride={"MaxReadRequestUnits": 50})
    state = tmp_path / "state.json"
    done = invoke(*command(source, target.url, state))
    assert done.exit_code == 0, done.output
    assert "Things has replicas in eu-west-1: --finish makes them" in done.stdout
    assert "the table Things has a resource policy: --finish copies it" in done.stdout
    done = invoke(*command(source, target.url, state, "--finish"))
    assert done.exit_code == 0, done.output
    assert "copied the resource policy of the table Things" in done.stdout
    assert "copied the resource policy of the stream of Things" in done.stdout
    said = done.stdout.splitlines()
    (ready,) = [line for line in said if f"BIGTIME_STORE={target.url} now" in line]
    assert said.index(ready) < said.index("created a replica of Things in eu-west-1")
    there = describe_things(target.url)
    (replica,) = there["Replicas"]
    assert replica["ReplicaStatus"] == "ACTIVE"
    assert replica["OnDemandThroughputOverride"] == {"MaxReadRequestUnits": 50}
    assert not state.exists()
    with open_store(target.url) as store:
        for mine, copy in (
            (here["TableArn"], there["TableArn"]),
            (here["LatestStreamArn"], there["LatestStreamArn"]),
        ):
            assert read_policy(store, copy) == [copy, f"{copy}/index/*", f"{mine}2"]


def add_replica(store: Store, region: str, **settings: Any) -> None:
    create = [{"Create": {"RegionName": region, **settings}}]
    store.send(Request("UpdateTable", {"TableName": "Things", "ReplicaUpdates": create}))


def test_replicas_in_a_file_are_made_too(source: str, tmp_path: Path) -> None:
    fill(source, 3)
    with open_store(source) as store:
        add_replica(store, "eu-west-1")
    target, state = f"file:{tmp_path / 'other.db'}", tmp_path / "state.json"
    assert invoke(*command(source, target, state)).exit_code == 0
    done = invoke(*command(source, target, state, "--finish"))
    assert done.exit_code == 0, done.output
    (replica,) = describe_things(target)["Replicas"]
    assert replica["ReplicaStatus"] == "ACTIVE"
    assert (tmp_path / "other.eu-west-1.db").exists()


def test_a_target_without_replicas_has_them_named(
    source: str, target: Server, tmp_path: Path
) -> None:
    fill(source, 3)
    with open_store(source) as store:
        add_replica(store, "eu-west-1")
    with open_store(target.url) as store:  # a table with units is not replicated here
        units = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}
        indexes = [{**THINGS["GlobalSecondaryIndexes"][0], "ProvisionedThroughput": units}]
        made = {
            **THINGS,
            "BillingMode": "PROVISIONED",
            "ProvisionedThroughput": units,
            "GlobalSecondaryIndexes": indexes,
        }
        store.send(Request("CreateTable", made))
    state = tmp_path / "state.json"
    assert invoke(*command(source, target.url, state)).exit_code == 0
    done = invoke(*command(source, target.url, state, "--finish"))
    assert done.exit_code == 0, done.output
    assert "either be Pay-Per-Request or AutoScaled" in done.stdout
    assert '"ReplicaUpdates": [{"Create": {"RegionName": "eu-west-1"}}]' in done.stdout
    assert f"done: start the application with BIGTIME_STORE={target.url}" in done.stdout
    assert not state.exists()


def test_replicas_that_take_too_long_are_waited_for_again(
    source: str, target: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(source, 3)
    with open_store(source) as store:
        add_replica(store, "eu-west-1")
    state = tmp_path / "state.json"
    assert invoke(*command(source, target.url, state)).exit_code == 0
    with monkeypatch.context() as patch:
        patch.setattr(migration, "REPLICA_SECONDS", 0.0)
        done = invoke(*command(source, target.url, state, "--finish"))
    assert done.exit_code == 1
    failed = " ".join(done.stderr.split())
    assert "Things in eu-west-1" in failed
    assert "run the same again" in failed
    with open_store(target.url) as store:  # the application is on the target by now
        put(store, thing(99))
    done = invoke(*command(source, target.url, state))
    assert done.exit_code == 1
    assert "with --finish" in " ".join(done.stderr.split())
    done = invoke(*command(source, target.url, state, "--finish"))
    assert done.exit_code == 0, done.output
    assert describe_things(target.url)["Replicas"][0]["ReplicaStatus"] == "ACTIVE"
    assert ("p1", "99") in contents(target.url)


def test_a_replica_that_failed_is_named_with_its_status() -> None:
    failed = {"RegionName": "eu-west-1", "ReplicaStatus": "CREATION_FAILED"}
    arn = "arn:aws:dynamodb:us-east-1:000000000000:table/Things"
    answer = {"TableStatus": "ACTIVE", "TableArn": arn, "Replicas": [failed]}
    store = Store(lambda request: {"Table": answer})
    wanted = {"Things": [{"RegionName": "eu-west-1"}]}
    with pytest.raises(CannotGoOn, match="Things in eu-west-1: CREATION_FAILED"):
        make_replicas(store, wanted, seconds=60, say=print)


def test_what_a_replica_has_for_itself_is_carried_over() -> None:
    ceiling = {"OnDemandThroughputOverride": {"MaxReadRequestUnits": 7}}
    table = {
        "TableClassSummary": {"TableClass": "STANDARD"},
        "Replicas": [
            {
                "RegionName": "eu-west-1",
                "ReplicaStatus": "ACTIVE",
                "KMSMasterKeyId": "arn:aws:kms:eu-west-1:000000000000:key/k",
                "ReplicaTableClassSummary": {"TableClass": "STANDARD_INFREQUENT_ACCESS"},
                "GlobalSecondaryIndexes": [
                    {"IndexName": "ByColour", "WarmThroughput": {}, **ceiling},
                    {"IndexName": "ByName", "WarmThroughput": {}},
                ],
            },
            {
                "RegionName": "ap-south-1",
                "ReplicaStatus": "ACTIVE",
                "ReplicaTableClassSummary": {"TableClass": "STANDARD"},
            },
            {"RegionName": "us-west-2", "ReplicaStatus": "DELETING"},
        ],
    }
    assert replica_settings(table) == [
        {"RegionName": "ap-south-1"},
        {
            "RegionName": "eu-west-1",
            "TableClassOverride": "STANDARD_INFREQUENT_ACCESS",
            "GlobalSecondaryIndexes": [{"IndexName": "ByColour", **ceiling}],
        },
    ]


def test_a_policy_of_another_account_is_told_with_what_to_do(source: str) -> None:
    fill(source, 1)
    arn = describe_things(source)["TableArn"]
    copy = arn.replace("000000000000", "111122223333")

    def describe_there(request: Request) -> Response:
        assert request.operation == "DescribeTable"
        return {"Table": {"TableName": "Things", "TableArn": copy}}

    with open_store(source) as store:
        store.send(Request("PutResourcePolicy", {"ResourceArn": arn, "Policy": policy_of(arn)}))
        (sentence,) = copy_policies(store, Store(describe_there), "Things")
    assert "its principals are of account 000000000000, and the copy is in 111122223333" in sentence
    assert f"put it with PutResourcePolicy on {copy}" in sentence
    assert f'"{copy}/index/*"' in sentence


def test_a_difference_is_found_and_named(source: str, target: Server, tmp_path: Path) -> None:
    fill(source, 30)
    state = tmp_path / "state.json"
    assert invoke(*command(source, target.url, state)).exit_code == 0
    with open_store(target.url) as store:
        put(store, thing(7, count=1))
        put(store, thing(77))
        delete(store, 8)
    done = invoke(*command(source, target.url, state))
    assert done.exit_code == 1
    assert "3 of 30 items differ" in " ".join(done.stderr.split())
    assert done.stdout.count("differs") == 3


def test_finishing_waits_until_the_writes_stop(source: str, target: Server, tmp_path: Path) -> None:
    fill(source, 30)
    state = tmp_path / "state.json"
    assert invoke(*command(source, target.url, state)).exit_code == 0
    with Writer(source, 30, seed=5):
        done = invoke(*command(source, target.url, state, "--finish", "--no-compare"))
    assert done.exit_code == 1
    assert "Something still writes to the source" in done.stderr
    done = invoke(*command(source, target.url, state, "--finish"))
    assert done.exit_code == 0, done.output
    assert contents(target.url) == contents(source)


def test_two_at_once_are_refused(source: str, target: Server, tmp_path: Path) -> None:
    fill(source, 30)
    state = tmp_path / "state.json"
    arguments = command(source, target.url, state, "--follow")
    with subprocess.Popen(
        [*INTERRUPTIBLE, *arguments], stdout=subprocess.PIPE, text=True, env=WIDE
    ) as first:
        try:
            assert first.stdout is not None
            assert any("following the source" in line for line in iter(first.stdout.readline, ""))
            done = invoke(*command(source, target.url, state))
            first.send_signal(signal.SIGINT)
            assert first.wait(60) == 0
        finally:
            first.kill()
    assert done.exit_code == 1
    assert "Another process is at it" in done.stderr


def bad(source: str, target: str, *more: str) -> str:
    done = invoke("migrate", "--from", source, "--to", target, *more)
    assert done.exit_code in (1, 2)
    assert "Traceback" not in done.output
    return " ".join(done.stderr.split())


def test_what_cannot_be_is_said(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    other = f"file:{tmp_path / 'other.db'}"
    assert "There is no file" in bad(source, other)
    fill(source, 3)
    assert "same store" in bad(source, source)
    assert "memory" in bad("memory:", other)
    assert "BIGTIME_STORE" in bad("nonsense", other) or "file:" in bad("nonsense", other)
    assert "has no table Films" in bad(source, other, "--table", "Films")
    assert "not both" in bad(source, other, "--table", "Films", "--system", "shop")
    assert "no migration to finish" in bad(source, other, "--finish")
    fill(other, 1)
    assert "has items in the target already" in bad(source, other)
    third = f"file:{tmp_path / 'third.db'}"
    with open_store(third) as store:
        store.send(
            Request(
                "CreateTable",
                {
                    "TableName": "Things",
                    "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
                    "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
                    "BillingMode": "PAY_PER_REQUEST",
                },
            )
        )
    assert "another main key in the target (id)" in bad(source, third)
    state = tmp_path / "broken.json"
    state.write_text("{")
    assert "not the state of a job" in bad(source, other, "--state", str(state))


def test_a_system_is_migrated_by_the_real_names_of_its_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = f"file:{tmp_path / 'a.db'}", f"file:{tmp_path / 'b.db'}"
    fill(source, 1)
    monkeypatch.setenv("BIGTIME_TABLES", '{"*": "live-*"}')
    assert invoke("tables", "create", "shop", store=source).exit_code == 0
    state = tmp_path / "state.json"
    done = invoke(*command(source, target, state, "--system", "shop"))
    assert done.exit_code == 0, done.output
    monkeypatch.delenv("BIGTIME_TABLES")
    with open_store(target) as store:
        names = store.send(Request("ListTables", {}))["TableNames"]
    assert names and all(name.startswith("live-") for name in names)
