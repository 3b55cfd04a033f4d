"""The kit and the clients beside it do the same work, and an import is what it is measured as."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from bench import clients
from bench.beside_clients import check_same_work
from bench.clients import Client
from bench.deals import PAGE, deal, fields, key
from bench.imports import import_milliseconds

ROOT = Path(__file__).parents[2]
MAKERS: dict[str, Callable[[], Client]] = {
    maker.__name__: maker
    for maker in (
        clients.kit,
        clients.signed_kit,
        clients.boto3_client,
        clients.boto3_resource,
        clients.pynamodb,
        clients.dyntastic,
    )
}


@pytest.fixture(params=MAKERS)
def client(request: pytest.FixtureRequest) -> Client:
    return MAKERS[request.param]()


def test_every_client_reads_every_field_of_a_deal(client: Client) -> None:
    assert values(client.get()) == fields(0)


def test_every_client_reads_a_page_of_deals_in_order(client: Client) -> None:
    found = [values(each) for each in client.query()]
    assert found == [fields(number) for number in range(PAGE)]


def test_every_client_sends_the_same_item(client: Client) -> None:
    client.put()
    sent = request_of(client)
    assert sent["TableName"] == "Deals"
    item = {name: plain(value) for name, value in sent["Item"].items()}
    assert {name: comparable(value) for name, value in item.items()} == {**key(0), **fields(0)}


def test_every_client_asks_for_one_page_of_one_partition(client: Client) -> None:
    client.query()
    sent = request_of(client)
    assert sent["Limit"] in (PAGE, PAGE + 1)  # the kit looks one item ahead
    assert list(sent["ExpressionAttributeValues"].values()) == [{"S": key(0)["PK"]}]


def test_a_client_that_reads_something_else_is_not_raced() -> None:
    honest = clients.kit()
    short = replace(honest, query=lambda: [deal(0)])
    wrong = replace(honest, get=lambda: deal(1))
    check_same_work([honest])
    for other in (short, wrong):
        with pytest.raises(AssertionError):
            check_same_work([honest, other])


def test_an_import_is_timed_from_bytecode_whatever_the_environment_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    seen = import_milliseconds(tmp_path, starts=1)
    assert 0 < seen["pydantic"] < seen["kit"]
    compiled = {path.name.partition(".")[0] for path in tmp_path.rglob("*.pyc")}
    assert {"main", "entity", "query"} <= compiled


def test_importing_the_kit_brings_neither_its_tools_nor_a_transport() -> None:
    program = "import bigtime.model, json, sys; print(json.dumps([*sys.modules]))"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    loaded = set(json.loads(done.stdout))
    tools = {f"bigtime.model.{name}" for name in ("audit", "charts", "explanation", "verification")}
    assert "bigtime.model.operations.query" in loaded
    assert not loaded & {*tools, "bigtime.engine", "bigtime.store", "apsw", "boto3", "botocore"}


def request_of(client: Client) -> dict[str, Any]:
    sent = client.answers.sent
    request: dict[str, Any] = json.loads(sent) if isinstance(sent, bytes) else dict(sent)
    return request


def values(found: Any) -> dict[str, Any]:
    """The fields of a deal, in whichever form a client gives it."""
    told = found.get if isinstance(found, dict) else lambda name: getattr(found, name)
    return {name: comparable(plain(told(name))) for name in fields(0)}


def plain(value: Any) -> Any:
    """What an attribute holds, where it is one."""
    if not isinstance(value, dict):
        return value
    ((tag, held),) = value.items()
    return Decimal(held) if tag == "N" else set(held) if tag == "SS" else held


def comparable(value: Any) -> Any:
    """Times have several spellings; a number may be a float."""
    if isinstance(value, float):
        return Decimal(str(value))
    if isinstance(value, str) and value.startswith("2026-"):
        return datetime.fromisoformat(value)
    return value
