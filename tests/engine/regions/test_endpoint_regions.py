"""boto3 clients of different regions, at one endpoint and in process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest

from bigtime.engine import Engine
from tests.cli.program import run, server
from tests.engine.calls import until
from tests.engine.regions.world import AWAY, HOME

Connect = Callable[..., Any]


def connect_to(url: str) -> Connect:
    def connect(region: str, service: str = "dynamodb") -> Any:
        create: Any = boto3.client
        return create(
            service,
            endpoint_url=url,
            region_name=region,
            aws_access_key_id="local",
            aws_secret_access_key="local",
        )

    return connect


@pytest.fixture(params=["endpoint", "process"])
def connect(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Connect]:
    if request.param == "endpoint":
        with server("--data", tmp_path / "shop.db") as running:
            yield connect_to(running.url)
    else:
        with Engine.memory() as engine:
            yield lambda region, service="dynamodb": engine.in_region(region).boto3_client(service)


def test_a_round_between_two_regions(connect: Connect) -> None:
    home, away = connect(HOME), connect(AWAY)
    home.create_table(
        TableName="orders",
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    # A region without a file answers as the home region.
    assert away.list_tables()["TableNames"] == ["orders"]
    home.put_item(TableName="orders", Item={"id": {"S": "before"}})
    home.update_table(TableName="orders", ReplicaUpdates=[{"Create": {"RegionName": AWAY}}])

    def is_active() -> bool:
        replicas = home.describe_table(TableName="orders")["Table"]["Replicas"]
        return bool(replicas[0]["ReplicaStatus"] == "ACTIVE")

    assert until(is_active)
    away.get_waiter("table_exists").wait(TableName="orders")
    away.put_item(TableName="orders", Item={"id": {"S": "after"}})
    assert until(lambda: home.scan(TableName="orders")["Count"] == 2)
    assert until(lambda: away.scan(TableName="orders")["Count"] == 2)
    for region in (HOME, AWAY):
        (stream,) = connect(region, "dynamodbstreams").list_streams()["Streams"]
        assert f":{region}:" in stream["StreamArn"]
    with pytest.raises(home.exceptions.ClientError, match="acted as a source region"):
        home.delete_table(TableName="orders")
    home.update_table(TableName="orders", ReplicaUpdates=[{"Delete": {"RegionName": AWAY}}])
    assert until(lambda: "Replicas" not in home.describe_table(TableName="orders")["Table"])
    assert away.list_tables()["TableNames"] == []


def test_regions_are_declared_on_the_command_line(tmp_path: Path) -> None:
    file = tmp_path / "shop.db"
    with server("--data", file, "--regions", AWAY, "--replication", "sync") as running:
        connect = connect_to(running.url)
        for region in (HOME, AWAY):
            connect(region).create_table(
                TableName=f"in-{region}",
                KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
                AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
                BillingMode="PAY_PER_REQUEST",
            )
        assert connect(HOME).list_tables()["TableNames"] == [f"in-{HOME}"]
        assert connect(AWAY).list_tables()["TableNames"] == [f"in-{AWAY}"]
    refused = run("engine", "serve", "--data", file, "--regions", "../x")
    assert refused.returncode == 2
    assert "not the name of a region" in refused.stderr
