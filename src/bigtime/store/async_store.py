"""The store that awaits: runs steps on an event loop."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from time import perf_counter
from types import TracebackType
from typing import Any, Self, TypeAlias, TypeVar

from bigtime.store.driver import (
    Clock,
    Driver,
    Hook,
    Meter,
    Randomness,
    Runnable,
    Wanted,
    at_once,
    utc_now,
)
from bigtime.store.engine_transport import Submitting, engine_transport
from bigtime.store.retries import Retries
from bigtime.store.store import DEFAULT_RETRIES
from bigtime.wire import Pause, Recall, Remember, Request, Response, Steps, Together, steps_in

T = TypeVar("T")

AsyncTransport: TypeAlias = Callable[[Request], Awaitable[Response]]


class AsyncStore(Driver):
    """Runs steps on a transport: an engine, or an endpoint. For one event loop.

    `closes` are awaited, last first, when the store is closed.
    """

    def __init__(
        self,
        transport: AsyncTransport | Submitting,
        *,
        clock: Clock = utc_now,
        randomness: Randomness = os.urandom,
        retries: Retries = DEFAULT_RETRIES,
        hooks: Sequence[Hook] = (),
        meter: Meter | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        closes: Sequence[Callable[[], Awaitable[None]]] = (),
    ) -> None:
        super().__init__(
            clock=clock, randomness=randomness, retries=retries, hooks=hooks, meter=meter
        )
        self.transport: AsyncTransport = (
            engine_transport(transport) if isinstance(transport, Submitting) else transport
        )
        self.sleep = sleep
        self._closes = list(closes)
        self._waits_at_once = at_once(transport) > 1

    async def run(self, steps: Runnable[T]) -> T:
        """Carries the steps out; returns what they return, raises what they raise."""
        generator: Steps[T] = steps_in(steps)
        return await self._run(generator)

    async def _run(self, steps: Steps[T]) -> T:
        run = self._begin(steps)
        try:
            wanted = run.answer(None)
            while wanted is not None:
                if self.meter is not None:
                    wanted = self._metered(wanted, run)
                try:
                    answer = await self._perform(wanted)
                except Exception as error:
                    wanted = run.fail(error)
                else:
                    wanted = run.answer(answer)
            return run.result
        finally:
            steps.close()

    async def _perform(self, wanted: Wanted) -> object:
        match wanted:
            case Request():
                return await self.send(wanted)
            case Together():
                return await self._together(wanted)
            case Pause(seconds):
                await self.sleep(seconds)
                return None
            case Recall(facts):
                return self._recall(facts)
            case Remember(facts):
                self._remember(facts)
                return None

    async def send(self, request: Request) -> Response:
        """One request, repeated as the store's retries allow."""
        attempt = 0
        while True:
            attempt += 1
            started = perf_counter()
            try:
                response = await self.transport(request)
            except Exception as error:
                pause = self._failed(request, attempt, started, error)
                if pause is None:
                    raise
            else:
                self._succeeded(request, attempt, started, response)
                return response
            await self.sleep(pause)

    async def _together(self, together: Together) -> list[Any]:
        if self._waits_at_once and len(together.steps) > 1:
            return await all_of([self._run(steps) for steps in together.steps])
        return [await self._run(steps) for steps in together.steps]

    async def close(self) -> None:
        while self._closes:
            await self._closes.pop()()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()


async def all_of(coroutines: Sequence[Coroutine[Any, Any, Any]]) -> list[Any]:
    """Their results; the first error cancels the others, and is raised as itself."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(coroutine) for coroutine in coroutines]
    except BaseExceptionGroup as errors:
        first = errors.exceptions[0]
    else:
        return [task.result() for task in tasks]
    raise first
