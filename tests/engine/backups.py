"""Backups of a table of notes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bigtime.engine import Engine
from bigtime.engine.storage import backup_path
from bigtime.wire import DynamoDBError
from tests.engine.calls import call, n, s

ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/notes"


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


def is_available(engine: Engine, arn: str) -> bool:
    return bool(details(engine, arn)["BackupStatus"] == "AVAILABLE")
