"""Backups and archives in buckets of S3: moto's server stands for AWS."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import boto3
import pytest

from bigtime import ops
from bigtime.engine import Engine
from bigtime.ops import BackupFault, BackupPlan, BackupRuns, BucketPlace, FolderPlace, Schedule
from bigtime.store import Store
from bigtime.systems import portal
from bigtime.wire import Request
from tests.cli.program import invoke
from tests.ops.shop import START, Library
from tests.terraform.conftest import moto_server

HOUR = timedelta(hours=1)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with moto_server() as url:
        yield url


@pytest.fixture
def bucket(server: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", server)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "local")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "local")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    made = boto3.resource("s3").create_bucket(Bucket="vault")
    yield "vault"
    made.objects.delete()
    made.delete()


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    library = Library(tmp_path / "library.db")
    library.add(*map(str, range(40)))
    yield library
    library.close()


def keys_in(bucket: str) -> list[str]:
    return [each.key for each in boto3.resource("s3").Bucket(bucket).objects.all()]


def test_a_backup_in_a_bucket_is_verified_and_restored(library: Library, bucket: str) -> None:
    place = ops.place_at("s3://vault/prod/")
    assert isinstance(place, BucketPlace) and place.where == "s3://vault/prod"
    made = ops.create_backup(library.source(), place, moment=START)
    assert place.names() == [made.name] and ops.verify_backup(place, made.name) == []
    assert f"prod/{made.name}/manifest.json" in keys_in(bucket)
    seen = place.verification(made.name)
    assert seen is not None and seen.faults == []
    with pytest.raises(BackupFault, match=r"has a backup .* already"):
        ops.create_backup(library.source(), place, moment=START)
    with Engine.memory(housekeeping=False) as engine:
        store = Store(engine, sleep=lambda _: engine.tidy())
        ops.restore_backup(ops.place_at("s3://vault/prod"), made.name, store, engine=engine)
        assert engine(Request("Scan", {"TableName": "Books"}))["Count"] == 40


def test_an_object_that_was_changed_is_reported_and_one_that_is_gone(
    library: Library, bucket: str
) -> None:
    place = ops.place_at("s3://vault")
    made = ops.create_backup(library.source(), place, moment=START)
    there = boto3.resource("s3").Bucket(bucket)
    there.put_object(Key=f"{made.name}/Books.backup", Body=b"bigtime backup 1\n")
    (fault,) = ops.verify_backup(place, made.name)
    assert "Books.backup is damaged" in fault
    seen = place.verification(made.name)
    assert seen is not None and seen.faults == [fault]
    there.delete_objects(Delete={"Objects": [{"Key": f"{made.name}/Books.backup"}]})
    (fault,) = ops.verify_backup(place, made.name)
    assert "Books.backup cannot be read" in fault


@pytest.mark.parametrize("is_first", [True, False])
def test_a_bucket_is_the_first_place_or_the_second(
    library: Library, bucket: str, tmp_path: Path, is_first: bool
) -> None:
    bucket_place, folder = ops.place_at("s3://vault/copies"), FolderPlace(tmp_path / "vault")
    first, second = (bucket_place, folder) if is_first else (folder, bucket_place)
    plan = BackupPlan(Schedule.parse("cron(0 * * * ? *)"), 3 * HOUR, first, second)
    runs = BackupRuns(library.source(), plan, library.clock)
    for _ in range(6):
        library.clock.advance(hours=1)
        assert runs.round().faults == []
    assert first.names() == second.names() and len(first.names()) == 3
    assert ops.verify_backup(second, second.names()[0]) == []
    left = {key.split("/")[1] for key in keys_in(bucket) if "/.verified/" not in key}
    assert left == set(first.names())


def test_half_a_backup_is_none_and_goes_after_a_day(
    library: Library, bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = ops.place_at("s3://vault")
    left = "library-20250101T000000Z/Books.backup"
    boto3.resource("s3").Bucket(bucket).put_object(Key=left, Body=b"half")
    assert place.names() == []
    ops.create_backup(library.source(), place, moment=START)
    assert left in keys_in(bucket)
    monkeypatch.setattr("bigtime.ops.backup_places.LEFT_FOR", timedelta(seconds=-60))
    ops.create_backup(library.source(), place, moment=START + HOUR)
    assert left not in keys_in(bucket) and len(place.names()) == 2


def test_a_bucket_that_cannot_be_used_is_a_sentence(library: Library, bucket: str) -> None:
    with pytest.raises(BackupFault, match=r"s3://nobodys cannot be used: .*NoSuchBucket"):
        ops.place_at("s3://nobodys").names()
    with pytest.raises(BackupFault, match=r"names no bucket: say s3://BUCKET/FOLDER"):
        ops.place_at("s3://A")
    with pytest.raises(BackupFault, match=r"There is no gs://"):
        ops.place_at("gs://bucket")


def test_the_command_line_takes_a_bucket(library: Library, bucket: str, tmp_path: Path) -> None:
    data = f"file:{tmp_path / 'portal.db'}"
    assert invoke("tables", "create", "portal", store=data).exit_code == 0
    place = ("--environment", "dev", "--place", "s3://vault/portal")
    made = invoke("backup", "create", "portal", *place, store=data)
    assert made.exit_code == 0, made.stderr
    assert "portal-dev-" in invoke("backup", "list", "portal", *place).stdout
    assert invoke("backup", "verify", "portal", *place).exit_code == 0
    away = invoke("backup", "list", "portal", "--environment", "dev", "--place", "s3://nobodys")
    assert away.exit_code != 0 and "cannot be used" in away.stderr


def test_an_archive_in_a_bucket_goes_on(bucket: str) -> None:
    archive = ops.open_archive("s3://vault/old", portal.SYSTEM)
    archive.save()
    assert keys_in(bucket) == ["old/archive.json"]
    assert ops.open_archive("s3://vault/old", portal.SYSTEM).system == "portal"
    boto3.resource("s3").Bucket(bucket).put_object(Key="other/notes.txt", Body=b"mine")
    with pytest.raises(ops.CannotArchive, match="s3://vault/other is not empty and no archive"):
        ops.open_archive("s3://vault/other", portal.SYSTEM)
