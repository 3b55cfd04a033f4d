"""Both stores against a real `bigtime engine serve`, by the one setting."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from uuid import uuid4

import pytest

from bigtime.store import consume, open_async_store, open_store
from bigtime.wire import ConditionalCheckFailedException, Request, Response, Steps, Together
from tests.cli.program import server
from tests.store.places import STREAM, asking, create


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with server("--data", tmp_path_factory.mktemp("data") / "served.db") as running:
        yield running.url


def put_new(table: str, pk: str) -> Steps[bool]:
    item = {"pk": {"S": pk}}
    unless = "attribute_not_exists(pk)"
    try:
        yield Request("PutItem", {"TableName": table, "Item": item, "ConditionExpression": unless})
    except ConditionalCheckFailedException:
        return False
    return True


def whole_round(table: str) -> Steps[list[int]]:
    """A table, twenty writes at once, half of them again, and the count."""
    yield from create(table, StreamSpecification=STREAM)
    first: list[bool] = yield Together(tuple(put_new(table, f"{n}") for n in range(20)))
    again: list[bool] = yield Together(tuple(put_new(table, f"{n}") for n in range(10, 30)))
    found = yield from asking("Scan", TableName=table, ConsistentRead=True)
    return [sum(first), sum(again), found["Count"]]


def test_a_blocking_store(url: str) -> None:
    table, handled = f"Round-{uuid4()}", []

    def note(record: Response) -> Steps[None]:
        handled.append(record["dynamodb"]["Keys"]["pk"]["S"])
        yield from asking("ListTables", Limit=1)

    with open_store(url) as store:
        assert store.run(whole_round(table)) == [20, 10, 30]
        assert consume(store, table, note, name="test").run_once() == 30
    assert sorted(handled, key=int) == [f"{n}" for n in range(30)]


def test_an_awaited_store(url: str) -> None:
    table, handled = f"Round-{uuid4()}", []

    def note(record: Response) -> Steps[None]:
        handled.append(record["dynamodb"]["Keys"]["pk"]["S"])
        yield from asking("ListTables", Limit=1)

    async def main() -> None:
        async with open_async_store(url) as store:
            assert await store.run(whole_round(table)) == [20, 10, 30]
            assert await consume(store, table, note, name="awaited").run_once() == 30

    asyncio.run(main())
    assert sorted(handled, key=int) == [f"{n}" for n in range(30)]
