"""ImportTable, DescribeImport, ListImports: a new table from files in a bucket.

The request makes the rows of the table and notes what to do; the housekeeper does it, file by
file, and at the end stores the table under its name. Until then the table is CREATING: it can be
described and listed, and nothing else finds it.

AWS: "DynamoDB data import from Amazon S3: how it works"
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/S3DataImport.HowItWorks.html
"""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import Final

from bigtime import wire
from bigtime.engine import storage
from bigtime.engine.operations import transfer_pages
from bigtime.engine.operations.create_table import new_table
from bigtime.engine.operations.tables import check_new_name
from bigtime.engine.storage import Database, Transaction, Transfer, Work
from bigtime.formats import export_id
from bigtime.wire import Params, Response

MOST_AT_ONCE: Final = 50
ASKED: Final = (
    "S3BucketSource",
    "InputFormat",
    "InputFormatOptions",
    "TableCreationParameters",
)
SUMMARY: Final = tuple(
    "ImportArn ImportStatus TableArn S3BucketSource CloudWatchLogGroupArn InputFormat StartTime "
    "EndTime".split()
)
CONFLICT: Final = (
    "There was a conflict when importing from the specified S3 source: an import with the same "
    "client token and other parameters was asked for in the last 8 hours"
)


def import_table(database: Database, params: Params) -> Work[Response]:
    check_format(params)
    declared = new_table(params["TableCreationParameters"])

    def work(transaction: Transaction) -> Response:
        known = transfer_pages.find_replay(transaction, "import", params)
        if known is not None:
            if known.state["digest"] != transfer_pages.request_digest(params):
                raise wire.ImportConflictException(CONFLICT)
            return {"ImportTableDescription": description(database, known)}
        check_new_name(database, transaction, declared.name)
        running = storage.transfers_in_progress(transaction.connection, "import")
        if len(running) >= MOST_AT_ONCE:
            raise wire.LimitExceededException(
                f"Subscriber limit exceeded: There is a limit of {MOST_AT_ONCE} concurrent imports"
            )
        definition = replace(declared, id=str(uuid.uuid4()), created_at=round(transaction.now, 3))
        arn = f"{database.table_arn(definition.name)}/import/{export_id(transaction.now)}"
        source = {"import": arn}
        table = storage.begin_restore(database.catalogue, transaction, definition, source)
        transfer = new_import(database, params, arn, table.definition, transaction.now)
        storage.add_transfer(transaction, transfer)
        return {"ImportTableDescription": description(database, transfer)}

    return work


def check_format(params: Params) -> None:
    if params["InputFormat"] == "ION":
        raise wire.ValidationException(
            "InputFormat ION (Amazon Ion) is not supported by this engine: use DYNAMODB_JSON or CSV"
        )
    if params.get("InputCompressionType") == "ZSTD":
        raise wire.ValidationException(
            "InputCompressionType ZSTD is not supported by this engine: use GZIP or NONE"
        )
    if params.get("InputFormatOptions", {}).get("Csv") and params["InputFormat"] != "CSV":
        raise wire.ValidationException(
            "InputFormatOptions.Csv can only be specified if InputFormat is CSV"
        )


def new_import(
    database: Database, params: Params, arn: str, table: storage.TableDefinition, now: float
) -> Transfer:
    state = {
        "asked": {name: params[name] for name in ASKED if name in params},
        "compression": params.get("InputCompressionType", "NONE"),
        "digest": transfer_pages.request_digest(params),
        "root": str(database.s3_folder),
        "definition": table.to_json().decode(),
    }
    token = params.get("ClientToken")
    return Transfer(arn, "import", table.name, "IN_PROGRESS", round(now, 3), token, state)


def describe_import(database: Database, params: Params) -> Response:
    with database.reading() as reader:
        found = storage.find_transfer(reader, "import", params["ImportArn"])
    if found is None:
        raise wire.ImportNotFoundException(f"Import not found: {params['ImportArn']}")
    return {"ImportTableDescription": description(database, found)}


def list_imports(database: Database, params: Params) -> Response:
    found, token = transfer_pages.page(
        database, "import", params, params.get("PageSize", transfer_pages.MOST_LISTED)
    )
    described = [description(database, transfer) for transfer in found]
    summaries = [{name: each[name] for name in SUMMARY if name in each} for each in described]
    return {"ImportSummaryList": summaries, **token}


def description(database: Database, transfer: Transfer) -> Response:
    state = transfer.state
    logs = f"arn:aws:logs:{database.region}:{database.account}:log-group:/aws-dynamodb/imports:*"
    response: Response = {
        "ImportArn": transfer.arn,
        "ImportStatus": transfer.status,
        "TableArn": database.table_arn(transfer.table_name),
        "TableId": storage.imported_definition(transfer).id,
        **({"ClientToken": transfer.token} if transfer.token else {}),
        **state["asked"],
        "InputCompressionType": state["compression"],
        "CloudWatchLogGroupArn": logs,
        "ErrorCount": state.get("errors", 0),
        "ProcessedItemCount": state.get("processed", 0),
        "ImportedItemCount": state.get("imported", 0),
        "StartTime": transfer.started_at,
    }
    if "bytes" in state:
        response["ProcessedSizeBytes"] = state["bytes"]
    return {**response, **transfer_pages.ending(transfer)}
