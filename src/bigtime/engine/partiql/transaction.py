"""ExecuteTransaction: up to 100 statements, all or none of which take effect.

Reads run as a TransactGetItems, writes as a TransactWriteItems where EXISTS is a ConditionCheck.

AWS: "Performing transactions with PartiQL for DynamoDB"
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ql-reference.multiplestatements.transactions.html
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from bigtime import wire
from bigtime.engine import operations
from bigtime.engine.expressions import Expressions
from bigtime.engine.partiql.compiler import select_plan
from bigtime.engine.partiql.parser import parse_statement
from bigtime.engine.partiql.select import bind, find_table
from bigtime.engine.partiql.statements import Delete, Select, Statement, Update
from bigtime.engine.partiql.write import KEY_MISMATCH, not_taken, read_write
from bigtime.engine.storage import Database, Transaction, Work
from bigtime.wire import Params, Response

# Seen by the tests of a driver. (https://github.com/passren/PyDynamoDB)
MIXED = (
    "ExecuteTransaction API does not support both read and write operations in the same request."
)
# Seen on AWS: https://github.com/paritysuite/dynamodb-conformance
NOTHING_RETURNED = "RETURNING clause is not supported in ExecuteTransaction."
NO_INDEX = "Reads on indices are not supported within transactions."
# Seen on AWS: https://github.com/floci-io/floci/pull/3798
SELECT_WANTED = (
    "Select statements within ExecuteTransaction must specify the primary key in the where clause."
)

Result = TypeVar("Result")


def returns_attributes(statement: Statement) -> bool:
    body = statement.body
    return isinstance(body, Update | Delete) and body.returning != "NONE"


def check_statement(place: int, check: Callable[[], Result]) -> Result:
    """What is wrong with a statement by itself is reported with its place."""
    try:
        return check()
    except wire.ValidationException as error:
        raise not_taken(place, error.message) from None


def parse_all(params: Params) -> list[Statement]:
    return [
        check_statement(place, partial(parse_statement, request["Statement"]))
        for place, request in enumerate(params["TransactStatements"])
    ]


def only_reads(params: Params) -> bool:
    kinds = {statement.is_read for statement in parse_all(params)}
    if len(kinds) > 1:
        raise wire.ValidationException(MIXED)
    return kinds == {True}


def transact_read(database: Database, params: Params) -> Response:
    requests = params["TransactStatements"]
    gets: list[operations.Get] = []
    faults: dict[int, wire.DynamoDBError] = {}
    for place, request in enumerate(requests):
        try:
            gets.append(read_get(database, place, request))
        except wire.ResourceNotFoundException as error:
            faults[place] = error
        except wire.ValidationException as error:
            if error.message != KEY_MISMATCH:
                raise
            faults[place] = error
    if faults:
        raise operations.cancellation(faults, len(requests))
    return operations.get_all(database, gets, params)


def read_get(database: Database, place: int, request: Params) -> operations.Get:
    statement = parse_statement(request["Statement"])
    if isinstance(statement.body, Select) and statement.body.index is not None:
        raise not_taken(place, NO_INDEX)
    given = request.get("Parameters") or ()
    values = check_statement(place, partial(statement.bind, given))
    table = find_table(database, statement.body.table)
    plan = check_statement(place, partial(select_plan, statement.text, table))
    if not plan.by_key_alone:
        raise not_taken(place, SELECT_WANTED)
    key = {term.attribute: bind(term, values).operands[0] for term in plan.partitions[0]}
    if any(
        attribute.type not in key[attribute.name] for attribute in table.definition.key_attributes
    ):
        raise wire.ValidationException(KEY_MISMATCH)
    return operations.Get(statement.body.table, key, Expressions(projection=plan.projection))


def transact_write(database: Database, params: Params) -> Work[Response]:
    requests = params["TransactStatements"]
    parsed = parse_all(params)
    for place, statement in enumerate(parsed):
        if returns_attributes(statement):
            raise not_taken(place, NOTHING_RETURNED)
    actions = [
        read_write(statement, request, place)
        for place, (statement, request) in enumerate(zip(parsed, requests, strict=True))
    ]
    commit = operations.write_all(database, actions, params, operation="ExecuteTransaction")

    def work(transaction: Transaction) -> Response:
        # A write statement returns nothing, but has its place among the responses.
        return {"Responses": [{} for _ in actions], **commit(transaction)}

    return work
