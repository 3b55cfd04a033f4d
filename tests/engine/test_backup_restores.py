"""Restores from backups, in this process and in others."""

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
from bigtime.engine.storage import BackupFileError, Database, read_backup
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
    begin,
    call,
    come,
    describe_table,
    fill,
    index,
    key_schema,
    make_table,
    n,
    s,
    until,
)


@pytest.fixture
def engine(clock: Clock, tmp_path: Path) -> Iterator[Engine]:
    with Engine.open(
        tmp_path / "notes.db", durability="relaxed", clock=clock, housekeeping=False
    ) as engine:
        make_table(engine, {"p": "S"}, name="notes", keys=("p",))
        yield engine


# --- Restoring ------------------------------------------------------------------------------


def test_a_table_says_which_backup_it_comes_from_until_it_is_restored(
    engine: Engine, clock: Clock
) -> None:
    """DDB-TABLE-216 of aws-controllers-k8s/dynamodb-controller."""
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
    assert describe_table(engine, "notes")["RestoreSummary"] == summary
    engine.tidy()
    table = describe_table(engine, "notes")
    assert table["TableStatus"] == "ACTIVE" and "RestoreSummary" not in table
    assert items(engine, "notes") == {"a": 0}


def test_the_indexes_of_a_restored_table_show_no_status_until_it_is_active(engine: Engine) -> None:
    """DDB-TABLE-282 of aws-controllers-k8s/dynamodb-controller."""
    by_l = index("by_l", key_schema("l"))
    make_table(engine, {"p": "S", "l": "S"}, name="many", keys=("p",), globally=(by_l,))
    engine.tidy()
    arn = back_up(engine, table="many")["BackupArn"]
    engine.tidy()
    answer = restore(engine, arn)
    assert ["IndexStatus" in each for each in answer["GlobalSecondaryIndexes"]] == [False]
    engine.tidy()
    (restored,) = describe_table(engine, "old")["GlobalSecondaryIndexes"]
    assert restored["IndexStatus"] == "ACTIVE"


def test_local_indexes_and_collections_are_restored(engine: Engine) -> None:
    local = index("local", key_schema("p", "l"), "KEYS_ONLY")
    make_table(engine, {"p": "S", "s": "S", "l": "S"}, name="many", local=(local,))
    for number in range(5):
        item = {"p": s("a"), "s": s(f"{number}"), "l": s("x"), "more": s("y" * 100)}
        call(engine, "PutItem", TableName="many", Item=item)
    arn = back_up(engine, table="many")["BackupArn"]
    engine.tidy()
    restore(engine, arn)
    engine.tidy()
    restore(engine, arn, "without", LocalSecondaryIndexOverride=[])
    engine.tidy()
    database = engine._database
    with database.reading() as reader:
        source, target = (database.catalogue.table(name).collections for name in ("many", "old"))
        sizes = [reader.execute(f"SELECT pk, bytes FROM {rows}").get for rows in (source, target)]
    assert sizes[0] == sizes[1]
    assert "LocalSecondaryIndexes" not in describe_table(engine, "without")
    assert describe_table(engine, "old")["LocalSecondaryIndexes"][0]["ItemCount"] == 5


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


@pytest.mark.parametrize("operation", ["DescribeTable", "ListTables", "DescribeContinuousBackups"])
def test_a_table_is_there_while_its_restore_ends(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, operation: str
) -> None:
    arn = back_up(engine)["BackupArn"]
    engine.tidy()
    restore(engine, arn)
    read = Database.reading

    def finish_and_read(database: Database) -> Any:
        monkeypatch.setattr(Database, "reading", read)
        engine.tidy()
        return read(database)

    monkeypatch.setattr(Database, "reading", finish_and_read)
    if operation == "ListTables":
        assert call(engine, operation)["TableNames"] == ["notes", "old"]
    else:
        call(engine, operation, TableName="old")
    assert is_active(engine, "old")


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


def is_active(engine: Engine, table: str) -> bool:
    return bool(describe_table(engine, table)["TableStatus"] == "ACTIVE")


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
        assert [each.suffix for each in path.parent.iterdir()] == [".part"]
    engine.tidy()
    assert [each.name for each in path.parent.iterdir()] == [path.name]
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
    assert describe_table(engine, "old")["ItemCount"] == 60


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
