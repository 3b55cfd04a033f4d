"""Designs for the tests of updates."""

from __future__ import annotations

from decimal import Decimal

from bigtime.model.schema.entity import Entity
from bigtime.model.schema.keys import Keys
from bigtime.model.schema.table import Table, global_index, number

SCORES = Table("Scores", "name", indexes=[global_index("ByPoints", "team", number("points"))])


class Score(Entity, table=SCORES):
    keys = Keys(main="{name}", ByPoints=("{team}", "{points}"))
    name: str
    team: str | None = None
    points: Decimal | None = None


TWINS = Table(
    "Twins",
    "name",
    indexes=[global_index("ByA", "aPk", "rank"), global_index("ByB", "bPk", "rank")],
)


class Twin(Entity, table=TWINS):
    """In two indexes that sort by one attribute."""

    keys = Keys(main="{name}", ByA=("A#{a}", "{order:03}"), ByB=("B#{b}", "{order:03}"))
    name: str
    a: str | None = None
    b: str | None = None
    order: int | None = None


# Keys that are fields themselves, numbers, projections, and writes of several items at once
