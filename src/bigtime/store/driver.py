"""Driving steps: what both stores decide, and neither waits for.

Steps are a generator that yields what it wants and is sent what came of it. A store is a loop
around that, and the two stores differ only in how they wait: one blocks, the other awaits. All
that is decided, and not waited for, is here:

1. A `Run` moves the generator on. What the store can answer itself, the time and random bytes, it
   answers; it stops at what has to be waited for, a request, a pause or several steps together,
   at what its store remembers, or at the end.
2. An error of the transport is thrown into the generator, where the pattern turns it into the
   domain's word for it. What the generator does not catch ends the run.
3. A failed attempt is repeated when `Retries` says so, after a pause that it draws; the steps
   never hear of it. Each attempt is shown to the hooks, the failed ones too.
4. A hook that raises ends the run: a meter that fails silently is worse than none.
5. A store remembers facts that steps have established through it, such as that an item is there
   which nobody deletes. When they are too many it forgets them all, and steps establish them anew.
6. Who wants to know more of the steps than an attempt tells gives a kind of run of their own, as
   `begins`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from time import perf_counter
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from bigtime.store.retries import Retries
from bigtime.wire import (
    Bytes,
    Now,
    Pause,
    Recall,
    Remember,
    Request,
    Response,
    Step,
    Steps,
    Together,
)

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

Clock: TypeAlias = Callable[[], datetime]
Randomness: TypeAlias = Callable[[int], bytes]
Wanted: TypeAlias = Request | Together | Pause | Recall | Remember
"""What a run leaves to its store."""
WANTED = (Request, Together, Pause, Recall, Remember)
MOST_FACTS = 65_536


class Runnable(Protocol[T_co]):
    """Steps, or a value that has them: an operation."""

    def __iter__(self) -> Generator[Step, Any, T_co]: ...


@dataclass(frozen=True, slots=True)
class Exchange:
    """One attempt at a request and what came of it, for whoever measures."""

    request: Request
    attempt: int
    seconds: float
    response: Response | None = None
    error: Exception | None = None

    def __repr__(self) -> str:
        """Without the data, which may be secret, and is long."""
        came = "" if self.error is None else f", error={type(self.error).__name__}"
        return (
            f"Exchange({self.request.operation}, attempt={self.attempt}, seconds={self.seconds:.6f}"
            f"{came})"
        )

    @property
    def consumed(self) -> tuple[Response, ...]:
        """The capacity, by table, that the response reports; none unless the request asked."""
        reported = (self.response or {}).get("ConsumedCapacity") or ()
        return (reported,) if isinstance(reported, dict) else tuple(reported)


Hook: TypeAlias = Callable[[Exchange], None]
"""Called on the thread that made the attempt, which may be one of several at once."""


class Run(Generic[T]):
    """Steps under way: told what came of the last one, it tells what is wanted next."""

    __slots__ = ("clock", "randomness", "result", "steps")

    result: T

    def __init__(self, steps: Steps[T], clock: Clock, randomness: Randomness) -> None:
        self.steps = steps
        self.clock = clock
        self.randomness = randomness

    def answer(self, answer: object) -> Wanted | None:
        """Goes on with an answer, or begins with None; None is the end, and `result` is there."""
        return self._move(self.steps.send, answer)

    def fail(self, error: BaseException) -> Wanted | None:
        return self._move(self.steps.throw, error)

    def _move(self, move: Callable[[Any], Step], value: object) -> Wanted | None:
        try:
            step = move(value)
            while not isinstance(step, WANTED):
                step = self._serve(step)
        except StopIteration as end:
            self.result = end.value
            return None
        return step

    def _serve(self, step: Now | Bytes) -> Step:
        match step:
            case Now():
                return self.steps.send(self.clock())
            case Bytes():
                return self.steps.send(self.randomness(step.count))
        # Thrown, so that the trace ends in the line that yielded it.
        return self.steps.throw(
            TypeError(f"Steps yielded {step!r}, which is no step: was it meant as `yield from`?")
        )


Begins: TypeAlias = Callable[[Steps[Any], Clock, Randomness], Run[Any]]
"""Makes a run of steps, for a store with that clock and that randomness."""


class Driver:
    """What both stores are made with."""

    def __init__(
        self,
        *,
        clock: Clock,
        randomness: Randomness,
        retries: Retries,
        hooks: Sequence[Hook],
        begins: Begins = Run,
    ) -> None:
        self.clock = clock
        self.randomness = randomness
        self.retries = retries
        self.hooks = tuple(hooks)
        self.begins = begins
        self._facts: set[Hashable] = set()

    def _begin(self, steps: Steps[T]) -> Run[T]:
        return self.begins(steps, self.clock, self.randomness)

    def _recall(self, facts: tuple[Hashable, ...]) -> tuple[Hashable, ...]:
        """Those of the facts that are not remembered."""
        return tuple(one for one in facts if one not in self._facts)

    def _remember(self, facts: tuple[Hashable, ...]) -> None:
        if len(self._facts) + len(facts) > MOST_FACTS:
            self._facts.clear()
        self._facts.update(facts)

    def _succeeded(
        self, request: Request, attempt: int, started: float, response: Response
    ) -> None:
        if self.hooks:
            seconds = perf_counter() - started
            self._show(Exchange(request, attempt, seconds, response=response))

    def _failed(
        self, request: Request, attempt: int, started: float, error: Exception
    ) -> float | None:
        """The seconds to wait before the next attempt; None if there is to be none."""
        if self.hooks:
            self._show(Exchange(request, attempt, perf_counter() - started, error=error))
        return self.retries.pause(request, error, attempt)

    def _show(self, exchange: Exchange) -> None:
        for hook in self.hooks:
            hook(exchange)


def utc_now() -> datetime:
    return datetime.now(UTC)


def at_once(transport: object) -> int:
    """How many requests are worth sending at the same time: one, unless the transport says."""
    concurrency: int = getattr(transport, "concurrency", 1)
    return concurrency
