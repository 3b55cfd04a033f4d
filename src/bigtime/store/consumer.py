"""The two drivers of a consumption: one blocks, the other awaits."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TypedDict, Unpack, overload

from bigtime.store.async_store import AsyncStore
from bigtime.store.checkpoints import Checkpoints, NoCheckpoints, TableCheckpoints
from bigtime.store.consumption import Consumption, Handler, ReadingHook, ShardTurn
from bigtime.store.store import Store


@dataclass(eq=False)
class Consumer:
    """Runs a consumption on a blocking store."""

    store: Store
    consumption: Consumption
    poll_seconds: float
    _is_ready: bool = False

    def run_once(self) -> int:
        """Handles what is there, and returns how many records that was."""
        self._prepare()
        return self.store.run(self.consumption.drain())

    def run_forever(self, stop: threading.Event) -> None:
        """Handles what comes, until `stop` is set; a round that has begun is finished."""
        while not stop.is_set():
            if not any(reading.more for reading in self.run_round()):
                stop.wait(self.poll_seconds)

    def run_round(self) -> list[ShardTurn]:
        """Gives every shard one turn, for a caller that runs several consumers by turns."""
        self._prepare()
        return self.store.run(self.consumption.round())

    def _prepare(self) -> None:
        while not self._is_ready:
            self._is_ready = self.store.run(self.consumption.checkpoints.ready())
            if not self._is_ready:
                self.store.sleep(self.poll_seconds)


@dataclass(eq=False)
class AsyncConsumer:
    """Runs a consumption on an event loop."""

    store: AsyncStore
    consumption: Consumption
    poll_seconds: float
    _is_ready: bool = False

    async def run_once(self) -> int:
        """Handles what is there, and returns how many records that was."""
        await self._prepare()
        return await self.store.run(self.consumption.drain())

    async def run_forever(self, stop: asyncio.Event) -> None:
        """Handles what comes, until `stop` is set; a round that has begun is finished."""
        while not stop.is_set():
            if not any(reading.more for reading in await self.run_round()):
                with suppress(TimeoutError):
                    await asyncio.wait_for(stop.wait(), self.poll_seconds)

    async def run_round(self) -> list[ShardTurn]:
        """Gives every shard one turn, for a caller that runs several consumers by turns."""
        await self._prepare()
        return await self.store.run(self.consumption.round())

    async def _prepare(self) -> None:
        while not self._is_ready:
            self._is_ready = await self.store.run(self.consumption.checkpoints.ready())
            if not self._is_ready:
                await self.store.sleep(self.poll_seconds)


class ConsumerOptions(TypedDict, total=False):
    """The options of `consume`, which has their defaults."""

    checkpoints: Checkpoints | None
    hooks: Sequence[ReadingHook]
    page_size: int
    poll_seconds: float
    from_now: bool


@overload
def consume(
    store: Store, stream: str, handle: Handler, *, name: str, **options: Unpack[ConsumerOptions]
) -> Consumer: ...
@overload
def consume(
    store: AsyncStore,
    stream: str,
    handle: Handler,
    *,
    name: str,
    **options: Unpack[ConsumerOptions],
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
    from_now: bool = False,
) -> Consumer | AsyncConsumer:
    """A consumer of a stream, named by its ARN or by its table; `handle` makes steps of a record.

    `name` is whose checkpoints they are; they are kept in the table `Checkpoints`, unless told
    otherwise. With `from_now` it begins with what happens next, and keeps no checkpoints.
    """
    if from_now:
        checkpoints = NoCheckpoints()
    consumption = Consumption(
        name,
        stream,
        handle,
        checkpoints=checkpoints or TableCheckpoints(),
        hooks=hooks,
        page_size=page_size,
        from_now=from_now,
    )
    if isinstance(store, Store):
        return Consumer(store, consumption, poll_seconds)
    return AsyncConsumer(store, consumption, poll_seconds)
