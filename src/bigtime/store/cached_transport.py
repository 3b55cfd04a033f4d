"""Transports with an item cache before them: one that blocks, and one that awaits."""

from __future__ import annotations

import asyncio

from bigtime.store.async_store import AsyncTransport, Submitting, engine_transport
from bigtime.store.cache import ItemCache
from bigtime.store.cache_entries import Answers, Flight
from bigtime.store.driver import at_once
from bigtime.wire import Request, Response, Transport

HITS_IN_A_ROW = 200
"""After so many responses from the cache in a row the event loop gets a turn."""


class CachedTransport:
    """For a `Store`; as safe for threads as the transport behind it."""

    def __init__(self, transport: Transport, cache: ItemCache) -> None:
        self.transport = transport
        self.cache = cache
        self.concurrency = at_once(transport)

    def __call__(self, request: Request) -> Response:
        answering = self.cache.answer(request)
        try:
            wanted = next(answering)
            while True:
                try:
                    if isinstance(wanted, Request):
                        came: object = self.transport(wanted)
                    else:
                        came = wanted.result()
                except BaseException as error:
                    wanted = answering.throw(error)
                else:
                    wanted = answering.send(came)
        except StopIteration as end:
            response: Response = end.value
            return response


class AsyncCachedTransport:
    """For an `AsyncStore`, on its event loop."""

    def __init__(self, transport: AsyncTransport | Submitting, cache: ItemCache) -> None:
        self.concurrency = at_once(transport)
        self.transport: AsyncTransport = (
            engine_transport(transport) if isinstance(transport, Submitting) else transport
        )
        self.cache = cache
        self._hits_in_a_row = 0

    async def __call__(self, request: Request) -> Response:
        answering = self.cache.answer(request)
        try:
            wanted = next(answering)
            self._hits_in_a_row = 0
            while True:
                try:
                    if isinstance(wanted, Request):
                        came: object = await self.transport(wanted)
                    else:
                        came = await await_flight(wanted)
                except BaseException as error:
                    wanted = answering.throw(error)
                else:
                    wanted = answering.send(came)
        except StopIteration as end:
            response: Response = end.value
        await self._turn()
        return response

    async def _turn(self) -> None:
        """Lets others have the loop, when nothing was waited for many times in a row."""
        self._hits_in_a_row += 1
        if self._hits_in_a_row >= HITS_IN_A_ROW:
            self._hits_in_a_row = 0
            await asyncio.sleep(0)


async def await_flight(flight: Flight) -> Answers:
    return await asyncio.wrap_future(flight)
