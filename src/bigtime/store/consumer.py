"""The two drivers of a consumption: one blocks, the other awaits."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import overload

from bigtime.store.async_store import AsyncStore
from bigtime.store.checkpoints import Checkpoints, TableCheckpoints
from bigtime.store.consumption import Consumption, Handler, ReadingHook
from bigtime.store.store import Store


class Consumer:
    """Runs a consumption on a blocking store."""

    def __init__(self, store: Store, consumption: Consumption, poll_seconds: float) -> None:
        self.store = store
        self.consumption = consumption
        self.poll_seconds = poll_seconds

    def run_once(self) -> int:
        """Handles what is there, and returns how many records that was."""
        self._prepare()
        return self.store.run(self.consumption.drain())

    def run_forever(self, stop: threading.Event) -> None:
        """Handles what comes, until `stop` is set; a round that has begun is finished."""
        self._prepare()
        while not stop.is_set():
            readings = self.store.run(self.consumption.round())
            if not any(reading.more for reading in readings):
                stop.wait(self.poll_seconds)

    def _prepare(self) -> None:
        while not self.store.run(self.consumption.checkpoints.ready()):
            self.store.sleep(self.poll_seconds)


class AsyncConsumer:
    """Runs a consumption on an event loop."""

    def __init__(self, store: AsyncStore, consumption: Consumption, poll_seconds: float) -> None:
        self.store = store
        self.consumption = consumption
        self.poll_seconds = poll_seconds

    async def run_once(self) -> int:
        """Handles what is there, and returns how many records that was."""
        await self._prepare()
        return await self.store.run(self.consumption.drain())

    async def run_forever(self, stop: asyncio.Event) -> None:
        """Handles what comes, until `stop` is set; a round that has begun is finished."""
        await self._prepare()
        while not stop.is_set():
            readings = await self.store.run(self.consumption.round())
            if not any(reading.more for reading in readings):
                with suppress(TimeoutError):
                    await asyncio.wait_for(stop.wait(), self.poll_seconds)

    async def _prepare(self) -> None:
        while not await self.store.run(self.consumption.checkpoints.ready()):
            await self.store.sleep(self.poll_seconds)


@overload
def consume(
    store: Store,
    stream: str,
    handle: Handler,
    *,
    name: str,
    checkpoints: Checkpoints | None = None,
    hooks: Sequence[ReadingHook] = (),
    page_size: int = 100,
    poll_seconds: float = 1.0,
) -> Consumer: ...
@overload
def consume(
    store: AsyncStore,
    stream: str,
    handle: Handler,
    *,
    name: str,
    checkpoints: Checkpoints | None = None,
    hooks: Sequence[ReadingHook] = (),
    page_size: int = 100,
    poll_seconds: float = 1.0,
) -> AsyncConsumer: ...
def consume(
    store: Store | AsyncStore,
    stream: str,
    handle: Handler,
    *,
    name: str,
    checkpoints: Checkpoints | None = None,
    hooks: Sequence[ReadingHook] = (),
    page_size: int = 100,
    poll_seconds: float = 1.0,
) -> Consumer | AsyncConsumer:
    """A consumer of a stream, named by its ARN or by its table; `handle` makes steps of a record.

    `name` is whose checkpoints they are; they are kept in the table `Checkpoints`, unless told
    otherwise.
    """
    consumption = Consumption(
        name,
        stream,
        handle,
        checkpoints=checkpoints or TableCheckpoints(),
        hooks=hooks,
        page_size=page_size,
    )
    if isinstance(store, Store):
        return Consumer(store, consumption, poll_seconds)
    return AsyncConsumer(store, consumption, poll_seconds)
