"""Batches of items, without conditions: get, put and delete.

DynamoDB takes 100 keys to read and 25 items to write in one request, each key once. It may leave
some unprocessed, because the response would be too large or because it is busy; these are retried
after a random pause between zero and a bound that doubles each time, up to a cap. After `ROUNDS`
requests, with at most half a minute of pauses in all, `Unfinished` is raised. Requests run
concurrently, as many as the store considers worthwhile.

A batch is not a transaction: when it fails, part of it may be done. It is safe to run it again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from bigtime.model.errors import DesignError, Unavailable
from bigtime.model.operations.get import check_key
from bigtime.model.operations.op import now, pause, random_bytes, together
from bigtime.model.operations.put import Put
from bigtime.model.operations.write import Guard
from bigtime.model.schema import Entity, Key, Layout, check_bound
from bigtime.model.tracking import track
from bigtime.wire import Identity, Item, Request, Response, Steps

T = TypeVar("T")
E = TypeVar("E", bound=Entity)

MOST_READ = 100
MOST_WRITTEN = 25
ROUNDS = 12
FIRST_SECONDS = 0.05
MOST_SECONDS = 5.0


class Unfinished(Unavailable):
    """The database is too busy to do all of it now; what was done may be done again."""


@track
def get_many(
    keys: Iterable[Key[E]], *, consistent: bool = False, deleted: bool = False
) -> Steps[list[E | None]]:
    """The items of many keys, in the order of the keys; None for each that is missing.

    `deleted=True` also returns soft-deleted items.
    """
    wanted = [(check_key(key, "get_many"), key.identity) for key in keys]
    found = yield from items_at({place: key for key, place in wanted}, consistent=consistent)
    return [visible(key, found.get(place), deleted=deleted) for key, place in wanted]


def items_of(keys: Iterable[Key[Any]], *, consistent: bool) -> Steps[dict[Identity, Item]]:
    """The stored items of many keys, without those that are missing."""
    return (yield from items_at({key.identity: key for key in keys}, consistent=consistent))


def items_at(keys: Mapping[Identity, Key[Any]], *, consistent: bool) -> Steps[dict[Identity, Item]]:
    if len(keys) <= MOST_READ:
        return (yield from read_chunk(list(keys.values()), consistent=consistent)) if keys else {}
    parts = chunks(list(keys.values()), MOST_READ)
    answers = yield from together(*(read_chunk(part, consistent=consistent) for part in parts))
    return {place: item for items in answers for place, item in items.items()}


@track
def put_many(entities: Iterable[E]) -> Steps[list[E]]:
    """Writes many entities, overwriting any items there, and returns them as stored.

    Of two with the same key, the later one wins.
    """
    puts = [unguarded_put(entity) for entity in entities]
    for put in puts:
        check_no_invariant(put.layout)
    if any(put.needs_clock for put in puts):
        moment = yield from now()
        puts = [put.with_times(moment) for put in puts]
    yield from list_buckets_of(put.entity for put in puts)
    yield from write_many(
        (put.entity.own_key(), {"PutRequest": {"Item": put.layout.to_item(put.entity)}})
        for put in puts
    )
    return [put.entity for put in puts]


@track
def load_many(entities: Iterable[Entity]) -> Steps[None]:
    """Writes many entities exactly as they are: imports, restored data, demo data.

    Times are not stamped, and invariants are not maintained: their markers and counts must be among
    the entities, and `verify` finds any that are not. Buckets are listed.
    """
    entities = list(entities)
    for each in entities:
        check_entity(each, "load_many")
    yield from list_buckets_of(entities)
    yield from write_many(
        (entity.own_key(), {"PutRequest": {"Item": entity.layout.to_item(entity)}})
        for entity in entities
    )


def list_buckets_of(entities: Iterable[Entity]) -> Steps[None]:
    """Adds the buckets that entities will lie in to their bucket lists."""
    by_layout: dict[Layout, list[Mapping[str, Any]]] = {}
    for entity in entities:
        if entity.layout.lister is not None:
            by_layout.setdefault(entity.layout, []).append(entity.__dict__)
    for layout, items in by_layout.items():
        if layout.lister is not None:
            yield from layout.lister.list_buckets(items)


@track
def delete_many(keys: Iterable[Key[Any]]) -> Steps[None]:
    """Deletes many items; missing ones are ignored."""
    keys = [check_key(key, "delete_many") for key in keys]
    for key in keys:
        check_no_invariant(key.entity.layout)
        check_no_soft_delete(key.entity.layout)
    yield from write_many((key, {"DeleteRequest": {"Key": key.item}}) for key in keys)


def check_entity(given: object, function: str) -> None:
    if not isinstance(given, Entity):
        raise DesignError(
            f"{function}() takes entities, as in {function}([one, other]); {given!r} is none"
        )


def check_no_invariant(layout: Layout) -> None:
    """Refuses an entity with invariants: they need a transaction, which a batch is not."""
    if layout.keeper is not None:
        raise DesignError(
            f"{layout.entity.__name__} has an invariant, which a batch cannot keep; put or delete"
            " each one by itself"
        )


def check_no_soft_delete(layout: Layout) -> None:
    if layout.roles.deleted:
        raise DesignError(
            f"{layout.entity.__name__} is deleted softly, which a batch cannot do; delete each one"
            " by itself"
        )


def visible(key: Key[E], item: Item | None, *, deleted: bool) -> E | None:
    layout = key.entity.layout
    entity: E | None = None if item is None else layout.read(item)
    return None if entity is not None and not deleted and layout.is_deleted(entity) else entity


def unguarded_put(entity: E) -> Put[E]:
    check_entity(entity, "put_many")
    if entity.layout.roles.version is not None:
        raise DesignError(
            f"{type(entity).__name__} has a version, which a batch cannot check; use put() or"
            " transact()"
        )
    return Put(entity, Guard())


def read_chunk(keys: Sequence[Key[Any]], *, consistent: bool) -> Steps[dict[Identity, Item]]:
    """The items of up to a hundred keys, by their identity."""
    tables = {key.entity.layout.table.name: key.entity.layout.table for key in keys}
    pending: dict[str, Any] = {
        name: {"Keys": [], **({"ConsistentRead": True} if consistent else {})} for name in tables
    }
    for key in keys:
        check_bound(key.entity.layout, key.item)
        pending[key.entity.layout.table.name]["Keys"].append(key.item)
    found: dict[Identity, Item] = {}

    def keep(response: Response) -> Any:
        for name, items in response["Responses"].items():
            found.update((tables[name].identity(item), item) for item in items)
        return response.get("UnprocessedKeys")

    yield from until_done("BatchGetItem", pending, keep)
    return found


def read_items(table: str, keys: Sequence[Item]) -> Steps[list[Item]]:
    """The items of up to a hundred keys of a table, as they are stored, read consistently."""
    found: list[Item] = []

    def keep(response: Response) -> Any:
        found.extend(response["Responses"].get(table, ()))
        return response.get("UnprocessedKeys")

    pending = {table: {"Keys": list(keys), "ConsistentRead": True}}
    yield from until_done("BatchGetItem", pending, keep)
    return found


def write_many(writes: Iterable[tuple[Key[Any], dict[str, Any]]]) -> Steps[None]:
    writes = list(writes)
    for key, _ in writes:
        check_bound(key.entity.layout, key.item)
    last = {key.identity: (key.entity.layout.table.name, write) for key, write in writes}
    yield from together(*map(write_chunk, chunks(list(last.values()), MOST_WRITTEN)))


def write_chunk(writes: Sequence[tuple[str, dict[str, Any]]]) -> Steps[None]:
    """Up to twenty-five writes."""
    pending: dict[str, Any] = {}
    for table, write in writes:
        pending.setdefault(table, []).append(write)
    yield from until_done("BatchWriteItem", pending, lambda response: response["UnprocessedItems"])


def until_done(operation: str, pending: Any, undone: Callable[[Response], Any]) -> Steps[None]:
    """Sends the request, and after a pause sends again whatever was left unprocessed."""
    for round in range(ROUNDS):
        if round:
            yield from wait(min(MOST_SECONDS, FIRST_SECONDS * 2 ** (round - 1)))
        response = yield Request(operation, {"RequestItems": pending})
        pending = undone(response)
        if not pending:
            return
    left = sum(map(entries, pending.values()))
    raise Unfinished(
        f"The database is too busy: of one batch, {left} are still undone after {ROUNDS} requests."
        " Run the same again a little later, for what was done may be done again; if it stays so,"
        " ask for less at a time, or let the table take more."
    )


def wait(bound: float) -> Steps[None]:
    """Waits a random time up to the bound, so that waiting clients do not all retry together."""
    drawn = yield from random_bytes(4)
    yield from pause(bound * int.from_bytes(drawn) / 2**32)


def entries(pending: Any) -> int:
    """How many keys to read, or writes, are pending for one table."""
    return len(pending["Keys"] if isinstance(pending, dict) else pending)


def chunks(values: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    return (values[start : start + size] for start in range(0, len(values), size))
