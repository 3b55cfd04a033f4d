"""A store with a cache, and what still reaches the transport behind it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from bigtime.store import AsyncCachedTransport, CachedTransport, ItemCache, Store
from bigtime.wire import Item, Request, Response, Steps
from tests.store.places import Place, Time, asking


class Cached:
    """A place whose store has a cache; `reached` are the operations that went past it."""

    def __init__(self, place: Place, **settings: Any) -> None:
        self.place = place
        self.cache = ItemCache(clock=place.time.seconds, **settings)
        self.reached: list[str] = []
        store = place.store
        if isinstance(store, Store):
            self.behind: Any = store.transport
            store.transport = CachedTransport(self.count_requests(store.transport), self.cache)
        else:
            self.behind = store.transport
            store.transport = AsyncCachedTransport(self.counted_async(store.transport), self.cache)

    def count_requests(
        self, transport: Callable[[Request], Response]
    ) -> Callable[[Request], Response]:
        def count(request: Request) -> Response:
            self.reached.append(request.operation)
            return transport(request)

        return count

    def counted_async(
        self, transport: Callable[[Request], Awaitable[Response]]
    ) -> Callable[[Request], Awaitable[Response]]:
        async def count(request: Request) -> Response:
            self.reached.append(request.operation)
            return await transport(request)

        return count

    @property
    def time(self) -> Time:
        return self.place.time

    def ask(self, operation: str, **params: Any) -> Response:
        return self.place.run(asking(operation, **params))

    def get(self, pk: str, **more: Any) -> Item | None:
        return self.ask("GetItem", TableName="Things", Key=key(pk), **more).get("Item")

    def get_many(self, *pks: str, **more: Any) -> list[str]:
        """The keys of those that were found."""
        asked = {"Things": {"Keys": [key(pk) for pk in pks], **more}}
        answer = self.ask("BatchGetItem", RequestItems=asked)
        assert answer["UnprocessedKeys"] == {}
        return sorted(item["pk"]["S"] for item in answer["Responses"]["Things"])

    def put(self, pk: str, number: int = 0) -> None:
        self.ask("PutItem", TableName="Things", Item=item(pk, number))

    def scan(self, **more: Any) -> list[str]:
        found = self.ask("Scan", TableName="Things", **more)
        return sorted(item["pk"]["S"] for item in found["Items"])

    def behind_its_back(self, steps: Steps[Any]) -> None:
        """Carried out by somebody else."""
        kept, self.place.store.transport = self.place.store.transport, self.behind
        self.place.run(steps)
        self.place.store.transport = kept


def key(pk: str) -> Item:
    return {"pk": {"S": pk}}


def item(pk: str, number: int = 0) -> Item:
    return {"pk": {"S": pk}, "n": {"N": str(number)}}


def put_steps(pk: str, number: int) -> Steps[Any]:
    return asking("PutItem", TableName="Things", Item=item(pk, number))
