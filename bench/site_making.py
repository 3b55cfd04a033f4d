"""What rendering a cached page costs: after a change to it, and with an empty cache.

Such a page is rendered once, and then answered from memory until something on it changes. This is
measured in the bench's own process, where the contents of memory are known: the site runs over the
same file, and is called as a server calls it.

1. After a change: deals get other prices, and so on; the site learns of it from the data, as it
   does in a server, and invalidates what has changed. Then every page is requested, and must show
   the change.
2. With an empty cache: the cache is emptied before each page.

Each is judged by its least disturbed round.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

from bench.figure import Figure
from bench.scale import Scale
from bench.site_changes import Changes
from bench.site_pages import UNCACHED
from bench.site_scene import PageOf
from bigtime.engine import Engine
from bigtime.store import AsyncStore
from bigtime.web.app import make_app
from bigtime.web.http.metrics import Meters
from bigtime.web.http.settings import Settings
from bigtime.web.pages.app_context import AppContext
from bigtime.web.pages.page_cache import CacheFollower

LEAST_ROUNDS: Final = 8


class Maker:
    """The site in this process."""

    def __init__(self, engine: Engine, folder: Path, *, search: str = "off") -> None:
        meters = Meters()
        store = AsyncStore(engine, meter=meters.count_units)
        settings = Settings(data=folder, search=search)
        self.front = make_app(settings, store, version=engine.version, meters=meters)
        self.site: AppContext = self.front.application.state.context  # type: ignore[attr-defined]
        self.follower = CacheFollower(store, self.site.cache, version=engine.version)

    async def after_changes(
        self, changes: Changes, pages: Sequence[PageOf], rounds: int
    ) -> dict[PageOf, float]:
        await self.follower.catch_up()
        best = dict.fromkeys(pages, float("inf"))
        for number in range(rounds + 1):  # the first one is a warm-up
            changes.make()
            await self.follower.catch_up()
            for page in rotate(pages, number):
                seen, shown = await self.make_page(page)
                assert changes.is_on(page, shown), f"{page.path} does not show a change"
                if number:
                    best[page] = min(best[page], seen)
        return best

    async def from_nothing(self, pages: Sequence[PageOf], rounds: int) -> dict[PageOf, float]:
        best = dict.fromkeys(pages, float("inf"))
        for _ in range(rounds):
            for page in pages:
                self.site.cache.clear()
                best[page] = min(best[page], (await self.make_page(page))[0])
        return best

    async def make_page(self, page: PageOf) -> tuple[float, bytes]:
        """The CPU microseconds of a page, and the page."""
        began = time.process_time()
        status, shown = await self.ask("GET", page.path)
        seen = (time.process_time() - began) * 1e6
        assert status == 200, f"{page.path} is answered with {status}"
        return seen, shown

    async def ask(
        self, method: str, address: str, cookie: str = "", body: bytes = b""
    ) -> tuple[int, bytes]:
        """The status and the body of a response, as a server would get them."""
        path, _, query = address.partition("?")
        scope: dict[str, Any] = {
            "type": "http",
            "method": method,
            "path": unquote(path),
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "headers": [
                (b"host", b"127.0.0.1"),
                (b"cookie", cookie.encode()),
                (b"content-type", b"application/x-www-form-urlencoded"),
                (b"content-length", str(len(body)).encode()),
            ],
            "scheme": "http",
            "http_version": "1.1",
            "server": ("127.0.0.1", 80),
            "client": ("127.0.0.1", 1),
            "root_path": "",
        }
        sent: list[Any] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Any) -> None:
            sent.append(message)

        await self.front(scope, receive, send)
        return sent[0]["status"], b"".join(each["body"] for each in sent[1:])


def rotate(pages: Sequence[PageOf], number: int) -> Sequence[PageOf]:
    """A different order each time, because the first page pays for the work done before it."""
    start = number % len(pages)
    return [*pages[start:], *pages[:start]]


def measure_making(
    engine: Engine, folder: Path, changes: Changes, pages: Sequence[PageOf], scale: Scale
) -> Iterator[Figure]:
    rounds = max(scale.rounds, LEAST_ROUNDS)

    async def run() -> tuple[dict[PageOf, float], dict[PageOf, float]]:
        maker = Maker(engine, folder)
        changed = await maker.after_changes(changes, pages, rounds)
        return changed, await maker.from_nothing(pages, rounds)

    changed, empty = asyncio.run(run())
    for page, seen in changed.items():
        yield Figure(f"{page.name}, rendered after a change", seen, "us", bar=UNCACHED)
    for page, seen in empty.items():
        yield Figure(f"{page.name}, made with nothing in memory", seen, "us")
