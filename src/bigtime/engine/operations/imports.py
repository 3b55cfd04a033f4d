"""ImportTable, DescribeImport, ListImports: a new table from files in a bucket.

The request creates the table's SQL tables and records the job; the housekeeper runs it, file by
file, and at the end stores the table under its name. Until then the table is CREATING: it can be
described and listed, and no other operation finds it.

AWS: "DynamoDB data import from Amazon S3: how it works"
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/S3DataImport.HowItWorks.html
"""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import Final

from bigtime import wire
from bigtime.engine import storage
from bigtime.engine.operations import transfers
from bigtime.engine.operations.create_table import new_table
from bigtime.engine.operations.quotas import check_quotas
from bigtime.engine.operations.tables import check_new_name
from bigtime.engine.storage import Database, TableDefinition, Transaction, Transfer, Work
from bigtime.formats import export_id
from bigtime.wire import Params, Response

MOST_AT_ONCE: Final = 50
MEMBERS: Final = ("S3BucketSource", "InputFormat", "InputFormatOptions", "TableCreationParameters")
SUMMARY: Final = tuple(
    "ImportArn ImportStatus TableArn S3BucketSource CloudWatchLogGroupArn InputFormat StartTime "
    "EndTime".split()
)
CONFLICT: Final = f"Import conflict: {transfers.DUPLICATE}"


def import_table(database: Database, params: Params) -> Work[Response]:
    check_format(params)
    declared = new_table(params["TableCreationParameters"])

    def work(transaction: Transaction) -> Response:
        transfer = find_replay(database, transaction, params, declared.name)
        if transfer is None:
            check_new_name(database, transaction, declared.name)
            transfers.check_running(transaction, "import", MOST_AT_ONCE, "imports")
            check_quotas(database, declared)
            transfer = new_import(database, transaction, declared, params)
        return {"ImportTableDescription": description(database, transfer)}

    return work


def find_replay(
    database: Database, transaction: Transaction, params: Params, name: str
) -> Transfer | None:
    """The import that the token of a request has started already.

    Only another table is a conflict, and a table that exists is found first: DDB-IMPORT-017 of
    aws-controllers-k8s/dynamodb-controller. AWS documents that any other parameter is one.
    """
    if name in database.catalogue.tables_for_writing():
        raise wire.ResourceInUseException(f"Table already exists: {name}")
    known = transfers.find_by_token(transaction, "import", params)
    if known is not None and known.table_name != name:
        raise wire.ImportConflictException(CONFLICT)
    return known


def check_format(params: Params) -> None:
    transfers.check_input(params, "DYNAMODB_JSON or CSV")
    if params.get("InputFormatOptions", {}).get("Csv") and params["InputFormat"] != "CSV":
        raise wire.ValidationException(
            "Invalid Request: Unsupported InputFormatOptions for the given input format: "
            f"{params['InputFormat']}."
        )


def new_import(
    database: Database, transaction: Transaction, declared: TableDefinition, params: Params
) -> Transfer:
    definition = replace(declared, id=str(uuid.uuid4()), created_at=round(transaction.now, 3))
    arn = f"{database.table_arn(definition.name)}/import/{export_id(transaction.now)}"
    source = {"import": arn}
    table = storage.begin_restore(database.catalogue, transaction, definition, source)
    state = {
        "asked": {name: params[name] for name in MEMBERS if name in params},
        "compression": params.get("InputCompressionType", "NONE"),
        "definition": table.definition.to_json().decode(),
    }
    return transfers.begin(database, transaction, "import", params, table.name, arn, state)


def describe_import(database: Database, params: Params) -> Response:
    arn = params["ImportArn"]
    transfers.check_arn(database, arn, "import")
    missing = wire.ImportNotFoundException(f"Import not found: {arn}")
    found = transfers.find(database, "import", arn, missing)
    return {"ImportTableDescription": description(database, found)}


def list_imports(database: Database, params: Params) -> Response:
    limit = params.get("PageSize", transfers.DEFAULT_LIST)
    summaries, token = transfers.page(database, "import", params, limit, description, SUMMARY)
    return {"ImportSummaryList": summaries, **token}


def description(database: Database, transfer: Transfer) -> Response:
    state = transfer.state
    logs = f"arn:aws:logs:{database.region}:{database.account}:log-group:/aws-dynamodb/imports:*"
    response: Response = {
        "ImportArn": transfer.arn,
        "ImportStatus": transfer.status,
        "TableArn": database.table_arn(transfer.table_name),
        "TableId": storage.imported_definition(transfer).id,
        **state["asked"],
        "S3BucketSource": {"S3BucketOwner": database.account, **state["asked"]["S3BucketSource"]},
        "InputCompressionType": state["compression"],
        "CloudWatchLogGroupArn": logs,
        "ErrorCount": state.get("errors", 0),
        "ProcessedItemCount": state.get("processed", 0),
        "ImportedItemCount": state.get("imported", 0),
    }
    if "bytes" in state:
        response["ProcessedSizeBytes"] = state["bytes"]
    return {**response, **transfers.common_description(transfer)}
