"""What is set of a table: resource policies, tags, time to live, point-in-time recovery.

From the API reference's page of each operation; sentences as users have quoted them of AWS, where
they have. That a policy or a time to live is not to be changed again for a while (15 seconds, an
hour) is left out: the engine, like every stand-in for AWS, lets tests go on at once.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random

from bigtime.wire import Params
from tests.reference.outcomes import Refusal
from tests.reference.settings_run import (
    AnyAnswer,
    Like,
    Settings,
    SettingsRun,
    no_source,
    no_table,
    table_arn,
)

INVALID = Refusal("ValidationException")
NOT_FOUND = Refusal("ResourceNotFoundException")

# --- Resource policies ----------------------------------------------------------------------

NO_POLICY = Refusal("PolicyNotFoundException")
WRONG_POLICIES = (
    '{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Principal": "*", '
    '"Action": "dynamodb:GetItem", "Resource": "*"}]}',
    "",
    "{",
    "{}",
    '{"Version": "2012-10-17", "Statement": []}',
    '{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Principal": "*", '
    '"Action": "dynamodb:ListStreams", "Resource": "*"}]}',
)


def policy_text(arn: str, number: int) -> str:
    statement = {
        "Sid": f"Number{number}",
        "Effect": "Allow",
        "Principal": {"AWS": "arn:aws:iam::111122223333:root"},
        "Action": "dynamodb:*" if "/stream/" in arn else "dynamodb:GetItem",
        "Resource": arn,
    }
    # Without white space, as AWS keeps it.
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]}, separators=(",", ":"))


def policy_place(run: SettingsRun, dice: Random) -> tuple[str, Settings | None]:
    """The ARN of a table or of the stream that it has."""
    given, table = run.pick(dice)
    if table is None:
        return given if given.startswith("arn:") else table_arn(given), None
    if table.stream and table.stream.enabled and dice.random() < 0.4:
        return table.stream.arn, table
    return table.arn, table


def expected_revision(table: Settings | None, arn: str, dice: Random) -> str | None:
    known = table.policies.get(arn) if table else None
    return dice.choice((None, None, "NO_POLICY", "1", known[1] if known else "2"))


def put_policy(run: SettingsRun, dice: Random) -> None:
    """The same policy has the same revision, another one another."""
    arn, table = policy_place(run, dice)
    text = policy_text(arn, dice.randrange(2))
    expected = expected_revision(table, arn, dice)
    if table is None:
        asked = {"ResourceArn": arn, "Policy": text}
        run.expect(NOT_FOUND, "PutResourcePolicy", **asked)
        return
    if dice.random() < 0.1:
        wrong = dice.choice(WRONG_POLICIES)
        run.expect(INVALID, "PutResourcePolicy", ResourceArn=arn, Policy=wrong)
        return
    known = table.policies.get(arn)
    foretold: object = {"RevisionId": known[1] if known and known[0] == text else Like(".+")}
    if expected is not None and expected != (known[1] if known else "NO_POLICY"):
        foretold = NO_POLICY
    seen = run.expect(
        foretold,
        "PutResourcePolicy",
        ResourceArn=arn,
        Policy=text,
        ExpectedRevisionId=expected,
    )
    if seen and not (known and known[0] == text):
        revision = seen["RevisionId"]
        if known and revision == known[1]:
            run.fail("the revision of another policy", seen)
        table.policies[arn] = text, revision


def get_policy(run: SettingsRun, dice: Random) -> None:
    arn, table = policy_place(run, dice)
    known = table.policies.get(arn) if table else None
    foretold: object = NOT_FOUND if table is None else NO_POLICY
    if known:
        foretold = {"Policy": known[0], "RevisionId": known[1]}
    run.expect(foretold, "GetResourcePolicy", ResourceArn=arn)


def delete_policy(run: SettingsRun, dice: Random) -> None:
    """To expect any revision where there is no policy is an error, to expect none is not."""
    arn, table = policy_place(run, dice)
    expected = expected_revision(table, arn, dice)
    known = table.policies.get(arn) if table else None
    foretold: object = {"RevisionId": known[1]} if known else {}
    if table is None:
        foretold = NOT_FOUND
    elif expected is not None and expected != (known and known[1]):
        foretold = NO_POLICY
    seen = run.expect(
        foretold, "DeleteResourcePolicy", ResourceArn=arn, ExpectedRevisionId=expected
    )
    if seen and table:
        del table.policies[arn]


# --- Tags -----------------------------------------------------------------------------------

MOST_TAGS = 50
TAG_KEYS = [f"key-{number}" for number in range(60)]
TAG_VALUES = ("", "one", "two words", "a+b=c._:/@-")
WRONG_TAGS: tuple[list[Params], ...] = (
    [],
    [{"Key": "aws:own", "Value": "x"}],
    [{"Key": "twice", "Value": "1"}, {"Key": "twice", "Value": "2"}],
    [{"Key": "", "Value": "x"}],
    [{"Key": "x" * 129, "Value": "x"}],
    [{"Key": "x", "Value": "x" * 257}],
)
WRONG_TAG_ARNS = (
    "arn:aws:sqs:us-east-1:000000000000:queue",
    "alpha",
    table_arn("alpha") + "/index/x",
)


def tag(run: SettingsRun, dice: Random) -> None:
    given, table = run.pick(dice)
    keys = dice.sample(TAG_KEYS, dice.choice((1, 2, 30)))
    tags = {key: dice.choice(TAG_VALUES) for key in keys}
    listed: list[Params] = [{"Key": key, "Value": value} for key, value in tags.items()]
    foretold: object = {} if table else NOT_FOUND
    if table and dice.random() < 0.15:
        foretold, listed = INVALID, dice.choice(WRONG_TAGS)
    elif table and len({**table.tags, **tags}) > MOST_TAGS:
        foretold = INVALID
    arn = table.arn if table else arn_of(given)
    run.expect(foretold, "TagResource", ResourceArn=arn, Tags=listed)
    if table and foretold == {}:
        table.tags |= tags


def arn_of(given: str) -> str:
    return given if given.startswith("arn:") else table_arn(given)


def untag(run: SettingsRun, dice: Random) -> None:
    given, table = run.pick(dice)
    keys = dice.sample(TAG_KEYS, dice.choice((1, 20))) if dice.random() < 0.9 or not table else []
    foretold: object = NOT_FOUND if table is None else {} if keys else INVALID
    run.expect(foretold, "UntagResource", ResourceArn=arn_of(given), TagKeys=keys)
    if table:
        table.tags = {key: value for key, value in table.tags.items() if key not in keys}


def list_tags(run: SettingsRun, dice: Random) -> None:
    given, table = run.pick(dice)
    arn = arn_of(given)
    if table is None:
        # The API reference names the one; dynalite has recorded the other from the service.
        refusal = Refusal("ResourceNotFoundException or AccessDeniedException")
        run.expect(refusal, "ListTagsOfResource", ResourceArn=arn)
        return
    if dice.random() < 0.1:
        run.expect(INVALID, "ListTagsOfResource", ResourceArn=dice.choice(WRONG_TAG_ARNS))
    listed = run.expect(AnyAnswer(), "ListTagsOfResource", ResourceArn=arn)["Tags"]
    foretold = [{"Key": key, "Value": value} for key, value in table.tags.items()]
    run.same("tags", sorted(foretold, key=str), sorted(listed, key=str))


# --- Time to live ---------------------------------------------------------------------------


def update_time_to_live(run: SettingsRun, dice: Random) -> None:
    given, table = run.pick(dice)
    wanted: Params = {
        "Enabled": dice.random() < 0.6,
        "AttributeName": dice.choice(("until", "until", "expires")),
    }
    foretold: object = {"TimeToLiveSpecification": wanted}
    refusal = time_to_live_refusal(table, wanted) if table else no_table(given)
    seen = run.expect(
        refusal or foretold, "UpdateTimeToLive", TableName=given, TimeToLiveSpecification=wanted
    )
    if seen and table:
        table.ttl = wanted["AttributeName"] if wanted["Enabled"] else None


def time_to_live_refusal(table: Settings, wanted: Params) -> Refusal | None:
    """Quoted in cloudposse/terraform-aws-dynamodb#94 and go-to-k/cdkd#932."""
    if table.ttl is None:
        told = None if wanted["Enabled"] else "TimeToLive is already disabled"
    elif table.ttl != wanted["AttributeName"]:
        told = (
            "TimeToLive is active on a different AttributeName: "
            f"current AttributeName is {table.ttl}"
        )
    else:
        told = "TimeToLive is already enabled" if wanted["Enabled"] else None
    return Refusal("ValidationException", told) if told else None


