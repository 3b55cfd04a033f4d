"""ExportTableToPointInTime, DescribeExport, ListExports: export a table to files in a bucket.

The request finds the moment in the table's change log and pins it there; the housekeeper writes the
files. A full export has the items at one moment; an incremental one has what changed from one
moment to just before another, 15 minutes to 24 hours later.

A FilterSpecification selects what is exported. Its expressions are those of a Query or a Scan: a
key condition names one partition and may bound the sort key, a filter selects items, a projection
selects attributes. In an incremental export the filter applies to the latest image, or to the old
image of a deleted item.

AWS: "DynamoDB data export to Amazon S3: how it works", "Filtering a table export"
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/S3DataExport.HowItWorks.html
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/S3DataExport.Filtered.html
"""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

from bigtime import wire
from bigtime.engine import expressions, storage
from bigtime.engine.operations import transfers
from bigtime.engine.operations.continuous_backups import (
    find_moment,
    in_words,
    no_table,
    source_name,
)
from bigtime.engine.operations.key_rules import check_key_paths
from bigtime.engine.operations.page import Walk
from bigtime.engine.operations.query import check_filter_keys, check_terms, read_walk
from bigtime.engine.storage import Database, Moment, Table, Transaction, Transfer, Work
from bigtime.formats import export_id
from bigtime.wire import Item, Params, Response

MOST_AT_ONCE: Final = 300
SHORTEST_SECONDS: Final = 15 * 60.0
LONGEST_SECONDS: Final = 24 * 3600.0
MEMBERS: Final = (
    "S3Bucket",
    "S3BucketOwner",
    "S3Prefix",
    "S3SseAlgorithm",
    "S3SseKmsKeyId",
    "ExportType",
)
WINDOW: Final = "IncrementalExportSpecification"
FILTER: Final = "FilterSpecification"
SUMMARY: Final = ("ExportArn", "ExportStatus", "ExportType")
CONFLICT: Final = f"Export conflict: {transfers.DUPLICATE}"
NOT_TYPED: Final = (
    "Export Type expected to be Incremental Export when incremental export specification is "
    "provided"
)
NOT_FULL: Final = (
    "When Export Type is Full Export , Incremental Export Specification should not be provided"
)
NO_WINDOW: Final = (
    "Incremental Export Specification expected when export type is set as Incremental Export"
)
WRONG_TIME: Final = "Export Time is invalid"
# AWS: DDB-EXPORT-004 and DDB-EXPORT-005 of `transfers`.
TOO_EARLY: Final = "Incremental export period from time cannot be less than the table creation time"
TOO_LATE: Final = "Incremental export period to time cannot be greater than the current time"
NO_KEY: Final = "KMS Key Id is not supported for this encryption type"


def export_table_to_point_in_time(database: Database, params: Params) -> Work[Response]:
    check_request(database, params)
    name = source_name(database, params["TableArn"])

    def work(transaction: Transaction) -> Response:
        conflict = wire.ExportConflictException(CONFLICT)
        transfer = transfers.find_replay(transaction, "export", params, conflict)
        if transfer is None:
            if name not in database.catalogue.tables_for_writing():
                raise no_table(params["TableArn"])
            transfers.check_running(transaction, "export", MOST_AT_ONCE, "exports")
            transfer = new_export(database, transaction, name, params)
        return {"ExportDescription": description(database, transfer)}

    return work


def check_request(database: Database, params: Params) -> None:
    check_table_arn(database, params["TableArn"])
    if params.get("ExportFormat") == "ION":
        raise wire.ValidationException(
            "ExportFormat ION (Amazon Ion) is not supported by this engine: use DYNAMODB_JSON"
        )
    if "S3SseKmsKeyId" in params and params.get("S3SseAlgorithm") != "KMS":
        raise wire.ValidationException(f"Invalid Request: {NO_KEY}")
    is_incremental = params.get("ExportType") == "INCREMENTAL_EXPORT"
    if WINDOW in params and not is_incremental:
        raise wire.ValidationException(
            f"Invalid Request: {NOT_FULL if 'ExportType' in params else NOT_TYPED}"
        )
    if is_incremental and "ExportTime" in params:
        raise wire.ValidationException(
            f"ExportTime cannot be specified if ExportType is INCREMENTAL_EXPORT: use {WINDOW}"
        )
    if is_incremental and WINDOW not in params:
        raise wire.ValidationException(f"Invalid Request: {NO_WINDOW}")
    if is_incremental and "ExportFromTime" not in params[WINDOW]:
        raise wire.ValidationException(
            f"Invalid Request: ExportFromTime must be provided in {WINDOW}"
        )


def check_table_arn(database: Database, arn: str) -> None:
    """Rejects what is not a table ARN, or not this account's (DDB-EXPORT-001, DDB-EXPORT-002)."""
    if not arn:
        raise wire.ValidationException("Invalid TableArn: Invalid Table ARN")  # (DDB-TABLE-457)
    if not arn.startswith("arn:") or arn.count(":") < 5:
        raise wire.ValidationException(
            "One or more parameter values were invalid: tableArn is not a valid ARN"
        )
    if arn.split(":", 5)[5].count("/") > 1:
        raise wire.ValidationException("Invalid Request: Table ARN is invalid.")
    transfers.check_account(database, arn)


