"""The engine's endpoint beside dynalite: the same bytes to both, and the CPU time of the server.

One connection, one call at a time: the hardest case for the engine, since no two writes share a
commit. dynalite keeps its data in memory; the engine is measured in memory and, with relaxed
durability, in a file.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import TypeAlias

from bench import workload
from bench.figure import Bar, Figure, NotHere
from bench.race import Contender, race
from bench.scale import Scale
from bench.server import Server, dynalite_server, encode_request, engine_server
from bigtime.wire import Request

BAR = Bar("under", 1, "x")
KEPT = {"memory": "in memory", "file": "relaxed file"}

Make: TypeAlias = Callable[[int], Request]


def measure(scale: Scale, folder: Path, dynalite: Path | None) -> Iterator[Figure]:
    if dynalite is None:
        raise NotHere("node, or dynalite in BIGTIME_NODE_MODULES or build/node, is missing")
    if sys.platform != "linux":
        raise NotHere("only Linux tells the CPU time of another process")
    with ExitStack() as stack:
        file = ("--durability", "relaxed", "--data", folder / "served.db")
        servers = {
            "memory": stack.enter_context(engine_server("--memory")),
            "file": stack.enter_context(engine_server(*file)),
            "dynalite": stack.enter_context(dynalite_server(dynalite)),
        }
        for server in servers.values():
            server.client(workload.create_table("by_day"))
            wait_until_active(server)
            for request in workload.fill_requests(workload.orders(scale.served_items)):
                server.client(request)
        for what, before, calls in rounds(scale):
            yield from figures(what, servers, before, calls, scale.rounds)


def wait_until_active(server: Server) -> None:
    describe = Request("DescribeTable", {"TableName": workload.TABLE})
    while server.client(describe)["Table"]["TableStatus"] != "ACTIVE":
        pass


def rounds(scale: Scale) -> Iterator[tuple[str, list[bytes], list[bytes]]]:
    """What is measured, the calls before each round, and the calls of a round."""
    items, calls = scale.served_items, scale.served_operations
    few = max(10, calls // 10)
    numbers = workload.some(items, calls)
    groups = [number // workload.GROUP for number in numbers]
    new = list(range(items, items + calls))
    put_new, drop_new = encode_all(workload.put, new), encode_all(workload.delete, new)
    yield "GetItem, 1 KB", [], encode_all(workload.get, numbers)
    yield "PutItem, 1 KB, one GSI", drop_new, put_new
    yield "UpdateItem", [], encode_all(workload.update, numbers)
    yield "DeleteItem", put_new, drop_new
    yield "Query of 25 by GSI", [], encode_all(workload.query, groups[: few * 3])
    yield "Scan of 100", [], encode_all(lambda _: workload.scan(100), numbers[:few])
    yield "BatchGetItem of 25", [], encode_all(batch_get(items), numbers[: few * 2])
    yield "BatchWriteItem of 25", [], encode_all(batch_write(items), numbers[: few * 2])


def encode_all(make: Make, numbers: Sequence[int]) -> list[bytes]:
    return [encode_request(make(number)) for number in numbers]


def batch_get(items: int) -> Make:
    def make(number: int) -> Request:
        return workload.batch_get([(number + step) % items for step in range(25)])

    return make


def batch_write(items: int) -> Make:
    """Each batch changes the items it overwrites: writing an equal item is no write."""
    versions = count(1)

    def make(number: int) -> Request:
        numbers = [(number + step) % items for step in range(25)]
        stamp = {"version": {"N": str(next(versions))}}
        return workload.batch_write([{**workload.order(number), **stamp} for number in numbers])

    return make


def figures(
    what: str, servers: dict[str, Server], before: list[bytes], calls: list[bytes], rounds: int
) -> Iterator[Figure]:
    seen = race(
        {name: contender(server, before, calls) for name, server in servers.items()}, rounds
    )
    other = seen["dynalite"]
    for name, kept in KEPT.items():
        label = f"{what}, over HTTP, {kept}"
        ratio = seen[name] / other
        yield Figure(label, seen[name], "us", other, "for dynalite", ratio, BAR)


def contender(server: Server, before: list[bytes], calls: list[bytes]) -> Contender:
    return Contender(
        run=lambda: server.client.send_all(calls),
        operations=len(calls),
        prepare=lambda: server.client.send_all(before),
        clock=server.cpu_seconds,
    )
