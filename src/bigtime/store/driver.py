"""Driving steps: all that both stores share, which is everything but waiting.

Steps are a generator that yields requests and is sent their results. A store is a loop around it,
and the two stores differ only in how they wait: one blocks, the other awaits. Every decision that
needs no waiting is made here:

1. A `Run` advances the generator. It answers steps for the time, for random bytes and for facts
   that the store remembers; it stops at steps that need waiting (a request, a pause, several steps
   together), and at the end.
2. An error of the transport is thrown into the generator, where the pattern turns it into a domain
   error. An error that the generator does not catch ends the run.
3. A failed attempt is repeated when `Retries` says so, after a random pause; the steps do not
   notice. The hooks are called with each attempt, including failed ones.
4. A hook that raises ends the run: a meter that fails silently is worse than none.
5. A store remembers facts that steps have established through it, such as that an item exists
   which is never deleted. When there are too many it forgets all, and steps establish them again.
6. With a `meter`, every request that can report its capacity is sent with ReturnConsumedCapacity,
   and the meter is called with the units and the innermost access pattern that yielded the
   request. Steps that run together belong to the pattern that runs them, unless they are patterns
   themselves.
7. With `tracing`, the same, and a pattern's steps run inside a span.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Hashable, Sequence
from copy import copy
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, Generic, Protocol, Self, TypeAlias, TypedDict, TypeVar

from bigtime import wire
from bigtime.store.retries import Retries
from bigtime.wire import Request, Response, Step, Steps

if TYPE_CHECKING:
    from bigtime.store.tracing import Tracing

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

Clock: TypeAlias = Callable[[], datetime]
Randomness: TypeAlias = Callable[[int], bytes]
PendingStep: TypeAlias = Request | wire.Together | wire.Pause
"""A step that a run leaves to its store."""
WANTED = (Request, wire.Together, wire.Pause)
MOST_FACTS = 65_536


class Runnable(Protocol[T_co]):
    """Steps, or an operation, whose iterator is steps."""

    def __iter__(self) -> Generator[Step, Any, T_co]: ...


@dataclass(frozen=True, slots=True)
class Exchange:
    """One attempt at a request, with its response or error, as passed to hooks."""

    request: Request
    """The request as it was sent."""
    attempt: int
    """1 for the first."""
    seconds: float
    """How long the attempt took."""
    response: Response | None = None
    """DynamoDB's response, or None after an error."""
    error: Exception | None = None
    """The error from DynamoDB or the transport, if any."""

    def __repr__(self) -> str:
        """Leaves out the data, which may be secret, and is long."""
        came = "" if self.error is None else f", error={type(self.error).__name__}"
        return (
            f"Exchange({self.request.operation}, attempt={self.attempt}, seconds={self.seconds:.6f}"
            f"{came})"
        )

    @property
    def tables(self) -> list[str]:
        """The tables that the request names."""
        return tables_in(self.request)

    @property
    def consumed_capacity(self) -> tuple[Response, ...]:
        """The capacity, by table, that the response reports; empty unless it was asked for."""
        reported = (self.response or {}).get("ConsumedCapacity") or ()
        return (reported,) if isinstance(reported, dict) else tuple(reported)


Hook: TypeAlias = Callable[[Exchange], None]
"""Called on the thread that made the attempt; may be called on several threads at once."""

Meter: TypeAlias = Callable[[str | None, float], None]
"""Called with the qualified name of an access pattern, or None outside of one, and the capacity
units that the request consumed; on the thread that made it."""

CAPACITY: Final = "ReturnConsumedCapacity"
METERED: Final = frozenset(
    "GetItem PutItem UpdateItem DeleteItem Query Scan BatchGetItem BatchWriteItem TransactGetItems"
    " TransactWriteItems".split()
)
"""The operations that take ReturnConsumedCapacity."""


@dataclass(slots=True, eq=False)
class Run(Generic[T]):
    """A run of steps: takes the result of the last step, and returns the next one to carry out."""

    steps: Steps[T]
    driver: Driver
    result: T = field(init=False)

    @property
    def pattern(self) -> wire.PatternName | None:
        """The innermost pattern at the point where the steps have stopped."""
        found: wire.PatternName | None = None
        steps: object = self.steps
        while steps is not None:
            name = getattr(steps, "__name__", None)
            if type(name) is wire.PatternName:
                found = name
            steps = getattr(steps, "gi_yieldfrom", None)
        return found

    def advance(self, move: Callable[[Any], Step], value: object) -> PendingStep | None:
        """Advances the steps by `send` or `throw` to the next pending step; start by sending None.

        Returns None at the end, when `result` is set.
        """
        try:
            step = move(value)
            while not isinstance(step, WANTED):
                step = self._serve(step)
        except StopIteration as end:
            self.result = end.value
            return None
        return step

    def _serve(self, step: wire.Now | wire.Bytes | wire.Recall | wire.Remember) -> Step:
        match step:
            case wire.Now():
                return self.steps.send(self.driver.clock())
            case wire.Bytes(count):
                return self.steps.send(self.driver.randomness(count))
            case wire.Recall(facts):
                return self.steps.send(self.driver._recall(facts))
            case wire.Remember(facts, seconds):
                self.driver._remember(facts, seconds)
                return self.steps.send(None)
        # Thrown, so that the traceback ends in the line that yielded it.
        return self.steps.throw(
            TypeError(f"Steps yielded {step!r}, which is no step: was it meant as `yield from`?")
        )


