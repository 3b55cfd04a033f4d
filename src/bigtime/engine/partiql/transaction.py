"""ExecuteTransaction: up to 100 statements, all or none of which take effect.

Reads run as a TransactGetItems, writes as a TransactWriteItems where EXISTS is a ConditionCheck.

AWS: "Performing transactions with PartiQL for DynamoDB"
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ql-reference.multiplestatements.transactions.html
"""

from __future__ import annotations

from bigtime import wire
from bigtime.engine import operations
from bigtime.engine.expressions import Expressions
from bigtime.engine.partiql.compiler import KEY_WANTED, select_plan
from bigtime.engine.partiql.parser import parse_statement
from bigtime.engine.partiql.select import bind, find_table
from bigtime.engine.partiql.statements import Delete, Select, Statement, Update
from bigtime.engine.partiql.write import read_write
from bigtime.engine.storage import Database, Transaction, Work
from bigtime.wire import Params, Response

# Seen by the tests of a driver. (https://github.com/passren/PyDynamoDB)
MIXED = (
    "ExecuteTransaction API does not support both read and write operations in the same request."
)
# Seen on AWS: https://github.com/paritysuite/dynamodb-conformance
NOTHING_RETURNED = "RETURNING clause is not supported in ExecuteTransaction."
NO_INDEX = "Reads on indices are not supported within transactions."


def returns_attributes(statement: Statement) -> bool:
    body = statement.body
    return isinstance(body, Update | Delete) and body.returning != "NONE"


def not_taken(place: int, reason: str) -> wire.ValidationException:
    return wire.ValidationException(f"Validation failed in TransactStatements[{place}]: {reason}")


def only_reads(params: Params) -> bool:
    kinds = {parse_statement(each["Statement"]).is_read for each in params["TransactStatements"]}
    if len(kinds) > 1:
        raise wire.ValidationException(MIXED)
    return kinds == {True}


def transact_read(database: Database, params: Params) -> Response:
    requests = params["TransactStatements"]
    gets = [read_get(database, place, request) for place, request in enumerate(requests)]
    return operations.get_all(database, gets, params)


def read_get(database: Database, place: int, request: Params) -> operations.Get:
    statement = parse_statement(request["Statement"])
    if isinstance(statement.body, Select) and statement.body.index is not None:
        raise not_taken(place, NO_INDEX)
    values = statement.bind(request.get("Parameters") or ())
    plan = select_plan(statement.text, find_table(database, statement.body.table))
    if not plan.exact:
        raise wire.ValidationException(KEY_WANTED)
    key = {term.attribute: bind(term, values).operands[0] for term in plan.partitions[0]}
    expressions = Expressions(
        filter=plan.filter.bind(values) if plan.filter else None, projection=plan.projection
    )
    return operations.Get(statement.body.table, key, expressions)


def transact_write(database: Database, params: Params) -> Work[Response]:
    parsed = [parse_statement(each["Statement"]) for each in params["TransactStatements"]]
    for place, statement in enumerate(parsed):
        if returns_attributes(statement):
            raise not_taken(place, NOTHING_RETURNED)
    actions = [
        read_write(statement, request)
        for statement, request in zip(parsed, params["TransactStatements"], strict=True)
    ]
    commit = operations.write_all(database, actions, params, operation="ExecuteTransaction")

    def work(transaction: Transaction) -> Response:
        # A write statement returns nothing, but has its place among the responses.
        return {"Responses": [{} for _ in actions], **commit(transaction)}

    return work
