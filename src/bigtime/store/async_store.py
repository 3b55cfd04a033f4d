"""The asynchronous store: runs steps on an event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from time import perf_counter
from typing import Any, Protocol, Self, TypeAlias, TypeVar, Unpack, runtime_checkable

from bigtime import wire
from bigtime.store.driver import Driver, DriverOptions, Run, Runnable, at_once
from bigtime.wire import Request, Response, Steps

T = TypeVar("T")

AsyncTransport: TypeAlias = Callable[[Request], Awaitable[Response]]


class AsyncStore(Driver):
    """Runs steps on an engine or an endpoint, for one event loop.

    `closes` are awaited, last first, when the store is closed.
    """

    def __init__(
        self,
        transport: AsyncTransport | SubmittingEngine,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        closes: Sequence[Callable[[], Awaitable[None]]] = (),
        **options: Unpack[DriverOptions],
    ) -> None:
        super().__init__(**options)
        self.transport = as_async_transport(transport)
        self.sleep = sleep
        self._closes = list(closes)
        self._waits_at_once = at_once(transport) > 1

    async def run(self, steps: Runnable[T]) -> T:
        """Runs the steps; returns what they return, raises what they raise."""
        generator: Steps[T] = wire.steps_in(steps)
        if self.tracing is not None:
            generator = self.tracing.follow(generator)
        token = None if self.tenant is None else wire.TENANT.set(self.tenant)
        try:
            return await self._run(generator)
        finally:
            if token is not None:
                wire.TENANT.reset(token)

    async def _run(self, generator: Steps[T]) -> T:
        run = Run(generator, self)
        try:
            wanted = run.advance(generator.send, None)
            while wanted is not None:
                if self._names_patterns:
                    wanted = self._with_meter(wanted, run)
                try:
                    if isinstance(wanted, Request):
                        answer: object = await self.send(wanted)
                    else:
                        answer = await self._perform(wanted)
                except Exception as error:
                    wanted = run.advance(generator.throw, error)
                else:
                    wanted = run.advance(generator.send, answer)
            return run.result
        finally:
            generator.close()

    async def _perform(self, wanted: wire.Together | wire.Pause) -> object:
        if isinstance(wanted, wire.Together):
            return await self._together(wanted)
        await self.sleep(wanted.seconds)
        return None

    async def send(self, request: Request) -> Response:
        """Sends one request, with the store's retries."""
        attempt = 0
        while True:
            attempt += 1
            started = perf_counter()
            try:
                response = await self.transport(request)
            except Exception as error:
                pause = self._note_failure(request, attempt, started, error)
                if pause is None:
                    raise
            else:
                self._note_success(request, attempt, started, response)
                return response
            await self.sleep(pause)

    async def _together(self, together: wire.Together) -> list[Any]:
        if self._waits_at_once and len(together.steps) > 1:
            return await all_of([self.run(steps) for steps in together.steps])
        return [await self.run(steps) for steps in together.steps]

    async def close(self) -> None:
        while self._closes:
            await self._closes.pop()()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self.close()


async def all_of(coroutines: Sequence[Coroutine[Any, Any, Any]]) -> list[Any]:
    """The coroutines' results; the first error cancels the others, and is raised unwrapped."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(coroutine) for coroutine in coroutines]
    except BaseExceptionGroup as errors:
        first = errors.exceptions[0]
    else:
        return [task.result() for task in tasks]
    raise first


Done: TypeAlias = Callable[[Response | None, BaseException | None], None]


SECONDS_IN_A_ROW = 0.005


@runtime_checkable
class SubmittingEngine(Protocol):
    """An engine as an event loop uses it: requests with a callback."""

    def submit(self, request: Request, done: Done) -> None: ...


class Reply:
    """Holds the outcome of one request until the loop takes it, or the future that waits for it."""

    __slots__ = ("error", "future", "is_here", "loop", "response", "thread")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.thread = threading.get_ident()
        self.is_here = False
        self.response: Response | None = None
        self.error: BaseException | None = None
        self.future: asyncio.Future[None] | None = None

    def finish(self, response: Response | None, error: BaseException | None) -> None:
        self.response, self.error = response, error
        if threading.get_ident() == self.thread:
            self.arrive()
        else:
            # If the loop was closed while the write was being committed, nothing is waiting.
            with suppress(RuntimeError):
                self.loop.call_soon_threadsafe(self.arrive)

    def arrive(self) -> None:
        self.is_here = True
        if self.future is not None and not self.future.done():
            self.future.set_result(None)

    async def wait(self) -> None:
        self.future = self.loop.create_future()
        await self.future


def as_async_transport(transport: AsyncTransport | SubmittingEngine) -> AsyncTransport:
    """The transport itself, or an engine wrapped as an awaitable one."""
    return engine_transport(transport) if isinstance(transport, SubmittingEngine) else transport


def engine_transport(engine: SubmittingEngine) -> AsyncTransport:
    """Answers reads at once and awaits writes; yields to the loop during a long run of reads."""
    turned_at = 0.0

    async def ask(request: Request) -> Response:
        nonlocal turned_at
        loop = asyncio.get_running_loop()
        reply = Reply(loop)
        engine.submit(request, reply.finish)
        if not reply.is_here:
            await reply.wait()
            turned_at = loop.time()
        elif loop.time() - turned_at > SECONDS_IN_A_ROW:
            await asyncio.sleep(0)
            turned_at = loop.time()
        if reply.error is not None:
            raise reply.error
        return reply.response or {}

    return ask
