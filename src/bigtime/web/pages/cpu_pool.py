"""Steps that compute for long between their requests, such as hashing a password: on a thread.

An event loop that computes answers nobody meanwhile, and a hash takes 30 ms. So the steps run on
one of a few threads, and only their requests come back to the loop, which has the store. How many
threads there are also bounds the memory that hashing takes: 19 MiB each.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from bigtime.store import AsyncStore, Retries, Runnable, Store
from bigtime.wire import Request, Response

T = TypeVar("T")

THREADS = 2


def leave_to_loop(pattern: str | None, units: float) -> None:
    """Requests get their names here; the loop's store, which sends them, counts them."""


class CpuPool:
    """Runs steps beside the event loop, on its store."""

    def __init__(self, store: AsyncStore) -> None:
        self.store = store
        self._threads = ThreadPoolExecutor(THREADS, "bigtime-cpu")

    async def run(self, steps: Runnable[T]) -> T:
        loop = asyncio.get_running_loop()

        def ask(request: Request) -> Response:
            return asyncio.run_coroutine_threadsafe(self.store.send(request), loop).result()

        # The loop's store repeats what failed; to repeat it here too would multiply the tries.
        blocking = Store(
            ask,
            clock=self.store.clock,
            randomness=self.store.randomness,
            meter=leave_to_loop,
            retries=Retries(attempts=1),
        )
        return await loop.run_in_executor(self._threads, blocking.run, steps)
