"""Restores into another region: by the ARN of a table, or of a backup."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bigtime.engine import Engine
from bigtime.wire import (
    BackupInUseException,
    BackupNotFoundException,
    InvalidRestoreTimeException,
    Request,
    Response,
    TableAlreadyExistsException,
    TableNotFoundException,
    Transport,
    ValidationException,
)
from tests.engine.calls import until
from tests.engine.regions.world import AWAY, HOME, TABLE, HandClock, call, create, put

ARN = f"arn:aws:dynamodb:{HOME}:000000000000:table/{TABLE}"
RECOVERY = {"PointInTimeRecoveryEnabled": True}
KEY = {"Enabled": True, "SSEType": "KMS"}


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def engine(tmp_path: Path, clock: HandClock) -> Iterator[Engine]:
    path = tmp_path / "shop.db"
    with Engine.open(
        path, durability="relaxed", housekeeping=False, regions=[AWAY], clock=clock
    ) as engine:
        create(engine)
        call(engine, "UpdateContinuousBackups", PointInTimeRecoverySpecification=RECOVERY)
        put(engine, "a", note="old")
        clock.now += 10
        put(engine, "a", note="new")
        put(engine, "b")
        clock.now += 10
        yield engine


def restore(region: Transport, **params: Any) -> Response:
    given = {"TargetTableName": "restored", "SSESpecificationOverride": KEY, **params}
    request = Request("RestoreTableToPointInTime", given)
    table: Response = region(request)["TableDescription"]
    return table


def items(region: Transport) -> dict[str, str]:
    found = region(Request("Scan", {"TableName": "restored"}))["Items"]
    return {item["id"]["S"]: item.get("note", {}).get("S", "") for item in found}


def describe_restored(region: Transport) -> Response:
    table: Response = region(Request("DescribeTable", {"TableName": "restored"}))["Table"]
    return table


def pins(engine: Engine) -> int:
    with engine._database.reading() as reader:
        count: int = reader.execute("SELECT count(*) FROM pins").get
    return count


def test_a_moment_of_a_table_in_another_region(engine: Engine, clock: HandClock) -> None:
    away = engine.in_region(AWAY)
    table = restore(away, SourceTableArn=ARN, RestoreDateTime=clock.now - 15)
    assert table["RestoreSummary"]["SourceTableArn"] == ARN
    assert table["TableArn"].split(":")[3] == AWAY
    put(engine, "c")
    engine.tidy()
    assert items(away) == {"a": "old"}
    assert "RestoreSummary" not in describe_restored(away)
    assert pins(engine) == 0
    assert engine(Request("ListTables", {}))["TableNames"] == [TABLE]


def test_the_latest_moment_of_a_deleted_table(engine: Engine) -> None:
    call(engine, "DeleteTable")
    away = engine.in_region(AWAY)
    restore(away, SourceTableArn=ARN, UseLatestRestorableTime=True)
    engine.tidy()
    assert items(away) == {"a": "new", "b": ""}


def test_a_backup_in_another_region(engine: Engine) -> None:
    backup = call(engine, "CreateBackup", BackupName="nightly")["BackupDetails"]["BackupArn"]
    engine.tidy()
    put(engine, "c")
    away = engine.in_region(AWAY)
    params = {"TargetTableName": "restored", "BackupArn": backup, "SSESpecificationOverride": KEY}
    table = away(Request("RestoreTableFromBackup", params))["TableDescription"]
    assert table["RestoreSummary"]["SourceBackupArn"] == backup
    engine.tidy()
    assert items(away) == {"a": "new", "b": ""}
    assert "RestoreSummary" not in describe_restored(away)
    with pytest.raises(BackupNotFoundException):
        away(Request("RestoreTableFromBackup", {**params, "BackupArn": backup[:-1] + "x"}))


def test_the_system_backup_of_a_deleted_table(engine: Engine) -> None:
    call(engine, "DeleteTable")
    (system,) = engine(Request("ListBackups", {"BackupType": "SYSTEM"}))["BackupSummaries"]
    away = engine.in_region(AWAY)
    params = {"TargetTableName": "restored", "BackupArn": system["BackupArn"]}
    away(Request("RestoreTableFromBackup", {**params, "SSESpecificationOverride": KEY}))
    engine.tidy()
    assert items(away) == {"a": "new", "b": ""}


def test_a_restore_from_another_region_names_its_key(engine: Engine) -> None:
    """(DDB-TABLE-274 of https://github.com/aws-controllers-k8s/dynamodb-controller)"""
    backup = call(engine, "CreateBackup", BackupName="nightly")["BackupDetails"]["BackupArn"]
    engine.tidy()
    target = {"TargetTableName": "restored"}
    latest = {"SourceTableArn": ARN, "UseLatestRestorableTime": True}
    elsewhere = backup.replace(HOME, "ap-south-1")
    for region, operation, params in (
        (engine.in_region(AWAY), "RestoreTableToPointInTime", latest),
        (engine.in_region(AWAY), "RestoreTableFromBackup", {"BackupArn": backup}),
        (engine, "RestoreTableFromBackup", {"BackupArn": elsewhere}),
    ):
        with pytest.raises(ValidationException) as caught:
            region(Request(operation, {**target, **params}))
        assert caught.value.message == (
            "Invalid Request: sseSpecificationOverride must be provided for cross-region restores"
        )


def test_a_backup_is_restored_in_one_region_at_a_time(engine: Engine) -> None:
    """(DDB-BACKUP-010 of https://github.com/aws-controllers-k8s/dynamodb-controller)"""
    backup = call(engine, "CreateBackup", BackupName="nightly")["BackupDetails"]["BackupArn"]
    engine.tidy()
    engine(Request("RestoreTableFromBackup", {"TargetTableName": "old", "BackupArn": backup}))
    away = engine.in_region(AWAY)
    params = {"TargetTableName": "restored", "BackupArn": backup, "SSESpecificationOverride": KEY}
    with pytest.raises(BackupInUseException):
        away(Request("RestoreTableFromBackup", params))
    engine.tidy()
    away(Request("RestoreTableFromBackup", params))
    with pytest.raises(BackupInUseException):
        away(Request("RestoreTableFromBackup", {**params, "TargetTableName": "older"}))
    engine.tidy()
    assert items(away) == {"a": "new", "b": ""}


def test_what_is_refused_leaves_no_pin(engine: Engine, clock: HandClock) -> None:
    away = engine.in_region(AWAY)
    with pytest.raises(InvalidRestoreTimeException):
        restore(away, SourceTableArn=ARN, RestoreDateTime=clock.now + 100)
    create(away)
    with pytest.raises(TableAlreadyExistsException):
        restore(away, SourceTableArn=ARN, UseLatestRestorableTime=True, TargetTableName=TABLE)
    with pytest.raises(TableNotFoundException):
        restore(away, SourceTableArn=ARN + "-", UseLatestRestorableTime=True)
    third = ARN.replace(HOME, "ap-south-1")
    with pytest.raises(TableNotFoundException):
        restore(away, SourceTableArn=third, UseLatestRestorableTime=True)
    engine.tidy()
    assert pins(engine) == 0


def test_an_interrupted_restore_goes_on(tmp_path: Path, engine: Engine) -> None:
    path = engine.path
    restore(engine.in_region(AWAY), SourceTableArn=ARN, UseLatestRestorableTime=True)
    engine.close()
    with Engine.open(path, durability="relaxed", housekeeping=False, regions=[AWAY]) as again:
        again.tidy()
        assert items(again.in_region(AWAY)) == {"a": "new", "b": ""}
        assert pins(again) == 0


def test_a_region_that_is_gone_ends_the_restore(tmp_path: Path, engine: Engine) -> None:
    away = engine.path.with_name(f"shop.{AWAY}.db")
    restore(engine.in_region(AWAY), SourceTableArn=ARN, UseLatestRestorableTime=True)
    engine.close()
    with Engine.open(away, durability="relaxed", housekeeping=False) as alone:
        alone.tidy()
        assert alone(Request("ListTables", {}))["TableNames"] == []


def test_regions_that_refuse_restores_from_each_other_do_not_wait_for_each_other(
    engine: Engine,
) -> None:
    away = engine.in_region(AWAY)
    create(away)
    call(away, "UpdateContinuousBackups", PointInTimeRecoverySpecification=RECOVERY)

    def restore_in_vain(region: Transport, arn: str) -> None:
        for _ in range(300):
            with pytest.raises(TableAlreadyExistsException):
                restore(
                    region, SourceTableArn=arn, UseLatestRestorableTime=True, TargetTableName=TABLE
                )

    routes = [(away, ARN), (engine, ARN.replace(HOME, AWAY))]
    threads = [
        threading.Thread(target=restore_in_vain, args=route, daemon=True) for route in routes
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert not any(thread.is_alive() for thread in threads)
    assert until(lambda: pins(engine) == 0)
