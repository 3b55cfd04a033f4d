"""Files of older formats, of formats that nobody wrote, and files that may only be read."""

from __future__ import annotations

import gzip
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import orjson
import pytest

from bigtime.engine import FORMAT, Engine, FileFormatError
from bigtime.engine.storage import TableDefinition, format
from bigtime.engine.storage.checksums import checksum_vfs
from bigtime.wire import AccessDeniedException, ResourceNotFoundException
from tests.engine.calls import call, make_table, s
from tests.engine.damage import change
from tests.engine.formats.make import CREATED, order

FORMATS = Path(__file__).parent / "formats"


def unpack(number: int, folder: Path) -> Path:
    path = folder / f"format-{number}.db"
    path.write_bytes(gzip.decompress((FORMATS / f"format-{number}.db.gz").read_bytes()))
    return path


def user_version(path: Path) -> int:
    connection = apsw.Connection(str(path), vfs=checksum_vfs())
    version: int = connection.pragma("user_version")
    connection.close()
    return version


def check_orders(engine: Engine) -> None:
    """What `formats/make.py` put into a file can be read in every way."""
    orders = [order(number) for number in range(41) if number != 39]
    scanned = call(engine, "Scan", TableName="Orders")["Items"]
    by_number = lambda item: int(item["number"]["N"])  # noqa: E731
    assert sorted(scanned, key=by_number) == orders
    paid = call(
        engine,
        "Query",
        TableName="Orders",
        IndexName="by_status",
        KeyConditionExpression="#s = :s",
        ExpressionAttributeNames={"#s": "status"},
        ExpressionAttributeValues={":s": s("paid")},
    )["Items"]
    assert paid == [each for each in orders if each["status"] == s("paid")]
    table = call(engine, "DescribeTable", TableName="Orders")["Table"]
    assert table["ItemCount"] == len(orders) and len(table["LocalSecondaryIndexes"]) == 1


def test_the_present_format_and_all_before_it_are_kept() -> None:
    kept = {path.name for path in FORMATS.glob("*.gz")}
    assert kept == {f"format-{number}.db.gz" for number in range(1, FORMAT + 1)}


@pytest.mark.parametrize("number", range(1, FORMAT + 1))
def test_a_file_of_every_format_opens_and_has_the_present_one(number: int, tmp_path: Path) -> None:
    path = unpack(number, tmp_path)
    with Engine.open(path, clock=lambda: CREATED, housekeeping=False) as engine:
        check_orders(engine)
        call(engine, "PutItem", TableName="Orders", Item=order(39))
        call(engine, "DeleteItem", TableName="Orders", Key=key_of(39))
        engine.tidy()
        check_orders(engine)
    assert user_version(path) == FORMAT


def key_of(number: int) -> dict[str, Any]:
    return {name: order(number)[name] for name in ("customer", "number")}


def test_an_upgrade_that_fails_leaves_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = unpack(1, tmp_path)

    def fail(connection: apsw.Connection) -> None:
        connection.execute("DELETE FROM tables")
        raise RuntimeError("the power went")

    monkeypatch.setitem(format.UPGRADES, 1, fail)
    with pytest.raises(RuntimeError, match="the power went"):
        Engine.open(path)
    monkeypatch.undo()
    assert user_version(path) == 1
    with Engine.open(path, housekeeping=False) as engine:
        check_orders(engine)


@pytest.mark.parametrize("number", [0, -1, -(2**31)])
def test_a_format_that_nobody_writes_is_refused(number: int, tmp_path: Path) -> None:
    path = unpack(FORMAT, tmp_path)
    change(path, f"PRAGMA user_version = {number}")
    content = path.read_bytes()
    with pytest.raises(FileFormatError, match=f"has format {number}, which no version of bigtime"):
        Engine.open(path)
    assert path.read_bytes() == content


def test_a_field_that_this_version_does_not_know_is_refused(tmp_path: Path) -> None:
    path = unpack(FORMAT, tmp_path)
    with pytest.raises(FileFormatError, match=r"'replicas'.* upgrade"):
        TableDefinition.from_json(with_field(path))
    change(path, "UPDATE tables SET definition = ?", with_field(path))
    with pytest.raises(FileFormatError, match=r"'replicas'.* upgrade"):
        Engine.open(path)


