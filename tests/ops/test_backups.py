"""Backups: one commit over all tables, whole or not there, pruned by their time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from bigtime import ops
from bigtime.engine import BackupFileError, Engine
from bigtime.ops import BackupFault, BackupPlan, BackupRuns, FolderPlace, Schedule, backups
from bigtime.wire import Request
from tests.ops.shop import START, Library

HOUR = timedelta(hours=1)


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    library = Library(tmp_path / "library.db")
    yield library
    library.close()


@pytest.fixture
def place(tmp_path: Path) -> FolderPlace:
    return FolderPlace(tmp_path / "vault")


def damage(place: FolderPlace, name: str, file: str = "Books.backup") -> None:
    path = place.folder / name / file
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def test_a_backup_has_every_table_but_the_unsaved(library: Library, place: FolderPlace) -> None:
    library.add("1", "2")
    made = ops.create_backup(library.source("prod"), place, moment=START, keep=timedelta(days=90))
    assert place.names() == [made.name] == ["library-prod-20260101T000000Z"]
    assert ops.read_manifest(place, made.name) == made
    assert [(table.name, table.items) for table in made.tables] == [("Books", 2), ("Loans", 2)]
    assert made.table("Loans").settings.stream == "NEW_AND_OLD_IMAGES"
    assert made.expires_at == START + timedelta(days=90)
    assert ops.verify_backup(place, made.name) == []
    library.engine.tidy()
    assert library.engine(Request("ListBackups", {}))["BackupSummaries"] == []


def test_the_same_moment_is_not_backed_up_twice(library: Library, place: FolderPlace) -> None:
    ops.create_backup(library.source(), place, moment=START)
    with pytest.raises(BackupFault, match="has a backup library-20260101T000000Z already"):
        ops.create_backup(library.source(), place, moment=START)


@pytest.mark.parametrize("file", ["Books.backup", "manifest.json"])
def test_a_damaged_copy_is_reported(library: Library, place: FolderPlace, file: str) -> None:
    library.add("1")
    made = ops.create_backup(library.source(), place, moment=START)
    damage(place, made.name, file)
    (fault,) = ops.verify_backup(place, made.name)
    assert "damaged" in fault


def test_the_last_good_one_is_never_pruned(library: Library, place: FolderPlace) -> None:
    day = timedelta(days=1)
    for number in range(3):
        library.add(str(number))
        ops.create_backup(library.source(), place, moment=START + number * day, keep=day)
    first, good, damaged = place.names()
    damage(place, damaged)
    late = START + 100 * day
    assert ops.prune(place, place.names(), now=late) == [first, damaged]
    assert place.names() == [good]
    damage(place, good)
    ops.create_backup(library.source(), place, moment=START + 3 * day, keep=day)
    damage(place, place.names()[-1])
    with pytest.raises(BackupFault, match=r"No backup in .* can be read, so none is removed"):
        ops.prune(place, place.names(), now=late)
    assert len(place.names()) == 2


@pytest.mark.parametrize(
    ("environment", "schedule", "days", "points"),
    [
        ("dev", "cron(0 1 * * ? *)", 7, 7),
        ("sit", "cron(0 2 * * ? *)", 14, 14),
        pytest.param("prod", "cron(0 * * * ? *)", 90, 2_160, marks=pytest.mark.proof),
    ],
)
def test_a_hundred_days_leave_as_many_points_as_are_kept(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    environment: str,
    schedule: str,
    days: int,
    points: int,
) -> None:
    """The places, the copies and the pruning are real; only the backups of prod are empty."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)  # thousands of them take minutes
    library = Library(tmp_path / "library.db")
    library.add("1")
    if environment == "prod":
        monkeypatch.setattr(backups, "copy_tables", lambda source: {})
    first, second = FolderPlace(tmp_path / "one"), FolderPlace(tmp_path / "two")
    plan = BackupPlan(Schedule.parse(schedule), timedelta(days=days), first, second)
    runs = BackupRuns(library.source(environment), plan, library.clock)
    moment = plan.schedule.next(START)
    made = 0
    while moment is not None and moment <= START + timedelta(days=100):
        library.clock.stop(moment)
        done = runs.round()
        assert done.faults == []
        made += done.made is not None
        moment = plan.schedule.next(moment)
    assert made == (2_400 if environment == "prod" else 100)
    assert first.names() == second.names()
    assert len(first.names()) == points
    assert ops.verify_backup(second, second.names()[0]) == []
    library.close()


def test_after_downtime_it_catches_up_once(library: Library, tmp_path: Path) -> None:
    place = FolderPlace(tmp_path / "vault")
    plan = BackupPlan(Schedule.parse("cron(0 * * * ? *)"), timedelta(days=90), place)
    runs = BackupRuns(library.source(), plan, library.clock)
    assert runs.round().made is not None
    assert runs.round().made is None
    library.clock.advance(hours=30, minutes=20)
    assert runs.round().made is not None
    assert runs.round().made is None
    assert place.names() == ["library-20260101T000000Z", "library-20260102T060000Z"]
    assert runs.seconds_until_next() == 30.0


