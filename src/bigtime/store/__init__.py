"""Runs a pattern's steps on a transport: the engine in process, or DynamoDB over the network.

The network transports are imported on first use, so that a store on an engine does not pay for
them.
"""

from typing import TYPE_CHECKING

from bigtime.store.async_store import AsyncStore, AsyncTransport, engine_transport
from bigtime.store.cache import AsyncCachedTransport, CachedTransport, CacheStatistics, ItemCache
from bigtime.store.checkpoints import Checkpoint, Checkpoints, MemoryCheckpoints, TableCheckpoints
from bigtime.store.consumer import AsyncConsumer, Consumer, consume
from bigtime.store.consumption import (
    QUIET_ROUNDS, Consumption, Handler, NoStream, ShardTurn, concerns_the_store,
)
from bigtime.store.dead_letters import DeadLetter, DeadLetters, RetriedLetters
from bigtime.store.driver import Exchange, Hook, Meter, Runnable
from bigtime.store.errors import (
    ConnectionLost, GarbledAnswer, NoCredentials, NotConnected, NotTheWriter, ServerFailure,
    SettingError, TimedOut, TransportError, UnmodelledError,
)
from bigtime.store.fence import (
    FENCE_SECONDS, NOBODY, WRITERS, AsyncFencedTransport, Fence, FencedTransport, Writer, may_write,
    read_writer, write_epoch,
)
from bigtime.store.retries import Retries
from bigtime.store.setting import (
    describe_choice, destination, open_async_store, open_store, read_setting,
)
from bigtime.store.store import Store
from bigtime.store.table_names import RenamingTransport, TableNames, read_table_names
from bigtime.wire import lazy_names

if TYPE_CHECKING:
    from bigtime.store.botocore_transport import BotocoreTransport
    from bigtime.store.http_transport import HttpTransport
    from bigtime.store.redis_cache import RedisCache
    from bigtime.store.shared_cache import CacheAway, SharedStatistics
    from bigtime.store.tracing import Tracing

if not TYPE_CHECKING:  # else any misspelt name would pass the type checker
    __getattr__ = lazy_names(
        __name__,
        botocore_transport="BotocoreTransport",
        http_transport="HttpTransport",
        redis_cache="RedisCache",
        shared_cache="CacheAway SharedStatistics",
        tracing="Tracing",
    )

__all__ = [
    "FENCE_SECONDS", "NOBODY", "QUIET_ROUNDS", "WRITERS", "AsyncCachedTransport", "AsyncConsumer",
    "AsyncFencedTransport", "AsyncStore", "AsyncTransport", "BotocoreTransport", "CacheAway",
    "CacheStatistics", "CachedTransport", "Checkpoint", "Checkpoints", "ConnectionLost", "Consumer",
    "Consumption", "DeadLetter", "DeadLetters", "Exchange", "Fence", "FencedTransport",
    "GarbledAnswer", "Handler", "Hook", "HttpTransport", "ItemCache", "MemoryCheckpoints", "Meter",
    "NoCredentials", "NoStream", "NotConnected", "NotTheWriter", "RedisCache", "RenamingTransport",
    "RetriedLetters", "Retries", "Runnable", "ServerFailure", "SettingError", "ShardTurn",
    "SharedStatistics", "Store", "TableCheckpoints", "TableNames", "TimedOut", "Tracing",
    "TransportError", "UnmodelledError", "Writer", "concerns_the_store", "consume",
    "describe_choice", "destination", "engine_transport", "may_write", "open_async_store",
    "open_store", "read_setting", "read_table_names", "read_writer", "write_epoch",
]
