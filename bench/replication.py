"""Replication to a second region: the delay of the slowest 1 % of writes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from bench import workload
from bench.figure import Bar, Figure
from bench.scale import Scale
from bigtime.engine import Engine
from bigtime.wire import Request

REGION = "eu-west-1"
WRITES_A_SECOND = 500


def measure(scale: Scale, folder: Path) -> Iterator[Figure]:
    """Writes at the requested even rate, while the same process replicates."""
    writes = WRITES_A_SECOND * scale.replicated_seconds
    with Engine.open(folder / "replicated.db", durability="relaxed") as engine:
        engine(workload.create_table("by_day"))
        create = [{"Create": {"RegionName": REGION}}]
        engine(Request("UpdateTable", {"TableName": workload.TABLE, "ReplicaUpdates": create}))
        engine.tidy()
        wait_for_threads(engine)
        cpu, begun = time.process_time(), time.monotonic()
        for number in range(writes):
            time.sleep(max(0.0, begun + number / WRITES_A_SECOND - time.monotonic()))
            item = workload.order(number)
            engine(Request("PutItem", {"TableName": workload.TABLE, "Item": item}))
        rate = writes / (time.monotonic() - begun)
        latencies = sorted(wait_for_latencies(engine, writes))
        cpu = time.process_time() - cpu
    what = f"replication of {WRITES_A_SECOND} puts a second, 1 KB, one GSI"
    p99 = latencies[len(latencies) * 99 // 100]
    yield Figure(f"{what}: lag p99", p99, "s", bar=Bar("under", 1, "s", on_wall=True))
    least = Bar("at least", 0.95 * WRITES_A_SECOND, "a second", on_wall=True)
    yield Figure(f"{what}: made", rate, "a second", bar=least)
    yield Figure(f"{what}: CPU a put", cpu / writes * 1e6, "us", bar=Bar("at most", 1_500, "us"))


def wait_for_threads(engine: Engine) -> None:
    """Waits until a write is replicated: the threads start with the next housekeeping round."""
    engine(Request("PutItem", {"TableName": workload.TABLE, "Item": workload.order(0)}))
    wait_for_latencies(engine, 1)


def wait_for_latencies(engine: Engine, least: int) -> tuple[float, ...]:
    """How many seconds the last writes took to the other region, once so many have arrived."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        for state in engine.replication():
            if state.target == REGION and state.pending == 0 and len(state.latencies) >= least:
                return state.latencies[-least:]
        time.sleep(0.05)
    raise AssertionError("the writes were not replicated in a minute")