def describe_time_to_live(run: SettingsRun, dice: Random) -> None:
    given, table = run.pick(dice)
    foretold: object = no_table(given)
    if table is not None:
        described = {"TimeToLiveStatus": "ENABLED" if table.ttl else "DISABLED"}
        attribute = {"AttributeName": table.ttl} if table.ttl else {}
        foretold = {"TimeToLiveDescription": {**described, **attribute}}
    run.expect(foretold, "DescribeTimeToLive", TableName=given)


# --- Point-in-time recovery -----------------------------------------------------------------


def update_recovery(run: SettingsRun, dice: Random) -> None:
    given, table = run.pick(dice)
    on = dice.random() < 0.7
    days = dice.choice((None, 1, 7, 35)) if on else None
    wrong = table is not None and dice.random() < 0.1
    period = dice.choice((0, 36)) if wrong else days
    wanted = {
        "PointInTimeRecoveryEnabled": on,
        **({} if period is None else {"RecoveryPeriodInDays": period}),
    }
    foretold: object = no_source(given)
    if table is not None and not wrong:
        since = earliest(table, run.now) if table.window else run.now
        table.window = (since, days or 35) if on else None
        foretold = foretold_recovery(table, run.now)
    run.expect(
        INVALID if wrong else foretold,
        "UpdateContinuousBackups",
        TableName=given,
        PointInTimeRecoverySpecification=wanted,
    )


