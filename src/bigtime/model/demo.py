"""Demo data: entities by the thousand, the same ones for the same seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from random import Random

from bigtime.model.entity import Entity


class Scale(StrEnum):
    """How much of it."""

    SMALL = "small"
    MEDIUM = "medium"
    LARGE = "large"


@dataclass(frozen=True, slots=True, eq=False)
class Demo:
    """A system's demo data.

    `entities` makes them one by one, whole: with every marker and count that the system's
    invariants want, for they are written as they are. `count` tells how many there will be.
    """

    entities: Callable[[Scale, Random], Iterator[Entity]]
    count: Callable[[Scale], int]
