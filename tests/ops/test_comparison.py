"""Two tables are compared while they are written to."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bigtime.engine import Engine
from bigtime.ops import Comparison, Difference
from bigtime.store import Store
from bigtime.wire import Request
from tests.engine.calls import make_table

KEYS = {"Notes": {"name": "S"}}


@pytest.fixture
def stores() -> Iterator[tuple[Store, Store]]:
    with Engine.memory() as source, Engine.memory() as target:
        for engine in (source, target):
            make_table(engine, {"name": "S"}, name="Notes", keys=("name",))
        yield Store(source), Store(target)


def change(store: Store, operation: str, name: str) -> None:
    key = "Item" if operation == "PutItem" else "Key"
    store.send(Request(operation, {"TableName": "Notes", key: {"name": {"S": name}}}))


def test_an_item_that_is_met_on_both_walks_is_looked_at_once(stores: tuple[Store, Store]) -> None:
    source, target = stores
    change(source, "PutItem", "tea")
    found: list[Difference] = []

    def arrive_late(_: int) -> None:
        """As the item comes to the target, the source has deleted it."""
        change(source, "DeleteItem", "tea")
        change(target, "PutItem", "tea")

    Comparison(source, target, KEYS, report=found.append).run(arrive_late)
    assert [(each.kind, each.key) for each in found] == [
        ("only in the target", {"name": {"S": "tea"}})
    ]