def describe_recovery(run: SettingsRun, dice: Random) -> None:
    given, table = run.pick(dice)
    foretold = foretold_recovery(table, run.now) if table else no_source(given)
    run.expect(foretold, "DescribeContinuousBackups", TableName=given)


def earliest(table: Settings, now: float) -> float:
    """When recovery was switched on, or as many days ago as it is kept."""
    assert table.window is not None
    since, days = table.window
    return max(since, now - days * 86_400)


def foretold_recovery(table: Settings, now: float) -> Params:
    """Latest is "typically 5 minutes before the current time", and here the current time."""
    recovery: Params = {"PointInTimeRecoveryStatus": "DISABLED"}
    if table.window:
        recovery = {
            "PointInTimeRecoveryStatus": "ENABLED",
            "RecoveryPeriodInDays": table.window[1],
            "EarliestRestorableDateTime": earliest(table, now),
            "LatestRestorableDateTime": now,
        }
    return {
        "ContinuousBackupsDescription": {
            "ContinuousBackupsStatus": "ENABLED",
            "PointInTimeRecoveryDescription": recovery,
        }
    }


STEPS: dict[str, Callable[[SettingsRun, Random], None]] = {
    "put policy": put_policy,
    "get policy": get_policy,
    "delete policy": delete_policy,
    "tag": tag,
    "untag": untag,
    "list tags": list_tags,
    "update time to live": update_time_to_live,
    "describe time to live": describe_time_to_live,
    "update recovery": update_recovery,
    "describe recovery": describe_recovery,
}
