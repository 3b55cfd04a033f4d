"""Bringing the items of a system up to its current declarations, while the application runs.

Four jobs scan the tables and have the kit examine every item:

- `verify` reports what is wrong;
- `repair` fixes it, where the kit can;
- `backfill` writes the index keys that items lack, and rewrites older items in today's form;
- `move` puts the items of an entity whose main key has changed under their new key.

1. Every write is conditional on the item being as it was read. One that has changed is read and
   examined again, a few times; then it is counted as overtaken.
2. Items are moved many in a transaction; if that fails, each by itself.
3. A violation is handled with its page, and forgotten: memory does not grow with their number.
4. Counts and the like can be judged only when every item has been seen. They are added up along the
   way; after an interruption the job continues, and then reads the tables once more for them.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Final, Literal, TypeAlias

from bigtime import model
from bigtime.model import Conflict, Entity, System, Table, Violation
from bigtime.ops.job_state import CannotGoOn, JobState
from bigtime.ops.table_walk import TableWalk
from bigtime.store import Store
from bigtime.wire import (
    Item,
    Request,
    Response,
    Steps,
    TransactionCanceledException,
    ValidationException,
    item_size,
)

Verb: TypeAlias = Literal["verify", "repair", "backfill", "move"]

SAVE_SECONDS: Final = 1.0
TRIES: Final = 3
MOVED_AT_ONCE: Final = 50
MOVED_BYTES: Final = 1 << 20
"""A transaction has at most 100 actions and 4 MB, and each item is in it twice."""

OVERTAKEN: Final = "; it changes all the time"
DOUBTFUL: Final = (
    "; not repaired while there are items that cannot be read, because they may be the cause"
)
BACKFILLED: Final = (model.StaleKeys, model.Outdated, model.BucketUnlisted)


class Evolution:
    """A job on the items of a system. `report` is called with each violation that remains.

    `index` limits `backfill` to the keys of one index; `entity` is what `move` moves.
    """

    def __init__(
        self,
        verb: Verb,
        system: System,
        state: JobState,
        *,
        segments: int,
        report: Callable[[str], None],
        index: str | None = None,
        entity: type[Entity] | None = None,
    ) -> None:
        self.verb = verb
        self.system = system
        self.state = state
        self.report = report
        self.index_names = index_attributes(system, index)
        self.entity = entity
        self.tables = {table.name: table for table in wanted_tables(system, entity, index)}
        self.is_whole = verb in ("verify", "repair")
        saved = state.values
        self.walk = TableWalk(list(self.tables), segments, saved.get("places"))
        self.walk.seen = saved.get("seen", 0)
        self.found = Counter[str](saved.get("found", {}))
        self.mended: int = saved.get("mended", 0)
        self.overtaken: int = saved.get("overtaken", 0)
        self.uncounted: int = saved.get("uncounted", 0)
        self.saved_at = 0.0
        resumes = self.is_whole and bool(saved)
        self.verification = model.Verification(
            system, "items" if resumes else "all" if self.is_whole else "form"
        )
        self._looking = threading.Lock()
        self._noting = threading.Lock()

    @property
    def remaining(self) -> int:
        """The number of violations that were not fixed."""
        return self.found.total() - self.mended

    def run(self, store: Store, tell: Callable[[int], None]) -> None:
        """Does the rest of the job; `tell` is called with the number of items seen so far."""

        def look() -> None:
            tell(self.walk.seen)
            if time.monotonic() - self.saved_at > SAVE_SECONDS:
                self.save()

        def handle(table: str, items: list[Item]) -> None:
            with self._looking:
                violations = store.run(self.verification.see(self.tables[table], items))
            self.treat_all(store, violations)

        self.save()
        try:
            self.walk.run(store, handle, look)
        finally:
            self.save()
        if self.is_whole:
            self.add_up(store)
        self.state.finish()

    def add_up(self, store: Store) -> None:
        """Handles what can be judged only now that every item has been seen.

        Unreadable items, such as those of a renamed class, were not counted: a count without them
        must not be written.
        """
        ending = self.verification
        if ending.part == "items":
            ending = model.Verification(self.system, "sums")
            if ending.has_sums:
                self.see_again(store, ending)
        violations = store.run(ending.end())
        if self.verb == "repair" and self.uncounted:
            self.note_left([(type(each).__name__, f"{each}{DOUBTFUL}") for each in violations])
        else:
            self.treat_all(store, violations)

    def see_again(self, store: Store, ending: model.Verification) -> None:
        walk = TableWalk(list(self.tables), self.walk.at_once)

        def handle(table: str, items: list[Item]) -> None:
            with self._looking:
                store.run(ending.see(self.tables[table], items))

        walk.run(store, handle, lambda: None)

    def save(self) -> None:
        with self._noting:
            counts = {
                "found": dict(self.found),
                "mended": self.mended,
                "overtaken": self.overtaken,
                "uncounted": self.uncounted,
            }
        self.state.save({"places": self.walk.places(), "seen": self.walk.seen, **counts})
        self.saved_at = time.monotonic()

    # --- A violation ---

    def treat_all(self, store: Store, violations: list[Violation]) -> None:
        """Handles a page's violations. Totals come last: an interrupted page is read again."""
        stays: list[tuple[str, str]] = []
        wanted: list[Violation] = [each for each in violations if self.concerns(each)]
        if self.verb == "move":
            wanted = self.move_groups(store, wanted)
        for violation in wanted:
            kind = type(violation).__name__
            fault = str(violation) if self.verb == "verify" else self.mend(store, violation)
            if fault:
                stays.append((kind, fault))
                if isinstance(violation, model.Unreadable) and violation.entities:
                    with self._noting:
                        self.uncounted += 1
            else:
                self.note_mended(kind, 1)
        self.note_left(stays)

    def move_groups(self, store: Store, violations: list[Violation]) -> list[Violation]:
        """Moves what can be moved together; returns what must be handled one by one."""
        left: list[Violation] = []
        for group in groups_to_move(violations):
            try:
                store.run(model.Misplaced.move_together(group))
            except (TransactionCanceledException, ValidationException):
                left += group
            else:
                self.note_mended(model.Misplaced.__name__, len(group))
        return left

    def note_mended(self, kind: str, count: int) -> None:
        with self._noting:
            self.found[kind] += count
            self.mended += count

    def note_left(self, stays: list[tuple[str, str]]) -> None:
        """Counts and reports what was not fixed, by kind."""
        with self._noting:
            self.found.update(kind for kind, _ in stays)
            for _, fault in stays:
                self.overtaken += fault.endswith(OVERTAKEN)
                self.report(fault)

    def concerns(self, violation: Violation) -> bool:
        """Whether the job handles violations of this kind."""
        if self.verb == "move":
            return isinstance(violation, model.Misplaced) and violation.layout.entity is self.entity
        if self.verb != "backfill":
            return True
        if isinstance(violation, model.StaleKeys) and self.index_names is not None:
            return not self.index_names.isdisjoint(violation.right)
        return isinstance(violation, BACKFILLED)

    def mend(self, store: Store, violation: Violation) -> str:
        """Why it could not be fixed; empty if it was, by this process or another."""
        current: Violation | None = violation
        for _ in range(TRIES):
            if current is None:
                return ""
            try:
                store.run(self.remedy(current))
                return ""
            except Conflict:
                current = self.look_again(store, current)
            except model.CannotMend as error:
                return str(error)
            except model.Unavailable:
                raise
            except (model.DomainError, ValidationException) as error:
                return f"{violation}; {error}"
        return f"{violation}{OVERTAKEN}"

    def remedy(self, violation: Violation) -> Steps[None]:
        if isinstance(violation, model.Misplaced) and self.verb == "move":
            return violation.move()
        return model.repair(violation)

    def look_again(self, store: Store, violation: Violation) -> Violation | None:
        """The violation now, None if gone; one that concerns several items is returned as is."""
        params = {"TableName": violation.table, "Key": violation.key, "ConsistentRead": True}
        item = store.send(Request("GetItem", params)).get("Item")
        if not isinstance(violation, (model.StaleKeys, model.Outdated, model.Misplaced)):
            return violation
        if item is None:
            return None
        checks = model.Verification(self.system, "form")
        found = store.run(checks.see(self.tables[violation.table], [item]))
        return next((each for each in found if type(each) is type(violation)), None)


