"""Capacity units, as AWS counts them, and where they went.

A read is counted in blocks of 4 KB, half of that when it is eventually consistent and double in a
transaction; a write in blocks of 1 KB of the larger of the item before and after, double in a
transaction. A query rounds up once, over all that it read; a batch rounds each item. Nothing at
all still counts as one block.

An index is written to when its view of the item changes: once when the item enters it, leaves it
or changes what it projects, twice when the item moves in it, because that is a delete and a put.
Each is sized on the index's view. The double price of a transaction is the table's alone.

(AWS: CapacityUnitCalculations.html, read-write-operations.html, GSI.html#GSI.Writes)
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from bigtime.model import Index, Table, projected
from bigtime.wire import AttributeValue, Item

READ_BLOCK = 4096
WRITE_BLOCK = 1024


# Units


def read_units(size: int, *, consistent: bool) -> float:
    blocks = max(1, -(-size // READ_BLOCK))
    return float(blocks) if consistent else blocks / 2


def transactional_read_units(size: int) -> float:
    return 2 * read_units(size, consistent=True)


def write_units(size: int) -> float:
    return float(max(1, -(-size // WRITE_BLOCK)))


# Sizes


def item_size(item: Mapping[str, AttributeValue]) -> int:
    return sum(len(name.encode()) + value_size(value) for name, value in item.items())


def value_size(value: AttributeValue) -> int:
    ((tag, content),) = value.items()
    return SIZES[tag](content)


def number_size(text: str) -> int:
    """A byte for the exponent, one for each pair of digits as counted from the point, the sign."""
    sign, digits, exponent = Decimal(text).as_tuple()
    assert isinstance(exponent, int)
    significant = "".join(map(str, digits)).lstrip("0")
    if not significant:
        return 1
    magnitude = len(significant) + exponent
    kept = len(significant.rstrip("0"))
    return 1 + (kept + magnitude % 2 + 1) // 2 + sign


SIZES: Mapping[str, Callable[[Any], int]] = {
    "S": lambda text: len(text.encode()),
    "N": number_size,
    "B": lambda text: len(b64decode(text)),
    "BOOL": lambda truth: 1,
    "NULL": lambda truth: 1,
    "SS": lambda members: sum(len(one.encode()) for one in members),
    "NS": lambda members: sum(map(number_size, members)),
    "BS": lambda members: sum(len(b64decode(one)) for one in members),
    "L": lambda elements: 3 + len(elements) + sum(map(value_size, elements)),
    "M": lambda members: 3 + len(members) + item_size(members),
}


def canonical(value: AttributeValue) -> AttributeValue:
    """The one spelling of a value: DynamoDB tells neither 1.0 from 1, nor a set from its order."""
    ((tag, content),) = value.items()
    match tag:
        case "N":
            return {"N": canonical_number(content)}
        case "SS" | "BS":
            return {tag: sorted(content)}
        case "NS":
            return {"NS": sorted(map(canonical_number, content))}
        case "L":
            return {"L": [canonical(one) for one in content]}
        case "M":
            return {"M": canonical_item(content)}
        case _:
            return value


def canonical_item(item: Mapping[str, AttributeValue]) -> Item:
    return {name: canonical(value) for name, value in item.items()}


def canonical_number(text: str) -> str:
    plain = format(Decimal(text), "f")
    if "." in plain:
        plain = plain.rstrip("0").rstrip(".")
    return "0" if plain == "-0" else plain


@dataclass(frozen=True, slots=True)
class Sized:
    """An item in its canonical spelling, and its bytes: its own, and more or less if so told."""

    item: Item
    extra: int = 0

    @property
    def size(self) -> int:
        return item_size(self.item) + self.extra

    def in_index(self, table: Table, index: Index) -> Sized | None:
        """What an index holds of it; None when it is not there."""
        if any(one.name not in self.item for one in index.attributes):
            return None
        held = projected(table, index)
        if held is None:
            return self
        return Sized({name: value for name, value in self.item.items() if name in held})


# Charges


@dataclass(frozen=True, slots=True)
class Charge:
    """Units that a request used on a table, or on one of its indexes."""

    table: str
    index: str | None
    read_units: float = 0.0
    write_units: float = 0.0


class Charged:
    """Whatever has charges: one request, or all of a pattern's."""

    __slots__ = ()

    @property
    def charges(self) -> tuple[Charge, ...]:
        raise NotImplementedError

    @property
    def read_units(self) -> float:
        return sum(one.read_units for one in self.charges)

    @property
    def write_units(self) -> float:
        return sum(one.write_units for one in self.charges)

    @property
    def index_write_units(self) -> float:
        return sum(one.write_units for one in self.charges if one.index is not None)

    @property
    def amplification(self) -> float:
        """How many units are written for each that the tables alone would take."""
        alone = self.write_units - self.index_write_units
        return self.write_units / alone if alone else 1.0


def added_up(charges: tuple[Charge, ...]) -> tuple[Charge, ...]:
    """One charge for each table and index, in the order of their first use."""
    totals: dict[tuple[str, str | None], tuple[float, float]] = {}
    for one in charges:
        reads, writes = totals.get((one.table, one.index), (0.0, 0.0))
        totals[one.table, one.index] = (reads + one.read_units, writes + one.write_units)
    return tuple(
        Charge(table, index, reads, writes) for (table, index), (reads, writes) in totals.items()
    )


def write_charges(
    table: Table, old: Sized | None, new: Sized | None, *, transactional: bool = False
) -> tuple[Charge, ...]:
    """What it costs that an item becomes another, comes or goes."""
    units = write_units(max(old.size if old else 0, new.size if new else 0))
    charges = [Charge(table.name, None, write_units=2 * units if transactional else units)]
    for index in table.indexes:
        before = old.in_index(table, index) if old else None
        after = new.in_index(table, index) if new else None
        index_units = index_write_units(index, before, after)
        if index_units:
            charges.append(Charge(table.name, index.name, write_units=index_units))
    return tuple(charges)


def index_write_units(index: Index, old: Sized | None, new: Sized | None) -> float:
    """What an index costs that sees one view of an item become another."""
    removed = write_units(old.size) if old else 0.0
    added = write_units(new.size) if new else 0.0
    if place(index, old) != place(index, new):
        return removed + added
    if old is None or new is None or old.item == new.item:
        return 0.0
    return max(removed, added)


def place(index: Index, view: Sized | None) -> list[Any] | None:
    return None if view is None else [view.item[one.name] for one in index.attributes]
