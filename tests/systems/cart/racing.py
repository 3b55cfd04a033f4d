"""Several at once: threads on one store, and processes on one file.

A racer is a function of a store and texts. `python -m tests.systems.cart.racing FILE RACER ...`
says that it is ready, waits for a line, runs the racer and says what came of it.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from threading import Barrier
from typing import Any, TypeVar

from bigtime.model import DomainError
from bigtime.store import Store, open_store
from bigtime.wire import Steps

T = TypeVar("T")


def outcome(racer: Callable[[], Any]) -> str:
    """What it returns, or the code of its error."""
    try:
        return str(racer())
    except DomainError as error:
        return error.code


def in_threads(racers: Sequence[Callable[[], Any]]) -> list[str]:
    start = Barrier(len(racers))

    def run(racer: Callable[[], Any]) -> str:
        start.wait()
        return outcome(racer)

    with ThreadPoolExecutor(len(racers)) as pool:
        return list(pool.map(run, racers))


def in_processes(file: Path, racers: Iterable[Sequence[str]]) -> list[str]:
    """Each racer is named `module:function`, and given texts."""
    running = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.systems.cart.racing", str(file), *racer],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for racer in racers
    ]
    for each in running:
        assert each.stdout is not None and each.stdout.readline() == "ready\n"
    for each in running:
        assert each.stdin is not None
        each.stdin.write("go\n")
        each.stdin.flush()
    told = [each.communicate(timeout=300)[0] for each in running]
    assert all(each.returncode == 0 for each in running)
    return [text.strip() for text in told]


def continue_steps(steps: Steps[T], answer: Any) -> Steps[T]:
    """The rest of steps whose first request was answered elsewhere."""
    try:
        wanted = steps.send(answer)
        while True:
            try:
                answer = yield wanted
            except Exception as error:
                wanted = steps.throw(error)
            else:
                wanted = steps.send(answer)
    except StopIteration as end:
        result: T = end.value
        return result


def racer_named(name: str) -> Callable[..., Any]:
    module, _, function = name.partition(":")
    found: Callable[..., Any] = getattr(import_module(module), function)
    return found


def race(store: Store, name: str, told: Sequence[str]) -> None:
    racer = racer_named(name)
    print("ready", flush=True)
    sys.stdin.readline()
    print(outcome(lambda: racer(store, *told)), flush=True)


if __name__ == "__main__":
    with open_store(f"file:{sys.argv[1]}") as opened:
        race(opened, sys.argv[2], sys.argv[3:])
