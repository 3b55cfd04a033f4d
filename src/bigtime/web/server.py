"""Serves the site in this process and runs its worker in a second one; stops both cleanly.

With several workers (`--workers`) the port is served by processes that the engine's `Supervisor`
forks, restarts and stops, and one more of them runs the stream worker. They share the file; each
follows the streams, and so invalidates in its cache what another has changed.

The port is bound before anything else, so that nothing is done if it is taken. On the first start
the tables are created, and in development filled with a little demo data. A signal stops
the server, which completes the requests under way, and then the worker. If this process is killed,
the worker notices and stops by itself.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from http import HTTPStatus
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

import uvicorn
import uvloop
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from bigtime.engine import Supervisor
from bigtime.model import RuleBroken, setup
from bigtime.ops import TableUnitCounter
from bigtime.pictures import place_at
from bigtime.site import SYSTEMS, demo_logins, load_demo, store_units, wants_demo
from bigtime.store import AsyncStore, NotTheWriter, Store, open_store, read_setting
from bigtime.systems import accounts, deals
from bigtime.web.app import make_app
from bigtime.web.bounded_protocol import BoundedProtocol, bounds_here
from bigtime.web.http import (
    WRITE_SECONDS,
    Meters,
    Settings,
    SharedMetrics,
    is_loopback,
    with_secret,
)
from bigtime.web.listener import find_port, listen
from bigtime.web.pages import SharedViews
from bigtime.web.site_store import site_store
from bigtime.web.worker_process import keep_worker_until, worker

log = logging.getLogger("bigtime.web")

UNITS_SECONDS = 60.0
MOST_UNCOLLECTED = 10_000
"""New objects between two collections; at Python's default, 700, they took 7 % of a page's time."""


class NotKept(RuleBroken):
    """The site runs in two processes, which `memory:` cannot share; choose a file, as file:a.db."""


class NotForProduction(RuleBroken):
    """This store has demo accounts, whose passwords everybody knows; choose another store."""


def prepare(settings: Settings, *, tell: Callable[[str], None]) -> bool:
    """Creates tables, and demo data where there is none; returns whether demo logins work."""
    if read_setting(settings.store).kind == "memory":
        raise NotKept()
    with open_store(settings.store, fence=settings.fence) as store:
        store.run(setup(*SYSTEMS))
        try:
            store.run(deals.create_categories())
            if settings.mode == "development" and wants_demo(store):
                tell("First start: making the tables and some demo data ...")
                place = place_at(settings.picture_place)
                load_demo(store, until=datetime.now(UTC), place=place)
        except NotTheWriter as error:
            tell(f"{error} Until then this site only reads.")
        has_demo = has_demo_login(store)
    if has_demo and settings.mode == "production":
        raise NotForProduction()
    return has_demo


def has_demo_login(store: Store) -> bool:
    """Whether a demo account has its public password: a real user may have the same name."""
    for demo_login in demo_logins():
        with contextlib.suppress(accounts.WrongCredentials):
            store.run(accounts.verify_password(demo_login.login, demo_login.password))
            return True
    return False


def serve(settings: Settings, *, tell: Callable[[str], None] = print) -> int:
    """Serves until a signal stops it; returns the exit code."""
    if settings.workers > 1:
        return serve_workers(settings, tell=tell)
    with listen(settings) as listener:
        has_demo = prepare(settings, tell=tell)
        settings = with_secret(with_port(settings, listener.getsockname()[1]))
        with worker(settings):
            greeting = greet(settings, has_demo)
            uvloop.run(run_server(settings, listener, on_ready=lambda: tell(greeting)))
    return 0


# Several workers


@dataclass(frozen=True, slots=True)
class Shared:
    """What the processes that serve one port share."""

    views: SharedViews
    metrics: Path


def serve_workers(settings: Settings, *, tell: Callable[[str], None]) -> int:
    """Serves in several processes until a signal stops them; returns the worst exit code.

    The port is first bound exclusively, to detect one that is taken.
    """
    port = find_port(settings)
    listeners = [listen(settings, port, shared=True) for _ in range(settings.workers)]
    has_demo = prepare(settings, tell=tell)
    settings = with_secret(with_port(settings, port))
    greeting = greet(settings, has_demo)

    def close() -> None:
        for listener in listeners:
            listener.close()

    with TemporaryDirectory(prefix="bigtime-metrics-") as folder:
        shared = Shared(SharedViews(), Path(folder))

        def work(number: int, ready: int, lifeline: int) -> None:
            own = listeners.pop(number) if number < settings.workers else None
            close()
            on_ready = partial(tell_parent, ready)
            if own is None:
                keep_worker_until(settings, lifeline, on_ready)
            else:
                uvloop.run(
                    run_server(settings, own, on_ready=on_ready, lifeline=lifeline, shared=shared)
                )

        supervisor = Supervisor(work, settings.workers + 1, close)
        return supervisor.run(lambda: tell(greeting))


def tell_parent(ready: int) -> None:
    """Tells the supervisor that this process is ready."""
    os.write(ready, b"1")
    os.close(ready)


def with_port(settings: Settings, port: int) -> Settings:
    """The settings with the actual port, which links contain; for 0 it is a free one."""
    return settings.model_copy(update={"port": port})


def greet(settings: Settings, has_demo: bool) -> str:
    lines = [f"Big Time Deals is at {settings.base_url}"]
    if has_demo:
        lines += [
            f"  sign in as {demo_login.login} with {demo_login.password}"
            for demo_login in demo_logins()
        ]
    lines.append(f"Its data is in {settings.store}. Ctrl+C stops it.")
    if settings.mode == "production" and not settings.smtp:
        lines.append("No mail is sent, and so no one-time codes: BIGTIME_SMTP is not set.")
    return "\n".join(lines)


async def run_server(
    settings: Settings,
    listener: socket.socket,
    *,
    on_ready: Callable[[], None],
    lifeline: int | None = None,
    shared: Shared | None = None,
) -> None:
    """Serves until a signal comes, or the process at the other end of `lifeline` is gone."""
    meters = Meters()
    if shared is not None:
        meters.shared = SharedMetrics(meters.registry, shared.metrics)
    async with site_store(settings, meters) as opened:
        store = opened.store
        bounds = bounds_here(behind_proxy=bool(settings.proxies))
        site: ASGIApp = make_app(
            settings,
            store,
            version=opened.version,
            meters=meters,
            viewed=None if shared is None else shared.views,
            drop_items=None if opened.cache is None else opened.cache.drop,
        )
        config = uvicorn.Config(
            LoopbackHosts(site) if settings.mode == "development" else site,
            loop="uvloop",
            http=cast(type[asyncio.Protocol], partial(BoundedProtocol, bounds)),
            access_log=False,
            server_header=False,
            proxy_headers=False,  # the site has its own setting for the number of trusted proxies
            log_level="error",  # a line for every malformed request would fill the disk
            timeout_graceful_shutdown=10,
        )
        server = Server(config)
        calm_collector()
        if lifeline is not None:
            loop = asyncio.get_running_loop()
            loop.add_reader(lifeline, server.handle_exit, signal.SIGTERM, None)
        tasks = [
            asyncio.create_task(tell_when_up(server, on_ready)),
            asyncio.create_task(store_units_regularly(store, meters.tables.units)),
        ]
        if meters.shared is not None:
            tasks.append(asyncio.create_task(write_regularly(meters.shared)))
        await server.serve(sockets=[listener])
        for task in tasks:
            task.cancel()
        await try_to_store(store, meters.tables.units)


def calm_collector() -> None:
    """Lets the garbage collector run less often, and ignore what was created at startup."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(MOST_UNCOLLECTED)


