"""Requests under the faults `stale_reads` and `enforce_throughput`.

What a read consumes is known only once it is done; rejecting it then is safe, since it changed
nothing. A write is rejected when it is planned, before it is applied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeAlias

from bigtime import wire
from bigtime.engine.operations.capacity import ConsumedCapacity, mode_of
from bigtime.engine.operations.write import Plan
from bigtime.engine.storage import Database, Draft
from bigtime.wire import Params, Response

Read: TypeAlias = Callable[[Database, Params], Response]
Lack: TypeAlias = wire.ProvisionedThroughputExceededException | None
"""The error that rejects a request or a part of it; None if there is capacity for it."""

READS: Final = frozenset(
    "GetItem Query Scan BatchGetItem TransactGetItems ExecuteStatement BatchExecuteStatement "
    "ExecuteTransaction".split()
)
DETAILS: Final = ("Table", "LocalSecondaryIndexes", "GlobalSecondaryIndexes")


# --- Reads ------------------------------------------------------------------------------------


def read_with_faults(
    database: Database, params: Params, *, operation: str, read: Read, tables: Sequence[str] = ()
) -> Response:
    """Answers a read with the faults applied; `tables` are those of its statements, in order."""
    if operation not in READS:
        return read(database, params)
    source = database.lagging_copy() if may_be_stale(database, operation, params) else database
    buckets = database.faults.buckets
    if buckets is None:
        return read(source, params)
    response = read(source, {**params, "ReturnConsumedCapacity": "INDEXES"})
    used = response.pop("ConsumedCapacity", [])
    listed = used if isinstance(used, list) else [used]
    drafts = {each["TableName"]: read_draft(database, each) for each in listed}
    problems = {name: buckets.lack(draft) for name, draft in drafts.items()}
    if tables or operation == "TransactGetItems":
        names = tables or [entry["Get"]["TableName"] for entry in params["TransactItems"]]
        refuse_parts(operation, names, response, problems)
    else:
        refuse_read(operation, params, response, problems)
    for name, draft in drafts.items():
        if problems[name] is None:
            buckets.draw(draft)
    if mode := mode_of(params):
        shown = [in_mode(each, mode) for each in listed]
        response["ConsumedCapacity"] = shown if isinstance(used, list) else shown[0]
    return response


def may_be_stale(database: Database, operation: str, params: Params) -> bool:
    """Whether the whole read may be eventually consistent; a transaction's may not."""
    if database.faults.read_lag.seconds is None:
        return False
    parts: Iterable[Params] = [params]
    match operation:
        case "TransactGetItems" | "ExecuteTransaction":
            return False
        case "BatchGetItem":
            parts = params["RequestItems"].values()
        case "BatchExecuteStatement":
            parts = params["Statements"]
    return not any(part.get("ConsistentRead") for part in parts)


def read_draft(database: Database, used: Response) -> Draft:
    table = database.catalogue.table(used["TableName"])
    of_indexes = {
        name: each["CapacityUnits"] for name, each in used.get("GlobalSecondaryIndexes", {}).items()
    }
    units = used["CapacityUnits"] - sum(of_indexes.values())
    arn = database.table_arn(table.name)
    return Draft(table.definition, arn, "read", units, of_indexes)


def refuse_read(
    operation: str, params: Params, response: Response, problems: dict[str, Lack]
) -> None:
    """Raises AWS's error; in a batch, only tables over their throughput are left unprocessed."""
    lacking = {name: problem for name, problem in problems.items() if problem is not None}
    if not lacking:
        return
    problem = next(iter(lacking.values()))
    if operation != "BatchGetItem" or len(lacking) == len(problems):
        raise problem
    for name in lacking:
        response["Responses"][name] = []
        response["UnprocessedKeys"][name] = params["RequestItems"][name]


def refuse_parts(
    operation: str, tables: Sequence[str], response: Response, problems: dict[str, Lack]
) -> None:
    """Cancels a transaction, or rejects a statement; in a batch, only those over throughput."""
    reasons = [reason(problems.get(name)) for name in tables]
    if not any("Message" in each for each in reasons):
        return
    if operation == "BatchExecuteStatement":
        for place, (name, each) in enumerate(zip(tables, reasons, strict=True)):
            if "Message" in each:
                response["Responses"][place] = {"TableName": name, "Error": each}
    elif operation == "ExecuteStatement":
        refuse_read(operation, {}, response, problems)
    else:
        raise wire.TransactionCanceledException(reasons)


def in_mode(used: Response, mode: str) -> Response:
    hidden = DETAILS if mode == "TOTAL" else ()
    return {name: value for name, value in used.items() if name not in hidden}


def reason(error: wire.DynamoDBError | None) -> Response:
    """A CancellationReason or BatchStatementError; all codes but one are the errors' names."""
    if error is None:
        return {"Code": "None"}
    code = error.code.removesuffix("Exception")
    shown: Response = {
        "Code": "ValidationError" if code == "Validation" else code,
        "Message": error.message,
    }
    if isinstance(error, wire.ConditionalCheckFailedException) and error.item is not None:
        shown["Item"] = error.item
    return shown


# --- Writes -----------------------------------------------------------------------------------


def lacks_of_writes(
    database: Database, plans: Sequence[Plan], *, transactional: bool = False
) -> list[Lack]:
    """AWS's error for each write over its throughput; the other writes use up their capacity.

    In a transaction, no write uses any if one is over.
    """
    buckets = database.faults.buckets
    assert buckets is not None
    lacks: list[Lack] = []
    drafts: list[Draft] = []
    for plan in plans:
        used = ConsumedCapacity("")
        used.add_write(plan, transactional=transactional)
        units = used.table + sum(used.local_indexes.values())
        definition = plan.write.table.definition
        arn = database.table_arn(definition.name)
        draft = Draft(definition, arn, "write", units, used.global_indexes)
        lacks.append(buckets.lack(draft))
        if lacks[-1] is None and not transactional:
            buckets.draw(draft)
        drafts.append(draft)
    if transactional and not any(lacks):
        for draft in drafts:
            buckets.draw(draft)
    return lacks


def admit_write(database: Database, plan: Plan) -> None:
    (problem,) = lacks_of_writes(database, [plan])
    if problem is not None:
        raise problem


def admit_some(database: Database, plans: Sequence[Plan]) -> list[Lack]:
    """As `lacks_of_writes`, but raises if no write of the batch is left.

    AWS: "BatchWriteItem": "If none of the items can be processed due to insufficient provisioned
    throughput on all of the tables in the request, then BatchWriteItem returns a
    ProvisionedThroughputExceededException."
    """
    lacks = lacks_of_writes(database, plans)
    if lacks and all(lacks) and lacks[0]:
        raise lacks[0]
    return lacks


def admit_transaction(database: Database, plans: Sequence[Plan]) -> None:
    lacks = lacks_of_writes(database, plans, transactional=True)
    if any(lacks):
        raise wire.TransactionCanceledException([reason(problem) for problem in lacks])
