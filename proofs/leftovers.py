"""P21: what was deleted or overwritten is not in the file once a checkpoint has truncated its log.

A table with an index is filled in random order with items of random sizes, so that SQLite splits
pages and moves rows; some items carry a secret in an indexed attribute. Then others grow, which
moves rows again, and every secret is deleted or overwritten, in random order. After that
neither the file nor its log may contain a secret, and everything not deleted must still be there,
in a Scan of the table and of the index, in a file whose pages are intact.

Every second table has a stream, which keeps both images for a day: there a day and a trimming pass
come first.

One mutant leaves the gaps in pages as they are, the other does not make SQLite overwrite what it
deletes; each must leave a secret in some file.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from bigtime.engine import Engine, scrub_file
from bigtime.engine.storage import file, page_gaps
from bigtime.wire import Item, Request
from proofs import pace
from proofs.processes import ChildDied, in_child
from proofs.result import Result, result
from proofs.scratch import scratch

TABLE, INDEX = "people", "by_mail"
SECRET = b"secret-"
ITEMS = 600
MUTANT_FILES = 40
DAY = 24 * 3600.0

Outcome = tuple[int, list[str]]


def leave_gaps() -> None:
    """Writes pages as SQLite has them, with old bytes between the cells and their list."""
    page_gaps.clear_gap = lambda page, header=0: page


def leave_rows() -> None:
    """Leaves a deleted row in place until its room is used again."""
    configure = file.File._connect

    def connect(opened: file.File, vfs: str | None = None) -> Any:
        connection = configure(opened, vfs)
        connection.pragma("secure_delete", 0)
        return connection

    file.File._connect = connect  # type: ignore[method-assign, assignment]


MUTANTS: dict[str, Callable[[], None]] = {"gaps left": leave_gaps, "rows left": leave_rows}


def create_table(*, has_stream: bool) -> Request:
    images = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
    index = {
        "IndexName": INDEX,
        "KeySchema": [{"AttributeName": "mail", "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "ALL"},
    }
    params: dict[str, Any] = {
        "TableName": TABLE,
        "AttributeDefinitions": [
            {"AttributeName": name, "AttributeType": "S"} for name in ("name", "mail")
        ],
        "KeySchema": [{"AttributeName": "name", "KeyType": "HASH"}],
        "GlobalSecondaryIndexes": [index],
        "BillingMode": "PAY_PER_REQUEST",
    }
    return Request("CreateTable", params | ({"StreamSpecification": images} if has_stream else {}))


class People:
    """The items of one file: who has a secret, and what must be there at the end."""

    def __init__(self, engine: Engine, chance: random.Random) -> None:
        self.engine = engine
        self.chance = chance
        self.items: dict[int, Item] = {}

    def put(self, number: int, mail: str, size: int) -> None:
        item: Item = {
            "name": {"S": str(number)},
            "mail": {"S": f"{mail}-{number * 7_919 % 10_007:05}"},
            "text": {"S": "t" * size},
        }
        self.engine(Request("PutItem", {"TableName": TABLE, "Item": item}))
        self.items[number] = item

    def delete(self, number: int) -> None:
        key = {"name": {"S": str(number)}}
        self.engine(Request("DeleteItem", {"TableName": TABLE, "Key": key}))
        del self.items[number]

    def live(self) -> int:
        """Fills the table, makes rows move, and removes all secrets; returns their number."""
        numbers = range(ITEMS)
        largest = self.chance.choice([100, 400, 2_000])
        for number in self.chance.sample(numbers, ITEMS):
            mail = "public" if number % 3 else "secret"
            self.put(number, mail, self.chance.randrange(largest))
        for number in self.chance.sample([each for each in numbers if each % 3], ITEMS // 5):
            self.put(number, "moved", self.chance.randrange(1_500))
        secrets = [number for number in numbers if number % 3 == 0]
        for number in self.chance.sample(secrets, len(secrets)):
            if self.chance.random() < 0.2:
                self.put(number, "nobody", self.chance.randrange(50))
            else:
                self.delete(number)
        return len(secrets)

    def faults(self) -> list[str]:
        wanted = sorted((item["name"]["S"], item["mail"]["S"]) for item in self.items.values())
        return [
            f"the {'index' if more else 'table'} is not what was written"
            for more in ({}, {"IndexName": INDEX})
            if self.scan(more) != wanted
        ]

    def scan(self, more: dict[str, str]) -> list[tuple[str, str]]:
        params: dict[str, Any] = {"TableName": TABLE, **more}
        found: list[tuple[str, str]] = []
        while True:
            page = self.engine(Request("Scan", params))
            found += ((item["name"]["S"], item["mail"]["S"]) for item in page["Items"])
            if "LastEvaluatedKey" not in page:
                return sorted(found)
            params["ExclusiveStartKey"] = page["LastEvaluatedKey"]


def look(path: Path, seed: int, mutant: str | None, pipe: Connection) -> None:
    """In a child: one file, from its first item to the checkpoint after the last delete."""
    if mutant is not None:
        MUTANTS[mutant]()
    chance, now = random.Random(seed), 1_800_000_000.0
    has_stream = seed % 2 == 0
    options: dict[str, Any] = {"durability": "relaxed", "housekeeping": False}
    with Engine.open(path, clock=lambda: now, **options) as engine:
        engine(create_table(has_stream=has_stream))
        people = People(engine, chance)
        secrets = people.live()
        if has_stream:
            for _ in range(2):
                now += DAY + 5 * 3600
                engine.tidy()
        engine._housekeeper.log_keeper.checkpoint()
        content = path.read_bytes() + Path(f"{path}-wal").read_bytes()
        faults = people.faults()
    if left := content.count(SECRET):
        faults.append(f"{left} copies of {secrets} secrets are still in the file (seed {seed})")
    faults += [f"the file is damaged: {fault}" for fault in scrub_file(path).faults]
    pipe.send((secrets, faults))


def outcome_of(seed: int, mutant: str | None = None) -> Outcome:
    with scratch(on_disk=False) as folder:
        try:
            outcome: Outcome = in_child(look, folder / "people.db", seed, mutant)
        except ChildDied as death:
            return 0, [str(death)]
        return outcome


def is_caught(mutant: str) -> bool:
    return any(outcome_of(seed, mutant)[1] for seed in range(MUTANT_FILES))


def run(files: int, *, seed: int = 1) -> Result:
    chance = random.Random(seed)
    counts = {"files": 0, "secrets": 0}
    violations: list[str] = []
    while counts["files"] < files and not pace.is_over():
        secrets, faults = outcome_of(chance.getrandbits(32))
        counts["files"] += 1
        counts["secrets"] += secrets
        violations += faults
    caught = [mutant for mutant in MUTANTS if is_caught(mutant)]
    violations += [f"{mutant} was not caught" for mutant in MUTANTS if mutant not in caught]
    return result({**counts, "mutants caught": len(caught)}, violations)
