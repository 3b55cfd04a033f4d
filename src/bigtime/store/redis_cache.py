"""The item cache with a second level in Redis: an `ItemCache` here, a `SharedCache` there.

A thread subscribes to published changes, and drops changed items from the first level. While it is
not subscribed, the first level is suspended: it could not know what has changed. The thread pings
Redis every second, so that a first level whose connection is dead is stale for at most two seconds.

(Why not Redis's own CLIENT TRACKING: it reports every key that is written, including those that a
reader fills, and no key that Redis does not hold, although a first level may still hold it.)
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from hashlib import sha256
from typing import Any, Final

import orjson

from bigtime.extras import extra
from bigtime.store.async_store import AsyncTransport, SubmittingEngine
from bigtime.store.cache import AsyncCachedTransport, CachedTransport, ItemCache
from bigtime.store.errors import SettingError
from bigtime.store.middleware import AsyncMiddlewareTransport, MiddlewareTransport
from bigtime.store.shared_cache import CacheAway, Call, Pause, SharedCache, SharedStatistics
from bigtime.wire import ChangedItem, Item, Response, Steps, Transport

with extra("redis"):
    import redis
    import redis.asyncio

log = logging.getLogger("bigtime.store")

ANSWER_SECONDS: Final = 0.25
"""How long Redis may take to answer; after that, a read of the store is faster."""
LISTEN_SECONDS: Final = 1.0
FAILURES: Final = (redis.RedisError, OSError)


class RedisCache:
    """Both levels, for the stores of one process. Close it when they are closed.

    `url` is Redis's; `store` names the cached store, so that caches of several stores may share a
    Redis: the store's setting, plus the account if there are several. `tables` are the tables to
    cache; None means all. Writes that bypass this cache are reported to it by `invalidate`, or by a
    consumer of the tables' streams with `follow`.
    """

    def __init__(
        self,
        url: str,
        store: str,
        *,
        tables: Collection[str] | None = None,
        cache: ItemCache | None = None,
    ) -> None:
        name = sha256(store.encode()).hexdigest()[:16]
        self.shared = SharedCache(f"bigtime:{name}", tables=tables)
        self.items = ItemCache(tables=tables) if cache is None else cache
        self.items.suspend()
        options: dict[str, Any] = {
            "socket_timeout": ANSWER_SECONDS,
            "socket_connect_timeout": ANSWER_SECONDS,
            "protocol": 2,
        }
        try:
            self._blocking: Any = redis.Redis.from_url(url, **options)
            self._awaiting: Any = redis.asyncio.Redis.from_url(url, **options)
        except ValueError as error:
            raise SettingError(
                f"That names no Redis; one is redis://127.0.0.1:6379. {error}"
            ) from None
        self._stop = threading.Event()
        self._listener = threading.Thread(target=self._listen, name="bigtime-cache", daemon=True)
        self._listener.start()

    @property
    def statistics(self) -> SharedStatistics:
        return self.shared.statistics

    def transport(self, transport: Transport) -> CachedTransport:
        """A `Store`'s transport with both levels in front."""
        return CachedTransport(SharedTransport(transport, self), self.items)

    def async_transport(self, transport: AsyncTransport | SubmittingEngine) -> AsyncCachedTransport:
        """An `AsyncStore`'s transport with both levels in front."""
        return AsyncCachedTransport(AsyncSharedTransport(transport, self), self.items)

    def invalidate(self, table: str, key: Item) -> None:
        """Drops an item from every process's cache; raises CacheAway, and may be retried then."""
        changed = [(table, key)]
        keys = [self.shared.key_of(*item) for item in changed]
        self.call(self.shared.drop_call(keys, changed))

    async def drop(self, changed: Collection[ChangedItem]) -> None:
        """Drops items by key: here before it returns, and in Redis later if it is unavailable."""
        keys = [self.shared.key_of(*item) for item in changed]
        try:
            await self.call_async(self.shared.drop_call(keys, changed))
        except CacheAway:
            self.shared.drop_later(changed)
        self._drop(changed)

    def follow(self, table: str) -> Callable[[Response], Steps[None]]:
        """The handler for a consumer of the table's stream: drops the changed items."""

        def drop(record: Response) -> Steps[None]:
            self.invalidate(table, record["dynamodb"]["Keys"])
            return
            yield

        return drop

    def call(self, call: Call) -> Any:
        try:
            return self._blocking.execute_command(call.command, *call.arguments)
        except FAILURES as error:
            raise CacheAway(str(error)) from error

    async def call_async(self, call: Call) -> Any:
        try:
            return await self._awaiting.execute_command(call.command, *call.arguments)
        except FAILURES as error:
            raise CacheAway(str(error)) from error

    # Changes by other processes

    def _listen(self) -> None:
        while not self._stop.is_set():
            listening = self._blocking.pubsub()
            try:
                listening.subscribe(self.shared.channel)
                self._hear(listening)
            except FAILURES as error:
                if not self._stop.is_set():
                    log.warning("Redis is away; the store answers: %s", error)
            finally:
                self.items.suspend()
                with suppress(*FAILURES):
                    listening.close()
            self._stop.wait(LISTEN_SECONDS)

    def _hear(self, listening: Any) -> None:
        """Listens until the connection fails. A ping that is not answered in time is a failure."""
        asked = 0.0
        answered = True
        while not self._stop.is_set():
            now = time.monotonic()
            if now - asked >= LISTEN_SECONDS:
                if not answered:
                    raise redis.TimeoutError("no answer to a ping")
                listening.ping()
                asked, answered = now, False
            message = listening.get_message(timeout=LISTEN_SECONDS / 2)
            match message and message["type"]:
                case "subscribe":
                    self.items.resume()
                case "pong":
                    answered = True
                case "message":
                    self._drop(orjson.loads(message["data"]))

    def _drop(self, changed: Collection[ChangedItem] | None) -> None:
        if changed is None:
            self.items.clear()
        else:
            for table, key in changed:
                self.items.invalidate(table, key)

    def close(self) -> None:
        """Stops the thread, and closes the connections of blocking stores."""
        self._stop.set()
        self._listener.join()
        self._blocking.close()

    async def aclose(self) -> None:
        """The same, and closes the connections of this event loop's stores."""
        await self._awaiting.aclose()
        await asyncio.to_thread(self.close)


class SharedTransport(MiddlewareTransport[SharedCache]):
    """The second level in front of a `Store`'s transport."""

    def __init__(self, transport: Transport, cache: RedisCache) -> None:
        super().__init__(transport, cache.shared)
        self.cache = cache

    def carry_out(self, wanted: object) -> object:
        match wanted:
            case Call():
                return self.cache.call(wanted)
            case Pause(seconds):
                time.sleep(seconds)
                return None
        return super().carry_out(wanted)


class AsyncSharedTransport(AsyncMiddlewareTransport[SharedCache]):
    """The second level in front of an `AsyncStore`'s transport, on its event loop."""

    def __init__(self, transport: AsyncTransport | SubmittingEngine, cache: RedisCache) -> None:
        super().__init__(transport, cache.shared)
        self.cache = cache

    async def carry_out(self, wanted: object) -> object:
        match wanted:
            case Call():
                return await self.cache.call_async(wanted)
            case Pause(seconds):
                await asyncio.sleep(seconds)
                return None
        return await super().carry_out(wanted)
