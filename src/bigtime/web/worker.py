"""The worker, a second process: it runs the reactions to streams, apart from requests for pages.

Each reaction of a system, and each of the site's own, has its own consumer with checkpoints, on its
own thread: while one sends a hot deal to a million users, another updates the front page. One that
fails is tried again after a pause, which grows; the others continue meanwhile, and a record that
fails repeatedly is set aside as a dead letter. Every few seconds the worker writes a report, even
while its consumers are busy.

A signal stops each consumer at its next request. The next start continues from the checkpoints, as
after a crash.

It runs as `python -m bigtime.web.worker PARENT`, started and watched by `bigtime serve`, and stops
on a signal, or when its parent process has ended. The parent's id is an argument, since the parent
may have ended before the worker could ask for it.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bigtime import ops, site
from bigtime.advisor import UnknownPrice, rate
from bigtime.model import Table, now
from bigtime.pictures import place_at
from bigtime.projections import lake
from bigtime.projections.search import Follower
from bigtime.store import (
    Exchange,
    Handler,
    Hook,
    RenamingTransport,
    ShardTurn,
    Store,
    consume,
    may_write,
    open_store,
    read_setting,
)
from bigtime.systems import deals
from bigtime.web.erased_copies import ErasedCopies
from bigtime.web.http import Settings, pepper_of, region_of
from bigtime.web.item_cache import open_cache
from bigtime.wire import Steps

if TYPE_CHECKING:
    from bigtime.store import RedisCache

log = logging.getLogger("bigtime.worker")

IDLE_SECONDS: Final = 0.2
TELL_SECONDS: Final = 5.0
REFRESH_SECONDS: Final = 30.0
EXPIRY_SECONDS: Final = 15.0
MAIL_SECONDS: Final = 10.0
DIGEST_SECONDS: Final = 60.0
UNITS_SECONDS: Final = 60.0
LAKE_SECONDS: Final = 1.0
BACKUP_SECONDS: Final = 10.0
SWEEP_SECONDS: Final = 600.0
UNLIST_SECONDS: Final = 3600.0
ERASE_SECONDS: Final = 10.0
LONGEST_PAUSE: Final = 30.0


class Stopped(BaseException):
    """Stops a consumer, at any of its requests."""


class RetriedConsumer:
    """A consumer that is tried again when it fails."""

    idle_seconds = IDLE_SECONDS
    handled = 0
    pause = 0.0

    def __init__(self, store: Store, name: str, table: str, handle: Handler) -> None:
        self.name = name
        self.begun = store.clock()
        self.consumer = consume(store, table, handle, name=name, hooks=[self.read])

    def read(self, reading: ShardTurn) -> None:
        self.handled += reading.records

    def lag_seconds(self, moment: datetime) -> Decimal:
        return seconds_of(self.consumer.consumption.behind(moment, begun=self.begun))

    def run(self, stop: threading.Event) -> None:
        with suppress(Stopped):
            while not stop.is_set():
                if not self.take_turn():
                    stop.wait(self.pause or self.idle_seconds)

    def take_turn(self) -> bool:
        """Handles some records; returns whether there may be more."""
        try:
            more = self.run_round()
        except Exception:
            self.pause = min(max(1.0, self.pause * 2), LONGEST_PAUSE)
            log.exception("%s failed; it is tried again in %.0f s", self.name, self.pause)
            return False
        self.pause = 0.0
        return more

    def run_round(self) -> bool:
        return any(reading.more for reading in self.consumer.run_round())


def seconds_of(behind: timedelta) -> Decimal:
    return Decimal(f"{max(0.0, behind.total_seconds()):.3f}")


class SearchConsumer(RetriedConsumer):
    """Keeps a search index."""

    def __init__(self, follower: Follower) -> None:
        self.name = follower.name
        self.follower = follower

    def lag_seconds(self, moment: datetime) -> Decimal:
        return seconds_of(self.follower.behind(moment))

    def run_round(self) -> bool:
        turns = self.follower.run_round()
        self.handled += sum(turn.records for turn in turns)
        return any(turn.more for turn in turns)


class LakeConsumer(RetriedConsumer):
    """Writes the files for analytics."""

    idle_seconds = LAKE_SECONDS

    def __init__(self, store: Store, place: str, bucket: lake.ExportBucket | None) -> None:
        self.name = "lake"
        self.begun = store.clock()
        self.store = store
        self.place = place
        self.bucket = bucket
        self.writer: lake.LakeWriter | None = None
        self.copies = ErasedCopies(store)

    def lag_seconds(self, moment: datetime) -> Decimal:
        return seconds_of(self.writer.behind(moment) if self.writer else moment - self.begun)

    def run(self, stop: threading.Event) -> None:
        try:
            super().run(stop)
        finally:
            self.close()

    def close(self) -> None:
        if self.writer is not None:
            writer, self.writer = self.writer, None
            writer.close()

    def run_round(self) -> bool:
        if self.writer is None:
            place = lake.place_at(self.place)
            self.writer = lake.LakeWriter(self.store, site.LAKES, place, bucket=self.bucket)
        try:
            more = self.writer.take_turn()
        except lake.FilesLost:
            self.close()  # the next writer repairs the lake when it opens it
            raise
        self.handled = self.writer.handled_changes
        self.copies.erase_in_lake(self.writer)
        return more


def make_lake_consumer(store: Store, settings: Settings) -> LakeConsumer | None:
    """The consumer that writes the lake; None where it is off, or DuckDB is not installed."""
    if settings.lake_place is None:
        return None
    if find_spec("duckdb") is None:
        log.info("no files for analytics are written: the extra [analytics] is not installed")
        return None
    kind, path = read_setting(settings.store)
    bucket: lake.ExportBucket | None = None
    if kind == "file":
        bucket = lake.FolderBucket(Path(f"{path}-s3"))
    elif isinstance(place := lake.place_at(settings.lake_place), lake.BucketPlace):
        bucket = lake.LakeBucket(place)
    return LakeConsumer(store, settings.lake_place, bucket)


class Worker:
    """Runs all consumers of the site."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        spending: UnitCounter | None = None,
        table_units: ops.TableUnitCounter | None = None,
        lake_consumer: LakeConsumer | None = None,
    ) -> None:
        self.store = store
        self.spending = spending or UnitCounter()
        self.table_units = table_units or ops.TableUnitCounter()
        self.region = region_of(settings)
        self.day_cost: ops.DayCost | None = None
        self.environment = settings.environment or None
        self.place = ops.place_at(settings.backups) if settings.backups else None
        self.backup_at: datetime | None = None
        self.recovery_seconds: dict[str, Decimal] = {}
        sender = mail_sender(settings)
        pictures = site.PictureWorker(place_at(settings.picture_place))
        links = site.Unsubscribing(pepper_of(settings), settings.base_url)
        digests = site.DigestMailer(links)
        self.cache = open_cache(settings)
        self.consuming: list[RetriedConsumer] = [
            RetriedConsumer(store, name, table.name, handle)
            for name, (table, handle) in (
                handlers(sender, site.Notifier(links)) | cache_handlers(self.cache)
            ).items()
        ]
        encoding = pictures.reaction
        encoder = RetriedConsumer(store, "site.pictures", encoding.table.name, encoding.handle)
        followers = site.search_followers(settings.search_place, store)
        copies = ErasedCopies(store)
        self.consuming += [encoder, *map(SearchConsumer, followers)]
        if lake_consumer is not None:
            self.consuming.append(lake_consumer)

        def steps_chore(name: str, seconds: float, steps: Callable[[], Steps[object]]) -> Chore:
            return Chore(name, seconds, lambda: store.run(steps()))

        self.chores = [
            steps_chore("signs of life", TELL_SECONDS, self.tell),
            steps_chore("units by table", UNITS_SECONDS, self.count_day),
            steps_chore("deletions", ERASE_SECONDS, site.continue_erasures),
            Chore("deletions in search", ERASE_SECONDS, lambda: copies.erase_in_search(followers)),
            Chore("backups' age", UNITS_SECONDS, self.look_at_recovery),
            steps_chore("the front page", REFRESH_SECONDS, deals.refresh_deals_cache),
            steps_chore("ends of deals", EXPIRY_SECONDS, deals.expire_deals),
            steps_chore("digests", DIGEST_SECONDS, digests.run),
            steps_chore("unused pictures", SWEEP_SECONDS, pictures.sweep),
            steps_chore("empty months", UNLIST_SECONDS, site.unlist_empty_months),
        ]
        if lake_consumer is None:
            self.chores.append(Chore("deletions, no lake", ERASE_SECONDS, copies.pass_over_lake))
        if (backups := backup_runs(store, settings)) is not None:
            self.chores.append(Chore("backups", BACKUP_SECONDS, backups.round))
        if sender is not None:
            self.chores.append(steps_chore("mail", MAIL_SECONDS, sender.send_again))
        for chore in self.chores:
            chore.may_run = partial(may_write, store)

    def run(self, stop: threading.Event) -> None:
        """Runs each on its own thread: none waits for another, and the heartbeat waits for none."""
        doing: list[RetriedConsumer | Chore] = [*self.consuming, *self.chores]
        threads = [threading.Thread(target=task.run, args=(stop,)) for task in doing]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if self.cache is not None:
            self.cache.close()

    def tell(self) -> Steps[None]:
        """Writes the report with each consumer's lag."""
        moment = yield from now()
        yield from site.write_worker_report(
            moment,
            lag_seconds={task.name: task.lag_seconds(moment) for task in self.consuming},
            handled={task.name: task.handled for task in self.consuming},
            spent=self.spending.so_far(),
            daily_cost=self.day_cost.dollars if self.day_cost else None,
            daily_cost_mean=self.day_cost.mean if self.day_cost else None,
            backup_at=self.backup_at,
            recovery_seconds=self.recovery_seconds,
        )

    def look_at_recovery(self) -> None:
        """Finds the newest backup, and how far back the tables can be restored."""
        if self.place is not None:
            names = ops.names_of(self.place, site.SITE.name, self.environment)
            self.backup_at = ops.moment_in(names[-1]) if names else None
        states = self.store.run(ops.recovery_states(ops.saved_tables(site.SITE)))
        self.recovery_seconds = {
            state.table: Decimal(f"{state.window_seconds:.0f}") for state in states
        }

    def count_day(self) -> Steps[None]:
        """Stores the units since the last time, and computes what the day has cost so far."""
        yield from site.store_units(self.table_units)
        today = (yield from now()).date()
        counted = yield from site.view_daily_units([*ops.days_to(today)])
        units = {
            day: [ops.TableUnits(each.read_units, each.write_units) for each in tables]
            for day, tables in counted.items()
        }
        try:
            self.day_cost = ops.day_cost(today, units, rate(self.region))
        except UnknownPrice as error:
            log.warning("what a day costs is not known: %s", error)
            return
        if self.day_cost.is_too_much:
            log.warning(
                "today has cost $%.6f so far, more than 150 %% of the mean of $%.6f",
                self.day_cost.dollars,
                self.day_cost.mean,
            )