def test_a_second_place_that_was_away_gets_what_it_lacks(library: Library, tmp_path: Path) -> None:
    first, second = FolderPlace(tmp_path / "one"), FolderPlace(tmp_path / "two")
    plan = BackupPlan(Schedule.parse("cron(0 * * * ? *)"), timedelta(days=90), first, second)
    runs = BackupRuns(library.source(), plan, library.clock)
    (tmp_path / "two").write_text("in the way")
    done = runs.round()
    assert done.made is not None and "two" in done.faults[0]
    library.clock.advance(hours=1)
    (tmp_path / "two").unlink()
    assert runs.round().copied == first.names() == second.names()
    assert len(second.names()) == 2


def test_what_a_killed_backup_left_goes_with_the_next(library: Library, place: FolderPlace) -> None:
    library.add("1")
    ops.create_backup(library.source(), place, moment=START)
    library.engine.create_backups({"Books": "bigtime-backup.library", "Loans": "other"})
    library.engine.tidy()
    left = place.folder / ".library-20260101T010000Z.0a0a.part"
    left.mkdir()
    (left / "Books.backup").write_bytes(b"half")
    assert len(place.names()) == 1
    ops.create_backup(library.source(), place, moment=START + HOUR)
    library.engine.tidy()
    assert [path.name for path in place.folder.glob(".*.part")] == []
    left_over = library.engine(Request("ListBackups", {}))["BackupSummaries"]
    assert [each["BackupName"] for each in left_over] == ["other"]


KILLED = """
import os, sys
from datetime import timedelta
from pathlib import Path
from bigtime import ops
from bigtime.ops import backups
from tests.ops.shop import START, Library

library = Library(Path(sys.argv[1]))
place = ops.FolderPlace(Path(sys.argv[2]))
copy_file = backups.copy_file
def die_half_way(source, target):
    copy_file(source, target)
    os.kill(os.getpid(), 9)
backups.copy_file = die_half_way
ops.create_backup(library.source(), place, moment=START)
"""


def test_a_killed_backup_leaves_no_half_one(tmp_path: Path, place: FolderPlace) -> None:
    library = Library(tmp_path / "library.db")
    library.add("1")
    library.close()
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, tmp_path / "library.db", place.folder], check=False
    )
    assert killed.returncode == -signal.SIGKILL
    assert place.names() == []
    library = Library(tmp_path / "library.db")
    made = ops.create_backup(library.source(), place, moment=START)
    assert place.names() == [made.name]
    assert list(place.folder.glob(".*.part")) == []
    library.close()


def test_a_place_must_be_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(BackupFault, match="is a file: name a folder"):
        ops.place_at(str(tmp_path / "file"))
    with pytest.raises(BackupFault, match="There is no gs://"):
        ops.place_at("gs://bucket/backups")
    with pytest.raises(BackupFault, match="There is no backup"):
        ops.read_manifest(FolderPlace(tmp_path), "../file")


def test_another_engine_restores_a_table_from_the_file_alone(
    library: Library, place: FolderPlace, tmp_path: Path
) -> None:
    library.add("1", "2")
    made = ops.create_backup(library.source(), place, moment=START)
    with Engine.memory(housekeeping=False) as other:
        adopted = other.adopt_backup(place.file(made.name, "Books.backup"))
        arn = adopted["BackupArn"]
        other(Request("RestoreTableFromBackup", {"TargetTableName": "New", "BackupArn": arn}))
        other.tidy()
        items = other(Request("Scan", {"TableName": "New", "IndexName": "ByAuthor"}))["Items"]
        assert sorted(item["PK"]["S"] for item in items) == ["BOOK#1", "BOOK#2"]


def test_a_file_is_taken_over_once_and_only_if_it_is_whole(
    library: Library, place: FolderPlace, tmp_path: Path
) -> None:
    library.add("1")
    made = ops.create_backup(library.source(), place, moment=START)
    path = place.file(made.name, "Books.backup")
    with Engine.memory(housekeeping=False) as other:
        first = other.adopt_backup(path)
        assert other.adopt_backup(path) == first
        assert other.check_backup(first["BackupArn"]) is None
        assert other.backup_path(first["BackupArn"]).read_bytes() == path.read_bytes()
        for wrong in (path.read_bytes()[:-3], b"no backup"):
            (tmp_path / "wrong").write_bytes(wrong)
            with pytest.raises(BackupFileError):
                other.adopt_backup(tmp_path / "wrong")
        with pytest.raises(BackupFileError, match="cannot be read"):
            other.adopt_backup(tmp_path / "missing")
        assert len(other(Request("ListBackups", {}))["BackupSummaries"]) == 1
