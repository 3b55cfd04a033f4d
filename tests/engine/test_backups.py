"""CreateBackup, DescribeBackup, ListBackups, DeleteBackup and RestoreTableFromBackup."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from bigtime import wire
from bigtime.engine import Engine
from tests.engine.backups import (
    ARN,
    back_up,
    details,
    error,
    file_of,
    is_available,
    items,
    put,
    restore,
    switch_recovery_on,
)
from tests.engine.calls import (
    Clock,
    call,
    describe_table,
    fill,
    index,
    key_schema,
    make_table,
    n,
    physical_tables,
    s,
)

DAY = 24 * 3600.0


@pytest.fixture
def engine(clock: Clock, tmp_path: Path) -> Iterator[Engine]:
    with Engine.open(
        tmp_path / "notes.db", durability="relaxed", clock=clock, housekeeping=False
    ) as engine:
        make_table(engine, {"p": "S"}, name="notes", keys=("p",))
        yield engine


# --- Creating -------------------------------------------------------------------------------


def test_a_backup_has_what_was_written_before_it_and_nothing_after(engine: Engine) -> None:
    put(engine, "a", 1)
    put(engine, "b", 1)
    backup = back_up(engine)
    put(engine, "a", 2)
    put(engine, "c", 2)
    call(engine, "DeleteItem", TableName="notes", Key={"p": s("b")})
    engine.tidy()
    restore(engine, backup["BackupArn"])
    engine.tidy()
    assert items(engine) == {"a": 1, "b": 1}
    assert items(engine, "notes") == {"a": 2, "c": 2}


def test_a_backup_is_creating_until_it_is_copied(engine: Engine, clock: Clock) -> None:
    put(engine, "a", 1)
    backup = back_up(engine)
    arn = backup["BackupArn"]
    assert arn.startswith(f"{ARN}/backup/01700000000000-")
    assert backup == {
        "BackupArn": arn,
        "BackupName": "mine",
        "BackupSizeBytes": 5,
        "BackupStatus": "CREATING",
        "BackupType": "USER",
        "BackupCreationDateTime": clock.now,
    }
    assert details(engine, arn) == backup
    engine.tidy()
    assert details(engine, arn) == {**backup, "BackupStatus": "AVAILABLE"}


def test_a_table_without_recovery_has_a_log_only_while_it_is_copied(engine: Engine) -> None:
    put(engine, "a")
    back_up(engine)
    assert engine._database.catalogue.table("notes").log
    engine.tidy()
    assert engine._database.catalogue.table("notes").log is None
    assert not {name for name in physical_tables(engine) if name.startswith("l")}


def test_a_table_is_not_deleted_while_it_is_copied(engine: Engine) -> None:
    """AWS: "While a backup is in progress, you can't ... delete the source table"."""
    fill(engine, "notes", 60, v=n(7))
    backup = back_up(engine)
    with pytest.raises(wire.ResourceInUseException):
        call(engine, "DeleteTable", TableName="notes")
    engine.tidy()
    call(engine, "DeleteTable", TableName="notes")
    make_table(engine, {"p": "S"}, name="notes", keys=("p",))
    engine.tidy()
    restore(engine, backup["BackupArn"])
    engine.tidy()
    assert len(items(engine)) == 60
    kept = {name for name in physical_tables(engine) if name[0] in "tl" and name[1:].isdigit()}
    assert len(kept) == 2


def test_several_tables_are_backed_up_at_one_moment(engine: Engine) -> None:
    make_table(engine, {"p": "S"}, name="others", keys=("p",))
    put(engine, "a", 1)
    put(engine, "a", 1, table="others")
    answers = engine.create_backups({"notes": "all", "others": "all"})
    put(engine, "a", 2)
    put(engine, "a", 2, table="others")
    engine.tidy()
    assert {answer["BackupCreationDateTime"] for answer in answers} == {1_700_000_000.0}
    for number, backup in enumerate(answers):
        restore(engine, backup["BackupArn"], f"old-{number}")
    engine.tidy()
    assert items(engine, "old-0") == items(engine, "old-1") == {"a": 1}
    with pytest.raises(wire.TableNotFoundException):
        engine.create_backups({"notes": "all", "no-such": "all"})
    with pytest.raises(wire.ValidationException):
        engine.create_backups({"notes": "a name with spaces"})
    assert len(call(engine, "ListBackups")["BackupSummaries"]) == 2


def test_a_caller_copies_its_backups_itself(engine: Engine) -> None:
    make_table(engine, {"p": "S"}, name="others", keys=("p",))
    put(engine, "a", 1)
    put(engine, "a", 1, table="others")
    seen: list[list[str]] = []

    def write_on() -> None:
        engine.tidy()  # leaves these backups to their caller
        listed = call(engine, "ListBackups")["BackupSummaries"]
        seen.append([each["BackupStatus"] for each in listed])
        put(engine, "a", 2)
        put(engine, "a", 2, table="others")

    made = engine.copy_backups({"notes": "all", "others": "all"}, write_on)
    assert seen[0] == ["CREATING", "CREATING"]
    assert [each["BackupStatus"] for each in made] == ["AVAILABLE", "AVAILABLE"]
    for number, backup in enumerate(made):
        assert is_available(engine, backup["BackupArn"])
        restore(engine, backup["BackupArn"], f"old-{number}")
    engine.tidy()
    assert items(engine, "old-0") == items(engine, "old-1") == {"a": 1}
    assert items(engine, "notes") == {"a": 2}


def test_what_a_caller_leaves_is_copied_by_the_housekeeper(engine: Engine) -> None:
    put(engine, "a", 1)

    def fail() -> None:
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="full"):
        engine.copy_backups({"notes": "all"}, fail)
    (left,) = call(engine, "ListBackups")["BackupSummaries"]
    assert left["BackupStatus"] == "CREATING"
    engine.tidy()
    assert (
        is_available(engine, left["BackupArn"]) and engine.check_backup(left["BackupArn"]) is None
    )


def test_what_cannot_be_backed_up_is_refused(engine: Engine) -> None:
    refusal = error(engine, "CreateBackup", TableName="no-such", BackupName="mine")
    assert isinstance(refusal, wire.TableNotFoundException)
    assert refusal.message == "Table not found: no-such"
    back_up(engine)
    engine.tidy()
    arn = call(engine, "ListBackups")["BackupSummaries"][0]["BackupArn"]
    restore(engine, arn)
    refusal = error(engine, "CreateBackup", TableName="old", BackupName="mine")
    assert isinstance(refusal, wire.TableNotFoundException)
    assert refusal.message == "Table not found: old"


def test_a_plain_table_has_no_features_in_its_backup(engine: Engine) -> None:
    """(DDB-BACKUP-004 and -009 of https://github.com/aws-controllers-k8s/dynamodb-controller)"""
    arn = back_up(engine)["BackupArn"]
    about = call(engine, "DescribeBackup", BackupArn=arn)["BackupDescription"]
    assert about["SourceTableFeatureDetails"] == {}


# --- Describing and listing -----------------------------------------------------------------


def test_a_backup_describes_its_table(engine: Engine) -> None:
    make_table(
        engine,
        {"p": "S", "s": "S", "l": "S", "g": "S"},
        name="rich",
        local=(index("local", key_schema("p", "l"), "KEYS_ONLY"),),
        globally=(index("global", key_schema("g")),),
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"},
        SSESpecification={"Enabled": True},
    )
    ttl = {"AttributeName": "until", "Enabled": True}
    call(engine, "UpdateTimeToLive", TableName="rich", TimeToLiveSpecification=ttl)
    call(engine, "PutItem", TableName="rich", Item={"p": s("a"), "s": s("b")})
    arn = back_up(engine, table="rich")["BackupArn"]
    table = describe_table(engine, "rich")
    engine.tidy()
    call(engine, "DeleteTable", TableName="rich")
    engine.tidy()
    about = call(engine, "DescribeBackup", BackupArn=arn)["BackupDescription"]
    assert about["SourceTableDetails"] == {
        "TableName": "rich",
        "TableId": table["TableId"],
        "TableArn": table["TableArn"],
        "TableSizeBytes": 4,
        "KeySchema": key_schema("p", "s"),
        "TableCreationDateTime": table["CreationDateTime"],
        "ProvisionedThroughput": {"ReadCapacityUnits": 0, "WriteCapacityUnits": 0},
        "ItemCount": 1,
        "BillingMode": "PAY_PER_REQUEST",
    }
    features = about["SourceTableFeatureDetails"]
    assert features["LocalSecondaryIndexes"] == [index("local", key_schema("p", "l"), "KEYS_ONLY")]
    assert features["GlobalSecondaryIndexes"][0]["IndexName"] == "global"
    assert features["StreamDescription"]["StreamViewType"] == "KEYS_ONLY"
    assert features["TimeToLiveDescription"]["AttributeName"] == "until"
    assert features["SSEDescription"]["Status"] == "ENABLED"


def list_names(engine: Engine, **params: Any) -> list[str]:
    answer = call(engine, "ListBackups", **params)
    return [backup["BackupName"] for backup in answer["BackupSummaries"]]


def test_backups_are_listed_by_table_time_and_type(engine: Engine, clock: Clock) -> None:
    make_table(engine, {"p": "S"}, name="others", keys=("p",))
    start = clock.now
    for number in range(3):
        back_up(engine, f"notes-{number}")
        back_up(engine, f"others-{number}", table="others")
        clock.now += 10
    switch_recovery_on(engine)
    engine.tidy()
    call(engine, "DeleteTable", TableName="notes")
    engine.tidy()
    assert len(list_names(engine)) == 6
    assert list_names(engine, TableName="notes") == ["notes-0", "notes-1", "notes-2"]
    assert list_names(engine, TableName=ARN, TimeRangeLowerBound=start + 10) == [
        "notes-1",
        "notes-2",
    ]
    assert list_names(engine, TableName="notes", TimeRangeUpperBound=start + 10) == ["notes-0"]
    assert len(list_names(engine, TableName="notes", TimeRangeUpperBound=2**63)) == 3
    assert list_names(engine, BackupType="SYSTEM") == ["notes$DeletedTableBackup"]
    assert len(list_names(engine, BackupType="ALL")) == 7
    assert list_names(engine, BackupType="AWS_BACKUP") == []
    assert list_names(engine, TableName="no-such") == []


def test_the_list_has_pages(engine: Engine) -> None:
    for number in range(5):
        back_up(engine, f"backup-{number}")
    arns: list[str] = []
    start: dict[str, str] = {}
    while True:
        answer = call(engine, "ListBackups", Limit=2, **start)
        arns += [backup["BackupArn"] for backup in answer["BackupSummaries"]]
        if "LastEvaluatedBackupArn" not in answer:
            break
        assert answer["LastEvaluatedBackupArn"] == arns[-1]
        start = {"ExclusiveStartBackupArn": arns[-1]}
    assert len(set(arns)) == 5


def test_a_summary_names_the_table(engine: Engine, clock: Clock) -> None:
    arn = back_up(engine)["BackupArn"]
    assert call(engine, "ListBackups")["BackupSummaries"] == [
        {
            "TableName": "notes",
            "TableId": describe_table(engine, "notes")["TableId"],
            "TableArn": ARN,
            "BackupArn": arn,
            "BackupName": "mine",
            "BackupCreationDateTime": clock.now,
            "BackupStatus": "CREATING",
            "BackupType": "USER",
            "BackupSizeBytes": 0,
        }
    ]


@pytest.mark.parametrize("operation", ["DescribeBackup", "DeleteBackup", "RestoreTableFromBackup"])
def test_a_backup_that_is_not_there_is_not_found(engine: Engine, operation: str) -> None:
    target = {"TargetTableName": "old"} if operation == "RestoreTableFromBackup" else {}
    arn = f"{ARN}/backup/01489602797149-73d8d5bc"
    refusal = error(engine, operation, BackupArn=arn, **target)
    assert isinstance(refusal, wire.BackupNotFoundException)
    assert refusal.message == f"Backup not found: {arn}"
    refusal = error(engine, operation, BackupArn="x" * 40, **target)
    assert isinstance(refusal, wire.ValidationException)


# --- Deleting -------------------------------------------------------------------------------


def test_a_deleted_backup_is_gone_with_its_file(engine: Engine) -> None:
    put(engine, "a")
    arn = back_up(engine)["BackupArn"]
    refusal = error(engine, "DeleteBackup", BackupArn=arn)
    assert isinstance(refusal, wire.BackupInUseException)
    engine.tidy()
    assert file_of(engine, arn).exists()
    answer = call(engine, "DeleteBackup", BackupArn=arn)["BackupDescription"]
    assert answer["BackupDetails"]["BackupStatus"] == "DELETED"
    assert error(engine, "DescribeBackup", BackupArn=arn).code == "BackupNotFoundException"
    assert list_names(engine) == []
    engine.tidy()
    assert list(file_of(engine, arn).parent.iterdir()) == []


def test_a_backup_that_is_being_restored_is_in_use(engine: Engine) -> None:
    arn = back_up(engine)["BackupArn"]
    refusal = error(engine, "RestoreTableFromBackup", BackupArn=arn, TargetTableName="old")
    assert isinstance(refusal, wire.BackupInUseException)
    engine.tidy()
    restore(engine, arn)
    refusal = error(engine, "DeleteBackup", BackupArn=arn)
    assert isinstance(refusal, wire.BackupInUseException)
    assert refusal.message == f"Backup is being used to restore table: {arn}"
    engine.tidy()
    call(engine, "DeleteBackup", BackupArn=arn)


def test_a_backup_is_restored_to_one_table_at_a_time(engine: Engine) -> None:
    """(DDB-BACKUP-010 and DDB-TABLE-219 of https://github.com/aws-controllers-k8s/dynamodb-controller)"""
    arn, other = back_up(engine)["BackupArn"], back_up(engine)["BackupArn"]
    engine.tidy()
    restore(engine, arn)
    again = partial(error, engine, "RestoreTableFromBackup")
    refusal = again(BackupArn=arn, TargetTableName="older")
    assert isinstance(refusal, wire.BackupInUseException)
    assert refusal.message == f"Backup is being used to restore another table: {arn}"
    for backup in (arn, other):
        refusal = again(BackupArn=backup, TargetTableName="old")
        assert isinstance(refusal, wire.TableInUseException)
        assert refusal.message == f"Table: old is already being restored from backup: {arn}"
    refusal = again(BackupArn=arn, TargetTableName="notes")
    assert isinstance(refusal, wire.TableAlreadyExistsException)
    restore(engine, other, "older")
    engine.tidy()
    restore(engine, arn, "oldest")


@pytest.mark.parametrize(
    ("arn", "message"),
    [
        (ARN.replace("aws:dynamodb", "aws-cn:dynamodb"), "Invalid Request: BackupArn is not valid"),
        (ARN.replace("dynamodb", "s3"), "Invalid Request: BackupArn is not valid"),
        (ARN, "Invalid Backup ARN"),
    ],
)
def test_what_is_no_arn_of_a_backup_is_refused(engine: Engine, arn: str, message: str) -> None:
    """(DDB-BACKUP-012 of https://github.com/aws-controllers-k8s/dynamodb-controller)"""
    backup = arn if arn == ARN else f"{arn}/backup/01489602797149-73d8d5bc"
    assert error(engine, "DescribeBackup", BackupArn="").message == "Invalid Backup ARN"
    refusal = error(engine, "DescribeBackup", BackupArn=backup)
    assert (refusal.code, refusal.message) == ("ValidationException", message)


def test_a_system_backup_ends_after_35_days_and_not_before(engine: Engine, clock: Clock) -> None:
    """(DDB-BACKUP-015 of https://github.com/aws-controllers-k8s/dynamodb-controller)"""
    for _ in range(2):
        switch_recovery_on(engine)
        put(engine, "secret")
        call(engine, "DeleteTable", TableName="notes")
        clock.now += DAY
        make_table(engine, {"p": "S"}, name="notes", keys=("p",))
    first, second = call(engine, "ListBackups", BackupType="SYSTEM")["BackupSummaries"]
    assert first["BackupExpiryDateTime"] == pytest.approx(clock.now - 2 * DAY + 35 * DAY)
    assert [each["BackupArn"].rpartition("-")[2] for each in (first, second)] == ["0" * 8] * 2
    refusal = error(engine, "DeleteBackup", BackupArn=first["BackupArn"])
    assert (refusal.code, refusal.message) == (
        "ValidationException",
        "Invalid Request: User is not allowed to delete the system backup with arn "
        f"{first['BackupArn']}. It will automatically expire on 2023-12-19T22:13:20.000Z",
    )
    restore(engine, first["BackupArn"])
    clock.now += 35 * DAY
    engine.tidy()
    assert items(engine) == {"secret": 0}
    assert list_names(engine, BackupType="ALL") == []
    call(engine, "DeleteTable", TableName="old")
    engine.tidy()
    call(engine, "DeleteTable", TableName="notes")
    engine.tidy()
    assert not {name for name in physical_tables(engine) if name[1:].isdigit()}


def test_what_was_deleted_is_gone_from_the_file_after_the_window(
    engine: Engine, clock: Clock
) -> None:
    switch_recovery_on(engine)
    secret = "a secret that must not be found"
    for text in (secret, "nothing"):
        call(engine, "PutItem", TableName="notes", Item={"p": s("a"), "text": s(text)})
    clock.now += 36 * DAY
    engine.tidy()
    path = engine.path
    engine.close()
    assert secret.encode() not in path.read_bytes()
