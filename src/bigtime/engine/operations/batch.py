"""BatchGetItem and BatchWriteItem: many single operations in one request, each on its own.

A request is checked whole before anything is done, so a bad one changes nothing. What a
response has no room for is handed back unprocessed, in the form of the request.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import apsw
import orjson

from bigtime.engine.expressions import check_parameters, read_expressions
from bigtime.engine.operations.capacity import Consumed, mode_of
from bigtime.engine.operations.items import EXPRESSIVE, NO_EXPRESSIONS, read_key
from bigtime.engine.operations.key_rules import check_key_paths
from bigtime.engine.operations.write import PUT_TOO_LARGE, Plan, Room, Write, collection_metrics
from bigtime.engine.storage import Database, Table, Transaction, UnreadableItem, Work
from bigtime.wire import (
    MANY_DATATYPES,
    MAX_ITEM_BYTES,
    Item,
    Params,
    Response,
    ValidationException,
    check_item,
    read_units,
)

MAX_KEYS = 100
MAX_WRITES = 25
# AWS's own example: of 100 items of 300 KB, 52 come back "so as not to exceed the 16 MB limit"
# (API_BatchGetItem.html), which makes these megabytes decimal.
RESPONSE_BYTES = 16_000_000
PARTITION_BYTES = 1024 * 1024
DUPLICATES = "Provided list of item keys contains duplicates"


# --- BatchGetItem ---------------------------------------------------------------------------


class TableReads:
    """The keys wanted of one table, and how they are to be shown."""

    __slots__ = ("consistent", "expressions", "given", "keys", "name")

    def __init__(self, name: str, given: Params, most: int) -> None:
        self.name = name
        self.given = given
        self.consistent = bool(given.get("ConsistentRead"))
        if EXPRESSIVE.isdisjoint(given):
            self.expressions = NO_EXPRESSIONS
            self.keys = read_keys(given["Keys"], most)
            return
        check_parameters(given, expressions=("ProjectionExpression",), legacy=("AttributesToGet",))
        self.expressions = read_expressions(given)
        self.keys = read_keys(given["Keys"], most)

    def unprocessed(self, keys: list[Item]) -> Response:
        return {**self.given, "Keys": keys}


def batch_get_item(database: Database, params: Params) -> Response:
    reads = read_tables(params["RequestItems"])
    located = [(read, *locate(database, read)) for read in reads]
    for one, table, _ in located:
        check_key_paths(table, one.expressions)
    cut_short = database.faults.active and database.faults.strikes("unprocessed")
    response: Response = {"Responses": {}, "UnprocessedKeys": {}}
    used: list[Response] = []
    mode = mode_of(params)
    room = RESPONSE_BYTES
    with database.file.snapshot() as reader:  # to lock the file once is quicker, too
        for one, table, blobs in located:
            allowed = len(blobs) // 2 if cut_short else len(blobs)
            items, units, left, room = read_some(reader, one, table, blobs[:allowed], room)
            response["Responses"][one.name] = items
            unprocessed = left + one.keys[allowed:]
            if unprocessed:
                response["UnprocessedKeys"][one.name] = one.unprocessed(unprocessed)
            if mode:
                used.append(Consumed(one.name, units).shown(mode))
    if mode:
        response["ConsumedCapacity"] = used
    return response


def read_tables(requests: Params) -> list[TableReads]:
    reads = []
    most = MAX_KEYS
    for name, given in requests.items():
        reads.append(TableReads(name, given, most))
        most -= len(reads[-1].keys)
    return reads


def read_keys(given: list[Item], most: int) -> list[Item]:
    keys = []
    seen = set()
    for one in given:
        key = read_key(one)
        spelt = orjson.dumps(key, option=orjson.OPT_SORT_KEYS)
        if spelt in seen:
            raise ValidationException(DUPLICATES)
        seen.add(spelt)
        keys.append(key)
        if len(keys) > most:
            raise ValidationException("Too many items requested for the BatchGetItem call")
    return keys


def locate(database: Database, reads: TableReads) -> tuple[Table, list[tuple[bytes, bytes]]]:
    table = database.catalogue.table(database.table_name(reads.name))
    return table, [table.quick_blobs(key) or table.key_blobs(key) for key in reads.keys]


def read_some(
    reader: apsw.Connection,
    reads: TableReads,
    table: Table,
    blobs: list[tuple[bytes, bytes]],
    room: int,
) -> tuple[list[Item], float, list[Item], int]:
    """The items that fit in the response, what they cost, and the keys that did not fit."""
    project = reads.expressions.projection
    items: list[Item] = []
    left: list[Item] = []
    units = 0.0
    partitions: dict[bytes, int] = {}
    for key, (partition, sort) in zip(reads.keys, blobs, strict=False):
        size, blob = reader.execute(table.fetch, (partition, sort)).get or (0, None)
        if size > room or partitions.get(partition, 0) >= PARTITION_BYTES:
            left.append(key)
            continue
        partitions[partition] = partitions.get(partition, 0) + size
        room -= size
        units += read_units(size, consistent=reads.consistent)
        if blob is not None:
            try:
                item = orjson.loads(blob)
            except orjson.JSONDecodeError:
                raise UnreadableItem(table.name, key) from None
            items.append(project(item) if project else item)
    return items, units, left, room


# --- BatchWriteItem -------------------------------------------------------------------------


class BatchAction(NamedTuple):
    """A put of an item, or a delete by a key, read as far as it can be without its table."""

    table_name: str
    request: Params
    is_put: bool
    item: Item
    size: int


def batch_write_item(database: Database, params: Params) -> Work[Response]:
    actions = list(read_actions(params["RequestItems"]))
    cut_short = database.faults.active and database.faults.strikes("unprocessed")
    allowed = len(actions) // 2 if cut_short else len(actions)

    def work(transaction: Transaction) -> Response:
        writes = checked_writes(database, actions)
        plans = [write.plan(transaction) for write in writes[:allowed]]
        room = Room(database, transaction)
        for plan in plans:
            room.admit(plan)
        for plan in plans:
            plan.apply(transaction)
        response: Response = {"UnprocessedItems": {}}
        for action in actions[allowed:]:
            left = response["UnprocessedItems"].setdefault(action.table_name, [])
            left.append(action.request)
        named = [(action.table_name, plan) for action, plan in zip(actions, plans, strict=False)]
        return {**response, **costs(transaction, named, params)}

    return work


def read_actions(requests: Params) -> Iterator[BatchAction]:
    if sum(map(len, requests.values())) > MAX_WRITES:
        raise ValidationException("Too many items requested for the BatchWriteItem call")
    for name, given in requests.items():
        if any(len(request) != 1 for request in given):
            # AWS's words for a request that is neither a put nor a delete, or both.
            raise ValidationException(MANY_DATATYPES)
        for request in given:
            yield read_action(name, request)


def read_action(name: str, request: Params) -> BatchAction:
    if "DeleteRequest" in request:
        return BatchAction(name, request, False, read_key(request["DeleteRequest"]["Key"]), 0)
    item, size = check_item(request["PutRequest"]["Item"])
    if size > MAX_ITEM_BYTES:
        raise ValidationException(PUT_TOO_LARGE)
    return BatchAction(name, request, True, item, size)


def checked_writes(database: Database, actions: Iterable[BatchAction]) -> list[Write]:
    writes: list[Write] = []
    seen: set[tuple[int, bytes, bytes]] = set()
    for name, _, is_put, item, size in actions:
        table = database.catalogue.table_for_writing(database.table_name(name))
        blobs = put_blobs(table, item) if is_put else table.key_blobs(item)
        if (table.number, *blobs) in seen:
            raise ValidationException(DUPLICATES)
        seen.add((table.number, *blobs))
        writes.append(Write("put" if is_put else "delete", table, item, *blobs, size))
    return writes


def put_blobs(table: Table, item: Item) -> tuple[bytes, bytes]:
    # In a batch AWS has one text for a key that is missing and for one of another type.
    for attribute in table.definition.key_attributes:
        if attribute.type not in item.get(attribute.name, ()):
            raise ValidationException("The provided key element does not match the schema")
    return table.item_blobs(item)


# --- What they cost -------------------------------------------------------------------------


def costs(
    transaction: Transaction,
    plans: list[tuple[str, Plan]],
    params: Params,
    *,
    transactional: bool = False,
) -> Response:
    """What the caller asked to be told of the writes, each under its table's name as given."""
    response: Response = {}
    mode = mode_of(params)
    if mode:
        used: dict[str, Consumed] = {}
        for name, plan in plans:
            used.setdefault(name, Consumed(name)).add_write(plan, transactional=transactional)
        side = "Write" if transactional else None
        response["ConsumedCapacity"] = [one.shown(mode, side=side) for one in used.values()]
    if params.get("ReturnItemCollectionMetrics") == "SIZE":
        metrics = metrics_by_table(transaction, plans)
        if metrics:
            response["ItemCollectionMetrics"] = metrics
    return response


def metrics_by_table(
    transaction: Transaction, plans: list[tuple[str, Plan]]
) -> dict[str, list[Response]]:
    """The collections that the writes touched, each once."""
    metrics: dict[str, list[Response]] = {}
    for name, plan in plans:
        if plan.write.table.collections and plan.write.kind != "check":
            known = metrics.setdefault(name, [])
            shown = collection_metrics(transaction, plan)
            if shown not in known:
                known.append(shown)
    return metrics
