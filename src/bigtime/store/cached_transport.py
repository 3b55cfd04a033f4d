"""Transports with an item cache before them: one that blocks, and one that awaits."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator
from typing import Any, TypeVar

from bigtime.store.async_store import AsyncTransport, Submitting, as_async_transport
from bigtime.store.cache import ItemCache
from bigtime.store.cache_entries import Answers, Flight
from bigtime.store.driver import at_once
from bigtime.wire import Request, Response, Transport

W = TypeVar("W")

HITS_IN_A_ROW = 200
"""After so many responses from the cache in a row the event loop gets a turn."""


def drive(answering: Generator[W, Any, Response], carry_out: Callable[[W], object]) -> Response:
    """The response of a cache, for which what it asks for is carried out; it is told of errors."""
    try:
        wanted = next(answering)
        while True:
            try:
                came = carry_out(wanted)
            except BaseException as error:
                wanted = answering.throw(error)
            else:
                wanted = answering.send(came)
    except StopIteration as end:
        response: Response = end.value
        return response


async def drive_async(
    answering: Generator[W, Any, Response], carry_out: Callable[[W], Awaitable[object]]
) -> Response:
    """The same on an event loop."""
    try:
        wanted = next(answering)
        while True:
            try:
                came = await carry_out(wanted)
            except BaseException as error:
                wanted = answering.throw(error)
            else:
                wanted = answering.send(came)
    except StopIteration as end:
        response: Response = end.value
        return response


class CachedTransport:
    """For a `Store`; as safe for threads as the transport behind it."""

    def __init__(self, transport: Transport, cache: ItemCache) -> None:
        self.transport = transport
        self.cache = cache
        self.concurrency = at_once(transport)

    def __call__(self, request: Request) -> Response:
        return drive(self.cache.answer(request), self._carry_out)

    def _carry_out(self, wanted: Request | Flight) -> object:
        return self.transport(wanted) if isinstance(wanted, Request) else wanted.result()


class AsyncCachedTransport:
    """For an `AsyncStore`, on its event loop."""

    def __init__(self, transport: AsyncTransport | Submitting, cache: ItemCache) -> None:
        self.concurrency = at_once(transport)
        self.transport = as_async_transport(transport)
        self.cache = cache
        self._hits_in_a_row = 0

    async def __call__(self, request: Request) -> Response:
        response = await drive_async(self.cache.answer(request), self._carry_out)
        await self._turn()
        return response

    async def _carry_out(self, wanted: Request | Flight) -> object:
        self._hits_in_a_row = 0
        if isinstance(wanted, Request):
            return await self.transport(wanted)
        return await await_flight(wanted)

    async def _turn(self) -> None:
        """Lets others have the loop, when nothing was waited for many times in a row."""
        self._hits_in_a_row += 1
        if self._hits_in_a_row >= HITS_IN_A_ROW:
            self._hits_in_a_row = 0
            await asyncio.sleep(0)


async def await_flight(flight: Flight) -> Answers:
    return await asyncio.wrap_future(flight)
