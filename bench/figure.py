"""A figure: what was measured, what it is compared with, and the bar to reach."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal


class NotHere(Exception):
    """Something that a measurement needs is missing; the message says what."""


STRETCHED = 1.5

Sense = Literal["at most", "at least", "under"]


@dataclass(frozen=True, slots=True)
class Bar:
    """A limit. `on_wall` marks waiting time, which depends on what else the machine does."""

    sense: Sense
    limit: float
    unit: str
    on_wall: bool = False

    def is_met(self, value: float, room: float = 1.0) -> bool:
        """Whether the value is within the limit, or `room` times the limit."""
        match self.sense:
            case "at most":
                return value <= self.limit * room
            case "at least":
                return value >= self.limit / room
            case "under":
                return value < self.limit * room

    def __str__(self) -> str:
        return f"{self.sense} {amount(self.limit, self.unit)}"


@dataclass(frozen=True, slots=True)
class Figure:
    """A measurement. The bar is for the ratio if its unit is times, else for our own amount."""

    what: str
    ours: float
    unit: str
    other: float | None = None
    beside: str = ""
    ratio: float | None = None
    bar: Bar | None = None

    @property
    def compared_value(self) -> float:
        return self.ratio if self.ratio is not None and self.in_times else self.ours

    @property
    def in_times(self) -> bool:
        return self.bar is None or self.bar.unit == "x"

    @property
    def is_met(self) -> bool | None:
        return None if self.bar is None else self.bar.is_met(self.compared_value)

    def fails(self, room: float) -> bool:
        """Whether the figure fails a run that gives its bars so much room.

        A run with room may share the machine with other programs. They make everybody wait, so it
        judges no waiting times; they also stretch CPU time, but both sides of a ratio alike.
        """
        if self.bar is None or (self.bar.on_wall and room > 1):
            return False
        stretched = 1.0 if self.in_times or room == 1 else STRETCHED
        return not self.bar.is_met(self.compared_value, room * stretched)

    def best(self, other: Figure | None) -> Figure:
        """Of two measurements of one thing, the less disturbed one."""
        if other is None or self.bar is None:
            return self
        least = self.bar.sense != "at least"
        return min(
            self, other, key=lambda one: one.compared_value if least else -one.compared_value
        )

    @property
    def summary(self) -> str:
        ours = amount(self.ours, self.unit)
        if self.ratio is None:
            return ours
        beside = f"{amount(self.other, self.unit)} {self.beside}".strip()
        return f"{amount(self.ratio, 'x')} ({ours} beside {beside})"

    def row(self) -> dict[str, Any]:
        """The figure as saved in the JSON file; `what`, `bar` and `seen` are for the README."""
        return {
            "what": self.what,
            "bar": "" if self.bar is None else str(self.bar),
            "seen": self.summary,
            "ours": self.ours,
            "unit": self.unit,
            "other": self.other,
            "beside": self.beside,
            "ratio": self.ratio,
            "judged": self.compared_value,
            "sense": self.bar and self.bar.sense,
            "limit": self.bar and self.bar.limit,
            "met": self.is_met,
        }


def amount(value: float | None, unit: str) -> str:
    if value is None:
        return ""
    digits = 0 if value >= 100 or value == int(value) else 1 if value >= 10 else 2
    return f"{value:,.{digits}f}{'' if unit in ('', 'x') else ' '}{unit}"
