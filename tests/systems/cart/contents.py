"""What lies in a system's tables, to see that something has left no trace there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bigtime.model import System, verify
from bigtime.wire import Item
from tests.store.places import Place


def contents(place: Place, system: System) -> dict[str, list[Item]]:
    """Every item of every table, in an order of its own."""
    return {table.name: sorted(scan_items(place, table.name), key=repr) for table in system.tables}


def scan_items(place: Place, table: str) -> Iterator[Item]:
    params: dict[str, Any] = {"TableName": table, "ConsistentRead": True}
    while True:
        response = place.ask("Scan", **params)
        yield from response["Items"]
        if "LastEvaluatedKey" not in response:
            return
        params["ExclusiveStartKey"] = response["LastEvaluatedKey"]


@contextmanager
def assert_unchanged(place: Place, system: System) -> Iterator[None]:
    before = contents(place, system)
    yield
    assert contents(place, system) == before


def check_sound(place: Place, system: System) -> None:
    """Everything is as it is declared."""
    assert place.run(verify(system)) == []
