"""A store of a test's own, whose clock the test turns and whose tables it can look into."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, TypeVar

from bigtime.engine import Engine
from bigtime.model.operations.create_table import create_table_request
from bigtime.model.schema.reader import owns, projected_names
from bigtime.model.schema.table import MAIN, Table
from bigtime.store import Store
from bigtime.store.driver import Runnable
from bigtime.wire import AttributeValue, Item, Request, Response, check_item
from tests.model.designs import NOON

T = TypeVar("T")


class World:
    """An engine with the tables of a design, and the requests that were made of it."""

    def __init__(self, engine: Engine, *tables: Table) -> None:
        self.engine = engine
        self.moment = NOON
        self.requests: list[Request] = []
        self.before: Callable[[Request], None] | None = None
        self.store = Store(self.answer, clock=lambda: self.moment, sleep=lambda seconds: None)
        for table in tables:
            engine(create_table_request(table))

    def answer(self, request: Request) -> Response:
        """What the engine says, after whatever happens in between."""
        meanwhile, self.before = self.before, None
        if meanwhile is not None:
            meanwhile(request)
        self.requests.append(request)
        return self.engine(request)

    def run(self, steps: Runnable[T]) -> T:
        return self.store.run(steps)

    def later(self, **delta: float) -> datetime:
        self.moment += timedelta(**delta)
        return self.moment

    def operations(self) -> list[str]:
        """What was asked since the last time."""
        made, self.requests = self.requests, []
        return [request.operation for request in made]

    def meanwhile(self, operation: str, happens: Runnable[Any]) -> None:
        """Lets something happen just before the next request of a kind."""

        def before(request: Request) -> None:
            if request.operation == operation:
                Store(self.engine, clock=lambda: self.moment).run(happens)
            else:
                self.before = before

        self.before = before

    def items(self, table: Table, index: str = MAIN) -> list[Item]:
        """All that a table or an index holds, in the order of its keys."""
        params: dict[str, Any] = {"TableName": table.name}
        if index != MAIN:
            params["IndexName"] = index
        found: list[Item] = self.engine(Request("Scan", params))["Items"]
        return sorted(
            found,
            key=lambda item: str([item[attribute.name] for attribute in table.main.attributes]),
        )

    def put(self, table: Table, item: Item) -> None:
        """Writes an item past the kit."""
        self.engine(Request("PutItem", {"TableName": table.name, "Item": item}))

    def empty(self, table: Table) -> None:
        for item in self.items(table):
            key = {attribute.name: item[attribute.name] for attribute in table.main.attributes}
            self.engine(Request("DeleteItem", {"TableName": table.name, "Key": key}))


def check_indexes(world: World, table: Table) -> None:
    """Every item lies in every index exactly as its entity says, and nothing else does."""
    meant = [as_meant(table, item) for item in world.items(table)]
    assert [canonical_item(item) for item in world.items(table)] == meant
    for index in table.indexes:
        keys = {attribute.name for attribute in index.attributes}
        seen = projected_names(table, index)
        held = [canonical_item(item) for item in world.items(table, index.name)]
        assert held == [
            {name: value for name, value in item.items() if seen is None or name in seen}
            for item in meant
            if keys <= item.keys()
        ]


def canonical_item(item: Item) -> Item:
    """The item with every number in its one spelling, and every set in order."""
    return {name: in_order(value) for name, value in check_item(item)[0].items()}


def in_order(value: AttributeValue) -> AttributeValue:
    ((tag, content),) = value.items()
    match tag:
        case "SS" | "NS" | "BS":
            return {tag: sorted(content)}
        case "L":
            return {"L": [in_order(each) for each in content]}
        case "M":
            return {"M": {name: in_order(each) for name, each in content.items()}}
    return value


def as_meant(table: Table, item: Item) -> Item:
    """The item as its entity would be stored."""
    layout = next(entity.layout for entity in table.entities if owns(entity.layout, item))
    return canonical_item(layout.to_item(layout.from_item(item)))