def groups_to_move(violations: Iterable[Violation]) -> Iterator[list[model.Misplaced]]:
    """Items that fit into one transaction."""
    group: list[model.Misplaced] = []
    size = 0
    for violation in violations:
        if not isinstance(violation, model.Misplaced):
            continue
        added = item_size(violation.item)
        if group and (len(group) == MOVED_AT_ONCE or size + added > MOVED_BYTES):
            yield group
            group, size = [], 0
        group.append(violation)
        size += added
    if group:
        yield group


def wanted_tables(
    system: System, entity: type[Entity] | None, index: str | None
) -> tuple[Table, ...]:
    if entity is not None:
        return (entity.layout.table,)
    if index is None:
        return system.tables
    return tuple(table for table in system.tables if index in index_names(table))


def index_names(table: Table) -> list[str]:
    return [index.name for index in table.indexes]


def index_attributes(system: System, name: str | None) -> frozenset[str] | None:
    """The key attributes of the indexes with that name; None without a name."""
    if name is None:
        return None
    found = [index for table in system.tables for index in table.indexes if index.name == name]
    if not found:
        known = ", ".join(index for table in system.tables for index in index_names(table))
        raise CannotGoOn(
            f"{system.name} has no index {name}: it has {known or 'none'}. Declare it first, on the"
            " table and in the keys of its entities."
        )
    return frozenset(attribute.name for index in found for attribute in index.attributes)


def entity_named(system: System, name: str) -> type[Entity]:
    for entity in system.entities:
        if entity.__name__ == name:
            return entity
    known = ", ".join(entity.__name__ for entity in system.entities)
    raise CannotGoOn(f"{system.name} has no entity {name}: it has {known}.")


def table_ids(store: Store, tables: Iterable[str]) -> dict[str, str]:
    """The ids of tables by name; they tell a table from a later one of the same name."""
    return {name: described_table(store, name)["TableId"] for name in tables}


def item_count(store: Store, tables: Iterable[str]) -> int:
    """Roughly how many items there are, according to DescribeTable."""
    return sum(described_table(store, name).get("ItemCount") or 0 for name in tables)


def described_table(store: Store, name: str) -> Response:
    table: Response = store.send(Request("DescribeTable", {"TableName": name}))["Table"]
    return table
