"""What some steps did cost: the capacity that the database reported.

    measured = store.run(measure(like_brand("APPLE", "alex")))
    measured.result, measured.write_units, measured.dollars("eu-west-1")

Every request is told to report its capacity, by table and index. One that fails reports nothing,
though DynamoDB charges it: a failed condition costs what the item that it met would.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, Generic, TypeVar

from bigtime.advisor.charges import READS, WRITES, Charge, Charged, consumed_charges, sum_charges
from bigtime.advisor.prices import DEFAULT_REGION, rate
from bigtime.model import Runnable, steps_of
from bigtime.wire import Request, Step, Steps, Together

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Measured(Charged, Generic[T]):
    """What the steps came to, how many requests they made, and what those consumed."""

    result: T
    requests: int
    consumed: tuple[Charge, ...]

    @property
    def charges(self) -> tuple[Charge, ...]:
        return self.consumed

    def dollars(self, region: str = DEFAULT_REGION, *, on: date | None = None) -> Decimal:
        return rate(region, on=on).dollars(self.read_units, self.write_units)


def measure(steps: Runnable[T]) -> Steps[Measured[T]]:
    """The same steps, with what they consumed beside their result."""
    meter = Meter()
    result = yield from meter.metered(steps_of(steps))
    return Measured(result, meter.requests, sum_charges(meter.charges))


class Meter:
    """Adds up what the responses to some steps report."""

    def __init__(self) -> None:
        self.requests = 0
        self.charges: list[Charge] = []

    def metered(self, steps: Steps[T]) -> Steps[T]:
        try:
            step = next(steps)
            while True:
                try:
                    answer = yield self.reporting(step)
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

    def reporting(self, step: Step) -> Step:
        match step:
            case Request(operation, params) if operation in READS | WRITES:
                return Request(operation, {**params, "ReturnConsumedCapacity": "INDEXES"})
            case Together(steps):
                return Together(tuple(self.metered(one) for one in steps))
        return step

    def note(self, step: Step, response: Any) -> None:
        if isinstance(step, Request):
            self.requests += 1
            self.charges += consumed_charges(step.operation, response)
