"""Serves the site in this process and runs its worker in a second one; stops both cleanly.

With several workers (`--workers`) the port is served by processes that the engine's `Supervisor`
forks, restarts and stops, and one more of them runs the stream worker. They share the file; each
follows the streams, and so invalidates in its cache what another has changed.

The port is bound before anything else, so that nothing is done if it is taken. On the first start
the tables are created, and in development filled with a little demo data. The worker is restarted
when it dies, after a pause that grows while it keeps dying soon. A signal stops the server, which
completes the requests under way, and then the worker. If this process is killed, the worker notices
and stops by itself.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import gc
import logging
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from http import HTTPStatus
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, cast

import uvicorn
import uvloop
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from bigtime.engine import Engine, Supervisor
from bigtime.model import RuleBroken, Unavailable, setup
from bigtime.ops import TableUnitCounter
from bigtime.pictures import place_at
from bigtime.site import SYSTEMS, demo_logins, load_demo, store_units, wants_demo
from bigtime.store import (
    AsyncFencedTransport,
    AsyncStore,
    Fence,
    NotTheWriter,
    Store,
    destination,
    open_store,
    read_setting,
    read_table_names,
)
from bigtime.systems import accounts, deals
from bigtime.web.app import Version, make_app
from bigtime.web.bounded_protocol import BoundedProtocol, bounds_here
from bigtime.web.http import (
    WRITE_SECONDS,
    Meters,
    Settings,
    SharedMetrics,
    is_loopback,
    with_secret,
)
from bigtime.web.item_cache import open_cache
from bigtime.web.pages import SharedViews

if TYPE_CHECKING:
    from bigtime.store import HttpTransport, RedisCache

log = logging.getLogger("bigtime.web")

FIRST_PAUSE = 1.0
LONGEST_PAUSE = 30.0
SECONDS_TO_STOP = 20.0
UNITS_SECONDS = 60.0
MOST_UNCOLLECTED = 10_000
"""New objects between two collections; at Python's default, 700, they took 7 % of a page's time."""


class NotKept(RuleBroken):
    """The site runs in two processes, which `memory:` cannot share; choose a file, as file:a.db."""


class CannotListen(Unavailable):
    """Nobody can listen on that port; choose another with --port."""


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


def listen(settings: Settings, port: int | None = None, *, shared: bool = False) -> socket.socket:
    """A socket on the given port or that of the settings; `shared` lets others bind it too."""
    address = settings.host, settings.port if port is None else port
    try:
        return socket.create_server(
            address, family=family_of(settings), backlog=2048, reuse_port=shared
        )
    except OSError as error:
        raise CannotListen(why_not(error, settings)) from error


def find_port(settings: Settings) -> int:
    """The port of the settings, or a free one for 0; it does not accept connections yet."""
    with socket.socket(family_of(settings)) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((settings.host, settings.port))
        except OSError as error:
            raise CannotListen(why_not(error, settings)) from error
        return int(probe.getsockname()[1])


def family_of(settings: Settings) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in settings.host else socket.AF_INET


def why_not(error: OSError, settings: Settings) -> str:
    match error.errno:
        case errno.EADDRINUSE:
            return f"Port {settings.port} is taken. Choose another with --port or BIGTIME_PORT."
        case errno.EACCES:
            return f"Port {settings.port} is not for ordinary users. Choose one above 1023."
        case _:
            return f"{settings.host} is no address to listen on here. Choose another with --host."


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


def keep_worker_until(settings: Settings, lifeline: int, on_ready: Callable[[], None]) -> None:
    """Runs the stream worker until a signal comes, or the supervisor is gone."""
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())

    def wait_for_end() -> None:
        select.select([lifeline], [], [])  # nothing is ever written: it ends with its other end
        stop.set()

    threading.Thread(target=wait_for_end, daemon=True).start()
    on_ready()
    keep_worker(settings, stop)


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


@dataclass(frozen=True, slots=True)
class SiteStore:
    """The store and, if any, the engine's number that changes with its data and the item cache."""

    store: AsyncStore
    version: Version | None
    cache: RedisCache | None


