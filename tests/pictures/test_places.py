"""Places for pictures: a folder, or a bucket of S3, which moto's server stands for."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import boto3
import pytest

from bigtime.formats import PlaceFault
from bigtime.pictures import BucketPlace, FolderPlace, PicturePlace, place_at
from tests.terraform.conftest import moto_server


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with moto_server() as url:
        yield url


@pytest.fixture(params=["folder", "bucket"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> PicturePlace:
    if request.param == "folder":
        return place_at(str(tmp_path / "pictures"))
    patch: pytest.MonkeyPatch = request.getfixturevalue("monkeypatch")
    patch.setenv("AWS_ENDPOINT_URL_S3", request.getfixturevalue("server"))
    patch.setenv("AWS_ACCESS_KEY_ID", "local")
    patch.setenv("AWS_SECRET_ACCESS_KEY", "local")
    patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    boto3.resource("s3").create_bucket(Bucket="gallery")
    return place_at("s3://gallery/site")


def test_a_file_is_there_until_it_is_removed(place: PicturePlace) -> None:
    assert isinstance(place, FolderPlace | BucketPlace) and place.where
    assert place.read("ab/abcd/320.webp") is None
    place.write("ab/abcd/320.webp", b"small")
    place.write("ab/abcd/640.webp", b"large")
    place.write("ab/abce/320.webp", b"other")
    assert place.read("ab/abcd/640.webp") == b"large"
    place.remove("ab/abcd")
    assert place.read("ab/abcd/320.webp") is place.read("ab/abcd/640.webp") is None
    assert place.read("ab/abce/320.webp") == b"other"
    place.remove("ab/abcd")


def test_incoming_files_have_the_moment_they_were_written(place: PicturePlace) -> None:
    assert list(place.changes("incoming")) == []
    place.write("incoming/first", b"1")
    place.write("incoming/second", b"2")
    place.write("ab/abcd/320.webp", b"3")
    found = dict(place.changes("incoming"))
    assert set(found) == {"incoming/first", "incoming/second"}
    assert all(abs(datetime.now(UTC) - at) < timedelta(minutes=1) for at in found.values())
    place.remove("incoming/first")
    assert set(dict(place.changes("incoming"))) == {"incoming/second"}


@pytest.mark.parametrize("setting", ["s3://", "s3://B", "https://pictures.example"])
def test_what_is_no_place_is_refused(setting: str) -> None:
    with pytest.raises(PlaceFault, match=r"s3://"):
        place_at(setting)
