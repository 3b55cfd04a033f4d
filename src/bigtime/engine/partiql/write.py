"""Running INSERT, UPDATE, DELETE and EXISTS: each is a write of one item.

The meaning of a statement depends on its table's key, and only the committing thread is sure of the
table. So a statement is parsed and its values are checked beforehand, and the rest is done on that
thread.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import orjson

from bigtime import wire
from bigtime.engine import operations
from bigtime.engine.expressions import Expressions
from bigtime.engine.partiql import statements
from bigtime.engine.partiql.compiler import KEY_WANTED, SEVERAL_KEYS, WritePlan, write_plan
from bigtime.engine.partiql.programs import Values
from bigtime.engine.storage import Database, Table, Transaction, Work
from bigtime.wire import Item, Params, Response

OPERATIONS = {
    statements.Insert: "PutItem",
    statements.Update: "UpdateItem",
    statements.Delete: "DeleteItem",
}
# Seen on AWS, all three: https://github.com/floci-io/floci/pull/3798
NO_INDEX = "This operation is not supported on an index"
NOT_HERE = "EXISTS can only be used in ExecuteTransaction write requests."
KEY_MISMATCH = "The provided key element does not match the schema"


def not_taken(place: int, reason: str) -> wire.ValidationException:
    """The error for a statement that no transaction takes.

    (Seen on AWS: https://github.com/paritysuite/dynamodb-conformance)
    """
    return wire.ValidationException(f"Validation failed in TransactStatements[{place}]: {reason}")


def refuse_duplicate(item: Item) -> bool:
    """The condition of an INSERT: raises if the item exists, since then it has at least its key."""
    if item:
        raise wire.DuplicateItemException()
    return True


@dataclass(slots=True)
class StatementWrite:
    """A writing statement with the values of one request, and its place in a transaction."""

    statement: statements.Statement
    values: Values
    params: Params
    item: Item
    size: int = 0
    place: int | None = None

    @property
    def value_bytes(self) -> int:
        return wire.item_size(dict(self.values)) - sum(map(len, self.values))

    def write(self, table: Table) -> operations.Write:
        """The statement as a write on its table."""
        body = self.statement.body
        shows_old = self.params.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD"
        if isinstance(body, statements.Insert):
            blobs = table.item_blobs(self.item)
            return operations.Write(
                "put", table, self.item, *blobs, self.size, condition=refuse_duplicate
            )
        plan, key = self.plan_of(table)
        blobs = table.key_blobs(key)
        parsed = self.expressions(plan)
        if isinstance(body, statements.Update):
            given = operations.values_given_by(body.actions, {}, self.values)
            operations.check_update(table, given, parsed)
        return operations.Write(
            kind_of(body),
            table,
            key,
            *blobs,
            condition=parsed.condition,
            update=parsed.update,
            show_old_on_failure=shows_old,
        )

    def expressions(self, plan: WritePlan) -> Expressions:
        """What is wrong with the values is wrong with the request, as in TransactWriteItems."""
        try:
            return Expressions(
                condition=plan.condition.bind(self.values) if plan.condition else None,
                update=plan.update.bind(self.values) if plan.update else None,
            )
        except wire.ValidationException as error:
            if self.place is None:
                raise
            raise not_taken(self.place, error.message) from None

    def plan_of(self, table: Table) -> tuple[WritePlan, Item]:
        try:
            plan = write_plan(self.statement.text, table)
            return plan, plan.key_of(self.values)
        except wire.ValidationException as error:
            if self.place is None:
                raise
            if error.message.startswith((KEY_WANTED, SEVERAL_KEYS)):
                raise wire.ValidationException(KEY_MISMATCH) from None
            raise not_taken(self.place, error.message) from None


def kind_of(body: statements.Body) -> Literal["update", "delete", "check"]:
    match body:
        case statements.Update():
            return "update"
        case statements.Delete():
            return "delete"
        case _:
            return "check"


def read_write(
    statement: statements.Statement, request: Params, place: int | None = None
) -> StatementWrite:
    """Checks a statement as far as is possible without its table."""
    try:
        values = bind_values(statement, request)
    except wire.ValidationException as error:
        if place is None:
            raise
        raise not_taken(place, error.message) from None
    body = statement.body
    given = {**request, "TableName": body.table}
    if not isinstance(body, statements.Insert):
        return StatementWrite(statement, values, given, {}, place=place)
    value = values[body.item.name]
    if "M" not in value:
        # AWS's message is not known.
        raise wire.ValidationException("The VALUE of an INSERT must be a map")
    item, size = wire.check_item(value["M"])
    if size > wire.MAX_ITEM_BYTES:
        raise wire.ValidationException(operations.PUT_TOO_LARGE)
    return StatementWrite(statement, values, given, item, size, place)


def bind_values(statement: statements.Statement, request: Params) -> Values:
    values = statement.bind(request.get("Parameters") or ())
    body = statement.body
    if isinstance(body, statements.Exists) and body.select.index is not None:
        # AWS's message is not known.
        raise wire.ValidationException("EXISTS cannot read an index")
    if isinstance(body, statements.Update | statements.Delete) and body.index is not None:
        raise wire.ValidationException(NO_INDEX)
    if isinstance(body, statements.Update):
        body.check_sets(values)
    return values


def write(database: Database, statement: statements.Statement, params: Params) -> Work[Response]:
    """The work of an ExecuteStatement that writes."""
    body = statement.body
    if isinstance(body, statements.Exists):
        raise wire.ValidationException(NOT_HERE)
    if database.faults.active:
        database.faults.meet(OPERATIONS[type(body)])
    action = read_write(statement, params)
    returning = isinstance(body, statements.Update | statements.Delete) and body.returning
    asked = {**action.params, "ReturnValues": returning or "NONE"}
    name = database.table_name(body.table)

    def work(transaction: Transaction) -> Response:
        table = database.catalogue.table_for_writing(name)
        planned = action.write(table)
        expressions = Expressions(condition=planned.condition, update=planned.update)
        response = operations.carry_out(database, transaction, planned, asked, expressions)
        attributes = response.pop("Attributes", None)
        # A copy: the literals among the attributes are shared by all requests with this text.
        copies = [] if attributes is None else [orjson.loads(orjson.dumps(attributes))]
        response["Items"] = copies
        return response

    return work
