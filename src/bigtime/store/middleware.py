"""Middleware between a store and its transport: a cache, a fence, renaming of tables.

Middleware does no I/O. It answers a request with a generator, which yields the requests to send to
the transport behind it and the futures to wait for, is sent their results or thrown their errors,
and returns the response. Two transports here drive it: one blocks, the other awaits.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator
from concurrent.futures import Future
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from bigtime.store.async_store import AsyncTransport, SubmittingEngine, as_async_transport
from bigtime.store.driver import at_once
from bigtime.wire import Request, Response, Transport

AnswerSteps: TypeAlias = Generator[Any, Any, Response]
"""Yields requests and futures, and returns the response."""

T = TypeVar("T")
W = TypeVar("W")

ANSWERS_IN_A_ROW = 200
"""After so many responses in a row without waiting, the event loop gets a turn."""


class Middleware(Protocol):
    """Answers requests with the help of the transport behind it."""

    def answer(self, request: Request) -> AnswerSteps: ...


M = TypeVar("M", bound=Middleware)


def pass_on(request: Request) -> AnswerSteps:
    """Passes the request to the transport behind, and returns its response."""
    response: Response = yield request
    return response


def drive(steps: Generator[W, Any, T], carry_out: Callable[[W], object]) -> T:
    """Carries out what the steps yield, throwing errors into them; returns what they return."""
    try:
        wanted = next(steps)
        while True:
            try:
                came = carry_out(wanted)
            except BaseException as error:
                wanted = steps.throw(error)
            else:
                wanted = steps.send(came)
    except StopIteration as end:
        result: T = end.value
        return result


async def drive_async(
    steps: Generator[W, Any, T], carry_out: Callable[[W], Awaitable[object]]
) -> T:
    """The same on an event loop."""
    try:
        wanted = next(steps)
        while True:
            try:
                came = await carry_out(wanted)
            except BaseException as error:
                wanted = steps.throw(error)
            else:
                wanted = steps.send(came)
    except StopIteration as end:
        result: T = end.value
        return result


class MiddlewareTransport(Generic[M]):
    """For a `Store`; as safe for threads as the transport behind it."""

    def __init__(self, transport: Transport, middleware: M) -> None:
        self.transport = transport
        self.middleware = middleware
        self.concurrency = at_once(transport)

    def __call__(self, request: Request) -> Response:
        return drive(self.middleware.answer(request), self.carry_out)

    def carry_out(self, wanted: object) -> object:
        if isinstance(wanted, Request):
            return self.transport(wanted)
        assert isinstance(wanted, Future)
        return wanted.result()


class AsyncMiddlewareTransport(Generic[M]):
    """For an `AsyncStore`, on its event loop."""

    def __init__(self, transport: AsyncTransport | SubmittingEngine, middleware: M) -> None:
        self.concurrency = at_once(transport)
        self.transport = as_async_transport(transport)
        self.middleware = middleware
        self._answers_in_a_row = 0

    async def __call__(self, request: Request) -> Response:
        response = await drive_async(self.middleware.answer(request), self.carry_out)
        await self._turn()
        return response

    async def carry_out(self, wanted: object) -> object:
        self._answers_in_a_row = 0
        if isinstance(wanted, Request):
            return await self.transport(wanted)
        assert isinstance(wanted, Future)
        return await asyncio.wrap_future(wanted)

    async def _turn(self) -> None:
        """Yields to the event loop after many responses in a row without waiting."""
        self._answers_in_a_row += 1
        if self._answers_in_a_row >= ANSWERS_IN_A_ROW:
            self._answers_in_a_row = 0
            await asyncio.sleep(0)
