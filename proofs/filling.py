"""Fills a file until the disk is full, and goes on once there is room again."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

from bigtime.engine import Engine
from bigtime.wire import DynamoDBError, InternalServerError, Item, Request
from proofs import audit
from proofs.ledger import TABLE, create_table

TEXT_BYTES = 6_000
MOST_WRITES = 5_000
TRIES_WHILE_FULL = 20
SECONDS_TO_RECOVER = 60.0


class Filling:
    """What was acknowledged, what was refused, and what was wrong about it."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.items: dict[str, Item] = {}
        self.refused = 0
        self.faults: list[str] = []
        self.requests = requests()
        engine(create_table())

    def go_through(self, make_room: Callable[[], None]) -> None:
        """Fills the disk, checks, makes room, and writes on: all in one engine."""
        self.fill()
        for _ in range(TRIES_WHILE_FULL):
            self.try_one()
        self.look("while the disk is full")
        make_room()
        self.write_again()
        self.look("when there is room again")

    def fill(self) -> None:
        for _ in range(MOST_WRITES):
            if not self.try_one():
                return
        self.faults.append(f"the disk was not full after {MOST_WRITES} writes")

    def try_one(self) -> bool:
        """Tries the next write; returns whether it was acknowledged."""
        request, items = next(self.requests)
        try:
            self.engine(request)
        except InternalServerError as error:
            if error.status != 500:
                self.faults.append(f"a full disk is told as status {error.status}")
            self.refused += 1
            return False
        except DynamoDBError as error:
            self.faults.append(f"a full disk is told as {error.code}: {error}")
            return False
        self.items |= items
        return True

    def write_again(self) -> None:
        deadline = time.monotonic() + SECONDS_TO_RECOVER
        while not self.try_one():
            if time.monotonic() > deadline:
                self.faults.append("writes did not go on when there was room again")
                return

    def look(self, when: str) -> None:
        """Checks that exactly the acknowledged writes are there, by every way to read."""
        try:
            faults = audit.index_faults(self.engine, self.items)
            faults += audit.count_faults(self.engine, self.items)
            if audit.items(self.engine) != self.items:
                faults.append("the table is not what was acknowledged")
            last = next(reversed(self.items))
            key = {"TableName": TABLE, "Key": {"account": {"S": last}}, "ConsistentRead": True}
            if self.engine(Request("GetItem", key)).get("Item") != self.items[last]:
                faults.append("GetItem does not show what was acknowledged")
        except DynamoDBError as error:
            faults = [f"a read failed: {error}"]
        self.faults += [f"{when}: {fault}" for fault in faults]


def requests() -> Iterator[tuple[Request, dict[str, Item]]]:
    """Puts, and every fourth time a transaction of three, with the items that they create."""
    number = 0
    while True:
        number += 1
        items = [item_of(f"{number}/{part}", number) for part in range(1 if number % 4 else 3)]
        puts: list[dict[str, Any]] = [{"TableName": TABLE, "Item": item} for item in items]
        if len(puts) == 1:
            request = Request("PutItem", puts[0])
        else:
            actions = [{"Put": put} for put in puts]
            request = Request("TransactWriteItems", {"TransactItems": actions})
        yield request, {item["account"]["S"]: item for item in items}


def item_of(name: str, number: int) -> Item:
    return {
        "account": {"S": name},
        "group": {"S": f"group {number % 4}"},
        "number": {"N": str(number)},
        "text": {"S": "x" * TEXT_BYTES},
    }
