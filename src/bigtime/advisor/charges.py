"""Charges: the capacity units that requests consume, by table and index.

`measure` reads them from the responses as steps run:

    measured = store.run(measure(like_brand("APPLE", "alex")))
    measured.result, measured.write_units, measured.dollars("eu-west-1")

A request that fails reports nothing, though DynamoDB charges for it: a failed condition costs units
by the size of the existing item.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from math import nan
from typing import Any, Generic, TypeVar

from bigtime.advisor.prices import DEFAULT_REGION, rate
from bigtime.model import Runnable, steps_of
from bigtime.wire import Request, Response, Step, Steps, Together

T = TypeVar("T")

READS = frozenset({"GetItem", "BatchGetItem", "TransactGetItems", "Query", "Scan"})
WRITES = frozenset({"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"})


@dataclass(frozen=True, slots=True)
class Charge:
    """The units that a request consumed on a table, or on one of its indexes."""

    table: str
    """The name of the table."""
    index: str | None
    """The name of the index; None for the table itself."""
    read_units: float = 0.0
    """Read request units."""
    write_units: float = 0.0
    """Write request units."""


class Charged:
    """Anything with charges: one request, or all those of a pattern."""

    __slots__ = ()

    @property
    def charges(self) -> tuple[Charge, ...]:
        """The units, by table and index."""
        raise NotImplementedError

    @property
    def read_units(self) -> float:
        """The read units of tables and indexes together."""
        return sum(charge.read_units for charge in self.charges)

    @property
    def write_units(self) -> float:
        """The write units of tables and indexes together."""
        return sum(charge.write_units for charge in self.charges)

    @property
    def index_write_units(self) -> float:
        """The write units of the global indexes alone."""
        return sum(charge.write_units for charge in self.charges if charge.index is not None)

    @property
    def amplification(self) -> float:
        """Write units in total, for each unit that the tables alone would consume."""
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
    # A transaction repeated under its token is charged as a read, and reports read units.
    is_read = operation in READS or "ReadCapacityUnits" in units
    amount = float(units["CapacityUnits"])
    if is_read:
        return Charge(table, index, read_units=amount)
    return Charge(table, index, write_units=amount)


def units(charged: Charged | Charge) -> str:
    """`0.5 read units and 2 write units`, for example."""
    named = [
        f"{amount:g} {kind} unit{'' if amount == 1 else 's'}"
        for kind, amount in (("read", charged.read_units), ("write", charged.write_units))
        if amount
    ]
    return " and ".join(named) or "no units"


# Measuring steps as they run


@dataclass(frozen=True, slots=True)
class Measured(Charged, Generic[T]):
    """The result of steps, how many requests they made, and what those consumed."""

    result: T
    """What the steps returned."""
    requests: int
    """How many requests were sent."""
    consumed: tuple[Charge, ...]
    """The units, by table and index."""
    unreported: int = 0
    """How many requests reported no consumed capacity; the units are then NaN."""

    @property
    def charges(self) -> tuple[Charge, ...]:
        return self.consumed

    @property
    def read_units(self) -> float:
        return nan if self.unreported else sum(charge.read_units for charge in self.charges)

    @property
    def write_units(self) -> float:
        return nan if self.unreported else sum(charge.write_units for charge in self.charges)

    def dollars(self, region: str = DEFAULT_REGION, *, on: date | None = None) -> Decimal:
        """The price of the units, at the prices of a region and day."""
        return rate(region, on=on).dollars(self.read_units, self.write_units)


def measure(steps: Runnable[T]) -> Steps[Measured[T]]:
    """Runs the steps, and returns their result with what they consumed."""
    meter = Meter()
    result = yield from meter.run(steps_of(steps))
    return Measured(result, meter.requests, sum_charges(meter.charges), meter.unreported)


class Meter:
    """Adds up the consumed capacity that responses report."""

    def __init__(self) -> None:
        self.requests = 0
        self.unreported = 0
        self.charges: list[Charge] = []

    def run(self, steps: Steps[T]) -> Steps[T]:
        try:
            step = next(steps)
            while True:
                try:
                    answer = yield self.with_capacity(step)
                except Exception as error:
                    step = steps.throw(error)
                else:
                    self.note(step, answer)
                    step = steps.send(answer)
        except StopIteration as end:
            result: T = end.value
            return result
        finally:
            steps.close()

    def with_capacity(self, step: Step) -> Step:
        """The step, with its request asking for consumed capacity by table and index."""
        match step:
            case Request(operation, params) if operation in READS | WRITES:
                return Request(operation, {**params, "ReturnConsumedCapacity": "INDEXES"})
            case Together(steps):
                return Together(tuple(self.run(branch) for branch in steps))
        return step

    def note(self, step: Step, response: Any) -> None:
        if isinstance(step, Request):
            self.requests += 1
            self.charges += consumed_charges(step.operation, response)
            if step.operation in READS | WRITES and not response.get("ConsumedCapacity"):
                self.unreported += 1
