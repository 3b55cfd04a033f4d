"""A checker for appends and reads: could the transactions have run one after another?

Writers append values, each used once, to several lists in one transaction; readers read several
lists in one. As in Elle, the lists themselves show what came before what:

1. The final list is the order of its writers, and whatever a reader saw of it must be a prefix of
   it. A value that is there twice was applied twice; one whose transaction was refused should not
   be there at all.
2. A writer comes before the writer of the next value (ww). A reader comes after the writer of
   the last value it saw (wr), and before the writer of the first that it did not see (rw).
3. A transaction that returned before another was called comes before it. Instead of an edge for
   every such pair there is a chain of moments: a return leads into the next moment, a call
   leads out of the last.

If the transactions can be sorted along all these edges, that is an order in which they could have
run one at a time. What cannot be sorted is a cycle: a lost update, a fork, a skew, a stale read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import inf

Lists = Mapping[str, Sequence[int]]


@dataclass(frozen=True, slots=True)
class Transaction:
    """An append of `value` to `lists`, or a read that saw what is in `saw`."""

    name: str
    called: float
    returned: float = inf
    value: int | None = None
    lists: tuple[str, ...] = ()
    saw: Lists = field(default_factory=dict)


def faults(history: Sequence[Transaction], final: Lists) -> list[str]:
    """What no order explains in a history; `final` are the lists after all of it."""
    found = [*append_faults(history, final), *read_faults(history, final)]
    if not found and (stuck := unsortable(edges(history, final))):
        found.append(f"a cycle among {', '.join(sorted(stuck)[:10])}")
    return found


def append_faults(history: Sequence[Transaction], final: Lists) -> list[str]:
    wanted: dict[str, list[int]] = defaultdict(list)
    for each in history:
        if each.value is not None:
            for name in each.lists:
                wanted[name].append(each.value)
    return [
        f"{name} should hold {sorted(wanted[name])} and holds {sorted(final.get(name, ()))}"
        for name in sorted(wanted.keys() | final.keys())
        if sorted(wanted[name]) != sorted(final.get(name, ()))
    ]


def read_faults(history: Sequence[Transaction], final: Lists) -> list[str]:
    return [
        f"{each.name} saw {list(seen)} in {name}, no beginning of {list(final.get(name, ()))}"
        for each in history
        for name, seen in each.saw.items()
        if list(seen) != list(final.get(name, ()))[: len(seen)]
    ]


Edges = dict[str, set[str]]


def edges(history: Sequence[Transaction], final: Lists) -> Edges:
    """The transactions that must come after each."""
    before: Edges = defaultdict(set)
    writer = {each.value: each.name for each in history if each.value is not None}
    for values in final.values():
        for earlier, later in pairwise(values):
            before[writer[earlier]].add(writer[later])
    for each in history:
        for name, seen in each.saw.items():
            if seen:
                before[writer[seen[-1]]].add(each.name)
            if len(seen) < len(final.get(name, ())):
                before[each.name].add(writer[final[name][len(seen)]])
    add_time(history, before)
    return before


def add_time(history: Sequence[Transaction], before: Edges) -> None:
    calls = [(each.called, 0, each.name) for each in history]
    returns = [(each.returned, 1, each.name) for each in history if each.returned < inf]
    moment = "start"
    for time, is_return, name in sorted(calls + returns):
        if is_return:
            later = f"after {name} at {time}"
            before[moment].add(later)
            before[name].add(later)
            moment = later
        else:
            before[moment].add(name)


def unsortable(before: Edges) -> set[str]:
    """The transactions that no order can place: they are on a cycle, or behind one."""
    waits_for: dict[str, int] = defaultdict(int)
    for laters in before.values():
        for later in laters:
            waits_for[later] += 1
    free = [name for name in before if not waits_for[name]]
    while free:
        for later in before.get(free.pop(), ()):
            waits_for[later] -= 1
            if not waits_for[later]:
                free.append(later)
    return {name for name, count in waits_for.items() if count}
