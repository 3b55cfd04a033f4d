"""Lakes: entities whose changes are kept as Parquet files, for analytics.

    LAKE = (lake(CartLine, name="cart_lines", partition_by=("year", "month", "day")),)

It is a plain value. `System(lakes=LAKE)` declares it; the site's worker follows the table's stream
and writes the files, and `bigtime analytics` queries them in SQL.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from bigtime.model.errors import DesignError
from bigtime.model.schema import Entity

DAY: Final = ("year", "month", "day")
MONTH: Final = ("year", "month")
NAME: Final = re.compile(r"[a-z][a-z0-9_]*")
RESERVED: Final = ("item_key", "change", "changed_at", "position", "event_id", "sequence", *DAY)
"""Columns that every file has in addition to the fields of its entity."""


@dataclass(frozen=True, slots=True, eq=False)
class Lake:
    """An entity whose changes are kept as files, and the columns of those files.

    `name` is the SQL table of its current items; `<name>_changes` is the table of all changes.
    `partition_by` lists the parts of a change's date that name its folder. Secret fields and those
    in `without` never become columns.
    """

    entity: type[Entity]
    name: str
    partition_by: tuple[str, ...]
    without: frozenset[str]

    @property
    def table(self) -> str:
        """The name of the table whose stream carries the changes."""
        return self.entity.layout.table.name

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields that become columns."""
        hidden = self.entity.layout.secrets | self.without
        return tuple(name for name in self.entity.model_fields if name not in hidden)


def lake(
    entity: type[Entity],
    *,
    name: str | None = None,
    partition_by: Iterable[str] = DAY,
    without: Iterable[str] = (),
) -> Lake:
    """Declares that an entity's changes are kept as Parquet, in a folder for each day or month."""
    declared = Lake(entity, name or table_name(entity), tuple(partition_by), frozenset(without))
    check_lake(declared)
    return declared


def table_name(entity: type[Entity]) -> str:
    """`CartLine` -> `cart_line`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", entity.__name__).lower()


def check_lake(declared: Lake) -> None:
    entity = declared.entity
    where = f"lake({entity.__name__})"
    if not NAME.fullmatch(declared.name):
        raise DesignError(
            f"{where}: {declared.name!r} is no name of a table in SQL; use a-z, 0-9 and _"
        )
    if declared.partition_by not in (DAY, MONTH):
        raise DesignError(
            f"{where}: partition_by is {DAY} or {MONTH}, not {declared.partition_by!r}"
        )
    if entity.layout.table.stream != "NEW_AND_OLD_IMAGES":
        raise DesignError(
            f"{where}: table {declared.table} has no stream that tells what an item was and is;"
            ' declare it with stream="NEW_AND_OLD_IMAGES"'
        )
    unknown = sorted(declared.without - entity.model_fields.keys())
    if unknown:
        raise DesignError(f"{where}: it has no field {unknown[0]!r} to leave out")
    taken = sorted({*declared.fields} & {*RESERVED})
    if taken:
        raise DesignError(
            f"{where}: {taken[0]!r} is the name of a column that every file has; leave the field"
            f' out with without=("{taken[0]}",)'
        )
