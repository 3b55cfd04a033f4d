"""P14: when the log is deleted under a running engine, no later acknowledged write is lost.

A child writes, and reports when each write began and that it was acknowledged. Meanwhile the log
(`-wal`) or its shared memory (`-shm`) is deleted, moved away or replaced, or both are; a moment
later the child is killed. No write that began after that may have been acknowledged. And if only
one of the two is gone, everything acknowledged before is in the file.
"""

from __future__ import annotations

import logging
import os
import random
import shutil
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from bigtime.engine import Engine
from bigtime.wire import InternalServerError
from proofs import pace
from proofs.endure_mutants import mutate
from proofs.processes import children
from proofs.result import Result, result
from proofs.scratch import scratch
from proofs.stopped import create, is_there, put, read_all

SHORTEST, LONGEST = 0.010, 0.120
TO_LIVE_SECONDS = 0.6
"""After the deletion: long enough for the housekeeper to check, in case nobody writes."""
PATIENCE_SECONDS = 10.0
"""Until the first write is refused: on a busy machine a child may not run for a while."""
REFUSED = b"refused"


def write_until_killed(path: Path, durability: Any, mutant: str | None, acks: Connection) -> None:
    logging.disable()
    mutate(mutant)
    engine = Engine.open(path, durability=durability)
    create(engine)
    number = 0
    while True:
        began = time.monotonic()
        try:
            engine(put(f"{number}", text={"S": "x" * 500}))
        except InternalServerError:
            os.write(acks.fileno(), REFUSED + b"\n")
            time.sleep(0.01)
            continue
        os.write(acks.fileno(), b"%d %.6f\n" % (number, began))
        number += 1


def unlink(path: Path) -> None:
    path.unlink()


def move(path: Path) -> None:
    path.rename(path.with_name(path.name + ".moved"))


def replace(path: Path) -> None:
    copy = path.with_name(path.name + ".copy")
    shutil.copy(path, copy)
    copy.replace(path)


DEEDS = (unlink, move, replace)


def harm_one(
    path: Path, chance: random.Random, mutant: str | None
) -> tuple[dict[str, int], list[str]]:
    durability = chance.choice(["full", "relaxed"])
    context = children()
    ours, theirs = context.Pipe(duplex=False)
    child = context.Process(target=write_until_killed, args=(path, durability, mutant, theirs))
    child.start()
    theirs.close()
    said = os.read(ours.fileno(), 1 << 16)
    time.sleep(chance.uniform(SHORTEST, LONGEST))
    said += read_all(ours)
    deed, suffixes = chance.choice(DEEDS), chance.choice([("-wal",), ("-shm",), ("-wal", "-shm")])
    for suffix in suffixes:
        deed(Path(f"{path}{suffix}"))
    done_at = time.monotonic()
    end, give_up = done_at + TO_LIVE_SECONDS, done_at + (0 if mutant else PATIENCE_SECONDS)
    while (now := time.monotonic()) < end or (now < give_up and REFUSED not in said):
        said += read_all(ours)
        time.sleep(0.01)
    child.kill()
    child.join()
    said += read_all(ours)
    ours.close()
    what = f"{deed.__name__} {' and '.join(suffixes)}"
    return judge(path, said, done_at, what, is_saved=len(suffixes) == 1 and deed is not replace)


def judge(
    path: Path, said: bytes, done_at: float, what: str, *, is_saved: bool
) -> tuple[dict[str, int], list[str]]:
    acks = [line.split() for line in said.splitlines() if line != REFUSED]
    late = [number for number, began in acks if float(began) > done_at]
    faults = [f"{what}: {len(late)} writes were acknowledged after it"] if late else []
    lost = 0
    if is_saved:
        with Engine.open(path, housekeeping=False) as engine:
            lost = sum(not is_there(engine, number.decode()) for number, _ in acks)
        if lost:
            faults.append(f"{what}: {lost} of {len(acks)} acknowledged writes are lost")
    return {"acknowledged writes": len(acks), "files that had to be saved": int(is_saved)}, faults


def run(deeds: int, *, mutant: str | None = None, seed: int = 1) -> Result:
    """Deletes that many logs; with a mutant, until it is caught."""
    chance = random.Random(seed)
    counts = {"logs deleted or replaced": 0}
    violations: list[str] = []
    while counts["logs deleted or replaced"] < deeds and not pace.is_over():
        if mutant and violations:
            break
        with scratch() as folder:
            more, faults = harm_one(folder / "items.db", chance, mutant)
        counts["logs deleted or replaced"] += 1
        for what, count in more.items():
            counts[what] = counts.get(what, 0) + count
        violations += faults
    return result(counts, violations)
