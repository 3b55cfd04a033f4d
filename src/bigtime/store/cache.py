"""The item cache: responses cached between a store and its transport, in the role of DAX.

It knows DynamoDB's requests but no entities, and does no I/O: it is `middleware`.

1. Only eventually consistent reads are answered from it: whole items by key (GetItem and
   BatchGetItem, which share entries; a missing item is cached too) and pages (Query and Scan,
   keyed by all their parameters). Other reads bypass it: consistent ones, transactions,
   projections, and requests for the consumed capacity. A store's meter reports only the reads
   that are sent; an answer from the cache consumes nothing.
2. Each entry has a time to live, and the number of entries is bounded. For pages, the items on
   them are counted.
3. Concurrent reads of one key share one request: ten readers of a cold key send one. If it fails,
   it fails for all of them; if its caller is cancelled, another of them sends it again.
4. A write through the cache drops the entries of its items and all pages of their tables, both
   before it is sent and afterwards. A read in flight at that time is not cached. So a read that
   follows an acknowledged write finds what it wrote, or a later state. A write whose request does
   not show which items it changes (DeleteTable, for example) empties the cache.
5. Writes of other processes become visible when an entry expires, or through the table's stream:
   `follow` returns the handler for a consumer of it. Until then a stale response may also be
   cached after a write with an uncertain outcome, or where an index or, on AWS, a replica lags.
6. A cached response is shared by all its readers: never change it. Each builds its own entities.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass
from threading import Lock
from typing import NamedTuple

import orjson

from bigtime.store import cache_identity
from bigtime.store.cache_entries import Answers, Entries, Flight
from bigtime.store.middleware import (
    AnswerSteps,
    AsyncMiddlewareTransport,
    MiddlewareTransport,
    pass_on,
)
from bigtime.store.retries import is_read
from bigtime.wire import ChangedItem, Identity, Item, Request, Response, Steps, changed_by


@dataclass(frozen=True, slots=True)
class CacheStatistics:
    """What a cache has done so far, counted in items and pages."""

    hits: int
    """Answered from the cache."""
    misses: int
    """Read from the store."""
    joined: int
    """Answered by a read that another caller had in flight."""
    invalidations: int
    """Items invalidated by writes through the cache, or by a stream."""


class ItemCache:
    """An item cache for one database; threads and stores may share it.

    `items` is the most items to keep by key, `paged_items` the most on cached pages. The seconds
    are the time to live of an item, a missing item and a page; 0 caches none. `tables` are the
    tables to cache; None means all.
    """

    def __init__(
        self,
        *,
        items: int = 10_000,
        paged_items: int = 10_000,
        item_seconds: float = 300.0,
        missing_seconds: float = 60.0,
        page_seconds: float = 60.0,
        tables: Collection[str] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if min(items, paged_items, item_seconds, missing_seconds, page_seconds) < 0:
            raise ValueError("a cache has room and seconds of 0 or more; 0 keeps nothing")
        self.clock = clock
        self.tables = tables
        self._is_suspended = False
        self._lock = Lock()
        self._items = Entries(
            items, lambda read: item_seconds if "Item" in read else missing_seconds, lambda read: 1
        )
        self._pages = Entries(
            paged_items, lambda read: page_seconds, lambda read: len(read.get("Items", ())) or 1
        )
        self._names: dict[str, set[cache_identity.Names]] = {}
        self._generations: dict[str, int] = {}
        self._hits = self._misses = self._joined = self._invalidations = 0
        self._answers: dict[str, Callable[[Request], AnswerSteps]] = {
            "GetItem": self._get,
            "BatchGetItem": self._get_many,
            "Query": self._page,
            "Scan": self._page,
        }

    @property
    def statistics(self) -> CacheStatistics:
        with self._lock:
            return CacheStatistics(self._hits, self._misses, self._joined, self._invalidations)

    def answer(self, request: Request) -> AnswerSteps:
        """Steps to a request's response, which yield the requests that the cache cannot answer."""
        answer = self._answers.get(request.operation)
        if answer is not None:
            return answer(request)
        return pass_on(request) if is_read(request.operation) else self._write(request)

    def invalidate(self, table: str, key: Item) -> None:
        """Drops a changed item, and the pages of its table."""
        check_key(key)
        self._forget([(table, key)])
        self._count_invalidations(1)

    def follow(self, table: str) -> Callable[[Response], Steps[None]]:
        """The handler for a consumer of the table's stream: drops items that others have changed.

        consume(store, "Deals", cache.follow("Deals"), name="cache", from_now=True)
        """

        def forget(record: Response) -> Steps[None]:
            self.invalidate(table, record["dynamodb"]["Keys"])
            return
            yield

        return forget

    def suspend(self) -> None:
        """Drops everything, and passes every request on until `resume`.

        For a cache that has lost contact with whatever reports other processes' changes.
        """
        self._is_suspended = True
        self.clear()

    def resume(self) -> None:
        """Starts caching again, empty."""
        self.clear()
        self._is_suspended = False

    def _caches(self, identity: Identity) -> bool:
        return not self._is_suspended and (self.tables is None or identity[0] in self.tables)

    def clear(self) -> None:
        """Drops everything."""
        with self._lock:
            self._items.clear()
            self._pages.clear()

    # Reads

    def _get(self, request: Request) -> AnswerSteps:
        return self._answer_from(self._items, cache_identity.item_read, request)

    def _page(self, request: Request) -> AnswerSteps:
        return self._answer_from(self._pages, self._page_read, request)

    def _answer_from(
        self, entries: Entries, identify: Callable[[Request], Identity | None], request: Request
    ) -> AnswerSteps:
        try:
            identity = identify(request)
        except cache_identity.MALFORMED:
            identity = None
        if identity and not self._caches(identity):
            identity = None
        return self._read(entries, identity, request) if identity else pass_on(request)

    def _page_read(self, request: Request) -> Identity | None:
        params = cache_identity.params_of(request)
        table = params["TableName"]
        if not (cache_identity.is_by_name(table) and cache_identity.is_eventual(params)):
            return None
        text = orjson.dumps(params)
        return table, self._generations.get(table, 0), request.operation, text

    def _read(self, entries: Entries, identity: Identity, request: Request) -> AnswerSteps:
        while True:
            with self._lock:
                response = entries.find(identity, self.clock())
                if response is not None:
                    self._hits += 1
                    return response
                flight = entries.flights.get(identity)
                if flight is None:
                    flight = self._begin(entries, [identity])
                    break
                self._joined += 1
            answers: Answers = yield flight
            if identity in answers:
                return answers[identity]
        return (
            yield from self._lead(
                entries,
                flight,
                [identity],
                request,
                lambda response: {identity: cache_identity.without_units(response)},
            )
        )

    def _get_many(self, request: Request) -> AnswerSteps:
        try:
            batch = cache_identity.Batch.read(request)
        except cache_identity.MALFORMED:
            batch = None
        if batch is None or not all(map(self._caches, batch.items)):
            return (yield from pass_on(request))
        found, others, cold, flight = self._look_up(batch.items)
        sent: Response | None = None
        if asking := batch.request(cold):
            sent = yield from self._lead(
                self._items, flight, cold, asking, lambda response: batch.answers(cold, response)
            )
            found |= flight.result()
        for identity, other in others.items():
            # A key whose read failed is left unprocessed: the caller's retry gets it, or the error.
            with suppress(Exception):
                answers: Answers = yield other
                found[identity] = answers[identity]
        return batch.response(found, sent)

    def _look_up(self, identities: Iterable[Identity]) -> CacheLookup:
        items = self._items
        found: dict[Identity, Response] = {}
        others: dict[Identity, Flight] = {}
        cold: list[Identity] = []
        with self._lock:
            now = self.clock()
            for identity in identities:
                response = items.find(identity, now)
                if response is not None:
                    found[identity] = response
                elif identity in items.flights:
                    others[identity] = items.flights[identity]
                else:
                    cold.append(identity)
            self._hits += len(found)
            self._joined += len(others)
            return CacheLookup(found, others, cold, self._begin(items, cold))

    def _begin(self, entries: Entries, identities: Collection[Identity]) -> Flight:
        self._misses += len(identities)
        if entries is self._items:
            for identity in identities:
                self._names.setdefault(identity[0], set()).add(cache_identity.names_in(identity))
        return entries.begin(identities)

    def _lead(
        self,
        entries: Entries,
        flight: Flight,
        identities: Collection[Identity],
        request: Request,
        read: Callable[[Response], Answers],
    ) -> AnswerSteps:
        """Sends the request, and gives its response or error to the callers that wait for it."""
        answers: Answers = {}
        failure: Exception | None = None
        try:
            response: Response = yield request
            answers = read(response)
            return response
        except Exception as error:
            failure = error
            raise
        finally:
            with self._lock:
                entries.land(flight, identities, answers, self.clock())
            if failure is None:
                flight.set_result(answers)
            else:
                flight.set_exception(failure)

    # Writes

    def _write(self, request: Request) -> AnswerSteps:
        changed = changed_by(request)
        self._count_invalidations(len(changed or ()))
        self._forget(changed)
        try:
            return (yield from pass_on(request))
        finally:
            self._forget(changed)

    def _count_invalidations(self, count: int) -> None:
        with self._lock:
            self._invalidations += count

    def _forget(self, changed: list[ChangedItem] | None) -> None:
        try:
            with self._lock:
                for table, item in changed or ():
                    self._forget_one(table, item)
        except cache_identity.MALFORMED:
            changed = None
        if changed is None:
            self.clear()

    def _forget_one(self, table: str, item: Item) -> None:
        """Of a whole item, the key is found by the key attributes of items read from its table."""
        self._generations[table] = self._generations.get(table, 0) + 1
        for names in self._names.get(table, ()):
            identity = cache_identity.identity_in(table, item, names)
            if identity is not None:
                self._items.drop(identity)


class CacheLookup(NamedTuple):
    """Items found, items that others are reading, and the rest, which `flight` is to read."""

    found: dict[Identity, Response]
    others: dict[Identity, Flight]
    cold: list[Identity]
    flight: Flight


def check_key(key: Item) -> None:
    try:
        cache_identity.key_identity("", key)
    except cache_identity.MALFORMED as error:
        raise ValueError(f"{key!r} is no key; one looks like {{'pk': {{'S': 'a'}}}}") from error


class CachedTransport(MiddlewareTransport[ItemCache]):
    """A `Store`'s transport with an item cache in front."""


class AsyncCachedTransport(AsyncMiddlewareTransport[ItemCache]):
    """An `AsyncStore`'s transport with an item cache in front."""
