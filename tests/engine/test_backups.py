"""CreateBackup, DescribeBackup, ListBackups, DeleteBackup and RestoreTableFromBackup."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from itertools import count
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from bigtime import wire
from bigtime.engine import Engine
from bigtime.engine.storage import BackupFileError, backup_path, read_backup
from bigtime.wire import DynamoDBError
from tests.engine.calls import (
    Clock,
    begin,
    call,
    come,
    described,
    fill,
    index,
    key_schema,
    make_table,
    n,
    physical_tables,
    s,
    until,
)

DAY = 24 * 3600.0
ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/notes"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def engine(clock: Clock, tmp_path: Path) -> Iterator[Engine]:
    with Engine.open(
        tmp_path / "notes.db", durability="relaxed", clock=clock, housekeeping=False
    ) as engine:
        make_table(engine, {"p": "S"}, name="notes", keys=("p",))
        yield engine


def put(engine: Engine, p: str, v: int = 0, table: str = "notes") -> None:
    call(engine, "PutItem", TableName=table, Item={"p": s(p), "v": n(v)})


def back_up(engine: Engine, name: str = "mine", table: str = "notes") -> Any:
    return call(engine, "CreateBackup", TableName=table, BackupName=name)["BackupDetails"]


def details(engine: Engine, arn: str) -> Any:
    return call(engine, "DescribeBackup", BackupArn=arn)["BackupDescription"]["BackupDetails"]


def restore(engine: Engine, arn: str, target: str = "old", **more: Any) -> Any:
    return call(engine, "RestoreTableFromBackup", BackupArn=arn, TargetTableName=target, **more)[
        "TableDescription"
    ]


def items(engine: Engine, table: str = "old") -> dict[str, int]:
    found = call(engine, "Scan", TableName=table)["Items"]
    return {item["p"]["S"]: int(item["v"]["N"]) for item in found}


def error(engine: Engine, operation: str, **params: Any) -> DynamoDBError:
    with pytest.raises(DynamoDBError) as caught:
        call(engine, operation, **params)
    return caught.value


def file_of(engine: Engine, arn: str) -> Path:
    return backup_path(engine.path, arn.rpartition("/")[2])


def switch_recovery_on(engine: Engine) -> None:
    call(
        engine,
        "UpdateContinuousBackups",
        TableName="notes",
        PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True},
    )


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
    assert {one["BackupCreationDateTime"] for one in answers} == {1_700_000_000.0}
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
    assert isinstance(refusal, wire.ContinuousBackupsUnavailableException)


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
    table = described(engine, "rich")
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


def listed(engine: Engine, **params: Any) -> list[str]:
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
    assert len(listed(engine)) == 6
    assert listed(engine, TableName="notes") == ["notes-0", "notes-1", "notes-2"]
    assert listed(engine, TableName=ARN, TimeRangeLowerBound=start + 10) == ["notes-1", "notes-2"]
    assert listed(engine, TableName="notes", TimeRangeUpperBound=start + 10) == ["notes-0"]
    assert len(listed(engine, TableName="notes", TimeRangeUpperBound=2**63)) == 3
    assert listed(engine, BackupType="SYSTEM") == ["notes$DeletedTableBackup"]
    assert len(listed(engine, BackupType="ALL")) == 7
    assert listed(engine, BackupType="AWS_BACKUP") == []
    assert listed(engine, TableName="no-such") == []


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
            "TableId": described(engine, "notes")["TableId"],
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
    assert listed(engine) == []
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
    engine.tidy()
    call(engine, "DeleteBackup", BackupArn=arn)


def test_a_system_backup_ends_after_35_days_or_when_it_is_deleted(
    engine: Engine, clock: Clock
) -> None:
    for _ in range(2):
        switch_recovery_on(engine)
        put(engine, "secret")
        call(engine, "DeleteTable", TableName="notes")
        clock.now += DAY
        make_table(engine, {"p": "S"}, name="notes", keys=("p",))
    first, second = call(engine, "ListBackups", BackupType="SYSTEM")["BackupSummaries"]
    assert first["BackupExpiryDateTime"] == pytest.approx(clock.now - 2 * DAY + 35 * DAY)
    call(engine, "DeleteBackup", BackupArn=second["BackupArn"])
    engine.tidy()
    assert listed(engine, BackupType="ALL") == ["notes$DeletedTableBackup"]
    restore(engine, first["BackupArn"])
    clock.now += 34 * DAY
    engine.tidy()
    assert items(engine) == {"secret": 0}
    assert listed(engine, BackupType="ALL") == []
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


# --- Restoring ------------------------------------------------------------------------------


def test_a_restored_table_says_which_backup_it_comes_from(engine: Engine, clock: Clock) -> None:
    put(engine, "a")
    arn = back_up(engine)["BackupArn"]
    engine.tidy()
    call(engine, "DeleteTable", TableName="notes")
    created = clock.now
    clock.now += 60
    answer = restore(engine, arn, "notes")
    summary = {
        "SourceBackupArn": arn,
        "SourceTableArn": ARN,
        "RestoreDateTime": created,
        "RestoreInProgress": True,
    }
    assert answer["TableStatus"] == "CREATING" and answer["RestoreSummary"] == summary
    engine.tidy()
    assert described(engine, "notes")["RestoreSummary"] == {**summary, "RestoreInProgress": False}
    assert items(engine, "notes") == {"a": 0}


def test_local_indexes_and_collections_are_restored(engine: Engine) -> None:
    local = index("local", key_schema("p", "l"), "KEYS_ONLY")
    make_table(engine, {"p": "S", "s": "S", "l": "S"}, name="many", local=(local,))
    for number in range(5):
        item = {"p": s("a"), "s": s(f"{number}"), "l": s("x"), "more": s("y" * 100)}
        call(engine, "PutItem", TableName="many", Item=item)
    arn = back_up(engine, table="many")["BackupArn"]
    engine.tidy()
    restore(engine, arn)
    restore(engine, arn, "without", LocalSecondaryIndexOverride=[])
    engine.tidy()
    database = engine._database
    with database.reading() as reader:
        source, target = (database.catalogue.table(name).collections for name in ("many", "old"))
        sizes = [reader.execute(f"SELECT pk, bytes FROM {rows}").get for rows in (source, target)]
    assert sizes[0] == sizes[1]
    assert "LocalSecondaryIndexes" not in described(engine, "without")
    assert described(engine, "old")["LocalSecondaryIndexes"][0]["ItemCount"] == 5


def test_a_damaged_backup_is_not_restored(engine: Engine, caplog: pytest.LogCaptureFixture) -> None:
    fill(engine, "notes", 100, v=n(1))
    arn = back_up(engine)["BackupArn"]
    engine.tidy()
    path = file_of(engine, arn)
    whole = path.read_bytes()
    for damaged in (
        whole[:-1],
        whole[: len(whole) // 2],
        whole[:40] + bytes([whole[40] ^ 1]) + whole[41:],
        whole[:-200] + bytes([whole[-200] ^ 1]) + whole[-199:],
        b"",
        b"something else",
    ):
        path.write_bytes(damaged)
        with pytest.raises(BackupFileError):
            list(read_backup(path))
        assert (engine.check_backup(arn) or "").startswith("the backup 0")
        caplog.clear()
        restore(engine, arn)
        engine.tidy()
        assert "the restore of old was given up" in caplog.text
        assert call(engine, "ListTables")["TableNames"] == ["notes"]
    path.unlink()
    refusal = error(engine, "RestoreTableFromBackup", BackupArn=arn, TargetTableName="old")
    assert isinstance(refusal, wire.BackupNotFoundException)
    path.write_bytes(whole)
    assert engine.check_backup(arn) is None
    restore(engine, arn)
    engine.tidy()
    assert len(items(engine)) == 100


def test_backups_taken_together_amid_transfers_have_the_same_sum(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bigtime.engine.storage.backfill.CHUNK", 5)
    stop = Event()
    with Engine.open(tmp_path / "a.db", durability="relaxed") as engine:
        for name in ("left", "right"):
            make_table(engine, {"p": "S"}, name=name, keys=("p",))
            fill(engine, name, 30, v=n(100))

        def transfer() -> None:
            for number in count():
                if stop.is_set():
                    return
                moves = [("left", number % 30, -1), ("right", number * 7 % 30, 1)]
                call(engine, "TransactWriteItems", TransactItems=[move(*each) for each in moves])

        moving = begin(transfer)
        sums = []
        for number in range(3):
            arns = [
                each["BackupArn"]
                for each in engine.create_backups({"left": "both", "right": "both"})
            ]
            names = [f"left-{number}", f"right-{number}"]
            for arn, name in zip(arns, names, strict=True):
                assert until(partial(is_available, engine, arn))
                restore(engine, arn, name)
                assert until(partial(is_active, engine, name))
            sums.append([sum(items(engine, name).values()) for name in names])
        stop.set()
        come(moving)
    assert [left + right for left, right in sums] == [6_000] * 3
    assert len({left for left, _ in sums}) == 3


def is_available(engine: Engine, arn: str) -> bool:
    return bool(details(engine, arn)["BackupStatus"] == "AVAILABLE")


def is_active(engine: Engine, table: str) -> bool:
    return bool(described(engine, table)["TableStatus"] == "ACTIVE")


def move(table: str, number: int, amount: int) -> Any:
    update = {
        "TableName": table,
        "Key": {"p": s(f"{number}")},
        "UpdateExpression": "ADD v :amount",
        "ExpressionAttributeValues": {":amount": n(amount)},
    }
    return {"Update": update}


# --- Other processes ------------------------------------------------------------------------

COPYING = """
import sys, time
from bigtime.engine import Engine
from bigtime.engine.storage import backfill
from bigtime.wire import Request

