"""What a day costs, from the capacity that was really consumed; and whether that is too much.

Each process counts the units of its requests by table, and adds them to a stored day now and then.
The rule: a day is too dear that costs more than 150 % of the mean of the seven days before it.
AWS's anomaly detection compares with a forecast of its own, and cannot be told this one.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Final

from bigtime.advisor import Rate, consumed_charges
from bigtime.store import Exchange

DAYS: Final = 7
TOO_MUCH: Final = Decimal("1.5")


@dataclass(frozen=True, slots=True)
class TableUnits:
    """Read and write units of a table."""

    read: Decimal = Decimal(0)
    write: Decimal = Decimal(0)

    def __add__(self, other: TableUnits) -> TableUnits:
        return TableUnits(self.read + other.read, self.write + other.write)


class TableUnitCounter:
    """Counts the units of requests by table: a store's hook. Safe for threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._units: dict[str, TableUnits] = {}

    def __call__(self, exchange: Exchange) -> None:
        if exchange.response is None or "ConsumedCapacity" not in exchange.response:
            return
        for charge in consumed_charges(exchange.request.operation, exchange.response):
            read, write = Decimal(str(charge.read_units)), Decimal(str(charge.write_units))
            self.add({charge.table: TableUnits(read, write)})

    def add(self, units: Mapping[str, TableUnits]) -> None:
        """Also what `take` gave and could not be stored."""
        with self._lock:
            for table, more in units.items():
                self._units[table] = self._units.get(table, TableUnits()) + more

    def take(self) -> dict[str, TableUnits]:
        """All that was counted since it was last taken."""
        with self._lock:
            taken, self._units = self._units, {}
        return taken


def dollars_of(units: Iterable[TableUnits], rate: Rate) -> Decimal:
    total = sum(units, TableUnits())
    return rate.dollars(float(total.read), float(total.write))


@dataclass(frozen=True, slots=True)
class DayCost:
    """The dollars of a day, and the mean of those of the seven days before that were counted."""

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
    """A day beside those before it; one of which nothing was counted is not part of the mean."""
    before = [dollars_of(counted[each], rate) for each in days_to(day)[:-1] if each in counted]
    mean = sum(before, Decimal(0)) / len(before) if before else None
    return DayCost(day, dollars_of(counted.get(day, ()), rate), mean)
