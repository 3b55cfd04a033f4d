"""Point-in-time recovery: what its log adds to a write, and what a restore costs."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from bench import workload
from bench.figure import Bar, Figure
from bench.race import Contender, race
from bench.scale import GIGABYTE, Scale
from bigtime.engine import Engine
from bigtime.wire import Request

LOGGED = "Logged"


def measure(scale: Scale, folder: Path) -> Iterator[Figure]:
    yield logged_put(scale, folder / "logged.db")
    yield from restore(scale, folder / "restored.db")


def switch_on(table: str) -> Request:
    wanted = {"PointInTimeRecoveryEnabled": True}
    params = {"TableName": table, "PointInTimeRecoverySpecification": wanted}
    return Request("UpdateContinuousBackups", params)


def logged_put(scale: Scale, path: Path) -> Figure:
    """Overwrites orders in a table with a log and in one without."""
    with Engine.open(path, durability="relaxed", housekeeping=False) as engine:
        created = workload.create_table("by_day")
        engine(created)
        engine(Request("CreateTable", {**created.params, "TableName": LOGGED}))
        engine(switch_on(LOGGED))
        fresh = count()

        def contender(table: str) -> Contender:
            puts: list[Request] = []

            def choose() -> None:
                numbers = workload.some(scale.items, scale.operations, seed=next(fresh))
                items = [
                    {**workload.order(each), "seen": {"N": str(next(fresh))}} for each in numbers
                ]
                puts[:] = [Request("PutItem", {"TableName": table, "Item": item}) for item in items]
                engine.tidy()

            def run() -> None:
                for put in puts:
                    engine(put)

            return Contender(run, scale.operations, choose)

        for table in (workload.TABLE, LOGGED):
            for batch in workload.fill_requests(workload.orders(scale.items)):
                puts = batch.params["RequestItems"][workload.TABLE]
                engine(Request("BatchWriteItem", {"RequestItems": {table: puts}}))
        seen = race({table: contender(table) for table in (LOGGED, workload.TABLE)}, scale.rounds)
    ours, other = seen[LOGGED], seen[workload.TABLE]
    what = "PutItem, 1 KB, one GSI, with point-in-time recovery"
    return Figure(what, ours, "us", other, "without", ours / other, Bar("at most", 1.25, "x"))


def restore(scale: Scale, path: Path) -> Iterator[Figure]:
    """Restores a table half of whose items have changed since."""
    changes = scale.restored_items // 2
    with Engine.open(path, durability="relaxed", housekeeping=False) as engine:
        engine(workload.create_table("by_day"))
        for request in workload.fill_requests(workload.orders(scale.restored_items)):
            engine(request)
        engine(switch_on(workload.TABLE))
        source = Request("DescribeContinuousBackups", {"TableName": workload.TABLE})
        about = engine(source)["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"]
        changed = ({**workload.order(number), "note": {"S": "x"}} for number in range(changes))
        for request in workload.fill_requests(changed):
            engine(request)
        engine.tidy()
        asked = {
            "SourceTableName": workload.TABLE,
            "TargetTableName": "Restored",
            "RestoreDateTime": about["EarliestRestorableDateTime"],
        }
        wall, cpu = time.monotonic(), time.process_time()
        engine(Request("RestoreTableToPointInTime", asked))
        engine.tidy()
        wall, cpu = time.monotonic() - wall, time.process_time() - cpu
        restored = engine(Request("DescribeTable", {"TableName": "Restored"}))["Table"]
        if restored["ItemCount"] != scale.restored_items:
            raise AssertionError(f"{restored['ItemCount']:,} items were restored")
    items = scale.restored_items
    what = "restore to a moment, one GSI, half of the items changed since"
    each = cpu / items * 1e6
    yield Figure(f"{what}: CPU an item of 1 KB", each, "us", bar=Bar("at most", 40, "us"))
    seconds = wall * GIGABYTE / restored["TableSizeBytes"]
    bar = Bar("under", 60, "s", on_wall=True)
    yield Figure(f"{what}: a GB of {items:,} such items", seconds, "s", bar=bar)
