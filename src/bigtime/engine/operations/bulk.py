"""StartBulkPutItems and related calls: put items from files in a bucket into an existing table.

The request records the job; the housekeeper runs it (`housekeeping.bulk_puts`), with the same rows
and steps as an import.

AWS: "Running a bulk put items operation", "Bulk put items considerations, quotas, and permissions"
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/BulkPutItems.Requesting.html
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/BulkPutItems.Considerations.html
The error messages are this engine's own: AWS documents none, and nobody has reported any.
"""

from __future__ import annotations

from typing import Final

from bigtime import wire
from bigtime.engine import storage
from bigtime.engine.operations import transfers
from bigtime.engine.operations.transact import MISMATCH
from bigtime.engine.storage import Database, Table, Transaction, Transfer, Work
from bigtime.formats import export_id
from bigtime.wire import Params, Response

MOST_AT_ONCE: Final = 50
OUTPUTS: Final = ("ERROR", "CONDITION_CHECK_FAILURE")
SUMMARY: Final = ("BulkOperationArn", "BulkOperationStatus", "StartTime", "EndTime")


def start_bulk_put_items(database: Database, params: Params) -> Work[Response]:
    check_request(params)
    name = database.table_name(params["TableName"])

    def work(transaction: Transaction) -> Response:
        conflict = wire.IdempotentParameterMismatchException(MISMATCH)
        transfer = transfers.find_replay(transaction, "bulk", params, conflict)
        if transfer is None:
            table = database.catalogue.table_for_writing(name)
            check_table(table)
            check_idle(transaction, name)
            transfers.check_running(transaction, "bulk", MOST_AT_ONCE, "bulk operations")
            transfer = new_bulk_put(database, transaction, table, params)
        return {"BulkOperationDescription": description(database, transfer)}

    return work


def check_request(params: Params) -> None:
    source, target = params["InputS3Configuration"], params["OutputS3Configuration"]
    transfers.check_input(source, "DYNAMODB_JSON")
    if "S3Bucket" not in target:
        raise wire.ValidationException("OutputS3Configuration must have an S3Bucket")
    if not target["OutputType"] or not set(target["OutputType"]).issubset(OUTPUTS):
        raise wire.ValidationException(
            f"OutputType must have one or both of the values {', '.join(OUTPUTS)}"
        )
    if "S3SseKmsKeyId" in target and target.get("S3SseAlgorithm") != "KMS":
        raise wire.ValidationException(
            "S3SseKmsKeyId can only be specified if S3SseAlgorithm is KMS"
        )


def check_table(table: Table) -> None:
    if table.definition.global_table:
        raise wire.ValidationException(
            "A bulk put items operation cannot be started on a table that is part of a global table"
        )
    if any(index.building for index in table.definition.all_indexes):
        raise wire.ResourceInUseException(
            f"A bulk put items operation cannot be started while an index is created: {table.name}"
        )


def check_idle(transaction: Transaction, name: str) -> None:
    """Rejects changes that are not allowed while a bulk operation writes to the table."""
    if storage.transfers_in_progress(transaction.connection, "bulk", name):
        raise wire.ResourceInUseException(
            f"There is a bulk put items operation in progress on the table: {name}"
        )


def new_bulk_put(
    database: Database, transaction: Transaction, table: Table, params: Params
) -> Transfer:
    source = params["InputS3Configuration"]
    given = {name: source[name] for name in ("S3Bucket", "S3KeyPrefix") if name in source}
    state = {
        # Where and how to read, in the form that an import stores.
        "asked": {"S3BucketSource": given, "InputFormat": source["InputFormat"]},
        "compression": source.get("InputCompressionType", "NONE"),
        "input": dict(source),
        "output": dict(params["OutputS3Configuration"]),
        "table_arn": database.table_arn(table.name),
        "table_id": table.definition.id,
        "tier": params.get("PerformanceTier", "STANDARD"),
    }
    if "MaxWriteRequestUnits" in params:
        state["units"] = params["MaxWriteRequestUnits"]
    arn = f"{database.table_arn(table.name)}/bulk-operation/{export_id(transaction.now)}"
    return transfers.begin(database, transaction, "bulk", params, table.name, arn, state)


def describe_bulk_operation(database: Database, params: Params) -> Response:
    found = transfers.find(database, "bulk", params["BulkOperationArn"], not_found(params))
    return {"BulkOperationDescription": description(database, found)}


def not_found(params: Params) -> wire.DynamoDBError:
    return wire.ResourceNotFoundException(
        f"Requested resource not found: Bulk operation: {params['BulkOperationArn']} not found"
    )


def list_bulk_operations(database: Database, params: Params) -> Response:
    limit = params.get("MaxResults", transfers.DEFAULT_LIST)
    summaries, token = transfers.page(database, "bulk", params, limit, description, SUMMARY)
    return {"BulkOperationsSummaryList": summaries, **token}


def cancel_bulk_operation(database: Database, params: Params) -> Work[Response]:
    arn = params["BulkOperationArn"]

    def work(transaction: Transaction) -> Response:
        found = storage.find_transfer(transaction.connection, "bulk", arn)
        if found is None:
            raise not_found(params)
        if found.status not in ("IN_PROGRESS", "CANCELLING"):
            raise wire.ValidationException(
                f"A bulk operation whose status is {found.status} cannot be cancelled"
            )
        storage.save_transfer(transaction, found._replace(status="CANCELLING"))
        return {"BulkOperationArn": arn, "BulkOperationStatus": "CANCELLING"}

    return work


def description(database: Database, transfer: Transfer) -> Response:
    state = transfer.state
    table = {"TableName": state["table_arn"], "TableId": state["table_id"]}
    response: Response = {
        "BulkOperationArn": transfer.arn,
        "BulkOperationStatus": transfer.status,
        "TableDetails": [table],
        "InputS3Configuration": state["input"],
        "OutputS3Configuration": state["output"],
        "ProcessedItemCount": state.get("processed", 0),
        "ProcessedInputBytes": state.get("bytes", 0),
        "FailedItemCount": state.get("errors", 0),
        "BulkOperationUsage": [usage(transfer)],
        "PerformanceTier": state["tier"],
    }
    if "total" in state:
        response["TotalInputBytes"] = state["total"]
    if "units" in state:
        response["MaxWriteRequestUnits"] = state["units"]
    return {**response, **transfers.common_description(transfer)}


def usage(transfer: Transfer) -> Response:
    """The bytes written to the table and to each of its indexes."""
    used = transfer.state.get("usage", {})
    own = used.get("Table", 0)
    response: Response = {
        "TableName": transfer.state["table_arn"],
        "Table": {"BulkPutBytes": own},
    }
    total = own
    for arm in ("LocalSecondaryIndexes", "GlobalSecondaryIndexes"):
        if arm in used:
            response[arm] = {name: {"BulkPutBytes": size} for name, size in used[arm].items()}
            total += sum(used[arm].values())
    if "VectorIndexes" in used:
        response["VectorIndexes"] = {
            name: {"BulkPutVectorBytes": size} for name, size in used["VectorIndexes"].items()
        }
    return {**response, "BulkPutBytes": total}
