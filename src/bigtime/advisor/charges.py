"""Charges: the capacity units that requests consumed, by table and index."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from bigtime.wire import Response

READS = frozenset({"GetItem", "BatchGetItem", "TransactGetItems", "Query", "Scan"})
WRITES = frozenset({"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"})


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
        return sum(charge.read_units for charge in self.charges)

    @property
    def write_units(self) -> float:
        return sum(charge.write_units for charge in self.charges)

    @property
    def index_write_units(self) -> float:
        return sum(charge.write_units for charge in self.charges if charge.index is not None)

    @property
    def amplification(self) -> float:
        """How many units are written for each that the tables alone would take."""
        alone = self.write_units - self.index_write_units
        return self.write_units / alone if alone else 1.0


def sum_charges(charges: Iterable[Charge]) -> tuple[Charge, ...]:
    """One charge for each table and index, in the order of their first use."""
    totals: dict[tuple[str, str | None], tuple[float, float]] = {}
    for charge in charges:
        reads, writes = totals.get((charge.table, charge.index), (0.0, 0.0))
        totals[charge.table, charge.index] = (
            reads + charge.read_units,
            writes + charge.write_units,
        )
    return tuple(
        Charge(table, index, reads, writes) for (table, index), (reads, writes) in totals.items()
    )


def consumed_charges(operation: str, response: Response) -> Iterator[Charge]:
    """The charges in the `ConsumedCapacity` of a response."""
    reported = response.get("ConsumedCapacity") or ()
    for used in (reported,) if isinstance(reported, dict) else reported:
        yield charge(operation, used["TableName"], None, used.get("Table", used))
        for arm in ("LocalSecondaryIndexes", "GlobalSecondaryIndexes"):
            for index, units in (used.get(arm) or {}).items():
                yield charge(operation, used["TableName"], index, units)


def charge(operation: str, table: str, index: str | None, units: Response) -> Charge:
    # A transaction that is repeated under its token is charged as a read, and says so.
    is_read = operation in READS or "ReadCapacityUnits" in units
    amount = float(units["CapacityUnits"])
    if is_read:
        return Charge(table, index, read_units=amount)
    return Charge(table, index, write_units=amount)


# Words


def units(charged: Charged | Charge) -> str:
    """Such as `0.5 read units and 2 write units`."""
    named = [
        f"{amount:g} {kind} unit{'' if amount == 1 else 's'}"
        for kind, amount in (("read", charged.read_units), ("write", charged.write_units))
        if amount
    ]
    return " and ".join(named) or "no units"
