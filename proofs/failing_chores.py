"""P17: a chore that fails stops neither the others nor the housekeeper.

A child runs the housekeeping of a file in which some items cannot be read, while its chores are hit
by exceptions of every kind: items expire, an index is filled, a large table is dropped, and the log
keeps growing. Within a time limit everything possible is done, only the unreadable items are left
over, the log is short, and both threads are alive.
"""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from bigtime.engine import Engine, storage
from bigtime.engine.housekeeping import expiry, log_keeper
from bigtime.engine.storage import backfill
from bigtime.wire import InternalServerError, Request
from proofs import pace
from proofs.endure_mutants import mutate
from proofs.processes import in_child
from proofs.result import Result, result
from proofs.scratch import scratch

ITEMS = 400
DAMAGED = 7
STRIKE_RATE = 0.3
SECONDS = 60.0
MUTANT_SECONDS = 8.0
CHECKPOINT_BYTES = 1 << 20
BACKFILL_CHUNK = 50
ERRORS: tuple[Callable[[], Exception], ...] = (
    lambda: ZeroDivisionError("struck"),
    lambda: KeyError("struck"),
    lambda: RuntimeError("struck"),
    lambda: UnicodeDecodeError("utf-8", b"", 0, 1, "struck"),
    lambda: RecursionError("struck"),
    lambda: OSError(28, "struck"),
    lambda: InternalServerError("struck"),
)


class Lightning:
    """Raises exceptions in random calls, while it lasts."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.strikes = 0

    def conduct(self, module: Any, name: str) -> None:
        call = getattr(module, name)

        def fail_at_times(*arguments: Any, **keywords: Any) -> Any:
            if self.chance.random() < STRIKE_RATE:
                self.strikes += 1
                raise self.chance.choice(ERRORS)()
            return call(*arguments, **keywords)

        setattr(module, name, fail_at_times)


def keep_house(path: Path, seed: int, mutant: str | None, pipe: Connection) -> None:
    logging.disable()
    threading.excepthook = lambda _: None  # a mutant's thread dies of it
    mutate(mutant)
    log_keeper.CHECKPOINT_BYTES = CHECKPOINT_BYTES
    backfill.CHUNK = BACKFILL_CHUNK
    lightning = Lightning(random.Random(seed))
    with Engine.open(path, durability="relaxed", housekeeping=False) as engine:
        prepare(engine)
        # Before exceptions begin: UpdateTable fills the first chunk itself, outside any chore.
        add_index_and_drop(engine)
    for module, name in (
        (expiry, "expire_some"),
        (storage, "advance_backfill"),
        (storage, "discard_some"),
        (storage, "streams_to_trim"),
        (storage, "pending_backfills"),
        (log_keeper.LogKeeper, "checkpoint"),
    ):
        lightning.conduct(module, name)
    with Engine.open(path, durability="relaxed") as engine:
        deadline = time.monotonic() + (MUTANT_SECONDS if mutant else SECONDS)
        longest = 0
        while (undone := what_is_undone(engine)) and time.monotonic() < deadline:
            # Writing the same again would be no change, and leave the log as it is.
            engine(put("busy", text={"S": str(time.monotonic()) + "x" * 100_000}))
            longest = max(longest, engine._database.file.wal_bytes())
            time.sleep(0.005)
        keeper = engine._housekeeper
        for thread in (keeper._thread, keeper.log_keeper.thread):
            if not thread.is_alive():
                undone.append(f"the thread {thread.name} has ended")
    pipe.send((lightning.strikes, longest, undone))


def put(name: str, **attributes: Any) -> Request:
    return Request("PutItem", {"TableName": "Notes", "Item": {"name": {"S": name}, **attributes}})


def create(engine: Engine, table: str) -> None:
    key = {"AttributeName": "name"}
    definition: dict[str, Any] = {
        "TableName": table,
        "AttributeDefinitions": [{**key, "AttributeType": "S"}],
        "KeySchema": [{**key, "KeyType": "HASH"}],
        "BillingMode": "PAY_PER_REQUEST",
    }
    engine(Request("CreateTable", definition))


def prepare(engine: Engine) -> None:
    """Items that stay and items that expire, a few of them damaged; and a table to drop."""
    create(engine, "Notes")
    create(engine, "Dropped")
    specification = {"Enabled": True, "AttributeName": "until"}
    ttl = {"TableName": "Notes", "TimeToLiveSpecification": specification}
    engine(Request("UpdateTimeToLive", ttl))
    past = {"N": str(int(time.time()) - 60)}
    for number in range(ITEMS):
        engine(put(f"due/{number}", until=past))
        engine(put(f"stays/{number}", group={"S": "all"}))
    for start in range(0, 3 * ITEMS, 25):
        puts = [
            {"PutRequest": {"Item": {"name": {"S": f"{number}"}}}}
            for number in range(start, start + 25)
        ]
        engine(Request("BatchWriteItem", {"RequestItems": {"Dropped": puts}}))
    table = engine._database.catalogue.table("Notes")

    def damage(transaction: Any) -> None:
        transaction.execute(
            f"UPDATE {table.rows} SET item = CAST('{{' || item AS BLOB) WHERE id IN (SELECT base"
            f" FROM {table.expiring} ORDER BY base LIMIT {DAMAGED})"
        )

    engine._database.committer.run(damage)


def add_index_and_drop(engine: Engine) -> None:
    index = {
        "IndexName": "groups",
        "KeySchema": [{"AttributeName": "group", "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "KEYS_ONLY"},
    }
    change = {
        "TableName": "Notes",
        "AttributeDefinitions": [{"AttributeName": "group", "AttributeType": "S"}],
        "GlobalSecondaryIndexUpdates": [{"Create": index}],
    }
    engine(Request("UpdateTable", change))
    engine(Request("DeleteTable", {"TableName": "Dropped"}))


def what_is_undone(engine: Engine) -> list[str]:
    undone = []
    described = engine(Request("DescribeTable", {"TableName": "Notes"}))["Table"]
    index = described["GlobalSecondaryIndexes"][0]
    if described["ItemCount"] > ITEMS + DAMAGED + 1:
        undone.append(f"{described['ItemCount']} items, not {ITEMS + DAMAGED}: not all expired")
    if (index["IndexStatus"], index["ItemCount"]) != ("ACTIVE", ITEMS):
        undone.append(f"the index is {index['IndexStatus']} with {index['ItemCount']} items")
    with engine._database.reading() as reader:
        query = "SELECT count(*) FROM sqlite_schema WHERE name GLOB 'discarded_*'"
        if reader.execute(query).get:
            undone.append("a dropped table is still there")
    if engine._database.file.wal_bytes() > 4 * CHECKPOINT_BYTES:
        undone.append("the log is long")
    return undone


def run(files: int, *, mutant: str | None = None, seed: int = 1) -> Result:
    """Runs housekeeping in that many files; with a mutant, until it is caught."""
    chance = random.Random(seed)
    counts = {"files": 0, "chores struck": 0, "longest log in KB": 0}
    violations: list[str] = []
    while counts["files"] < files and not (mutant and violations) and not pace.is_over():
        with scratch() as folder:
            path = folder / "items.db"
            strikes, longest, faults = in_child(keep_house, path, chance.getrandbits(32), mutant)
        counts["files"] += 1
        counts["chores struck"] += strikes
        counts["longest log in KB"] = max(counts["longest log in KB"], longest >> 10)
        violations += faults
    return result(counts, violations)
