"""A range of sort keys, and the key condition that DynamoDB accepts for it.

DynamoDB takes one condition on a sort key, and its BETWEEN includes both ends. So a range that is
bounded at both ends but excludes one of them needs care. Where no key can equal the end, including
it does no harm, and the range is declared inclusive there. A lower end that is a key becomes
the text just after it: the same with a NUL appended. An upper end has no text just before it, so
the reader drops the item that has that key; `drop_equal` says which. All keys with a given prefix
are a range too, from that prefix to its successor, and are queried with begins_with.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple, TypeAlias

Operator: TypeAlias = Literal["=", "<", "<=", ">", ">=", "between", "begins_with"]

OPERANDS: Final[Mapping[Operator, int]] = {
    "=": 1, "<": 1, "<=": 1, ">": 1, ">=": 1, "between": 2, "begins_with": 1,
}  # fmt: skip


class SortCondition(NamedTuple):
    """The one condition on a sort key that DynamoDB takes, and the keys to drop from the result."""

    operator: Operator
    operands: tuple[str, ...]
    drop_equal: tuple[str, ...] = ()


class SortBounds(NamedTuple):
    """A range of keys; an end that is None is open."""

    low: str | None
    high: str | None
    low_inclusive: bool = True
    high_inclusive: bool = True

    def condition(self) -> SortCondition | None:
        """The range as a key condition; None when it holds every key."""
        if self.high == "":  # DynamoDB allows neither an empty key nor an empty operand
            return SortCondition("<", ("\0",))
        if self.high is None:
            return (
                SortCondition(">=" if self.low_inclusive else ">", (self.low,))
                if self.low
                else None
            )
        if not self.low:
            return SortCondition("<=" if self.high_inclusive else "<", (self.high,))
        return self.between(self.low if self.low_inclusive else self.low + "\0", self.high)

    def between(self, low: str, high: str) -> SortCondition:
        if not self.high_inclusive:
            if high == successor(low):
                return SortCondition("begins_with", (low,))
            return SortCondition("between", (low, high), drop_equal=(high,))
        return SortCondition("=", (low,)) if low == high else SortCondition("between", (low, high))


def successor(prefix: str) -> str | None:
    """The least text above all those that begin with `prefix`; None when there is none."""
    kept = prefix.rstrip("\U0010ffff")
    if not kept:
        return None
    above = ord(kept[-1]) + 1
    return kept[:-1] + ("\ue000" if above == 0xD800 else chr(above))