def utc_now() -> datetime:
    return datetime.now(UTC)


DEFAULT_RETRIES: Final = Retries()


class DriverOptions(TypedDict, total=False):
    """The options of both stores; `Driver` has the defaults."""

    clock: Clock
    randomness: Randomness
    retries: Retries
    hooks: Sequence[Hook]
    meter: Meter | None
    tracing: Tracing | None
    tenant: str | None


class Driver:
    """The base class of both stores."""

    def __init__(
        self,
        *,
        clock: Clock = utc_now,
        randomness: Randomness = os.urandom,
        retries: Retries = DEFAULT_RETRIES,
        hooks: Sequence[Hook] = (),
        meter: Meter | None = None,
        tracing: Tracing | None = None,
        tenant: str | None = None,
    ) -> None:
        self.tenant = tenant
        self.clock = clock
        self.randomness = randomness
        self.retries = retries
        self.hooks: tuple[Hook, ...] = (*hooks,) if tracing is None else (*hooks, tracing)
        self.meter = meter
        self.tracing = tracing
        self._names_patterns = meter is not None or tracing is not None
        self._facts: dict[Hashable, datetime] = {}
        self._closes: list[Any] = []

    def _with_meter(self, wanted: PendingStep, run: Run[Any]) -> PendingStep:
        """The step, with the name of its pattern; a request also asks for its consumed capacity."""
        if isinstance(wanted, Request) and wanted.operation in METERED:
            pattern = run.pattern
            params = {CAPACITY: "INDEXES", **wanted.params}
            is_metered = CAPACITY not in wanted.params
            return Request(wanted.operation, params, pattern and pattern.qualified, is_metered)
        if isinstance(wanted, wire.Together) and (pattern := run.pattern):
            for steps in wanted.steps:
                if type(getattr(steps, "__name__", None)) is not wire.PatternName:
                    wire.name_steps(steps, pattern)
        return wanted

    def for_tenant(self, tenant: str) -> Self:
        """The same store bound to a tenant; unusable once this one is closed."""
        if self.tenant not in (None, tenant):
            raise ValueError(f"the store is bound to tenant {self.tenant!r}, not to {tenant!r}")
        bound = copy(self)
        bound.tenant = tenant
        bound._closes = []
        return bound

    def forget(self) -> None:
        """Forgets all facts: they may be about tables that have since been replaced."""
        self._facts.clear()

    def _recall(self, facts: tuple[Hashable, ...]) -> tuple[Hashable, ...]:
        """Those of the facts that are not remembered, or no longer valid."""
        moment = self.clock()
        return tuple(fact for fact in facts if self._facts.get(fact, moment) <= moment)

    def _remember(self, facts: tuple[Hashable, ...], seconds: float) -> None:
        if len(self._facts) + len(facts) > MOST_FACTS:
            self._facts.clear()
        until = self.clock() + timedelta(seconds=seconds)
        self._facts.update(dict.fromkeys(facts, until))

    def _note_success(
        self, request: Request, attempt: int, started: float, response: Response
    ) -> None:
        if self.meter is not None and "ConsumedCapacity" in response:
            self.meter(request.pattern, units_in(response["ConsumedCapacity"]))
        if self.hooks:
            exchange = Exchange(request, attempt, perf_counter() - started, response)
            for hook in self.hooks:
                hook(exchange)

    def _note_failure(
        self, request: Request, attempt: int, started: float, error: Exception
    ) -> float | None:
        """The seconds to wait before the next attempt; None if there is none."""
        took = perf_counter() - started
        if self.hooks:
            exchange = Exchange(request, attempt, took, error=error)
            for hook in self.hooks:
                hook(exchange)
        pause = self.retries.pause(request, error, attempt, took)
        if pause is None and isinstance(error, wire.ResourceNotFoundException):
            name_tables(error, request)
        return pause


def units_in(reported: Response | Sequence[Response]) -> float:
    """The units of one table, or the sum of several."""
    units = 0.0
    for table in (reported,) if isinstance(reported, dict) else reported:
        units += table.get("CapacityUnits", 0.0)
    return units


def name_tables(error: Exception, request: Request) -> None:
    """Adds a note with the request's tables, which DynamoDB's message often does not name."""
    tables = tables_in(request)
    if tables and request.operation in METERED:
        error.add_note(
            f"{request.operation} was of {', '.join(tables)}; setup(...) or `bigtime tables create`"
            " makes tables that are missing."
        )


def tables_in(request: Request) -> list[str]:
    """The tables that a request names, each once."""
    actions = (
        given for entry in request.params.get("TransactItems", ()) for given in entry.values()
    )
    named = [given.get("TableName") for given in (request.params, *actions)]
    return list(dict.fromkeys(filter(None, [*named, *request.params.get("RequestItems", ())])))


def at_once(transport: object) -> int:
    """How many requests to send at once: one, unless the transport says otherwise."""
    concurrency: int = getattr(transport, "concurrency", 1)
    return concurrency
