"""What a fresh process pays to open a file and read one item, and to read all of them.

Run as a program of its own (`python -m bench.fresh open|scan PATH`), which prints one JSON object.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson

from bench import workload
from bigtime.engine import Engine
from bigtime.wire import Request


def in_fresh_process(task: str, path: Path) -> dict[str, float]:
    command = [sys.executable, "-m", "bench.fresh", task, str(path)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    answer: dict[str, float] = orjson.loads(done.stdout)
    return answer


def open_file(path: str) -> dict[str, float]:
    cpu, wall = time.process_time(), time.perf_counter()
    engine = Engine.open(path)
    engine(workload.get(0))
    seen = {
        "cpu_ms": (time.process_time() - cpu) * 1e3,
        "wall_ms": (time.perf_counter() - wall) * 1e3,
    }
    engine.close()
    return seen


def scan_file(path: str) -> dict[str, float]:
    items = pages = 0
    params: dict[str, Any] = {"TableName": workload.TABLE}
    with Engine.open(path) as engine:
        before = peak_megabytes()
        cpu = time.process_time()
        while True:
            page = engine(Request("Scan", params))
            items += page["Count"]
            pages += 1
            if "LastEvaluatedKey" not in page:
                break
            params["ExclusiveStartKey"] = page["LastEvaluatedKey"]
        cpu = time.process_time() - cpu
    return {
        "items": items,
        "pages": pages,
        "cpu_seconds": cpu,
        "before_mb": before,
        "peak_mb": peak_megabytes(),
    }


def rebuild_index(path: str) -> dict[str, float]:
    """Builds the search index of a file's deals, beside it."""
    from bigtime.projections.search import default_place, open_backend, rebuild
    from bigtime.store import Store
    from bigtime.systems import deals

    with Engine.open(path) as engine, watched_memory() as peak:
        backend = open_backend(default_place(f"file:{path}"), deals.DEAL_SEARCH)
        cpu = time.process_time()
        items = rebuild(Store(engine), backend)
        cpu = time.process_time() - cpu
    return {"items": items, "cpu_seconds": cpu, "peak_mb": peak[0]}


def peak_megabytes() -> float:
    """The most memory this process ever held.

    On Linux a process inherits `ru_maxrss` from the one that started it; VmHWM is its own.
    """
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024 / 1e6


@contextmanager
def watched_memory() -> Iterator[list[float]]:
    """The peak of this process's own memory in MB, sampled every 20 ms.

    Memory-mapped files do not count: tantivy maps those of its index, and the system reclaims
    their pages when it needs room.
    """
    peak, stop = [own_megabytes()], threading.Event()

    def watch() -> None:
        while not stop.wait(0.02):
            peak[0] = max(peak[0], own_megabytes())

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield peak
    finally:
        stop.set()
        thread.join()


def own_megabytes() -> float:
    status = Path("/proc/self/status")
    if not status.exists():
        return peak_megabytes()
    line = next(line for line in status.read_text().splitlines() if line.startswith("RssAnon"))
    return int(line.split()[1]) * 1024 / 1e6


TASKS: dict[str, Callable[[str], dict[str, float]]] = {
    "open": open_file,
    "scan": scan_file,
    "rebuild": rebuild_index,
}

if __name__ == "__main__":
    print(orjson.dumps(TASKS[sys.argv[1]](sys.argv[2])).decode())
