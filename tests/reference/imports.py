"""Imports: the table that one makes, what can be done with it meanwhile, and how it ends.

What is not in AWS's documentation was measured of AWS by others: an import with an error is
FAILED with ItemValidationError and keeps the table with the rest, one from a bucket that is not
there leaves none (scylladb/scylladb#31619, test/alternator/test_import.py).
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from bigtime.wire import Params
from tests.reference import transfer_run
from tests.reference.outcomes import Refusal
from tests.reference.settings_run import (
    OWNER,
    TABLES,
    AnyAnswer,
    Like,
    Settings,
    Size,
    declaration,
    has_sort_key,
    table_arn,
)
from tests.reference.sources import BUCKET, NO_BUCKET, Source, write_source
from tests.reference.transfer_run import (
    INVALID,
    TOKEN_SECONDS,
    Job,
    Kind,
    Maybe,
    TransferRun,
    ask_again,
    present,
)

IMPORT = Kind(
    start="ImportTable",
    describe="DescribeImport",
    description="ImportTableDescription",
    arn="ImportArn",
    status="ImportStatus",
    path="import",
    absent=Refusal("ImportNotFoundException"),
    # The one is documented with the parameter, the other with the operation.
    conflict=Refusal("ImportConflictException or IdempotentParameterMismatchException"),
    malformed=Refusal("ValidationException", "Invalid Import ARN"),
    list="ListImports",
    summaries="ImportSummaryList",
    size="PageSize",
)
SUMMARY = (
    "ImportArn ImportStatus TableArn S3BucketSource CloudWatchLogGroupArn InputFormat StartTime"
    " EndTime"
)
LOG = f"arn:aws:logs:{OWNER}:log-group:/aws-dynamodb/imports:*"
ACCOUNT = OWNER.rpartition(":")[2]
FAULTY = "Some of the items failed validation checks and were not imported."
CHANGES: tuple[Params, ...] = (
    {"InputCompressionType": "GZIP", "InputFormatOptions": None},
    {"S3BucketSource": {"S3Bucket": "another"}},
    {"TableCreationParameters": {**declaration("alpha"), "TableName": "another"}},
)
IN_USE = Refusal("ResourceInUseException")
TAG = {"Key": "a", "Value": "b"}
UNAVAILABLE = Refusal("ContinuousBackupsUnavailableException")
ABSENT = Refusal("ResourceNotFoundException", "Requested resource not found")


def import_table(run: TransferRun, dice: Random) -> None:
    asked = ask_again(run, dice, IMPORT) or request(run, dice)
    job = begin(run, asked)
    if job is None:
        return
    for _ in range(dice.randrange(3)):
        dice.choice(MEANWHILE)(run, dice, job)
    finish(run, job)


def request(run: TransferRun, dice: Random) -> Params:
    absent = [name for name in TABLES if name not in run.tables]
    name = dice.choice(absent if absent and dice.random() < 0.8 else TABLES)
    source = choose_source(run, dice, name)
    return {
        "ClientToken": run.new_token(),
        "S3BucketSource": source.place,
        "InputFormat": source.format,
        **({"InputFormatOptions": source.options} if source.options else {}),
        **(
            {"InputCompressionType": source.compression}
            if source.compression != "NONE" or dice.random() < 0.5
            else {}
        ),
        "TableCreationParameters": creation(name),
    }


def choose_source(run: TransferRun, dice: Random, table: str) -> Source:
    """New files, or what was exported of a table with the same key."""
    exported = [
        source
        for prefix, source in run.sources.items()
        if "AWSDynamoDB" in prefix
        and all(("s" in item) is has_sort_key(table) for item in source.items)
    ]
    if exported and dice.random() < 0.3:
        return dice.choice(exported)
    prefix = f"in-{len(run.history)}/"
    source = write_source(
        run.folder, dice, prefix, has_sort_key=has_sort_key(table), into_table=False
    )
    run.sources[prefix] = source
    return source


def creation(name: str) -> Params:
    """ImportTable makes no local indexes."""
    declared = declaration(name)
    return {key: value for key, value in declared.items() if key != "LocalSecondaryIndexes"}


def begin(run: TransferRun, asked: Params) -> Job | None:
    name = asked["TableCreationParameters"]["TableName"]
    told: Params | Refusal
    if name in run.tables:
        told = Refusal("ResourceInUseException", f"Table already exists: {name}")
    else:
        told = foretold(run, asked, table_arn(name))
    return run.start(IMPORT, asked, told, name, SUMMARY)


def foretold(run: TransferRun, asked: Params, table: str) -> Params:
    return {
        "ImportArn": Like(f"{table}/import/.+"),
        "ImportStatus": "IN_PROGRESS",
        "TableArn": table,
        "TableId": Like(".+"),
        "InputCompressionType": "NONE",
        **asked,
        "S3BucketSource": {"S3BucketOwner": ACCOUNT, **asked["S3BucketSource"]},
        "ErrorCount": 0,
        "ProcessedItemCount": 0,
        "ImportedItemCount": 0,
        "CloudWatchLogGroupArn": LOG,
        "StartTime": run.now,
    }


# --- While it runs -----------------------------------------------------------------------------


def look(run: TransferRun, dice: Random, job: Job) -> None:
    run.check(job)
    about = run.expect(AnyAnswer(), "DescribeTable", TableName=job.table)["Table"]
    creating = ("CREATING", job.told["TableId"])
    run.same("table", creating, (about["TableStatus"], about["TableId"]))
    listed = run.expect(AnyAnswer(), "ListTables")["TableNames"]
    run.same("tables", sorted([*run.tables, job.table]), sorted(listed))


def repeat(run: TransferRun, dice: Random, job: Job) -> None:
    """Seen on AWS: a changed source is ignored under the same token, another table is a conflict.

    A table that exists is found first (DDB-IMPORT-017 of aws-controllers-k8s/dynamodb-controller);
    the API reference says that any changed parameter is a conflict.
    """
    changes = dice.choice(({}, *CHANGES))
    asked = {name: value for name, value in {**job.asked, **changes}.items() if value is not None}
    if "TableCreationParameters" in changes:
        run.expect(IMPORT.conflict, "ImportTable", **asked)
    elif job.table in run.tables:
        exists = Refusal("ResourceInUseException", f"Table already exists: {job.table}")
        run.expect(exists, "ImportTable", **asked)
    else:
        seen = run.expect(AnyAnswer(), "ImportTable", **asked)[IMPORT.description]
        run.same(IMPORT.description, present(job.told, seen), seen)


def repeat_any(run: TransferRun, dice: Random) -> None:
    if known := run.of_kind(IMPORT, most=TOKEN_SECONDS):
        repeat(run, dice, dice.choice(known))


def use_table(run: TransferRun, dice: Random, job: Job) -> None:
    """Its name is taken, and it is not there yet."""
    name = {"TableName": job.table}
    item = {"p": {"S": "a"}, "s": {"S": "x"}}
    exists = Refusal("ResourceInUseException", f"Table already exists: {job.table}")
    # Seen on AWS: DDB-TABLE-005 and -444 of aws-controllers-k8s/dynamodb-controller.
    in_use = "Attempt to change a resource which is still in use: Table is being created: "
    created = Refusal("ResourceInUseException", in_use + job.table)
    arn = table_arn(job.table)
    keep = {"PointInTimeRecoveryEnabled": True}
    expire = {"Enabled": True, "AttributeName": "expires"}
    requests: tuple[tuple[Refusal, str, Params], ...] = (
        (created, "CreateTable", declaration(job.table)),
        (exists, "ImportTable", {**job.asked, "ClientToken": run.new_token()}),
        (IN_USE, "DeleteTable", name),
        (IN_USE, "UpdateTable", {**name, "DeletionProtectionEnabled": True}),
        (IN_USE, "UpdateTimeToLive", {**name, "TimeToLiveSpecification": expire}),
        (
            UNAVAILABLE,
            "UpdateContinuousBackups",
            {**name, "PointInTimeRecoverySpecification": keep},
        ),
        (UNAVAILABLE, "CreateBackup", {**name, "BackupName": "backup"}),
        (Refusal("ResourceNotFoundException"), "TagResource", {"ResourceArn": arn, "Tags": [TAG]}),
        (ABSENT, "PutItem", {**name, "Item": item}),
        (ABSENT, "Scan", name),
    )
    foretold, operation, params = dice.choice(requests)
    run.expect(foretold, operation, **params)


MEANWHILE = (look, repeat, use_table)


# --- The end -----------------------------------------------------------------------------------


def finish(run: TransferRun, job: Job) -> None:
    place = job.asked["S3BucketSource"]
    source = run.sources[place["S3KeyPrefix"]]
    name = job.table
    if source.bucket == NO_BUCKET:
        failure = {"FailureCode": "S3NoSuchBucket", "FailureMessage": Like("(?s).+")}
        run.end(job, ImportStatus="FAILED", ProcessedSizeBytes=Maybe(0), **failure)
        run.expect(Refusal("ResourceNotFoundException"), "DescribeTable", TableName=name)
        return
    errors = len(source.lines) - len(source.items)
    size = Size() if source.size is None else source.size
    run.end(
        job,
        ImportStatus="FAILED" if errors else "COMPLETED",
        ErrorCount=errors,
        ProcessedItemCount=len(source.lines),
        ImportedItemCount=len(source.items),
        ProcessedSizeBytes=size if source.lines else Maybe(0),
        FailureCode="ItemValidationError" if errors else None,
        FailureMessage=Like(f"(?s){FAULTY}.*") if errors else None,
    )
    about = run.expect(AnyAnswer(), "DescribeTable", TableName=name)["Table"]
    seen = (about["TableStatus"], about["TableId"])
    run.same("table", ("ACTIVE", job.told["TableId"]), seen)
    table = run.tables[name] = Settings(name, run.now, job.told["TableId"])
    run.put_all(table, source.items)
    run.compare_items(table)


def list_imports(run: TransferRun, dice: Random) -> None:
    """Of one table or of all; in which order, AWS does not say."""
    name = dice.choice((None, *TABLES))
    wanted = table_arn(name) if name else None
    listed = run.list_jobs(IMPORT, dice.choice((None, 1, 2, 25)), TableArn=wanted)
    jobs = [job.description() for job in run.of_kind(IMPORT) if name in (None, job.table)]
    by_arn = [sorted(each, key=lambda job: str(job["ImportArn"])) for each in (jobs, listed)]
    run.same("imports", *by_arn)


def ask_wrongly(run: TransferRun, dice: Random) -> None:
    """What the API reference rules out, whatever there is."""
    asked = {
        "ClientToken": run.new_token(),
        "S3BucketSource": {"S3Bucket": BUCKET},
        "InputFormat": "DYNAMODB_JSON",
        "TableCreationParameters": creation("alpha"),
    }
    other = creation("alpha")
    wrong: tuple[Params, ...] = (
        {"InputFormat": "XML"},
        {"InputCompressionType": "BZIP2"},
        {"InputFormatOptions": {"Csv": {"Delimiter": ","}}},
        {"InputFormat": "CSV", "InputFormatOptions": {"Csv": {"Delimiter": ";;"}}},
        {"S3BucketSource": {"S3Bucket": "-nope!"}},
        {"S3BucketSource": {"S3Bucket": BUCKET, "S3KeyPrefix": "p" * 1025}},
        {"TableCreationParameters": {**other, "TableName": "no name!"}},
        {"TableCreationParameters": {**other, "AttributeDefinitions": []}},
        {"ClientToken": "with$dollar"},
        {"ClientToken": ""},
    )
    run.expect(INVALID, "ImportTable", **{**asked, **dice.choice(wrong)})


STEPS: dict[str, Callable[[TransferRun, Random], None]] = {
    "import": import_table,
    "repeat import": repeat_any,
    "describe import": lambda run, dice: transfer_run.describe(run, dice, IMPORT),
    "list imports": list_imports,
    "import wrongly": ask_wrongly,
}