backfill.CHUNK = 5
engine = Engine.open(sys.argv[1], durability="relaxed", housekeeping=False)
chunks = int(sys.argv[2])
for _ in range(chunks):
    engine._housekeeper.copy()
print("copied", flush=True)
time.sleep(600)
"""


def kill_amid_copies(path: Path, chunks: int) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", COPYING, str(path), str(chunks)], stdout=subprocess.PIPE
    ) as child:
        assert child.stdout is not None and child.stdout.readline() == b"copied\n"
        child.send_signal(signal.SIGKILL)


@pytest.mark.parametrize("chunks", [1, 2, 7, 13])
def test_a_killed_backup_leaves_no_half_file_and_is_made_anew(
    engine: Engine, tmp_path: Path, chunks: int
) -> None:
    fill(engine, "notes", 60, v=n(1))
    arn = back_up(engine)["BackupArn"]
    put(engine, "5", 2)
    kill_amid_copies(engine.path, chunks)
    path = file_of(engine, arn)
    put(engine, "6", 2)
    if not path.exists():
        assert details(engine, arn)["BackupStatus"] == "CREATING"
        assert [one.suffix for one in path.parent.iterdir()] == [".part"]
    engine.tidy()
    assert [one.name for one in path.parent.iterdir()] == [path.name]
    restore(engine, arn)
    engine.tidy()
    assert items(engine) == {str(number): 1 for number in range(60)}


@pytest.mark.parametrize("chunks", [1, 3, 13])
@pytest.mark.parametrize("source", ["backup", "moment"])
def test_a_killed_restore_goes_on(engine: Engine, chunks: int, source: str) -> None:
    fill(engine, "notes", 60, v=n(1))
    switch_recovery_on(engine)
    if source == "backup":
        arn = back_up(engine)["BackupArn"]
        engine.tidy()
        restore(engine, arn)
    else:
        call(
            engine,
            "RestoreTableToPointInTime",
            SourceTableName="notes",
            TargetTableName="old",
            UseLatestRestorableTime=True,
        )
    put(engine, "5", 2)
    kill_amid_copies(engine.path, chunks)
    put(engine, "6", 2)
    call(engine, "DeleteItem", TableName="notes", Key={"p": s("7")})
    engine.tidy()
    assert items(engine) == {str(number): 1 for number in range(60)}
    assert described(engine, "old")["ItemCount"] == 60


def test_the_housekeeper_copies_in_the_background(tmp_path: Path) -> None:
    with Engine.open(tmp_path / "a.db", durability="relaxed") as engine:
        make_table(engine, {"p": "S"}, name="notes", keys=("p",))
        fill(engine, "notes", 60, v=n(1))
        arn = back_up(engine)["BackupArn"]
        assert until(partial(is_available, engine, arn))
        restore(engine, arn)
        assert until(partial(is_active, engine, "old"))
        assert len(items(engine)) == 60


def test_two_processes_that_restore_the_same_do_not_disturb_each_other(engine: Engine) -> None:
    fill(engine, "notes", 60, v=n(1))
    arn = back_up(engine)["BackupArn"]
    engine.tidy()
    restore(engine, arn)
    engine._housekeeper.copy()
    with Engine.open(engine.path, durability="relaxed", housekeeping=False) as other:
        other.tidy()
        call(other, "DeleteItem", TableName="old", Key={"p": s("3")})
        engine.tidy()
        assert len(items(other)) == 59


# --- boto3 ----------------------------------------------------------------------------------


def test_boto3_backs_up_and_restores(engine: Engine, clock: Clock) -> None:
    client = engine.boto3_client()
    client.update_continuous_backups(
        TableName="notes",
        PointInTimeRecoverySpecification={
            "PointInTimeRecoveryEnabled": True,
            "RecoveryPeriodInDays": 7,
        },
    )
    put(engine, "a", 1)
    clock.now += 5
    put(engine, "a", 2)
    about = client.describe_continuous_backups(TableName="notes")["ContinuousBackupsDescription"]
    recovery = about["PointInTimeRecoveryDescription"]
    earliest = recovery["EarliestRestorableDateTime"]
    assert recovery["RecoveryPeriodInDays"] == 7
    client.restore_table_to_point_in_time(
        SourceTableName="notes", TargetTableName="older", RestoreDateTime=earliest
    )
    arn = client.create_backup(TableName="notes", BackupName="mine")["BackupDetails"]["BackupArn"]
    engine.tidy()
    client.restore_table_from_backup(TargetTableName="newer", BackupArn=arn)
    engine.tidy()
    client.get_waiter("table_exists").wait(TableName="newer")
    assert (items(engine, "older"), items(engine, "newer")) == ({"a": 1}, {"a": 2})
    assert len(client.list_backups()["BackupSummaries"]) == 1
    client.delete_backup(BackupArn=arn)
    with pytest.raises(client.exceptions.BackupNotFoundException):
        client.describe_backup(BackupArn=arn)