def with_field(path: Path) -> bytes:
    connection = apsw.Connection(str(path), vfs=checksum_vfs())
    definition = orjson.loads(connection.execute("SELECT definition FROM tables").get)
    connection.close()
    return orjson.dumps({**definition, "replicas": []})


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"{}", b'{"hash_key": 1}'])
def test_a_definition_that_makes_no_sense_is_refused(text: bytes) -> None:
    with pytest.raises(FileFormatError):
        TableDefinition.from_json(text)


def test_an_engine_whose_file_was_upgraded_under_it_stops(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    with Engine.open(path, housekeeping=False) as engine:
        make_table(engine, {"p": "S"}, name="notes", keys=("p",))
        other = engine._database.file.writer
        other.execute("UPDATE settings SET value = value + 1 WHERE name = 'catalogue version'")
        other.pragma("user_version", FORMAT + 1)
        engine._database.catalogue.rolled_back()
        with pytest.raises(FileFormatError, match="upgrade bigtime"):
            call(engine, "PutItem", TableName="notes", Item={"p": s("a")})


# --- Read-only ----------------------------------------------------------------------------------


class Disk:
    """A folder that can be made read-only, for root too."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def freeze(self) -> None:
        if os.geteuid() == 0:
            subprocess.run(["mount", "-o", "remount,ro", self.folder], check=True)
        else:
            for path in [*self.folder.iterdir(), self.folder]:
                path.chmod(path.stat().st_mode & ~0o222)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    folder = tmp_path / "disk"
    folder.mkdir()
    if os.geteuid() == 0:
        mount = ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(folder)]
        if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
            pytest.skip("this machine does not let root mount a small file system")
    yield Disk(folder)
    if os.geteuid() == 0:
        subprocess.run(["umount", "-l", folder], check=True)
    else:
        folder.chmod(0o700)


@pytest.mark.parametrize("with_log", [False, True])
def test_a_file_on_a_read_only_disk_can_be_read_and_not_written(disk: Disk, with_log: bool) -> None:
    path = unpack(FORMAT, disk.folder)
    log = Path(f"{path}-wal")
    if with_log:
        Engine.open(path, housekeeping=False).close()
    assert log.exists() == with_log or not with_log
    disk.freeze()
    before = {each.name: each.read_bytes() for each in disk.folder.iterdir()}
    with Engine.open(path) as engine:
        check_orders(engine)
        for operation, params in (
            ("PutItem", {"TableName": "Orders", "Item": order(39)}),
            ("DeleteTable", {"TableName": "Orders"}),
        ):
            with pytest.raises(AccessDeniedException, match="read-only") as caught:
                call(engine, operation, **params)
            assert "retry" not in str(caught.value).lower()
        engine.tidy()
    assert {each.name: each.read_bytes() for each in disk.folder.iterdir()} == before


def test_an_older_file_on_a_read_only_disk_has_no_backups(disk: Disk) -> None:
    path = unpack(2, disk.folder)
    disk.freeze()
    with Engine.open(path) as engine:
        check_orders(engine)
        assert call(engine, "ListBackups") == {"BackupSummaries": []}
        assert call(engine, "ListTables")["TableNames"] == ["Orders"]
        with pytest.raises(ResourceNotFoundException):
            call(engine, "DescribeTable", TableName="Others")
        about = call(engine, "DescribeContinuousBackups", TableName="Orders")
        recovery = about["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"]
        assert recovery == {"PointInTimeRecoveryStatus": "DISABLED"}


def test_a_kept_file_can_be_restored_from(tmp_path: Path) -> None:
    path = unpack(3, tmp_path)
    with Engine.open(path, clock=lambda: CREATED + 60, housekeeping=False) as engine:
        (backup,) = call(engine, "ListBackups", BackupType="SYSTEM")["BackupSummaries"]
        for operation, source in (
            ("RestoreTableFromBackup", {"BackupArn": backup["BackupArn"]}),
            (
                "RestoreTableToPointInTime",
                {"SourceTableName": "Orders", "RestoreDateTime": CREATED},
            ),
        ):
            call(engine, operation, TargetTableName=operation, **source)
        engine.tidy()
        assert call(engine, "Scan", TableName="RestoreTableFromBackup")["Items"] == [order(1)]
        restored = call(engine, "Scan", TableName="RestoreTableToPointInTime")["Items"]
        assert len(restored) == 40


def test_a_missing_file_on_a_read_only_disk_is_refused_with_a_sentence(disk: Disk) -> None:
    disk.freeze()
    with pytest.raises(FileFormatError, match="cannot be created"):
        Engine.open(disk.folder / "new.db")
