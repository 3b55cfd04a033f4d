"""Applies to one region what the others have: replicas, their settings, and their items.

A region's file is written only by the region itself: its applier reads the files of the others,
which never waits, and commits to its own. So a region that is locked or damaged does not hold up
another.

1. It aligns its replicas with the definitions of the other members: see operations/replicas.py.
2. A new replica compares its table with the whole of another one: all items and all tombstones, a
   chunk per transaction. So does one that was offline for so long that records it had not read were
   trimmed. Writes can go on meanwhile, since they are in the stream from where the comparison
   began.
3. Then it follows the stream of each other replica, and applies what is newer than its own. Applied
   changes are in its own stream too, with their original versions, so that a third region can read
   them here; a region never applies its own writes.

Applying is idempotent, and needs no order between regions: the greater version wins.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

from bigtime.engine import operations, storage
from bigtime.engine.housekeeping import Complaints
from bigtime.engine.operations import Write
from bigtime.engine.replication import changes as feed
from bigtime.engine.storage import Database, Table, TableDefinition, Transaction
from bigtime.wire import item_size

LATENCIES = 20_000
IDLE_RECORDS = 2_000
REFRESH_SECONDS = 5.0
DAY_SECONDS = 24 * 3600.0


@dataclass(slots=True)
class Direction:
    """The state of one table's replication from one region to another, in this process."""

    table: str
    position: feed.Checkpoint | None = None
    caught_up_at: float = 0.0
    applied: int = 0
    latencies: deque[float] = field(default_factory=lambda: deque(maxlen=LATENCIES))


