"""Comparing the tables of two stores, item by item, while the source is written to.

Every item of the source is looked up in the target, and every key of the target in the source. What
differs may only be on its way: after the streams were followed further, it is looked at again, a
few times. An item that stays different while the source's did not change is a difference; one that
changed each time is moving, and can be compared when the writes have stopped.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Final

from bigtime.ops.stream_copy import read_all
from bigtime.ops.table_copy import key_item
from bigtime.ops.table_walk import TableWalk
from bigtime.store import Store
from bigtime.wire import Item, equal, item_identity

TRIES: Final = 6
PAUSE_SECONDS: Final = 0.5
MOST_SUSPECTS: Final = 500
PAGE_ITEMS: Final = 500


class Comparison:
    """Of the tables whose keys are given. `follow` applies what the streams have to the target."""

    def __init__(
        self,
        source: Store,
        target: Store,
        keys: dict[str, dict[str, str]],
        follow: Callable[[], None],
        *,
        segments: int,
        report: Callable[[str], None],
    ) -> None:
        self.source = source
        self.target = target
        self.keys = keys
        self.follow = follow
        self.segments = segments
        self.report = report
        self.seen = 0
        self.different = 0
        self.moving = 0
        self._suspects: list[tuple[str, Item]] = []
        self._judging = threading.Lock()

    def run(self, tell: Callable[[int], None]) -> None:
        """Compares all; `tell` is called with the number of items of the source so far."""
        names = list(self.keys)
        there = TableWalk(names, self.segments, page_size=PAGE_ITEMS)
        there.run(self.source, self.look_up_in_target, lambda: tell(there.seen))
        back = TableWalk(names, self.segments, page_size=PAGE_ITEMS)
        back.run(self.target, self.look_up_in_source, lambda: tell(there.seen))
        self.seen = there.seen
        with self._judging:
            self.judge()

    def look_up_in_target(self, table: str, items: list[Item]) -> None:
        self.suspect(table, self.differing(table, items))

    def look_up_in_source(self, table: str, items: list[Item]) -> None:
        key = self.keys[table]
        found = read_all(self.source, table, key, items)
        self.suspect(
            table, [item for item in items if item_identity(table, item, key) not in found]
        )

    def differing(self, table: str, items: list[Item]) -> list[Item]:
        key = self.keys[table]
        found = read_all(self.target, table, key, items)
        return [
            item for item in items if not same(item, found.get(item_identity(table, item, key)))
        ]

    def suspect(self, table: str, items: list[Item]) -> None:
        if not items:
            return
        with self._judging:
            self._suspects += [(table, key_item(self.keys[table], item)) for item in items]
            if len(self._suspects) >= MOST_SUSPECTS:
                self.judge()

    def judge(self) -> None:
        """Looks at what is suspect until it is the same on both sides, or has had its tries."""
        suspects, self._suspects = self._suspects, []
        before: dict[int, Item | None] = {}
        changed: set[int] = set()
        left = list(range(len(suspects)))
        for attempt in range(TRIES):
            if not left:
                return
            if attempt:
                self.source.sleep(PAUSE_SECONDS)
            self.follow()
            still: list[int] = []
            for number, here, there in self.pairs(suspects, left):
                if same_or_missing(here, there):
                    continue
                if number in before and not same_or_missing(before[number], here):
                    changed.add(number)
                before[number] = here
                still.append(number)
            left = still
        for number in left:
            table, key = suspects[number]
            if number in changed:
                self.moving += 1
            else:
                self.different += 1
                self.report(f"{table} {key}: differs")

    def pairs(
        self, suspects: list[tuple[str, Item]], numbers: list[int]
    ) -> Iterator[tuple[int, Item | None, Item | None]]:
        """The items of suspects, in the source and in the target."""
        for table, key in self.keys.items():
            mine = [number for number in numbers if suspects[number][0] == table]
            wanted = [suspects[number][1] for number in mine]
            if not mine:
                continue
            # The source first: the target can only have become newer since.
            here = read_all(self.source, table, key, wanted)
            there = read_all(self.target, table, key, wanted)
            for number, item in zip(mine, wanted, strict=True):
                identity = item_identity(table, item, key)
                yield number, here.get(identity), there.get(identity)


def same_or_missing(item: Item | None, other: Item | None) -> bool:
    return item is other if item is None or other is None else same(item, other)


def same(item: Item, other: Item | None) -> bool:
    if other is None:
        return False
    return item == other or (
        item.keys() == other.keys() and all(equal(item[name], other[name]) for name in item)
    )
