"""On-demand backups as they are listed, described and deleted; what is in one, recovery.py says.

From the API reference, "ListBackups": "start time is inclusive, but end time is exclusive"; USER
is the type if none is given. A backup stays when its table is deleted.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from bigtime.wire import Params
from tests.reference.outcomes import Refusal
from tests.reference.settings_run import (
    AnyAnswer,
    Like,
    SettingsRun,
    Size,
    key_schema,
    no_source,
    table_arn,
)

NO_BACKUP = f"{table_arn('alpha')}/backup/01489173575360-b308cd7d"
WRONG_ORDER = Refusal(
    "ValidationException",
    "One or more parameter values were invalid: Time range lower bound must be less than or equal"
    " to upper bound",
)
"""DDB-BACKUP-012 of aws-controllers-k8s/dynamodb-controller, docs/api-quirks."""
OF_TABLE = ("TableName", "TableId", "TableArn")
"""What a list says of a backup's table, and its details do not."""


def create_backup(run: SettingsRun, dice: Random) -> None:
    given, table = run.pick(dice)
    name = dice.choice(("first", "Second.2"))
    if table is None:
        run.expect(no_source(given), "CreateBackup", TableName=given, BackupName=name)
        return
    details = {
        "BackupArn": Like(f"{table.arn}/backup/.+"),
        "BackupName": name,
        "BackupSizeBytes": Size(),
        "BackupStatus": "CREATING",
        "BackupType": "USER",
        "BackupCreationDateTime": run.now,
    }
    seen = run.expect({"BackupDetails": details}, "CreateBackup", TableName=given, BackupName=name)
    arn = seen["BackupDetails"]["BackupArn"]
    if arn in run.backups:
        run.fail("the ARN of another backup", arn)
    run.backups[arn] = {
        **details,
        "BackupArn": arn,
        "BackupStatus": "AVAILABLE",
        "TableName": table.name,
        "TableId": Like(".+"),
        "TableArn": table.arn,
    }


def pick_backup(run: SettingsRun, dice: Random) -> tuple[str, Params | None]:
    arn = dice.choice([NO_BACKUP, *run.backups, *run.backups])
    return arn, run.backups.get(arn)


def describe_backup(run: SettingsRun, dice: Random) -> None:
    arn, backup = pick_backup(run, dice)
    if backup is None:
        run.expect(no_backup(arn), "DescribeBackup", BackupArn=arn)
        return
    seen = run.expect(AnyAnswer(), "DescribeBackup", BackupArn=arn)["BackupDescription"]
    compare_description(run, backup, seen)


def no_backup(arn: str) -> Refusal:
    """Quoted in turbot/steampipe-plugin-aws#1913."""
    return Refusal("BackupNotFoundException", f"Backup not found: {arn}")


def compare_description(run: SettingsRun, backup: Params, seen: Params) -> None:
    details = {name: value for name, value in backup.items() if name not in OF_TABLE}
    run.same("details", details, seen["BackupDetails"])
    keys = key_schema(["p", "s"] if backup["TableName"] == "beta" else ["p"])
    source = {name: backup[name] for name in OF_TABLE} | {"KeySchema": keys}
    shown = {name: seen["SourceTableDetails"].get(name) for name in source}
    run.same("source", source, shown)


def delete_backup(run: SettingsRun, dice: Random) -> None:
    """Of a system backup AWS does not say whether it can be deleted."""
    arn, backup = pick_backup(run, dice)
    if backup is None:
        run.expect(no_backup(arn), "DeleteBackup", BackupArn=arn)
    elif backup["BackupType"] == "USER":
        seen = run.expect(AnyAnswer(), "DeleteBackup", BackupArn=arn)["BackupDescription"]
        compare_description(run, {**backup, "BackupStatus": "DELETED"}, seen)
        del run.backups[arn]


def list_backups(run: SettingsRun, dice: Random) -> None:
    given, _ = run.pick(dice)
    asked: Params = {
        "TableName": dice.choice((None, given)),
        "BackupType": dice.choice((None, "USER", "SYSTEM", "ALL")),
        "TimeRangeLowerBound": pick_moment(run, dice),
        "TimeRangeUpperBound": pick_moment(run, dice),
    }
    least, most = asked["TimeRangeLowerBound"], asked["TimeRangeUpperBound"]
    if least is not None and most is not None and least > most:
        run.expect(WRONG_ORDER, "ListBackups", **asked)
        return
    listed = run.pages(
        "ListBackups",
        "BackupSummaries",
        "LastEvaluatedBackupArn",
        "ExclusiveStartBackupArn",
        dice.choice((1, 2, 100)),
        **asked,
    )
    foretold = [backup for backup in run.backups.values() if is_asked_for(backup, asked)]
    listed.sort(key=lambda each: str(each["BackupArn"]))
    foretold.sort(key=lambda each: str(each["BackupArn"]))
    run.same("backups", foretold, listed)


def pick_moment(run: SettingsRun, dice: Random) -> float | None:
    """None, or exactly when there was a backup."""
    moments: list[float] = [backup["BackupCreationDateTime"] for backup in run.backups.values()]
    return dice.choice([None, None, *moments])


def is_asked_for(backup: Params, asked: Params) -> bool:
    name, kind = asked["TableName"], asked["BackupType"] or "USER"
    least, most = asked["TimeRangeLowerBound"], asked["TimeRangeUpperBound"]
    made: float = backup["BackupCreationDateTime"]
    return (
        name in (None, backup["TableName"], backup["TableArn"])
        and kind in ("ALL", backup["BackupType"])
        and (least is None or made >= least)
        and (most is None or made < most)
    )


STEPS: dict[str, Callable[[SettingsRun, Random], None]] = {
    "create backup": create_backup,
    "describe backup": describe_backup,
    "delete backup": delete_backup,
    "list backups": list_backups,
}
