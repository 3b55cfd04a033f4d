"""PartiQL: ExecuteStatement, BatchExecuteStatement and ExecuteTransaction.

Whether such a request reads or writes depends on its statements.
"""

from collections.abc import Callable

from bigtime.engine.operations import Read
from bigtime.engine.partiql import batch, transaction
from bigtime.engine.partiql.batch import statement_response
from bigtime.engine.partiql.parser import parse_statement
from bigtime.engine.partiql.select import select
from bigtime.engine.partiql.statements import Statement
from bigtime.engine.partiql.subject import statement_action, statement_subject
from bigtime.engine.partiql.write import write
from bigtime.engine.storage import Database, Work
from bigtime.wire import Params, Response


def execute_read(database: Database, params: Params) -> Response:
    return select(database, parse_statement(params["Statement"]), params)


def execute_write(database: Database, params: Params) -> Work[Response]:
    return write(database, parse_statement(params["Statement"]), params)


READS: dict[str, tuple[Callable[[Params], bool], Read]] = {
    "ExecuteStatement": (
        lambda params: parse_statement(params["Statement"]).is_read, execute_read
    ),
    "BatchExecuteStatement": (batch.only_reads, batch.batch_read),
    "ExecuteTransaction": (transaction.only_reads, transaction.transact_read),
}

WRITES: dict[str, Callable[[Database, Params], Work[Response]]] = {
    "ExecuteStatement": execute_write,
    "BatchExecuteStatement": batch.batch_write,
    "ExecuteTransaction": transaction.transact_write,
}


def find_read(operation: str, params: Params) -> Read | None:
    """The function that answers a request of PartiQL whose statements only read."""
    only_reads, read = READS[operation]
    return read if only_reads(params) else None


def tables_read(operation: str, params: Params) -> list[str]:
    """The table named in each statement of a request; [] for any other operation."""
    members = {"BatchExecuteStatement": "Statements", "ExecuteTransaction": "TransactStatements"}
    if operation not in READS:
        return []
    requests = params[members[operation]] if operation in members else [params]
    parsed = (batch.read_statement(request["Statement"]) for request in requests)
    return [each.body.table if isinstance(each, Statement) else "" for each in parsed]


__all__ = [
    "WRITES", "find_read", "statement_action", "statement_response", "statement_subject",
    "tables_read",
]
