"""GetItem, PutItem, UpdateItem, DeleteItem: one item at a time.

A read returns its response. A write is checked as far as is possible without the table, and
returned as work for the committer, where everything that needs the table or the item happens.
"""

from __future__ import annotations

from typing import Any

import apsw
import orjson

from bigtime import wire
from bigtime.engine.expressions import Expressions, Projection, check_parameters, read_expressions
from bigtime.engine.operations.capacity import ConsumedCapacity, mode_of
from bigtime.engine.operations.key_rules import check_key_paths, check_update, given_values
from bigtime.engine.operations.limits import admit_write
from bigtime.engine.operations.write import PUT_TOO_LARGE, Plan, Room, Write, collection_metrics
from bigtime.engine.storage import Database, Table, Transaction, UnreadableItem, Work
from bigtime.wire import Item, Params, Response

# Most requests have none of these, so one test rules out all of them.
EXTRAS = frozenset(
    "AttributesToGet ConditionExpression ConditionalOperator Expected ExpressionAttributeNames"
    " ExpressionAttributeValues ProjectionExpression".split()
)
RETURNS = frozenset("ReturnValues ReturnConsumedCapacity ReturnItemCollectionMetrics".split())
NO_EXPRESSIONS = Expressions()
CONDITION_LEGACY = ("Expected", "ConditionalOperator")
# What an invalid request may raise on the path of a valid one.
FAILURES = (KeyError, TypeError, AttributeError, ValueError, wire.ValidationException, apsw.Error)


def quick_get(database: Database, params: Params) -> Response | None:
    """Answers the commonest request, a known table and a plain key, before any validation.

    None if anything about the request or the item is unusual: then every check is made.
    """
    try:
        table = database.catalogue.tables[params["TableName"]]
        blobs = table.quick_blobs(params["Key"])
        if blobs is None or len(params) > 2:
            return None
        blob = fetch(database, table.fetch_item, blobs)
        return {} if blob is None else {"Item": orjson.loads(blob)}
    except FAILURES:
        return None


def fetch(database: Database, query: str, blobs: tuple[bytes, bytes]) -> Any:
    """The columns of an item's row, or the single column selected; None if there is no item."""
    file = database.file
    reader = file.take_reader()
    try:
        return reader.run(query, blobs).get
    finally:
        file.give_reader(reader)


def read_item(table_name: str, key: Item, blob: bytes) -> Item:
    """Decodes the item in a row; raises an error that names an item that cannot be read."""
    try:
        item: Item = orjson.loads(blob)
    except orjson.JSONDecodeError:
        raise UnreadableItem(table_name, key) from None
    return item


def get_item(database: Database, params: Params) -> Response:
    table = database.catalogue.tables.get(params["TableName"])
    blobs = table.quick_blobs(params["Key"]) if table and EXTRAS.isdisjoint(params) else None
    project = None
    if table is None or blobs is None:
        table, blobs, project = read_get(database, params)
    row: tuple[int, bytes] | None = fetch(database, table.fetch, blobs)
    response: Response = {}
    if row:
        item = read_item(table.name, params["Key"], row[1])
        response["Item"] = project(item) if project else item
    mode = mode_of(params)
    if mode:
        consistent = bool(params.get("ConsistentRead"))
        units = wire.read_units(row[0] if row else 0, consistent=consistent)
        response["ConsumedCapacity"] = ConsumedCapacity(params["TableName"], units).to_response(
            mode
        )
    return response


def read_get(
    database: Database, params: Params
) -> tuple[Table, tuple[bytes, bytes], Projection | None]:
    """The table, the key and the projection of a GetItem, with every check in AWS's order."""
    check_parameters(params, expressions=("ProjectionExpression",), legacy=("AttributesToGet",))
    key = wire.check_item(params["Key"])[0]
    expressions = read_expressions(params)
    table = database.catalogue.table(params["TableName"])
    blobs = table.key_blobs(key)
    check_key_paths(table, expressions)
    return table, blobs, expressions.projection


