"""`bigtime doctor`: it finds what is wrong, and touches nothing."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import apsw
import pytest

import bigtime
from bigtime.cli.doctor import file_findings, sqlite
from bigtime.engine import Engine
from bigtime.engine.storage.checksums import checksum_vfs
from tests.cli.program import ask, run
from tests.engine.test_format import unpack

ORDERS: Any = {
    "TableName": "Orders",
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "BillingMode": "PAY_PER_REQUEST",
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A healthy file with some items, closed."""
    path = tmp_path / "shop.db"
    with Engine.open(path, durability="relaxed") as engine:
        fill(engine, 200)
    return path


def fill(engine: Engine, items: int) -> None:
    client = engine.boto3_client()
    client.create_table(**ORDERS)
    for number in range(items):
        client.put_item(
            TableName="Orders", Item={"pk": {"S": str(number)}, "text": {"S": "x" * 1000}}
        )


def states(path: Path, seconds: float | None = 5.0) -> dict[str, str]:
    return {finding.subject: finding.state for finding in file_findings(path, seconds)}


def test_it_names_what_the_engine_stands_on(tmp_path: Path) -> None:
    done = ask("doctor", cwd=tmp_path)
    assert done.returncode == 0
    for word in ("Bigtime", bigtime.__version__, "Python", "apsw", "SQLite", "boto3"):
        assert word in done.stdout
    assert "without the WAL-reset bug" in done.stdout


def test_a_healthy_file_is_found_healthy(file: Path) -> None:
    done = run("doctor", "--data", file)
    assert done.returncode == 0, done.stdout
    for word in ("file", "format", "WAL", "pages", "integrity"):
        assert word in done.stdout
    assert "wrong" not in done.stdout


def test_the_file_beside_it_is_found_without_being_named(file: Path) -> None:
    (file.parent / "data").mkdir()
    file.rename(file.parent / "data" / "bigtime.db")
    assert "integrity" in ask("doctor", cwd=file.parent).stdout


@pytest.mark.parametrize(
    ("release", "state"),
    [
        ("3.6.23", "ok"),
        ("3.7.0", "look"),
        ("3.40.1", "look"),
        ("3.51.2", "look"),
        ("3.51.3", "ok"),
        ("3.54.1", "ok"),
    ],
)
def test_it_knows_which_releases_have_the_wal_reset_bug(release: str, state: str) -> None:
    assert sqlite(release).state == state


def test_a_missing_file_is_wrong(tmp_path: Path) -> None:
    done = ask("doctor", "--data", tmp_path / "nothing.db")
    assert done.returncode == 1
    assert "is not there" in done.stdout


def test_a_damaged_file_is_wrong(file: Path) -> None:
    with file.open("r+b") as damaged:
        damaged.seek(file.stat().st_size // 2)
        damaged.write(os.urandom(8192))
    done = ask("doctor", "--data", file)
    assert done.returncode == 1
    assert "wrong" in done.stdout and "Traceback" not in done.stderr


def test_a_file_that_is_no_database_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("milk, eggs, tea\n" * 1000)
    path.chmod(0o600)
    assert states(path)["format"] == "wrong"


def test_another_programs_database_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE other (a)")
    connection.close()
    assert states(path)["format"] == "wrong"


def test_a_file_of_a_later_format_is_wrong(file: Path) -> None:
    connection = apsw.Connection(str(file), vfs=checksum_vfs())
    connection.execute("PRAGMA user_version = 999")
    connection.close()
    assert states(file)["format"] == "wrong"


def test_a_file_that_others_can_read_is_pointed_out(file: Path) -> None:
    assert states(file)["file"] == "ok"
    file.chmod(0o644)
    assert states(file)["file"] == "look"


def test_a_large_log_is_pointed_out(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bigtime.cli.doctor.WAL_ALARM", 1000)
    connection = apsw.Connection(str(file), vfs=checksum_vfs())
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    connection.execute("UPDATE settings SET value = value + 1 WHERE name = 'last number'")
    connection.close()
    assert states(file)["WAL"] == "look"


def test_a_check_that_takes_too_long_stops_and_says_so(file: Path) -> None:
    assert states(file, seconds=0)["integrity"] == "look"
    assert states(file, seconds=None)["integrity"] == "ok"


def test_it_disturbs_no_running_engine_and_changes_no_file(file: Path) -> None:
    with Engine.open(file) as engine:
        client = engine.boto3_client()
        client.put_item(TableName="Orders", Item={"pk": {"S": "before"}})
        before = contents(file)
        done = ask("doctor", "--data", file, "--full")
        assert done.returncode == 0, done.stdout
        assert contents(file) == before
        client.put_item(TableName="Orders", Item={"pk": {"S": "after"}})
        assert client.describe_table(TableName="Orders")["Table"]["ItemCount"] == 202
    with Engine.open(file) as engine:
        client = engine.boto3_client()
        assert client.get_item(TableName="Orders", Key={"pk": {"S": "after"}})["Item"]


def test_it_leaves_a_closed_file_as_it_was(file: Path) -> None:
    before = contents(file)
    ask("doctor", "--data", file)
    assert contents(file) == before


def contents(file: Path) -> dict[str, bytes]:
    return {
        path.name: path.read_bytes()
        for path in (file, file.with_name(file.name + "-wal"))
        if path.exists()
    }


def test_it_says_that_the_file_is_plain_and_whether_it_has_checksums(file: Path) -> None:
    found = {finding.subject: finding.seen for finding in file_findings(file, None)}
    assert "encrypted volume" in found["encryption"]
    assert found["checksums"] == "on every page"


def test_a_file_without_checksums_is_pointed_out(tmp_path: Path) -> None:
    path = unpack(1, tmp_path)
    path.chmod(0o600)
    assert states(path)["checksums"] == "look"
