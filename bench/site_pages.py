"""Personal pages, as the server's CPU time: they are rendered on every request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from bench.figure import Bar, Figure
from bench.scale import Scale
from bench.server import Server
from bench.site_scene import PageOf, get_request

UNCACHED: Final = Bar("at most", 2_000, "us")


def made_each_time(
    server: Server, pages: Sequence[PageOf], cookies: dict[str, str], scale: Scale
) -> Iterator[Figure]:
    for page in pages:
        cookie = cookies[page.who] if page.who else ""
        seen = cost(server, get_request(page.path, cookie), scale)
        yield Figure(f"GET of the {page.name}, not cached", seen, "us", bar=UNCACHED)


def cost(server: Server, call: bytes, scale: Scale) -> float:
    """The server's CPU microseconds per response, in the best round."""
    calls = [call] * max(scale.served_operations // 4, 20)
    server.client.send_all(calls)
    rounds = []
    for _ in range(scale.rounds):
        before = server.cpu_seconds()
        server.client.send_all(calls)
        rounds.append((server.cpu_seconds() - before) / len(calls))
    return min(rounds) * 1e6