class Applier:
    """Brings one region's file up to date."""

    def __init__(
        self, target: Database, oldest_catch_up: Callable[[str, list[str]], float]
    ) -> None:
        """`oldest_catch_up` returns the time up to which all those regions have all of a table."""
        self.target = target
        self.directions: dict[tuple[int, str], Direction] = {}
        self._oldest_catch_up = oldest_catch_up
        self.complaints = Complaints(target)
        self._mutex = threading.Lock()
        self._seen: dict[str, int] = {}
        self._looked_at = 0.0

    def advance(self, patience_seconds: float | None = None) -> bool:
        """Advances everything by a chunk; True if there may be more to do.

        With `patience_seconds` it does nothing if another thread takes longer over a chunk.
        """
        if not self._mutex.acquire(timeout=-1 if patience_seconds is None else patience_seconds):
            return False
        try:
            return self._advance()
        finally:
            self._mutex.release()

    def _advance(self) -> bool:
        peers = self._peers()
        versions = {peer.region: peer.file.version() for peer in (self.target, *peers)}
        now = time.monotonic()
        if versions == self._seen and now - self._looked_at < REFRESH_SECONDS:
            return False
        for database in (self.target, *peers):
            database.catalogue.refresh()
        # Each table separately: one that cannot be replicated does not hold up the others.
        busy = [
            self.complaints.attempt(partial(self._advance_table, name, peers), f"replicate {name}")
            for name in self._names(peers)
        ]
        is_busy = any(busy)
        self._seen = {} if is_busy else versions
        self._looked_at = now
        return is_busy

    def _peers(self) -> list[Database]:
        regions = self.target.regions
        return regions.others(self.target.region) if regions else []

    def _names(self, peers: list[Database]) -> list[str]:
        """The tables that have a replica here, or need one."""
        own = {name for name, table in self.target.catalogue.tables.items() if table.versions}
        asked = {
            name
            for peer in peers
            for name, table in peer.catalogue.tables.items()
            if self.target.region in operations.other_members(table.definition)
        }
        return sorted(own | asked)

    def _advance_table(self, name: str, peers: list[Database]) -> bool:
        is_changed = self._align(name, peers)
        table = self.target.catalogue.tables.get(name)
        if table is None or not table.versions:
            return is_changed
        sources = [
            (peer, source)
            for peer in peers
            if (source := peer.catalogue.tables.get(name)) and group_id(source) == group_id(table)
        ]
        has_more = [self._take_over(table, peer, source) for peer, source in sources]
        is_finished = self._finish_creation(name, sources)
        return any([is_changed, is_finished, self._trim(table, sources), *has_more])

    def checkpoint(self, name: str, source: str) -> feed.Checkpoint | None:
        """How far a table has been read, including records that did not need to be applied."""
        table = self.target.catalogue.tables.get(name)
        if table is None or not table.versions:
            return None
        with self.target.reading() as reader:
            stored = feed.read_checkpoint(reader, table, source)
        direction = self.directions.get((table.number, source))
        return latest(stored, direction.position if direction else None)

    def caught_up_at(self, name: str, source: str) -> float:
        """When a table last had everything that another region's had; 0 if never."""
        table = self.target.catalogue.tables.get(name)
        direction = self.directions.get((table.number, source)) if table else None
        return direction.caught_up_at if direction else 0.0

    def has(self, name: str, source: str, end: feed.Checkpoint) -> bool:
        """Whether everything up to that record of another region's stream has been applied."""
        known = self.checkpoint(name, source)
        return (
            known is not None
            and (known.stream, known.copy) == (end.stream, None)
            and known.sequence >= end.sequence
        )

    # --- Replicas ---

    def _align(self, name: str, peers: list[Database]) -> bool:
        """Creates, changes or deletes the local replica as its group requires; True if it did."""
        own = self.target.catalogue.tables.get(name)
        known = [table for peer in peers if (table := peer.catalogue.tables.get(name))]
        if own is None:
            return self._create(name, peers)
        others = [table.definition for table in known if group_id(table) == group_id(own)]
        if not own.versions:
            return False
        absent = self._absent(own, others, peers)
        wanted = operations.merged_table(own.definition, others, absent, self.target.clock())
        if wanted == own.definition:
            return False
        work = partial(align_replica, self.target, name, others, absent)
        self.target.committer.run(work)
        return True

    def _absent(
        self, own: Table, others: list[TableDefinition], peers: list[Database]
    ) -> list[str]:
        """The members whose file has just been read and has no replica of this table."""
        members = {region for each in others for region in operations.other_members(each)}
        members |= set(operations.other_members(own.definition))
        absent = []
        for peer in peers:
            if peer.region in members:
                # Refreshed now, since the member may have created it since we last read.
                peer.catalogue.refresh()
                found = peer.catalogue.tables.get(own.name)
                if found is None or group_id(found) != group_id(own):
                    absent.append(peer.region)
        return absent

    def _create(self, name: str, peers: list[Database]) -> bool:
        here = self.target.region
        for peer in peers:
            source = peer.catalogue.tables.get(name)
            group = source.definition.global_table if source else None
            member = group["Members"].get(here) if group else None
            if source and member and member["ReplicaStatus"] == operations.CREATING:
                if member.get("Source") in (peer.region, None) or not self._has_source(
                    name, member["Source"], peers
                ):
                    self._create_from(name, peer, source, peers)
                    return True
        return False

    def _has_source(self, name: str, region: str, peers: list[Database]) -> bool:
        return any(peer.region == region and name in peer.catalogue.tables for peer in peers)

    def _create_from(self, name: str, peer: Database, source: Table, peers: list[Database]) -> None:
        """Creates the table, and records where to start in the stream of every other replica."""
        starts: dict[str, feed.Checkpoint] = {}
        for other in peers:
            table = other.catalogue.tables.get(name)
            if table and table.stream and group_id(table) == group_id(source):
                with other.reading() as reader:
                    last = storage.last_sequence(reader, table.stream.number)
                copy = feed.Copy() if other is peer else None
                starts[other.region] = feed.Checkpoint(table.stream.number, last, copy)
        self.target.committer.run(partial(create_replica, self.target, source.definition, starts))

    def _finish_creation(self, name: str, sources: list[tuple[Database, Table]]) -> bool:
        """Marks a new replica ACTIVE once it has everything that existed at its creation."""
        table = self.target.catalogue.tables.get(name)
        if table is None or not table.versions:
            return False
        status = operations.own_member(table.definition)["ReplicaStatus"]
        if status != operations.CREATING or not sources:
            return False
        with self.target.reading() as reader:
            checkpoints = [feed.read_checkpoint(reader, table, peer.region) for peer, _ in sources]
        if any(checkpoint and checkpoint.copy for checkpoint in checkpoints):
            return False
        self.target.committer.run(partial(activate_replica, self.target, name))
        return True

    # --- Items ---

    def _take_over(self, table: Table, peer: Database, source: Table) -> bool:
        """Applies a chunk of another replica's changes; True if there may be more."""
        if source.stream is None:
            return False
        way = (table.number, peer.region)
        direction = self.directions.setdefault(way, Direction(table.name))
        asked_at = self.target.settled_clock()
        chunk, start = self._read(table, peer, source, source.stream.number, direction)
        is_copy = start.copy is not None
        if chunk.unreadable:
            log = f"rows {chunk.unreadable[:10]}" if is_copy else f"records {chunk.unreadable[:10]}"
            self.complaints.complain(
                "replicate", ValueError(f"{log} of {table.name} cannot be read"), peer.region
            )
            if not is_copy:
                # The unreadable records' changes are still in the items, so compare those.
                chunk = chunk._replace(end=replace(chunk.end, copy=feed.Copy()))
        if chunk.end == start:
            direction.position, direction.caught_up_at = start, asked_at
            return False
        idle = chunk.end.sequence - self._stored_checkpoint(table, peer.region, start).sequence
        if not chunk.changes and not is_copy and chunk.end.copy is None and idle < IDLE_RECORDS:
            # All of it was written here, so the checkpoint need not be stored each time.
            direction.position = chunk.end
            return True
        work = partial(apply_chunk, self.target, table.name, peer.region, start, chunk)
        direction.applied += self.target.committer.run(work)
        direction.position, now = chunk.end, self.target.clock()
        direction.latencies.extend(now - change.at for change in chunk.changes if change.at)
        return True

    def _stored_checkpoint(
        self, table: Table, source: str, default: feed.Checkpoint
    ) -> feed.Checkpoint:
        with self.target.reading() as reader:
            return feed.read_checkpoint(reader, table, source) or default

    def _read(
        self, table: Table, peer: Database, source: Table, stream: int, direction: Direction
    ) -> tuple[feed.Chunk, feed.Checkpoint]:
        """A chunk and its start: the checkpoint, or after records that need not be applied."""
        stored = self._stored_checkpoint(table, peer.region, feed.Checkpoint(stream, 0))
        start = latest(stored, direction.position) or stored
        with peer.file.snapshot() as reader:
            if start.copy is None and (
                start.stream != stream or feed.is_trimmed(reader, stream, start.sequence)
            ):
                start = feed.Checkpoint(stream, storage.last_sequence(reader, stream), feed.Copy())
            if start.copy is not None:
                return feed.read_copy(reader, source, start), start
            return feed.read_records(reader, source, self.target.region, start), start

    def _trim(self, table: Table, sources: list[tuple[Database, Table]]) -> bool:
        """Drops tombstones a day after every replica has had them."""
        regions = self.target.regions
        members = operations.other_members(table.definition)
        if regions is None or not {peer.region for peer, _ in sources}.issuperset(members):
            return False
        everyone = [self.target.region, *members]
        before = self._oldest_catch_up(table.name, everyone) - DAY_SECONDS
        limit = int(before * storage.MICROSECONDS)
        with self.target.reading() as reader:
            if not storage.has_tombstones(reader, table, limit):
                return False
        return self.target.committer.run(partial(trim_replica, self.target, table.name, limit))


