"""P11: a process that is stopped, not killed, makes nobody hang.

A child writes and keeps house, and is stopped (SIGSTOP) at any moment: often while it holds the
writer lock. Another process must then be able to open the file and read it, and to write to it or
be told to retry and who holds the lock; its event loop is not blocked; it closes in time; and if
the stopped one does not hold the lock, its chores are taken over. When the stopped one continues,
so does everything else, and nothing that either was promised is lost.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import time
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from bigtime.engine import Engine
from bigtime.engine.housekeeping import lease
from bigtime.engine.storage import writer_lock
from bigtime.wire import InternalServerError, Request, ResourceInUseException
from proofs import pace
from proofs.endure_mutants import mutate
from proofs.processes import children, in_child_within
from proofs.result import Result, result
from proofs.scratch import scratch

LOCK_SECONDS = 0.4
LEASE_SECONDS = 3.0
SLACK_SECONDS = 8.0
"""Allowance for a busy machine; what hangs takes longer."""
PROBE_SECONDS = 90.0
SHORTEST, LONGEST = 0.002, 0.060
TABLE = "Notes"

Outcome = tuple[dict[str, int], list[str], list[str]]


def create(engine: Engine) -> None:
    key = {"AttributeName": "name"}
    with suppress(ResourceInUseException):
        engine(
            Request(
                "CreateTable",
                {
                    "TableName": TABLE,
                    "AttributeDefinitions": [{**key, "AttributeType": "S"}],
                    "KeySchema": [{**key, "KeyType": "HASH"}],
                    "BillingMode": "PAY_PER_REQUEST",
                },
            )
        )
        specification = {"Enabled": True, "AttributeName": "until"}
        engine(
            Request(
                "UpdateTimeToLive",
                {"TableName": TABLE, "TimeToLiveSpecification": specification},
            )
        )


def put(name: str, **attributes: Any) -> Request:
    return Request("PutItem", {"TableName": TABLE, "Item": {"name": {"S": name}, **attributes}})


def is_there(engine: Engine, name: str) -> bool:
    key = {"name": {"S": name}}
    return "Item" in engine(Request("GetItem", {"TableName": TABLE, "Key": key}))


# --- The one that is stopped ------------------------------------------------------------------


def write_until_killed(path: Path, durability: Any, rest_seconds: float, acks: Connection) -> None:
    lease.LEASE_SECONDS = LEASE_SECONDS
    engine = Engine.open(path, durability=durability)
    create(engine)
    while not engine._housekeeper.lease.is_held:
        time.sleep(0.01)
    number = 0
    while True:
        try:
            engine(put(f"stopped/{number}", text={"S": "x" * 2_000}))
        except InternalServerError:
            continue
        os.write(acks.fileno(), b"%d\n" % number)
        number += 1
        time.sleep(rest_seconds)


# --- The one that must not hang ---------------------------------------------------------------


def probe(path: Path, stopped: int, durability: Any, mutant: str | None, pipe: Connection) -> None:
    mutate(mutant)
    lease.LEASE_SECONDS = LEASE_SECONDS
    faults: list[str] = []
    counts = dict.fromkeys(("writes refused", "writes done", "chores taken over"), 0)
    started = time.monotonic()
    engine = Engine.open(path, durability=durability, lock_seconds=LOCK_SECONDS)
    is_there(engine, "anything")
    note_slow(faults, "opening and reading", started, 0.0)
    acknowledged = write_some(engine, stopped, counts, faults)
    faults += asyncio.run(submit_on_a_loop(engine))
    if counts["writes done"] and not counts["writes refused"]:
        faults += wait_for_chores(engine, counts)
    started = time.monotonic()
    engine.close()
    note_slow(faults, "closing", started, writer_lock.CLOSING_SECONDS)
    pipe.send((counts, faults, acknowledged))


def write_some(
    engine: Engine, stopped: int, counts: dict[str, int], faults: list[str]
) -> list[str]:
    acknowledged: list[str] = []
    for number in range(3):
        started = time.monotonic()
        try:
            engine(put(f"living/{os.getpid()}/{number}"))
            acknowledged.append(f"living/{os.getpid()}/{number}")
            counts["writes done"] += 1
        except InternalServerError as error:
            counts["writes refused"] += 1
            if f"process {stopped} " not in str(error):
                faults.append(f"the holder is {stopped}, and the writer is told: {error}")
        note_slow(faults, "a write", started, LOCK_SECONDS)
    return acknowledged


async def submit_on_a_loop(engine: Engine) -> list[str]:
    """An event loop that writes is not blocked, and is called back in time."""
    faults: list[str] = []
    loop, answered = asyncio.get_running_loop(), asyncio.Event()
    started = time.monotonic()

    def done(*_: object) -> None:
        loop.call_soon_threadsafe(answered.set)

    engine.submit(put("loop"), done)
    note_slow(faults, "an event loop", started, 0.0)
    try:
        await asyncio.wait_for(answered.wait(), LOCK_SECONDS + SLACK_SECONDS)
    except TimeoutError:
        faults.append("an event loop was not called back")
    return faults


def wait_for_chores(engine: Engine, counts: dict[str, int]) -> list[str]:
    """Checks that a due item is deleted, although the process that kept house is stopped."""
    engine(put("due", until={"N": str(int(time.time()) - 1)}))
    deadline = time.monotonic() + LEASE_SECONDS + SLACK_SECONDS
    while is_there(engine, "due"):
        if time.monotonic() > deadline:
            return ["the chores of a stopped process were not taken over"]
        time.sleep(0.05)
    counts["chores taken over"] += 1
    return []


def note_slow(faults: list[str], what: str, started: float, allowed: float) -> None:
    seconds = time.monotonic() - started
    if seconds > allowed + SLACK_SECONDS:
        faults.append(f"{what} took {seconds:.1f} s beside a stopped process")


# --- The proof --------------------------------------------------------------------------------


def stop_one(
    path: Path, chance: random.Random, mutant: str | None
) -> tuple[dict[str, int], list[str]]:
    durability = chance.choice(["full", "relaxed"])
    # One that rests is usually stopped without the lock, but with the lease.
    rest_seconds = chance.choice([0.0, 0.3])
    context = children()
    ours, theirs = context.Pipe(duplex=False)
    arguments = (path, durability, rest_seconds, theirs)
    child = context.Process(target=write_until_killed, args=arguments)
    child.start()
    theirs.close()
    said = os.read(ours.fileno(), 1 << 16)
    time.sleep(chance.uniform(SHORTEST, LONGEST))
    assert child.pid is not None
    os.kill(child.pid, signal.SIGSTOP)
    outcome: Outcome | None = in_child_within(
        PROBE_SECONDS if mutant is None else PROBE_SECONDS / 6,
        probe,
        path,
        child.pid,
        durability,
        mutant,
    )
    counts, faults, living = outcome or ({}, ["another process hung"], [])
    os.kill(child.pid, signal.SIGCONT)
    # It continues, and is acknowledged.
    said += read_all(ours)
    said += os.read(ours.fileno(), 1 << 16)
    child.kill()
    child.join()
    said += read_all(ours)
    ours.close()
    numbers = [int(line) for line in said.split(b"\n") if line]
    with Engine.open(path, housekeeping=False) as engine:
        names = living + [f"stopped/{number}" for number in numbers]
        lost = [name for name in names if not is_there(engine, name)]
    if lost:
        faults.append(f"{len(lost)} acknowledged writes are lost: {lost[:3]}")
    return {**counts, "acknowledged writes": len(names)}, faults


def read_all(pipe: Connection) -> bytes:
    """What is in the pipe so far."""
    chunks: list[bytes] = []
    while pipe.poll(0):
        chunk = os.read(pipe.fileno(), 1 << 16)
        if not chunk:
            break
        chunks.append(chunk)
    return b"".join(chunks)


def run(stops: int, *, mutant: str | None = None, seed: int = 1) -> Result:
    """Stops that many processes; with a mutant, until it is caught."""
    chance = random.Random(seed)
    counts = {"stops": 0}
    violations: list[str] = []
    while counts["stops"] < stops and not pace.is_over():
        if mutant and violations:
            break
        with scratch() as folder:
            more, faults = stop_one(folder / "items.db", chance, mutant)
        counts["stops"] += 1
        for what, count in more.items():
            counts[what] = counts.get(what, 0) + count
        violations += faults
    return result(counts, violations)
