"""BatchExecuteStatement: up to 25 independent statements, each on one item.

A statement that fails has its error in its place among the responses; the others still run.

AWS: "Running batch operations with PartiQL for DynamoDB", "BatchStatementError"
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ql-reference.multiplestatements.batching.html
https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchStatementError.html
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from bigtime import wire
from bigtime.engine import operations
from bigtime.engine.partiql.compiler import select_plan
from bigtime.engine.partiql.parser import parse_statement
from bigtime.engine.partiql.select import find_table, select
from bigtime.engine.partiql.statements import Statement
from bigtime.engine.partiql.write import write
from bigtime.engine.storage import Database, Transaction, Work
from bigtime.wire import Params, Response

Result = TypeVar("Result")

# AWS's page has the rule; the message is not known.
MIXED = "A batch must consist of either read statements or write statements"
# AWS's message for a read of an index, too. (Seen: https://github.com/floci-io/floci/pull/2953)
KEY_WANTED = (
    "Select statements within BatchExecuteStatement must specify the primary key "
    "in the where clause."
)


def read_statement(text: str) -> Statement | wire.DynamoDBError:
    """The parsed statement, or its error, which does not affect the other statements."""
    try:
        return parse_statement(text)
    except wire.ValidationException as error:
        return error


def only_reads(params: Params) -> bool:
    parsed = [read_statement(request["Statement"]) for request in params["Statements"]]
    kinds = {statement.is_read for statement in parsed if isinstance(statement, Statement)}
    if len(kinds) > 1:
        raise wire.ValidationException(MIXED)
    return kinds != {False}


def batch_read(database: Database, params: Params) -> Response:
    outcomes = [attempt(partial(read_item, database, request)) for request in requests(params)]
    return batch_response(params, outcomes)


def read_item(database: Database, request: Params) -> Response:
    statement = parse_statement(request["Statement"])
    try:
        return select_item(database, statement, request)
    except (wire.ResourceNotFoundException, wire.ValidationException):
        # Another process may have created or changed the table since the last refresh.
        if not database.catalogue.refresh():
            raise
        return select_item(database, statement, request)


def select_item(database: Database, statement: Statement, request: Params) -> Response:
    table = find_table(database, statement.body.table)
    if not select_plan(statement.text, table).by_key_alone:
        raise wire.ValidationException(KEY_WANTED)
    return select(database, statement, request)


def batch_write(database: Database, params: Params) -> Work[Response]:
    works = [attempt(partial(write_item, database, request)) for request in requests(params)]

    def work(transaction: Transaction) -> Response:
        outcomes = [
            prepared
            if isinstance(prepared, wire.DynamoDBError)
            else attempt(partial(prepared, transaction))
            for prepared in works
        ]
        return batch_response(params, outcomes)

    return work


def write_item(database: Database, request: Params) -> Work[Response]:
    return write(database, parse_statement(request["Statement"]), request)


def requests(params: Params) -> list[Params]:
    """Each statement as a separate request."""
    mode = operations.mode_of(params)
    asked = {"ReturnConsumedCapacity": mode} if mode else {}
    return [{**request, **asked} for request in params["Statements"]]


def attempt(run: Callable[[], Result]) -> Result | wire.DynamoDBError:
    try:
        return run()
    except wire.SerializationException:
        raise  # invalid JSON fails the batch: BatchStatementError has no code for it
    except wire.DynamoDBError as error:
        return error


def batch_response(params: Params, outcomes: list[Response | wire.DynamoDBError]) -> Response:
    pairs = zip(params["Statements"], outcomes, strict=True)
    answer: Response = {
        "Responses": [statement_response(request["Statement"], each) for request, each in pairs]
    }
    if operations.mode_of(params):
        done = [each for each in outcomes if not isinstance(each, wire.DynamoDBError)]
        answer["ConsumedCapacity"] = operations.capacity_by_table(
            each["ConsumedCapacity"] for each in done
        )
    return answer


def reached_table(outcome: Response | wire.DynamoDBError) -> bool:
    """Whether AWS names the table: not where the statement is invalid or has no table.

    (Seen on AWS: https://github.com/floci-io/floci/pull/3798)
    """
    return not isinstance(outcome, wire.ResourceNotFoundException | wire.ValidationException)


def statement_response(text: str, outcome: Response | wire.DynamoDBError) -> Response:
    shown: Response = {}
    statement = read_statement(text)
    if isinstance(statement, Statement) and reached_table(outcome):
        shown["TableName"] = statement.body.table
    if isinstance(outcome, wire.DynamoDBError):
        shown["Error"] = operations.reason(outcome)
    elif outcome["Items"]:
        (shown["Item"],) = outcome["Items"]
    return shown
