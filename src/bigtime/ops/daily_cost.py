"""What a day costs, from the capacity actually consumed; and whether that is too much.

Each process counts the units of its requests by table, and regularly adds them to a stored day. The
rule: a day costs too much if it costs more than 150 % of the mean of the seven days before it.
AWS's anomaly detection compares with a forecast of its own, and cannot be given this rule.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Final

from bigtime.advisor import Rate
from bigtime.store import Exchange
from bigtime.wire import Response

DAYS: Final = 7
TOO_MUCH: Final = Decimal("1.5")


@dataclass(frozen=True, slots=True)
class TableUnits:
    """Read and write units of a table."""

    read: Decimal = Decimal(0)
    write: Decimal = Decimal(0)

    def __add__(self, other: TableUnits) -> TableUnits:
        return TableUnits(self.read + other.read, self.write + other.write)

    def __sub__(self, other: TableUnits) -> TableUnits:
        return TableUnits(self.read - other.read, self.write - other.write)


READS: Final = frozenset({"GetItem", "Query", "Scan", "BatchGetItem", "TransactGetItems"})


class TableUnitCounter:
    """A store's hook that counts the units of requests, by table and index. Thread-safe.

    Units are halves and wholes, which floats add up exactly.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.read: dict[str, float] = {}
        self.write: dict[str, float] = {}
        self.index_read: dict[tuple[str, str], float] = {}
        self.index_write: dict[tuple[str, str], float] = {}
        """Units of global indexes, as CloudWatch counts them; the table's sum includes them."""
        self._taken: dict[str, TableUnits] = {}

    def __call__(self, exchange: Exchange) -> None:
        for used in exchange.consumed_capacity:
            self.count(exchange.request.operation, used)

    def count(self, operation: str, used: Response) -> None:
        """Counts the units that a response reports of one table."""
        # A transaction repeated under its token is charged as a read, and the response says so.
        is_read = operation in READS or "ReadCapacityUnits" in used
        units, table = self.read if is_read else self.write, used["TableName"]
        by_index = self.index_read if is_read else self.index_write
        with self._lock:
            units[table] = units.get(table, 0.0) + used["CapacityUnits"]
            for index, part in used.get("GlobalSecondaryIndexes", {}).items():
                place = table, index
                by_index[place] = by_index.get(place, 0.0) + part["CapacityUnits"]

    def take(self) -> dict[str, TableUnits]:
        """Returns all units counted since the last `take`."""
        with self._lock:
            total = {
                table: TableUnits(in_decimal(self.read, table), in_decimal(self.write, table))
                for table in {**self.read, **self.write}
            }
            taken, self._taken = self._taken, total
        return {
            table: units - taken.get(table, TableUnits())
            for table, units in total.items()
            if units != taken.get(table)
        }

    def give_back(self, units: Mapping[str, TableUnits]) -> None:
        """Adds back what `take` returned and could not be stored; the next `take` returns it."""
        with self._lock:
            for table, more in units.items():
                self._taken[table] = self._taken[table] - more


def in_decimal(units: Mapping[str, float], table: str) -> Decimal:
    return Decimal(str(units.get(table, 0.0)))


def dollars_of(units: Iterable[TableUnits], rate: Rate) -> Decimal:
    total = sum(units, TableUnits())
    return rate.dollars(float(total.read), float(total.write))


@dataclass(frozen=True, slots=True)
class DayCost:
    """The dollars of a day, and the mean of those of the seven days before that have counts."""

    day: date
    dollars: Decimal
    mean: Decimal | None

    @property
    def is_too_much(self) -> bool:
        return bool(self.mean) and self.dollars > TOO_MUCH * (self.mean or 0)


def days_to(day: date) -> tuple[date, ...]:
    """The seven days before a day, and that day."""
    return tuple(day - timedelta(days=ago) for ago in range(DAYS, -1, -1))


def day_cost(day: date, counted: Mapping[date, Iterable[TableUnits]], rate: Rate) -> DayCost:
    """A day's cost beside the mean of the days before; days without counts are left out of it."""
    before = [dollars_of(counted[each], rate) for each in days_to(day)[:-1] if each in counted]
    mean = sum(before, Decimal(0)) / len(before) if before else None
    return DayCost(day, dollars_of(counted.get(day, ()), rate), mean)
