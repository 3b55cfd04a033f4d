"""Two workers beside one, on one file: CPU time per read, and reads per second.

CPU time is that of all processes of a server, including the supervisor, for calls on 16
connections, one call at a time and one connection after the other. Reads per second are as many as
`wrk` gets on the same number of connections; they depend on what else the machine does, so they
are shown and have no bar.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path

import orjson

from bench import workload
from bench.figure import Bar, Figure, NotHere
from bench.race import Contender, race
from bench.scale import Scale
from bench.server import Client, Server, encode_request, engine_server
from bigtime.engine import Engine
from bigtime.wire import Request

CONNECTIONS = 16
# Workers that run in parallel each have a core of their own, and do not empty each other's caches
# after every call. So a connection makes several calls before the next one does.
CALLS_IN_A_ROW = 32
LOADS = 3
KEYS = 1_000

SCRIPT = """
local bodies = {{{bodies}}}
local at = 0
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/x-amz-json-1.0"
wrk.headers["X-Amz-Target"] = "DynamoDB_20120810.GetItem"
function request()
  at = at % #bodies + 1
  return wrk.format(nil, nil, nil, bodies[at])
end
"""


def measure(scale: Scale, folder: Path) -> Iterator[Figure]:
    if sys.platform != "linux":
        raise NotHere("only Linux tells the CPU time of another process")
    file = folder / "workers.db"
    fill(file, scale.served_items)
    with ExitStack() as stack:
        servers = {
            count: stack.enter_context(engine_server("--data", file, "--workers", str(count)))
            for count in (1, 2)
        }
        contenders = {
            str(count): stack.enter_context(contender(server, processes(server, count), scale))
            for count, server in servers.items()
        }
        single, double = race(contenders, scale.rounds).values()
        bar = Bar("at most", 1.15, "x")
        yield Figure(
            "GetItem, two workers", double, "us", single, "one worker", double / single, bar
        )
        if shutil.which("wrk") is None:
            raise NotHere("wrk, which shows reads a second, is missing: apt-get install wrk")
        script = folder / "reads.lua"
        script.write_text(wrk_script(scale.served_items))
        loads = [
            [reads_a_second(server, script, scale.worker_seconds) for server in servers.values()]
            for _ in range(LOADS)
        ]
        rates = [max(each) for each in zip(*loads, strict=True)]
        what = f"GetItem, two workers and {CONNECTIONS} connections of wrk"
        yield Figure(what, rates[1], "a second", rates[0], "one worker", rates[1] / rates[0])


@contextmanager
def contender(server: Server, processes: list[int], scale: Scale) -> Iterator[Contender]:
    """Reads over connections that the kernel has spread over the workers, each in its turn."""
    calls = [
        encode_request(
            Request("GetItem", {"TableName": workload.TABLE, "Key": workload.key(number)})
        )
        for number in workload.some(scale.served_items, CONNECTIONS * CALLS_IN_A_ROW)
    ]
    with ExitStack() as stack:
        clients = [
            stack.enter_context(closing(Client(server.client.port))) for _ in range(CONNECTIONS)
        ]

        def run() -> None:
            for place, client in enumerate(clients):
                start = place * CALLS_IN_A_ROW
                client.send_all(calls[start : start + CALLS_IN_A_ROW])

        yield Contender(run, len(calls), clock=partial(cpu_seconds, processes))


def fill(file: Path, items: int) -> None:
    with Engine.open(file, durability="relaxed") as engine:
        engine(workload.create_table("by_day"))
        for request in workload.fill_requests(workload.orders(items)):
            engine(request)


def wrk_script(items: int) -> str:
    """A script for wrk: GetItem of one key after another."""
    bodies = [
        orjson.dumps({"TableName": workload.TABLE, "Key": workload.key(number)}).decode()
        for number in workload.some(items, KEYS)
    ]
    return SCRIPT.format(bodies=", ".join(f"[[{body}]]" for body in bodies))


def reads_a_second(server: Server, script: Path, seconds: int) -> float:
    """Lets wrk read for some seconds; returns the rate."""
    url = f"http://127.0.0.1:{server.client.port}/"
    command = ["wrk", "-t2", f"-c{CONNECTIONS}", f"-d{seconds}s", "-s", str(script), url]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = re.search(r"Requests/sec:\s+([\d.]+)", said)
    if found is None or "Non-2xx" in said or "Socket errors" in said:
        raise AssertionError(said)
    return float(found[1])


def processes(server: Server, workers: int, *, forked: int | None = None) -> list[int]:
    """The processes of a server: with one worker the server itself, with more also the supervisor.

    `forked` is how many processes the supervisor has, if that is not the number of workers.
    """
    pid = server.process.pid
    if workers == 1:
        return [pid]
    started: list[str] = []
    while len(started) < (forked or workers):  # it listens before all of them have started
        started = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *map(int, started)]


def cpu_seconds(processes: list[int]) -> float:
    """Like `Server.cpu_seconds`, for several processes."""
    return sum(time.clock_gettime((~pid << 3) | 2) for pid in processes)
