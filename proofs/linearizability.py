"""A checker for histories of one key: could the operations have happened one at a time?

A history is linearizable if every operation can be given one moment between its call and its
return at which it took effect, so that together they behave as one register. The search for such
moments is Wing and Gong's, with Lowe's memoisation:

1. Take the operations not yet placed. One of them may come next only if it was called before
   every other of them had returned: one that returned earlier comes earlier. The earliest return
   of all is the horizon, and operations called after it have to wait.
2. Of those that may come next, one whose result fits the current value is placed, and gives the
   next value. If none fits, the last choice was wrong: go back and try the next.
3. The rest of the search depends only on the set of placed operations and the value. A pair seen
   before led nowhere then and leads nowhere now.

Keys are checked separately: a history is linearizable if each key's part of it is.

The worst case is exponential in the number of concurrent clients, which no checker avoids, since
the problem is NP-complete. For a few clients it is quick: memoisation prunes nearly everything.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

Value = int | None
"""What a key holds; None if there is no item."""


@dataclass(frozen=True, slots=True)
class Operation:
    """What a client requested of one key, the result, and the times of call and return."""

    kind: Literal["put", "get", "cas", "add"]
    called: float
    returned: float
    argument: Value = None
    expected: Value = None
    result: Value | bool = None


def is_linearizable(history: Iterable[Operation]) -> bool:
    operations = sorted(history, key=lambda one: one.called)
    everything = (1 << len(operations)) - 1
    hopeless: set[tuple[int, Value]] = set()
    untried: list[tuple[int, Value]] = [(0, None)]
    while untried:
        choice = untried.pop()
        placed, value = choice
        if placed == everything:
            return True
        if choice not in hopeless:
            hopeless.add(choice)
            untried += next_choices(operations, placed, value)
    return False


def next_choices(
    operations: Sequence[Operation], placed: int, value: Value
) -> list[tuple[int, Value]]:
    """Every operation that may come next, as placed; the one called first stands last."""
    waiting = [(place, each) for place, each in enumerate(operations) if not placed >> place & 1]
    horizon = min(each.returned for _, each in waiting)
    choices = []
    for place, each in waiting:
        if each.called > horizon:
            break
        fits, following = step(each, value)
        if fits:
            choices.append((placed | 1 << place, following))
    choices.reverse()
    return choices


def step(one: Operation, value: Value) -> tuple[bool, Value]:
    """Whether the operation's result fits the value, and the value after it."""
    match one.kind:
        case "put":
            return True, one.argument
        case "get":
            return one.result == value, value
        case "add":
            total = (value or 0) + (one.argument or 0)
            return one.result == total, total
        case "cas":
            holds = value == one.expected
            return one.result == holds, one.argument if holds else value
