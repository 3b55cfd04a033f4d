"""The two drivers of a consumption, blocking and asynchronous."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, TypedDict, Unpack, overload

from bigtime.store.async_store import AsyncStore
from bigtime.store.checkpoints import Checkpoints, MemoryCheckpoints, TableCheckpoints
from bigtime.store.consumption import (
    MAX_ATTEMPTS,
    Consumption,
    Handler,
    NoStream,
    ReadingHook,
    ShardTurn,
)
from bigtime.store.dead_letters import DeadLetters
from bigtime.store.fence import may_write, may_write_async
from bigtime.store.store import Store

log = logging.getLogger("bigtime.store")

LONGEST_PAUSE: Final = 30.0


class Pauses:
    """The pauses between rounds; as a context manager, logs and suppresses a round's errors.

    `NoStream` is raised: waiting does not give a table a stream.
    """

    def __init__(self, consumption: Consumption) -> None:
        self.consumer = consumption.name
        self.poll_seconds = consumption.poll_seconds
        self.seconds = 0.0

    def note(self, readings: Sequence[ShardTurn]) -> None:
        """Sets the pause after a successful round: none while there is more to read."""
        self.seconds = 0.0 if any(reading.more for reading in readings) else self.poll_seconds

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, error: BaseException | None, __: object) -> bool:
        if not isinstance(error, Exception) or isinstance(error, NoStream):
            return False
        self.seconds = min(max(self.poll_seconds, self.seconds * 2), LONGEST_PAUSE)
        log.warning(
            "consumer %s failed, and goes on in %g s", self.consumer, self.seconds, exc_info=error
        )
        return True


@dataclass(eq=False)
class Consumer:
    """Runs a consumption on a blocking store."""

    store: Store
    consumption: Consumption

    def run_once(self) -> int:
        """Handles all records that there are, and returns their number."""
        return self.store.run(self.consumption.drain()) if self._may_run() else 0

    def run_forever(self, stop: threading.Event) -> None:
        """Handles records as they arrive until `stop` is set; finishes a round that has begun.

        A round that fails is logged and repeated after a growing pause.
        """
        pauses = Pauses(self.consumption)
        while not stop.is_set():
            with pauses:
                pauses.note(self.run_round())
            stop.wait(pauses.seconds)

    def run_round(self) -> list[ShardTurn]:
        """Gives every shard one turn, for a caller that alternates between several consumers.

        None gets a turn while another region is the writer: that region handles the records.
        """
        return self.store.run(self.consumption.round()) if self._may_run() else []

    def _may_run(self) -> bool:
        return not self.consumption.keeps_place or may_write(self.store)


@dataclass(eq=False)
class AsyncConsumer:
    """Runs a consumption on an event loop."""

    store: AsyncStore
    consumption: Consumption

    async def run_once(self) -> int:
        """Handles all records that there are, and returns their number."""
        return await self.store.run(self.consumption.drain()) if await self._may_run() else 0

    async def run_forever(self, stop: asyncio.Event) -> None:
        """Handles records as they arrive until `stop` is set; finishes a round that has begun.

        A round that fails is logged and repeated after a growing pause.
        """
        pauses = Pauses(self.consumption)
        while not stop.is_set():
            with pauses:
                pauses.note(await self.run_round())
            if pauses.seconds:
                with suppress(TimeoutError):
                    await asyncio.wait_for(stop.wait(), pauses.seconds)

    async def run_round(self) -> list[ShardTurn]:
        """Gives every shard one turn, for a caller that alternates between several consumers."""
        return await self.store.run(self.consumption.round()) if await self._may_run() else []

    async def _may_run(self) -> bool:
        return not self.consumption.keeps_place or await may_write_async(self.store)


class ConsumerOptions(TypedDict, total=False):
    """The options of `consume`; see there for their defaults."""

    checkpoints: Checkpoints | None
    dead_letters: DeadLetters | None
    max_attempts: int
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
    dead_letters: DeadLetters | None = None,
    max_attempts: int = MAX_ATTEMPTS,
    hooks: Sequence[ReadingHook] = (),
    page_size: int = 100,
    poll_seconds: float = 1.0,
    from_now: bool = False,
) -> Consumer | AsyncConsumer:
    """A consumer of a stream, given by its ARN or its table; `handle` returns steps for a record.

    Checkpoints are stored under `name` in the table `Checkpoints`, and records that failed
    `max_attempts` times in `DeadLetters`, unless others are given. With `from_now` the consumer
    starts with the next change, and stores neither.
    """
    consumption = Consumption(
        name,
        stream,
        handle,
        checkpoints=MemoryCheckpoints() if from_now else checkpoints or TableCheckpoints(),
        dead_letters=None if from_now else dead_letters or DeadLetters(),
        max_attempts=max_attempts,
        hooks=hooks,
        page_size=page_size,
        poll_seconds=poll_seconds,
        from_now=from_now,
    )
    if isinstance(store, Store):
        return Consumer(store, consumption)
    return AsyncConsumer(store, consumption)
