"""The engine as an awaitable transport. (As a blocking one, an engine needs no adapter.)"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Protocol, TypeAlias, runtime_checkable

from bigtime.wire import Request, Response

Done: TypeAlias = Callable[[Response | None, BaseException | None], None]

SECONDS_IN_A_ROW = 0.005


@runtime_checkable
class Submitting(Protocol):
    """An engine, to an event loop."""

    def submit(self, request: Request, done: Done) -> None: ...


class Reply:
    """Holds the outcome of one request until the loop takes it, or the loop's future for it."""

    __slots__ = ("error", "future", "is_here", "loop", "response", "thread")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.thread = threading.get_ident()
        self.is_here = False
        self.response: Response | None = None
        self.error: BaseException | None = None
        self.future: asyncio.Future[None] | None = None

    def done(self, response: Response | None, error: BaseException | None) -> None:
        self.response, self.error = response, error
        if threading.get_ident() == self.thread:
            self.arrive()
        else:
            # The loop may have ended while the write was committed: then nobody is waiting.
            with suppress(RuntimeError):
                self.loop.call_soon_threadsafe(self.arrive)

    def arrive(self) -> None:
        self.is_here = True
        if self.future is not None and not self.future.done():
            self.future.set_result(None)

    async def wait(self) -> None:
        self.future = self.loop.create_future()
        await self.future


def engine_transport(engine: Submitting) -> Callable[[Request], Awaitable[Response]]:
    """Answers reads at once and awaits writes; many reads in a row let the loop turn between."""
    turned_at = 0.0

    async def ask(request: Request) -> Response:
        nonlocal turned_at
        loop = asyncio.get_running_loop()
        reply = Reply(loop)
        engine.submit(request, reply.done)
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
