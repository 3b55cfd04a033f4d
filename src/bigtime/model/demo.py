"""Demo data: entities by the thousand, the same ones for the same seed and the same last moment."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from random import Random
from typing import Final, Protocol

from bigtime.model.schema import Entity

UNTIL: Final = datetime(2026, 11, 15, 12, tzinfo=UTC)
"""The moment before which everything happened, where nobody says another."""


class Scale(StrEnum):
    """How much of it."""

    SMALL = "small"
    MEDIUM = "medium"
    LARGE = "large"


class Entities(Protocol):
    """Makes entities one by one, whole, of things that happened before a moment."""

    def __call__(
        self, scale: Scale, random: Random, until: datetime = UNTIL, /
    ) -> Iterator[Entity]: ...


def nothing_to_tell(random: Random) -> Iterable[str]:
    return ()


@dataclass(frozen=True, slots=True, eq=False)
class Demo:
    """A system's demo data.

    `entities` makes them one by one, whole: with every marker and count that the system's
    invariants want, for they are written as they are. `count` tells how many there will be, and
    `notes`, of the same seed, what whoever loads them has to know.
    """

    entities: Entities
    count: Callable[[Scale], int]
    notes: Callable[[Random], Iterable[str]] = nothing_to_tell
