"""Kinesis destinations: at most one is active, and one that was disabled is still described."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from bigtime.wire import Params
from tests.reference.outcomes import Refusal
from tests.reference.settings_run import AnyAnswer, Settings, SettingsRun, no_table

INVALID = Refusal("ValidationException")
KINESIS = tuple(f"arn:aws:kinesis:us-east-1:000000000000:stream/{name}" for name in "ab")
NO_KINESIS = "arn:aws:sqs:us-east-1:000000000000:" + "queue" * 4
PRECISION = "ApproximateCreationDateTimePrecision"
PRECISIONS = ("MILLISECOND", "MICROSECOND")
FAILED = {
    "DestinationStatus": "ENABLE_FAILED",
    "DestinationStatusDescription": "User does not have a permission to use kinesis stream",
}
"""Seen on AWS, of whatever is no stream: DDB-TABLE-318 of aws-controllers-k8s/dynamodb-controller,
docs/api-quirks; so was that a precision is not shown that was not asked for (-299)."""
WRONG_STATE = "Table is not in a valid state to enable Kinesis Streaming Destination: "
"""Quoted in aws-cloudformation/cloudformation-coverage-roadmap#707 and aws/aws-cdk#16393."""


def enable_destination(run: SettingsRun, dice: Random) -> None:
    given, table = run.pick(dice)
    stream = NO_KINESIS if table and dice.random() < 0.1 else dice.choice(KINESIS)
    precision = dice.choice((None, *PRECISIONS))
    asked = {PRECISION: precision} if precision else None
    foretold: object = no_table(given)
    if table is not None:
        shown = {"EnableKinesisStreamingConfiguration": asked or {}}
        foretold = {**answer_of_destination(table, stream, "ENABLING", "Enable", asked), **shown}
        if any(active for active, _ in table.destinations.values()):
            foretold = Refusal(
                "ValidationException",
                f"{WRONG_STATE}EnableKinesisStreamingDestination must be DISABLED or ENABLE_FAILED "
                "to perform ENABLE operation.",
            )
    seen = run.expect(
        foretold,
        "EnableKinesisStreamingDestination",
        TableName=given,
        StreamArn=stream,
        EnableKinesisStreamingConfiguration=asked,
    )
    if seen and table:
        table.destinations[stream] = stream != NO_KINESIS, precision


def answer_of_destination(
    table: Settings, stream: str, status: str, verb: str, asked: Params | None
) -> Params:
    configuration = {f"{verb}KinesisStreamingConfiguration": asked} if asked else {}
    return {
        "TableName": table.name,
        "StreamArn": stream,
        "DestinationStatus": status,
        **configuration,
    }


def disable_destination(run: SettingsRun, dice: Random) -> None:
    given, table = run.pick(dice)
    stream = dice.choice(KINESIS)
    foretold: object = no_table(given)
    if table is not None:
        foretold = answer_of_destination(table, stream, "DISABLING", "Enable", None)
        if not is_active(table, stream):
            foretold = Refusal(
                "ValidationException",
                f"{WRONG_STATE}KinesisStreamingDestination must be ACTIVE to perform DISABLE "
                "operation.",
            )
    seen = run.expect(
        foretold, "DisableKinesisStreamingDestination", TableName=given, StreamArn=stream
    )
    if seen and table:
        table.destinations[stream] = False, table.destinations[stream][1]


def update_destination(run: SettingsRun, dice: Random) -> None:
    """To another precision; AWS has no words for what it already is, or for nothing."""
    given, table = run.pick(dice)
    stream, precision = dice.choice(KINESIS), dice.choice(PRECISIONS)
    asked = {PRECISION: precision} if table is None or dice.random() < 0.9 else None
    foretold: object = no_table(given)
    if table is not None:
        foretold = answer_of_destination(table, stream, "UPDATING", "Update", asked)
        active, known = table.destinations.get(stream, (False, None))
        if not asked or not active or (known or PRECISIONS[0]) == precision:
            foretold = INVALID
    seen = run.expect(
        foretold,
        "UpdateKinesisStreamingDestination",
        TableName=given,
        StreamArn=stream,
        UpdateKinesisStreamingConfiguration=asked,
    )
    if seen and table:
        table.destinations[stream] = True, precision


def is_active(table: Settings, stream: str) -> bool:
    return table.destinations.get(stream, (False, ""))[0]


def describe_destinations(run: SettingsRun, dice: Random) -> None:
    given, table = run.pick(dice)
    if table is None:
        run.expect(no_table(given), "DescribeKinesisStreamingDestination", TableName=given)
        return
    seen = run.expect(AnyAnswer(), "DescribeKinesisStreamingDestination", TableName=given)
    run.same("table", table.name, seen["TableName"])
    foretold = [
        {
            "StreamArn": arn,
            **(FAILED if arn == NO_KINESIS else {}),
            **({"DestinationStatus": "ACTIVE" if active else "DISABLED"} if arn in KINESIS else {}),
            **({PRECISION: precision} if precision else {}),
        }
        for arn, (active, precision) in table.destinations.items()
    ]
    listed = sorted(seen["KinesisDataStreamDestinations"], key=str)
    run.same("destinations", sorted(foretold, key=str), listed)


STEPS: dict[str, Callable[[SettingsRun, Random], None]] = {
    "enable destination": enable_destination,
    "disable destination": disable_destination,
    "update destination": update_destination,
    "describe destinations": describe_destinations,
}
