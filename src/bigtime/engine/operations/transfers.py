"""What exports, imports and bulk puts share: client tokens, limits, list pagination.

Messages that AWS does not document are those that others have received from AWS:
https://github.com/scylladb/scylladb/pull/29924 (exports), .../pull/31619 (imports), and
https://github.com/aws-controllers-k8s/dynamodb-controller (docs/api-quirks: export.md, import.md)
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Sequence
from typing import Any, Final, Literal

from bigtime import wire
from bigtime.engine import storage
from bigtime.engine.operations.transact import request_digest
from bigtime.engine.storage import Database, Transaction, Transfer, TransferKind
from bigtime.wire import Params, Response

TOKEN_SECONDS: Final = 8 * 3600.0
DEFAULT_LIST: Final = 10
DUPLICATE: Final = "Duplicate request detected with conflicting parameters"
# Hexadecimal digits, at least 112 and a multiple of 16. AWS: "ListImports", NextToken
# https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_ListImports.html
TOKEN_BYTES: Final = 56


def find_replay(
    transaction: Transaction, kind: TransferKind, params: Params, conflict: wire.DynamoDBError
) -> Transfer | None:
    """The transfer that the same request with the same token started within the last 8 hours.

    A different request with that token raises `conflict`.
    """
    known = find_by_token(transaction, kind, params)
    if known is not None and known.state["digest"] != request_digest(params).hex():
        raise conflict
    return known


def find_by_token(transaction: Transaction, kind: TransferKind, params: Params) -> Transfer | None:
    """The transfer that a request with the same token started within the last 8 hours."""
    token = params.get("ClientToken")
    if not token:
        return None
    since = transaction.settled - TOKEN_SECONDS
    return storage.find_by_token(transaction.connection, kind, token, since)


def check_input(given: Params, formats: str) -> None:
    if given["InputFormat"] == "ION":
        raise wire.ValidationException(
            f"InputFormat ION (Amazon Ion) is not supported by this engine: use {formats}"
        )
    if given.get("InputCompressionType") == "ZSTD":
        raise wire.ValidationException(
            "InputCompressionType ZSTD is not supported by this engine: use GZIP or NONE"
        )


def check_running(transaction: Transaction, kind: TransferKind, most: int, noun: str) -> None:
    if len(storage.transfers_in_progress(transaction.connection, kind)) >= most:
        raise wire.LimitExceededException(
            f"Subscriber limit exceeded: There is a limit of {most} concurrent {noun}"
        )


def begin(
    database: Database,
    transaction: Transaction,
    kind: TransferKind,
    params: Params,
    table_name: str,
    arn: str,
    state: dict[str, Any],
) -> Transfer:
    """Records the job for the housekeeper."""
    common = {"digest": request_digest(params).hex(), "root": str(database.s3_folder)}
    started_at, token = round(transaction.now, 3), params.get("ClientToken") or str(uuid.uuid4())
    state = {**common, **state}
    transfer = Transfer(arn, kind, table_name, "IN_PROGRESS", started_at, token, state)
    storage.add_transfer(transaction, transfer)
    return transfer


def check_account(database: Database, arn: str) -> None:
    if arn.split(":")[4] != database.account:
        raise wire.AccessDeniedException("Access is denied")


def check_arn(database: Database, arn: str, kind: Literal["export", "import"]) -> None:
    """Rejects an ARN that is not of an export or import, whether or not it exists."""
    if not re.fullmatch(rf"arn:[^:]+:dynamodb:[^:]*:[^:]*:table/[\w.-]{{3,255}}/{kind}/.+", arn):
        raise wire.ValidationException(f"Invalid {kind.title()} ARN")
    check_account(database, arn)


def find(database: Database, kind: TransferKind, arn: str, missing: wire.DynamoDBError) -> Transfer:
    with database.reading() as reader:
        found = storage.find_transfer(reader, kind, arn)
    if found is None:
        raise missing
    return found


def page(
    database: Database,
    kind: TransferKind,
    params: Params,
    limit: int,
    describe: Callable[[Database, Transfer], Response],
    members: Sequence[str],
) -> tuple[list[Response], Response]:
    """One page of summaries, newest first, and the NextToken if there are more.

    Exports are listed "in reverse alphanumeric order of ExportArn", of ListExports; the list of
    one table leaves out those of a deleted one of its name, replaced or not (DDB-EXPORT-020).
    """
    name = params.get("TableArn")
    table_name = None if name is None else database.table_name(name)
    since = database.clock() - storage.LISTED_SECONDS
    with database.reading() as reader:
        found = storage.list_transfers(reader, kind, table_name, since)
    if kind == "export":
        found.sort(key=lambda transfer: transfer.arn, reverse=True)
        if table_name is not None:
            found = [transfer for transfer in found if is_of_table(database, transfer)]
    if "NextToken" in params:
        found = rest_after(found, params["NextToken"])
    described = [describe(database, transfer) for transfer in found[:limit]]
    summaries = [{name: each[name] for name in members if name in each} for each in described]
    is_last = len(found) <= limit
    return summaries, {} if is_last else {"NextToken": next_token(found[limit - 1].arn)}


def is_of_table(database: Database, transfer: Transfer) -> bool:
    database.catalogue.refresh()
    table = database.catalogue.tables.get(transfer.table_name)
    return table is not None and table.definition.id == storage.imported_definition(transfer).id


def rest_after(found: list[Transfer], token: str) -> list[Transfer]:
    try:
        last = bytes.fromhex(token).decode().strip()
    except ValueError:
        last = ""
    arns = [transfer.arn for transfer in found]
    if last not in arns:
        raise wire.ValidationException(f"Invalid Request: Provided nextToken is invalid: {token}")
    return found[arns.index(last) + 1 :]


def next_token(arn: str) -> str:
    length = max(TOKEN_BYTES, -(-len(arn) // 8) * 8)
    return arn.ljust(length).encode().hex()


def common_description(transfer: Transfer) -> Response:
    """Its token, its start and end times, and the reason if it failed."""
    state = transfer.state
    response: Response = {"StartTime": transfer.started_at}
    if transfer.token:  # transfers of earlier versions may have none
        response["ClientToken"] = transfer.token
    if "ended_at" in state:
        response["EndTime"] = state["ended_at"]
    if "failure" in state:
        response["FailureCode"], response["FailureMessage"] = state["failure"]
    return response
