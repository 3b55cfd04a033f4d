"""TransactWriteItems and TransactGetItems: all actions at one moment, or none.

A write transaction is one unit of work for the committer, so it is serializable by construction.
Errors are reported in one of two ways:

1. What AWS finds in the request before it begins is a ValidationException for the whole request: an
   invalid value or expression, an empty key, two actions on one item, too many actions or bytes, a
   new item that is too large or too deep.
2. What it finds at an item cancels the transaction, with a reason per action: a key that does not
   match the schema or is too long, an update that does not fit the item or makes it too large, a
   failed condition. Every failed condition is reported, but only the first invalid action.
   (Reported of AWS in 2026, as is which error belongs where; its pages do not say.)

ExecuteTransaction reports every statement whose key does not fit or whose table is missing, also
when it reads. (Seen on AWS: https://github.com/floci-io/floci/pull/3674)

A client token is stored with the transaction's changes for ten minutes. Repeating the same request
with the same token changes nothing; another request with that token is rejected.

AWS: "TransactWriteItems" (limits, token, what a replay is billed) and "CancellationReason"
https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_CancellationReason.html
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import orjson

from bigtime import wire
from bigtime.engine.expressions import Expressions, read_expressions
from bigtime.engine.operations.capacity import ConsumedCapacity, costs, mode_of
from bigtime.engine.operations.items import NO_EXPRESSIONS, read_item
from bigtime.engine.operations.key_rules import check_key_paths, check_update, given_values
from bigtime.engine.operations.limits import admit_transaction, reason
from bigtime.engine.operations.write import PUT_TOO_LARGE, Kind, Plan, Room, Write
from bigtime.engine.storage import Database, Table, Transaction, Work
from bigtime.wire import Item, Params, Response

TOKEN_SECONDS = 600.0
MAX_BYTES = 4 * 1024 * 1024
KINDS: dict[str, Kind] = {
    "ConditionCheck": "check",
    "Put": "put",
    "Delete": "delete",
    "Update": "update",
}
TEXTS = frozenset(("UpdateExpression", "ConditionExpression", "ProjectionExpression"))
SAME_ITEM = "Transaction request cannot include multiple operations on one item"
TOO_MUCH = "The aggregate size of the items in the transaction cannot exceed 4 MB"
REQUEST_TOO_LARGE = "Transaction request size cannot exceed 4 MB"
MISMATCH = (
    "The request uses the same client token as a previous, but non-identical request. "
    "Do not reuse a client token with different requests, unless the requests are identical"
)
# AWS's messages about an empty key, of a table or an index, begin with the first of these, and
# those about a statement that no transaction takes with the second; no others do.
WHOLE_REQUEST = (
    "One or more parameter values are not valid. ",
    "Validation failed in TransactStatements[",
)


# --- TransactWriteItems ---------------------------------------------------------------------


class TableWrite(Protocol):
    """One action of a write transaction, whose table is named in `params`."""

    @property
    def params(self) -> Params: ...

    @property
    def value_bytes(self) -> int: ...

    def write(self, table: Table) -> Write: ...


@dataclass(slots=True)
class Action:
    """One action of a write transaction, checked as far as is possible without its table."""

    kind: Kind
    params: Params
    item: Item
    size: int
    expressions: Expressions
    fault: wire.ValidationException | None = None

    @property
    def value_bytes(self) -> int:
        return self.size + self.expressions.value_bytes

    def write(self, table: Table) -> Write:
        blobs = table.item_blobs(self.item) if self.kind == "put" else table.key_blobs(self.item)
        if self.fault is not None:
            raise self.fault
        update = self.expressions.update
        if update and not table.key_attributes.isdisjoint(update.named):
            check_update(table, given_values(self.params), self.expressions)
        return Write(
            self.kind,
            table,
            self.item,
            *blobs,
            self.size,
            condition=self.expressions.condition,
            update=update,
            show_old_on_failure=self.params.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD",
        )


def transact_write_items(database: Database, params: Params) -> Work[Response]:
    actions = [read_action(entry) for entry in params["TransactItems"]]
    return write_all(database, actions, params)


def write_all(
    database: Database,
    actions: Sequence[TableWrite],
    params: Params,
    *,
    operation: str = "TransactWriteItems",
) -> Work[Response]:
    """Applies every action or none; `params` has the token and the options of the response."""
    if sum([action.value_bytes for action in actions]) > MAX_BYTES:
        raise wire.ValidationException(REQUEST_TOO_LARGE)
    if database.faults.active:
        database.faults.meet("TransactWriteItems", len(actions))
    token = token_of(operation, params.get("ClientRequestToken"))
    digest = request_digest(params) if token else b""

    def work(transaction: Transaction) -> Response:
        if token:
            units = find_replay(transaction, token, digest)
            if units is not None:
                return read_costs(units, params)
        if operation == "ExecuteTransaction":
            writes = checked_statements(database, actions)
        else:
            writes = checked_writes(database, actions)
        plans = plan_all(database, transaction, writes)
        if database.faults.buckets is not None:
            admit_transaction(database, plans)
        for plan in plans:
            plan.apply(transaction)
        named = [
            (action.params["TableName"], plan) for action, plan in zip(actions, plans, strict=True)
        ]
        if token:
            remember(transaction, token, digest, named)
        return costs(transaction, named, params, transactional=True)

    return work


def read_action(entry: Params) -> Action:
    if len(entry) != 1:
        raise wire.ValidationException(
            "TransactItems can only contain one of Check, Put, Update or Delete"
        )
    ((name, given),) = entry.items()
    kind = KINDS[name]
    item, size = wire.check_item(given["Item"] if kind == "put" else given["Key"])
    if kind == "put" and size > wire.MAX_ITEM_BYTES:
        raise wire.ValidationException(PUT_TOO_LARGE)
    try:
        return Action(kind, given, item, size, read_texts(given))
    except wire.ValidationException as error:
        # AWS lists this among the reasons for which a transaction is cancelled. (Seen on AWS of an
        # update's values: https://github.com/paritysuite/dynamodb-conformance/pull/178)
        if kind != "update" or wire.TOO_DEEP not in error.message:
            raise
        fault = wire.ValidationException(wire.TOO_DEEP)
        return Action(kind, given, item, size, NO_EXPRESSIONS, fault)


def read_texts(given: Params) -> Expressions:
    """The expressions of an action; unused names and values are not an error here.

    (Seen on AWS: https://github.com/ExtendDB/extenddb/pull/169)
    """
    return NO_EXPRESSIONS if TEXTS.isdisjoint(given) else read_expressions(given)


def plan_all(database: Database, transaction: Transaction, writes: Sequence[Write]) -> list[Plan]:
    """Plans every action, or raises with a cancellation reason for each that cannot go ahead."""
    check_distinct([(write.table.number, write.partition, write.sort) for write in writes])
    plans: list[Plan] = []
    faults: dict[int, wire.DynamoDBError] = {}
    room = Room(database.collection_limit, transaction)
    for place, write in enumerate(writes):
        try:
            plan = write.plan(transaction)
            if write.table.collections:
                room.admit(plan)
            plans.append(plan)
        except wire.ValidationException as error:
            faults[place] = error
            break
        except wire.DynamoDBError as error:
            faults[place] = error
    if faults:
        raise cancellation(faults, len(writes))
    return plans


def checked_writes(database: Database, actions: Sequence[TableWrite]) -> list[Write]:
    find = database.catalogue.table_for_writing
    tables = [find(action.params["TableName"]) for action in actions]
    writes: list[Write] = []
    faults: dict[int, wire.DynamoDBError] = {}
    for place, (action, table) in enumerate(zip(actions, tables, strict=True)):
        try:
            writes.append(action.write(table))
        except wire.ValidationException as error:
            if error.message.startswith(WHOLE_REQUEST):
                raise
            if not faults:
                faults[place] = error
    if faults:
        raise cancellation(faults, len(actions))
    return writes


def checked_statements(database: Database, actions: Sequence[TableWrite]) -> list[Write]:
    """As `checked_writes`, but every statement's fault is reported, a missing table among them."""
    writes: list[Write] = []
    faults: dict[int, wire.DynamoDBError] = {}
    for place, action in enumerate(actions):
        try:
            table = database.catalogue.table_for_writing(action.params["TableName"])
            writes.append(action.write(table))
        except (wire.ResourceNotFoundException, wire.ValidationException) as error:
            if error.message.startswith(WHOLE_REQUEST):
                raise
            faults[place] = error
    if faults:
        raise cancellation(faults, len(actions))
    return writes


def check_distinct(places: list[tuple[int, bytes, bytes]]) -> None:
    if len(set(places)) < len(places):
        raise wire.ValidationException(SAME_ITEM)


def cancellation(
    faults: dict[int, wire.DynamoDBError], count: int
) -> wire.TransactionCanceledException:
    return wire.TransactionCanceledException([reason(faults.get(place)) for place in range(count)])


# --- Tokens ---------------------------------------------------------------------------------


def token_of(operation: str, given: str | None) -> str | None:
    """The token as stored: each operation has a token namespace of its own.

    (Seen on AWS: https://github.com/nubo-db/dynoxide/pull/125)
    """
    return given if given is None or operation == "TransactWriteItems" else f"{operation}\0{given}"


def request_digest(params: Params) -> bytes:
    try:
        return hashlib.sha256(orjson.dumps(params, option=orjson.OPT_SORT_KEYS)).digest()
    except TypeError:
        # Half of a surrogate pair is a legal JSON escape that has no UTF-8.
        raise wire.SerializationException("Unexpected token received from parser") from None


def find_replay(transaction: Transaction, token: str, digest: bytes) -> dict[str, float] | None:
    """The read units, by table, of a transaction already committed under this token."""
    row = transaction.run(
        "SELECT digest, outcome FROM tokens WHERE token = ? AND used_at > ?",
        (token, transaction.settled - TOKEN_SECONDS),
    ).get
    if row is None:
        return None
    if row[0] != digest:
        raise wire.IdempotentParameterMismatchException(MISMATCH)
    units: dict[str, float] = orjson.loads(row[1])
    return units


def remember(
    transaction: Transaction, token: str, digest: bytes, plans: list[tuple[str, Plan]]
) -> None:
    """Stores the token; a replay is billed as a transactional read of the first call's items."""
    units: dict[str, float] = {}
    for name, plan in plans:
        read = wire.transactional_read_units(max(plan.old_size, plan.new_size))
        units[name] = units.get(name, 0.0) + read
    transaction.run(
        "INSERT OR REPLACE INTO tokens VALUES (?, ?, ?, ?)",
        (token, digest, transaction.now, orjson.dumps(units)),
    )


def read_costs(units: dict[str, float], params: Params) -> Response:
    mode = mode_of(params)
    if not mode:
        return {}
    return {
        "ConsumedCapacity": [
            ConsumedCapacity(name, read).to_response(mode, side="Read")
            for name, read in units.items()
        ]
    }


# --- TransactGetItems -----------------------------------------------------------------------


@dataclass(slots=True)
class Get:
    """One item to read, and its projection."""

    table_name: str
    key: Item
    expressions: Expressions

    def locate(self, table: Table) -> tuple[bytes, bytes]:
        blobs = table.key_blobs(self.key)
        check_key_paths(table, self.expressions)
        return blobs

    def to_response(self, blob: bytes | None) -> Response:
        """The projected attributes; if there are none, `Item` is missing, where GetItem's is empty.

        AWS: "if the requested item has no projected attributes, the corresponding ItemResponse
        object is an empty Map."
        https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactGetItems.html
        """
        if blob is None:
            return {}
        item = read_item(self.table_name, self.key, blob)
        if self.expressions.filter and not self.expressions.filter(item):
            return {}
        project = self.expressions.projection
        shown = project(item) if project else item
        return {"Item": shown} if shown else {}


def transact_get_items(database: Database, params: Params) -> Response:
    return get_all(database, [read_get(entry["Get"]) for entry in params["TransactItems"]], params)


def get_all(database: Database, gets: list[Get], params: Params) -> Response:
    """Reads every item at one moment."""
    if database.faults.active:
        database.faults.meet("TransactGetItems", len(gets))
    tables = [database.catalogue.table(get.table_name) for get in gets]
    places = locate_items(gets, tables)
    with database.file.snapshot() as reader:
        rows: list[tuple[int, bytes | None]] = [
            reader.execute(table.fetch, place).get or (0, None)
            for table, place in zip(tables, places, strict=True)
        ]
    if sum(size for size, _ in rows) > MAX_BYTES:
        raise wire.ValidationException(TOO_MUCH)
    units: dict[str, float] = {}
    for get, (size, _) in zip(gets, rows, strict=True):
        units[get.table_name] = units.get(get.table_name, 0.0) + wire.transactional_read_units(size)
    responses = [get.to_response(blob) for get, (_, blob) in zip(gets, rows, strict=True)]
    return {"Responses": responses, **read_costs(units, params)}


def read_get(given: Params) -> Get:
    key = wire.check_item(given["Key"])[0]
    return Get(given["TableName"], key, read_texts(given))


def locate_items(gets: list[Get], tables: list[Table]) -> list[tuple[bytes, bytes]]:
    places: list[tuple[bytes, bytes]] = []
    for get, table in zip(gets, tables, strict=True):
        try:
            places.append(get.locate(table))
        except wire.ValidationException as error:
            raise cancellation({len(places): error}, len(gets)) from None
    check_distinct([(table.number, *at) for table, at in zip(tables, places, strict=True)])
    return places
