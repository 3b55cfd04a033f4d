"""The pytest plugin: fixtures for tests that ask for them, and no cost for those that do not."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.nested import COMMAND, nested_pytest, without_plugins

DESIGN = """
from bigtime.model import (Entity, Keys, Table, get)
from bigtime.advisor.explanation import Cost


class Note(Entity, table=Table("Notes", "id")):
    keys = Keys(main="{id}")
    id: str


def test_a_note_is_half_a_unit(pattern_cost: Cost) -> None:
    assert pattern_cost(get(Note.key("a"))).read_units == 0.5
"""
BYSTANDER = """
import sys


def test_nothing_of_bigtime_is_imported():
    loaded = [name for name in sys.modules if name.startswith("bigtime.")]
    assert loaded == ["bigtime.pytest_plugin"]
"""
TABLE = """
TABLE = {
    "TableName": "Notes",
    "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
    "BillingMode": "PAY_PER_REQUEST",
}
"""
INTERCEPTED = f"""
import boto3
import pytest
from bigtime.wire import Request
{TABLE}
early = boto3.Session(region_name="eu-west-1").client("dynamodb")


@pytest.mark.parametrize("number", range(4))
def test_each_test_has_an_engine(bigtime_intercept, number):
    early.create_table(**TABLE)
    assert bigtime_intercept(Request("ListTables", {{}})) == {{"TableNames": ["Notes"]}}


def test_faults(bigtime_intercept, bigtime_faults):
    early.create_table(**TABLE)
    bigtime_faults.throttle(next=1)
    answer = early.get_item(TableName="Notes", Key={{"id": {{"S": "a"}}}})
    assert answer["ResponseMetadata"]["RetryAttempts"] == 1


def test_the_clock_makes_items_expire(bigtime_intercept, bigtime_clock):
    early.create_table(**TABLE)
    early.update_time_to_live(
        TableName="Notes", TimeToLiveSpecification={{"Enabled": True, "AttributeName": "until"}}
    )
    until = int(bigtime_clock.seconds()) + 3600
    early.put_item(TableName="Notes", Item={{"id": {{"S": "a"}}, "until": {{"N": str(until)}}}})
    bigtime_intercept.tidy()
    assert early.scan(TableName="Notes")["Count"] == 1
    bigtime_clock.advance(hours=2)
    bigtime_intercept.tidy()
    assert early.scan(TableName="Notes")["Count"] == 0
"""
SERVED = f"""
import boto3
import pytest
{TABLE}


def client(url):
    return boto3.client(
        "dynamodb", endpoint_url=url, region_name="us-east-1",
        aws_access_key_id="a", aws_secret_access_key="b",
    )


@pytest.mark.parametrize("number", range(4))
def test_the_endpoint_is_emptied(bigtime_endpoint, bigtime_reset, number):
    client(bigtime_endpoint).create_table(**TABLE)
    assert client(bigtime_endpoint).list_tables()["TableNames"] == ["Notes"]
    bigtime_reset()
    assert client(bigtime_endpoint).list_tables()["TableNames"] == []


def test_the_server_has_an_engine(bigtime_server, bigtime_reset):
    with pytest.raises(Exception, match="ResourceNotFound"):
        client(bigtime_server.url).describe_table(TableName="Notes")
    bigtime_server.engine.faults.throttle(next=1)
"""
STORES = """
import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from bigtime.model import Entity, Keys, Steps, System, Table, create, get, now

NOTES = Table("Notes", "id")


class Note(Entity, table=NOTES):
    keys = Keys(main="{id}")
    id: str
    at: datetime


SYSTEM = System("notes", tables=(NOTES,))


def write(id: str) -> Steps[Note]:
    return (yield from create(Note(id=id, at=(yield from now()))))


@pytest.mark.parametrize("number", range(2))
def test_a_store_has_the_tables(bigtime_store, number):
    store = bigtime_store(SYSTEM)
    assert store.run(write("a")) == store.run(get(Note.key("a")))


def test_the_clock_is_the_stores(bigtime_store, bigtime_clock):
    bigtime_clock.stop(datetime(2030, 1, 1, tzinfo=UTC))
    store = bigtime_store(SYSTEM)
    assert store.run(write("a")).at == datetime(2030, 1, 1, tzinfo=UTC)
    bigtime_clock.advance(timedelta(days=1))
    assert store.run(write("b")).at == datetime(2030, 1, 2, tzinfo=UTC)


def test_options_are_the_stores(bigtime_store, bigtime_faults):
    seen = []
    store = bigtime_store(SYSTEM, hooks=[seen.append], sleep=lambda seconds: None)
    bigtime_faults.throttle(next=2)
    store.run(write("a"))
    assert [exchange.attempt for exchange in seen if exchange.request.operation == "PutItem"] == [
        1, 2, 3
    ]


def test_an_awaited_store(bigtime_store, bigtime_async_store):
    async def main():
        store = bigtime_async_store(SYSTEM)
        return await store.run(write("a"))

    assert asyncio.run(main()) == bigtime_store(SYSTEM).run(get(Note.key("a")))
"""


def run_pytest(
    directory: Path, tests: Mapping[str, str], command: list[str], environment: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    for name, text in tests.items():
        (directory / f"test_{name}.py").write_text(text)
    return subprocess.run(
        command,
        cwd=directory,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_a_test_takes_the_fixture_without_a_conftest(tmp_path: Path) -> None:
    done = run_pytest(tmp_path, {"it": DESIGN}, COMMAND, os.environ)
    assert done.returncode == 0, done.stdout


def test_a_run_that_does_not_use_it_imports_nothing_else(tmp_path: Path) -> None:
    done = run_pytest(tmp_path, {"it": BYSTANDER}, COMMAND, os.environ)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("workers", ["0", "2"])
def test_the_fixtures_alone_and_on_two_workers(workers: str, tmp_path: Path) -> None:
    tests = {"client": INTERCEPTED, "server": SERVED, "store": STORES}
    command = nested_pytest("-n", workers, plugins=("bigtime", "xdist"))
    done = run_pytest(tmp_path, tests, command, without_plugins(os.environ))
    assert done.returncode == 0, done.stdout
    assert "16 passed" in done.stdout
