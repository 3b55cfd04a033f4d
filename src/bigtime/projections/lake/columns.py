"""Columns: an entity's fields as SQL types, and its items as rows.

    str, enums, ids   VARCHAR             datetime   TIMESTAMP, UTC
    int               BIGINT              date       DATE
    Decimal           DECIMAL(18, 4)      bool       BOOLEAN
    anything else     VARCHAR, as JSON

A number that does not fit its column is an error of that one record, which becomes a dead letter;
decimals are rounded to four places.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import ROUND_HALF_EVEN, Decimal
from enum import Enum
from typing import Any, Final, TypeAlias

import orjson
from pydantic_core import to_jsonable_python

from bigtime.model import Entity, Lake, field_annotation, unwrap
from bigtime.wire import AttributeValue, Item

Row: TypeAlias = tuple[Any, ...]
Convert: TypeAlias = Callable[[Any], Any]
ReadStored: TypeAlias = Callable[[Any], Any]
StoredReaders: TypeAlias = Sequence[tuple[str, ReadStored, bool]]
"""Attributes, with how each is read and whether it may be missing."""

STEP: Final = Decimal("0.0001")
MOST_DECIMAL: Final = Decimal(10) ** 14
MOST_INT: Final = 2**63


class Unfit(ValueError):
    """A value that does not fit its column."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its type in DuckDB and in Glue, and how a field's value is converted."""

    name: str
    sql: str
    glue: str
    convert: Convert


def value_of(member: Enum) -> str:
    return str(member.value)


def whole_of(value: int) -> int:
    if not -MOST_INT <= value < MOST_INT:
        raise Unfit(f"{value} does not fit a BIGINT")
    return int(value)


def decimal_of(value: Decimal) -> Decimal:
    if not -MOST_DECIMAL < value < MOST_DECIMAL:
        raise Unfit(f"{value} does not fit a DECIMAL(18, 4)")
    return value.quantize(STEP, ROUND_HALF_EVEN)


def moment_of(value: datetime) -> datetime:
    """The time in UTC without a zone, as DuckDB and Parquet store it."""
    if value.tzinfo is UTC:
        return value.replace(tzinfo=None)
    return value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value


def json_of(value: Any) -> str:
    return orjson.dumps(to_jsonable_python(value, fallback=str)).decode()


def same(value: Any) -> Any:
    return value


TYPES: Final[tuple[tuple[type, str, str, Convert], ...]] = (
    (bool, "BOOLEAN", "boolean", same),
    (str, "VARCHAR", "string", same),
    (Enum, "VARCHAR", "string", value_of),
    (int, "BIGINT", "bigint", whole_of),
    (Decimal, "DECIMAL(18,4)", "decimal(18,4)", decimal_of),
    (datetime, "TIMESTAMP", "timestamp", moment_of),
    (date, "DATE", "date", same),
)
"""A field gets the first type that it is a subclass of: bool precedes int, datetime date."""

OWN: Final[tuple[Column, ...]] = (
    Column("item_key", "VARCHAR", "string", same),
    Column("change", "VARCHAR", "string", same),
    Column("changed_at", "TIMESTAMP", "timestamp", same),
    Column("position", "BIGINT", "bigint", same),
    Column("event_id", "VARCHAR", "string", same),
    Column("sequence", "VARCHAR", "string", same),
)
"""The first columns of every row.

`position` numbers the changes of the source table in the order in which they were read, so that of
two changes of one item the later has the greater position.
"""


def column_of(entity: type[Entity], name: str) -> Column:
    kind, _ = unwrap(field_annotation(entity, name))
    for type_, sql, glue, convert in TYPES:
        if isinstance(kind, type) and issubclass(kind, type_):
            return Column(name, sql, glue, convert)
    return Column(name, "VARCHAR", "string", json_of)


def columns_of(lake: Lake) -> tuple[Column, ...]:
    return (*OWN, *(column_of(lake.entity, name) for name in lake.fields))


def stored_moment(value: AttributeValue) -> datetime:
    return moment_of(datetime.fromisoformat(value["S"]))


READERS: Final[dict[str, ReadStored]] = {
    "VARCHAR": lambda value: value["S"],
    "BIGINT": lambda value: whole_of(int(value["N"])),
    "DECIMAL(18,4)": lambda value: decimal_of(Decimal(value["N"])),
    "TIMESTAMP": stored_moment,
    "BOOLEAN": lambda value: value["BOOL"],
}
"""Types that can usually be read directly from a stored item."""


class RowMaker:
    """Converts the items of one lake to rows.

    Values are read directly from the stored item where possible, because building an entity for
    each item would take twice the time. If an attribute is missing, is stored in another form or
    does not fit, the entity is built and its fields are used.
    """

    def __init__(self, lake: Lake) -> None:
        layout = lake.entity.layout
        self.columns = columns_of(lake)
        self._fields = [(column.name, column.convert) for column in self.columns[len(OWN) :]]
        self._read = layout.from_item
        self._key = layout.table.key_names
        self._stored = stored_readers(lake, self.columns[len(OWN) :])

    def key_of(self, item: Item) -> str:
        """The values of an item's key as a JSON list, which identifies the item."""
        values = [value for name in self._key for value in item[name].values()]
        return orjson.dumps(values).decode()

    def fields_of(self, item: Item) -> Row:
        if self._stored is not None:
            try:
                return tuple(
                    None if (value := item.get(stored)) is None and may_miss else read(value)
                    for stored, read, may_miss in self._stored
                )
            except (KeyError, TypeError, ValueError, ArithmeticError):
                pass
        return self.entity_fields(item)

    def entity_fields(self, item: Item) -> Row:
        """The fields of the entity that an item holds."""
        fields: Mapping[str, Any] = self._read(item).__dict__
        return tuple(
            None if (value := fields[name]) is None else convert(value)
            for name, convert in self._fields
        )


def stored_readers(lake: Lake, columns: Sequence[Column]) -> StoredReaders | None:
    """How each column is read from an item; None if one cannot be, or if items need upgrading."""
    entity, layout = lake.entity, lake.entity.layout
    if layout.is_upgraded or any(column.convert is json_of for column in columns):
        return None
    found = []
    for column in columns:
        field = entity.model_fields[column.name]
        may_miss = not field.is_required() and field.default is None
        if column.sql not in READERS:
            return None
        found.append((layout.names[column.name], READERS[column.sql], may_miss))
    return found
