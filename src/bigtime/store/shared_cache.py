"""The item cache's second level, shared by processes and machines: the rules, without I/O.

The first level is an `ItemCache` in each process; its misses are requested from this one.

1. It holds whole items by key, as the first level does: eventually consistent GetItem and
   BatchGetItem. Pages are in the first level alone.
2. A process that finds nothing under a key sets a lease there, for as long as a read may take, and
   then reads the store. What it read replaces its own lease, and nothing else. Another process
   that finds the lease waits for a moment, and then reads the store itself without writing here.
   So a cold key is read from the store by one process at a time.
3. When a write has its response, it deletes the keys of its items, including leases: a read in
   flight at that time is never written. The same script publishes the change, and every first
   level drops the items and the pages of their tables.
4. A write by a process that does not use the cache, or that was killed before it could publish the
   change, is reported by the table's stream, which also drops an item that was read too early from
   a lagging replica or index.
5. When Redis fails, the store answers, the error is counted, and Redis is not used for a second.
   A deletion that failed is repeated before anything is read from this level again.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Collection, Generator, Iterable, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any, Final, NamedTuple, TypeAlias

import orjson

from bigtime.store import cache_identity
from bigtime.store.cache_identity import Names
from bigtime.store.errors import TransportError
from bigtime.store.middleware import AnswerSteps, pass_on
from bigtime.store.retries import is_read
from bigtime.wire import ChangedItem, DynamoDBError, Identity, Item, Request, Response, changed_by

LEASE: Final = b"L"
"""The first byte of a lease; an item begins with a brace."""
WAITS: Final = (0.005, 0.01, 0.02, 0.04, 0.08)
"""Seconds between checks whether another process's read is finished."""
AWAY_SECONDS: Final = 1.0
SCANNED: Final = 1_000
ITEM_MILLISECONDS: Final = 300_000
MISSING_MILLISECONDS: Final = 60_000
LEASE_MILLISECONDS: Final = 2_000
"""The time to live of an item, a missing item, and a lease."""

TAKE: Final = """
local taken = {}
for at, key in ipairs(KEYS) do
  local free = redis.call('SET', key, ARGV[1], 'NX', 'PX', ARGV[2])
  taken[at] = free and 1 or 0
end
return taken
"""
"""Sets a lease on each key that holds nothing; returns which."""
FILL: Final = """
for at, key in ipairs(KEYS) do
  if redis.call('GET', key) == ARGV[1] then
    if ARGV[2 * at] == '' then redis.call('DEL', key)
    else redis.call('SET', key, ARGV[2 * at], 'PX', ARGV[2 * at + 1]) end
  end
end
return 1
"""
"""Replaces leases that are still there with values; deletes the lease for an empty value."""
DROP: Final = """
if #KEYS > 0 then redis.call('DEL', unpack(KEYS)) end
redis.call('PUBLISH', ARGV[1], ARGV[2])
return 1
"""
"""Deletes keys, and publishes the changes."""


class Call(NamedTuple):
    """A Redis command, or a script (EVAL) with its keys and arguments."""

    command: str
    arguments: tuple[Any, ...]

    @classmethod
    def script(cls, text: str, keys: Collection[str], *arguments: Any) -> Call:
        return cls("EVAL", (text, len(keys), *keys, *arguments))


class Pause(NamedTuple):
    seconds: float


class Lease(NamedTuple):
    """The keys that this process reads on behalf of all."""

    token: bytes
    keys: list[str]


class CacheAway(Exception):
    """Redis did not answer, or answered with an error."""


CallSteps: TypeAlias = Generator[Request | Call | Pause, Any, Any]


@dataclass(frozen=True, slots=True)
class SharedStatistics:
    """One process's use of the shared level so far, counted in items."""

    hits: int
    """Answered from the shared level."""
    misses: int
    """Read from the store."""
    errors: int
    """Calls to Redis that failed; the store answered instead."""