async def write_regularly(metrics: SharedMetrics) -> None:
    while True:
        metrics.write()
        await asyncio.sleep(WRITE_SECONDS)


async def store_units_regularly(store: AsyncStore, counter: TableUnitCounter) -> None:
    while True:
        await asyncio.sleep(UNITS_SECONDS)
        await try_to_store(store, counter)


async def try_to_store(store: AsyncStore, counter: TableUnitCounter) -> None:
    """Stores the counted units; if that fails, they are stored next time, and serving goes on."""
    try:
        await store.run(store_units(counter))
    except Exception:
        log.exception("the units of the last minute could not be stored")


class LoopbackHosts:
    """Refuses requests whose Host does not name this machine.

    Otherwise a web page could resolve its own name to this machine (DNS rebinding), and read the
    site as the browser's user, with the demo's passwords.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not is_loopback(host_in(scope)):
            text = "In development the site answers to localhost, 127.0.0.1 and [::1] only.\n"
            answer = PlainTextResponse(text, HTTPStatus.MISDIRECTED_REQUEST)
            await answer(scope, receive, send)
        else:
            await self.app(scope, receive, send)


def host_in(scope: Scope) -> str:
    """The name or address in the Host header, without its port."""
    headers: list[tuple[bytes, bytes]] = scope["headers"]
    hosts = [value.decode("latin-1") for key, value in headers if key == b"host"]
    if len(hosts) != 1:
        return ""
    if hosts[0].startswith("["):
        return hosts[0][1:].partition("]")[0]
    return hosts[0].partition(":")[0].lower()


class Server(uvicorn.Server):
    """A server that a signal stops without ending the process."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """A signal ends the server, not the process: the worker has to be stopped too."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.handle_exit, number, None)
        yield

    async def on_tick(self, counter: int) -> bool:
        """Called ten times a second; once a second it drops clients that are too slow."""
        if counter % 10 == 0:
            now = asyncio.get_running_loop().time()
            for connection in list(self.server_state.connections):
                if isinstance(connection, BoundedProtocol):
                    connection.end_if_late(now)
        return await super().on_tick(counter)


async def tell_when_up(server: uvicorn.Server, on_ready: Callable[[], None]) -> None:
    while not server.started:
        await asyncio.sleep(0.05)
    on_ready()
