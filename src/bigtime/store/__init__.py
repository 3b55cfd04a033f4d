"""Runs a pattern's steps on a transport: the engine in process, or DynamoDB over the network.

The transports over the network are in `botocore_transport` and `http_transport`, so that a store
on an engine does not pay for importing them.
"""

from bigtime.store.async_store import AsyncStore, AsyncTransport
from bigtime.store.cache import CacheStatistics, ItemCache
from bigtime.store.cached_transport import AsyncCachedTransport, CachedTransport
from bigtime.store.checkpoints import Checkpoint, Checkpoints, TableCheckpoints
from bigtime.store.consumer import AsyncConsumer, Consumer, consume
from bigtime.store.consumption import Reading
from bigtime.store.driver import Exchange, Runnable
from bigtime.store.engine_transport import engine_transport
from bigtime.store.errors import (
    ConnectionLost,
    GarbledAnswer,
    NoCredentials,
    NotConnected,
    ServerFailure,
    TimedOut,
    TransportError,
    UnmodelledError,
)
from bigtime.store.retries import Retries
from bigtime.store.setting import SettingError, open_async_store, open_store
from bigtime.store.shards import NoStream
from bigtime.store.store import Store

__all__ = [
    "AsyncCachedTransport",
    "AsyncConsumer",
    "AsyncStore",
    "AsyncTransport",
    "CacheStatistics",
    "CachedTransport",
    "Checkpoint",
    "Checkpoints",
    "ConnectionLost",
    "Consumer",
    "Exchange",
    "GarbledAnswer",
    "ItemCache",
    "NoCredentials",
    "NoStream",
    "NotConnected",
    "Reading",
    "Retries",
    "Runnable",
    "ServerFailure",
    "SettingError",
    "Store",
    "TableCheckpoints",
    "TimedOut",
    "TransportError",
    "UnmodelledError",
    "consume",
    "engine_transport",
    "open_async_store",
    "open_store",
]
