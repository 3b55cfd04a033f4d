"""The site under load: 5,000 GETs of deals a second with writes beside them, and two workers.

Requests are sent in ticks of a hundredth of a second, one on each of fifty connections, and the
latency of each is counted from its tick. A thread of this process updates deals of the same table
meanwhile. Throughput and latency depend on what else the machine does, so they are only shown; a
GET that takes at most 200 us of CPU is what lets one core sustain the rate.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from decimal import Decimal
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from random import Random
from typing import Final

from bench.figure import Bar, Figure, NotHere
from bench.race import Contender, race
from bench.scale import Scale
from bench.server import Client, Server, free_port, run_server
from bench.site_scene import get_request, wait_for_worker
from bench.workers import cpu_seconds, processes
from bigtime.engine import Engine
from bigtime.model import scan
from bigtime.store import Store
from bigtime.systems import catalog

RATE: Final = 5_000
TICKS: Final = 100
DEALS: Final = 200
WRITES_A_SECOND: Final = 20
START_SECONDS: Final = 120
CONNECTIONS: Final = 16


def measure(scale: Scale, folder: Path) -> Iterator[Figure]:
    if sys.platform != "linux":
        raise NotHere("only Linux tells the CPU time of another process")
    with ExitStack() as stack:
        sites = {count: stack.enter_context(serve(folder, count)) for count in (1, 2)}
        yield from hold(*sites[1], scale.load_seconds)
        yield beside_one_worker(sites, scale)


@contextmanager
def serve(folder: Path, workers: int) -> Iterator[tuple[Server, Store]]:
    """A new site with so many workers, and its store."""
    own = folder / f"workers-{workers}"
    own.mkdir()
    file, port = own / "site.db", free_port()
    program = [sys.executable, "-c", "from bigtime.cli.app import main; main()", "serve"]
    options = ["--port", str(port), "--store", f"file:{file}", "--workers", str(workers)]
    with (
        run_server(
            [*program, *options], port, seconds=START_SECONDS, settings={"BIGTIME_DATA": str(own)}
        ) as server,
        Engine.open(file, housekeeping=False) as engine,
    ):
        store = Store(engine)
        server.client.send(get_request("/healthz"))
        wait_for_worker(store)
        yield server, store


def deal_ids(store: Store) -> list[str]:
    return [deal.deal_id for deal in store.run(scan(catalog.Deal, limit=DEALS))]


# The rate


def hold(server: Server, store: Store, seconds: int) -> Iterator[Figure]:
    ids = deal_ids(store)
    calls = [get_request(f"/api/v1/catalog/deals/{deal_id}") for deal_id in ids]
    for call in calls:
        server.client.send(call)
    with ExitStack() as stack:
        clients = [
            stack.enter_context(closing(Client(server.client.port))) for _ in range(RATE // TICKS)
        ]
        writes = stack.enter_context(writing(store, ids))
        before, began = server.cpu_seconds(), time.monotonic()
        latencies = send_in_ticks(clients, calls, seconds)
        lasted = time.monotonic() - began
        used = server.cpu_seconds() - before
    latencies.sort()
    p99 = latencies[len(latencies) * 99 // 100]
    what = f"GET of a deal of the catalogue, {RATE:,} asked for a second for {seconds} s"
    beside = f"{writes[0] / lasted:.0f} writes a second beside them, one worker"
    yield Figure(f"{what}, {beside}", len(latencies) / lasted, "a second")
    yield Figure(f"{what}: the slowest of a hundred", p99 * 1e3, "ms")
    bar = Bar("at most", 1e6 / RATE, "us")
    yield Figure(f"{what}: CPU of the server", used / len(latencies) * 1e6, "us", bar=bar)


def send_in_ticks(clients: Sequence[Client], calls: Sequence[bytes], seconds: int) -> list[float]:
    """The latency of each call, from the moment it was due."""
    latencies: list[float] = []
    asked = cycle(calls)
    began = time.monotonic()
    for tick in range(seconds * TICKS):
        due = began + tick / TICKS
        time.sleep(max(0.0, due - time.monotonic()))
        for client, call in zip(clients, islice(asked, len(clients)), strict=True):
            client.socket.sendall(call)
        for client in clients:
            client.receive()
            latencies.append(time.monotonic() - due)
    return latencies


@contextmanager
def writing(store: Store, ids: Sequence[str]) -> Iterator[list[int]]:
    """Updates deals until the context ends; yields how many so far."""
    stop, done, draw = threading.Event(), [0], Random(0)

    def write() -> None:
        while not stop.wait(1 / WRITES_A_SECOND):
            price = Decimal(draw.randrange(100, 1_000)) / 100
            store.run(catalog.update_deal(draw.choice(ids), price=price))
            done[0] += 1

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield done
    finally:
        stop.set()
        thread.join()


# Two workers


def beside_one_worker(sites: dict[int, tuple[Server, Store]], scale: Scale) -> Figure:
    with ExitStack() as stack:
        contenders = {
            str(count): stack.enter_context(contender(server, store, count, scale))
            for count, (server, store) in sites.items()
        }
        single, double = race(contenders, scale.rounds).values()
    bar = Bar("at most", 1.15, "x")
    what = "GET of a deal's page, two workers"
    return Figure(what, double, "us", single, "one worker", double / single, bar)


@contextmanager
def contender(server: Server, store: Store, workers: int, scale: Scale) -> Iterator[Contender]:
    """A run of pages on each of many connections, which the kernel spreads over the workers."""
    paths = [f"/deals/{deal_id}" for deal_id in deal_ids(store)[:10]]
    calls = list(islice(cycle(map(get_request, paths)), max(scale.served_operations, 200)))
    pids = processes(server, workers, forked=workers + 1)
    with ExitStack() as stack:
        clients = [
            stack.enter_context(closing(Client(server.client.port))) for _ in range(CONNECTIONS)
        ]
        for client in clients:  # fills the cache of every worker
            client.send_all(calls[: len(paths)])

        def run() -> None:
            for client in clients:
                client.send_all(calls)

        yield Contender(run, len(calls) * CONNECTIONS, clock=partial(cpu_seconds, pids))