def latest(stored: feed.Checkpoint | None, known: feed.Checkpoint | None) -> feed.Checkpoint | None:
    """The checkpoint in the file, or the one in memory if it is further in the same stream."""
    if stored is None:
        return known
    if stored.copy or known is None or known.copy:
        return stored
    is_further = known.stream == stored.stream and known.sequence > stored.sequence
    return known if is_further else stored


def group_id(table: Table) -> str | None:
    group = table.definition.global_table
    return group["Id"] if group else None


# --- Transactions in the file of a replica --------------------------------------------------------


def create_replica(
    database: Database,
    source: TableDefinition,
    starts: dict[str, feed.Checkpoint],
    transaction: Transaction,
) -> None:
    if source.name in database.catalogue.tables_for_writing():
        return
    definition = operations.new_replica(source, database.region, transaction.now)
    definition = operations.start_stream(database, transaction, definition)
    table = database.catalogue.add(transaction, definition)
    if table.ttl_attribute:
        transaction.execute(table.create_expiring())
    for region, checkpoint in starts.items():
        feed.write_checkpoint(transaction, table, region, checkpoint)


def align_replica(
    database: Database,
    name: str,
    others: list[TableDefinition],
    absent: list[str],
    transaction: Transaction,
) -> None:
    before = database.catalogue.tables_for_writing().get(name)
    if before is None or not before.versions:
        return
    wanted = operations.merged_table(before.definition, others, absent, transaction.now)
    if wanted is None:
        feed.drop_checkpoints(transaction, before)
        operations.remove_table(database, transaction, before)
        return
    if wanted == before.definition:
        return
    if wanted.global_table is None:
        feed.drop_checkpoints(transaction, before)
    table = operations.install_definition(database, transaction, before, wanted)
    operations.fill_new(database, transaction, before, table)


