"""Steps and operations: what a pattern is made of.

A pattern is a generator. It yields requests and is sent their responses; its driver knows where
the requests go, and whether to block or to await. The pattern itself knows neither, so one body
serves both.

An operation is a value: it holds one request, and how to read the response. `yield from` on it
performs it, `explain` shows it, `transact` puts it in a transaction.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from datetime import datetime
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar, cast, overload

from bigtime.model.tracking import TRACKED, Line, hand_over, mark_when_run, track, warn_unrun
from bigtime.wire import Bytes, Now, Pause, Request, Response, Steps, Together, steps_in

T = TypeVar("T")
A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")


class Op(ABC, Generic[T]):
    """One request, and what its response means."""

    __slots__ = ("made_at",)

    verb: ClassVar[str] = ""
    """The name of the function that creates it."""
    made_at: Line | None

    if TRACKED:

        def __init_subclass__(cls, **options: Any) -> None:
            super().__init_subclass__(**options)
            mark_when_run(cls)

        def __del__(self) -> None:
            warn_unrun(self)

    def subject(self) -> str:
        """What it operates on, for display."""
        return ""

    def __repr__(self) -> str:
        return f"{self.verb or type(self).__name__.lower()}({self.subject()})"

    @abstractmethod
    def request(self) -> Request: ...

    @abstractmethod
    def decode(self, response: Response) -> T: ...

    def failure(self, error: Exception) -> Exception:
        """The error to raise to the caller: the domain error for it, where there is one."""
        return error

    def __iter__(self) -> Steps[T]:
        try:
            response = yield self.request()
        except Exception as error:
            meaning = self.failure(error)
            raise meaning from (None if meaning is error else error)
        return self.decode(response)


Runnable: TypeAlias = Op[T] | Steps[T]


def now() -> Steps[datetime]:
    """The current time, by the store's clock."""
    moment = yield Now()
    return cast(datetime, moment)


def random_bytes(count: int) -> Steps[bytes]:
    """Random bytes, from the store's source."""
    drawn = yield Bytes(count)
    return cast(bytes, drawn)


@track
def pause(seconds: float) -> Steps[None]:
    """Waits, in the store's own way; a dry run does not."""
    yield Pause(seconds)


def steps_of(runnable: Runnable[T]) -> Steps[T]:
    return steps_in(runnable)


@overload
def together(first: Runnable[A], second: Runnable[B], /) -> Steps[tuple[A, B]]: ...
@overload
def together(
    first: Runnable[A], second: Runnable[B], third: Runnable[C], /
) -> Steps[tuple[A, B, C]]: ...
@overload
def together(*runnables: Runnable[T]) -> Steps[tuple[T, ...]]: ...
@track
def together(*runnables: Runnable[Any]) -> Steps[tuple[Any, ...]]:
    """Runs several, concurrently where that saves waiting; raises the first error unchanged."""
    several = tuple(steps_of(runnable) for runnable in runnables)
    for steps in several:
        hand_over(steps)
    results = yield Together(several)
    return tuple(results)