class SharedCache:
    """One process's access to the shared level; its keys in Redis begin with `namespace`.

    `tables` are the tables to cache; None means all.
    """

    def __init__(self, namespace: str, *, tables: Collection[str] | None = None) -> None:
        self.namespace = namespace
        self.tables = tables
        self.channel = f"{namespace}:changes"
        self._lock = Lock()
        self._away_until = 0.0
        self._unsent: list[ChangedItem] | None = []
        self._is_telling = False
        self._names: dict[str, Names] = {}
        self._hits = self._misses = self._errors = 0

    @property
    def statistics(self) -> SharedStatistics:
        return SharedStatistics(self._hits, self._misses, self._errors)

    def answer(self, request: Request) -> AnswerSteps:
        """Steps to a request's response, which yield calls to Redis and what it cannot answer."""
        match request.operation:
            case "GetItem":
                return self._get(request)
            case "BatchGetItem":
                return self._get_many(request)
            case operation if is_read(operation):
                return pass_on(request)
        return self._write(request)

    # Reads

    def _get(self, request: Request) -> AnswerSteps:
        try:
            identity = cache_identity.item_read(request)
        except cache_identity.MALFORMED:
            identity = None
        if identity is None or not self._caches(identity[0]):
            return (yield from pass_on(request))
        key = self.key_of(identity[0], request.params["Key"])
        lease = Lease(b"", [])
        for wait in (*WAITS, None):
            values = yield from self._ask(Call("MGET", (key,)))
            if values is None:
                break
            value = values[0]
            if value is None:
                lease = yield from self._take([key])
                if lease.keys:
                    break
            elif not value.startswith(LEASE):
                self._count(hits=1)
                response: Response = orjson.loads(value)
                return response
            if wait is not None:
                yield Pause(wait)
        return (yield from self._read(request, lease, lambda found: {key: found}))

    def _get_many(self, request: Request) -> AnswerSteps:
        try:
            batch = cache_identity.Batch.read(request)
        except cache_identity.MALFORMED:
            batch = None
        if batch is None or not all(self._caches(identity[0]) for identity in batch.items):
            return (yield from pass_on(request))
        keys = {self.key_of(*item): identity for identity, item in batch.items.items()}
        values = (yield from self._ask(Call("MGET", (*keys,)))) or [None] * len(keys)
        found: dict[Identity, Response] = {
            identity: orjson.loads(value)
            for identity, value in zip(keys.values(), values, strict=True)
            if value is not None and not value.startswith(LEASE)
        }
        self._count(hits=len(found))
        cold = {key: identity for key, identity in keys.items() if identity not in found}
        sent: Response | None = None
        if asking := batch.request(cold.values()):

            def read(response: Response) -> dict[str, Response]:
                answers = batch.answers(cold.values(), response)
                return {key: answers[of] for key, of in cold.items() if of in answers}

            lease = yield from self._take([*cold])
            sent = yield from self._read(asking, lease, read)
            found |= batch.answers(cold.values(), sent)
        return batch.response(found, sent)

    def _take(self, keys: list[str]) -> Generator[Any, Any, Lease]:
        """Leases those keys that no other process is reading."""
        token = LEASE + secrets.token_bytes(12)
        taking = Call.script(TAKE, keys, token, LEASE_MILLISECONDS)
        taken = (yield from self._ask(taking)) if keys else ()
        return Lease(
            token, [key for key, is_free in zip(keys, taken or (), strict=False) if is_free]
        )

    def _read(
        self, request: Request, lease: Lease, read: Callable[[Response], Mapping[str, Response]]
    ) -> AnswerSteps:
        """Reads the store, and fills the keys of the lease."""
        try:
            response: Response = yield request
        except Exception:
            yield from self._fill(lease, {})
            raise
        answers = read(response)
        self._count(misses=len(answers))
        yield from self._fill(lease, answers)
        return response

    def _fill(self, lease: Lease, answers: Mapping[str, Response]) -> CallSteps:
        """Replaces the leases with what was read; releases the others."""
        if lease.keys:
            values: list[Any] = []
            for key in lease.keys:
                values += self._value_of(answers[key]) if key in answers else (b"", 0)
            yield from self._ask(Call.script(FILL, lease.keys, lease.token, *values))

    def _value_of(self, answer: Response) -> tuple[bytes, int]:
        if "Item" in answer:
            return orjson.dumps({"Item": answer["Item"]}), ITEM_MILLISECONDS
        return b"{}", MISSING_MILLISECONDS

    def key_of(self, table: str, key: Item) -> str:
        """An item's key in Redis: its table and its key, sorted by attribute name."""
        text = orjson.dumps([table, key], option=orjson.OPT_SORT_KEYS)
        return f"{self.namespace}:{text.decode()}"

    def _caches(self, table: str) -> bool:
        return self.tables is None or table in self.tables

    # Writes

    def _write(self, request: Request) -> AnswerSteps:
        changed = changed_by(request)
        if changed is not None:
            changed = [item for item in changed if self._caches(item[0])]
            if not changed:
                return (yield from pass_on(request))
        try:
            response: Response = yield request
        except Exception:
            yield from self.drop(changed)  # the write may have been carried out
            raise
        except BaseException:
            self._remember(changed)  # cancelled: there is no time to call Redis
            raise
        yield from self.drop(changed)
        return response

    def drop(self, changed: Collection[ChangedItem] | None) -> Generator[Any, Any, bool]:
        """Deletes items here and in every first level; everything, if `changed` is None.

        False if Redis cannot be reached: then that is done before this level is read again, as it
        is after a cancellation.
        """
        is_done = False
        try:
            is_done = not self._is_away() and (yield from self._tell(changed))
        finally:
            if not is_done:
                self._remember(changed)
        return is_done

    def _tell(self, changed: Collection[ChangedItem] | None) -> Generator[Any, Any, bool]:
        try:
            if changed is None:
                yield from self._delete_all()
                yield self.drop_call([], None)
                return True
            items: list[ChangedItem] = []
            for table, item in changed:
                names = yield from self._names_of(table)
                items.append((table, {name: item[name] for name in names}))
            yield self.drop_call([self.key_of(*item) for item in items], items)
        except (CacheAway, DynamoDBError, TransportError, *cache_identity.MALFORMED):
            self._fail()
            return False
        return True

    def drop_call(self, keys: Collection[str], changed: Collection[ChangedItem] | None) -> Call:
        """The call that deletes keys and publishes the changes to every first level."""
        return Call.script(DROP, keys, self.channel, orjson.dumps(changed))

    def _names_of(self, table: str) -> Generator[Any, Any, Names]:
        """A table's key attributes, which pick the key out of a whole item."""
        names = self._names.get(table)
        if names is None:
            described: Response = yield Request("DescribeTable", {"TableName": table})
            schema = described["Table"]["KeySchema"]
            names = self._names[table] = tuple(part["AttributeName"] for part in schema)
        return names

    def _delete_all(self) -> CallSteps:
        cursor: Any = 0
        while True:
            pattern = f"{self.namespace}:*"
            cursor, keys = yield Call("SCAN", (cursor, "MATCH", pattern, "COUNT", SCANNED))
            if keys:
                yield Call("UNLINK", tuple(keys))
            if not int(cursor):
                return

    def drop_later(self, changed: Iterable[ChangedItem]) -> None:
        """Drops items before this level is read again, after a failed call."""
        self._remember(changed)
        self._fail()

    def _remember(self, changed: Iterable[ChangedItem] | None) -> None:
        with self._lock:
            if changed is None or self._unsent is None:
                self._unsent = None
            else:
                self._unsent += changed

    # Redis

    def _ask(self, call: Call) -> CallSteps:
        """The response of Redis; None while it is unavailable or a failed deletion is pending."""
        if self._is_away():
            return None
        with self._lock:
            is_pending = self._is_telling or self._unsent != []
        if is_pending and not (yield from self._tell_unsent()):
            return None
        try:
            return (yield call)
        except CacheAway:
            self._fail()
            return None

    def _tell_unsent(self) -> Generator[Any, Any, bool]:
        """Repeats the deletions that failed; False if another caller is doing so, or on failure."""
        with self._lock:
            if self._is_telling:
                return False
            self._is_telling = True
            unsent, self._unsent = self._unsent, []
        try:
            return (yield from self.drop(unsent))
        finally:
            self._is_telling = False

    def _is_away(self) -> bool:
        return time.monotonic() < self._away_until

    def _fail(self) -> None:
        self._away_until = time.monotonic() + AWAY_SECONDS
        with self._lock:
            self._errors += 1

    def _count(self, *, hits: int = 0, misses: int = 0) -> None:
        with self._lock:
            self._hits += hits
            self._misses += misses
