"""Serving: the site in this process, its worker in a second one, both stopped cleanly.

On first start the tables are made, and in development filled with a little demo data. The worker
is started again when it dies, after a pause that grows. A signal stops the server, which ends the
requests under way, and then the worker.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import uvicorn
import uvloop

from bigtime.engine import Engine
from bigtime.model import DomainError, setup
from bigtime.store import AsyncStore, Store, open_store
from bigtime.store.http_transport import HttpTransport
from bigtime.store.setting import destination, read_setting
from bigtime.systems.accounts.account import view_account
from bigtime.systems.accounts.demo import ROLES, login_of
from bigtime.systems.accounts.errors import UnknownLogin
from bigtime.systems.deals.categories import create_categories
from bigtime.web.app import Version, make_app
from bigtime.web.demo import demo_logins, load_demo
from bigtime.web.design import SITE
from bigtime.web.meter import Meters
from bigtime.web.metered_store import MeteredStore
from bigtime.web.settings import Settings
from bigtime.web.systems import SYSTEMS

log = logging.getLogger("bigtime.web")

LONGEST_PAUSE = 30.0
SECONDS_TO_STOP = 20.0


class NotKept(DomainError):
    """The site runs in two processes, which `memory:` cannot share; choose a file, as file:a.db."""


class NotForProduction(DomainError):
    """This store has demo accounts, whose passwords everybody knows; choose another store."""


def prepare(settings: Settings, *, tell: Callable[[str], None]) -> bool:
    """Makes tables, and demo data where there is none yet; whether demo logins work."""
    if read_setting(settings.store).kind == "memory":
        raise NotKept()
    with open_store(settings.store) as store:
        made = store.run(setup(*SYSTEMS, SITE)).made
        store.run(create_categories())
        if made and settings.mode == "development":
            tell("First start: making the tables and some demo data ...")
            load_demo(store, until=datetime.now(UTC))
        has_demo = has_demo_login(store)
    if has_demo and settings.mode == "production":
        raise NotForProduction()
    return has_demo


def has_demo_login(store: Store) -> bool:
    for name in ROLES:
        with contextlib.suppress(UnknownLogin):
            store.run(view_account(login_of(name)))
            return True
    return False


def serve(settings: Settings, *, tell: Callable[[str], None] = print) -> None:
    """Serves until it is told to stop."""
    has_demo = prepare(settings, tell=tell)
    with worker(settings):
        uvloop.run(run_server(settings, tell=lambda port: greet(settings, port, has_demo, tell)))


def greet(settings: Settings, port: int, has_demo: bool, tell: Callable[[str], None]) -> None:
    tell(f"Big Time Deals is at {settings.public_url or f'http://{settings.host}:{port}'}")
    if has_demo:
        for one in demo_logins():
            tell(f"  log in as {one.login} with {one.password}")


async def run_server(settings: Settings, *, tell: Callable[[int], None]) -> None:
    meters = Meters()
    async with opened(settings, meters) as (store, version):
        config = uvicorn.Config(
            make_app(settings, store, version=version, meters=meters),
            host=settings.host,
            port=settings.port,
            loop="uvloop",
            http="httptools",
            access_log=False,
            server_header=False,
            proxy_headers=False,  # how many proxies to believe is the site's own setting
            log_level="warning",
            timeout_graceful_shutdown=10,
        )
        server = Server(config)
        telling = asyncio.create_task(tell_when_up(server, tell))
        await server.serve()
        telling.cancel()


class Server(uvicorn.Server):
    """Ends when it is told to, and leaves the rest to whoever called it."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """A signal ends the server, not the process: the worker has to be stopped too."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.handle_exit, number, None)
        yield


async def tell_when_up(server: uvicorn.Server, tell: Callable[[int], None]) -> None:
    while not server.started:
        await asyncio.sleep(0.05)
    tell(server.servers[0].sockets[0].getsockname()[1])


@contextlib.asynccontextmanager
async def opened(
    settings: Settings, meters: Meters
) -> AsyncIterator[tuple[AsyncStore, Version | None]]:
    """The store, and on an engine the number that changes with its data."""
    kind, place = read_setting(settings.store)
    if kind == "file":
        engine = Engine.open(place)
        try:
            yield MeteredStore(engine, spent=meters.spent), engine.version
        finally:
            await asyncio.to_thread(engine.close)
    else:
        transport = HttpTransport(**destination(kind, place))
        try:
            yield MeteredStore(transport, spent=meters.spent), None
        finally:
            await transport.close()


@contextmanager
def worker(settings: Settings) -> Iterator[None]:
    """The second process, started again whenever it ends before its time."""
    stop = threading.Event()
    keeper = threading.Thread(target=keep_worker, args=(settings, stop), daemon=True)
    keeper.start()
    try:
        yield
    finally:
        stop.set()
        keeper.join()


def keep_worker(settings: Settings, stop: threading.Event) -> None:
    pause = 1.0
    while not stop.is_set():
        process = subprocess.Popen(
            [sys.executable, "-m", "bigtime.web.worker"],
            env={**os.environ, **environment(settings)},
            start_new_session=True,  # Ctrl+C is for this process, which then stops the worker
        )
        while process.poll() is None and not stop.wait(0.1):
            pass
        if stop.is_set():
            end(process)
            return
        log.error("the worker ended with %s; it is started again", process.returncode)
        stop.wait(pause)
        pause = min(pause * 2, LONGEST_PAUSE)


def environment(settings: Settings) -> dict[str, str]:
    """The settings that the worker needs, as it reads them."""
    return {
        "BIGTIME_STORE": settings.store,
        "BIGTIME_SMTP": settings.smtp,
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
