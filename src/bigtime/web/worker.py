"""The second process: what streams tell is done here, away from those who wait for pages.

Each reaction of a system, and each of the site's own, has a consumer with checkpoints. They take
turns in one thread. One that fails is tried again after a pause, which grows; nothing is skipped,
and the others go on meanwhile. Every few seconds the worker writes down how it is doing.

It runs as `python -m bigtime.web.worker`, started and watched by `bigtime serve`, and stops when
it is told to or when the one who started it is gone.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

from bigtime.model import Change, DomainError, Steps, Table, decode, now
from bigtime.store import Reading, Store, consume, open_store
from bigtime.store.consumption import Handler
from bigtime.systems.deals.front_page import refresh_deals_cache
from bigtime.web.checkout import resume_purchases
from bigtime.web.design import SITE, WORKER
from bigtime.web.mail import deliver_mail, smtp
from bigtime.web.projection import project_deals
from bigtime.web.settings import Settings
from bigtime.web.systems import SYSTEMS
from bigtime.web.tasks import do_task
from bigtime.wire import DynamoDBError, Response

log = logging.getLogger("bigtime.worker")

IDLE_SECONDS: Final = 0.2
TELL_SECONDS: Final = 5.0
REFRESH_SECONDS: Final = 30.0
LONGEST_PAUSE: Final = 30.0


class Consuming:
    """A consumer that is tried again when it fails."""

    def __init__(self, store: Store, name: str, table: str, handle: Handler) -> None:
        self.name = name
        self.lag_seconds = 0.0
        self.handled = 0
        self.pause = 0.0
        self.not_before = 0.0
        self.consumer = consume(store, table, handle, name=name, hooks=[self.read])

    def read(self, reading: Reading) -> None:
        self.lag_seconds = reading.lag_seconds
        self.handled += reading.records

    def take_turn(self) -> bool:
        """Handles some records; whether there may be more."""
        if time.monotonic() < self.not_before:
            return False
        try:
            more = any(reading.more for reading in self.consumer.run_round())
        except (DynamoDBError, DomainError, OSError, ValueError):
            self.pause = min(max(1.0, self.pause * 2), LONGEST_PAUSE)
            self.not_before = time.monotonic() + self.pause
            log.exception("%s failed; it is tried again in %.0f s", self.name, self.pause)
            return False
        self.pause = 0.0
        return more


class Worker:
    """All consumers of the site, by turns."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self.store = store
        self.consuming = [
            Consuming(store, name, table.name, handle)
            for name, (table, handle) in handlers(settings).items()
        ]
        self.chores = [
            Chore(TELL_SECONDS, lambda: self.store.run(self.tell())),
            Chore(REFRESH_SECONDS, lambda: self.store.run(refresh_deals_cache())),
        ]

    def run(self, stop: threading.Event) -> None:
        while not stop.is_set():
            turns = [one.take_turn() for one in self.consuming]
            for chore in self.chores:
                chore.do_when_due()
            if not any(turns):
                stop.wait(IDLE_SECONDS)

    def tell(self) -> Steps[None]:
        """Writes down how far behind each consumer is."""
        moment = yield from now()
        yield from WORKER.update(
            seen_at=moment,
            lag_seconds={one.name: Decimal(f"{one.lag_seconds:.3f}") for one in self.consuming},
            handled={one.name: one.handled for one in self.consuming},
        )


class Chore:
    """Something to do every so many seconds."""

    def __init__(self, seconds: float, do: Callable[[], object]) -> None:
        self.seconds = seconds
        self.do = do
        self.due = 0.0

    def do_when_due(self) -> None:
        if time.monotonic() < self.due:
            return
        self.due = time.monotonic() + self.seconds
        try:
            self.do()
        except (DynamoDBError, DomainError, OSError):
            log.exception("a chore failed; it is tried again in %.0f s", self.seconds)


def handlers(settings: Settings) -> dict[str, tuple[Table, Handler]]:
    """Every reaction by its name: those of the systems, and those of the site."""
    found: dict[str, tuple[Table, Handler]] = {}
    for system in SYSTEMS:
        for reaction in system.reactions.values():
            found[f"{system.name}.{reaction.name}"] = reaction.table, reaction.handle
    for reaction in (project_deals, resume_purchases):
        found[f"site.{reaction.name}"] = reaction.table, reaction.handle
    found["site.tasks"] = SITE, on_site(do_task)
    if settings.smtp:
        send = smtp(settings.smtp)
        found["site.mail"] = (
            SITE,
            on_site(lambda change: deliver_mail(change, send=send, sender=settings.mail_from)),
        )
    return found


def on_site(react: Callable[[Change[Any]], Steps[None]]) -> Handler:
    def handle(record: Response) -> Steps[None]:
        yield from react(decode(record, (SITE,)))

    return handle


def main() -> None:
    """Works until SIGTERM or SIGINT, or until the process that started it is gone."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s worker %(levelname)s %(message)s")
    settings = Settings()
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    threading.Thread(target=watch_parent, args=(os.getppid(), stop), daemon=True).start()
    with open_store(settings.store) as store:
        Worker(store, settings).run(stop)


def watch_parent(parent: int, stop: threading.Event) -> None:
    while os.getppid() == parent and not stop.wait(1.0):
        pass
    stop.set()


if __name__ == "__main__":
    main()
