"""BatchGetItem and BatchWriteItem: many independent operations in one request.

The whole request is checked first, so an invalid one changes nothing. Keys whose items do not fit
in the response are returned as unprocessed, in the form of the request.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import apsw
import orjson

from bigtime import wire
from bigtime.engine.expressions import check_parameters, read_expressions
from bigtime.engine.operations.capacity import ConsumedCapacity, costs, mode_of
from bigtime.engine.operations.items import EXTRAS, NO_EXPRESSIONS, read_item
from bigtime.engine.operations.key_rules import check_key_paths
from bigtime.engine.operations.limits import admit_some
from bigtime.engine.operations.write import PUT_TOO_LARGE, Room, Write
from bigtime.engine.storage import Database, Table, Transaction, Work
from bigtime.wire import Item, Params, Response

# AWS: "BatchGetItem" and "BatchWriteItem"
# https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchGetItem.html
# https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchWriteItem.html
MAX_KEYS = 100
MAX_WRITES = 25
# AWS's own example: of 100 items of 300 KB, 52 come back "so as not to exceed the 16 MB limit"
# ("BatchGetItem"), which makes these megabytes decimal.
RESPONSE_BYTES = 16_000_000
PARTITION_BYTES = 1024 * 1024
PROJECTIONS = ("ProjectionExpression", "AttributesToGet")
# AWS's message in nearly every region since September 2026; BatchWriteItem's is unchanged.
# (Seen on AWS: https://github.com/nubo-db/dynoxide/pull/198)
NOTHING_ASKED = (
    "1 validation error detected: Value at 'RequestItems' failed to satisfy constraint: "
    "Member must have length greater than or equal to 1"
)
DUPLICATES = "Provided list of item keys contains duplicates"


# --- BatchGetItem ---------------------------------------------------------------------------


class TableReads:
    """The keys to get from one table, and the projection of their items."""

    __slots__ = ("consistent", "expressions", "given", "keys", "name")

    def __init__(self, name: str, given: Params, most: int) -> None:
        self.name = name
        self.given = given
        self.consistent = bool(given.get("ConsistentRead"))
        self.expressions = NO_EXPRESSIONS
        if not EXTRAS.isdisjoint(given):
            check_parameters(given, expressions=PROJECTIONS[:1], legacy=PROJECTIONS[1:])
            self.expressions = read_expressions(given)
        self.keys = read_keys(given["Keys"], most)


def batch_get_item(database: Database, params: Params) -> Response:
    wanted = read_tables(params["RequestItems"])
    located = [(read, *locate(database, read)) for read in wanted]
    for reads, table, _ in located:
        check_key_paths(table, reads.expressions)
    cut_short = database.faults.active and database.faults.strikes("unprocessed")
    response: Response = {"Responses": {}, "UnprocessedKeys": {}}
    used: list[Response] = []
    mode = mode_of(params)
    room = RESPONSE_BYTES
    with database.file.snapshot() as reader:  # also faster: the file is locked once
        for reads, table, blobs in located:
            allowed = len(blobs) // 2 if cut_short else len(blobs)
            items, units, left, room = read_that_fits(reader, reads, table, blobs[:allowed], room)
            response["Responses"][reads.name] = items
            unprocessed = left + reads.keys[allowed:]
            if unprocessed:
                response["UnprocessedKeys"][reads.name] = {**reads.given, "Keys": unprocessed}
            if mode:
                used.append(ConsumedCapacity(reads.name, units).to_response(mode))
    if mode:
        response["ConsumedCapacity"] = used
    return response


def read_tables(requests: Params) -> list[TableReads]:
    if not requests:
        raise wire.ValidationException(NOTHING_ASKED)
    # AWS checks this across the request: one table cannot differ from another.
    check_parameters(
        {member: None for given in requests.values() for member in PROJECTIONS if member in given},
        expressions=PROJECTIONS[:1],
        legacy=PROJECTIONS[1:],
    )
    reads = []
    most = MAX_KEYS
    for name, given in requests.items():
        reads.append(TableReads(name, given, most))
        most -= len(reads[-1].keys)
    return reads


def read_keys(given: list[Item], most: int) -> list[Item]:
    keys = []
    seen = set()
    for each in given:
        key = wire.check_item(each)[0]
        spelt = orjson.dumps(key, option=orjson.OPT_SORT_KEYS)
        if spelt in seen:
            raise wire.ValidationException(DUPLICATES)
        seen.add(spelt)
        keys.append(key)
        if len(keys) > most:
            raise wire.ValidationException("Too many items requested for the BatchGetItem call")
    return keys


def locate(database: Database, reads: TableReads) -> tuple[Table, list[tuple[bytes, bytes]]]:
    table = database.catalogue.table(reads.name)
    return table, [table.key_blobs(key) for key in reads.keys]


def read_that_fits(
    reader: apsw.Connection,
    reads: TableReads,
    table: Table,
    blobs: list[tuple[bytes, bytes]],
    room: int,
) -> tuple[list[Item], float, list[Item], int]:
    """The items that fit in the response, the units they cost, and the keys that did not fit."""
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
        units += wire.read_units(size, consistent=reads.consistent)
        if blob is not None:
            item = read_item(table.name, key, blob)
            items.append(project(item) if project else item)
    return items, units, left, room


# --- BatchWriteItem -------------------------------------------------------------------------


class BatchAction(NamedTuple):
    """A PutRequest or a DeleteRequest, checked as far as is possible without its table."""

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
        room = Room(database.collection_limit, transaction)
        for plan in plans:
            if plan.write.table.collections:
                room.admit(plan)
        named = [(action.table_name, plan) for action, plan in zip(actions, plans, strict=False)]
        left = actions[allowed:]
        if database.faults.buckets is not None:
            lacks = admit_some(database, plans)
            left = [each for each, lack in zip(actions, lacks, strict=False) if lack] + left
            named = [pair for pair, lack in zip(named, lacks, strict=True) if not lack]
        for _, plan in named:
            plan.apply(transaction)
        response: Response = {"UnprocessedItems": {}}
        for action in left:
            response["UnprocessedItems"].setdefault(action.table_name, []).append(action.request)
        return {**response, **costs(transaction, named, params)}

    return work


def read_actions(requests: Params) -> Iterator[BatchAction]:
    if not requests:
        raise wire.ValidationException("The requestItems parameter is required for BatchWriteItem")
    if sum(map(len, requests.values())) > MAX_WRITES:
        raise wire.ValidationException("Too many items requested for the BatchWriteItem call")
    for name, given in requests.items():
        if any(len(request) != 1 for request in given):
            # AWS's message for a request with neither a put nor a delete, or with both.
            raise wire.ValidationException(wire.MANY_DATATYPES)
        for request in given:
            yield read_action(name, request)


def read_action(name: str, request: Params) -> BatchAction:
    if "DeleteRequest" in request:
        return BatchAction(
            name, request, False, wire.check_item(request["DeleteRequest"]["Key"])[0], 0
        )
    item, size = wire.check_item(request["PutRequest"]["Item"])
    if size > wire.MAX_ITEM_BYTES:
        raise wire.ValidationException(PUT_TOO_LARGE)
    return BatchAction(name, request, True, item, size)


def checked_writes(database: Database, actions: Iterable[BatchAction]) -> list[Write]:
    writes: list[Write] = []
    seen: set[tuple[int, bytes, bytes]] = set()
    for name, _, is_put, item, size in actions:
        table = database.catalogue.table_for_writing(name)
        blobs = put_blobs(table, item) if is_put else table.key_blobs(item)
        if (table.number, *blobs) in seen:
            raise wire.ValidationException(DUPLICATES)
        seen.add((table.number, *blobs))
        writes.append(Write("put" if is_put else "delete", table, item, *blobs, size))
    return writes


def put_blobs(table: Table, item: Item) -> tuple[bytes, bytes]:
    # In a batch AWS has one message for a missing key and for a key of the wrong type.
    # (Seen on AWS by dynalite's test/batchWriteItem.js, as were the other messages here.)
    for attribute in table.definition.key_attributes:
        if attribute.type not in item.get(attribute.name, ()):
            raise wire.ValidationException("The provided key element does not match the schema")
    return table.item_blobs(item)
