"""Bulk puts: how one runs, is cancelled and ends, and what is in its table then."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from bigtime.wire import Params
from tests.reference import transfer_run
from tests.reference.imports import choose_source
from tests.reference.outcomes import Refusal
from tests.reference.settings_run import Like, Settings, has_sort_key, table_arn
from tests.reference.sources import BUCKET, NO_BUCKET, Source, write_source
from tests.reference.transfer_run import INVALID, Job, Kind, TransferRun, ask_again, key_of

NOT_FOUND = Refusal("ResourceNotFoundException")
BULK_PUT = Kind(
    start="StartBulkPutItems",
    describe="DescribeBulkOperation",
    description="BulkOperationDescription",
    arn="BulkOperationArn",
    status="BulkOperationStatus",
    path="bulk-operation",
    absent=NOT_FOUND,
    conflict=Refusal("IdempotentParameterMismatchException"),
    malformed=Refusal("ResourceNotFoundException or ValidationException"),
    list="ListBulkOperations",
    summaries="BulkOperationsSummaryList",
    size="MaxResults",
)
SUMMARY = "BulkOperationArn BulkOperationStatus StartTime EndTime"
CHANGES: tuple[Params, ...] = (
    {"MaxWriteRequestUnits": 4096},
    {"TableName": "nowhere"},
    {"OutputS3Configuration": {"S3Bucket": "another", "OutputType": ["ERROR"]}},
)
IN_USE = Refusal("ResourceInUseException")
OUTPUTS = (["ERROR"], ["CONDITION_CHECK_FAILURE"], ["ERROR", "CONDITION_CHECK_FAILURE"])


class AnyOf:
    """Equals each of these: AWS shows one of them."""

    def __init__(self, *values: object) -> None:
        self.values = values

    def __eq__(self, other: object) -> bool:
        return other in self.values

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"any of {self.values}"


class Usage:
    """Equals the usage of one table, some or none: the sum of what its indexes and itself used."""

    def __init__(self, table: object, *, is_some: bool) -> None:
        self.table, self.is_some = table, is_some

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, list) or [self.table] != [each["TableName"] for each in other]:
            return False
        arms = ("LocalSecondaryIndexes", "GlobalSecondaryIndexes")
        used = [
            other[0]["Table"],
            *(each for arm in arms for each in other[0].get(arm, {}).values()),
        ]
        total = sum(each["BulkPutBytes"] for each in used)
        return total == other[0]["BulkPutBytes"] and self.is_some is (total > 0)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{'some' if self.is_some else 'no'} usage of {self.table}"


def put_in_bulk(run: TransferRun, dice: Random) -> None:
    asked = ask_again(run, dice, BULK_PUT) or request(run, dice)
    job = begin(run, asked)
    if job is None:
        return
    meanwhile = [dice.choice(MEANWHILE) for _ in range(dice.randrange(3))]
    for ask in meanwhile:
        ask(run, dice, job)
    if cancel in meanwhile:
        failure = {"FailureCode": Like(".+"), "FailureMessage": Like("(?s).+")}
        run.end(job, BulkOperationStatus="CANCELLED", **failure)
    else:
        finish(run, job)
    run.compare_items(run.tables[job.table])


def request(run: TransferRun, dice: Random) -> Params:
    given, table = run.pick(dice)
    name = table.name if table else "alpha"
    source = find_source(run, dice, name)
    compressed = source.compression != "NONE" or dice.random() < 0.5
    output = NO_BUCKET if dice.random() < 0.1 else BUCKET
    return {
        "TableName": given,
        "ClientToken": run.new_token(),
        "InputS3Configuration": {
            **source.place,
            "InputFormat": source.format,
            **({"InputCompressionType": source.compression} if compressed else {}),
        },
        "OutputS3Configuration": {
            "S3Bucket": output,
            "S3KeyPrefix": "reports",
            "OutputType": dice.choice(OUTPUTS),
        },
        **dice.choice(({}, {"MaxWriteRequestUnits": 1024})),
        **dice.choice(({}, {"PerformanceTier": "ACCELERATED"})),
    }


def find_source(run: TransferRun, dice: Random, table: str) -> Source:
    """Files of which some items have conditions, or an export."""
    if dice.random() < 0.3:
        source = choose_source(run, dice, table)
        if source.format == "DYNAMODB_JSON":
            return source
    prefix = f"put-{len(run.history)}/"
    is_sorted = has_sort_key(table)
    source = write_source(run.folder, dice, prefix, has_sort_key=is_sorted, into_table=True)
    run.sources[prefix] = source
    return source


def begin(run: TransferRun, asked: Params) -> Job | None:
    name = asked["TableName"].rpartition("/")[2]
    table = run.tables.get(name)
    told = foretold(run, table, asked) if table else NOT_FOUND
    return run.start(BULK_PUT, asked, told, name, SUMMARY)


def foretold(run: TransferRun, table: Settings, asked: Params) -> Params:
    named = AnyOf(table.name, table.arn)
    more = {name: asked[name] for name in ("MaxWriteRequestUnits",) if name in asked}
    return {
        "BulkOperationArn": Like(f"{table.arn}/bulk-operation/.+"),
        "BulkOperationStatus": "IN_PROGRESS",
        "TableDetails": [{"TableName": named, "TableId": table.id}],
        "ClientToken": asked["ClientToken"],
        "InputS3Configuration": asked["InputS3Configuration"],
        "OutputS3Configuration": asked["OutputS3Configuration"],
        "StartTime": run.now,
        "ProcessedItemCount": 0,
        "ProcessedInputBytes": 0,
        "BulkOperationUsage": Usage(named, is_some=False),
        "FailedItemCount": 0,
        "PerformanceTier": asked.get("PerformanceTier", "STANDARD"),
        **more,
    }


# --- While it runs -----------------------------------------------------------------------------


def look(run: TransferRun, dice: Random, job: Job) -> None:
    run.check(job)
    listed = run.list_jobs(BULK_PUT, None)
    run.same("running bulk put", job.description(), listed[0])


def repeat(run: TransferRun, dice: Random, job: Job) -> None:
    run.repeat(job, **dice.choice(({}, *CHANGES)))


def start_another(run: TransferRun, dice: Random, job: Job) -> None:
    """One operation may be active on a table."""
    run.expect(IN_USE, BULK_PUT.start, **{**job.asked, "ClientToken": run.new_token()})


def cancel(run: TransferRun, dice: Random, job: Job) -> None:
    """ "This value is CANCELLING"; of a second request AWS does not say."""
    if job.told["BulkOperationStatus"] == "IN_PROGRESS":
        job.told = {**job.told, "BulkOperationStatus": "CANCELLING"}
        told = {name: job.told[name] for name in ("BulkOperationArn", "BulkOperationStatus")}
        run.expect(told, "CancelBulkOperation", BulkOperationArn=job.arn)
    run.check(job)


MEANWHILE = (look, repeat, start_another, cancel)


# --- The end -----------------------------------------------------------------------------------


def finish(run: TransferRun, job: Job) -> None:
    asked = job.asked
    source = run.sources[asked["InputS3Configuration"]["S3KeyPrefix"]]
    if NO_BUCKET in (source.bucket, asked["OutputS3Configuration"]["S3Bucket"]):
        failure = {"FailureCode": Like(".+"), "FailureMessage": Like("(?s).+")}
        run.end(job, BulkOperationStatus="FAILED", **failure)
        return
    table = run.tables[job.table]
    put = [
        line.item
        for line in source.lines
        if line.item is not None and meets_condition(table, line.item, line.exists)
    ]
    failed = len(source.lines) - len(source.items)
    paths = sorted((run.folder / BUCKET / source.prefix).glob("*"))
    size = sum(path.stat().st_size for path in paths)
    run.put_all(table, put)
    run.end(
        job,
        BulkOperationStatus="COMPLETED_WITH_ERRORS" if failed else "COMPLETED",
        ProcessedItemCount=len(source.lines),
        FailedItemCount=failed,
        ProcessedInputBytes=size,
        TotalInputBytes=size,
        BulkOperationUsage=Usage(AnyOf(table.name, table.arn), is_some=bool(put)),
    )


def meets_condition(table: Settings, item: Params, exists: bool | None) -> bool:
    return exists is None or exists is (key_of(table.has_sort_key, item) in table.items)


def cancel_what_does_not_run(run: TransferRun, dice: Random) -> None:
    """How AWS refuses to cancel one that has ended is not documented; its end stays."""
    known = run.of_kind(BULK_PUT)
    if known and dice.random() < 0.6:
        job = dice.choice(known)
        refused = Refusal("ValidationException or ResourceNotFoundException")
        run.expect(refused, "CancelBulkOperation", BulkOperationArn=job.arn)
        run.check(job)
        return
    foretold, arn = transfer_run.unknown_arn(run, dice, BULK_PUT)
    run.expect(foretold, "CancelBulkOperation", BulkOperationArn=arn)


def list_bulk_puts(run: TransferRun, dice: Random) -> None:
    """ "With the most recent operations first"."""
    listed = run.list_jobs(BULK_PUT, dice.choice((None, 1, 2, 25)))
    newest_first = reversed(run.of_kind(BULK_PUT))
    run.same("bulk puts", [job.description() for job in newest_first], listed)


def ask_wrongly(run: TransferRun, dice: Random) -> None:
    """What the API reference rules out, whatever there is."""
    source = {"S3Bucket": BUCKET, "InputFormat": "DYNAMODB_JSON"}
    target = {"S3Bucket": BUCKET, "OutputType": ["ERROR"]}
    asked = {
        "TableName": table_arn("alpha"),
        "ClientToken": run.new_token(),
        "InputS3Configuration": source,
        "OutputS3Configuration": target,
    }
    wrong: tuple[Params, ...] = (
        {"MaxWriteRequestUnits": 1023},
        {"PerformanceTier": "FAST"},
        {"InputS3Configuration": {**source, "InputFormat": "CSV"}},
        {"InputS3Configuration": {**source, "InputCompressionType": "BZIP2"}},
        {"InputS3Configuration": {"S3Bucket": BUCKET}},
        {"OutputS3Configuration": {"OutputType": ["ERROR"]}},
        {"OutputS3Configuration": {**target, "OutputType": ["EVERYTHING"]}},
        {"OutputS3Configuration": {**target, "OutputType": []}},
        {"OutputS3Configuration": {"S3Bucket": BUCKET}},
        {"ClientToken": "with$dollar"},
    )
    run.expect(INVALID, "StartBulkPutItems", **{**asked, **dice.choice(wrong)})


STEPS: dict[str, Callable[[TransferRun, Random], None]] = {
    "put in bulk": put_in_bulk,
    "repeat bulk put": lambda run, dice: transfer_run.repeat(run, dice, BULK_PUT, CHANGES),
    "describe bulk put": lambda run, dice: transfer_run.describe(run, dice, BULK_PUT),
    "list bulk puts": list_bulk_puts,
    "cancel what does not run": cancel_what_does_not_run,
    "put in bulk wrongly": ask_wrongly,
}
