"""The replication threads, one per region, in the process that has the housekeeping lease.

No thread is started before a table has a replica. Each polls the files of all regions fifty times a
second, which takes microseconds if nothing was committed, so that the writes of any process are
replicated without notification.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

from bigtime.engine.operations import other_members
from bigtime.engine.replication.applier import Applier, Direction
from bigtime.engine.replication.changes import Checkpoint, oldest_pending
from bigtime.engine.storage import Database, Regions, Table, last_sequence
from bigtime.wire import InternalServerError

PAUSE_SECONDS = 0.02
TROUBLE_SECONDS = 0.5
MOST_ROUNDS = 10_000
PUSH_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Replication:
    """How far a replica lags behind another one."""

    table: str
    """The name of the table."""
    source: str
    """The region where the writes were made."""
    target: str
    """The region that applies them."""
    pending: int
    """How many writes it has not applied yet."""
    lag_seconds: float
    """The age of the oldest of them."""
    applied: int
    """How many it has applied."""
    latencies: tuple[float, ...]
    """The seconds from the source's commit to the target's, for the most recent writes."""

    @property
    def latency_milliseconds(self) -> float:
        """The mean, as CloudWatch shows it for ReplicationLatency; 0 if nothing was replicated."""
        count = len(self.latencies)
        return 1000.0 * sum(self.latencies) / count if count else 0.0


class Replicator:
    """Replicates between the regions of an engine."""

    def __init__(self, regions: Regions) -> None:
        self._regions = regions
        self._appliers: dict[str, Applier] = {}
        self._threads: dict[str, threading.Thread] = {}
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._is_ours = False

    # --- In the background ---

    def watch(self, *, is_ours: bool | None = None) -> bool:
        """Called now and then: starts a thread for each region once there is a replica.

        `is_ours` says whether this process replicates, if that has just been determined.
        """
        if is_ours is not None:
            self._is_ours = is_ours
        try:
            if self._is_ours and self.has_replicas():
                for region in list(self._regions.databases()):
                    self._start(region)
        except RuntimeError:  # from a region's file that was closed meanwhile
            if not self._stopping.is_set():
                raise
        return False

    def has_replicas(self) -> bool:
        databases = self._regions.databases().values()
        for database in databases:
            database.catalogue.refresh()
        return any(
            table.versions for database in databases for table in database.catalogue.tables.values()
        )

    def _start(self, region: str) -> None:
        with self._lock:
            if region not in self._threads and not self._stopping.is_set():
                thread = threading.Thread(
                    target=self._run,
                    args=(region,),
                    name=f"bigtime-replicate-{region}",
                    daemon=True,
                )
                self._threads[region] = thread
                thread.start()

    def _run(self, region: str) -> None:
        applier = self.applier(region)
        pause = 0.0
        while not self._stopping.wait(pause):
            pause = PAUSE_SECONDS
            if not self._is_ours:
                pause = TROUBLE_SECONDS
                continue
            try:
                if applier.advance():
                    pause = 0.0
            except Exception as error:
                # A file that was closed, or cannot be opened: it may be available again soon.
                if not self._stopping.is_set():
                    applier.complaints.complain("replicate", error)
                pause = TROUBLE_SECONDS

    def refuse(self) -> None:
        """Starts no more work; closed files are not reported as faults from now on."""
        self._stopping.set()

    def stop(self) -> None:
        self.refuse()
        with self._lock:
            threads = list(self._threads.values())
        for thread in threads:
            if thread is not threading.current_thread():
                thread.join()

    # --- At once ---

    def applier(self, region: str) -> Applier:
        with self._lock:
            applier = self._appliers.get(region)
            if applier is None:
                applier = Applier(self._regions.open(region), self._oldest_catch_up)
                self._appliers[region] = applier
            return applier

    def round(self) -> bool:
        """Replicates until all regions have everything; returns whether anything had to be done."""
        has_worked = False
        regions = list(self._regions.databases())
        if len(regions) == 1:
            return False
        for _ in range(MOST_ROUNDS):
            busy = [self.applier(region).advance() for region in regions]
            if not any(busy):
                break
            has_worked = True
        return has_worked

    def push(self, source: Database) -> None:
        """Returns once every replica has everything that a region's tables have now."""
        end = time.monotonic() + PUSH_SECONDS
        for table in list(source.catalogue.tables.values()):
            if table.versions and table.stream:
                with source.reading() as reader:
                    last = last_sequence(reader, table.stream.number)
                wanted = Checkpoint(table.stream.number, last)
                for target in self._targets(source, table):
                    self._push_to(target, source, table.name, wanted, end)

    def _targets(self, source: Database, table: Table) -> list[str]:
        group = table.definition.global_table or {"Members": {}}
        members = group["Members"].items()
        return [
            region
            for region, member in members
            if region != source.region and member["ReplicaStatus"] == "ACTIVE"
        ]

    def _push_to(
        self, target: str, source: Database, name: str, wanted: Checkpoint, end: float
    ) -> None:
        applier = self.applier(target)
        while not applier.has(name, source.region, wanted):
            left = end - time.monotonic()
            if left <= 0:
                raise InternalServerError(
                    f"The write is committed in {source.region}, and is not yet in {target}."
                )
            if not applier.advance(patience_seconds=left):
                time.sleep(0.001)

    def _oldest_catch_up(self, table: str, members: list[str]) -> float:
        """The time up to which all replicas of a table have each other's writes."""
        catch_ups = [
            self.applier(region).caught_up_at(table, source)
            for region in members
            for source in members
            if region != source
        ]
        return min(catch_ups, default=0.0)

    # --- What is measured ---

    def states(self) -> list[Replication]:
        """For every direction: what is pending in the files, and what this process has applied."""
        databases = self._regions.databases()
        for database in databases.values():
            database.catalogue.refresh()
        return [
            state
            for database in list(databases.values())
            for table in list(database.catalogue.tables.values())
            for region in other_members(table.definition)
            if (state := self._state(database.region, table.name, region))
        ]

    def _state(self, target: str, name: str, region: str) -> Replication | None:
        source = self._regions.find(region)
        table = source.catalogue.tables.get(name) if source else None
        if source is None or table is None or table.stream is None:
            return None
        applier = self.applier(target)
        pending, lag = self._lag(applier, source, table)
        own = applier.target.catalogue.tables[name]
        direction = applier.directions.get((own.number, region)) or Direction(name)
        return Replication(
            table=name,
            source=region,
            target=target,
            pending=pending,
            lag_seconds=lag,
            applied=direction.applied,
            latencies=tuple(direction.latencies),
        )

    def _lag(self, applier: Applier, source: Database, table: Table) -> tuple[int, float]:
        checkpoint = applier.checkpoint(table.name, source.region)
        if table.stream is None:
            return 0, 0.0
        if checkpoint is None or checkpoint.stream != table.stream.number:
            checkpoint = Checkpoint(table.stream.number, 0)
        with source.file.snapshot() as reader:
            pending = last_sequence(reader, table.stream.number) - checkpoint.sequence
            at = oldest_pending(reader, checkpoint) if pending > 0 else None
        return max(pending, 0), 0.0 if at is None else max(0.0, source.clock() - at)
