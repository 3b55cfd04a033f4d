"""Exports and bulk puts as they are listed and described; what is in one, recovery.py says."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from bigtime.wire import Params
from tests.reference.outcomes import Refusal
from tests.reference.settings_run import OWNER, AnyAnswer, Like, Settings, SettingsRun, table_arn

BUCKET = "bucket"
NO_EXPORT = f"{table_arn('alpha')}/export/01489173575360-b308cd7d"
NO_BULK = f"arn:aws:dynamodb:{OWNER}:table/alpha/bulk-operation/01489173575360-b308cd7d"
ENDED = Like("COMPLETED|COMPLETED_WITH_ERRORS|FAILED")
"""The bucket is empty: whether that is a failure, AWS does not say."""


def export(run: SettingsRun, dice: Random) -> None:
    """ "The table must have point in time recovery enabled"."""
    given, table = run.pick(dice)
    arn = table.arn if table else table_arn(given.rpartition("/")[2])
    refusal = export_refusal(table)
    seen = run.expect(
        refusal or AnyAnswer(), "ExportTableToPointInTime", TableArn=arn, S3Bucket=BUCKET
    )
    if seen:
        made = seen["ExportDescription"]
        foretold = (Like(f"{arn}/export/.+"), "IN_PROGRESS", run.now)
        shown = (made["ExportArn"], made["ExportStatus"], made["StartTime"])
        run.same("export", foretold, shown)
        run.exports[made["ExportArn"]] = arn


def export_refusal(table: Settings | None) -> Refusal | None:
    if table is None:
        return Refusal("TableNotFoundException")
    return None if table.window else Refusal("PointInTimeRecoveryUnavailableException")


def list_exports(run: SettingsRun, dice: Random) -> None:
    """All that were made, also of tables that are gone, or those of one table."""
    _, table = run.pick(dice)
    wanted = table.arn if table and dice.random() < 0.5 else None
    listed = run.pages(
        "ListExports",
        "ExportSummaries",
        "NextToken",
        "NextToken",
        dice.choice((1, 2, 25)),
        TableArn=wanted,
    )
    foretold = [
        {"ExportArn": arn, "ExportStatus": "COMPLETED", "ExportType": "FULL_EXPORT"}
        for arn, of_table in run.exports.items()
        if wanted in (None, of_table)
    ]
    run.same("exports", sorted(foretold, key=str), sorted(listed, key=str))


def describe_export(run: SettingsRun, dice: Random) -> None:
    arn = dice.choice([NO_EXPORT, *run.exports])
    if arn == NO_EXPORT:
        run.expect(Refusal("ExportNotFoundException"), "DescribeExport", ExportArn=arn)
        return
    seen = run.expect(AnyAnswer(), "DescribeExport", ExportArn=arn)["ExportDescription"]
    foretold = {"ExportArn": arn, "ExportStatus": "COMPLETED", "TableArn": run.exports[arn]}
    run.same("export", foretold, {name: seen[name] for name in foretold})


def put_in_bulk(run: SettingsRun, dice: Random) -> None:
    """Begins a bulk put, and cancels some of them at once: "This value is CANCELLING"."""
    given, table = run.pick(dice)
    asked: Params = {
        "TableName": given,
        "InputS3Configuration": {"S3Bucket": BUCKET, "InputFormat": "DYNAMODB_JSON"},
        "OutputS3Configuration": {"S3Bucket": BUCKET, "OutputType": ["ERROR"]},
    }
    if table is None:
        run.expect(Refusal("ResourceNotFoundException"), "StartBulkPutItems", **asked)
        return
    seen = run.expect(AnyAnswer(), "StartBulkPutItems", **asked)["BulkOperationDescription"]
    arn = seen["BulkOperationArn"]
    run.same("bulk put", "IN_PROGRESS", seen["BulkOperationStatus"])
    run.bulk_puts[arn] = ENDED
    if dice.random() < 0.5:
        foretold = {"BulkOperationArn": arn, "BulkOperationStatus": "CANCELLING"}
        run.expect(foretold, "CancelBulkOperation", BulkOperationArn=arn)
        run.bulk_puts[arn] = "CANCELLED"


def list_bulk_puts(run: SettingsRun, dice: Random) -> None:
    listed = run.pages(
        "ListBulkOperations",
        "BulkOperationsSummaryList",
        "NextToken",
        "NextToken",
        dice.choice((1, 2, 10)),
    )
    shown = {each["BulkOperationArn"]: each["BulkOperationStatus"] for each in listed}
    run.same("bulk puts", (run.bulk_puts, len(run.bulk_puts)), (shown, len(listed)))
    no_bulk = Refusal("ResourceNotFoundException")
    run.expect(no_bulk, "CancelBulkOperation", BulkOperationArn=NO_BULK)


STEPS: dict[str, Callable[[SettingsRun, Random], None]] = {
    "export": export,
    "list exports": list_exports,
    "describe export": describe_export,
    "put in bulk": put_in_bulk,
    "list bulk puts": list_bulk_puts,
}