@contextlib.asynccontextmanager
async def site_store(settings: Settings, meters: Meters) -> AsyncIterator[SiteStore]:
    """A store whose requests are counted; with a fence and an item cache, where they are set."""
    async with contextlib.AsyncExitStack() as opened:
        transport, region = open_transport(settings, opened)
        version = None
        if isinstance(transport, Engine):
            version = transport.version
            meters.watch_file(transport.file_figures)
            meters.watch_replication(transport.replication)
        fence = Fence(settings.fence, region, read_table_names(None))
        fenced = AsyncFencedTransport(transport, fence) if settings.fence else transport
        cache = open_cache(settings)
        if cache is not None:
            opened.push_async_callback(cache.aclose)
            watch_item_cache(meters, cache)
        store = AsyncStore(
            fenced if cache is None else cache.async_transport(fenced),
            meter=meters.count_units,
            hooks=[meters.tables.observe],
        )
        yield SiteStore(store, version, cache)


def open_transport(
    settings: Settings, opened: contextlib.AsyncExitStack
) -> tuple[Engine | HttpTransport, str]:
    """The engine or the transport to DynamoDB, and its region; `opened` closes it."""
    kind, place = read_setting(settings.store)
    if kind == "file":
        engine = Engine.open(place)
        opened.push_async_callback(asyncio.to_thread, engine.close)
        return engine, engine.region
    from bigtime.store import HttpTransport

    transport = HttpTransport(**destination(kind, place))
    opened.push_async_callback(transport.close)
    return transport, transport.endpoint.region


def watch_item_cache(meters: Meters, cache: RedisCache) -> None:
    def first_level() -> dict[str, int]:
        found = cache.items.statistics
        return {"hits": found.hits + found.joined, "misses": found.misses}

    def second_level() -> dict[str, int]:
        found = cache.statistics
        return {"hits": found.hits, "misses": found.misses, "errors": found.errors}

    meters.watch_cache("item", first_level)
    meters.watch_cache("shared_item", second_level)


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


@contextmanager
def worker(settings: Settings) -> Iterator[None]:
    """The second process, restarted whenever it ends prematurely."""
    stop = threading.Event()
    keeper = threading.Thread(target=keep_worker, args=(settings, stop), daemon=True)
    keeper.start()
    try:
        yield
    finally:
        stop.set()
        keeper.join()


def keep_worker(settings: Settings, stop: threading.Event) -> None:
    pause = FIRST_PAUSE
    while not stop.is_set():
        began = time.monotonic()
        process = subprocess.Popen(
            [sys.executable, "-m", "bigtime.web.worker", str(os.getpid())],
            # One malloc arena: the search index's writer fragments each, which adds up.
            env={"MALLOC_ARENA_MAX": "1", **os.environ, **environment(settings)},
            start_new_session=True,  # Ctrl+C is for this process, which then stops the worker
        )
        while process.poll() is None and not stop.wait(0.1):
            pass
        if stop.is_set():
            end(process)
            return
        log.error("the worker ended with %s; it is started again", process.returncode)
        if time.monotonic() - began > LONGEST_PAUSE:
            pause = FIRST_PAUSE  # it ran for a while, so this is a new failure
        stop.wait(pause)
        pause = min(pause * 2, LONGEST_PAUSE)


def environment(settings: Settings) -> dict[str, str]:
    """The environment variables with the settings that the worker needs."""
    return {
        "BIGTIME_STORE": settings.store,
        "BIGTIME_FENCE": settings.fence,
        "BIGTIME_SEARCH": settings.search_place,
        "BIGTIME_PICTURES": settings.picture_place,
        "BIGTIME_CACHE": settings.cache.get_secret_value(),
        "BIGTIME_SECRET": settings.secret.get_secret_value(),
        "BIGTIME_SMTP": settings.smtp.get_secret_value(),
        "BIGTIME_MAIL_FROM": settings.mail_from,
        "BIGTIME_PUBLIC_URL": settings.base_url,
    }


def end(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(SECONDS_TO_STOP)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
