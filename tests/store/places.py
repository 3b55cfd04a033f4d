"""The four places where a store can stand, behind one blocking surface."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from bigtime.engine import Engine
from bigtime.store import AsyncStore, Retries, Store, consume
from bigtime.store.botocore_transport import BotocoreTransport
from bigtime.store.driver import Exchange, Runnable
from bigtime.store.http_transport import HttpTransport
from bigtime.testing import serve_in_thread
from bigtime.wire import Item, Request, Response, Steps

T = TypeVar("T")

IN_PROCESS = ("blocking engine", "awaited engine")
NETWORKED = ("blocking HTTP", "awaited HTTP")
STREAM = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
START = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)


class Time:
    """Stands still, but for sleepers."""

    def __init__(self) -> None:
        self.now = START
        self.slept: list[float] = []

    def clock(self) -> datetime:
        return self.now

    def seconds(self) -> float:
        return self.now.timestamp()

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += timedelta(seconds=seconds)

    async def sleep_awaited(self, seconds: float) -> None:
        self.sleep(seconds)


class Place:
    """A store somewhere: `run` blocks, whatever the store does."""

    def __init__(
        self, kind: str, opened: ExitStack, time: Time, url: str | Engine, **options: Any
    ) -> None:
        self.kind = kind
        self.time = time
        self.exchanges: list[Exchange] = []
        self.drawn: list[int] = []
        settings: dict[str, Any] = {
            "clock": time.clock,
            "randomness": self.draw,
            "retries": Retries(attempts=4, draw=lambda: 1.0),
            "hooks": [self.exchanges.append],
            **options,
        }
        if kind.startswith("blocking"):
            self.open_blocking(opened, url, settings)
        else:
            self.open_awaited(opened, url, settings)

    def open_blocking(self, opened: ExitStack, url: str | Engine, settings: dict[str, Any]) -> None:
        transport = url if isinstance(url, Engine) else BotocoreTransport(url=url)
        if isinstance(transport, BotocoreTransport):
            opened.callback(transport.close)
        self.store: Store | AsyncStore = opened.enter_context(
            Store(transport, sleep=self.time.sleep, **settings)
        )

    def open_awaited(self, opened: ExitStack, url: str | Engine, settings: dict[str, Any]) -> None:
        self.loop = opened.enter_context(asyncio.Runner())
        transport = url if isinstance(url, Engine) else HttpTransport(url=url)
        if isinstance(transport, HttpTransport):
            opened.callback(lambda: self.loop.run(transport.close()))
        self.store = AsyncStore(transport, sleep=self.time.sleep_awaited, **settings)

    def draw(self, count: int) -> bytes:
        self.drawn.append(count)
        return bytes([len(self.drawn)]) * count

    def run(self, steps: Runnable[T]) -> T:
        if isinstance(self.store, Store):
            return self.store.run(steps)
        return self.loop.run(self.store.run(steps))

    def ask(self, operation: str, **params: Any) -> Response:
        return self.run(asking(operation, **params))

    def consume_once(self, stream: str, handle: Callable[[Response], Steps[None]]) -> int:
        return self.consumer(stream, handle)()

    def consumer(
        self, stream: str, handle: Callable[[Response], Steps[None]], **options: Any
    ) -> Callable[[], int]:
        """A consumer's `run_once`, blocking."""
        options.setdefault("name", "test")
        store = self.store
        if isinstance(store, Store):
            return consume(store, stream, handle, **options).run_once
        awaited = consume(store, stream, handle, **options)
        return lambda: self.loop.run(awaited.run_once())

    @property
    def operations(self) -> list[str]:
        """The operations that were attempted."""
        return [exchange.request.operation for exchange in self.exchanges]


@contextmanager
def place(kind: str, engine: Engine, time: Time, **options: Any) -> Iterator[Place]:
    """The options are those of both stores."""
    with ExitStack() as opened:
        if kind.endswith("engine"):
            yield Place(kind, opened, time, engine, **options)
        else:
            url = opened.enter_context(serve_in_thread(engine))
            yield Place(kind, opened, time, url, **options)


# Steps without the kit.


def asking(operation: str, **params: Any) -> Steps[Response]:
    response: Response = yield Request(operation, params)
    return response


def put(pk: str, **attributes: dict[str, Any]) -> Steps[Response]:
    return asking("PutItem", TableName="Things", Item={"pk": {"S": pk}, **attributes})


def get(pk: str) -> Steps[Item | None]:
    response = yield from asking(
        "GetItem", TableName="Things", Key={"pk": {"S": pk}}, ConsistentRead=True
    )
    return response.get("Item")


def create(name: str = "Things", **more: Any) -> Steps[Response]:
    return asking(
        "CreateTable",
        TableName=name,
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        BillingMode="PAY_PER_REQUEST",
        **more,
    )