class UnitCounter:
    """What each pattern has consumed since the worker started. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._units: defaultdict[str, float] = defaultdict(float)

    def spend(self, pattern: str | None, units: float) -> None:
        with self._lock:
            self._units[site.pattern_label(pattern)] += units

    def so_far(self) -> dict[str, Decimal]:
        with self._lock:
            return {name: Decimal(f"{units:.1f}") for name, units in self._units.items()}


class Chore:
    """A task that is repeated at an interval in seconds."""

    def __init__(self, name: str, seconds: float, do: Callable[[], object]) -> None:
        self.name = name
        self.seconds = seconds
        self.do = do
        self.may_run: Callable[[], bool] = lambda: True

    def run(self, stop: threading.Event) -> None:
        with suppress(Stopped):
            while not stop.is_set():
                self.try_once()
                stop.wait(self.seconds)

    def try_once(self) -> None:
        try:
            if self.may_run():
                self.do()
        except Exception:
            log.exception("%s failed; tried again in %.0f s", self.name, self.seconds)


def backup_runs(store: Store, settings: Settings) -> ops.BackupRuns | None:
    """The site's backups, by the plan of its environment; None where no folder is set.

    Without an environment they are made every day at 01:00 UTC, and kept for a week.
    """
    engine = ops.engine_of(store)
    if not settings.backups or engine is None:
        return None
    environment = site.SITE.environment(settings.environment) if settings.environment else None
    schedule = environment.backup_schedule if environment else "cron(0 1 * * ? *)"
    second = settings.backups_copy
    plan = ops.BackupPlan(
        ops.Schedule.parse(schedule),
        timedelta(days=environment.retention_days if environment else 7),
        ops.place_at(settings.backups),
        ops.place_at(second) if second else None,
    )
    names = store.transport.middleware if isinstance(store.transport, RenamingTransport) else None
    source = ops.BackupSource(engine, site.SITE, environment.name if environment else None, names)
    return ops.BackupRuns(source, plan)


def mail_sender(settings: Settings) -> site.MailSender | None:
    """Sends mails; None where no mail server is set."""
    if not settings.smtp:
        return None
    server = site.MailServer.from_url(settings.smtp.get_secret_value())
    return site.MailSender(server, settings.mail_from, pepper_of(settings), settings.contact)


def handlers(
    sender: site.MailSender | None, notifier: site.Notifier | None = None
) -> dict[str, tuple[Table, Handler]]:
    """All reactions of the systems and the site by name, including those that send mail."""
    found: dict[str, tuple[Table, Handler]] = {}
    for system in site.SYSTEMS:
        for reaction in system.reactions.values():
            handle = partial(ops.handle_and_log, reaction) if reaction.log_line else reaction.handle
            found[f"{system.name}.{reaction.name}"] = reaction.table, handle
    if notifier is not None:
        found["site.message_mails"] = notifier.reaction.table, notifier.reaction.handle
    if sender is not None:
        found["site.mail"] = sender.reaction.table, sender.reaction.handle
    return found


def cache_handlers(cache: RedisCache | None) -> dict[str, tuple[Table, Handler]]:
    """For each table in the item cache, the handler that drops changed items."""
    if cache is None:
        return {}
    return {f"cache.{table.name}": (table, cache.follow(table.name)) for table in site.SHOWN}


def main() -> None:
    """Works until SIGTERM or SIGINT, or until the process that started it is gone."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s worker %(levelname)s %(message)s")
    settings = Settings()
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    parent = int(sys.argv[1]) if len(sys.argv) > 1 else os.getppid()
    threading.Thread(target=watch_parent, args=(parent, stop), daemon=True).start()
    spending = UnitCounter()
    table_units = ops.TableUnitCounter()
    hooks = [table_units, stopping_at(stop)]
    with open_store(
        settings.store, fence=settings.fence, meter=spending.spend, hooks=hooks
    ) as store:
        lake_consumer = make_lake_consumer(store, settings)
        Worker(store, settings, spending, table_units, lake_consumer).run(stop)


def stopping_at(stop: threading.Event) -> Hook:
    def look(_: Exchange) -> None:
        if stop.is_set():
            raise Stopped

    return look


def watch_parent(parent: int, stop: threading.Event) -> None:
    while os.getppid() == parent and not stop.wait(1.0):
        pass
    stop.set()


if __name__ == "__main__":
    main()