def new_export(database: Database, transaction: Transaction, name: str, params: Params) -> Transfer:
    incremental = params.get("ExportType") == "INCREMENTAL_EXPORT"
    if incremental:
        source = incremental_source(database, transaction, name, params[WINDOW])
    else:
        found, at = moment_of(database, transaction, name, params.get("ExportTime"))
        source = {"moment": list(found), "time": at}
    table = database.catalogue.tables_for_writing()[name]
    if FILTER in params:
        read_export_filter(table, params[FILTER])
        source["filter"] = params[FILTER]
    state = {
        "asked": {member: params[member] for member in MEMBERS if member in params},
        "type": "INCREMENTAL_EXPORT" if incremental else "FULL_EXPORT",
        "definition": table.definition.to_json().decode(),
        **source,
    }
    moment = Moment(*source["moment"])
    state["pins"] = [storage.pin(transaction, moment.log, moment.sequence)]
    arn = f"{database.table_arn(name)}/export/{export_id(transaction.now)}"
    return transfers.begin(database, transaction, "export", params, name, arn, state)


def incremental_source(
    database: Database, transaction: Transaction, name: str, window: Params
) -> dict[str, Any]:
    """The last change before the window and the last one in it; the window excludes its end."""
    start = float(window["ExportFromTime"])
    end = float(window.get("ExportToTime", transaction.now))
    if start < database.catalogue.tables_for_writing()[name].definition.created_at:
        raise wire.InvalidExportTimeException(f"{TOO_EARLY} : {in_words(start)}")
    if end > transaction.now:
        raise wire.InvalidExportTimeException(f"{TOO_LATE} : {in_words(end)}")
    if not SHORTEST_SECONDS <= end - start <= LONGEST_SECONDS:
        beyond = "less than 15 minutes" if end - start < SHORTEST_SECONDS else "more than 24 hours"
        raise wire.InvalidExportTimeException(
            f"Difference between export period from time and export period to time is {beyond}"
        )
    last, _ = moment_of(database, transaction, name, end)
    moment_of(database, transaction, name, start)
    before, until = (
        storage.sequence_at(transaction.connection, f"l{last.log}", math.nextafter(at, -math.inf))
        for at in (start, end)
    )
    view = window.get("ExportViewType", "NEW_AND_OLD_IMAGES")
    return {
        "moment": [last.table, last.log, before],
        "until": max(before, until),
        "window": {"ExportFromTime": start, "ExportToTime": end, "ExportViewType": view},
    }


def moment_of(
    database: Database, transaction: Transaction, name: str, at: float | None
) -> tuple[Moment, float]:
    try:
        source = find_moment(database, transaction, name, at)
    except wire.InvalidRestoreTimeException:
        raise wire.InvalidExportTimeException(WRONG_TIME) from None
    return source.moment, round(source.at, 6)


def describe_export(database: Database, params: Params) -> Response:
    arn = params["ExportArn"]
    transfers.check_arn(database, arn, "export")
    is_here = arn.startswith(f"arn:aws:dynamodb:{database.region}:")
    # DDB-EXPORT-006, where AWS's message repeats itself.
    reason = f"Export not found: {arn}" if is_here else "Invalid export arn"
    missing = wire.ExportNotFoundException(f"Export not found: {reason}")
    found = transfers.find(database, "export", arn, missing)
    return {"ExportDescription": description(database, found)}


def list_exports(database: Database, params: Params) -> Response:
    limit = params.get("MaxResults", transfers.DEFAULT_LIST)
    summaries, token = transfers.page(database, "export", params, limit, summary, SUMMARY)
    return {"ExportSummaries": summaries, **token}


def summary(database: Database, transfer: Transfer) -> Response:
    return {**description(database, transfer), "ExportType": transfer.state["type"]}


def description(database: Database, transfer: Transfer) -> Response:
    """An ExportDescription; a full export requested without a type has none (DDB-EXPORT-017)."""
    state = transfer.state
    response: Response = {
        "ExportArn": transfer.arn,
        "ExportStatus": transfer.status,
        "TableArn": database.table_arn(transfer.table_name),
        "TableId": storage.imported_definition(transfer).id,
        "S3SseAlgorithm": "AES256",
        **state["asked"],
        "ExportFormat": "DYNAMODB_JSON",
    }
    if "window" in state:
        response["ExportType"] = state["type"]
        response[WINDOW] = state["window"]
    else:
        response["ExportTime"] = state["time"]
    for member, name in (
        (FILTER, "filter"),
        ("ExportManifest", "manifest"),
        ("BilledSizeBytes", "size"),
        ("ItemCount", "items"),
    ):
        if name in state:
            response[member] = state[name]
    return {**response, **transfers.common_description(transfer)}


# --- Filters --------------------------------------------------------------------------------

EXPRESSIONS: Final = ("ProjectionExpression", "FilterExpression", "KeyConditionExpression")


class ExportFilter(NamedTuple):
    """The rows and the attributes to export; None means all."""

    walk: Walk | None
    parsed: expressions.Expressions

    def takes(self, partition: bytes, sort: bytes, item: Item) -> bool:
        if self.walk is not None:
            low, high = self.walk.sorts
            if partition != self.walk.partition or (low is not None and sort < low):
                return False
            if high is not None and sort >= high:
                return False
        return self.parsed.filter is None or self.parsed.filter(item)

    def project(self, item: Item) -> Item:
        return item if self.parsed.projection is None else self.parsed.projection(item)


def read_export_filter(table: Table, specification: Params) -> ExportFilter:
    """The parsed filter; raises the error that a Query with these expressions would."""
    expressions.check_parameters(specification, expressions=EXPRESSIONS, legacy=())
    if not any(name in specification for name in EXPRESSIONS):
        raise wire.ValidationException(
            "Invalid Request: Invalid FilterSpecification: The specification can not be empty"
        )
    parsed = expressions.read_expressions(specification)
    walk = None
    if parsed.key_condition is not None:
        terms = {term.attribute: term for term in parsed.key_condition}
        check_terms(terms, None, table, None)
        walk = read_walk(table, None, terms)
        check_filter_keys(table, None, parsed, specification)
    check_key_paths(table, parsed)
    return ExportFilter(walk, parsed)
