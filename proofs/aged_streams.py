"""P16: a file with millions of stream records, opened a day late, serves as a fresh one does.

Two files are alike, except that one has that many records which are a day old when it is opened. In
both, one thread puts and reads the stream while the housekeeper trims it. The CPU time of a put and
of a GetRecords may be at most twice that in the fresh file; no old record is read; and in the end
the old records are gone, and the new ones are not.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from typing import Any

from bigtime.engine import Engine
from bigtime.wire import Request
from proofs.endure_mutants import mutate
from proofs.processes import in_child
from proofs.result import Result, result
from proofs.scratch import scratch

HOUR = 3600.0
CALLS = 400
MOST_RATIO = 2.0
TABLE = "Notes"
RECORDS_PER_SECOND = 2_000
"""The slowest rate of trimming that is allowed."""


def create(engine: Engine) -> str:
    key = {"AttributeName": "name"}
    table: dict[str, Any] = {
        "TableName": TABLE,
        "AttributeDefinitions": [{**key, "AttributeType": "S"}],
        "KeySchema": [{**key, "KeyType": "HASH"}],
        "BillingMode": "PAY_PER_REQUEST",
        "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"},
    }
    arn: str = engine(Request("CreateTable", table))["TableDescription"]["LatestStreamArn"]
    return arn


def grow_old(engine: Engine, records: int, start: float) -> None:
    """Fills the stream with copies of its one record, as an hour of writes would."""
    engine(put("old"))

    def work(transaction: Any) -> None:
        number = transaction.execute("SELECT number FROM streams").get
        transaction.execute(
            f"WITH RECURSIVE counted(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted"
            f" WHERE n < ?1) INSERT INTO s{number} (slot, at, record) SELECT n % 4,"
            f" ?2 + n * {HOUR} / ?1, (SELECT record FROM s{number} LIMIT 1) FROM counted",
            (records, start),
        )

    engine._database.committer.run(work)


def put(name: str) -> Request:
    item = {"name": {"S": name}, "text": {"S": "x" * 200}}
    return Request("PutItem", {"TableName": TABLE, "Item": item})


def serve(path: Path, records: int, mutant: str | None, pipe: Connection) -> None:
    """In a child: the cost of calls in a file with so many old records, and what it does wrong."""
    mutate(mutant)
    start = time.time() - 26 * HOUR
    with Engine.open(path, durability="relaxed", housekeeping=False, clock=lambda: start) as engine:
        arn = create(engine)
        if records:
            grow_old(engine, records, start)
        engine._database.committer.run_alone(lambda writer: writer.wal_checkpoint())
    # A clock that is passed in is trusted at once: trimming begins when the file is opened.
    with Engine.open(path, durability="relaxed", clock=time.time) as engine:
        puts = cost(lambda number: engine(put(f"new/{number}")))
        iterators = iterators_of(engine, arn)
        read: set[str] = set()

        def get_records(number: int) -> None:
            page = engine(Request("GetRecords", {"ShardIterator": iterators[number % 4]}))
            read.update(record["dynamodb"]["Keys"]["name"]["S"] for record in page["Records"])

        gets = cost(get_records)
        faults = read_faults(read)
        if not mutant:
            faults += trim_faults(engine, records)
    pipe.send((puts, gets, faults))


def iterators_of(engine: Engine, arn: str) -> list[str]:
    described = engine(Request("DescribeStream", {"StreamArn": arn}))["StreamDescription"]
    place = {"StreamArn": arn, "ShardIteratorType": "TRIM_HORIZON"}
    return [
        engine(Request("GetShardIterator", {**place, "ShardId": shard["ShardId"]}))["ShardIterator"]
        for shard in described["Shards"][-4:]
    ]


def cost(call: Callable[[int], object]) -> float:
    """The median CPU time of a call, in microseconds."""
    seconds = []
    for number in range(CALLS):
        started = time.thread_time()
        call(number)
        seconds.append(time.thread_time() - started)
    return median(seconds) * 1e6


def read_faults(read: set[str]) -> list[str]:
    faults = []
    if "old" in read:
        faults.append("a record was read a day after it was written")
    if not read <= {f"new/{number}" for number in range(CALLS)} | {"old"} or not read:
        faults.append(f"GetRecords shows {len(read)} records that nobody wrote")
    return faults


def trim_faults(engine: Engine, records: int) -> list[str]:
    deadline = time.monotonic() + 60 + records / RECORDS_PER_SECOND
    while (left := count_records(engine)) > CALLS:
        if time.monotonic() > deadline:
            return [f"{left:,} records are not trimmed yet"]
        time.sleep(0.2)
    return [] if left == CALLS else [f"{CALLS - left} new records were trimmed"]


def count_records(engine: Engine) -> int:
    with engine._database.reading() as reader:
        number = reader.execute("SELECT number FROM streams").get
        count: int = reader.execute(f"SELECT count(*) FROM s{number}").get
        return count


def run(records: int, *, mutant: str | None = None) -> Result:
    counts = {"old records": records}
    violations: list[str] = []
    with scratch() as folder:
        costs = {}
        for name, old in (("fresh", 0), ("aged", records)):
            *costs[name], faults = in_child(serve, folder / f"{name}.db", old, mutant)
            violations += [f"{name}: {fault}" for fault in faults]
    for position, call in enumerate(("put", "GetRecords")):
        fresh, aged = costs["fresh"][position], costs["aged"][position]
        counts[f"us of CPU a {call} in a fresh file"] = round(fresh)
        counts[f"us of CPU a {call} in the aged file"] = round(aged)
        if aged > MOST_RATIO * fresh:
            violations.append(f"a {call} takes {aged / fresh:.1f} times the CPU in an aged file")
    return result(counts, violations)
