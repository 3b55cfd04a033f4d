"""Runs the worker as a process of its own, which is restarted whenever it ends prematurely.

It is restarted after a pause, which grows while it keeps dying soon after its start.
"""

from __future__ import annotations

import logging
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from bigtime.web.http import Settings

log = logging.getLogger("bigtime.web")

FIRST_PAUSE = 1.0
LONGEST_PAUSE = 30.0
SECONDS_TO_STOP = 20.0


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