def activate_replica(database: Database, name: str, transaction: Transaction) -> None:
    table = database.catalogue.tables_for_writing().get(name)
    if table is None or not table.versions:
        return
    definition = table.definition
    member = operations.own_member(definition)
    if member["ReplicaStatus"] == operations.CREATING:
        active = {**member, "ReplicaStatus": operations.ACTIVE}
        changed = operations.with_member(definition, database.region, active, transaction.now)
        database.catalogue.change(transaction, changed)


def apply_chunk(
    database: Database,
    name: str,
    source: str,
    start: feed.Checkpoint,
    chunk: feed.Chunk,
    transaction: Transaction,
) -> int:
    """Applies what is newer, with the checkpoint; returns how many items changed."""
    table = database.catalogue.tables_for_writing().get(name)
    if table is None or not table.versions:
        return 0
    stored = feed.read_checkpoint(transaction.connection, table, source)
    if stored and stored.stream == chunk.end.stream and stored.sequence > chunk.end.sequence:
        # Another process has applied it already.
        return 0
    is_new = operations.own_member(table.definition)["ReplicaStatus"] == operations.CREATING
    silent = silent_table(table) if start.copy and is_new else None
    applied = sum(apply_change(transaction, table, change, silent) for change in chunk.changes)
    feed.write_checkpoint(transaction, table, source, chunk.end)
    return applied


def silent_table(table: Table) -> Table:
    """The table without its stream: a new replica's initial items are not changes to it."""
    return Table(replace(table.definition.with_note(storage.GLOBAL_TABLE, None), stream=None))


def apply_change(
    transaction: Transaction, table: Table, change: feed.Change, silent: Table | None
) -> bool:
    partition, sort, version, item = change[:4]
    known = storage.item_version(transaction.connection, table, partition, sort)
    if version <= known:
        return False
    if version != storage.OLDEST:
        deleted = item is None
        storage.set_version(transaction, table, partition, sort, version, deleted=deleted)
    write = Write(
        "delete" if item is None else "put",
        silent if silent and known == storage.UNWRITTEN else table,
        feed.keys_of(table, change) if item is None else item,
        partition,
        sort,
        size=0 if item is None else item_size(item),
        version=version,
    )
    write.plan(transaction).apply(transaction)
    return True


def trim_replica(database: Database, name: str, before: int, transaction: Transaction) -> bool:
    table = database.catalogue.tables_for_writing().get(name)
    if table is None or not table.versions:
        return False
    return storage.trim_tombstones(transaction, table, before)