def put_item(database: Database, params: Params) -> Work[Response]:
    plain = EXTRAS.isdisjoint(params)
    if not plain:
        check_parameters(params, expressions=("ConditionExpression",), legacy=CONDITION_LEGACY)
    item, size = wire.check_item(params["Item"])
    check_return_values(params)
    if size > wire.MAX_ITEM_BYTES:
        raise wire.ValidationException(PUT_TOO_LARGE)
    expressions = NO_EXPRESSIONS if plain else read_expressions(params)

    def work(transaction: Transaction) -> Response:
        table = database.catalogue.table_for_writing(params["TableName"])
        write = Write("put", table, item, *table.item_blobs(item), size)
        return carry_out(database, transaction, write, params, expressions)

    return work


def delete_item(database: Database, params: Params) -> Work[Response]:
    plain = EXTRAS.isdisjoint(params)
    if not plain:
        check_parameters(params, expressions=("ConditionExpression",), legacy=CONDITION_LEGACY)
    key = wire.check_item(params["Key"])[0]
    check_return_values(params)
    expressions = NO_EXPRESSIONS if plain else read_expressions(params)

    def work(transaction: Transaction) -> Response:
        table = database.catalogue.table_for_writing(params["TableName"])
        write = Write("delete", table, key, *table.key_blobs(key))
        return carry_out(database, transaction, write, params, expressions)

    return work


def update_item(database: Database, params: Params) -> Work[Response]:
    check_parameters(
        params,
        expressions=("UpdateExpression", "ConditionExpression"),
        legacy=("AttributeUpdates", *CONDITION_LEGACY),
    )
    key = wire.check_item(params["Key"])[0]
    expressions = read_expressions(params)

    def work(transaction: Transaction) -> Response:
        table = database.catalogue.table_for_writing(params["TableName"])
        update = expressions.update
        write = Write("update", table, key, *table.key_blobs(key), update=update)
        if update and not table.key_attributes.isdisjoint(update.named):
            check_update(table, given_values(params), expressions)
        return carry_out(database, transaction, write, params, expressions)

    return work


def check_return_values(params: Params) -> None:
    # AWS: "PutItem", https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_PutItem.html
    if params.get("ReturnValues") not in (None, "NONE", "ALL_OLD"):
        raise wire.ValidationException("ReturnValues can only be ALL_OLD or NONE")


def carry_out(
    database: Database,
    transaction: Transaction,
    write: Write,
    params: Params,
    expressions: Expressions,
) -> Response:
    """Plans and applies one write; the response has what the caller asked to be returned."""
    write.condition = expressions.condition
    write.show_old_on_failure = params.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD"
    plan = write.plan(transaction)
    if write.table.collections:
        Room(database.collection_limit, transaction).admit(plan)
    if database.faults.buckets is not None:
        admit_write(database, plan)
    plan.apply(transaction)
    response: Response = {}
    if RETURNS.isdisjoint(params):
        return response
    attributes = returned_attributes(plan, params.get("ReturnValues"))
    if attributes:
        response["Attributes"] = attributes
    mode = mode_of(params)
    if mode:
        used = ConsumedCapacity(params["TableName"])
        used.add_write(plan)
        response["ConsumedCapacity"] = used.to_response(mode)
    if write.table.collections and params.get("ReturnItemCollectionMetrics") == "SIZE":
        response["ItemCollectionMetrics"] = collection_metrics(transaction, plan)
    return response


def returned_attributes(plan: Plan, wanted: str | None) -> Item | None:
    """The attributes that ReturnValues asks for. AWS: "UpdateItem"

    https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_UpdateItem.html#DDB-UpdateItem-request-ReturnValues
    """
    update = plan.write.update
    match wanted:
        case "ALL_OLD":
            return plan.old
        case "ALL_NEW":
            return plan.new
        case "UPDATED_OLD":
            return update.touched(plan.old) if update and plan.old else None
        case "UPDATED_NEW":
            return update.touched(plan.new) if update and plan.new else None
        case _:
            return None
