"""Failover: another region takes over writing; each step may be run again.

A planned switch (`fence=True`: a failover while the old region answers, and a failback):

1. An epoch without a writer begins in the old region; its processes stop writing within seconds.
2. Both regions are compared until they are the same.
3. The next epoch begins: the new region writes.

When the old region is lost, a person declares that it was stopped, and only step 3 is done. Writes
that it had not replicated are still there when it comes back; its processes see the new epoch as
soon as that is replicated to it, and `compare` finds what both have written.

After either, `verify_all` reads everything in the region that now writes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from secrets import token_hex
from typing import Final

from bigtime import model as bt
from bigtime.ops.comparison import Difference, RegionPair, compare_items, written_by_both
from bigtime.ops.table_settings import describe_table, replica_request, wait_until_active
from bigtime.store import (
    FENCE_SECONDS,
    NOBODY,
    WRITERS,
    Store,
    TransportError,
    Writer,
    read_writer,
    write_epoch,
)
from bigtime.wire import Request

SAME_SECONDS: Final = 30.0
READY_SECONDS: Final = 120.0
PROBE_SECONDS: Final = 10.0
LOOK_SECONDS: Final = 0.005


class RegionFault(Exception):
    """Why a step cannot be done: a sentence that says what was found and what to do."""


@dataclass(frozen=True, slots=True)
class RegionSwitch:
    """The regions of a system in an environment; `stores` are those that may be used."""

    system: bt.System
    environment: bt.Environment
    stores: Mapping[str, Store]
    sleep: Callable[[float], None] = time.sleep

    def __post_init__(self) -> None:
        if self.environment.dr_region is None:
            raise RegionFault(
                f"{self.environment.name} has one region, {self.environment.region}: there is none"
                " to go to. Environments with a dr_region have replicas."
            )

    # --- What is there ---

    def no_answer(self, region: str) -> RegionFault:
        other, environment = self.other(region), self.environment.name
        if self.writer().region == other:
            return RegionFault(
                f"{region} does not answer; {other} is the writer and continues. Run the same"
                f" command again when {region} is back; if it never had the tables, `bigtime tables"
                f" create {self.system.name} --environment {environment}` makes replicas."
            )
        return RegionFault(
            f"{region} does not answer. If it is lost, stop its processes, and say `bigtime"
            f" failover {self.system.name} --environment {environment} --to {other} --stopped"
            f" {region}`; if it never had the tables, `bigtime tables create {self.system.name}"
            f" --environment {environment}` makes replicas."
        )

    @property
    def tables(self) -> list[str]:
        """The tables of the system and of the systems that it uses."""
        parts = (self.system, *self.system.uses)
        return [table.name for part in parts for table in part.tables]

    def writers(self) -> dict[str, Writer | None]:
        """The writer according to each region; a region that does not answer is left out."""
        found = {}
        for region, store in self.stores.items():
            try:
                found[region] = store.run(read_writer(self.system.name))
            except TransportError:
                continue
        return found

    def writer(self) -> Writer:
        """The writer of the highest epoch; before the first one, the environment's own region."""
        known = [writer for writer in self.writers().values() if writer is not None]
        unfenced = Writer(0, self.environment.region, datetime.now(UTC))
        return max(known, key=lambda writer: writer.epoch, default=unfenced)

    def states(self) -> dict[str, list[str]]:
        """The state of each table in each region."""
        answering = self.writers()
        return {
            name: [
                self.state(name, region) if region in answering else "no answer"
                for region in self.environment.regions
            ]
            for name in [*self.tables, WRITERS.name]
        }

    def state(self, table: str, region: str) -> str:
        described = self.stores[region].run(describe_table(table))
        return "missing" if described is None else str(described["TableStatus"])

    def lag_seconds(self, source: str, target: str) -> float | None:
        """How long a write takes between two regions, as measured; None if it does not arrive."""
        probe = WRITERS.key(f"PROBE#{self.system.name}", token_hex(8))
        self.stores[source].run(WRITERS.put(probe))
        begun = time.monotonic()
        try:
            while time.monotonic() - begun < PROBE_SECONDS:
                params = {"TableName": WRITERS.name, "Key": probe, "ConsistentRead": True}
                if self.stores[target].send(Request("GetItem", params)).get("Item"):
                    return time.monotonic() - begun
                self.sleep(LOOK_SECONDS)
            return None
        finally:
            partition, sort = (value["S"] for value in probe.values())
            self.stores[source].run(WRITERS.delete(partition, sort))

    def check_region(self, name: str) -> None:
        regions = self.environment.regions
        if name not in regions:
            raise RegionFault(
                f"{name} is no region of {self.environment.name}: its tables are in"
                f" {' and '.join(regions)}."
            )

    def other(self, region: str) -> str:
        first, second = self.environment.regions
        return second if region == first else first

    def store_of(self, region: str) -> Store:
        """The store of a region that answers and has the tables."""
        store = self.stores.get(region)
        if store is None or region not in self.writers():
            raise self.no_answer(region)
        for name in self.tables:
            if store.run(describe_table(name)) is None:
                raise RegionFault(
                    f"There is no table {name} in {region}: `bigtime tables create"
                    f" {self.system.name} --environment {self.environment.name}` makes replicas."
                )
        return store

    # --- The fence ---

    def prepare(self) -> list[str]:
        """Creates the fence in all regions, if it is missing, with the first epoch."""
        answers = self.writers()
        answering = [region for region in self.environment.regions if region in answers]
        having = [name for name in answering if self.is_fence_active(name)]
        done: list[str] = []
        first = (having or answering)[0]
        store = self.stores[first]
        if not having:
            store.run(WRITERS.ready())
            done.append(f"created table {WRITERS.name} in {first}")
        table = store.run(wait_until_active(WRITERS.name))
        there = {replica["RegionName"] for replica in table.get("Replicas", [])}
        for region in answering:
            if region not in {first, *there, *having}:
                store.send(replica_request(WRITERS.name, {"RegionName": region}))
                self.wait_for_replica(first, region)
                done.append(f"created a replica of {WRITERS.name} in {region}")
        if self.writer().epoch == 0:
            begun = self.begin(1, self.environment.region, [first])
            done.append(f"the writer is {begun}")
        return done

    def wait_for_replica(self, first: str, region: str) -> None:
        """Waits for both: the region that creates a replica may learn later that it is ready."""
        end = time.monotonic() + READY_SECONDS
        while not all(self.is_fence_active(name) for name in (first, region)):
            if time.monotonic() > end:
                raise RegionFault(
                    f"{WRITERS.name} has no replica in {region} after {READY_SECONDS:.0f} s: run"
                    " the same again to continue."
                )
            self.sleep(0.05)

    def is_fence_active(self, region: str) -> bool:
        table = self.stores[region].run(describe_table(WRITERS.name))
        return table is not None and table["TableStatus"] == "ACTIVE"

    def begin(self, epoch: int, region: str, where: Sequence[str]) -> Writer:
        """Writes a new epoch in some regions; it is replicated to the others."""
        wanted = Writer(epoch, region, datetime.now(UTC))
        for name in where:
            found = self.stores[name].run(write_epoch(self.system.name, wanted))
            if found.region != region:
                raise RegionFault(
                    f"Epoch {epoch} has begun in {name}, for {found.region}: another switch is"
                    " under way. Look with `bigtime replica status`, then run the same again."
                )
            wanted = found
        return wanted

    # --- The switch ---

    def switch(
        self, to: str, *, fence: bool, stopped: str | None = None, accept: bool = False
    ) -> Iterator[str]:
        """Makes a region the writer; yields what is done, in words."""
        self.check_region(to)
        writer = self.writer()
        if writer.region == to:
            yield f"the writer is {writer} already"
            return
        old = self.other(to)
        self.check_asked(old, fence=fence, stopped=stopped)
        self.store_of(to)
        if fence:
            self.store_of(old)
        yield from self.prepare()
        writer = self.writer()
        if fence:
            if writer.region != NOBODY:
                writer = self.begin(writer.epoch + 1, NOBODY, [old])
                yield f"{old} is fenced: nobody writes (epoch {writer.epoch})"
            self.sleep(FENCE_SECONDS)
            yield from self.check_same(old, to, accept=accept)
        where = [to, old] if fence else [to]
        yield f"the writer is {self.begin(writer.epoch + 1, to, where)}"

    def check_asked(self, old: str, *, fence: bool, stopped: str | None) -> None:
        if stopped is not None and stopped != old:
            raise RegionFault(
                f"It is {old} that must not write any more, not {stopped}: stop its processes, and"
                f" say --stopped {old}."
            )
        if fence == (stopped is not None):
            raise RegionFault(
                f"{old} may be writing, and two regions must not: say --fence if it answers, and"
                " its processes are told to stop writing; if it is lost, stop its processes, so"
                f" that they do not come back by themselves, and say --stopped {old}."
            )

    def check_same(self, old: str, to: str, *, accept: bool) -> Iterator[str]:
        end = time.monotonic() + SAME_SECONDS
        while (found := list(self.compare(old, to))) and time.monotonic() < end:
            pass  # each comparison already waits for some seconds
        if found and not accept:
            raise RegionFault(
                f"{len(found):,} items differ between {old} and {to}, so nobody writes yet:"
                f" `bigtime replica compare {self.system.name}` lists them. Run the same again when"
                " they are replicated, or with --accept-differences."
            )
        yield f"{len(found):,} items differ" if found else "both regions have the same items"

    def compare(self, first: str, second: str) -> Iterator[Difference]:
        """The items that still differ after some seconds."""
        pair = RegionPair((first, second), (self.store_of(first), self.store_of(second)))
        return compare_items(pair, self.tables)

    def written_by_both(self) -> Iterator[Difference]:
        """The items that both regions have written since the writer changed."""
        writer = self.writer()
        if writer.epoch <= 1 or writer.region == NOBODY:
            return
        old = self.other(writer.region)
        pair = RegionPair((old, writer.region), (self.store_of(old), self.store_of(writer.region)))
        for name in self.tables:
            yield from written_by_both(pair, name, writer.since)
